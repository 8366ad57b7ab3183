//! No circles: the root modules of a crate can be put in an order in which each names only earlier ones.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Every crate of the workspace, seen from this one.
const CRATES: [&str; 10] = [
    "../recipes",
    "../sim-zk",
    "../checker",
    "harness",
    "catalogue",
    "report",
    "real",
    "fidelity",
    "serve",
    ".",
];

/// Which root modules each root module names.
type Graph = BTreeMap<String, BTreeSet<String>>;

#[test]
fn root_modules_have_no_circles() {
    let mut wrong = Vec::new();
    for name in CRATES {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(name).join("src");
        let graph = graph(&source);
        assert!(graph.values().any(|names| !names.is_empty()) || graph.len() < 3, "{name} was read");
        if let Some(circle) = circle(&graph) {
            wrong.push(format!("{name}: {}", circle.join(" -> ")));
        }
    }
    assert!(wrong.is_empty(), "modules that name each other:\n{}", wrong.join("\n"));
}

#[test]
fn a_circle_is_found_and_its_test_code_is_not_read() {
    let of = |edges: &[(&str, &[&str])]| -> Graph {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        edges.iter().map(|(from, to)| ((*from).to_owned(), names(to))).collect()
    };
    assert_eq!(circle(&of(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])])), None);
    let found = circle(&of(&[("a", &["b"]), ("b", &["c"]), ("c", &["b"])]));
    assert_eq!(found, Some(vec!["b".to_owned(), "c".to_owned(), "b".to_owned()]));
    let code = "use crate::{b::C, d};\n// crate::comment\nfn f() { crate::e::g() }\n#[cfg(test)]\nmod tests { use crate::h; }";
    assert_eq!(named(code), ["b", "d", "e"].map(str::to_owned).into());
}

/// Reads a crate's sources.
fn graph(source: &Path) -> Graph {
    let mut graph = Graph::new();
    for file in files(source) {
        let inside = file.strip_prefix(source).expect("it was found there");
        let root = inside.components().next().expect("it has a name").as_os_str().to_string_lossy();
        let root = root.trim_end_matches(".rs").to_owned();
        if ["lib", "main", "bin"].contains(&root.as_str()) || is_of_tests(inside) {
            continue;
        }
        let text = std::fs::read_to_string(&file).expect("a source can be read");
        graph.entry(root).or_default().extend(named(&text));
    }
    // What is no module is an item of the crate's root.
    let modules: BTreeSet<String> = graph.keys().cloned().collect();
    for (module, names) in &mut graph {
        names.retain(|name| name != module && modules.contains(name));
    }
    graph
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder of sources can be read");
    let paths = entries.map(|entry| entry.expect("its entries can be read").path());
    let mut files: Vec<PathBuf> = paths
        .flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect();
    files.sort();
    files
}

fn is_of_tests(file: &Path) -> bool {
    file.components().any(|part| {
        let part = part.as_os_str().to_string_lossy();
        part == "tests" || part.ends_with("tests.rs")
    })
}

/// The names behind `crate::` in what is no comment and no test.
fn named(text: &str) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default());
    let code = lines.collect::<Vec<_>>().join("\n");
    let mut names = BTreeSet::new();
    for after in code.split("crate::").skip(1) {
        match after.strip_prefix('{') {
            Some(list) => names.extend(firsts(list)),
            None => names.extend(word(after)),
        }
    }
    names
}

/// The first word of every item of a list in braces.
fn firsts(list: &str) -> Vec<String> {
    let (mut depth, mut begins, mut words) = (0, true, Vec::new());
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => begins = true,
            c if begins && !c.is_whitespace() => {
                words.extend(word(&list[at..]));
                begins = false;
            }
            _ => {}
        }
    }
    words
}

fn word(text: &str) -> Option<String> {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    (end > 0).then(|| text[..end].to_owned())
}

/// A way from a module back to itself.
fn circle(graph: &Graph) -> Option<Vec<String>> {
    let mut done = BTreeSet::new();
    graph.keys().find_map(|module| search(graph, module, &mut Vec::new(), &mut done))
}

fn search(
    graph: &Graph,
    module: &str,
    way: &mut Vec<String>,
    done: &mut BTreeSet<String>,
) -> Option<Vec<String>> {
    if let Some(at) = way.iter().position(|on_it| on_it == module) {
        return Some(way[at..].iter().cloned().chain([module.to_owned()]).collect());
    }
    if done.contains(module) {
        return None;
    }
    way.push(module.to_owned());
    let found = graph.get(module)?.iter().find_map(|next| search(graph, next, way, done));
    way.pop();
    done.insert(module.to_owned());
    found
}
