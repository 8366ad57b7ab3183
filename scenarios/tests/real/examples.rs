//! Every example of the recipes, run on an Apache ZooKeeper server: it succeeds, prints what its head says, and leaves
//! nothing.
//!
//! The head of an example shows how to call it, and below that what it prints, one line each, with `…` for whatever
//! differs from run to run. Sessions take turns as they come, so the lines may come in another order.
//!
//! Where no ZooKeeper is installed the test says so and passes, unless `ZK_REQUIRE_REAL=1` asks for it.

use crate::common::at_the_root;
use crate::common::examples::programs;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// How long an example may take.
const LIMIT: Duration = Duration::from_secs(60);

/// The examples' sources.
fn sources() -> BTreeMap<String, PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../recipes/client/examples");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let rust = files.filter(|file| file.extension().is_some_and(|extension| extension == "rs"));
    rust.map(|file| (file.file_stem().unwrap().to_str().unwrap().to_owned(), file)).collect()
}

/// What an example prints, if it succeeds in time.
fn output(program: &Path, address: &str) -> Result<String, String> {
    let mut process =
        Command::new(program).arg(address).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut printed = process.stdout.take().expect("it is a pipe");
    let (tell, told) = channel();
    std::thread::spawn(move || {
        let mut all = String::new();
        let read = printed.read_to_string(&mut all);
        tell.send(read.map(|_| all))
    });
    let Ok(printed) = told.recv_timeout(LIMIT) else {
        process.kill().unwrap();
        process.wait().unwrap();
        return Err(format!("it does not end within {} s", LIMIT.as_secs()));
    };
    let ended = process.wait_with_output().unwrap();
    let printed = printed.unwrap();
    match ended.status.success() {
        true => Ok(printed),
        false => {
            Err(format!("{}\n{printed}{}", ended.status, String::from_utf8_lossy(&ended.stderr).trim_end()))
        }
    }
}

/// The lines that the head of a source shows below the call.
fn shown(source: &str) -> Vec<&str> {
    let head = source.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim);
    let block = head.skip_while(|line| *line != "```console").skip(1).take_while(|line| *line != "```");
    block.filter(|line| !line.is_empty() && !line.starts_with('$')).collect()
}

/// Whether a line is as shown, `…` being anything.
fn is_as_shown(line: &str, shown: &str) -> bool {
    let mut parts = shown.split('…');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// The shown lines that are missing, each printed line standing for one of them.
fn missing<'a>(printed: &str, shown: &[&'a str]) -> Vec<&'a str> {
    let mut printed: Vec<&str> = printed.lines().map(str::trim).collect();
    let is_missing = |shown: &&&str| match printed.iter().position(|line| is_as_shown(line, shown)) {
        Some(at) => {
            printed.remove(at);
            false
        }
        None => true,
    };
    shown.iter().filter(is_missing).copied().collect()
}

#[test]
fn every_example_succeeds_and_prints_what_its_head_says() {
    let Some(server) = crate::common::server(Duration::from_millis(500)) else { return };
    let programs = programs();
    let mut wrong = Vec::new();
    for (name, source) in sources() {
        let Some(program) = programs.get(&name) else {
            wrong.push(format!("{name}: not built; does the manifest name it?"));
            continue;
        };
        let source = std::fs::read_to_string(source).unwrap();
        let shown = shown(&source);
        match output(program, &server.address()) {
            Err(why) => wrong.push(format!("{name}: {why}")),
            Ok(printed) if shown.is_empty() => {
                wrong.push(format!("{name}: its head does not show what it prints:\n{printed}"));
            }
            Ok(printed) => {
                let missing = missing(&printed, &shown);
                if !missing.is_empty() {
                    wrong.push(format!("{name}: {missing:?} is missing in\n{printed}"));
                }
            }
        }
        let left = at_the_root(&server.address());
        if left != ["zookeeper"] {
            wrong.push(format!("{name}: it has left something in {left:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_line_is_as_shown_whatever_stands_for_the_dots() {
    assert!(is_as_shown("ann prints under token 7", "ann prints under token …"));
    assert!(is_as_shown("a 1 b 2 c", "a … b … c"));
    assert!(is_as_shown("done", "done"));
    for (line, shown) in [("done now", "done"), ("a 1 c", "a … b … c"), ("ben prints", "ann …"), ("a", "a…a")]
    {
        assert!(!is_as_shown(line, shown), "{line} is not {shown}");
    }
    let head = "//! An example.\n//!\n//! ```console\n//! $ cargo run\n//! one …\n//! ```\n\nfn main() {}\n";
    assert_eq!(shown(head), ["one …"]);
    assert_eq!(missing("one 1\ntwo", &["two", "one …", "one …"]), ["one …"]);
}
