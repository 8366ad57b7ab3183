//! The rows of the comparison: what one operation is, how it is set up, and which recipe of each library takes part.

use crate::library::Library;
use Library::{Curator, Kazoo, Ours, Raw, ZookeeperClient};

/// One row.
#[derive(Debug)]
pub struct Row {
    /// The name, for `--only`.
    pub name: &'static str,
    /// The heading.
    pub title: &'static str,
    /// One operation, which requests and notifications are counted for.
    pub operation: &'static str,
    /// What a peer's program does.
    pub workload: &'static str,
    /// Further parameters of that program.
    pub parameters: &'static [(&'static str, usize)],
    /// The number of operations of one run.
    pub operations: Operations,
    /// The operations that warm a JVM up before rates are measured; other peers make a tenth of them.
    pub warm_up: usize,
    /// Who takes part.
    pub contestants: &'static [Contestant],
}

/// The number of operations of one run, by what the run is for.
#[derive(Clone, Copy, Debug)]
pub struct Operations {
    pub rates: usize,
    pub counts: usize,
    pub round_trips: usize,
    /// The least that makes sense.
    pub quick: usize,
}

/// A recipe of a library in a row.
#[derive(Debug)]
pub struct Contestant {
    pub library: Library,
    /// The recipe, by its name in the library's documentation; a peer's program receives it.
    pub recipe: &'static str,
    /// What it does not promise, or how it differs.
    pub remark: &'static str,
}

const fn with(library: Library, recipe: &'static str, remark: &'static str) -> Contestant {
    Contestant { library, recipe, remark }
}

const fn operations(rates: usize, counts: usize, round_trips: usize, quick: usize) -> Operations {
    Operations { rates, counts, round_trips, quick }
}

const HAND_OVER: &[Contestant] = &[
    with(Ours, "Lock", ""),
    with(Curator, "InterProcessMutex", ""),
    with(Kazoo, "Lock", ""),
    with(ZookeeperClient, "Client::lock", "releases in the background"),
    with(Raw, "pipelined", "no recovery of any kind"),
];

const BARRIERS: &[Contestant] = &[
    with(Ours, "DoubleBarrier, Once", ""),
    with(Ours, "DoubleBarrier, Generations", "one barrier for all rounds"),
    with(Ours, "DoubleBarrier, Generations, Chain", "one barrier for all rounds"),
    with(Curator, "DistributedDoubleBarrier", "a barrier for each round"),
    with(Kazoo, "DoubleBarrier", "a barrier for each round"),
];

const CAN_LOSE: &str = "a lost reply doubles a put and loses a take";
const RELAXED: &str = "the same, in order but for 64 items a consumer";
const CAN_DOUBLE: &str = "a lost reply doubles a put; items of a dead consumer return";

const ADDS_TWICE: &str = "a lost reply adds twice";

const QUEUES: &[Contestant] = &[
    with(Ours, "Queue, take", "puts once; an item in the hand of a dead consumer is lost"),
    with(Ours, "Queue, claim and done", "puts once, done once; items of a dead consumer return"),
    with(Ours, "Queue, take, relaxed", RELAXED),
    with(Ours, "Queue, claim and done, relaxed", RELAXED),
    with(Curator, "SimpleDistributedQueue", CAN_LOSE),
    with(Curator, "DistributedQueue", CAN_LOSE),
    with(Curator, "DistributedQueue, lock path", CAN_DOUBLE),
    with(Kazoo, "Queue", "polls; a lost reply doubles a put and loses a take"),
    with(Kazoo, "LockingQueue", CAN_DOUBLE),
];

const BATCHES: &[Contestant] = &[
    with(Ours, "Queue, take", "puts once; items in the hand of a dead consumer are lost"),
    with(Ours, "Queue, claim and done", "puts once, done once; items of a dead consumer return"),
    with(Ours, "Queue, take, relaxed", RELAXED),
    with(Ours, "Queue, claim and done, relaxed", RELAXED),
    with(Curator, "DistributedQueue", "a batch is one znode; a lost reply doubles or loses all of it"),
    with(
        Curator,
        "DistributedQueue, lock path",
        "a batch is one znode; a lost reply doubles it; those of a dead consumer return",
    ),
    with(
        Kazoo,
        "LockingQueue",
        "takes one by one; a lost reply doubles a put; items of a dead consumer return",
    ),
];

const COUNTERS: &[Contestant] = &[
    with(Ours, "Counter", "adds once"),
    with(Curator, "DistributedAtomicLong", ADDS_TWICE),
    with(Curator, "SharedCount", ADDS_TWICE),
    with(Kazoo, "Counter", ADDS_TWICE),
];

const SEMAPHORES: &[Contestant] = &[
    with(Ours, "Semaphore", "in the order of the requests"),
    with(Curator, "InterProcessSemaphoreV2", "in the order of an inner lock"),
    with(Kazoo, "Semaphore", "in the order of an inner lock"),
];

/// All rows, in the order of the table.
pub const ROWS: &[Row] = &[
    Row {
        name: "requests",
        title: "three requests in turn",
        operation: "create, list, delete",
        workload: "requests",
        parameters: &[],
        operations: operations(1000, 200, 30, 5),
        warm_up: 3000,
        contestants: &[
            with(Ours, "Client", ""),
            with(Curator, "ZooKeeper", "the client of Apache ZooKeeper below Curator"),
            with(Kazoo, "KazooClient", ""),
            with(ZookeeperClient, "Client", ""),
            with(Raw, "in turn", ""),
        ],
    },
    Row {
        name: "lock-free",
        title: "lock, free",
        operation: "acquire and release",
        workload: "lock",
        parameters: &[],
        operations: operations(1000, 200, 30, 5),
        warm_up: 3000,
        contestants: &[
            with(Ours, "Lock", ""),
            with(Ours, "Lock, dropped", "releases in the background"),
            with(Curator, "InterProcessMutex", ""),
            with(Kazoo, "Lock", ""),
            with(ZookeeperClient, "Client::lock", "releases in the background"),
            with(Raw, "pipelined", "no recovery of any kind"),
        ],
    },
    Row {
        name: "lock-2",
        title: "lock, 2 contenders",
        operation: "one hand-over; a holder keeps the lock for 2 ms",
        workload: "hand-over",
        parameters: &[("clients", 2), ("hold_ms", 2)],
        operations: operations(400, 200, 12, 4),
        warm_up: 1000,
        contestants: HAND_OVER,
    },
    Row {
        name: "lock-8",
        title: "lock, 8 contenders",
        operation: "one hand-over",
        workload: "hand-over",
        parameters: &[("clients", 8)],
        operations: operations(400, 400, 32, 8),
        warm_up: 3000,
        contestants: HAND_OVER,
    },
    Row {
        name: "lock-32",
        title: "lock, 32 contenders",
        operation: "one hand-over",
        workload: "hand-over",
        parameters: &[("clients", 32)],
        operations: operations(384, 384, 64, 32),
        warm_up: 3000,
        contestants: HAND_OVER,
    },
    Row {
        name: "lock-128",
        title: "lock, 128 contenders",
        operation: "one hand-over",
        workload: "hand-over",
        parameters: &[("clients", 128)],
        operations: operations(512, 512, 128, 128),
        warm_up: 3000,
        contestants: HAND_OVER,
    },
    Row {
        name: "shared-lock",
        title: "shared lock: 32 readers behind a writer",
        operation: "the writer and all readers acquire and release; rate: the writer's release until the last reader holds",
        workload: "shared-lock",
        parameters: &[("clients", 32)],
        operations: operations(10, 5, 3, 1),
        warm_up: 40,
        contestants: &[
            with(Ours, "SharedLock", ""),
            with(Curator, "InterProcessReadWriteLock", ""),
            with(Kazoo, "WriteLock, ReadLock", ""),
        ],
    },
    Row {
        name: "election",
        title: "election: fail-over among 32",
        operation: "the leader's session closes, and the next leader is told",
        workload: "election",
        parameters: &[("clients", 32)],
        operations: operations(16, 16, 6, 2),
        warm_up: 16,
        contestants: &[
            with(Ours, "Election", ""),
            with(
                Ours,
                "Election, watched",
                "the leader is also told when another client deletes its candidate",
            ),
            with(Ours, "Election, acknowledged", "the leader also records that it has begun"),
            with(Curator, "LeaderLatch", ""),
            with(Curator, "LeaderSelector", ""),
            with(Kazoo, "Election", ""),
            with(ZookeeperClient, "Client::lock", "deletes its znode before it closes"),
        ],
    },
    Row {
        name: "barrier-8",
        title: "double barrier, 8 participants",
        operation: "all enter and all leave",
        workload: "barrier",
        parameters: &[("clients", 8)],
        operations: operations(20, 20, 4, 2),
        warm_up: 40,
        contestants: BARRIERS,
    },
    Row {
        name: "barrier-32",
        title: "double barrier, 32 participants",
        operation: "all enter and all leave",
        workload: "barrier",
        parameters: &[("clients", 32)],
        operations: operations(8, 8, 3, 1),
        warm_up: 20,
        contestants: BARRIERS,
    },
    Row {
        name: "queue-1x1",
        title: "queue, 1 producer and 1 consumer, one by one",
        operation: "one item put and taken",
        workload: "queue",
        parameters: &[("producers", 1), ("consumers", 1), ("batch", 1)],
        operations: operations(960, 480, 40, 4),
        warm_up: 2000,
        contestants: QUEUES,
    },
    Row {
        name: "queue-4x4",
        title: "queue, 4 producers and 4 consumers, one by one",
        operation: "one item put and taken",
        workload: "queue",
        parameters: &[("producers", 4), ("consumers", 4), ("batch", 1)],
        operations: operations(960, 480, 80, 8),
        warm_up: 2000,
        contestants: QUEUES,
    },
    Row {
        name: "queue-16-1x1",
        title: "queue, 1 producer and 1 consumer, batches of 16",
        operation: "one item put and taken",
        workload: "queue",
        parameters: &[("producers", 1), ("consumers", 1), ("batch", 16)],
        operations: operations(3200, 960, 160, 32),
        warm_up: 3200,
        contestants: BATCHES,
    },
    Row {
        name: "queue-16-4x4",
        title: "queue, 4 producers and 4 consumers, batches of 16",
        operation: "one item put and taken",
        workload: "queue",
        parameters: &[("producers", 4), ("consumers", 4), ("batch", 16)],
        operations: operations(3200, 960, 320, 64),
        warm_up: 3200,
        contestants: BATCHES,
    },
    Row {
        name: "backlog-100000",
        title: "queue of 100,000 items, 4 consumers, batches of 16",
        operation: "one item taken; what it took to put them is left out",
        workload: "backlog",
        parameters: &[("producers", 1), ("consumers", 4), ("batch", 16)],
        operations: operations(100_000, 100_000, 0, 64),
        warm_up: 0,
        contestants: &[
            with(Ours, "Queue, take", "items in the hand of a dead consumer are lost"),
            with(Ours, "Queue, claim and done", "done once; items of a dead consumer return"),
            with(Ours, "Queue, take, relaxed", RELAXED),
            with(Ours, "Queue, claim and done, relaxed", RELAXED),
        ],
    },
    Row {
        name: "semaphore-1",
        title: "semaphore of three permits, 1 client",
        operation: "acquire and release of one permit",
        workload: "semaphore",
        parameters: &[("clients", 1), ("permits", 3)],
        operations: operations(1000, 200, 30, 5),
        warm_up: 3000,
        contestants: SEMAPHORES,
    },
    Row {
        name: "semaphore-32",
        title: "semaphore of three permits, 32 clients that acquire ten times each",
        operation: "acquire and release of one permit",
        workload: "semaphore",
        parameters: &[("clients", 32), ("permits", 3)],
        operations: operations(320, 320, 320, 32),
        warm_up: 960,
        contestants: SEMAPHORES,
    },
    Row {
        name: "counter-1",
        title: "counter, 1 client",
        operation: "one increment",
        workload: "counter",
        parameters: &[("clients", 1)],
        operations: operations(1000, 200, 30, 5),
        warm_up: 3000,
        contestants: COUNTERS,
    },
    Row {
        name: "counter-32",
        title: "counter, 32 clients that add ten times each",
        operation: "one increment; a client repeats one that was refused",
        workload: "counter",
        parameters: &[("clients", 32)],
        operations: operations(320, 320, 320, 32),
        warm_up: 960,
        contestants: COUNTERS,
    },
    Row {
        name: "idle-1000",
        title: "1,000 idle waiters of a lock on one session",
        operation: "one waiter joins, or takes over and releases",
        workload: "idle",
        parameters: &[],
        operations: operations(1000, 1000, 0, 20),
        warm_up: 0,
        contestants: &[
            with(Ours, "Lock", ""),
            with(Curator, "InterProcessMutex", "a thread for each waiter"),
            with(Kazoo, "Lock", "a thread for each waiter"),
            with(ZookeeperClient, "Client::lock", ""),
        ],
    },
    Row {
        name: "idle-10000",
        title: "10,000 idle waiters of a lock on one session",
        operation: "one waiter joins, or takes over and releases",
        workload: "idle",
        parameters: &[],
        operations: operations(10_000, 10_000, 0, 20),
        warm_up: 0,
        contestants: &[with(Ours, "Lock", "")],
    },
    Row {
        name: "group-10000",
        title: "10,000 members of a group on one session, and an observer on another",
        operation: "one member joins or leaves, while the observer follows",
        workload: "idle",
        parameters: &[],
        operations: operations(10_000, 10_000, 0, 20),
        warm_up: 0,
        contestants: &[with(Ours, "Group", "all join at once, and all leave at once")],
    },
];

impl Row {
    /// Whether `--only` with that word means this row: the name, or its first words.
    pub fn is_called(&self, word: &str) -> bool {
        self.name.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    }

    /// Whether it measures memory at rest rather than rates.
    pub fn is_idle(&self) -> bool {
        self.workload == "idle"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_called_by_its_first_words() {
        let called = |word: &str| ROWS.iter().filter(|row| row.is_called(word)).count();
        assert_eq!((called("lock"), called("lock-8"), called("queue-16"), called("loc")), (5, 1, 2, 0));
    }
}
