//! The kinds of object, a recipe a file: what the rules have to know of a recipe, and read without naming it.
//!
//! A new kind fills a [`Recipe`], in which no field has a default, and gets a line in [`Kind::recipe`].

mod barrier;
mod config;
mod double_barrier;
mod election;
mod foreign;
mod group;
mod lock;
mod names;
mod priority_lock;
mod queue;
mod revocable_lock;
mod shared_lock;
mod two_phase_commit;

use crate::history::Kind;
use crate::view::{Part, Protocol};

/// The description of a recipe.
pub(crate) struct Recipe {
    /// Which znode plays which part, and how clients contend.
    pub(crate) protocol: Protocol,
}

impl Kind {
    /// The description of the recipe.
    pub(crate) fn recipe(self) -> &'static Recipe {
        match self {
            Kind::Lock => &lock::LOCK,
            Kind::SharedLock => &shared_lock::SHARED_LOCK,
            Kind::RevocableLock => &revocable_lock::REVOCABLE_LOCK,
            Kind::PriorityLock => &priority_lock::PRIORITY_LOCK,
            Kind::Election => &election::ELECTION,
            Kind::Barrier => &barrier::BARRIER,
            Kind::DoubleBarrier => &double_barrier::DOUBLE_BARRIER,
            Kind::Queue => &queue::QUEUE,
            Kind::PriorityQueue => &queue::PRIORITY_QUEUE,
            Kind::TwoPhaseCommit => &two_phase_commit::TWO_PHASE_COMMIT,
            Kind::Names => &names::NAMES,
            Kind::Config => &config::CONFIG,
            Kind::Group => &group::GROUP,
            Kind::Semaphore | Kind::Counter | Kind::Partition | Kind::Cache => &foreign::FOREIGN,
        }
    }
}

/// The protocol of a kind, for the view.
pub(crate) fn protocol_of(kind: Kind) -> &'static Protocol {
    &kind.recipe().protocol
}

/// Every child of the object's directory represents a client.
fn child(below: &str) -> Part {
    if below.is_empty() || below.contains('/') { Part::Other } else { Part::Member }
}

/// The object is one znode.
fn itself(below: &str) -> Part {
    if below.is_empty() { Part::Itself } else { Part::Other }
}
