//! Verdicts, and the promises that they are about.

use std::fmt;

/// What was found out about a promise, or about a run.
///
/// The verdict of several is the largest: [`Verdict::join`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// The promise was never put to the test.
    #[default]
    Vacuous,
    /// It was, at least once, and held.
    Pass,
    /// Something happened that no correct program could have avoided.
    Inherent,
    /// Evidence is missing.
    Unknown,
    /// The promise was broken.
    Fail,
}

impl Verdict {
    /// The larger one. Associative and commutative; [`Verdict::Vacuous`] changes nothing.
    #[must_use]
    pub fn join(self, other: Verdict) -> Verdict {
        self.max(other)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Vacuous => "vacuous",
            Verdict::Pass => "pass",
            Verdict::Inherent => "inherent",
            Verdict::Unknown => "unknown",
            Verdict::Fail => "fail",
        })
    }
}

/// How deep a promise lies. A broken promise of a deeper layer explains what breaks after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// W: the history is well-formed.
    WellFormed,
    /// Z: ZooKeeper's own guarantees.
    ZooKeeper,
    /// R: what a recipe must never do.
    Safety,
    /// V: what a recipe must do in the end.
    Liveness,
    /// C: what a recipe may cost and leave behind.
    Cost,
}

macro_rules! rules {
    ($($(#[doc = $doc:literal])+ $rule:ident = $name:literal, $layer:ident, $wrong_step:literal, $title:literal, $promise:literal;)+) => {
        /// A promise that is judged.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum RuleId { $($(#[doc = $doc])+ $rule,)+ }

        impl RuleId {
            /// All of them, in their order.
            pub const ALL: &[RuleId] = &[$(RuleId::$rule),+];

            /// Its short name.
            pub fn name(self) -> &'static str {
                match self { $(RuleId::$rule => $name),+ }
            }

            /// What it is about, in a few words.
            pub fn title(self) -> &'static str {
                match self { $(RuleId::$rule => $title),+ }
            }

            /// What is promised, in one line.
            pub fn promise(self) -> &'static str {
                match self { $(RuleId::$rule => $promise),+ }
            }

            /// Its layer. (A finding of a rule may lie in a later one: [`Finding::layer`](crate::Finding::layer).)
            pub fn layer(self) -> Layer {
                match self { $(RuleId::$rule => Layer::$layer),+ }
            }

            /// Whether it names a wrong step, and not only the harm that is done.
            pub fn names_wrong_step(self) -> bool {
                match self { $(RuleId::$rule => $wrong_step),+ }
            }
        }
    };
}

rules! {
    /// The history is well-formed.
    W = "W", WellFormed, true, "well-formed history", "every effect has its cause, and time does not go back";
    /// One order of transactions.
    Zk1 = "ZK-1", ZooKeeper, true, "one order of transactions",
        "every server applies the committed transactions, all of them, in their order";
    /// Linearizable writes.
    Zk2 = "ZK-2", ZooKeeper, true, "linearizable writes",
        "a write comes after what had been answered before it was sent";
    /// Session order.
    Zk3 = "ZK-3", ZooKeeper, true, "session order",
        "a session is answered in its order, and its reads see its writes";
    /// One system image.
    Zk4 = "ZK-4", ZooKeeper, true, "one system image",
        "what a session is answered never goes back, wherever it goes";
    /// Reads show their state.
    Zk5 = "ZK-5", ZooKeeper, true, "reads show their state",
        "a read shows the tree in the state of its zxid";
    /// Watches.
    Zk6 = "ZK-6", ZooKeeper, true, "watches",
        "a watch fires once, for the first change, and its notification arrives before what follows";
    /// Sessions.
    Zk7 = "ZK-7", ZooKeeper, true, "sessions",
        "ephemerals go with their session, nothing of it follows, and it expires in time";
    /// Sequence numbers.
    Zk8 = "ZK-8", ZooKeeper, true, "sequence numbers",
        "the suffix is the number of children that the parent ever had";
    /// Stats and conditions.
    Zk9 = "ZK-9", ZooKeeper, true, "stats and conditions",
        "stats are as the writes made them, and a change finds what it needs";
    /// Durability.
    Zk10 = "ZK-10", ZooKeeper, true, "durability",
        "an acknowledged write is committed, and survives";
    /// Atomic transactions.
    Zk11 = "ZK-11", ZooKeeper, true, "atomic transactions",
        "a transaction happens as a whole under one zxid, or not at all";
    /// Sync.
    Zk12 = "ZK-12", ZooKeeper, true, "sync",
        "after a sync a session reads everything that was proposed before it";
    /// A server cut off.
    Zk13 = "ZK-13", ZooKeeper, true, "a server cut off",
        "a server that is cut off stops serving after syncLimit ticks, and one more";
    /// Persistent watches.
    Zk14 = "ZK-14", ZooKeeper, true, "persistent watches",
        "a persistent watch fires for every change, a recursive one for everything below";
    /// Mutual exclusion at the resource.
    Mx1 = "MX-1", Safety, false, "mutual exclusion (resource)",
        "once an operation of a later hold was accepted, none of an earlier one is; until then none is refused";
    /// Mutual exclusion of beliefs, with excuses.
    Mx2 = "MX-2", Safety, false, "mutual exclusion (guarded)",
        "no two believe at once, unless a named cause excuses a bounded window";
    /// Mutual exclusion of beliefs, where nothing could excuse a breach.
    Mx3 = "MX-3", Safety, false, "mutual exclusion (raw)",
        "no two hold at once in a run without expiry, pause or foreign delete";
    /// Justified grant.
    Mx4 = "MX-4", Safety, true, "granted without a right",
        "a grant follows from a list that has the own znode in it and nobody ahead";
    /// Fencing tokens.
    Mx5 = "MX-5", Safety, true, "fencing token",
        "the token is the czxid of the own znode, and larger than every token before";
    /// Order of grants.
    Mx6 = "MX-6", Safety, false, "order of grants", "who created its znode first is served first";
    /// No lost wake-up.
    Mx7 = "MX-7", Safety, true, "lost wake-up", "who waits has something to wake it";
    /// Progress.
    Mx8 = "MX-8", Liveness, false, "progress", "when faults are over, a free lock is granted to somebody who waits";
    /// One znode an acquire.
    Mx9 = "MX-9", Safety, true, "one znode an acquire", "an acquire has at most one live znode";
    /// Who deletes.
    Mx10 = "MX-10", Safety, true, "who deletes", "a znode in line goes by its own session or with it";
    /// Leaks.
    Mx11 = "MX-11", Cost, false, "leak", "in the end no znode and no watch is left of an operation that is over";
    /// End of interest.
    Mx12 = "MX-12", Safety, true, "end of interest",
        "when an operation is over its znode goes, it is not believed again, and its time limit is kept";
    /// Cost.
    Mx13 = "MX-13", Cost, false, "cost", "one deletion wakes one waiter, requests keep to the budget, nobody polls";
    /// Belief ends in time.
    Mx14 = "MX-14", Safety, true, "belief kept too long", "a holder stops when it must, also if nobody else came";
}

impl RuleId {
    /// How many there are.
    pub const COUNT: usize = RuleId::ALL.len();

    /// The rule of a short name.
    pub fn of(name: &str) -> Option<RuleId> {
        RuleId::ALL.iter().copied().find(|rule| rule.name().eq_ignore_ascii_case(name))
    }
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
