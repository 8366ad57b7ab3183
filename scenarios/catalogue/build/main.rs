//! Reads what the docs of the recipes promise and writes it into one text, which the module `promises` has.
//!
//! In a package that was published there are no sources of the recipes, and the text is empty.

mod docs;

use std::path::Path;

fn main() {
    let of = |name| std::env::var(name).expect("cargo sets it");
    let recipes = Path::new(&of("CARGO_MANIFEST_DIR")).join("../../recipes");
    println!("cargo::rerun-if-changed=build");
    let text = if recipes.exists() {
        println!("cargo::rerun-if-changed={}", recipes.join("src").display());
        println!("cargo::rerun-if-changed={}", recipes.join("COST.md").display());
        docs::lines(&docs::read(&recipes))
    } else {
        String::new()
    };
    std::fs::write(Path::new(&of("OUT_DIR")).join("docs.txt"), text).expect("the text can be written");
}
