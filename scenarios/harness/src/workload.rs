//! Workloads and mutants as plain descriptions, which callers run by name. This module has no list of them: the caller
//! brings a [`Lookup`].

use crate::caught::Caught;
use crate::client::SimProcess;
use crate::pace::Pace;
use crate::plan::Plan;
use futures_util::future::BoxFuture;
use sim_zk::fault::Fault;
use sim_zk::injected_bug::InjectedBug;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use zk_checker::history::{Kind, Names, Object, Sym};
use zk_checker::{Probe, RuleId, RuleSet};

/// A workload of a recipe, correct or a mutant. The name identifies it.
pub struct Workload {
    /// Its name.
    pub name: &'static str,
    /// A description of one line.
    pub about: &'static str,
    /// For a mutant, how it must be killed.
    pub caught_by: Option<Caught>,
    /// The kinds of fault that its plans draw from: all for a workload; for a mutant only those that trigger it, so that no other
    /// fault hides its wrong step.
    pub faults: &'static [Fault],
    /// The plan that a seed draws for it.
    pub plan: fn(u64) -> Plan,
    /// Its objects, as declared to the checker; [`ObjectId`](zk_checker::history::ObjectId)s count from 0 in
    /// this order.
    pub objects: fn(&mut Names, &Setting) -> Vec<Object>,
    /// The task of one client in the simulation.
    pub sim: TaskFn<SimProcess>,
    /// Rules that a sweep must test; otherwise it is vacuous.
    pub required: &'static [RuleId],
    /// Probes that a long sweep must reach; otherwise the simulation is not adversarial enough.
    pub must_reach: &'static [Probe],
    /// A bug that is injected into the simulation, if any.
    pub injected_bug: Option<InjectedBug>,
    /// Its further requirements.
    pub stated: &'static Stated,
}

/// Finds a workload by its name.
pub type Lookup = fn(&str) -> Option<&'static Workload>;

/// The requirements of a workload that are not rules.
#[derive(Debug)]
pub struct Stated {
    /// The limit of simulated time, after the last fault, within which some client finishes a round or all are done. A run that
    /// takes longer hangs, and fails.
    pub finishes_within: Duration,
    /// The rules that judge its runs, if not all do: code that is not one of the library's recipes has promises of its
    /// own.
    pub rules: Option<&'static [RuleId]>,
    /// The conditions that some runs must reach: see [`sometimes!`](crate::sometimes).
    pub sometimes: &'static [&'static str],
}

/// The function that runs one client.
pub type TaskFn<C> = fn(Task<C>) -> BoxFuture<'static, ()>;

/// The task of one client in a run.
pub struct Task<C> {
    /// The client's process.
    pub client: C,
    /// The name of the workload: the mutants of one table share their code, which looks up the wrong step by name.
    pub workload: &'static str,
    /// The settings of its run.
    pub setting: Setting,
    /// The numbers of the rounds that it makes.
    pub rounds: Rounds,
    /// Called with the number of finished rounds after each round.
    pub done: Done,
}

/// The numbers of rounds, in order. The iterator may end early: each round is requested when the previous one is over.
#[derive(Clone)]
pub struct Rounds {
    left: Range<u32>,
    begins: Option<Begins>,
}

/// Whether a round is still to be made, asked right before it begins.
pub type Begins = Arc<dyn Fn(u32) -> bool + Send + Sync>;

impl Rounds {
    /// These rounds, up to the first that `begins` refuses.
    #[must_use]
    pub fn while_begun(left: Range<u32>, begins: Begins) -> Self {
        Rounds { left, begins: Some(begins) }
    }
}

impl From<Range<u32>> for Rounds {
    fn from(left: Range<u32>) -> Self {
        Rounds { left, begins: None }
    }
}

impl Iterator for Rounds {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let round = self.left.next()?;
        self.begins.as_ref().is_none_or(|begins| begins(round)).then_some(round)
    }
}

/// A callback with the number of finished rounds.
pub type Done = Box<dyn Fn(u32) + Send + Sync>;

/// The settings that a workload knows of its run.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The number of clients.
    pub clients: u8,
    /// The number of rounds of each client. On a real server the time limit decides; all clients make equally many.
    pub rounds: u32,
    /// The session timeout that they ask for.
    pub timeout: Duration,
    /// The durations of steps outside of the recipe.
    pub pace: Pace,
}

impl Setting {
    /// The settings of a simulated run.
    pub fn simulated(plan: &Plan) -> Setting {
        Setting {
            clients: plan.clients,
            rounds: plan.rounds,
            timeout: Duration::from_millis(plan.timeout_ms),
            pace: Pace::SIMULATED,
        }
    }

    /// Declares a held object that guards a resource, which refuses older tokens.
    pub fn held(&self, kind: Kind, path: Sym) -> Object {
        Object { margin: self.margin_us(), fenced: true, ..Object::plain(kind, path) }
    }

    /// A holder's margin before the end of its session, in microseconds.
    pub fn margin_us(&self) -> u64 {
        self.timeout.as_micros() as u64 / 10
    }
}

impl Workload {
    /// A correct workload: judged by the rules that `stated` names, under all kinds of fault, and run in the simulation
    /// alone. Set other fields with `Workload { plan, ..Workload::own(…) }`.
    pub const fn own(
        name: &'static str,
        objects: fn(&mut Names, &Setting) -> Vec<Object>,
        sim: TaskFn<SimProcess>,
        stated: &'static Stated,
    ) -> Workload {
        let required = match stated.rules {
            Some(rules) => rules,
            None => &[],
        };
        Workload {
            name,
            about: "",
            caught_by: None,
            faults: Fault::DRAWN,
            plan: Plan::drawn,
            objects,
            sim,
            required,
            must_reach: &[],
            injected_bug: None,
            stated,
        }
    }

    /// A mutant of this workload: its name and description, how it must be killed, the faults that its plans draw, and
    /// its task.
    pub const fn mutant(
        &self,
        name: &'static str,
        about: &'static str,
        caught: Caught,
        faults: &'static [Fault],
        plan: fn(u64) -> Plan,
        sim: TaskFn<SimProcess>,
    ) -> Workload {
        let caught_by = Some(caught);
        Workload { name, about, caught_by, faults, plan, sim, required: &[], must_reach: &[], ..*self }
    }

    /// The rules that judge its runs.
    pub fn rules(&self) -> RuleSet {
        self.stated.rules.map_or_else(RuleSet::all, RuleSet::only)
    }

    /// The plan that a seed draws for it.
    pub fn plan(&self, seed: u64) -> Plan {
        (self.plan)(seed)
    }

    /// Whether it is a mutant.
    pub fn is_mutant(&self) -> bool {
        self.caught_by.is_some()
    }
}

impl PartialEq for Workload {
    fn eq(&self, other: &Workload) -> bool {
        self.name == other.name
    }
}

impl Eq for Workload {}

impl fmt::Debug for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Workload({})", self.name)
    }
}
