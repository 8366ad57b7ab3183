//! The promises that are judged, each with a short name, a layer and a sentence.

use crate::history::Kind;
use std::fmt;

/// The layer of a promise. A broken promise of a deeper layer explains what breaks after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// W: the history is well-formed.
    WellFormed,
    /// Z: ZooKeeper's own guarantees.
    ZooKeeper,
    /// R: safety of a recipe.
    Safety,
    /// V: liveness of a recipe.
    Liveness,
    /// C: cost and leaks of a recipe.
    Cost,
}

macro_rules! rules {
    ($($rule:ident = $name:literal, $layer:ident, $wrong_step:literal, $title:literal, $promise:literal;)+) => {
        /// A promise that is judged.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum RuleId { $(#[doc = concat!($name, ": ", $promise, ".")] $rule,)+ }

        impl RuleId {
            /// All rules, in order.
            pub const ALL: &[RuleId] = &[$(RuleId::$rule),+];

            /// The short name.
            pub fn name(self) -> &'static str {
                match self { $(RuleId::$rule => $name),+ }
            }

            /// A title of a few words.
            pub fn title(self) -> &'static str {
                match self { $(RuleId::$rule => $title),+ }
            }

            /// The promise in one line.
            pub fn promise(self) -> &'static str {
                match self { $(RuleId::$rule => $promise),+ }
            }

            /// The layer. (A finding of a rule may lie in a later one: [`Finding::layer`](crate::Finding::layer).)
            pub fn layer(self) -> Layer {
                match self { $(RuleId::$rule => Layer::$layer),+ }
            }

            /// Whether it names the wrong step, and not only the harm.
            pub fn names_wrong_step(self) -> bool {
                match self { $(RuleId::$rule => $wrong_step),+ }
            }
        }
    };
}

rules! {
    W = "W", WellFormed, true, "well-formed history", "every effect has its cause, and time does not go back";
    Zk1 = "ZK-1", ZooKeeper, true, "one order of transactions",
        "every server applies the committed transactions, all of them, in their order";
    Zk2 = "ZK-2", ZooKeeper, true, "linearizable writes",
        "a write comes after what had been answered before it was sent";
    Zk3 = "ZK-3", ZooKeeper, true, "session order",
        "a session is answered in its order, and its reads see its writes";
    Zk4 = "ZK-4", ZooKeeper, true, "one system image",
        "what a session is answered never goes back, wherever it goes";
    Zk5 = "ZK-5", ZooKeeper, true, "reads show their state",
        "a read shows the tree in the state of its zxid";
    Zk6 = "ZK-6", ZooKeeper, true, "watches",
        "a watch fires once, for the first change, and its notification arrives before what follows";
    Zk7 = "ZK-7", ZooKeeper, true, "sessions",
        "ephemerals go with their session, nothing of it follows, and it expires in time";
    Zk8 = "ZK-8", ZooKeeper, true, "sequence numbers",
        "the suffix is the number of children that the parent ever had";
    Zk9 = "ZK-9", ZooKeeper, true, "stats and conditions",
        "stats are as the writes made them, and a change finds what it needs";
    Zk10 = "ZK-10", ZooKeeper, true, "durability",
        "an acknowledged write is committed, and survives";
    Zk11 = "ZK-11", ZooKeeper, true, "atomic transactions",
        "a transaction happens as a whole under one zxid, or not at all";
    Zk12 = "ZK-12", ZooKeeper, true, "sync",
        "after a sync a session reads everything that was proposed before it";
    Zk13 = "ZK-13", ZooKeeper, true, "a server cut off",
        "a server that is cut off stops serving after syncLimit ticks, and one more";
    Zk14 = "ZK-14", ZooKeeper, true, "persistent watches",
        "a persistent watch fires for every change, a recursive one for everything below";
    Mx1 = "MX-1", Safety, false, "mutual exclusion (resource)",
        "once an operation of a later hold was accepted, none of an earlier one is; until then none is refused";
    Mx2 = "MX-2", Safety, false, "mutual exclusion (guarded)",
        "no two believe at once, unless a named cause excuses a bounded window";
    Mx3 = "MX-3", Safety, false, "mutual exclusion (raw)",
        "no two hold at once in a run without expiry, pause or foreign delete";
    Mx4 = "MX-4", Safety, true, "granted without a right",
        "a grant follows from a list that has the own znode in it and nobody ahead";
    Mx5 = "MX-5", Safety, true, "fencing token",
        "the token is the czxid of the own znode, and larger than every token before";
    Mx6 = "MX-6", Safety, false, "order of grants", "who created its znode first is served first";
    Mx7 = "MX-7", Safety, true, "lost wake-up", "who waits has something to wake it";
    Mx8 = "MX-8", Liveness, false, "progress", "when faults are over, a free lock is granted to somebody who waits";
    Mx9 = "MX-9", Safety, true, "one znode an acquire", "an acquire has at most one live znode";
    Mx10 = "MX-10", Safety, true, "who deletes", "a znode in line goes by its own session or with it";
    Mx11 = "MX-11", Cost, false, "leak", "in the end no znode and no watch is left of an operation that is over";
    Mx12 = "MX-12", Safety, true, "end of interest",
        "when an operation is over its znode goes, it is not believed again, and its time limit is kept";
    Mx13 = "MX-13", Cost, false, "cost", "one deletion wakes one waiter, requests keep to the budget, nobody polls";
    Mx14 = "MX-14", Safety, true, "belief kept too long", "a holder stops when it must, also if nobody else came";
    Mx15 = "MX-15", Safety, false, "the most urgent first",
        "a priority lock grants the most urgent that is known to wait, and takes nothing from a holder";
    Mx16 = "MX-16", Safety, true, "no false loss",
        "a holder is told to stop only if its connection, its session or its znode was lost, or may have been";
    Rw1 = "RW-1", Safety, false, "readers and writers",
        "a writer's hold excludes all others, a reader's all writers";
    Rw2 = "RW-2", Safety, true, "shared lock, granted without a right",
        "a reader is granted with no writer ahead in its list, a writer with nobody";
    Rw3 = "RW-3", Safety, false, "no overtaking",
        "no reader is granted ahead of a writer that stands before it";
    Rw4 = "RW-4", Safety, true, "readers together",
        "a reader with no writer ahead does not wait";
    Rw5 = "RW-5", Cost, false, "wake-ups of readers and writers",
        "a writer that goes wakes the readers that it lets in, or one writer; a reader that goes at most one";
    Rv1 = "RV-1", Liveness, false, "no request to go is lost",
        "a request to go reaches the contender's owner, also if it came before its watch";
    Rv2 = "RV-2", Safety, true, "force",
        "nobody is removed without force, nor before the grace is over";
    Rv3 = "RV-3", Liveness, false, "who is asked to go, goes",
        "a waiter that was asked to go leaves the line, and its call ends";
    Rv4 = "RV-4", Safety, true, "a request to go is no grant",
        "a request to go wakes nobody else into the lock";
    Le1 = "LE-1", Safety, false, "one leader",
        "at most one believes to lead";
    Le2 = "LE-2", Safety, true, "epochs",
        "the epoch is the czxid of the candidate, and grows with every change";
    Le3 = "LE-3", Safety, true, "took office without a right",
        "a leader has the lowest candidate, and its own session owns it";
    Le4 = "LE-4", Safety, true, "acknowledgement",
        "at most one acknowledgement an epoch, and none of a deposed leader";
    Le5 = "LE-5", Liveness, false, "a leader in the end",
        "when faults are over somebody leads, and all observers know who";
    Le6 = "LE-6", Safety, true, "stability",
        "leadership changes only when a leader goes, and a candidate is made once";
    Le7 = "LE-7", Cost, false, "cost of a change",
        "a leader that goes wakes one candidate, another candidate at most one";
    Le8 = "LE-8", Safety, true, "no candidate stays behind",
        "who resigns or closes leaves no candidate";
    Le9 = "LE-9", Safety, true, "leadership ends in time",
        "a leader stops when it must, also if its candidate was deleted";
    Le10 = "LE-10", Safety, true, "no false end of leadership",
        "a leader is told to stop only if its connection, its session or its candidate was lost, or may have been";
    Ba1 = "BA-1", Safety, false, "barrier",
        "nobody passes while the barrier stands";
    Ba2 = "BA-2", Liveness, true, "a barrier opens",
        "who waits has something to wake it, and passes when the barrier has gone";
    Ba3 = "BA-3", Cost, false, "cost of a barrier",
        "one notification a waiter for each removal";
    Ba4 = "BA-4", Cost, false, "nothing left at a barrier",
        "no watch is left after passing or giving up";
    Ba5 = "BA-5", Safety, true, "no other event opens a barrier",
        "after any other event a waiter reads again";
    Db1 = "DB-1", Safety, false, "double barrier, enter",
        "nobody enters before all participants of its generation are there";
    Db2 = "DB-2", Safety, false, "double barrier, leave",
        "nobody has left while a participant of its generation is inside";
    Db3 = "DB-3", Safety, true, "who is counted",
        "only live participants of this generation are counted, each once";
    Db4 = "DB-4", Safety, true, "generations",
        "the opening of one generation lets nobody into another";
    Db5 = "DB-5", Liveness, false, "who comes late",
        "who comes late is told, or joins the next generation";
    Db6 = "DB-6", Liveness, false, "progress of a double barrier",
        "enough live participants all enter, and all leave";
    Db7 = "DB-7", Safety, true, "the opening is not lost",
        "who was counted learns that it has opened";
    Db8 = "DB-8", Cost, false, "cost of a double barrier",
        "one notification a participant to enter, two to leave";
    Db9 = "DB-9", Safety, true, "one phase at a time",
        "no event of a session or of the other phase lets anybody in or out";
    Db10 = "DB-10", Cost, false, "nothing left at a double barrier",
        "when a participant is done its znode and its watches go";
    Qu1 = "QU-1", Safety, true, "no duplicate",
        "an item is handed out once, by the operation that removed it";
    Qu2 = "QU-2", Safety, false, "no loss",
        "an item that was put comes out, or is still there";
    Qu3 = "QU-3", Safety, true, "one put, one item",
        "a put makes one item, whatever was lost";
    Qu4 = "QU-4", Safety, false, "first in, first out",
        "items go in the order in which they came";
    Qu5 = "QU-5", Safety, false, "the more urgent first",
        "no item goes while a more urgent one is known";
    Qu6 = "QU-6", Liveness, true, "nobody starves",
        "an idle consumer has something to wake it, and items get to idle consumers";
    Qu7 = "QU-7", Cost, false, "wake-ups of consumers",
        "a put wakes one idle consumer";
    Qu8 = "QU-8", Safety, true, "items stay",
        "an item does not go with the session of its producer";
    Qu9 = "QU-9", Cost, false, "nothing left at a queue",
        "no claim and no place in line is left of an operation that is over";
    Qu10 = "QU-10", Safety, true, "numbers are compared as numbers",
        "neither priorities nor sequence numbers are compared as texts";
    Tc1 = "TC-1", Safety, false, "agreement",
        "all sites that decide, decide alike";
    Tc2 = "TC-2", Safety, false, "no reversal",
        "no site reverses its decision";
    Tc3 = "TC-3", Safety, false, "commit needs every vote",
        "commit only if every site voted for it";
    Tc4 = "TC-4", Safety, false, "commit if nothing fails",
        "if nothing fails and all vote for it, they commit";
    Tc5 = "TC-5", Liveness, false, "all decide in the end",
        "when failures are repaired every site decides";
    Tc6 = "TC-6", Safety, true, "one vote a site",
        "a vote is written once";
    Tc7 = "TC-7", Safety, true, "the sites are fixed",
        "nobody decides on a partial list of sites";
    Tc8 = "TC-8", Safety, true, "no way back after yes",
        "a site that voted for commit does not abort by itself";
    Tc9 = "TC-9", Safety, true, "one record decides",
        "the first record of a decision wins, and everybody obeys it";
    Tc10 = "TC-10", Safety, true, "votes stay",
        "votes do not go with a session, unless the record alone decides";
    Tc11 = "TC-11", Safety, true, "the record stays",
        "the record is removed after every site has learned the decision";
    Tc12 = "TC-12", Cost, false, "cost of a transaction",
        "notifications keep to the bound of its form";
    Tc13 = "TC-13", Liveness, false, "nobody is blocked",
        "a live site decides, or is blocked by a named vote that nobody can read or refuse";
    Gm1 = "GM-1", Safety, true, "views",
        "every view is the children of some state, and states do not go back";
    Gm2 = "GM-2", Liveness, false, "members are seen",
        "who has joined and lives is in every live view in the end";
    Gm3 = "GM-3", Liveness, false, "the dead leave",
        "who is dead leaves every view, who lives stays in";
    Gm4 = "GM-4", Safety, true, "joined",
        "who is told that it has joined has a znode of its present session";
    Gm5 = "GM-5", Safety, true, "one znode a member",
        "a member has at most one znode";
    Gm6 = "GM-6", Liveness, false, "after an expiry",
        "who has lost its session joins again, or says that it is out";
    Gm7 = "GM-7", Cost, false, "cost of a change of members",
        "one notification an observer for each change";
    Gm8 = "GM-8", Safety, true, "no false end of membership",
        "a member is told that it is out only if its session or its znode was lost, or may have been";
    Cf1 = "CF-1", Safety, false, "values do not go back",
        "what a follower is told never goes back";
    Cf2 = "CF-2", Safety, true, "values were written",
        "the value told is the one that was written";
    Cf3 = "CF-3", Liveness, false, "the last value arrives",
        "in the end every live follower has the last value";
    Cf4 = "CF-4", Safety, true, "a notification is followed by its value",
        "on one connection the read after a notification shows the change";
    Cf5 = "CF-5", Safety, true, "reading and arming are one",
        "the watch is armed by the read whose answer is used";
    Cf6 = "CF-6", Safety, false, "sets are whole",
        "the values of a set are of one publication";
    Cf7 = "CF-7", Safety, false, "no update is lost",
        "conditional writes form a chain";
    Cf8 = "CF-8", Cost, false, "cost of a change of value",
        "one notification a follower for each change";
    Ns1 = "NS-1", Safety, false, "one owner of a name",
        "one claimant of a name gets it";
    Ns2 = "NS-2", Safety, false, "unique names",
        "names that are given out differ";
    Ns3 = "NS-3", Safety, true, "a lost reply is neither yes nor no",
        "success only if the name is ours, refusal only if it is not";
    Ns4 = "NS-4", Safety, true, "only one's own",
        "a name is taken back by its own registration only";
    Ns5 = "NS-5", Safety, false, "lookups",
        "a lookup gives what stood there while it went on";
}

impl RuleId {
    /// The number of rules.
    pub const COUNT: usize = RuleId::ALL.len();

    /// Whether it is a promise about objects of that kind. Promises about whole histories are about none.
    pub fn is_about(self, kind: Kind) -> bool {
        let (family, _) = self.name().split_once('-').unwrap_or((self.name(), ""));
        let locks = [Kind::Lock, Kind::SharedLock, Kind::RevocableLock, Kind::PriorityLock];
        match family {
            "MX" if self == RuleId::Mx15 => kind == Kind::PriorityLock,
            "MX" => (locks.contains(&kind) || kind == Kind::Election) && self.of_kind(kind) == self,
            "RW" => matches!(kind, Kind::SharedLock | Kind::RevocableLock),
            "RV" => matches!(kind, Kind::RevocableLock | Kind::PriorityLock),
            "LE" => kind == Kind::Election,
            "BA" => kind == Kind::Barrier,
            "DB" => kind == Kind::DoubleBarrier,
            "QU" => matches!(kind, Kind::Queue | Kind::PriorityQueue),
            "TC" => kind == Kind::TwoPhaseCommit,
            "GM" => kind == Kind::Group,
            "CF" => kind == Kind::Config,
            "NS" => kind == Kind::Names,
            _ => false,
        }
    }

    /// The rule under which a kind of object reports a promise that all contests share.
    pub fn of_kind(self, kind: Kind) -> RuleId {
        match (self, kind) {
            (RuleId::Mx2 | RuleId::Mx3, Kind::SharedLock | Kind::RevocableLock) => RuleId::Rw1,
            (RuleId::Mx4, Kind::SharedLock | Kind::RevocableLock) => RuleId::Rw2,
            (RuleId::Mx6, Kind::PriorityLock) => RuleId::Mx15,
            (RuleId::Mx2 | RuleId::Mx3, Kind::Election) => RuleId::Le1,
            (RuleId::Mx4, Kind::Election) => RuleId::Le3,
            (RuleId::Mx5, Kind::Election) => RuleId::Le2,
            (RuleId::Mx8, Kind::Election) => RuleId::Le5,
            (RuleId::Mx12, Kind::Election) => RuleId::Le8,
            (RuleId::Mx14, Kind::Election) => RuleId::Le9,
            (RuleId::Mx16, Kind::Election) => RuleId::Le10,
            _ => self,
        }
    }

    /// The generality of its family: of several rules that name the same wrong step, the one about fewer recipes goes
    /// first.
    pub(crate) fn generality(self) -> u8 {
        match self {
            RuleId::Rv1 | RuleId::Rv2 | RuleId::Rv3 | RuleId::Rv4 => 0,
            _ if self.name().starts_with("MX") => 2,
            _ => 1,
        }
    }

    /// The rule of a short name.
    pub fn from_name(name: &str) -> Option<RuleId> {
        RuleId::ALL.iter().copied().find(|rule| rule.name().eq_ignore_ascii_case(name))
    }
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
