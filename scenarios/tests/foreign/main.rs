//! Clients of other languages against `zksim serve`, and the fixtures for their tests: each in its own language, with the packaged client.
//!
//! Where a language or its client is not installed, the test says so and passes, unless `ZK_REQUIRE_FOREIGN` asks for it: `1` for
//! all, or a list such as `python,java`.

#[path = "../common/command.rs"]
mod shared;

use shared::{said, succeeds as is_there};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use zk_serve::{Options, Server};

/// The variable that makes a test a failure that is left out.
const REQUIRE: &str = "ZK_REQUIRE_FOREIGN";

/// What Curator and JUnit need, by Debian's names; the first three come with Curator's own packages.
const JAVA: [&str; 13] = [
    "curator-recipes",
    "curator-framework",
    "curator-client",
    "zookeeper",
    "zookeeper-jute",
    "guava",
    "slf4j-api",
    "netty-all",
    "jackson-databind",
    "jackson-core",
    "jackson-annotations",
    "commons-io",
    "junit-platform-console-standalone",
];

fn serve() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("serve")
}

/// Says that a test is left out, or fails if it is asked for.
fn left_out(language: &str, why: &str) {
    let required = std::env::var(REQUIRE).unwrap_or_default();
    assert!(required != "1" && !required.split(',').any(|word| word == language), "{why}");
    eprintln!("left out: {why} ({REQUIRE}={language} makes that a failure)");
}

/// A command that finds the program under test, and leaves nothing in the source tree.
fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command
        .env("ZKSIM", env!("CARGO_BIN_EXE_zksim"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::null());
    command
}

/// Runs a command to its end, which must be a good one.
#[track_caller]
fn succeeds(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = said(&output);
    assert!(output.status.success(), "{command:?} ended with {}:\n{said}", output.status);
    said
}

/// A Python with these modules, or `None` and a word about it.
fn python(modules: &[&str]) -> Option<Command> {
    let python = std::env::var_os("ZK_PYTHON").unwrap_or_else(|| "python3".into());
    let import = format!("import {}", modules.join(", "));
    if is_there(command(&python).args(["-c", &import])) {
        return Some(command(python));
    }
    left_out("python", &format!("{} cannot {import} (pip install kazoo==2.11.0 pytest)", python.display()));
    None
}

/// The class path of Curator, ZooKeeper's Java client and JUnit, or `None` and a word about it.
fn class_path(needs_junit: bool) -> Option<std::ffi::OsString> {
    let needed = JAVA[..3].iter().chain(JAVA.last().filter(|_| needs_junit));
    let class_path = match shared::class_path(&JAVA, &needed.copied().collect::<Vec<_>>()) {
        Ok(class_path) => class_path,
        Err(missing) => {
            left_out("java", &format!("{} is missing", missing.display()));
            return None;
        }
    };
    if !is_there(command("javac").arg("-version")) {
        left_out("java", "there is no javac");
        return None;
    }
    Some(class_path)
}

/// Runs a client of `foreign/run.py` against three served members.
fn client(name: &str) {
    let Some(mut python) = python(&["json"]) else { return };
    let output = python.arg(serve().join("foreign/run.py")).args(["sim", name]).output().unwrap();
    let said = said(&output);
    match output.status.code() {
        Some(0) => {}
        Some(2) => left_out(name, &said),
        _ => panic!("{name}: {said}"),
    }
}

#[test]
fn the_python_package_keeps_its_word() {
    let Some(mut python) = python(&["kazoo", "pytest"]) else { return };
    let package = serve().join("fixtures/python");
    // Not installed, the plugin is named here.
    python.env("PYTHONPATH", &package).env("PYTEST_PLUGINS", "zksim.pytest_plugin").current_dir(&package);
    succeeds(python.args([
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "zksim.pytest_plugin",
        "tests",
    ]));
}

#[test]
fn kazoos_recipes_work() {
    let Some(mut python) = python(&["kazoo"]) else { return };
    succeeds(python.arg(serve().join("foreign/kazoo_recipes.py")));
}

#[test]
fn curators_recipes_and_the_java_client_work_on_one_member_and_on_three() {
    let Some(class_path) = class_path(false) else { return };
    let folder = tempfile::tempdir().unwrap();
    let source = serve().join("foreign/CuratorRecipes.java");
    succeeds(command("javac").arg("-cp").arg(&class_path).arg("-d").arg(folder.path()).arg(source));
    let paths = std::env::join_paths(
        std::iter::once(folder.path().to_owned()).chain(std::env::split_paths(&class_path)),
    );
    let paths = paths.unwrap();
    for servers in [1, 3] {
        let options = Options { servers, extended_types: true, ..Options::default() };
        let server = Server::start(&options).unwrap();
        let mut java = command("java");
        java.args(["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp"]).arg(&paths);
        let output = java.arg("CuratorRecipes").arg(server.connect_string()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
        server.check().unwrap();
        assert!(said.lines().count() > 50, "{said}");
    }
}

#[test]
fn zookeepers_java_client_that_asks_much_before_it_reads_is_answered() {
    let Some(class_path) = class_path(false) else { return };
    let folder = tempfile::tempdir().unwrap();
    let source = serve().join("foreign/AsyncReaders.java");
    succeeds(command("javac").arg("-cp").arg(&class_path).arg("-d").arg(folder.path()).arg(source));
    let paths = std::iter::once(folder.path().to_owned()).chain(std::env::split_paths(&class_path));
    let paths = std::env::join_paths(paths).unwrap();
    let server = Server::start(&Options::default()).unwrap();
    for (length, reads) in [("100000", "1000"), ("10000", "20000")] {
        let mut java = command("java");
        java.args(["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp"]).arg(&paths);
        succeeds(java.args(["AsyncReaders", &server.connect_string(), length, reads]));
    }
    server.check().unwrap();
}

#[test]
fn the_java_fixture_keeps_its_word() {
    let Some(class_path) = class_path(true) else { return };
    let folder = tempfile::tempdir().unwrap();
    let sources = ["ZkSim.java", "ZkSimExtension.java", "ZkSimTest.java"]
        .map(|file| serve().join("fixtures/java/org/zksim").join(file));
    succeeds(command("javac").arg("-cp").arg(&class_path).arg("-d").arg(folder.path()).args(sources));
    let paths = std::iter::once(folder.path().to_owned()).chain(std::env::split_paths(&class_path));
    let mut java = command("java");
    java.args(["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp"]);
    java.arg(std::env::join_paths(paths).unwrap()).arg("org.junit.platform.console.ConsoleLauncher");
    succeeds(
        java.arg("--disable-banner").arg("--details=summary").arg("--scan-classpath").arg(folder.path()),
    );
}

#[test]
fn the_node_fixture_keeps_its_word() {
    if !is_there(command("npm").arg("--version")) {
        return left_out("node", "there is no npm");
    }
    let folder = tempfile::tempdir().unwrap();
    for file in ["zksim.mjs", "lock.test.mjs"] {
        std::fs::copy(serve().join("fixtures/node").join(file), folder.path().join(file)).unwrap();
    }
    let mut npm = command("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--prefix"]).arg(folder.path());
    if !is_there(npm.arg("node-zookeeper-client@1.1.3")) {
        return left_out("node", "npm cannot install node-zookeeper-client");
    }
    succeeds(command("node").arg("--test").current_dir(folder.path()));
}

#[test]
fn the_go_fixture_keeps_its_word() {
    let packages = Path::new("/usr/share/gocode");
    let is_installed = packages.join("src/github.com/samuel/go-zookeeper").exists();
    if !is_installed || !is_there(command("go").arg("version")) {
        return left_out("go", "there is no Go with go-zookeeper");
    }
    let folder = tempfile::tempdir().unwrap();
    let mut go = command("go");
    go.env("GO111MODULE", "off").env("GOPATH", packages).env("GOCACHE", folder.path());
    succeeds(go.args(["test", "."]).current_dir(serve().join("fixtures/go")));
}

#[test]
fn the_c_client_works() {
    client("c");
}

#[test]
fn the_go_client_works() {
    client("go");
}

#[test]
fn the_node_client_works() {
    client("node");
}
