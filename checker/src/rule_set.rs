//! The rules that a judge applies.

use crate::history::Object;
use crate::rule_id::{Layer, RuleId};

/// The rules that are on, and those that must have been put to the test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleSet {
    on: [bool; RuleId::COUNT],
    required: [bool; RuleId::COUNT],
}

/// The rules that need only calls, returns, beliefs and deliveries.
const BLACK_BOX: &[RuleId] = {
    use RuleId::*;
    &[
        Mx1, Mx2, Mx3, Mx8, Mx14, Rw1, Le1, Le5, Le9, Ba1, Db1, Db2, Db3, Db4, Qu1, Qu2, Qu3, Qu4, Tc1, Tc2,
        Tc3, Tc4, Tc5, Mx13, Rw5, Rv4, Le7, Ba3, Db8, Qu7, Tc12, Gm7, Cf8, Sm1, Co1, Pa1, Pa2, Ca1, Pr1, Gm9,
    ]
};

/// The rules about the claims of foreign programs.
const CLAIMS: &[RuleId] = {
    use RuleId::*;
    &[Co1, Pa1, Pa2, Ca1, Pr1, Gm9]
};

impl RuleId {
    /// Whether it judges only the claims of foreign programs.
    pub fn is_about_claims(self) -> bool {
        CLAIMS.contains(&self)
    }

    /// Whether it can judge this object: it is about its kind, and the evidence that it needs is recorded.
    pub fn judges(self, object: &Object) -> bool {
        self.is_about(object.kind) && self.is_judged_of(object)
    }

    /// Foreign programs are judged by black-box rules only, and rules about claims judge only foreign programs.
    pub(crate) fn is_judged_of(self, object: &Object) -> bool {
        if object.manner.reported { self.is_black_box() } else { !self.is_about_claims() }
    }

    /// Whether it needs only calls, returns, beliefs and deliveries, and nothing of a client's internals.
    pub fn is_black_box(self) -> bool {
        BLACK_BOX.contains(&self)
    }
}

impl RuleSet {
    /// All rules; none is required.
    pub fn all() -> RuleSet {
        RuleSet { on: [true; RuleId::COUNT], required: [false; RuleId::COUNT] }
    }

    /// Only these rules (and that the history is well-formed, which is always judged).
    pub fn only(rules: &[RuleId]) -> RuleSet {
        let mut set = RuleSet { on: [false; RuleId::COUNT], ..RuleSet::all() };
        rules.iter().for_each(|rule| set.on[*rule as usize] = true);
        set.on[RuleId::W as usize] = true;
        set
    }

    /// The rules that need only calls, returns, beliefs and deliveries: exclusion, barriers, agreement, queues, and
    /// thundering herds.
    pub fn black_box() -> RuleSet {
        RuleSet::only(BLACK_BOX)
    }

    /// The set without a rule.
    #[must_use]
    pub fn without(mut self, rule: RuleId) -> RuleSet {
        self.on[rule as usize] = rule == RuleId::W;
        self
    }

    /// The set with a required rule: a run that never tests it is no evidence.
    #[must_use]
    pub fn requiring(mut self, rule: RuleId) -> RuleSet {
        self.on[rule as usize] = true;
        self.required[rule as usize] = true;
        self
    }

    /// The set without a layer. A simulation is judged faster without [`Layer::ZooKeeper`].
    #[must_use]
    pub fn without_layer(self, layer: Layer) -> RuleSet {
        RuleId::ALL.iter().filter(|rule| rule.layer() == layer).fold(self, |set, rule| set.without(*rule))
    }

    /// Whether a rule of a layer is on.
    pub fn has_layer(&self, layer: Layer) -> bool {
        match layer {
            Layer::ZooKeeper => (RuleId::Zk1 as usize..=RuleId::Zk14 as usize).any(|rule| self.on[rule]),
            _ => RuleId::ALL.iter().any(|rule| rule.layer() == layer && self.has(*rule)),
        }
    }

    /// Whether a rule is on.
    pub fn has(&self, rule: RuleId) -> bool {
        self.on[rule as usize]
    }

    /// Whether a rule is required.
    pub fn requires(&self, rule: RuleId) -> bool {
        self.required[rule as usize]
    }
}

impl Default for RuleSet {
    fn default() -> RuleSet {
        RuleSet::all()
    }
}
