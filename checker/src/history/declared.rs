//! The declarations of a history: the run as a whole, and its objects.

use super::{Sym, is_default};
use crate::named::named;
use serde::{Deserialize, Serialize};

/// The run as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Version of this form: 1.
    pub format: u32,
    /// The kind of evidence.
    pub mode: Mode,
    /// The clients' names, by number.
    pub clients: Vec<String>,
    /// The server's tick in microseconds: expiry is at most one tick late.
    pub tick: u64,
    /// The largest negotiated session timeout in microseconds.
    pub timeout: u64,
    /// Time for an election in microseconds, or zero.
    pub election: u64,
    /// A round trip on a fault-free network in microseconds.
    pub round_trip: u64,
    /// The time that effects may take to settle in microseconds: 1000 in a simulation, 250000 in a capture.
    pub settle: u64,
    /// The number of ticks without contact to the others after which a server gives up: ZooKeeper's `syncLimit`.
    #[serde(default = "default_sync_limit", skip_serializing_if = "is_default_sync_limit")]
    pub sync_limit: u32,
    /// In a capture: whether every possible cause of a connection loss was recorded (injected faults, and stalls of the
    /// process and of the servers), so that a loss without a recorded cause is suspicious.
    #[serde(default, skip_serializing_if = "is_default")]
    pub faults_recorded: bool,
    /// Whether every answer to a ping is recorded, as [`What::Heard`](super::What::Heard), so that the time without an
    /// answer is known exactly.
    #[serde(default, skip_serializing_if = "is_default")]
    pub pings_recorded: bool,
    /// Whether the clients are foreign programs: their libraries' use of sessions and watches is not judged.
    #[serde(default, skip_serializing_if = "is_default")]
    pub foreign_clients: bool,
    /// The number of children that every new znode has already had: 0, except in runs that exhaust sequence numbers.
    #[serde(default, skip_serializing_if = "is_default")]
    pub first_number: i32,
    /// The origin of the run: a seed, choices, a command. Opaque.
    pub source: String,
}

/// ZooKeeper's own default of `syncLimit`.
pub const SYNC_LIMIT: u32 = 5;

fn default_sync_limit() -> u32 {
    SYNC_LIMIT
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_default_sync_limit(limit: &u32) -> bool {
    *limit == SYNC_LIMIT
}

named! {
    /// The kind of evidence in a history.
    pub enum Mode = "sim or client" {
        /// A simulation: all events.
        Sim = "sim",
        /// A real ensemble: the clients' events, and a last listing.
        Client = "client",
    }
}

/// A declared object. Objects are never guessed from paths.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Object {
    /// The kind of the object.
    pub kind: Kind,
    /// Its directory.
    pub path: Sym,
    /// The policy of its holders on connection loss.
    pub on_suspect: OnSuspect,
    /// The margin before the end of the session at which a holder stops, in microseconds.
    pub margin: u64,
    /// Whether a resource behind it checks fencing tokens.
    pub fenced: bool,
    /// Its cost budget.
    pub budget: Budget,
    /// The number of participants of a double barrier, of sites of a transaction, or of leases of a semaphore; zero for
    /// other kinds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub size: u32,
    /// The variant of the recipe.
    #[serde(default, skip_serializing_if = "is_default")]
    pub manner: Manner,
}

impl Object {
    /// An object of the plain variant, without a fenced resource.
    pub fn plain(kind: Kind, path: Sym) -> Object {
        Object {
            kind,
            path,
            on_suspect: OnSuspect::Stop,
            margin: 0,
            fenced: false,
            budget: Budget::LOCK,
            size: 0,
            manner: Manner::default(),
        }
    }
}

/// The variant of a recipe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Manner {
    /// Queues: items are claimed and confirmed (at least once), not removed by the take (at most once).
    pub at_least_once: bool,
    /// Priority queues: a take never passes a more urgent item.
    pub strict: bool,
    /// Queues: every idle consumer watches the queue itself, as on ZooKeeper's page of recipes. Two-phase commit:
    /// every site watches every vote.
    pub textbook: bool,
    /// Double barriers: participants leave one after the other.
    pub chain: bool,
    /// Double barriers: for one use.
    pub once: bool,
    /// Two-phase commit: a coordinator decides.
    pub coordinated: bool,
    /// Revocable locks: a holder can be forced out after a request to release.
    pub forced: bool,
    /// The clients are foreign programs: their beliefs are their own reports, and the operation of each request is
    /// unknown.
    #[serde(skip_serializing_if = "is_default")]
    pub reported: bool,
    /// Revocable locks: the grace period before a forced revocation, in microseconds.
    pub grace: u64,
    /// Queues with relaxed consumers: each takes one of the first `window` items. Zero: all take in order.
    #[serde(skip_serializing_if = "is_default")]
    pub window: u32,
}

named! {
    /// The kind of an object.
    pub enum Kind = "a kind of object" {
        /// An exclusive lock.
        Lock = "lock",
        /// A lock with readers and writers.
        SharedLock = "shared_lock",
        /// A shared lock whose contenders can be asked to release.
        RevocableLock = "revocable_lock",
        /// A shared lock that serves more urgent contenders first.
        PriorityLock = "priority_lock",
        /// An election.
        Election = "election",
        /// A barrier.
        Barrier = "barrier",
        /// A double barrier.
        DoubleBarrier = "double_barrier",
        /// A queue.
        Queue = "queue",
        /// A queue that delivers more urgent items first.
        PriorityQueue = "priority_queue",
        /// A two-phase commit.
        TwoPhaseCommit = "two_phase_commit",
        /// A directory of names.
        Names = "names",
        /// A value, or a set of values, with followers.
        Config = "config",
        /// A group of members.
        Group = "group",
        /// A znode that clients keep there.
        PersistentNode = "persistent_node",
        /// A number that clients add to, as the library's recipe keeps it.
        SharedCounter = "shared_counter",
        /// A number of permits, as the library's recipe grants them.
        Permits = "permits",
        /// A lock that several clients hold at once: see [`Object::size`].
        Semaphore = "semaphore",
        /// A number that clients add to, in whatever way. This kind and the following ones are for foreign programs only.
        Counter = "counter",
        /// A set whose parts are divided among clients.
        Partition = "partition",
        /// A copy of the znodes below a path.
        Cache = "cache",
    }

    /// The policy of holders on connection loss.
    pub enum OnSuspect = "a policy" {
        /// They stop at once.
        Stop = "stop",
        /// They go on until the deadline.
        UntilDeadline = "until_deadline",
    }
}

/// The cost budget of operations on a fault-free network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Budget {
    /// Requests of an uncontended acquire.
    pub free_acquire: u32,
    /// Round trips of an uncontended acquire.
    pub free_round_trips: u32,
    /// Requests of a release.
    pub release: u32,
    /// Requests after each wake-up.
    pub per_wake_up: u32,
}

impl Budget {
    /// The lock's row of the cost table: create and list in one flight; one delete; a list, and a watch if the nearest
    /// changed.
    pub const LOCK: Budget = Budget { free_acquire: 2, free_round_trips: 1, release: 1, per_wake_up: 2 };
}
