//! Counts of a run: events, requests, notifications, waits, and probes.

/// Counts of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// Events judged.
    pub events: usize,
    /// Requests of operations, without those of clean-up.
    pub requests: u32,
    /// Requests of clean-up duties and of client libraries.
    pub cleanup_requests: u32,
    /// Notifications: fired in a simulation, delivered in a capture.
    pub notifications: u32,
    /// The most round trips an acquire waited for.
    pub round_trips: u32,
    /// Acquires that had to wait.
    pub waits: u32,
    /// Acquires that were granted.
    pub grants: u32,
    /// The thundering herd: the largest number of waiters that one transaction woke for each that it enabled.
    pub herd_index: u32,
    /// Excused overlaps of beliefs.
    pub zombies: u32,
    /// The longest of them, in microseconds.
    pub longest_zombie: u64,
    /// Znodes and watches that were left.
    pub leaks: u32,
    /// How often each probe was reached, in the order of [`Probe::ALL`].
    pub reached: [u32; Probe::COUNT],
}

macro_rules! probes {
    ($($(#[doc = $doc:literal])+ $probe:ident = $name:literal;)+) => {
        /// A state that a faithful simulation of ZooKeeper must be able to reach: ZK-15. It is counted, and neither
        /// right nor wrong.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Probe { $($(#[doc = $doc])+ $probe,)+ }

        impl Probe {
            /// All of them.
            pub const ALL: &[Probe] = &[$(Probe::$probe),+];

            /// How many there are.
            pub const COUNT: usize = Probe::ALL.len();

            /// Its name on the command line.
            pub fn name(self) -> &'static str {
                match self { $(Probe::$probe => $name),+ }
            }

            /// What is reached, in one line.
            pub fn about(self) -> &'static str {
                match self { $(Probe::$probe => concat!($($doc),+).trim_ascii()),+ }
            }
        }
    };
}

probes! {
    /// A read showed an older state than a write that another client had been told of before.
    StaleRead = "stale-read";
    /// A znode was created and deleted while a client was away that watched for it, and nothing told it.
    CreatedAndDeletedUnseen = "created-and-deleted-unseen";
    /// A znode was deleted and created while a client was away, and it was told that data changed.
    RecreatedToldAsChanged = "recreated-told-as-changed";
    /// A write was applied, and its client was told that the connection was lost.
    AppliedWithoutReply = "applied-without-reply";
    /// A client saw an ephemeral of its own former session.
    OwnOldEphemeral = "own-old-ephemeral";
    /// After a reconnect a read showed an older state than a notification that had been delivered.
    OlderThanNotified = "older-than-notified";
    /// A write whose reply was lost was applied after its session had read elsewhere.
    WriteAfterReads = "write-after-reads";
    /// A client was connected and answered, and its session had already expired.
    AnsweredThoughExpired = "answered-though-expired";
    /// A session expired earlier than its timeout after the last answer.
    ExpiredEarly = "expired-early";
}

impl Probe {
    /// The probe of a name.
    pub fn from_name(name: &str) -> Option<Probe> {
        Probe::ALL.iter().copied().find(|probe| probe.name() == name)
    }
}

impl Metrics {
    /// How often a probe was reached.
    pub fn reached(&self, probe: Probe) -> u32 {
        self.reached[probe as usize]
    }
}
