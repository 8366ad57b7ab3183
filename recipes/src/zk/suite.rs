//! The behaviour that every implementation of [`ZooKeeper`] must show, one function a rule.
//!
//! A simulation and a real ensemble run the same list, each from its own test:
//!
//! ```
//! use zk_recipes::zk::suite;
//!
//! async fn try_all<S: suite::Site>(site: &S) {
//!     for (name, rule) in suite::CASES {
//!         println!("{name}: {rule}");
//!         suite::run(site, name).await;
//!     }
//! }
//! ```
//!
//! A rule that does not hold panics and says what was seen. Rules know neither a runtime nor a clock but the one of the
//! trait: what should happen and does not is given up after [`LIMIT`] of the implementation's own time.

mod duties;
mod order;
mod reads;
mod sessions;
mod transactions;
mod watches;
mod writes;

use std::fmt::Debug;
use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{Either, select};

use super::{CreateMode, Created, Error, ZooKeeper};

/// How long, on the implementation's own clock, a rule waits for what must happen.
pub const LIMIT: Duration = Duration::from_secs(20);

/// Where the rules are tried: one ensemble, which may have other users.
pub trait Site: Sync {
    /// The implementation.
    type Zk: ZooKeeper;

    /// Opens a fresh session that is connected.
    fn open(&self) -> impl Future<Output = Self::Zk> + Send;

    /// The path of a znode that does not exist and that nobody else will make. Its parent exists.
    fn directory(&self) -> String;
}

macro_rules! cases {
    ($($module:ident { $($name:ident: $rule:literal,)* })*) => {
        /// Every rule: its name, and what it says.
        pub const CASES: &[(&str, &str)] = &[$($((stringify!($name), $rule),)*)*];

        /// Tries one rule by name.
        ///
        /// # Panics
        ///
        /// When the rule does not hold, with what was seen; and when there is no such rule.
        pub async fn run<S: Site>(site: &S, name: &str) {
            match name {
                $($(stringify!($name) => $module::$name(site).on_heap().await,)*)*
                _ => panic!("there is no rule {name:?}"),
            }
        }
    };
}

cases! {
    writes {
        a_create_tells_path_and_stat: "a create tells the path and the first stat, in which czxid = mzxid = pzxid",
        zxids_grow: "every write has a larger zxid than those before it",
        a_create_needs_room: "a create is refused if the znode exists (NodeExists) or its parent does not (NoNode)",
        ephemerals_have_no_children: "a create below an ephemeral is refused (NoChildrenForEphemerals)",
        a_container_takes_children: "a container can be made and takes children",
        sequential_names_have_ten_digits: "a sequential name is the given one and ten digits, and grows by one",
        the_sequence_counts_every_create: "the number counts all creates in the directory, and is never used again",
        a_sequential_name_may_be_the_number_alone: "a sequential create of `directory/` is named by its number alone",
        a_set_counts_versions: "a set tells the new stat: version one larger, czxid as before, length of the data",
        a_set_is_conditional: "a set with another version is refused (BadVersion), one without a znode too (NoNode)",
        a_delete_is_conditional: "a delete is refused with another version, with children, and without a znode",
        cversion_counts_changes_of_children: "cversion counts creates and deletes of children, pzxid has the last",
    }
    reads {
        exists_tells_none: "exists tells the stat, or None, and is no error",
        a_missing_znode_cannot_be_read: "get and children of a missing znode are NoNode",
        children_are_names: "children are names, not paths, with the parent's stat",
        get_many_keeps_the_order: "get_many answers in the order of its paths, with None for what is missing",
        sync_answers: "a sync is answered, and a read behind it sees what another session was told is done",
        data_are_bytes: "data are any bytes, or none",
        bad_paths_are_refused: "a bad path is refused as bad input by every method, and the session lives on",
        too_much_data_is_refused: "a request larger than a server takes is refused as bad input",
    }
    order {
        a_flight_is_in_order: "requests called without waiting are applied in call order, reads see writes before them",
        answers_come_in_order: "when a later request is answered, the earlier ones of its flight are",
        requests_leave_at_the_call: "a request whose future is dropped unpolled was sent all the same",
        clones_share_one_order: "calls through clones of a handle are in order among each other",
        a_lost_interest_does_no_harm: "futures dropped in the middle of a flight leave the others as they are",
    }
    transactions {
        a_multi_is_applied_at_once: "a multi tells one result an operation, and all it makes has one zxid",
        a_multi_sees_its_own_operations: "an operation of a multi sees those before it",
        a_multi_is_all_or_nothing: "a refused multi names the first operation refused and why, and changes nothing",
        a_refused_multi_uses_no_number: "a refused multi gives the sequence number back",
        a_refused_multi_fires_no_watch: "a refused multi fires no watch",
        a_check_has_its_version: "a check holds with the version and without one, and fails with another",
        an_empty_multi_is_done: "a multi of no operations is done",
    }
    watches {
        a_data_watch_fires_on_set: "a get watch fires with NodeDataChanged and the path when the data are set",
        a_data_watch_fires_on_delete: "a get watch fires with NodeDeleted when the znode goes",
        a_data_watch_does_not_see_children: "a get watch does not fire for children, a child watch not for data",
        an_exists_watch_waits_for_a_create: "an exists watch on a missing znode fires with NodeCreated",
        an_exists_watch_sees_a_change: "an exists watch on a znode fires when it is set, or goes",
        a_child_watch_fires_on_create_and_delete: "a child watch fires when a child comes, and when one goes",
        a_child_watch_fires_when_the_parent_goes: "a child watch fires with NodeDeleted when its own znode goes",
        a_child_watch_on_an_ephemeral: "a child watch on an ephemeral fires at its deletion only, not at a set",
        a_session_that_closes_fires_watches: "a watch on an ephemeral fires when its session closes",
        a_missing_znode_arms_nothing: "get_watch and children_watch on a missing znode are NoNode",
        a_watch_sees_only_what_comes_later: "a watch does not fire for what the read that armed it has shown",
        a_notification_comes_before_the_reply: "a watch is ready before the reply that shows the change, own or not",
        two_watches_on_one_path_both_fire: "two watches on one path both fire, and one does if the other is dropped",
        a_path_can_be_watched_again: "a watch armed right after another was dropped on the same path fires",
    }
    sessions {
        a_session_owns_its_ephemerals: "an ephemeral has its session as owner, a persistent znode has none",
        ephemerals_go_with_their_session: "a session that closes takes its ephemerals along, and only those",
        status_tells_a_connection: "a session that was opened is connected, over connection 1 or later",
        changed_waits_for_a_change: "changed does not resolve while nothing happens, and at once if something did",
        guids_differ: "no guid comes twice, and all print as 32 lower-case hex digits",
        sleep_until_waits: "sleep_until resolves when the time has come, not before, at once if it is past",
        safe_until_follows_answers: "safe_until is a timeout after the sending of something that was answered",
        nothing_is_sent_after_close: "after close every request is SessionOver(Closed), and the status says so",
        close_ends_watches: "a watch resolves with SessionOver when its session closes",
        close_ends_changed: "changed resolves when the session closes",
        what_was_sent_before_close_is_done: "a request called before close is done",
    }
    duties {
        a_dropped_duty_deletes: "an armed duty that is dropped deletes its znode",
        a_duty_leaves_when_dropped: "the first request of a duty leaves at the drop: a read called next comes behind it",
        a_duty_that_is_done_deletes_nothing: "an armed duty that is done deletes nothing",
        a_narrowed_duty_does_the_new_thing: "a duty that was narrowed does what it was told last",
        a_duty_finds_its_guid: "a guid duty deletes what has the guid in its name and is the session's, and no more",
        a_duty_without_a_znode_is_done: "a duty whose znode or directory is missing is done",
        a_fixed_duty_spares_another_incarnation: "a duty on a shared name deletes its own incarnation only",
        a_duty_of_several_writes_is_one_transaction: "a duty of several writes does all or nothing",
        close_waits_for_duties: "close waits for duties that have begun",
    }
}

/// Puts a rule's future on the heap: sixty of them in one function would make a large one.
trait OnHeap: Future<Output = ()> + Sized {
    fn on_heap(self) -> std::pin::Pin<Box<Self>> {
        Box::pin(self)
    }
}

impl<F: Future<Output = ()>> OnHeap for F {}

/// A session, and the path of a fresh directory.
async fn start<S: Site>(site: &S) -> (S::Zk, String) {
    let zk = site.open().await;
    let directory = site.directory();
    make(&zk, &directory).await;
    (zk, directory)
}

/// Creates a persistent znode with a little data.
async fn make<Z: ZooKeeper>(zk: &Z, path: &str) -> Created {
    must("create", zk.create(path, b"data", CreateMode::Persistent).await)
}

/// Creates an ephemeral one.
async fn make_ephemeral<Z: ZooKeeper>(zk: &Z, path: &str) -> Created {
    must("create", zk.create(path, b"data", CreateMode::Ephemeral).await)
}

/// Ends a session, so that a rule leaves nothing behind but persistent znodes.
async fn close<Z: ZooKeeper>(zk: Z) {
    must("close", zk.close(LIMIT).await);
}

/// What must have worked.
fn must<T>(what: &str, result: Result<T, Error>) -> T {
    result.unwrap_or_else(|e| panic!("{what} must succeed, but: {e}"))
}

/// What must have been refused, and how.
fn refused<T: Debug>(what: &str, result: Result<T, Error>, expected: Error) {
    match result {
        Err(e) if e == expected => {}
        other => panic!("{what} must be refused ({expected}), but gave {other:?}"),
    }
}

/// What must happen before long.
async fn soon<Z: ZooKeeper, T>(zk: &Z, what: &str, work: impl Future<Output = T>) -> T {
    let limit = zk.sleep_until(zk.now() + LIMIT);
    match select(pin!(work), pin!(limit)).await {
        Either::Left((done, _)) => done,
        Either::Right(_) => panic!("{what} must happen, but has not within {LIMIT:?}"),
    }
}

/// What must have happened already.
fn now<T>(what: &str, work: impl Future<Output = T>) -> T {
    work.now_or_never().unwrap_or_else(|| panic!("{what} must have happened by now"))
}

/// What must not have happened.
fn not_now<T: Debug>(what: &str, work: impl Future<Output = T>) {
    if let Some(seen) = work.now_or_never() {
        panic!("{what} must not have happened, but gave {seen:?}");
    }
}

/// The path of a child.
fn below(directory: &str, name: &str) -> String {
    super::path::join(directory, name)
}
