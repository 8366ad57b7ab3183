//! Replays the corpus, so that bugs found by a fuzzer stay fixed.

use super::sane::{Bench, Sane};
use std::path::Path;

/// Passes every file of a target's corpus to it.
fn replay(target: &str, act: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{} has no files", folder.display());
    for file in files {
        // Printed if the target panics.
        println!("{}", file.display());
        act(&std::fs::read(&file).unwrap());
    }
}

#[test]
fn frames_of_the_corpus_are_understood_or_refused() {
    replay("wire", super::wire);
}

#[test]
fn clients_of_the_corpus_disturb_no_well_behaved_one() {
    replay("front", super::front);
}

#[test]
fn commands_of_the_corpus_are_carried_out_or_refused() {
    replay("control", super::control);
}

#[test]
fn a_connection_without_a_session_is_closed_10_to_20_seconds_after_its_last_byte() {
    let second = 1_000_000;
    let mut bench = Bench::new(1);
    let mut sane = Sane::default();
    sane.expect_answer(&mut bench);
    bench.pass(second);
    let (mute, half) = (bench.connect(0).unwrap(), bench.connect(0).unwrap());
    let mut stands = |bench: &mut Bench, seconds: u64| {
        for _ in 0..seconds {
            bench.pass(second);
            sane.pings(bench);
        }
        [mute, half].map(|number| bench.front.connection(number).is_some())
    };
    assert_eq!(stands(&mut bench, 10), [true, true]);
    bench.send(half, &[0, 0]);
    // Like a real server, it checks every ten seconds.
    assert_eq!(stands(&mut bench, 8), [true, true]);
    assert_eq!(stands(&mut bench, 2), [false, true]);
    assert_eq!(stands(&mut bench, 8), [false, true]);
    assert_eq!(stands(&mut bench, 3), [false, false]);
    sane.expect_answer(&mut bench);
}
