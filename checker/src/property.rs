//! What a promise is, whatever object it is about, and the rule by which each kind of object names it.
//!
//! A property is judged in one place for all kinds. Its rules, MX-4, RW-2 and LE-3, are the names under which a report
//! mentions it. A finding needs the kind of its object to know its name: [`Property::rule`].

use crate::history::Kind;
use crate::rule_id::{Layer, RuleId};

/// Kinds of object, as bits.
type Kinds = u32;

const fn one(kind: Kind) -> Kinds {
    1 << kind as u32
}

/// The run as a whole, and no object.
const RUN: Kinds = 0;
const PLAIN_LOCKS: Kinds = one(Kind::Lock) | one(Kind::PriorityLock);
const PRIORITY: Kinds = one(Kind::PriorityLock);
const SHARED: Kinds = one(Kind::SharedLock) | one(Kind::RevocableLock);
const REVOCABLE: Kinds = one(Kind::RevocableLock) | one(Kind::PriorityLock);
const PERMITS: Kinds = one(Kind::Permits);
const LOCKS: Kinds = PLAIN_LOCKS | SHARED | PERMITS;
const ELECTION: Kinds = one(Kind::Election);
const CONTESTS: Kinds = LOCKS | ELECTION;
/// The contests in which a hold excludes others.
const EXCLUSIVE: Kinds = CONTESTS & !PERMITS;
/// The contests whose holders have a directory of their own.
const TWO_ROOMS: Kinds = PRIORITY | PERMITS;
/// The contests that serve their contenders in the order in which they came.
const IN_ORDER: Kinds = CONTESTS & !TWO_ROOMS;
/// The locks that are granted when nobody conflicts.
const GRANTED: Kinds = PLAIN_LOCKS | PERMITS;
/// The kinds of which as many clients hold one as there are permits.
const LEASED: Kinds = SEMAPHORE | PERMITS;
const BARRIER: Kinds = one(Kind::Barrier);
const DOUBLE_BARRIER: Kinds = one(Kind::DoubleBarrier);
const QUEUES: Kinds = one(Kind::Queue) | one(Kind::PriorityQueue);
const COMMIT: Kinds = one(Kind::TwoPhaseCommit);
const GROUP: Kinds = one(Kind::Group);
const CONFIG: Kinds = one(Kind::Config);
const NAMES: Kinds = one(Kind::Names);
const PERSISTENT_NODE: Kinds = one(Kind::PersistentNode);
const SHARED_COUNTER: Kinds = one(Kind::SharedCounter);
const SEMAPHORE: Kinds = one(Kind::Semaphore);
const COUNTER: Kinds = one(Kind::Counter);
const PARTITION: Kinds = one(Kind::Partition);
const CACHE: Kinds = one(Kind::Cache);
/// The kinds whose answers have a known meaning.
const RECIPES: Kinds = !(SEMAPHORE | COUNTER | PARTITION | CACHE);
/// The kinds that give their clients a znode which is no hold: its state is an answer.
const PLACES: Kinds = NAMES | DOUBLE_BARRIER;
/// The kinds that a client can wait for.
const WAITED_FOR: Kinds = !(COUNTER | SHARED_COUNTER | PARTITION | CACHE | GROUP | PERSISTENT_NODE);

macro_rules! properties {
    ($($layer:ident, $wrong_step:literal {
        $($property:ident: $($rule:ident of $kinds:ident),+;)+
    })+) => {
        /// What a promise is, whatever object it is about.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Property { $($($property,)+)+ }

        impl Property {
            /// Its layer, and whether it names the wrong step, and not only the harm.
            fn nature(self) -> (Layer, bool) {
                match self { $($(Property::$property)|+ => (Layer::$layer, $wrong_step),)+ }
            }

            /// Its rules, and the kinds of object that each of them is about.
            fn names(self) -> &'static [(RuleId, Kinds)] {
                match self { $($(Property::$property => &[$((RuleId::$rule, $kinds)),+],)+)+ }
            }
        }

        /// All rules of all properties.
        const ROWS: &[(RuleId, Kinds)] = &[$($($((RuleId::$rule, $kinds),)+)+)+];

        impl RuleId {
            /// The property that it names. Some rules also lend their names to further properties, in later lines.
            #[allow(unreachable_patterns, reason = "a later property with the same name")]
            fn property(self) -> Property {
                match self { $($($(RuleId::$rule)|+ => Property::$property,)+)+ }
            }
        }
    };
}

properties! {
    WellFormed, true {
        WellFormed: W of RUN;
    }
    ZooKeeper, true {
        OneOrder: Zk1 of RUN;
        LinearizableWrites: Zk2 of RUN;
        SessionOrder: Zk3 of RUN;
        OneImage: Zk4 of RUN;
        ReadsShowTheirState: Zk5 of RUN;
        OneShotWatches: Zk6 of RUN;
        SessionsEnd: Zk7 of RUN;
        SequenceNumbers: Zk8 of RUN;
        Conditions: Zk9 of RUN;
        Durability: Zk10 of RUN;
        WholeTransactions: Zk11 of RUN;
        SyncedReads: Zk12 of RUN;
        CutOffServer: Zk13 of RUN;
        PersistentWatches: Zk14 of RUN;
    }
    Safety, true {
        DoneIsDone: An1 of RECIPES;
        ReasonOfFailure: An2 of RECIPES;
        NothingDone: An3 of RECIPES;
        JustifiedGrant: Mx4 of GRANTED, Rw2 of SHARED, Le3 of ELECTION;
        FencingToken: Mx5 of LOCKS, Le2 of ELECTION;
        WakeUpToCome: Mx7 of CONTESTS, Db7 of DOUBLE_BARRIER;
        ReadersTogether: Rw4 of SHARED;
        OneZnode: Mx9 of CONTESTS, Gm5 of GROUP;
        OwnDelete: Mx10 of CONTESTS, Ns4 of NAMES, Pn2 of PERSISTENT_NODE;
        EndOfInterest: Mx12 of LOCKS, Le8 of ELECTION;
        StopsInTime: Mx14 of LOCKS, Le9 of ELECTION, An1 of PLACES, An1 of GROUP;
        NoFalseLoss: Mx16 of LOCKS, Le10 of ELECTION, Gm8 of GROUP, An2 of PLACES;
        FencedWrites: Mx17 of CONTESTS;
        ForceAsAllowed: Rv2 of REVOCABLE;
        RequestIsNoGrant: Rv4 of REVOCABLE;
        PreemptionAsDeclared: Rv5 of REVOCABLE;
        Acknowledgement: Le4 of ELECTION;
        Stability: Le6 of ELECTION;
        OtherEventsOpenNothing: Ba5 of BARRIER, Db9 of DOUBLE_BARRIER;
        CountedOnce: Db3 of DOUBLE_BARRIER;
        OwnGeneration: Db4 of DOUBLE_BARRIER;
        NoDuplicate: Qu1 of QUEUES;
        OnePutOneItem: Qu3 of QUEUES;
        NumbersAsNumbers: Qu10 of QUEUES;
        OutlivesItsSession: Qu8 of QUEUES, Tc10 of COMMIT;
        OneVote: Tc6 of COMMIT;
        FixedSites: Tc7 of COMMIT;
        NoWayBack: Tc8 of COMMIT;
        OneRecord: Tc9 of COMMIT;
        RecordStays: Tc11 of COMMIT;
        ShowsSomeState: Gm1 of GROUP, Cf2 of CONFIG;
        Joined: Gm4 of GROUP;
        ValueAfterNotification: Cf4 of CONFIG;
        ArmedByTheRead: Cf5 of CONFIG;
        LostReply: Ns3 of NAMES;
        AddedOnce: Ct1 of SHARED_COUNTER;
        TrueCount: Ct2 of SHARED_COUNTER;
        TrueConflict: Ct3 of SHARED_COUNTER;
    }
    Safety, false {
        FencedResource: Mx1 of EXCLUSIVE;
        Exclusion: Mx2 of PLAIN_LOCKS, Rw1 of SHARED, Le1 of ELECTION;
        RawExclusion: Mx3 of PLAIN_LOCKS, Rw1 of SHARED, Le1 of ELECTION;
        OrderOfGrants: Mx6 of IN_ORDER, Mx15 of TWO_ROOMS;
        NoOvertaking: Rw3 of SHARED;
        ClosedBarrier: Ba1 of BARRIER;
        EnterTogether: Db1 of DOUBLE_BARRIER;
        LeaveTogether: Db2 of DOUBLE_BARRIER;
        NoLoss: Qu2 of QUEUES;
        FirstInFirstOut: Qu4 of QUEUES;
        UrgentFirst: Qu5 of QUEUES;
        Agreement: Tc1 of COMMIT;
        NoReversal: Tc2 of COMMIT;
        EveryVote: Tc3 of COMMIT;
        CommitsUndisturbed: Tc4 of COMMIT;
        ValuesGoForward: Cf1 of CONFIG;
        WholeSets: Cf6 of CONFIG;
        NoLostUpdate: Cf7 of CONFIG;
        OneOwner: Ns1 of NAMES, Pa1 of PARTITION;
        UniqueNames: Ns2 of NAMES;
        OneAtATime: Sv1 of EXCLUSIVE;
        LastData: Pn3 of PERSISTENT_NODE;
        Lookups: Ns5 of NAMES;
        Leases: Sm1 of LEASED;
        ExactCount: Co1 of COUNTER;
    }
    Liveness, true {
        WaitersAreServed: Ba2 of BARRIER, Qu6 of QUEUES;
    }
    Liveness, false {
        Progress: Mx8 of LOCKS, Le5 of ELECTION, Db6 of DOUBLE_BARRIER, Tc5 of COMMIT;
        FreeIsGranted: Pr1 of WAITED_FOR;
        RequestIsHeard: Rv1 of REVOCABLE;
        RevokedWaiterLeaves: Rv3 of REVOCABLE;
        LateParticipants: Db5 of DOUBLE_BARRIER;
        NoBlockedSite: Tc13 of COMMIT;
        SeenInTheEnd: Gm2 of GROUP, Cf3 of CONFIG, Ct4 of SHARED_COUNTER, Ca1 of CACHE;
        DeadMembersLeave: Gm3 of GROUP;
        AfterExpiry: Gm6 of GROUP;
        MembersAsReported: Gm9 of GROUP;
        HeldAgain: Sv2 of EXCLUSIVE;
        ThereInTheEnd: Pn1 of PERSISTENT_NODE;
        EveryPartIsOwned: Pa2 of PARTITION;
    }
    Cost, false {
        CostOfACall: An4 of RECIPES;
        Budget: Mx13 of CONTESTS, Ba3 of BARRIER, Db8 of DOUBLE_BARRIER;
        WakeUps: Mx13 of GRANTED, Rw5 of SHARED, Le7 of ELECTION, Ba3 of BARRIER, Db8 of DOUBLE_BARRIER, Qu7 of QUEUES,
            Tc12 of COMMIT, Gm7 of GROUP, Cf8 of CONFIG;
        NothingLeft: Mx11 of CONTESTS, Ba4 of BARRIER, Db10 of DOUBLE_BARRIER, Qu9 of QUEUES,
            Pn4 of PERSISTENT_NODE;
    }
}

impl Property {
    /// The rule by which a kind of object names it; for a kind that it is not about, its first one.
    pub(crate) fn rule(self, kind: Kind) -> RuleId {
        let names = self.names();
        names.iter().find(|(_, kinds)| kinds & one(kind) != 0).unwrap_or(&names[0]).0
    }

    /// Whether it is a promise about objects of that kind.
    pub(crate) fn is_about(self, kind: Kind) -> bool {
        self.names().iter().any(|(_, kinds)| kinds & one(kind) != 0)
    }

    /// Whether it is a promise about whole histories, and about no object.
    pub(crate) fn is_about_runs(self) -> bool {
        self.names().iter().all(|(_, kinds)| *kinds == RUN)
    }

    /// Its rules.
    pub(crate) fn rules(self) -> impl Iterator<Item = RuleId> {
        self.names().iter().map(|(rule, _)| *rule)
    }
}

/// By rule: the kinds of object that it is about.
const ABOUT: [Kinds; RuleId::COUNT] = {
    let mut about = [RUN; RuleId::COUNT];
    let mut at = 0;
    while at < ROWS.len() {
        let (rule, kinds) = ROWS[at];
        about[rule as usize] |= kinds;
        at += 1;
    }
    about
};

impl RuleId {
    /// The layer. (A finding of a rule may lie in a later one: [`Finding::layer`](crate::Finding::layer).)
    pub fn layer(self) -> Layer {
        self.property().nature().0
    }

    /// Whether it names the wrong step, and not only the harm.
    pub fn names_wrong_step(self) -> bool {
        self.property().nature().1
    }

    /// Whether it is a promise about objects of that kind. Promises about whole histories are about no kind.
    pub fn is_about(self, kind: Kind) -> bool {
        ABOUT[self as usize] & one(kind) != 0
    }

    /// Whether it is a promise about objects of these kinds, and of no other one.
    pub(crate) fn is_about_only(self, kinds: &[Kind]) -> bool {
        let others = kinds.iter().fold(ABOUT[self as usize], |about, kind| about & !one(*kind));
        others == RUN && ABOUT[self as usize] != RUN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_names_a_property_by_one_rule() {
        for property in RuleId::ALL.iter().map(|rule| rule.property()) {
            let kinds: Vec<Kinds> = property.names().iter().map(|(_, kinds)| *kinds).collect();
            let overlap =
                kinds.iter().enumerate().any(|(at, kind)| kinds[..at].iter().any(|other| other & kind != 0));
            assert!(!overlap, "{property:?}");
        }
    }

    #[test]
    fn the_properties_that_share_a_rule_are_alike() {
        for property in
            [Property::StopsInTime, Property::NoFalseLoss, Property::RawExclusion, Property::WakeUps]
        {
            assert!(
                property.rules().all(|rule| rule.property().nature() == property.nature()),
                "{property:?}"
            );
        }
    }
}
