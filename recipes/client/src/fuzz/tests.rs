//! Replays the corpus, so that whatever a fuzzer has found stays mended.

use std::path::Path;

#[test]
fn a_client_survives_what_the_servers_of_the_corpus_send() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/serve/fuzz/corpus/client");
    let files = std::fs::read_dir(&folder).expect("there is a corpus");
    let mut files: Vec<_> = files.map(|file| file.expect("it can be listed").path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{} has no files", folder.display());
    for file in files {
        // The name of the file is told if it panics.
        println!("{}", file.display());
        super::client(&std::fs::read(&file).expect("it can be read"));
    }
}
