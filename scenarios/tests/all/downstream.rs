//! The template for others' code, used as others would: a crate of its own beside this workspace, whose tests hold, and which
//! fail as they say when its code is broken.

use crate::command::said;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Where the template stands.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/downstream")
}

/// Its tests, offline: with the versions of this workspace, in a folder of its own below this workspace's target. A few runs
/// are soon made, so what takes the time is compiling: nothing is optimized.
fn tested(features: &[&str]) -> Output {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // A variable would replace the flag of its own .cargo/config.toml.
    for variable in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_RUSTFLAGS", "ZKSIM_SEEDS"] {
        cargo.env_remove(variable);
    }
    cargo
        .args([
            "test",
            "--offline",
            "--config",
            "profile.dev.opt-level=0",
            "--config",
            "profile.dev.debug=false",
        ])
        .arg("--target-dir")
        .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("downstream"))
        .args(features)
        .current_dir(folder())
        .output()
        .expect("cargo can be started")
}

#[test]
fn its_tests_hold_and_find_what_is_broken() {
    // What is there already, and nothing else: it is offline.
    let locked = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.lock");
    std::fs::copy(locked, folder().join("Cargo.lock")).expect("the versions can be copied");

    let right = tested(&[]);
    assert!(right.status.success(), "{}", said(&right));
    assert!(said(&right).contains("test one_writes_at_a_time_whatever_fails ... ok"), "{}", said(&right));

    let broken = tested(&["--features", "broken"]);
    let told = said(&broken);
    assert!(!broken.status.success(), "{told}");
    assert!(told.contains("test one_writes_at_a_time_whatever_fails ... FAILED"), "{told}");
    assert!(told.contains("MX-3") && told.contains("shrunk: clients 2"), "{told}");
}
