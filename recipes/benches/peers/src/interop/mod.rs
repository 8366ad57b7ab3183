//! Our locks and those of Apache Curator and Kazoo before the same directory: they wait for each other, in one order, and
//! never hold together what cannot be shared.
//!
//! Each of the others runs in a process of its own, with its own library: see `theirs`. Where one is not installed its
//! tests say so and pass, unless `ZK_REQUIRE_INTEROP` asks for them: `1` for all, or a list such as `curator,kazoo`.

mod stage;
mod theirs;

use crate::library::Library;
use stage::{Kind, Stage};
use std::io::Write;
use std::time::Duration;
use theirs::Theirs;
use tokio::runtime::Runtime;
use tokio::time::timeout;
use zk_real::{Server, ServerOptions, Settings};
use zk_recipes::Naming;

/// The longest time that a scene takes, on a busy machine as well.
const PATIENCE: Duration = Duration::from_secs(300);

/// Says that a test is left out for want of something, unless a variable asks for it: `1` for all, or a list of names.
fn left_out(variable: &str, name: &str, missing: &str) {
    let required = std::env::var(variable).unwrap_or_default();
    assert!(!required.split(',').any(|word| word == "1" || word == name), "{missing}");
    // Not by `eprintln!`, which is swallowed in a test that passes.
    let _ = writeln!(std::io::stderr(), "LEFT OUT: {missing}. {variable}=1 makes this a failure.");
}

/// A server, and a session of that library; `None` where one of them is missing.
fn theirs(library: Library) -> Option<(Server, Theirs)> {
    if let Err(missing) = library.installed() {
        left_out("ZK_REQUIRE_INTEROP", library.name(), &missing);
        return None;
    }
    let options = ServerOptions { port: None, tick: Duration::from_millis(500) };
    match Server::start_with(options, Settings::default()) {
        Ok(server) => {
            let theirs = Theirs::start(library, &server.address());
            Some((server, theirs))
        }
        Err(missing) if missing.is_not_installed() => {
            left_out("ZK_REQUIRE_REAL", "zookeeper", &missing.to_string());
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Plays on a stage of its own, before a fresh directory.
fn play<F: Future<Output = ()>>(library: Library, naming: Naming, scene: impl FnOnce(Stage) -> F) {
    let Some((server, theirs)) = theirs(library) else { return };
    let work = async { scene(Stage::new(theirs, &server.address(), "/shared", naming).await).await };
    let ended = Runtime::new().expect("a runtime starts").block_on(async { timeout(PATIENCE, work).await });
    assert!(ended.is_ok(), "the scene hangs");
}

/// Both sides hold, both sides wait, and everybody is served in the order of asking.
async fn wait_for_each_other_in_order(mut stage: Stage) {
    let line = ["t1", "o1", "t2", "o2", "o3", "t3"];
    for (ahead, id) in line.iter().enumerate() {
        stage.asks(id, Kind::Lock).await;
        if ahead == 0 {
            stage.gets_it(id).await;
        }
    }
    for pair in line.windows(2) {
        stage.others_wait().await;
        stage.releases(pair[0]).await;
        stage.gets_it(pair[1]).await;
    }
    stage.releases(line[line.len() - 1]).await;

    let all = [("o1", Kind::Lock), ("o2", Kind::Lock), ("t1", Kind::Lock), ("t2", Kind::Lock)];
    stage.take_turns(&all, 25).await;
}

/// Readers of both sides hold together; a writer waits for all of them, and a reader behind it for that writer.
async fn share(mut stage: Stage) {
    for [a, b] in [["o", "t"], ["t", "o"]] {
        let [reader, other_reader, writer, late_reader] =
            [format!("{a}1"), format!("{b}1"), format!("{b}2"), format!("{a}2")];
        for id in [&reader, &other_reader] {
            stage.asks(id, Kind::Read).await;
            stage.gets_it(id).await;
        }
        stage.asks(&writer, Kind::Write).await;
        stage.asks(&late_reader, Kind::Read).await;
        stage.others_wait().await;
        stage.releases(&reader).await;
        stage.others_wait().await;
        stage.releases(&other_reader).await;
        stage.gets_it(&writer).await;
        stage.others_wait().await;
        stage.releases(&writer).await;
        stage.gets_it(&late_reader).await;
        stage.releases(&late_reader).await;
    }
    let all = [
        ("o1", Kind::Read),
        ("o2", Kind::Read),
        ("o3", Kind::Write),
        ("t1", Kind::Read),
        ("t2", Kind::Read),
        ("t3", Kind::Write),
    ];
    stage.take_turns(&all, 15).await;
}

/// Whoever loses the session loses the lock: to the other side.
async fn inherit(mut stage: Stage) {
    stage.asks("t1", Kind::Lock).await;
    stage.gets_it("t1").await;
    stage.asks("o1", Kind::Lock).await;
    stage.others_wait().await;
    stage.they_are_killed().await.get_it().await;
}

/// The same the other way round.
async fn bequeath(mut stage: Stage) {
    stage.asks("o1", Kind::Lock).await;
    stage.gets_it("o1").await;
    stage.asks("t1", Kind::Lock).await;
    stage.others_wait().await;
    stage.we_close().await;
    stage.gets_it("t1").await;
}

#[test]
fn we_and_curator_wait_for_each_other_in_order() {
    play(Library::Curator, Naming::Curator, wait_for_each_other_in_order);
}

#[test]
fn our_standard_names_and_curator_wait_for_each_other_in_order() {
    play(Library::Curator, Naming::Standard, wait_for_each_other_in_order);
}

#[test]
fn we_and_curator_share() {
    play(Library::Curator, Naming::Curator, share);
}

#[test]
fn we_and_curator_inherit_from_each_other() {
    play(Library::Curator, Naming::Curator, inherit);
    play(Library::Curator, Naming::Curator, bequeath);
}

#[test]
fn we_and_kazoo_wait_for_each_other_in_order() {
    play(Library::Kazoo, Naming::Kazoo, wait_for_each_other_in_order);
}

#[test]
fn we_and_kazoo_share() {
    play(Library::Kazoo, Naming::Kazoo, share);
}

#[test]
fn we_and_kazoo_inherit_from_each_other() {
    play(Library::Kazoo, Naming::Kazoo, inherit);
    play(Library::Kazoo, Naming::Kazoo, bequeath);
}
