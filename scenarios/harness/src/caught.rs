//! How a mutant must be caught: by which rule, how soon, with what harm.

use zk_checker::RuleId;

/// How a broken recipe must be caught.
#[derive(Clone, Copy, Debug)]
pub struct Caught {
    /// The rule that names its wrong step: first in [`FIRST`] of a hundred runs that fail.
    pub by: RuleId,
    /// Rules that may be first in its place, each with the reason why.
    pub or: &'static [(RuleId, &'static str)],
    /// The rules that name the harm: each must be broken in some run. None if the wrong step does none by itself.
    pub harm: &'static [RuleId],
    /// The promise that it breaks for everybody to see: one of its rules must be broken also for a judge who is shown nothing
    /// but calls, returns, beliefs and notifications.
    pub breaks: Option<Promise>,
    /// Within how many seeds it must be found: in half of all searches within as many, in 95 of 100 within [`TAIL`] times
    /// as many.
    pub within: u64,
    /// Where it was seen in the field, if it was.
    pub seen: &'static str,
}

/// In how many of a hundred runs that fail the rule must be first.
pub const FIRST: usize = 95;

/// How many times longer than the median the slowest searches may take.
pub const TAIL: u64 = 20;

impl Caught {
    /// By that rule within twenty seeds.
    pub const fn by(by: RuleId) -> Caught {
        Caught { by, or: &[], harm: &[], breaks: None, within: 20, seen: "" }
    }

    /// These may be first in its place, and why.
    #[must_use]
    pub const fn or(mut self, rules: &'static [(RuleId, &'static str)]) -> Caught {
        self.or = rules;
        self
    }

    /// These name the harm.
    #[must_use]
    pub const fn harm(mut self, rules: &'static [RuleId]) -> Caught {
        self.harm = rules;
        self
    }

    /// A promise is broken for everybody to see.
    #[must_use]
    pub const fn breaks(mut self, promise: Promise) -> Caught {
        self.breaks = Some(promise);
        self
    }

    /// Within so many seeds.
    #[must_use]
    pub const fn within(mut self, seeds: u64) -> Caught {
        self.within = seeds;
        self
    }

    /// There it was seen.
    #[must_use]
    pub const fn seen(mut self, field: &'static str) -> Caught {
        self.seen = field;
        self
    }

    /// Whether a run whose first finding is of that rule counts as caught.
    pub fn is_caught_by(&self, first: RuleId) -> bool {
        first == self.by || self.or.iter().any(|(rule, _)| *rule == first)
    }
}

sim_zk::named! {
    /// One of the four promises that matter most.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Promise {
        /// One holder at a time.
        Exclusion = "mutual exclusion",
        /// Nobody passes, enters or leaves early.
        Barriers = "barriers",
        /// Nobody is woken for nothing.
        NoHerd = "no herd",
        /// All sites decide alike.
        Agreement = "agreement",
    }
}

impl Promise {
    /// The rules that see it broken from outside.
    pub fn rules(self) -> &'static [RuleId] {
        match self {
            Promise::Exclusion => &[RuleId::Mx1, RuleId::Mx2, RuleId::Mx3, RuleId::Rw1, RuleId::Le1],
            Promise::Barriers => &[RuleId::Ba1, RuleId::Db1, RuleId::Db2, RuleId::Db3, RuleId::Db4],
            Promise::NoHerd => &[
                RuleId::Mx13,
                RuleId::Rw5,
                RuleId::Rv4,
                RuleId::Le7,
                RuleId::Ba3,
                RuleId::Db8,
                RuleId::Qu7,
                RuleId::Tc12,
                RuleId::Gm7,
                RuleId::Cf8,
            ],
            Promise::Agreement => &[RuleId::Tc1, RuleId::Tc2, RuleId::Tc3, RuleId::Tc4, RuleId::Tc5],
        }
    }
}
