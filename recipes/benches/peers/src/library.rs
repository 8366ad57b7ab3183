//! The libraries that are compared, and what starts a program of each.

use anyhow::{Context, anyhow};
use clap::ValueEnum;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// The word that makes this program a peer.
pub const AS_PEER: &str = "as-peer";

/// A library, or none at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Library {
    /// This workspace's recipes on its own client.
    Ours,
    /// Apache Curator.
    Curator,
    /// Kazoo.
    Kazoo,
    /// The crate zookeeper-client, whose only recipe is a lock.
    ZookeeperClient,
    /// No library: the least requests over a bare socket.
    Raw,
}

/// What Curator needs, by Debian's names. The first three are its own packages, the others are what these depend on.
const JARS: [&str; 11] = [
    "curator-recipes",
    "curator-framework",
    "curator-client",
    "zookeeper",
    "zookeeper-jute",
    "guava",
    "slf4j-api",
    "slf4j-nop",
    "jackson-databind",
    "jackson-core",
    "jackson-annotations",
];

const DEBIAN: &str = "/usr/share/java";

const CURATOR_SOURCE: &str = include_str!("../Curator.java");
const KAZOO_SOURCE: &str = include_str!("../kazoo_peer.py");

impl Library {
    /// All libraries, in the order of the tables.
    pub const ALL: [Library; 5] =
        [Library::Ours, Library::Curator, Library::Kazoo, Library::ZookeeperClient, Library::Raw];

    /// The name on the command line and in tables.
    pub fn name(self) -> &'static str {
        match self {
            Library::Ours => "ours",
            Library::Curator => "curator",
            Library::Kazoo => "kazoo",
            Library::ZookeeperClient => "zookeeper-client",
            Library::Raw => "raw",
        }
    }

    /// Whether it is another library.
    pub fn is_rival(self) -> bool {
        !matches!(self, Library::Ours | Library::Raw)
    }

    /// Whether it runs on a JVM, which compiles what runs often.
    pub fn is_on_a_jvm(self) -> bool {
        self == Library::Curator
    }

    /// Its version where it is installed, or a sentence about what is missing.
    pub fn installed(self) -> Result<String, String> {
        match self {
            Library::Ours | Library::Raw => Ok(env!("CARGO_PKG_VERSION").to_owned()),
            Library::ZookeeperClient if cfg!(feature = "zookeeper-client") => Ok("0.11".to_owned()),
            Library::ZookeeperClient => {
                Err("this program is built without the feature zookeeper-client (cargo peers has it)"
                    .to_owned())
            }
            Library::Curator => curator(),
            Library::Kazoo => {
                said_by(python(), &["-c", "from kazoo.version import __version__ as v; print(v)"]).ok_or_else(
                    || {
                        format!(
                            "{} cannot import kazoo (pip install kazoo; ZK_PYTHON names another python)",
                            python().display()
                        )
                    },
                )
            }
        }
    }
}

fn curator() -> Result<String, String> {
    let jar = |name: &str| Path::new(DEBIAN).join(format!("{name}.jar"));
    if let Some(missing) = JARS[..3].iter().map(|name| jar(name)).find(|path| !path.exists()) {
        return Err(format!(
            "{} is missing (packages libcurator-{{recipes,framework,client}}-java)",
            missing.display()
        ));
    }
    if said_by("javac".into(), &["-version"]).is_none() {
        return Err("there is no javac (package default-jdk-headless)".to_owned());
    }
    // The version is in a second name of the jar.
    let prefix = format!("{}-", JARS[0]);
    let names = std::fs::read_dir(DEBIAN).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let version = names
        .filter_map(|name| name.to_str()?.strip_prefix(&prefix)?.strip_suffix(".jar").map(str::to_owned));
    Ok(version.max().unwrap_or_else(|| "of unknown version".to_owned()))
}

fn python() -> PathBuf {
    std::env::var_os("ZK_PYTHON").unwrap_or_else(|| "python3".into()).into()
}

/// The first line that a command prints, if it succeeds.
fn said_by(program: PathBuf, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).stderr(Stdio::null()).output().ok()?;
    let said = String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned();
    output.status.success().then_some(said)
}

/// Programs that are ready to be started. Their files go when this value is dropped.
pub struct Programs {
    folder: TempDir,
    class_path: Option<OsString>,
}

impl Programs {
    /// Compiles what has to be compiled for these libraries.
    ///
    /// # Errors
    ///
    /// No temporary folder, or the Java compiler refuses the program.
    pub fn prepare(libraries: &[Library]) -> anyhow::Result<Programs> {
        let folder =
            tempfile::Builder::new().prefix("zk-peers-").tempdir().context("cannot make a folder")?;
        let mut programs = Programs { folder, class_path: None };
        if libraries.contains(&Library::Kazoo) {
            programs.write("kazoo_peer.py", KAZOO_SOURCE)?;
        }
        if libraries.contains(&Library::Curator) {
            programs.compile()?;
        }
        Ok(programs)
    }

    fn write(&self, name: &str, text: &str) -> anyhow::Result<PathBuf> {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }

    fn compile(&mut self) -> anyhow::Result<()> {
        let source = self.write("Curator.java", CURATOR_SOURCE)?;
        let jars = JARS.iter().map(|name| Path::new(DEBIAN).join(format!("{name}.jar")));
        let class_path = std::env::join_paths(std::iter::once(self.folder.path().to_owned()).chain(jars))?;
        let compiled = Command::new("javac")
            .args(["-nowarn", "-proc:none", "-d"])
            .arg(self.folder.path())
            .arg("-cp")
            .arg(&class_path)
            .arg(source)
            .output()
            .context("cannot start javac")?;
        if !compiled.status.success() {
            let said = String::from_utf8_lossy(&compiled.stderr).trim().to_owned();
            return Err(anyhow!("javac refuses Curator.java: {said}"));
        }
        self.class_path = Some(class_path);
        Ok(())
    }

    /// The command that is a program of that library.
    ///
    /// # Errors
    ///
    /// This program does not know where it is.
    pub fn command(&self, library: Library) -> anyhow::Result<Command> {
        match library {
            Library::Ours | Library::ZookeeperClient | Library::Raw => {
                let mut command = Command::new(std::env::current_exe().context("cannot find this program")?);
                command.arg(AS_PEER).arg(library.name());
                Ok(command)
            }
            Library::Kazoo => {
                let mut command = Command::new(python());
                command.arg(self.folder.path().join("kazoo_peer.py"));
                Ok(command)
            }
            Library::Curator => {
                let mut command = Command::new("java");
                // Stacks of the size that the JVM has by default; a heap that no row fills.
                command.args(["-Xms128m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-cp"]);
                command.arg(self.class_path.as_ref().context("Curator's program is not compiled")?);
                command.arg("Curator");
                Ok(command)
            }
        }
    }
}
