//! The copy of the workspace in which mutants are built. The workspace itself is never written.

use crate::mutant::Mutant;
use crate::schemata::{Schemata, rewrite};
use crate::scope::Scope;
use crate::source::Source;
use anyhow::{Context, bail};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The switch, a module of the mutated crate.
const SWITCH: &str = include_str!("switch.rs.in");

/// The files of a workspace: what Git knows, and what it does not ignore.
///
/// # Errors
///
/// It is no repository of Git.
pub fn files(workspace: &Path) -> anyhow::Result<Vec<String>> {
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(workspace)
        .output()
        .context("git cannot be started")?;
    if !listed.status.success() {
        bail!("git ls-files failed in {}", workspace.display());
    }
    let names = String::from_utf8(listed.stdout).context("a file's name is not UTF-8")?;
    let names = names.split('\0').filter(|name| !name.is_empty()).map(str::to_owned);
    // Git also names a file that has just been removed.
    let mut files: Vec<_> = names.filter(|name| workspace.join(name).is_file()).collect();
    files.sort_unstable();
    files.dedup();
    Ok(files)
}

/// A copy of a workspace below its folder `target`, where the configuration of the workspace holds for it too.
pub struct Copy {
    /// The root of the copy.
    pub root: PathBuf,
    /// Where it is built.
    pub target: PathBuf,
}

impl Copy {
    /// Brings the copy up to date. A file that is equal keeps its time, so that it is not built again.
    ///
    /// # Errors
    ///
    /// A file cannot be read or written.
    pub fn of(workspace: &Path, scope: Scope) -> anyhow::Result<Copy> {
        let home = workspace.join("target/mutation");
        let copy = Copy { root: home.join(scope.name()), target: home.join("target") };
        for file in files(workspace)? {
            // Cargo reads the configuration of the folders above as well, and would join the two.
            if file.starts_with(".cargo/") || scope.contains(&file) {
                continue;
            }
            let mut bytes = std::fs::read(workspace.join(&file))?;
            if file == "Cargo.toml" {
                bytes = lenient(&String::from_utf8(bytes)?).into_bytes();
            }
            copy.write(&file, &bytes)?;
        }
        Ok(copy)
    }

    /// Writes the sources with these mutants, each under its index.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub fn write_mutants(
        &self,
        scope: Scope,
        sources: &BTreeMap<String, Source>,
        mutants: &BTreeMap<u32, Mutant>,
    ) -> anyhow::Result<BTreeMap<String, Schemata>> {
        let count = mutants.keys().next_back().map_or(0, |last| last + 1);
        let switch = format!("{SWITCH}\nconst COUNT: usize = {count};\n");
        self.write(&format!("{}/src/mutant_switch.rs", scope.folder()), switch.as_bytes())?;
        let mut written = BTreeMap::new();
        for (file, source) in sources {
            let here = mutants.iter().filter(|(_, mutant)| mutant.file == *file);
            let here: Vec<_> = here.map(|(number, mutant)| (*number, mutant.clone())).collect();
            let mut schemata = rewrite(source, &here);
            if file.ends_with("/src/lib.rs") {
                schemata.text.push_str("\nmod mutant_switch;\n");
            }
            self.write(file, schemata.text.as_bytes())?;
            written.insert(file.clone(), schemata);
        }
        Ok(written)
    }

    fn write(&self, file: &str, bytes: &[u8]) -> anyhow::Result<()> {
        let path = self.root.join(file);
        if std::fs::read(&path).is_ok_and(|old| old == bytes) {
            return Ok(());
        }
        let parent = path.parent().expect("a file below the root has a parent");
        std::fs::create_dir_all(parent)
            .and_then(|()| std::fs::write(&path, bytes))
            .with_context(|| format!("{} cannot be written", path.display()))
    }
}

/// The manifest without lints that are errors, for a mutant may leave a value unused; and with less optimisation where the build
/// takes longer than all runs.
fn lenient(manifest: &str) -> String {
    let catalogue = "zk-catalogue.codegen-units = 64";
    let faster = format!("{catalogue}\nzk-catalogue.opt-level = 1\nzk-scenarios.opt-level = 1");
    manifest.replace("= \"deny\"", "= \"allow\"").replace(catalogue, &faster)
}
