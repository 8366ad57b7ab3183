//! Small sources and their mutants.

use zk_mutation::mutant::{Genre, Mutant};
use zk_mutation::schemata::{Schemata, rewrite};
use zk_mutation::source::Source;

/// A source file of this text.
pub fn source(text: &str) -> Source {
    Source::parse("recipes/src/small.rs", text.to_owned()).expect("the text is Rust")
}

/// The mutant that replaces the only place where this text stands.
pub fn mutant(source: &Source, genre: Genre, at: &str, replacement: &str) -> Mutant {
    let places: Vec<usize> = source.text.match_indices(at).map(|(start, _)| start).collect();
    let [start] = places[..] else { panic!("{at:?} stands at {} places", places.len()) };
    Mutant {
        file: source.path.clone(),
        span: (start..start + at.len()).into(),
        genre,
        replacement: replacement.to_owned(),
        line: source.line(start),
        description: format!("replace {at} with {replacement}"),
    }
}

/// The source with these mutants, numbered from 0.
pub fn rewritten(source: &Source, mutants: Vec<Mutant>) -> Schemata {
    rewrite(source, &(0..).zip(mutants).collect::<Vec<_>>())
}

/// The rewritten text, with the switch's path left out, which would fill the lines.
pub fn text(schemata: &Schemata) -> String {
    schemata.text.replace("crate::mutant_switch::", "")
}
