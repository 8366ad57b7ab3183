//! How a mutant must be killed: by which rule, how soon, with what harm.

use zk_checker::RuleId;

/// How a mutant must be killed.
#[derive(Clone, Copy, Debug)]
pub struct Caught {
    /// The rule that names its wrong step: first in [`FIRST`] of a hundred runs that fail.
    pub by: RuleId,
    /// Rules that may be first in its place, each with the reason why.
    pub or: &'static [(RuleId, &'static str)],
    /// The rules that name the harm: each must be broken in some run. Empty if the wrong step alone does no harm.
    pub harm: &'static [RuleId],
    /// The main promise that the mutant breaks. A black-box judge, which sees only calls, returns, beliefs and
    /// notifications, must find one of the promise's rules broken.
    pub breaks: Option<Promise>,
    /// The budget of seeds: the median search must end within it, the 95th percentile within [`TAIL`] times as many.
    pub within: u64,
    /// Where the bug was seen in the field, if anywhere.
    pub seen: &'static str,
}

/// The percentage of failing runs in which the rule must be first.
pub const FIRST: usize = 95;

/// The allowed ratio of the 95th percentile to the budget.
pub const TAIL: u64 = 20;

impl Caught {
    /// Killed by that rule, within twenty seeds.
    pub const fn by(by: RuleId) -> Caught {
        Caught { by, or: &[], harm: &[], breaks: None, within: 20, seen: "" }
    }

    /// Accepts other rules as the first finding, each with a reason.
    #[must_use]
    pub const fn or(mut self, rules: &'static [(RuleId, &'static str)]) -> Caught {
        self.or = rules;
        self
    }

    /// Sets the rules that name the harm.
    #[must_use]
    pub const fn harm(mut self, rules: &'static [RuleId]) -> Caught {
        self.harm = rules;
        self
    }

    /// Sets the main promise that it breaks.
    #[must_use]
    pub const fn breaks(mut self, promise: Promise) -> Caught {
        self.breaks = Some(promise);
        self
    }

    /// Sets the budget of seeds.
    #[must_use]
    pub const fn within(mut self, seeds: u64) -> Caught {
        self.within = seeds;
        self
    }

    /// Sets where the bug was seen.
    #[must_use]
    pub const fn seen(mut self, field: &'static str) -> Caught {
        self.seen = field;
        self
    }

    /// Whether a first finding of that rule counts as a kill.
    pub fn is_caught_by(&self, first: RuleId) -> bool {
        first == self.by || self.or.iter().any(|(rule, _)| *rule == first)
    }
}

sim_zk::named! {
    /// One of the four main promises.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Promise {
        /// One holder at a time.
        Exclusion = "mutual exclusion",
        /// No client passes, enters or leaves early.
        Barriers = "barriers",
        /// No client is woken without a reason.
        NoHerd = "no herd",
        /// All sites reach the same decision.
        Agreement = "agreement",
    }
}

impl Promise {
    /// The rules by which a black-box judge finds it broken.
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
