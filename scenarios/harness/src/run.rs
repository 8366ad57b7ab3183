//! One simulated run of a workload.
//!
//! | file | content |
//! |---|---|
//! | `draw` | a run before it is made: the workload, the plan and the chooser |
//! | `play` | makes it: clients on a simulated ensemble |
//! | `record` | the run that was made: its history and its verdict |

mod draw;
mod play;
mod record;

pub use draw::Draw;
pub use play::header;
pub use record::{Hang, PANIC, Panicked, Run};

use crate::plan::Plan;
use crate::workload::Workload;

/// Makes the run of a seed.
pub fn seed(workload: &'static Workload, plan: &Plan, seed: u64) -> Run {
    Draw::seeded(workload, plan.clone(), seed).run()
}

/// Makes the run of a recorded list of choices.
pub fn replay(workload: &'static Workload, plan: &Plan, choices: Vec<u16>) -> Run {
    Draw::replayed(workload, plan.clone(), choices).run()
}
