//! Finds the installed ZooKeeper and Java.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::StartError;

/// The jar of Debian's package `zookeeper`. Its manifest names all other jars that it needs.
const DEBIAN_JAR: &str = "/usr/share/java/zookeeper.jar";

/// Debian's logger to standard error, from a dependency of that package. Without it the server logs nothing.
const DEBIAN_LOGGER: &str = "/usr/share/java/slf4j-simple.jar";

/// The jars that a server needs for TLS, which that manifest names only in part: Debian's package `libnetty-java`.
const DEBIAN_NETTY: [&str; 3] = [
    "/usr/share/java/netty-codec.jar",
    "/usr/share/java/netty-resolver.jar",
    "/usr/share/java/netty-transport-native-unix-common.jar",
];

/// The class path of the ZooKeeper that `ZOOKEEPER_HOME` names, else of Debian's.
pub(super) fn class_path() -> Result<OsString, StartError> {
    match std::env::var_os("ZOOKEEPER_HOME") {
        Some(home) if !home.is_empty() => class_path_of_release(Path::new(&home)),
        _ => class_path_of_debian(Path::new(DEBIAN_JAR), Path::new(DEBIAN_LOGGER)),
    }
}

/// The command `java`: that of `JAVA_HOME`, else the one on the path.
pub(super) fn java() -> PathBuf {
    match std::env::var_os("JAVA_HOME") {
        Some(home) if !home.is_empty() => Path::new(&home).join("bin/java"),
        _ => PathBuf::from("java"),
    }
}

/// All jars of an unpacked release: those beside its `bin`, as in older releases, and those in its `lib`.
fn class_path_of_release(home: &Path) -> Result<OsString, StartError> {
    let mut jars = jars_in(home);
    jars.extend(jars_in(&home.join("lib")));
    if !jars.iter().any(|jar| is_server(jar)) {
        return Err(StartError::WrongHome(home.to_owned()));
    }
    join(&jars)
}

fn class_path_of_debian(server: &Path, logger: &Path) -> Result<OsString, StartError> {
    if !server.exists() {
        return Err(StartError::NoZooKeeper);
    }
    let jars = [server, logger].into_iter().chain(DEBIAN_NETTY.iter().map(Path::new));
    let jars: Vec<PathBuf> = jars.filter(|jar| jar.exists()).map(Path::to_owned).collect();
    join(&jars)
}

fn jars_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut jars: Vec<_> = entries.map(|entry| entry.path()).filter(|path| is_jar(path)).collect();
    jars.sort();
    jars
}

fn is_jar(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "jar")
}

fn is_server(jar: &Path) -> bool {
    let name = jar.file_name().unwrap_or_default().to_string_lossy();
    let rest = name.strip_prefix("zookeeper").unwrap_or("none");
    rest == ".jar"
        || rest.strip_prefix('-').is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
}

fn join(jars: &[PathBuf]) -> Result<OsString, StartError> {
    std::env::join_paths(jars).map_err(|e| StartError::Io {
        doing: "join the class path of ZooKeeper",
        source: std::io::Error::other(e),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_known_by_its_jar() {
        let home = tempfile::tempdir().unwrap();
        let told = class_path_of_release(home.path()).unwrap_err().to_string();
        assert!(told.contains("ZOOKEEPER_HOME") && told.contains(home.path().to_str().unwrap()), "{told}");

        std::fs::create_dir(home.path().join("lib")).unwrap();
        std::fs::write(home.path().join("lib/zookeeper-jute-3.9.3.jar"), "").unwrap();
        assert!(class_path_of_release(home.path()).is_err(), "the jute jar alone is no server");

        std::fs::write(home.path().join("lib/zookeeper-3.9.3.jar"), "").unwrap();
        let path = class_path_of_release(home.path()).unwrap();
        assert_eq!(std::env::split_paths(&path).count(), 2);
    }

    #[test]
    fn without_debians_jar_there_is_no_zookeeper() {
        let nowhere = Path::new("/nowhere/zookeeper.jar");
        let told = class_path_of_debian(nowhere, nowhere).unwrap_err();
        assert!(told.is_not_installed(), "{told}");
    }
}
