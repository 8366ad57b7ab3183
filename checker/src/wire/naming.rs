//! The meaning of a znode's name: the library and the recipe that chose it, and its number.
//!
//! A name is parsed from its end, where servers append numbers, and then from its front. A name of no known library is
//! [`Naming::Other`].

use crate::named::named;

named! {
    /// The scheme behind a znode's name.
    pub enum Naming = "a naming scheme" {
        /// `_c_<guid>-lock-<n>`: locks and leader selectors of Apache Curator, and locks of go-zookeeper.
        CuratorLock = "curator-lock",
        /// `_c_<guid>-__READ__<n>` and `_c_<guid>-__WRIT__<n>`: shared locks of Curator.
        CuratorSharedLock = "curator-shared-lock",
        /// `_c_<guid>-lease-<n>`: semaphores of Curator.
        CuratorLease = "curator-lease",
        /// `_c_<guid>-latch-<n>`: leader latches of Curator.
        CuratorLatch = "curator-latch",
        /// `_c_<guid>-…`: any other protected name.
        CuratorProtected = "curator-protected",
        /// `queue-|<time>|<n>`: delay queues of Curator.
        CuratorDelayQueue = "curator-delay-queue",
        /// `queue-1XXXXXXXX<n>`, or with a 0 for a negative priority: priority queues of Curator.
        CuratorPriorityQueue = "curator-priority-queue",
        /// `<guid>__lock__<n>`: locks and elections of Kazoo.
        KazooLock = "kazoo-lock",
        /// `<guid>__rlock__<n>`: readers of Kazoo's shared locks; its writers have the names of its locks.
        KazooReadLock = "kazoo-read-lock",
        /// `<guid>` alone, ephemeral: leases of Kazoo's semaphores and members of its double barriers, receipts of
        /// zk-recipes.
        Guid = "guid",
        /// `<guid>__party__`, or `<guid>-<name>` without a number: parties of Kazoo.
        KazooParty = "kazoo-party",
        /// `entry-<ppp>-<n>`: queues of Kazoo.
        KazooQueue = "kazoo-queue",
        /// `<guid>-lock-<n>`: locks of zk-recipes.
        Lock = "lock",
        /// `<guid>-read-<n>` and `<guid>-write-<n>`: shared locks of zk-recipes.
        SharedLock = "shared-lock",
        /// The same with `<ppppp>` or `<ppppp>-<n>` at the end: priority locks of zk-recipes.
        PriorityLock = "priority-lock",
        /// `<guid>-n_<n>`: elections of zk-recipes.
        Election = "election",
        /// `<guid>-member-<n>`: double barriers of zk-recipes.
        Member = "member",
        /// `<guid>-taker-<n>`: idle consumers of zk-recipes.
        Taker = "taker",
        /// `queue-<n>`: queues of Curator and of zk-recipes.
        Queue = "queue",
        /// `queue-<ppppp>-<n>`: priority queues of zk-recipes.
        PriorityQueue = "priority-queue",
        /// `qn-<n>`: queues of ZooKeeper's own recipes, and simple queues of Curator.
        SimpleQueue = "simple-queue",
        /// `x-<session>-<n>`: locks of ZooKeeper's own recipes.
        ZooKeeperLock = "zookeeper-lock",
        /// `n_<n>`, also behind a guid and a dash as on ZooKeeper's page of recipes.
        ZooKeeperElection = "zookeeper-election",
        /// `lock-<n>`, `write-<n>` or `read-<n>` without a guid.
        PlainLock = "plain-lock",
        /// The name of a queue's item in another directory, while a consumer processes it.
        Claim = "claim",
        /// Anything else.
        Other = "other",
    }

    /// The recipe that the names in a directory suggest.
    pub enum Suggests = "a recipe" {
        /// An exclusive lock, or an election built on one.
        Lock = "lock",
        /// A lock with readers and writers.
        SharedLock = "shared lock",
        /// A semaphore.
        Semaphore = "semaphore",
        /// An election.
        Election = "election",
        /// A queue.
        Queue = "queue",
        /// A group of members.
        Group = "group",
        /// The names suggest nothing, or contradict each other.
        Other = "other",
    }
}

impl Naming {
    /// The recipe that a name of this scheme suggests.
    pub fn suggests(self) -> Suggests {
        use Naming as N;
        match self {
            N::CuratorLock | N::KazooLock | N::Lock | N::ZooKeeperLock | N::PlainLock => Suggests::Lock,
            N::CuratorSharedLock | N::KazooReadLock | N::SharedLock => Suggests::SharedLock,
            N::CuratorLease | N::Guid => Suggests::Semaphore,
            N::CuratorLatch | N::Election | N::ZooKeeperElection => Suggests::Election,
            N::CuratorDelayQueue
            | N::CuratorPriorityQueue
            | N::KazooQueue
            | N::Queue
            | N::PriorityQueue
            | N::SimpleQueue => Suggests::Queue,
            N::KazooParty | N::Member => Suggests::Group,
            // The order of a priority lock follows from priorities, not from numbers.
            N::CuratorProtected | N::PriorityLock | N::Taker | N::Claim | N::Other => Suggests::Other,
        }
    }
}

impl Suggests {
    /// The recipe behind several schemes in one directory.
    pub(super) fn of(namings: impl IntoIterator<Item = Naming>) -> Suggests {
        let join = |all, one| match (all, one) {
            (all, one) if all == one => all,
            // Writers of Kazoo's shared locks, and of plain ones, have the names of locks.
            (Suggests::Lock, Suggests::SharedLock) | (Suggests::SharedLock, Suggests::Lock) => {
                Suggests::SharedLock
            }
            _ => Suggests::Other,
        };
        let kinds = namings.into_iter().map(Naming::suggests).filter(|kind| *kind != Suggests::Other);
        kinds.reduce(join).unwrap_or(Suggests::Other)
    }

    /// Whether contenders wait here in the order of their numbers.
    pub(super) fn has_contenders(self) -> bool {
        matches!(self, Suggests::Lock | Suggests::SharedLock | Suggests::Semaphore | Suggests::Election)
    }
}

/// A parsed name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) naming: Naming,
    /// Whether it asks for a reader's hold.
    pub(super) is_reader: bool,
    /// Whether a guid in it identifies its owner.
    pub(super) has_guid: bool,
    /// The length of the name without its number, if it has one.
    pub(super) front: Option<usize>,
}

/// Parses a name.
pub(super) fn read(name: &str) -> Name {
    let guid = guid(name);
    // The digits of a guid do not count as a number.
    let least = guid.as_ref().map_or(0, |(_, rest)| name.len() - rest.len());
    let front = front(name).filter(|front| *front >= least);
    let (naming, has_guid) = match (front, guid) {
        (front, Some((Style::Protected, rest))) => (protected(&rest[..cut(name, rest, front)]), true),
        (Some(front), Some((Style::Hex, rest))) => {
            (numbered_hex(&rest[..cut(name, rest, Some(front))]), true)
        }
        (None, Some((Style::Hex, rest))) => (bare_hex(rest), true),
        (Some(front), None) => (without_guid(&name[..front]), false),
        (None, None) => (if name.contains("__party__") { Naming::KazooParty } else { Naming::Other }, false),
    };
    let is_reader = name[..front.unwrap_or(name.len())].ends_with(match naming {
        Naming::CuratorSharedLock => "__READ__",
        Naming::KazooReadLock => "__rlock__",
        Naming::SharedLock | Naming::PlainLock => "read-",
        _ => "\0",
    });
    let naming = if is_reader && naming == Naming::PlainLock { Naming::SharedLock } else { naming };
    Name { naming, is_reader, has_guid, front }
}

/// The length of the rest of a name without its number.
fn cut(name: &str, rest: &str, front: Option<usize>) -> usize {
    front.map_or(rest.len(), |front| (front + rest.len()).saturating_sub(name.len()))
}

enum Style {
    /// `_c_<guid>-`, with or without dashes in the guid.
    Protected,
    /// 32 hexadecimal digits.
    Hex,
}

/// The guid at the front of a name, and the rest of the name.
fn guid(name: &str) -> Option<(Style, &str)> {
    let hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if let Some(rest) = name.strip_prefix("_c_") {
        let dashed = |text: &str| text.split('-').map(str::len).eq([8, 4, 4, 4, 12]);
        for length in [36, 32] {
            if let Some((guid, rest)) = rest.split_at_checked(length)
                && (if length == 32 { hex(guid) } else { dashed(guid) && hex(&guid.replace('-', "")) })
                && let Some(rest) = rest.strip_prefix('-')
            {
                return Some((Style::Protected, rest));
            }
        }
        return None;
    }
    let (guid, rest) = name.split_at_checked(32)?;
    hex(guid).then_some((Style::Hex, rest))
}

fn protected(rest: &str) -> Naming {
    match rest {
        "lock-" => Naming::CuratorLock,
        "__READ__" | "__WRIT__" => Naming::CuratorSharedLock,
        "lease-" => Naming::CuratorLease,
        "latch-" => Naming::CuratorLatch,
        _ => Naming::CuratorProtected,
    }
}

fn numbered_hex(rest: &str) -> Naming {
    let priority = |rest: &str| {
        let digits = rest.strip_prefix("-read-").or(rest.strip_prefix("-write-"));
        digits.and_then(|digits| digits.strip_suffix('-')).is_some_and(is_priority)
    };
    match rest {
        "__lock__" => Naming::KazooLock,
        "__rlock__" => Naming::KazooReadLock,
        "-lock-" => Naming::Lock,
        "-read-" | "-write-" => Naming::SharedLock,
        "-n_" => Naming::Election,
        "-member-" => Naming::Member,
        "-taker-" => Naming::Taker,
        rest if priority(rest) => Naming::PriorityLock,
        _ => Naming::Other,
    }
}

fn bare_hex(rest: &str) -> Naming {
    let held = rest.strip_prefix("-read-").or(rest.strip_prefix("-write-"));
    match rest {
        "" => Naming::Guid,
        "__party__" => Naming::KazooParty,
        _ if held.is_some_and(is_priority) => Naming::PriorityLock,
        _ if rest.starts_with('-') => Naming::KazooParty,
        _ => Naming::Other,
    }
}

fn without_guid(front: &str) -> Naming {
    match front {
        "queue-" => return Naming::Queue,
        "qn-" => return Naming::SimpleQueue,
        "lock-" | "write-" | "read-" => return Naming::PlainLock,
        _ => {}
    }
    if let Some(rest) = front.strip_prefix("queue-") {
        let curator = |rest: &str| {
            let hex = rest.strip_prefix(['0', '1'])?;
            Some(hex.len() == 8 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
        };
        return match rest {
            _ if rest.len() > 2 && rest.starts_with('|') && rest.ends_with('|') => Naming::CuratorDelayQueue,
            _ if rest.strip_suffix('-').is_some_and(is_priority) => Naming::PriorityQueue,
            _ if curator(rest) == Some(true) => Naming::CuratorPriorityQueue,
            _ => Naming::Other,
        };
    }
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let entry = front.strip_prefix("entry-").and_then(|rest| rest.strip_suffix('-'));
    if entry.is_some_and(digits) {
        return Naming::KazooQueue;
    }
    let x = front.strip_prefix("x-").and_then(|rest| rest.strip_suffix('-'));
    if x.is_some_and(digits) {
        return Naming::ZooKeeperLock;
    }
    if front == "n_" || front.ends_with("-n_") { Naming::ZooKeeperElection } else { Naming::Other }
}

fn is_priority(text: &str) -> bool {
    text.len() == 5 && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The length of a name without its number, which the server formats with `%010d`: ten digits, or a minus sign and nine
/// or ten.
fn front(name: &str) -> Option<usize> {
    let at = name.len().checked_sub(10)?;
    let digits = &name.as_bytes()[at..];
    if digits.iter().all(u8::is_ascii_digit) {
        let is_small = name[at..].parse::<i64>().is_ok_and(|number| number <= i64::from(i32::MAX));
        let is_negative = !is_small && name.as_bytes()[..at].ends_with(b"-");
        return (is_small || is_negative).then_some(if is_negative { at - 1 } else { at });
    }
    (digits[0] == b'-' && digits[1..].iter().all(u8::is_ascii_digit)).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEX: &str = "0123456789abcdef0123456789abcdef";
    const UUID: &str = "_c_01234567-89ab-cdef-0123-456789abcdef";

    fn naming(name: &str) -> &'static str {
        read(name).naming.name()
    }

    #[test]
    fn a_name_shows_its_library_and_its_recipe() {
        let of = |front: &str, rest: &str| naming(&format!("{front}{rest}"));
        for (rest, says) in [
            ("-lock-0000000001", "curator-lock"),
            ("-__READ__0000000001", "curator-shared-lock"),
            ("-__WRIT__0000000001", "curator-shared-lock"),
            ("-lease-0000000001", "curator-lease"),
            ("-latch-0000000001", "curator-latch"),
            ("-mine-0000000001", "curator-protected"),
            ("-mine", "curator-protected"),
        ] {
            assert_eq!(of(UUID, rest), says, "{rest}");
            assert_eq!(of("_c_0123456789abcdef0123456789abcdef", rest), says, "{rest} of go-zookeeper");
        }
        for (rest, says) in [
            ("__lock__0000000001", "kazoo-lock"),
            ("__rlock__0000000001", "kazoo-read-lock"),
            ("", "guid"),
            ("__party__", "kazoo-party"),
            ("-worker-7", "kazoo-party"),
            ("-lock-0000000001", "lock"),
            ("-lock--2147483648", "lock"),
            ("-lock--000000001", "lock"),
            ("-read-0000000001", "shared-lock"),
            ("-write-0000000001", "shared-lock"),
            ("-write-00003-0000000001", "priority-lock"),
            ("-read-00003", "priority-lock"),
            ("-n_0000000001", "election"),
            ("-member-0000000001", "member"),
            ("-taker-0000000001", "taker"),
            ("-other-0000000001", "other"),
        ] {
            assert_eq!(of(HEX, rest), says, "{rest}");
        }
        for (name, says) in [
            ("queue-0000000001", "queue"),
            ("queue-00003-0000000001", "priority-queue"),
            ("queue-1000000050000000001", "curator-priority-queue"),
            ("queue-|18FA|0000000001", "curator-delay-queue"),
            ("qn-0000000001", "simple-queue"),
            ("entry-100-0000000001", "kazoo-queue"),
            ("x-72057594037927937-0000000001", "zookeeper-lock"),
            ("n_0000000001", "zookeeper-election"),
            ("lock-0000000001", "plain-lock"),
            ("event-0000000001", "other"),
            ("config", "other"),
            ("_c_0123", "other"),
            ("\u{e9}0000000001", "other"),
            ("", "other"),
        ] {
            assert_eq!(naming(name), says, "{name}");
        }
        assert_eq!(naming("0123456789abcdef0123450123456789"), "guid", "a guid that ends in digits");
    }

    #[test]
    fn readers_are_told_from_writers() {
        let is_reader = |rest: &str| read(&format!("{HEX}{rest}")).is_reader;
        assert!(is_reader("-read-0000000001") && is_reader("__rlock__0000000001"));
        assert!(!is_reader("-write-0000000001") && !is_reader("__lock__0000000001"));
        assert!(read(&format!("{UUID}-__READ__0000000001")).is_reader);
        assert!(!read(&format!("{UUID}-__WRIT__0000000001")).is_reader);
    }

    #[test]
    fn several_schemes_in_one_directory_suggest_what_fits_all() {
        use Naming as N;
        assert_eq!(Suggests::of([]), Suggests::Other);
        assert_eq!(Suggests::of([N::CuratorLock, N::Lock, N::KazooLock]), Suggests::Lock);
        assert_eq!(Suggests::of([N::KazooLock, N::KazooReadLock]), Suggests::SharedLock);
        assert_eq!(Suggests::of([N::Other, N::Election, N::Other]), Suggests::Election);
        assert_eq!(Suggests::of([N::Queue, N::KazooLock]), Suggests::Other);
        assert_eq!(Suggests::of([N::Queue, N::KazooLock, N::Lock]), Suggests::Other);
    }
}
