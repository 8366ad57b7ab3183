//! Injected bugs: a client or server that breaks one of ZooKeeper's promises, so that a test can show that the
//! checker notices.
//!
//! [`Config::injected_bug`](crate::Config) selects one; each bug is implemented in one place of the client's session
//! machine or of the servers. Without one nothing differs, not even the order of choices. Three of them break no
//! promise: they exclude faults or stale reads that ZooKeeper allows ([`InjectedBug::is_too_kind`]), so a test under
//! them is not adversarial enough.

macro_rules! bugs {
    ($($bug:ident = $name:literal, $about:literal;)+) => {
        /// A bug that can be injected.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum InjectedBug { $(#[doc = $about] $bug,)+ }

        impl InjectedBug {
            /// All bugs.
            pub const ALL: &[InjectedBug] = &[$(InjectedBug::$bug),+];

            /// Returns the name.
            pub const fn name(self) -> &'static str {
                match self { $(InjectedBug::$bug => $name),+ }
            }

            /// Returns a description in one line.
            pub const fn about(self) -> &'static str {
                match self { $(InjectedBug::$bug => $about),+ }
            }
        }
    };
}

bugs! {
    ForgetsWatches = "forgets-watches", "a client does not register its watches again (kazoo#170, rust-zookeeper#97)";
    ForgetsAbsent = "forgets-absent", "a client does not register its watches on what is absent again";
    ForgetsTrees = "forgets-trees", "a client does not register its persistent watches again";
    RegistersAsOfNow = "registers-as-of-now", "a client registers its watches as if it had seen everything";
    KeepsFired = "keeps-fired", "a client registers watches again that have fired";
    ForgetsZxid = "forgets-zxid", "a client connects again as if it had seen nothing (ClickHouse#59735)";
    ReplyFirst = "reply-first", "a client hands a notification out after the answer behind it";
    RepeatsLost = "repeats-lost", "a client sends a write again by itself when the connection was lost";
    SwapsAnswers = "swaps-answers", "a client gives the answers to two requests of a kind to each other";
    HidesLoss = "hides-loss", "a client says nothing of a lost connection";
    ExpiresAtLoss = "expires-at-loss", "a client takes a lost connection for the end of its session";
    ClosesSilently = "closes-silently", "a client lets go of a session that it was to close, and says that it has";
    FiresTwice = "fires-twice", "a one-shot watch stays";
    SilentEnd = "silent-end", "the parent's watch is not told what goes with a session (ZOOKEEPER-3145)";
    ChildrenForData = "children-for-data", "a watch on children is told of a child's data";
    WrongEvent = "wrong-event", "a deletion is told as a change of the data";
    LateNotices = "late-notices", "a server sends notifications after the answers of the same step";
    FiresEarly = "fires-early", "a server that lags sends notifications of a write that it has not applied";
    ArmsBlindly = "arms-blindly", "a server registers watches again without a look at what was missed";
    SpendsPersistent = "spends-persistent", "a persistent watch goes when it fires";
    KeepsEphemeral = "keeps-ephemeral", "an ephemeral outlives its session (ZOOKEEPER-1367, -2355, -3144)";
    ExpiresEarly = "expires-early", "a session expires two ticks too early";
    NeverExpires = "never-expires", "a session does not expire";
    AcceptsAnyone = "accepts-anyone", "a server that is behind its client takes it in (ClickHouse Keeper)";
    LosesAcknowledged = "loses-acknowledged", "one disk is enough for a write to be acknowledged (ZOOKEEPER-4785)";
    SkipsWrites = "skips-writes", "a follower leaves out writes of data";
    HalfMulti = "half-multi", "a multi that fails leaves its first part";
    TwoPartMulti = "two-part-multi", "a multi happens in two parts";
    RecountsChildren = "recounts-children", "a new leader counts living children for sequence numbers (ZOOKEEPER-1046)";
    IgnoresVersion = "ignores-version", "a condition on the version is not looked at";
    VersionStays = "version-stays", "a write of data does not raise the version";
    PzxidStays = "pzxid-stays", "a deletion leaves no mark on the parent (ClickHouse Keeper)";
    HidesOwner = "hides-owner", "a stat does not name the owner of an ephemeral";
    HidesChild = "hides-child", "a list leaves a child out";
    FalseError = "false-error", "a creation that was made is answered as refused";
    FalseSuccess = "false-success", "a deletion that was refused is answered as made";
    PassesWrites = "passes-writes", "a read does not wait for an earlier write of its session";
    SyncsAlone = "syncs-alone", "a follower answers a sync without its leader";
    ServesOn = "serves-on", "a follower that is cut off serves on for four times as long";
    LosesNoReply = "loses-no-reply", "no answer is lost";
    NeverStale = "never-stale", "no server answers from an old state";
    TellsAll = "tells-all", "whatever a watch has missed is told";
}

impl InjectedBug {
    /// Returns the bug with that name.
    pub fn from_name(name: &str) -> Option<InjectedBug> {
        InjectedBug::ALL.iter().copied().find(|bug| bug.name() == name)
    }

    /// Returns whether it breaks no promise, and only excludes behaviour that ZooKeeper allows.
    pub fn is_too_kind(self) -> bool {
        matches!(self, InjectedBug::LosesNoReply | InjectedBug::NeverStale | InjectedBug::TellsAll)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_bug_has_a_name_of_its_own() {
        let names: BTreeSet<&str> = InjectedBug::ALL.iter().map(|bug| bug.name()).collect();
        assert_eq!(names.len(), InjectedBug::ALL.len());
        assert!(InjectedBug::ALL.iter().all(|bug| InjectedBug::from_name(bug.name()) == Some(*bug)));
        assert_eq!(
            crate::Config::default().injected_bug,
            None,
            "a world is right unless it is asked to be wrong"
        );
    }
}
