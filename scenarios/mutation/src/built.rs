//! The programs that judge: built once, with all mutants of the sample.

use crate::copy::Copy;
use crate::process;
use crate::scope::Scope;
use anyhow::{Context, bail};
use cargo_metadata::Message;
use cargo_metadata::diagnostic::DiagnosticLevel;
use std::io::BufReader;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

/// The programs that judge.
pub struct Built {
    /// The simulator's command line.
    pub zksim: PathBuf,
    /// Test binaries: the target's name, the file, and the folder in which it runs.
    pub tests: Vec<(String, PathBuf, PathBuf)>,
    /// Where `zksim` runs, and keeps what fails.
    pub folder: PathBuf,
}

/// Builds them, the tests only on request.
///
/// # Errors
///
/// The build fails.
pub fn build(copy: &Copy, scope: Scope, with_tests: bool) -> anyhow::Result<Built> {
    cargo(copy, &["build", "--package", "zk-scenarios", "--bin", "zksim"])?;
    let wanted: &[&str] = match scope {
        Scope::Recipes => &["--package", "zk-recipes", "--lib", "--test", "all", "--test", "observed"],
        Scope::Client | Scope::Protocol => &[
            "--package",
            scope.package(),
            "--package",
            "zk-recipes",
            "--package",
            "sim-zk",
            "--package",
            "zk-scenarios",
            "--lib",
            "--test",
            "all",
        ],
        Scope::Checker => &["--package", "zk-checker", "--lib", "--test", "all"],
    };
    // As above: less optimisation where the build takes longer than all runs.
    let faster: &[&str] = &[
        "--config",
        "profile.release.package.zk-recipes.opt-level=1",
        "--config",
        "profile.release.package.sim-zk.opt-level=1",
        "--config",
        "profile.release.package.sim-zk.codegen-units=4",
        "--config",
        "profile.release.package.zk-recipes.codegen-units=16",
    ];
    let tests = match with_tests {
        true => cargo(copy, &[&["test", "--no-run"], wanted, faster].concat())?,
        false => Vec::new(),
    };
    let folder = copy.root.join("scenarios");
    Ok(Built { zksim: copy.target.join("release/zksim"), tests, folder })
}

/// Runs cargo in the copy, and returns the test binaries that it made.
fn cargo(copy: &Copy, arguments: &[&str]) -> anyhow::Result<Vec<(String, PathBuf, PathBuf)>> {
    let mut command = std::process::Command::new("cargo");
    command.args(arguments).args(["--release", "--message-format=json"]);
    command.env("CARGO_TARGET_DIR", &copy.target).current_dir(&copy.root);
    let mut run = command.stdout(Stdio::piped()).spawn().context("cargo cannot be started")?;
    let output = BufReader::new(run.stdout.take().expect("the output is piped"));
    let mut tests = Vec::new();
    for message in Message::parse_stream(output) {
        match message? {
            Message::CompilerArtifact(made) if made.profile.test => {
                let Some(file) = made.executable else { continue };
                let folder = made.manifest_path.parent().context("a manifest lies in a folder")?.to_owned();
                let title = format!("{} {}", folder.file_name().unwrap_or_default(), made.target.name);
                tests.push((title, file.into(), folder.into()));
            }
            // Warnings are about switches.
            Message::CompilerMessage(said) if said.message.level == DiagnosticLevel::Error => {
                eprintln!("{}", said.message.rendered.unwrap_or_default());
            }
            _ => {}
        }
    }
    if !run.wait()?.success() {
        bail!("cargo {} failed", arguments.join(" "));
    }
    tests.sort();
    Ok(tests)
}

impl Built {
    /// A command of `zksim` that judges.
    pub fn zksim(&self, arguments: &[&str]) -> tokio::process::Command {
        let mut command = tokio::process::Command::new(&self.zksim);
        command.args(arguments).current_dir(&self.folder);
        command
    }

    /// A command that runs these tests of a binary, one after the other.
    pub fn test(&self, binary: usize, names: &[&str]) -> tokio::process::Command {
        let (_, file, folder) = &self.tests[binary];
        let mut command = tokio::process::Command::new(file);
        command.args(["--test-threads", "1", "--exact"]).args(names).current_dir(folder);
        // What an unhappy test would write, it writes beside the original.
        command.env("INSTA_UPDATE", "no").env("CARGO_MANIFEST_DIR", folder);
        command
    }

    /// The names of the workloads, and those of the stories.
    ///
    /// # Errors
    ///
    /// `zksim list` fails.
    pub async fn names(&self) -> anyhow::Result<(Vec<String>, Vec<String>)> {
        let said = self.said(self.zksim(&["list", "--format", "json"])).await?;
        let (mut workloads, mut stories) = (Vec::new(), Vec::new());
        for line in said.lines() {
            let line: serde_json::Value = serde_json::from_str(line)?;
            let name = line["id"].as_str().unwrap_or_default().to_owned();
            match line["kind"].as_str() {
                Some("workload") => workloads.push(name),
                Some("story") => stories.push(name),
                _ => {}
            }
        }
        Ok((workloads, stories))
    }

    /// The names of a binary's tests.
    ///
    /// # Errors
    ///
    /// The binary fails.
    pub async fn test_names(&self, binary: usize) -> anyhow::Result<Vec<String>> {
        let (_, file, folder) = &self.tests[binary];
        let mut command = tokio::process::Command::new(file);
        command.args(["--list", "--format", "terse"]).current_dir(folder);
        let said = self.said(command).await?;
        Ok(said.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
    }

    async fn said(&self, command: tokio::process::Command) -> anyhow::Result<String> {
        let output =
            process::within(Duration::from_secs(60), command).await?.context("a list takes a minute")?;
        Ok(String::from_utf8(output.stdout)?)
    }
}
