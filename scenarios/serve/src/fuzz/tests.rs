//! Replays the corpus, so that whatever a fuzzer has found stays mended.

use std::path::Path;

/// Hands every file of a target's corpus to it.
fn replay(target: &str, act: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{} has no files", folder.display());
    for file in files {
        // The name of the file is told if it panics.
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
