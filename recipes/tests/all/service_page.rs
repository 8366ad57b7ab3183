//! The service in the workspace's README is the example of `zk_client::Connector`, which rustdoc compiles.

use std::path::Path;

/// The lines of a page's code blocks, without those that rustdoc hides.
fn code(page: &str) -> Vec<&str> {
    let blocks = page.split("```").skip(1).step_by(2);
    blocks.flat_map(|block| block.lines().skip(1)).filter(|line| !line.starts_with("# ")).collect()
}

#[test]
fn the_service_of_the_readme_is_the_compiled_one() {
    let read = |page: &str| {
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).expect("the page is there")
    };
    let (readme, source) = (read("../README.md"), read("client/src/connector.rs"));
    let (_, service) = readme.split_once("\n## A service\n").expect("README has that chapter");
    let (service, _) = service.split_once("\n## ").expect("another chapter follows");
    let (docs, _) = source.split_once("pub struct Connector").expect("it is there");
    let docs = docs.lines().filter_map(|line| line.strip_prefix("///"));
    let docs: Vec<&str> = docs.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    let shown = code(service);
    assert!(shown.iter().any(|line| line.contains("supervisor.lead(")), "README shows a service");
    assert_eq!(shown, code(&docs.join("\n")));
}
