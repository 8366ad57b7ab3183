//! Programs: the libraries under test, the commands that start them, and their authors' promises.

use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use xxhash_rust::xxh3::Xxh3;

/// The file that describes a program.
const DESCRIPTION: &str = "program.json";

/// A library whose recipes are driven.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Its name, which is that of its folder.
    pub name: String,
    /// The version that the driver was written for.
    pub version: String,
    /// The language of the driver.
    pub language: String,
    /// Folders other than its own from which the driver is built.
    #[serde(default)]
    sources: Vec<String>,
    /// Commands that build the driver, run once for each state of these folders.
    #[serde(default)]
    prepare: Vec<Vec<String>>,
    /// The command that starts a client. The scenario's name is its last argument.
    command: Vec<String>,
    /// A command that succeeds if the library is installed.
    probe: Vec<String>,
    /// How to install the library.
    pub install: String,
    /// What its clients can do.
    pub scenarios: Vec<Scenario>,
    /// Its folder.
    #[serde(skip)]
    here: PathBuf,
}

/// What the clients of a program do in a run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// The kind of object, as reports name it.
    pub kind: String,
    /// The path of the object.
    pub object: String,
    /// The number of clients.
    pub clients: usize,
    /// Our scenario that does the same; absent: the first of the same kind.
    #[serde(default)]
    pub like: Option<String>,
    /// The kind of request that its clients send where other libraries send one that plans name.
    #[serde(default)]
    pub sends: BTreeMap<String, String>,
    /// Whether its clients keep what they hold until they rest, as a service does. Such a scenario is tried under each
    /// of the [troubles](crate::troubles).
    #[serde(default)]
    pub lasting: bool,
    /// What a client does, in a sentence.
    pub hold: String,
    /// What the library's authors promise.
    pub promises: Vec<Promise>,
}

/// A promise, in its authors' words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Promise {
    /// Their words.
    pub quote: String,
    /// Where the words are published.
    pub source: String,
}

impl Program {
    /// Reads the program in a folder.
    ///
    /// # Errors
    ///
    /// The description cannot be read, or makes no sense.
    pub fn read(here: &Path) -> anyhow::Result<Program> {
        let file = here.join(DESCRIPTION);
        let text =
            std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let here = here.canonicalize().with_context(|| format!("cannot find {}", here.display()))?;
        let mut program: Program =
            serde_json::from_str(&text).with_context(|| format!("{} is malformed", file.display()))?;
        program.here = here;
        ensure!(!program.command.is_empty(), "{}: the command is empty", file.display());
        for scenario in &program.scenarios {
            let most = CLIENTS.len();
            ensure!(
                (1..=most).contains(&scenario.clients),
                "{}: {} has {} clients, and there are from 1 to {most}",
                file.display(),
                scenario.name,
                scenario.clients
            );
        }
        Ok(program)
    }

    /// All programs in a folder, by name.
    ///
    /// # Errors
    ///
    /// The folder cannot be read, or a description makes no sense.
    pub fn all(folder: &Path) -> anyhow::Result<Vec<Program>> {
        let entries = std::fs::read_dir(folder).with_context(|| {
            format!(
                "there are no programs in {}: run this in the root of the project, or name their folder",
                folder.display()
            )
        })?;
        let mut programs = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if path.join(DESCRIPTION).exists() {
                programs.push(Program::read(&path)?);
            }
        }
        programs.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(programs)
    }

    /// The scenario of that name.
    pub fn scenario(&self, name: &str) -> Option<&Scenario> {
        self.scenarios.iter().find(|scenario| scenario.name == name)
    }

    /// Whether the library is installed.
    pub fn is_installed(&self) -> bool {
        let words = self.filled(&self.probe, Path::new(""));
        let Some((program, arguments)) = words.split_first() else { return true };
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.here);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }

    /// Builds the driver below `cache`, unless it was built from the same files before.
    ///
    /// # Errors
    ///
    /// A command of the build fails.
    pub fn prepare(&self, cache: &Path) -> anyhow::Result<Prepared<'_>> {
        let sources = self.filled(&self.sources, Path::new(""));
        let folders = std::iter::once(self.here.clone()).chain(sources.into_iter().map(PathBuf::from));
        let mut hasher = Xxh3::new();
        for folder in folders {
            digest(&folder, &mut hasher).with_context(|| format!("cannot read {}", folder.display()))?;
        }
        let out = cache.join("built").join(format!("{}-{:016x}", self.name, hasher.digest()));
        std::fs::create_dir_all(&out).with_context(|| format!("cannot make {}", out.display()))?;
        let out = out.canonicalize()?;
        let built = out.join(".built");
        if !built.exists() {
            for words in &self.prepare {
                let words = self.filled(words, &out);
                let Some((program, arguments)) = words.split_first() else { continue };
                let output = Command::new(program)
                    .args(arguments)
                    .current_dir(&self.here)
                    .stdin(Stdio::null())
                    .output()
                    .with_context(|| format!("{program} cannot be started"))?;
                if !output.status.success() {
                    let said = String::from_utf8_lossy(&output.stderr);
                    bail!("the driver of {} cannot be built: {}\n{said}", self.name, words.join(" "));
                }
            }
            std::fs::write(&built, "")?;
        }
        Ok(Prepared { program: self, out })
    }

    fn filled(&self, words: &[String], out: &Path) -> Vec<String> {
        let (here, out) = (self.here.display().to_string(), out.display().to_string());
        words.iter().map(|word| word.replace("{here}", &here).replace("{out}", &out)).collect()
    }
}

/// The names of clients.
pub const CLIENTS: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

/// A program whose driver is built.
#[derive(Clone, Debug)]
pub struct Prepared<'a> {
    program: &'a Program,
    out: PathBuf,
}

impl<'a> Prepared<'a> {
    /// The program.
    pub fn program(&self) -> &'a Program {
        self.program
    }

    /// The command that starts a client.
    pub(crate) fn command(&self, scenario: &Scenario) -> Command {
        let words = self.program.filled(&self.program.command, &self.out);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).arg(&scenario.name).current_dir(&self.program.here);
        command
    }
}

/// Digests the files below a folder.
fn digest(folder: &Path, hasher: &mut Xxh3) -> std::io::Result<()> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let mut paths = std::fs::read_dir(&folder)?
            .map(|entry| Ok(entry?.path()))
            .collect::<std::io::Result<Vec<_>>>()?;
        paths.sort();
        for path in paths {
            let is_made = path
                .file_name()
                .is_some_and(|name| ["__pycache__", "target"].iter().any(|made| name == *made));
            if is_made {
                continue;
            }
            hasher.update(path.as_os_str().as_encoded_bytes());
            if path.is_dir() {
                folders.push(path);
            } else {
                hasher.update(&std::fs::read(&path)?);
            }
        }
    }
    Ok(())
}
