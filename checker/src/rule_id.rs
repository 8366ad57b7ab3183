//! The promises that are judged, each with a short name, a title and a sentence. [`property`](crate::property) says which of them are
//! one.

use std::fmt;

/// The layer of a promise. A broken promise of a deeper layer explains later breaches.
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
    ($($rule:ident = $name:literal, $title:literal, $promise:literal;)+) => {
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
        }
    };
}

rules! {
    W = "W", "well-formed history", "every effect has its cause, and time never goes back";
    Zk1 = "ZK-1", "one order of transactions", "every server applies all committed transactions in their order";
    Zk2 = "ZK-2", "linearizable writes", "a write is ordered after every write that was answered before it was sent";
    Zk3 = "ZK-3", "session order", "replies come in the order of the requests, and a session reads its own writes";
    Zk4 = "ZK-4", "one system image", "the zxids that a session sees never go back, on whatever server";
    Zk5 = "ZK-5", "reads show their state", "a read shows the tree as it was at the zxid of its reply";
    Zk6 = "ZK-6", "watches",
        "a watch fires once, for the first change, and its notification arrives before later replies";
    Zk7 = "ZK-7", "sessions",
        "ephemerals are deleted with their session, no transaction of it follows, and it expires in time";
    Zk8 = "ZK-8", "sequence numbers", "the suffix is the number of children that the parent ever had";
    Zk9 = "ZK-9", "stats and conditions",
        "stats agree with the writes, and a write is applied only if its conditions hold";
    Zk10 = "ZK-10", "durability", "an acknowledged write is committed and survives failures";
    Zk11 = "ZK-11", "atomic transactions", "a transaction is applied as a whole under one zxid, or not at all";
    Zk12 = "ZK-12", "sync", "after a sync a session reads everything that was proposed before it";
    Zk13 = "ZK-13", "a server cut off", "a server that is cut off stops serving after syncLimit ticks, and one more";
    Zk14 = "ZK-14", "persistent watches",
        "a persistent watch fires for every change, a recursive one for everything below";
    Mx1 = "MX-1", "mutual exclusion (resource)",
        "after an operation of a later hold, the resource accepts none of an earlier hold; before, it refuses none";
    Mx2 = "MX-2", "mutual exclusion (guarded)",
        "no two clients believe at once that they hold, unless a named cause excuses a bounded window";
    Mx3 = "MX-3", "mutual exclusion (raw)",
        "no two clients hold at once in a run without expiry, pause or foreign delete";
    Mx4 = "MX-4", "unjustified grant",
        "a grant follows from a list that contains the own znode and no contender ahead";
    Mx5 = "MX-5", "fencing token", "the token is the czxid of the own znode, and larger than every token before";
    Mx6 = "MX-6", "order of grants", "contenders are granted in the order in which their znodes were created";
    Mx7 = "MX-7", "lost wake-up", "every waiter has a watch or a request in flight that will wake it";
    Mx8 = "MX-8", "progress", "after the last fault, a free lock is granted to a waiter";
    Mx9 = "MX-9", "one znode per acquire", "an acquire has at most one live znode";
    Mx10 = "MX-10", "foreign delete", "the znode of a contender is deleted by its own session or with it";
    Mx11 = "MX-11", "leak", "at the end no znode and no watch of a finished operation is left";
    Mx12 = "MX-12", "end of interest",
        "a finished operation leaves no znode and no belief, and its time limit is kept";
    Mx13 = "MX-13", "cost", "one deletion wakes one waiter, requests keep to the budget, no waiter polls";
    Mx14 = "MX-14", "belief kept too long", "a holder stops when it must, even if no other client was granted";
    Mx15 = "MX-15", "the most urgent first",
        "a priority lock grants the most urgent waiter that it knows, and does not take the lock from a holder; a semaphore \
         grants the first in line";
    Mx16 = "MX-16", "no false loss",
        "a holder is told to stop only if its connection, its session or its znode was lost, or may have been";
    Mx17 = "MX-17", "fenced writes",
        "a write under a hold is applied only while the hold's znode exists, and at most as often as asked for";
    Rw1 = "RW-1", "readers and writers", "a writer's hold excludes all others, a reader's all writers";
    Rw2 = "RW-2", "shared lock, unjustified grant",
        "a reader is granted with no writer ahead in its list, a writer with no contender ahead";
    Rw3 = "RW-3", "no overtaking", "no reader is granted while an earlier writer waits";
    Rw4 = "RW-4", "readers together", "a reader with no writer ahead does not wait";
    Rw5 = "RW-5", "wake-ups of readers and writers",
        "the end of a writer wakes the readers that may enter, or one writer; that of a reader at most one";
    Rv1 = "RV-1", "no request to release is lost",
        "a request to release reaches the owner of the contender, even if it came before the watch";
    Rv2 = "RV-2", "forced revocation",
        "no contender is removed where force is not allowed, nor before the grace period ends";
    Rv3 = "RV-3", "a revoked waiter leaves", "a waiter that was revoked deletes its znode, and its call ends";
    Rv4 = "RV-4", "a revocation is not a grant", "a request to release wakes no other contender into the lock";
    Rv5 = "RV-5", "preemption as declared",
        "a waiter asks and forces the less urgent holders that block it as its policy says, and nobody else";
    Le1 = "LE-1", "one leader", "at most one client believes that it leads";
    Le2 = "LE-2", "epochs", "the epoch is the czxid of the candidate, and grows with every change";
    Le3 = "LE-3", "unjustified leadership", "a leader has the lowest candidate, and its own session owns it";
    Le4 = "LE-4", "acknowledgement",
        "at most one acknowledgement per epoch, none by a deposed leader, and it stands while its leader leads";
    Le5 = "LE-5", "a leader in the end", "after the last fault there is a leader, and all observers know it";
    Le6 = "LE-6", "stability", "leadership changes only when a leader ends, and a candidate is created once";
    Le7 = "LE-7", "cost of a change",
        "the end of a leader wakes one candidate, that of another candidate at most one";
    Le8 = "LE-8", "no candidate stays behind", "a client that resigned or closed leaves no candidate znode";
    Le9 = "LE-9", "leadership ends in time", "a leader stops when it must, even if its candidate was deleted";
    Le10 = "LE-10", "no false end of leadership",
        "a leader is told to stop only if its connection, its session or its candidate was lost, or may have been";
    Ba1 = "BA-1", "barrier", "no client passes while the barrier exists";
    Ba2 = "BA-2", "a barrier opens", "every waiter has a wake-up to come, and passes after the barrier is removed";
    Ba3 = "BA-3", "cost of a barrier", "one notification per waiter and removal";
    Ba4 = "BA-4", "nothing left at a barrier", "no watch is left after passing or giving up";
    Ba5 = "BA-5", "no other event opens a barrier", "after any other event a waiter reads again";
    Db1 = "DB-1", "double barrier, enter", "no participant enters before all of its generation have registered";
    Db2 = "DB-2", "double barrier, leave", "no participant has left while another of its generation is inside";
    Db3 = "DB-3", "counting of participants", "only live participants of this generation are counted, each once";
    Db4 = "DB-4", "generations", "the opening of one generation admits no participant of another";
    Db5 = "DB-5", "late participants", "a late participant is refused, or joins the next generation";
    Db6 = "DB-6", "progress of a double barrier", "enough live participants all enter, and all leave";
    Db7 = "DB-7", "the opening is not lost", "every counted participant learns of the opening";
    Db8 = "DB-8", "cost of a double barrier", "one notification per participant to enter, two to leave";
    Db9 = "DB-9", "one phase at a time",
        "no session event and no event of the other phase lets a participant in or out";
    Db10 = "DB-10", "nothing left at a double barrier", "a participant that is done leaves no znode and no watch";
    Qu1 = "QU-1", "no duplicate", "an item is returned once, by the operation that removed it";
    Qu2 = "QU-2", "no loss", "an item that was put is taken, or is still in the queue";
    Qu3 = "QU-3", "one put, one item", "a put creates one item, whatever reply is lost";
    Qu4 = "QU-4", "first in, first out", "items are taken in the order in which they were put";
    Qu5 = "QU-5", "the more urgent first", "no item is taken while a more urgent one is known";
    Qu6 = "QU-6", "no starvation", "every idle consumer has a wake-up to come, and items reach idle consumers";
    Qu7 = "QU-7", "wake-ups of consumers", "a put wakes one idle consumer";
    Qu8 = "QU-8", "items stay", "an item is not deleted with the session of its producer";
    Qu9 = "QU-9", "nothing left at a queue", "a finished operation leaves no claim and no znode among the consumers";
    Qu10 = "QU-10", "numbers are compared as numbers", "neither priorities nor sequence numbers are compared as text";
    Tc1 = "TC-1", "agreement", "all sites that decide reach the same decision";
    Tc2 = "TC-2", "no reversal", "no site reverses its decision";
    Tc3 = "TC-3", "commit needs every vote", "commit only if every site voted for it";
    Tc4 = "TC-4", "commit if nothing fails", "without failures, if all sites vote for it, they commit";
    Tc5 = "TC-5", "all decide in the end", "after failures are repaired every site decides";
    Tc6 = "TC-6", "one vote per site", "a vote is written once";
    Tc7 = "TC-7", "the sites are fixed", "no site decides on a partial list of sites";
    Tc8 = "TC-8", "no way back after yes", "a site that voted for commit does not abort by itself";
    Tc9 = "TC-9", "one record decides", "the first record of a decision wins, and every site obeys it";
    Tc10 = "TC-10", "votes stay", "votes are not deleted with a session, unless the record alone decides";
    Tc11 = "TC-11", "the record stays", "the record is removed after every site has learned the decision";
    Tc12 = "TC-12", "cost of a transaction", "notifications keep to the bound of its form";
    Tc13 = "TC-13", "no blocked site",
        "a live site decides, or is blocked by a named vote that no site can read or refuse";
    Gm1 = "GM-1", "views", "every view is the children of some state, and states do not go back";
    Gm2 = "GM-2", "members are seen", "a live member that has joined is in every live view in the end";
    Gm3 = "GM-3", "dead members leave", "a dead member leaves every view, a live member stays in it";
    Gm4 = "GM-4", "joined", "a client that was told that it joined has a znode of its current session";
    Gm5 = "GM-5", "one znode per member", "a member has at most one znode";
    Gm6 = "GM-6", "after an expiry", "a member that lost its session joins again, or reports that it is out";
    Gm7 = "GM-7", "cost of a change of members", "one notification per observer and change";
    Gm8 = "GM-8", "no false end of membership",
        "a member is told that it is out only if its session or its znode was lost, or may have been";
    Gm9 = "GM-9", "members, as they say",
        "in the end every client sees the names of the live members, and each of them has a znode";
    Cf1 = "CF-1", "values do not go back", "the values that a follower sees never go back";
    Cf2 = "CF-2", "values were written", "a value that a follower sees is the one that was written";
    Cf3 = "CF-3", "the last value arrives", "in the end every live follower has the last value";
    Cf4 = "CF-4", "a notification is followed by its value",
        "on one connection the read after a notification shows the change";
    Cf5 = "CF-5", "reading and arming are one", "the watch is armed by the read whose answer is used";
    Cf6 = "CF-6", "sets are whole", "the values of a set are of one publication";
    Cf7 = "CF-7", "no update is lost", "conditional writes form a chain";
    Cf8 = "CF-8", "cost of a change of value", "one notification per follower and change";
    Ns1 = "NS-1", "one owner of a name", "at most one claimant of a name gets it";
    Ns2 = "NS-2", "unique names", "generated names differ";
    Ns3 = "NS-3", "a lost reply is neither yes nor no",
        "a registration succeeds only if it owns the name, and is refused only if it does not";
    Ns4 = "NS-4", "only the own registration", "only its own registration removes a name";
    Ns5 = "NS-5", "lookups", "a lookup returns a value that the name had during the call";
    Sv1 = "SV-1", "one piece of work at a time", "a client begins work for an object when its work before has ended";
    Sv2 = "SV-2", "held again", "a client that is to hold an object holds it or asks for it";
    Pn1 = "PN-1", "the node is there", "in the end a node is there while a client keeps it";
    Pn2 = "PN-2", "only the own node", "a client deletes and writes no node but its own";
    Pn3 = "PN-3", "the last data", "a node has the last data that its owner was told that it has set, and in the end the last data";
    Pn4 = "PN-4", "no node is left", "an ephemeral is gone in the end, when its client keeps it no more";
    Ct1 = "CT-1", "changed once", "a change of a counter that was acknowledged was applied once, and one that was refused was not";
    Ct2 = "CT-2", "a true count", "the count that a client is told was the count at that moment";
    Ct3 = "CT-3", "set as expected", "compare and set succeeds exactly if the count is the expected one";
    Ct4 = "CT-4", "the last count", "in the end a follower has the last count";
    Sm1 = "SM-1", "leases", "no more leases or permits are held at once than there are";
    Co1 = "CO-1", "counting",
        "an increment that was acknowledged counts once, and one that was refused does not count";
    Pa1 = "PA-1", "a part has one owner", "no two clients own the same part of a set at once";
    Pa2 = "PA-2", "a part has an owner", "in the end every part of a set has a live owner";
    Ca1 = "CA-1", "a cache follows", "in the end a cache shows the znodes as they are";
    Pr1 = "PR-1", "nobody waits for what is free", "after the last fault whoever waits gets what is free";
    An1 = "AN-1", "done is done", "an operation that returns done has brought about what it says";
    An2 = "AN-2", "a failure has its reason", "an operation that fails for a reason has met that reason";
    An3 = "AN-3", "nothing is nothing", "an operation that says that nothing was done has left nothing";
    An4 = "AN-4", "the cost of a call", "a call that nothing disturbs costs no more than it promises";
}

impl RuleId {
    /// The number of rules.
    pub const COUNT: usize = RuleId::ALL.len();

    /// The generality of its family: of several rules that name the same wrong step, the one about fewer recipes goes
    /// first.
    pub(crate) fn generality(self) -> u8 {
        match self.name().split('-').next() {
            Some("RV") => 0,
            Some("MX") => 2,
            Some("AN") => 3,
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
