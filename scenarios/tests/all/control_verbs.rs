//! The verbs of the control API and their fields, where they are written down: the code, its page, and the fixtures that have a method
//! for each verb. Those of Go, Node and Rust send any verb with any fields.

use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use zk_serve::command::{ACTIONS, Command};

type Verbs = BTreeMap<String, BTreeSet<String>>;

fn file(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("serve").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

/// The texts between two marks.
fn between(text: &str, mark: char) -> Vec<&str> {
    text.split(mark).skip(1).step_by(2).collect()
}

/// The rows of the page's tables whose second column has fields; `shutdown`, which ends the ensemble, is in no table.
fn page() -> Verbs {
    let text = file("CONTROL.md");
    let mut verbs = Verbs::new();
    let mut has_fields = false;
    for line in text.lines() {
        let columns: Vec<&str> = line.split('|').map(str::trim).collect();
        match columns[..] {
            ["", "verb", "fields", _, ""] => has_fields = true,
            ["", verb, fields, _, ""] if has_fields && verb.starts_with('`') => {
                let fields = between(fields, '`').into_iter().map(str::to_owned).collect();
                verbs.insert(verb.trim_matches('`').to_owned(), fields);
            }
            _ if line.is_empty() => has_fields = false,
            _ => {}
        }
    }
    verbs
}

/// What the program takes: it names the fields of a verb as it refuses another one.
fn code() -> Verbs {
    let fields = |verb: &str| {
        let why = Command::read(verb, json!({"no-field": 0})).unwrap_err().why;
        let (_, expected) = why.split_once("unknown field `no-field`").unwrap_or_else(|| panic!("{why}"));
        between(expected, '`').into_iter().map(str::to_owned).collect()
    };
    let verbs = ACTIONS.iter().filter(|verb| **verb != "shutdown");
    verbs.map(|verb| ((*verb).to_owned(), fields(verb))).collect()
}

/// The calls of these functions whose first argument is a verb: the verb, and the other arguments up to `end`.
fn calls<'a>(text: &'a str, functions: &[&str], end: &str) -> Vec<(&'a str, &'a str)> {
    let opens: Vec<String> = functions.iter().map(|function| format!("{function}(\"")).collect();
    let starts =
        opens.iter().flat_map(|open| text.match_indices(open).map(move |(at, open)| at + open.len()));
    let call = |at: usize| {
        let (verb, rest) = text[at..].split_once('"').expect("a text ends");
        let (arguments, _) = rest.split_once(end).expect("a call ends");
        (verb, arguments)
    };
    starts.map(call).collect()
}

/// The fields that the calls of each verb have together; `fields` finds those of one call.
fn of_calls<'a>(calls: Vec<(&'a str, &'a str)>, fields: impl Fn(&'a str) -> Vec<&'a str>) -> Verbs {
    let mut verbs = Verbs::new();
    for (verb, arguments) in calls {
        let known = verbs.entry(verb.to_owned()).or_default();
        known.extend(fields(arguments).into_iter().map(str::to_owned));
    }
    verbs
}

/// The methods of the Python package: `self._fault("crash", server=server, duration=duration)`.
fn python() -> Verbs {
    let text = file("fixtures/python/zksim/ensemble.py");
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let fields = |arguments| {
        let names =
            str::split(arguments, '=').map(|part: &str| part.rsplit(|c| !is_name(c)).next().unwrap_or(""));
        let of_name = |name| match name {
            "duration" => vec!["for"],
            "pair" => vec!["from", "to"],
            name => vec![name],
        };
        names.flat_map(of_name).filter(|name| !name.is_empty()).collect()
    };
    of_calls(calls(&text, &["self._fault", "self._post"], ")\n"), fields)
}

/// The methods of the Java class: `fault("crash", fields("server", server, "for", text(lasts)))`; `which` is a client, a kind of
/// request, a path and a number.
fn java() -> Verbs {
    let text = file("fixtures/java/org/zksim/ZkSim.java");
    let fields = |arguments| {
        let mut names = between(arguments, '"');
        if arguments.contains("which.fields") {
            names.extend(["client", "op", "path", "count"]);
        }
        names
    };
    of_calls(calls(&text, &["fault", "post"], ";\n"), fields)
}

/// What a list of verbs does not have, as sentences.
fn missing(wanted: &Verbs, found: &Verbs) -> Vec<String> {
    let mut missing = Vec::new();
    for (verb, fields) in wanted {
        let Some(known) = found.get(verb) else {
            missing.push(format!("{verb} is missing"));
            continue;
        };
        missing.extend(fields.difference(known).map(|field| format!("{verb} has no {field}")));
    }
    missing
}

const NOTHING: [&str; 0] = [];

#[test]
fn the_page_has_every_verb_and_every_field() {
    assert_eq!(page(), code());
}

#[test]
fn the_fixtures_with_a_method_for_each_verb_have_every_verb_and_every_field() {
    for found in [python(), java()] {
        assert_eq!(missing(&page(), &found), NOTHING, "{found:?}");
    }
}

#[test]
fn a_verb_or_a_field_that_a_fixture_lacks_is_named() {
    let mut fixture = python();
    fixture.remove("hold");
    fixture.get_mut("release").unwrap().remove("what");
    assert_eq!(missing(&page(), &fixture), ["hold is missing", "release has no what"]);
}
