//! The search that a seed belongs to, as arguments of the verbs, and the arguments that reproduce one of its runs.

use clap::Args;
use zk_harness::strategy::{Search, Strategy, Variations};

/// What a run draws in addition to its strategy.
#[derive(Args)]
pub(super) struct Drawn {
    /// Draw the sizes of each run too: servers, clients, rounds and session timeout
    #[arg(long)]
    vary: bool,
    /// Let a foreign client interfere in every second run: it deletes znodes, writes into them, or adds some
    #[arg(long, alias = "strangers")]
    interference: bool,
}

impl Drawn {
    pub(super) fn variations(&self) -> Variations {
        Variations { sizes: self.vary, interference: self.interference }
    }
}

/// Reads the name of a strategy.
pub(super) fn parse_strategy(text: &str) -> Result<Strategy, String> {
    let names = Strategy::ALL.map(Strategy::name);
    Strategy::from_name(text).ok_or_else(|| super::no_such("strategy", text, names.into_iter()))
}

/// The arguments of `run` that reproduce a run of a search, except for `--plan`.
pub(super) fn numbered(search: &Search, seed: u64) -> String {
    let name = search.workload.name;
    let strategy = match search.strategy {
        Strategy::Swarm => String::new(),
        strategy => format!(" --strategy {}", strategy.name()),
    };
    let vary = if search.variations.sizes { " --vary" } else { "" };
    let interference = if search.variations.interference { " --interference" } else { "" };
    format!("{name}{strategy}{vary}{interference} --seed {seed}")
}

/// The command that reproduces a run of a search.
pub(super) fn again(search: &Search, seed: u64) -> String {
    let plan = if search.plan.is_some() { " with the same --plan" } else { "" };
    format!("cargo sim run {} --trace{plan}", numbered(search, seed))
}
