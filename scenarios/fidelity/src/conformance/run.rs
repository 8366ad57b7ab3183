//! Plays many cases, each on an empty server with the configuration that it needs.
//!
//! 1. Find a server: the current one, if it has the configuration and nothing is left on it; else a new one.
//! 2. Play the case, compare.
//! 3. Tidy up.

use super::case::{Case, Placed};
use super::compare::{Difference, compare};
use super::play::Player;
use super::supply::Supply;
use super::target::Trouble;
use std::sync::atomic::{AtomicBool, Ordering};

/// The verdict on a case.
#[derive(Clone, Debug, PartialEq)]
pub enum CaseVerdict {
    /// As recorded.
    Pass,
    /// Not as recorded, but the real server itself is nondeterministic there.
    Race(Difference),
    /// Not as recorded.
    Differ(Difference),
    /// Not played, and why.
    Skip(String),
}

/// A case could not be played: the test itself failed, or the server is gone.
#[derive(Debug, thiserror::Error)]
#[error("cannot play {id}, line {line} of {}: {trouble}", .file.display())]
pub struct RunError {
    /// The case.
    pub id: String,
    /// Its file.
    pub file: std::path::PathBuf,
    /// Its line, from 1.
    pub line: usize,
    /// The error.
    pub trouble: Trouble,
}

impl RunError {
    fn at(Placed { case, file, line }: &Placed, trouble: Trouble) -> Self {
        RunError { id: case.id.clone(), file: file.clone(), line: *line, trouble }
    }
}

/// A node that a case left on the server because its access list forbids the deletion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// The node.
    pub path: String,
    /// The case.
    pub by: String,
}

/// Plays cases, those of one configuration together, until `stop` is set, and reports each when it is done. Returns
/// what is left on the last server.
///
/// # Errors
///
/// The first case that could not be played to its end.
pub fn run<S: Supply>(
    cases: &[Placed],
    supply: &mut S,
    stop: &AtomicBool,
    mut each: impl FnMut(&Placed, &CaseVerdict),
) -> Result<Vec<Left>, RunError> {
    let mut configs: Vec<&str> = Vec::new();
    for placed in cases {
        if !configs.contains(&placed.case.config.as_str()) {
            configs.push(&placed.case.config);
        }
    }
    let mut ground =
        Ground { supply, player: None, config: String::new(), left: Vec::new(), pristine: false };
    let result = configs.into_iter().try_for_each(|config| {
        let cases = cases.iter().filter(|placed| placed.case.config == config);
        cases.take_while(|_| !stop.load(Ordering::Relaxed)).try_for_each(|placed| {
            let verdict = ground.play(&placed.case).map_err(|trouble| RunError::at(placed, trouble))?;
            each(placed, &verdict);
            Ok(())
        })
    });
    if let Some(mut player) = ground.player.take() {
        if result.is_err() {
            // The case did not finish. If the server is gone there is nothing to tidy up.
            let _ = player.tidy();
        }
        player.finish();
    }
    result.map(|()| ground.left)
}

/// The current server.
struct Ground<'a, S: Supply> {
    supply: &'a mut S,
    player: Option<Player<S::Target>>,
    config: String,
    left: Vec<Left>,
    /// Whether the server was unused before this case.
    pristine: bool,
}

impl<S: Supply> Ground<'_, S> {
    fn play(&mut self, case: &Case) -> Result<CaseVerdict, Trouble> {
        if let Some(why) = self.prepare(case)? {
            return Ok(CaseVerdict::Skip(why));
        }
        let player = self.player.as_mut().expect("it was just prepared");
        if case.restarts() && !player.can_restart() {
            return Ok(CaseVerdict::Skip(
                "it restarts the server, which this program did not start".to_owned(),
            ));
        }
        let observed = player.play(case)?;
        for path in player.tidy()? {
            if !self.left.iter().any(|left| left.path == path) {
                self.left.push(Left { path, by: case.id.clone() });
            }
        }
        Ok(match compare(case, &observed, player.order()) {
            None => CaseVerdict::Pass,
            Some(difference) if case.fresh && !self.pristine => {
                CaseVerdict::Skip(format!("it needs a fresh server; here, {difference}"))
            }
            Some(difference) if case.is_race() => CaseVerdict::Race(difference),
            Some(difference) => CaseVerdict::Differ(difference),
        })
    }

    /// Prepares a server for this case, or returns why there is none.
    fn prepare(&mut self, case: &Case) -> Result<Option<String>, Trouble> {
        let suits = self.config == case.config && self.left.is_empty();
        if let Some(player) = &mut self.player {
            self.pristine = player.is_pristine()?;
            if suits && (self.pristine || !case.fresh) {
                return Ok(None);
            }
        }
        if let Some(target) = self.supply.target(&case.config)? {
            let mut player = Player::new(target)?;
            if let Some(path) = player.first_node()? {
                return Err(Trouble::NotEmpty(path));
            }
            self.player = Some(player);
            self.left.clear();
        }
        self.config.clone_from(&case.config);
        let player = self.player.as_mut().expect("a supply gives out something first");
        self.pristine = player.is_pristine()?;
        Ok(self.left.iter().find_map(|left| in_the_way(case, left)))
    }
}

/// Whether a node that another case left would disturb a case.
fn in_the_way(case: &Case, left: &Left) -> Option<String> {
    let top = |path: &str| path.split('/').nth(1).unwrap_or_default().to_owned();
    let meets = case.steps.iter().flat_map(|step| std::iter::once(step).chain(&step.ops)).any(|step| {
        let lists = step.exist.iter().chain(&step.child);
        step.path.iter().chain(lists).any(|path| top(path) == top(&left.path))
    });
    meets.then(|| format!("{} left {}, whose access list forbids the deletion", left.by, left.path))
}
