//! The options of the recipes against the list of those that workloads set.

use crate::docs;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::{Fields, Item, Type, Visibility};
use zk_catalogue::exercised;

/// What an application can set: `Naming::Curator`, or `LockOptions::margin` where any value may stand. `true`: it is a default.
fn settable() -> BTreeMap<String, bool> {
    let recipes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../recipes");
    let texts = docs::texts(&recipes);
    let parsed = |(_, text): &(_, String)| syn::parse_file(text).expect("the sources are Rust");
    let files: Vec<syn::File> = texts.iter().map(parsed).collect();
    let items = || files.iter().flat_map(|file| &file.items);
    let mut enums: BTreeMap<String, Vec<(String, bool)>> = BTreeMap::new();
    for item in items() {
        let Item::Enum(one) = item else { continue };
        let is_default = |attrs: &[syn::Attribute]| attrs.iter().any(|attr| attr.path().is_ident("default"));
        let variants = one.variants.iter().map(|one| (one.ident.to_string(), is_default(&one.attrs)));
        enums.insert(one.ident.to_string(), variants.collect());
    }
    let mut settable = BTreeMap::new();
    for item in items() {
        let Item::Struct(one) = item else { continue };
        let name = one.ident.to_string();
        let Fields::Named(fields) = &one.fields else { continue };
        if !name.ends_with("Options") || !matches!(one.vis, Visibility::Public(_)) {
            continue;
        }
        for field in &fields.named {
            let of = match &field.ty {
                Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
                _ => None,
            };
            match of.and_then(|of| enums.get_key_value(&of)) {
                Some((of, variants)) => {
                    settable.extend(variants.iter().map(|(one, is)| (format!("{of}::{one}"), *is)));
                }
                None => {
                    let field = field.ident.as_ref().expect("a named field");
                    settable.insert(format!("{name}::{field}"), false);
                }
            }
        }
    }
    settable
}

/// The sources of a workload: its folder without its mutants, or its file.
fn sources_of(workload: &str) -> String {
    let folder = crate::place_of(workload);
    if folder.with_extension("rs").exists() {
        return read(&folder.with_extension("rs"));
    }
    let mut text = String::new();
    let entries = std::fs::read_dir(&folder).expect("a workload has a folder");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        let is_mutant = path.file_stem().is_some_and(|stem| stem == "mutants");
        if path.is_file() && !is_mutant && path.extension().is_some_and(|is| is == "rs") {
            text += &read(&path);
        }
    }
    text
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("a source can be read")
}

/// Whether a workload names what it is said to set.
fn sets(workload: &str, value: &str) -> bool {
    let text = sources_of(workload);
    let (of, last) = value.split_once("::").expect("an option has two parts");
    let is_field = of.ends_with("Options");
    if is_field {
        text.contains(of)
            && [format!("with_{last}("), format!("new({last},")].iter().any(|set| text.contains(set))
    } else {
        text.contains(value)
    }
}

#[test]
fn every_value_of_an_option_is_set_by_a_workload_or_says_why_not() {
    let settable = settable();
    let listed = exercised::list().options;
    let mut wrong = Vec::new();
    let names: BTreeSet<&str> = listed.iter().map(|option| option.value.as_str()).collect();
    for value in settable.keys().filter(|value| !names.contains(value.as_str())) {
        wrong.push(format!("{value} can be set, and is not on the list of options"));
    }
    for option in &listed {
        let Some(is_default) = settable.get(&option.value) else {
            wrong.push(format!("{} is on the list, and cannot be set", option.value));
            continue;
        };
        for workload in option.set_by.iter().flatten() {
            if !is_default && !sets(workload, &option.value) {
                wrong.push(format!("{workload} does not name {}", option.value));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
