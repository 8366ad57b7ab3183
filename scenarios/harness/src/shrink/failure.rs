//! A run that fails, as its deviations from the default choices.

use super::deviation::{Decide, Deviation, Noting};
use super::size::Size;
use crate::interference::is_foreign;
use crate::panics::{Panic, caught};
use crate::run::{Draw, Run};

/// A run that fails, and its deviations from the default choices.
#[derive(Debug)]
pub struct Failure {
    /// Its deviations, in the order of the run.
    pub deviations: Vec<Deviation>,
    /// The run.
    pub run: Run,
}

impl Failure {
    /// Makes a run. It need not fail.
    pub(super) fn of(draw: Draw<impl Decide + 'static>) -> Result<Failure, Panic> {
        let Draw { workload, plan, chooser } = draw;
        let noting = Draw { workload, plan, chooser: Noting::new(chooser) };
        let (run, noting) = caught(|| noting.run_by_chooser())?;
        Ok(Failure { deviations: noting.into_deviations(), run })
    }

    /// The size of the failure.
    pub fn size(&self) -> Size {
        let acts = self.run.faults().filter(|kind| is_foreign(*kind)).count();
        Size {
            clients: self.run.plan.clients,
            rounds: self.run.plan.rounds,
            servers: self.run.plan.servers,
            acts: acts as u32,
            faults: self.deviations.iter().filter(|deviation| deviation.is_fault()).count() as u32,
            choices: self.deviations.len(),
            sum: self.deviations.iter().map(|deviation| u64::from(deviation.choice)).sum(),
            events: self.run.history.events.len(),
        }
    }
}
