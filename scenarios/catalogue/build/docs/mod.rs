//! What the sources of the recipes promise: public methods, and the sentences under their headings.

mod macros;
mod sentences;

use macros::Macros;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::{Attribute, Expr, Item, Lit, Meta, Visibility};

/// A public item with what its docs promise.
#[derive(Debug)]
pub(crate) struct Promised {
    pub subject: String,
    /// Pairs of heading and sentence.
    pub sentences: Vec<(String, String)>,
}

/// What the lists do not cover: nothing depends on what is observed.
const APART: &str = "observe";

/// The text of each source.
pub(crate) fn texts(recipes: &Path) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    collect(&recipes.join("src"), &mut files);
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("a source can be read");
        (path, text)
    };
    files.into_iter().map(read).collect()
}

/// Reads the sources and the page of costs.
pub(crate) fn read(recipes: &Path) -> Vec<Promised> {
    let texts = texts(recipes);
    let mut promised = of_texts(texts.iter().map(|(path, text)| (path.as_path(), text.as_str())));
    let costs = std::fs::read_to_string(recipes.join("COST.md")).expect("the page of costs can be read");
    promised.extend(of_costs(&costs));
    promised
}

/// A line for each item, and an indented one for each sentence.
pub(crate) fn lines(promised: &[Promised]) -> String {
    let mut out = String::new();
    for Promised { subject, sentences } in promised {
        out += &format!("{subject}\n");
        out.extend(sentences.iter().map(|(heading, says)| format!("\t{heading}\t{says}\n")));
    }
    out
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).expect("a folder of sources can be read");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        let stem = path.file_stem().expect("a name").to_string_lossy().into_owned();
        match path.is_dir() {
            _ if stem == APART => {}
            true => collect(&path, files),
            false => files.push(path),
        }
    }
}

/// The same of these texts.
pub(crate) fn of_texts<'a>(texts: impl Iterator<Item = (&'a Path, &'a str)>) -> Vec<Promised> {
    let (mut macros, mut files) = (Macros::default(), Vec::new());
    for (path, text) in texts {
        let file = syn::parse_file(text).expect("the sources are Rust");
        macros.learn(&file);
        files.push((path, file));
    }
    let mut reader = Reader { macros, public: BTreeSet::new(), is_zk: false, found: Vec::new() };
    for (_, file) in &files {
        reader.public.extend(file.items.iter().filter_map(public_type));
    }
    for (path, file) in &files {
        reader.is_zk = path.components().any(|part| part.as_os_str() == "zk");
        let is_root = path.ends_with("lib.rs") || path.ends_with("mod.rs");
        let stem = path.file_stem().expect("a name").to_string_lossy();
        let module = match is_root {
            true => path
                .parent()
                .and_then(Path::file_name)
                .map_or_else(String::new, |n| n.to_string_lossy().into()),
            false => stem.into_owned(),
        };
        let module = if module == "src" { "crate".to_owned() } else { module };
        reader.docs(format!("mod {module}"), &file.attrs);
        reader.items(&file.items);
    }
    reader.found
}

fn public_type(item: &Item) -> Option<String> {
    let (vis, ident) = match item {
        Item::Struct(item) => (&item.vis, &item.ident),
        Item::Enum(item) => (&item.vis, &item.ident),
        _ => return None,
    };
    is_public(vis).then(|| ident.to_string())
}

fn is_public(vis: &Visibility) -> bool {
    matches!(vis, Visibility::Public(_))
}

/// Whether the docs leave it out.
fn is_hidden(attrs: &[Attribute]) -> bool {
    let is_it = |attr: &Attribute| match &attr.meta {
        Meta::List(list) => list.path.is_ident("doc") && list.tokens.to_string() == "hidden",
        _ => false,
    };
    attrs.iter().any(is_it)
}

struct Reader {
    macros: Macros,
    /// The public types.
    public: BTreeSet<String>,
    /// Of the module `zk` only the trait's methods count without a sentence.
    is_zk: bool,
    found: Vec<Promised>,
}

impl Reader {
    fn items(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Macro(call) if call.ident.is_none() => {
                    if let Some(made) = self.macros.items(&call.mac) {
                        self.items(&made);
                    }
                }
                Item::Impl(block) if block.trait_.is_none() => self.methods(block),
                Item::Trait(item) if is_public(&item.vis) => self.whole_trait(item),
                Item::Struct(item) if is_public(&item.vis) => self.docs(item.ident.to_string(), &item.attrs),
                Item::Enum(item) if is_public(&item.vis) => {
                    self.docs(item.ident.to_string(), &item.attrs);
                    for variant in &item.variants {
                        self.docs(format!("{}::{}", item.ident, variant.ident), &variant.attrs);
                    }
                }
                Item::Fn(item) if is_public(&item.vis) => self.docs(item.sig.ident.to_string(), &item.attrs),
                _ => {}
            }
        }
    }

    fn methods(&mut self, block: &syn::ItemImpl) {
        let syn::Type::Path(of) = block.self_ty.as_ref() else { return };
        let of = of.path.segments.last().expect("a path has a last segment").ident.to_string();
        // Options are values, which `exercised` lists.
        if !self.public.contains(&of) || of.ends_with("Options") {
            return;
        }
        let mut functions = Vec::new();
        self.macros.each_function(&block.items, &mut |function| {
            if is_public(&function.vis) {
                functions
                    .push((format!("{of}::{}", function.sig.ident), sentences::of(&doc(&function.attrs))));
            }
        });
        for (subject, sentences) in functions {
            if !self.is_zk || !sentences.is_empty() {
                self.found.push(Promised { subject, sentences });
            }
        }
    }

    /// Of the traits in the module `zk` only these have recipes as their callers.
    fn whole_trait(&mut self, item: &syn::ItemTrait) {
        let is_whole = !self.is_zk || item.ident == "ZooKeeper" || item.ident == "Runtime";
        self.docs(item.ident.to_string(), &item.attrs);
        for part in &item.items {
            match part {
                syn::TraitItem::Fn(method) if is_whole && !is_hidden(&method.attrs) => {
                    self.method(format!("{}::{}", item.ident, method.sig.ident), &method.attrs);
                }
                syn::TraitItem::Type(kind) => {
                    self.docs(format!("{}::{}", item.ident, kind.ident), &kind.attrs)
                }
                _ => {}
            }
        }
    }

    /// A public method counts with or without a sentence.
    fn method(&mut self, subject: String, attrs: &[Attribute]) {
        let sentences = sentences::of(&doc(attrs));
        self.found.push(Promised { subject, sentences });
    }

    /// Any other item counts if it promises something.
    fn docs(&mut self, subject: String, attrs: &[Attribute]) {
        let sentences = sentences::of(&doc(attrs));
        if !sentences.is_empty() {
            self.found.push(Promised { subject, sentences });
        }
    }
}

/// The doc comment, line by line.
fn doc(attrs: &[Attribute]) -> String {
    let lines = attrs.iter().filter_map(|attr| match &attr.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => Some(text(&pair.value)),
        _ => None,
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The text of a literal, or of a `concat!` of literals and `stringify!`s.
fn text(value: &Expr) -> String {
    match value {
        Expr::Lit(lit) => match &lit.lit {
            Lit::Str(text) => text.value(),
            _ => String::new(),
        },
        Expr::Macro(call) if call.mac.path.is_ident("stringify") => call.mac.tokens.to_string(),
        Expr::Macro(call) => {
            let parse = syn::punctuated::Punctuated::<Expr, syn::Token![,]>::parse_terminated;
            let parts = call.mac.parse_body_with(parse).expect("the parts of a concat!");
            parts.iter().map(text).collect()
        }
        _ => String::new(),
    }
}

/// The cases of the page of costs, by recipe.
fn of_costs(page: &str) -> Vec<Promised> {
    let mut cases: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    let mut table = "cost";
    for line in page.lines() {
        if line == "## Herds" {
            table = "herd";
        }
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if cells.len() < 4 || ["recipe", "---"].contains(&cells[1]) {
            continue;
        }
        let case = (table.to_owned(), cells[2].to_owned());
        let of = cases.entry(format!("COST.md: {}", cells[1])).or_default();
        if !of.contains(&case) {
            of.push(case);
        }
    }
    cases.into_iter().map(|(subject, sentences)| Promised { subject, sentences }).collect()
}
