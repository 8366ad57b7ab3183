//! Every story is played; its trace is a snapshot.
//!
//! A snapshot that changes is read as one reads code: `INSTA_UPDATE=always cargo test -p zk-scenarios stories`
//! writes the new ones.

use zk_harness::stage;
use zk_report::trace;

#[test]
fn every_story_comes_to_its_point_and_breaks_no_promise() {
    for story in zk_catalogue::stories() {
        let (_, wrong) = stage::tell(story);
        assert!(wrong.is_empty(), "{}: {}", story.name, wrong.join("\n"));
    }
}

#[test]
fn the_traces_are_as_they_were() {
    for story in zk_catalogue::stories() {
        let (told, _) = stage::tell(story);
        let printed = trace::print(&told.history, &told.steps);
        assert!(printed.lines().count() < 80, "{} reads on one page", story.name);
        insta::assert_snapshot!(story.name, printed);
    }
}

#[test]
fn a_story_told_twice_is_the_same_story() {
    for story in zk_catalogue::stories() {
        assert_eq!(stage::tell(story).0.hash, stage::tell(story).0.hash, "{}", story.name);
    }
}
