//! The examples' programs.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The examples' programs, built as `cargo test` builds them, so that mostly there is nothing to do.
pub fn programs() -> BTreeMap<String, PathBuf> {
    let built = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--workspace", "--examples", "--message-format", "json"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(built.status.success(), "the examples compile");
    let told = String::from_utf8(built.stdout).unwrap();
    let artifacts = told.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let examples = artifacts.filter(|told| told["target"]["kind"][0] == "example");
    let program = |told: Value| {
        Some((told["target"]["name"].as_str()?.to_owned(), PathBuf::from(told["executable"].as_str()?)))
    };
    examples.filter_map(program).collect()
}
