//! The behaviour suite: the behaviour that every implementation of [`ZooKeeper`] must show, one function a rule.
//!
//! A simulation and a real ensemble run the same list, each from its own test:
//!
//! ```
//! use zk_suite as suite;
//!
//! async fn try_all<S: suite::Site>(site: &S) {
//!     for (name, rule) in suite::CASES {
//!         println!("{name}: {rule}");
//!         suite::run(site, name).await;
//!     }
//! }
//! ```
//!
//! # One promise, one case
//!
//! Every sentence in the documentation of [`ZooKeeper`] and of its types that promises a behaviour has a case here, which
//! fails if that promise is broken; a new promise comes with a new case. A case is given a connected session, which is
//! closed behind it, and the path of a fresh znode, its home. Sessions of one case may be connected with different servers:
//! before a case reads what another session wrote, it waits with a write of its own. The cases in `reconnects`, and the gap
//! of `trees`, break connections: see [`Site::cut`].
//!
//! The rules in [`UNDER_FAULTS`] hold under fault injection: a site may break any connection at any time, as long as
//! sessions reconnect within their timeout. The others need a stable connection, except for their own cuts.
//!
//! Some promises are not observable through the trait alone, and are tested elsewhere:
//!
//! * the number of round trips of pipelined requests, and the removal of a dropped watch at the server (its counts of
//!   packets and watches show both);
//! * a paused process, clock drift, and other faults beyond a broken connection;
//! * the reaping of containers (a server looks for empty ones once a minute);
//! * that a `sync` waits: it does at a follower only, and a session does not know its server's role;
//! * that a znode that is created and deleted during a disconnect stays unreported, since the session may reconnect before;
//! * that guids are unique (here: among three hundred), and clocks independent.
//!
//! A broken rule panics with what was observed. Rules use no runtime, and no clock but the trait's: an expected event times
//! out after [`LIMIT`] of the implementation's own time.

mod duties;
mod expiry;
mod faults;
mod input;
mod order;
mod reads;
mod reconnects;
mod sessions;
mod transactions;
mod trees;
mod watches;
mod writes;

use std::fmt::Debug;
use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use futures_util::future::{BoxFuture, Either, select};
use futures_util::{FutureExt, TryFutureExt};

use zk_recipes::zk::{CreateMode, Created, Error, ErrorKind, Event, EventKind, Op, Stat, Status, ZooKeeper};

/// The time limit of an expected event, by the implementation's own clock.
pub const LIMIT: Duration = Duration::from_secs(20);

/// The place where rules are tried: one ensemble, which may have other users.
pub trait Site: Sync {
    /// The implementation.
    type Zk: ZooKeeper;

    /// Opens a fresh session that is connected.
    fn open(&self) -> impl Future<Output = Self::Zk> + Send;

    /// Breaks the connection of a connected session from `open`. The session reconnects by itself, to any server. Resolves
    /// when the session has noticed the loss.
    fn cut(&self, zk: &Self::Zk) -> impl Future<Output = ()> + Send;

    /// Keeps a session from `open` disconnected until the ensemble has expired it, and lets it connect then. Resolves when
    /// the session knows its expiry.
    fn expire(&self, zk: &Self::Zk) -> impl Future<Output = ()> + Send;

    /// The path of a znode that does not exist and that no other user creates. Its parent exists.
    fn directory(&self) -> String;
}

macro_rules! under_faults {
    (@ [$($found:ident)*]) => { &[$(stringify!($found),)*] };
    (@ [$($found:ident)*] under_faults { $($name:ident)* } $($rest:tt)*) => {
        under_faults![@ [$($found)* $($name)*] $($rest)*]
    };
    (@ [$($found:ident)*] { $($name:ident)* } $($rest:tt)*) => { under_faults![@ [$($found)*] $($rest)*] };
    ($($all:tt)*) => { under_faults![@ [] $($all)*] };
}

macro_rules! cases {
    ($($module:ident $($under_faults:ident)? { $($name:ident: $rule:literal,)* })*) => {
        /// Every rule: its name and its text.
        pub const CASES: &[(&str, &str)] = &[$($((stringify!($name), $rule),)*)*];

        /// The names of the rules that hold while connections break.
        pub const UNDER_FAULTS: &[&str] = under_faults![$($($under_faults)? { $($name)* })*];

        /// Tries one rule by name.
        ///
        /// # Panics
        ///
        /// When the rule does not hold, with what was observed; and when there is no such rule.
        pub async fn run<S: Site>(site: &S, name: &str) {
            let (zk, home) = (site.open().await, site.directory());
            ensure(&zk, &home).await;
            match name {
                $($(stringify!($name) => $module::$name(site, &zk, &home).on_heap().await,)*)*
                _ => panic!("there is no rule {name:?}"),
            }
            let closed = zk.close(LIMIT).await;
            if !(UNDER_FAULTS.contains(&name) && closed == Err(ErrorKind::ConnectionLoss.into())) {
                must("close", closed);
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
        every_mode_does_what_it_says: "each mode has its name, owner, children and end; containers and all else stay",
        times_are_those_of_the_writes: "ctime is the time of the creation, mtime that of the last change of data",
        a_name_can_be_used_again: "a znode made again has a later czxid, and counts anew",
        writes_of_all_sessions_are_in_one_order: "a write called after another was answered has the larger zxid",
        one_of_two_creates_wins: "of two sessions that create one znode at once, one is told NodeExists",
    }
    reads {
        exists_tells_none: "exists tells the stat, or None, and is no error",
        a_missing_znode_cannot_be_read: "get and children of a missing znode are NoNode",
        children_are_names: "children are names, not paths, with the parent's stat",
        get_many_keeps_the_order: "get_many answers in the order of its paths, with None for what is missing",
        sync_answers: "a sync is answered, and a read behind it sees what another session was told is done",
        data_are_bytes: "data are any bytes, or none",
        get_many_tells_what_get_tells: "get_many tells the data and stats that get tells, behind the writes before it",
        a_listing_is_of_children_alone: "a listing has every child once, however many, and nothing else",
        a_read_with_a_watch_tells_what_one_without_tells: "a read answers the same with a watch and without",
        the_root_is_a_znode: "the root is always there, and can be read as any znode",
        a_sync_needs_no_znode: "a sync is answered whether or not its path exists",
        a_write_of_its_own_lets_a_session_catch_up: "a read behind a write sees what others were told is done before",
        a_read_of_nothing_is_a_request: "get_many without a path is answered in call order, and refused after close",
        any_number_of_znodes_can_be_read_at_once: "get_many takes more paths than fit into one request of a server",
    }
    input {
        bad_paths_are_refused: "a bad path is refused as bad input by every method, and the session lives on",
        bad_operations_are_refused: "a multi with a bad path is refused as bad input, whatever else is in it",
        only_a_sequential_name_may_end_in_a_slash: "`directory/` is a good path for a sequential create only",
        odd_paths_are_good: "dots, spaces and most of Unicode are good in names, and come back as they were",
        a_path_longer_than_a_request_is_refused: "a path that no server takes is refused as bad input by every method",
        too_much_data_is_refused: "a request larger than a server takes is refused as bad input",
        as_much_data_as_is_not_refused_is_written: "the largest write that is not refused is done, and can be read",
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
        a_refused_multi_tells_index_and_cause: "each kind of refusal has its cause, and the place of the first one",
        every_mode_can_be_made_by_a_multi: "a multi creates in every mode, and tells the names in order",
        a_multi_is_seen_whole: "another session sees all of a multi or nothing",
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
        a_watch_tells_the_first_change: "of several changes a watch tells the first that concerns it",
        a_delete_fires_all_that_it_concerns: "a delete fires data, exists and child watches, and the parent's",
        a_multi_fires_watches: "each operation of a multi fires what it would fire alone",
        what_changes_nothing_fires_nothing: "refused writes, checks, syncs and reads fire nothing",
        watches_of_one_kind_outlive_those_of_another: "dropping a data watch leaves a child watch, and the reverse",
        each_session_has_watches_of_its_own: "sessions that watch one path are all told",
    }
    trees {
        a_tree_watch_tells_every_change: "a tree watch tells all at and below its path, in order, before the answers",
        a_tree_watch_keeps_to_its_tree: "a tree watch tells nothing from beside or above, and needs no znode",
        a_tree_watch_sees_only_what_comes_later: "a tree watch tells nothing of what came before it was armed",
        a_tree_watch_tells_what_others_do: "a tree watch tells the writes of other sessions, in their order",
        a_tree_watch_tells_a_transaction_one_by_one: "a multi is told by its operations, a refused one not at all",
        tree_watches_do_not_disturb_each_other: "several tree watches are told everything, and end by themselves",
        a_tree_watch_goes_with_watches_below: "below a tree watch others fire as ever, and are dropped as ever",
        a_tree_watch_may_be_dropped_before_it_is_armed: "an unwanted tree watch does the others no harm",
        a_tree_watch_ends_with_its_session: "a tree watch tells SessionOver last, when its session closes",
        a_tree_watch_tells_a_gap_after_a_reconnect: "a tree watch tells one gap after a reconnect, and goes on",
    }
    sessions {
        an_idle_session_stays_safe: "a session that nobody calls is safe for longer than its timeout: answered pings count",
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
        ephemerals_go_in_one_transaction: "all ephemerals of a session that closes go with one zxid",
        what_is_over_can_be_closed: "closing twice, or beside another close, is Ok",
        a_close_that_is_not_awaited_changes_nothing: "a close that is dropped unpolled has not begun",
        a_session_that_is_closed_is_not_the_others: "the end of a session changes nothing for another",
        a_close_begins_when_it_is_polled: "the limit of a close counts from its first poll, not from the call",
    }
    expiry {
        an_expired_session_is_over_for_all: "after an expiry every request, watch and call is SessionOver(Expired)",
    }
    faults under_faults {
        every_request_ends_in_call_order: "a request ends: answered, or ConnectionLoss, and never before an earlier one",
        what_is_called_while_away_keeps_its_order: "requests called while away are applied in call order, or lost",
        what_is_lost_is_done_once_or_never: "a request without an answer is applied once or never, and never late",
        what_was_answered_is_never_contradicted: "a later answer is never older than an earlier one, over reconnects too",
        a_loss_shows_in_the_status: "a lost request is a lost connection, and every connection counts two changes",
        safe_until_is_never_too_late: "safe_until moves on with answers only, and not beyond a timeout from now",
        a_watch_misses_nothing: "a watch of any kind fires for the first change, however often the connection breaks",
        a_znode_made_again_while_away_is_told: "a znode that goes and comes again while away fires its watches",
        a_watch_is_told_before_the_answer_that_shows_it: "a watch is ready before a read shows its change, reconnects or not",
        a_watch_dropped_while_away_leaves_the_others: "a watch dropped while away takes no other watch along",
        a_tree_watch_and_its_gaps_miss_nothing: "events, and a listing behind each gap, show every znode",
        an_ephemeral_outlives_its_connections: "an ephemeral is the same after every reconnect",
        a_dropped_duty_is_done_in_the_end: "a duty that is dropped while connections break is done before close ends",
        a_close_ends_everything: "a close ends requests, watches and status, whether a connection is there or not",
    }
    reconnects {
        a_reconnect_is_counted: "a reconnect is one connection and two changes more, of the same session",
        ephemerals_outlive_a_connection: "an ephemeral is there after a reconnect, as it was told before",
        what_is_caught_by_a_cut_is_done_once_or_not_at_all: "a request without an answer is never sent again",
        requests_wait_for_a_connection_or_fail: "a request called while away is done later, or ConnectionLoss",
        watches_outlive_a_connection: "a watch tells what it missed after a reconnect, or is armed again",
        duties_outlive_a_connection: "a duty that is dropped while the session is away is done when it is back",
        a_reconnected_session_ends_as_any: "a session that has reconnected closes as any other",
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
        a_duty_behind_another_begins_when_that_is_done: "a duty that others wait behind is done before they begin",
        close_waits_for_duties: "close waits for duties that have begun",
        an_armed_duty_waits: "a duty that is armed and held does nothing, and close does not wait for it",
        a_duty_that_is_refused_is_done: "a duty that the server refuses is not tried for ever",
        a_fixed_duty_knows_its_own_by_the_session: "without a czxid, a fixed duty deletes what the session owns",
        a_duty_comes_behind_what_it_cleans_up: "a duty finds what was called before it and never awaited",
    }
}

/// Boxes a rule's future: a function with sixty of them would have a large one.
trait OnHeap: Future<Output = ()> + Sized {
    fn on_heap(self) -> std::pin::Pin<Box<Self>> {
        Box::pin(self)
    }
}

impl<F: Future<Output = ()>> OnHeap for F {}

/// Creates a persistent znode with a little data.
async fn make<Z: ZooKeeper>(zk: &Z, path: &str) -> Created {
    must("create", zk.create(path, b"data", CreateMode::Persistent).await)
}

/// Creates an ephemeral one.
async fn make_ephemeral<Z: ZooKeeper>(zk: &Z, path: &str) -> Created {
    must("create", zk.create(path, b"data", CreateMode::Ephemeral).await)
}

/// Ensures that a znode exists, whatever replies are lost.
async fn ensure<Z: ZooKeeper>(zk: &Z, path: &str) {
    insist("create", || async {
        match zk.create(path, b"data", CreateMode::Persistent).await {
            Err(e) if e.is_node_exists() => Ok(()),
            created => created.map(drop),
        }
    })
    .await;
}

/// Whether a znode exists.
async fn is_there<Z: ZooKeeper>(zk: &Z, path: &str) -> bool {
    must("exists", zk.exists(path).await).is_some()
}

/// The stat of a znode that the rule has created.
async fn stat_of<Z: ZooKeeper>(zk: &Z, path: &str) -> Stat {
    must("exists", zk.exists(path).await).unwrap_or_else(|| panic!("{path} was made"))
}

/// The names of the children, sorted.
async fn names_in<Z: ZooKeeper>(zk: &Z, path: &str) -> Vec<String> {
    let mut names = must("children", zk.children(path).await).names;
    names.sort();
    names
}

/// Calls every method on a path, each with its name.
fn every_method<Z: ZooKeeper>(
    zk: &Z,
    path: &str,
) -> Vec<(&'static str, BoxFuture<'static, Result<(), Error>>)> {
    let check = Op::Check { path: path.to_owned(), version: None };
    vec![
        ("create", zk.create(path, b"", CreateMode::Persistent).map_ok(drop).boxed()),
        ("delete", zk.delete(path, None).boxed()),
        ("set", zk.set(path, b"", None).map_ok(drop).boxed()),
        ("exists", zk.exists(path).map_ok(drop).boxed()),
        ("exists_watch", zk.exists_watch(path).map_ok(drop).boxed()),
        ("get", zk.get(path).map_ok(drop).boxed()),
        ("get_watch", zk.get_watch(path).map_ok(drop).boxed()),
        ("children", zk.children(path).map_ok(drop).boxed()),
        ("children_watch", zk.children_watch(path).map_ok(drop).boxed()),
        ("get_many", zk.get_many(&["/".to_owned(), path.to_owned()]).map_ok(drop).boxed()),
        ("multi", zk.multi(vec![check]).map_ok(drop).boxed()),
        ("sync", zk.sync(path).boxed()),
        ("watch_tree", zk.watch_tree(path).map_ok(drop).boxed()),
    ]
}

/// Every mode of a create.
const MODES: [CreateMode; 5] = [
    CreateMode::Persistent,
    CreateMode::PersistentSequential,
    CreateMode::Ephemeral,
    CreateMode::EphemeralSequential,
    CreateMode::Container,
];

/// Closes a session, so that a rule leaves only persistent znodes.
async fn close<Z: ZooKeeper>(zk: &Z) {
    must("close", zk.close(LIMIT).await);
}

/// Waits until reads here show completed writes of other sessions. By a write, which is a barrier at every server; a sync
/// is none at the leader.
async fn catch_up<Z: ZooKeeper>(zk: &Z) {
    must("multi", zk_recipes::zk::duty::settle(zk, "/").await);
}

/// Retries an idempotent request until a reply arrives.
async fn insist<T, F>(what: &str, ask: impl Fn() -> F) -> T
where
    F: Future<Output = Result<T, Error>>,
{
    loop {
        match ask().await {
            Err(e) if e.is_connection_loss() => {}
            result => return must(what, result),
        }
    }
}

/// Asserts that a watch fires soon, for that change.
async fn tells<Z: ZooKeeper>(zk: &Z, watch: Z::Watch, kind: EventKind, path: &str) {
    let what = format!("{kind:?} of {path}");
    let event = must("the watch", soon(zk, &what, watch).await);
    assert_eq!(event, Event { kind, path: path.to_owned() });
}

/// Breaks the connection, and waits for another one.
async fn reconnect<S: Site>(site: &S, zk: &S::Zk) {
    let before = zk.status();
    site.cut(zk).await;
    back(zk, before).await;
}

/// Waits until a session is connected again after the connection of `before`.
async fn back<Z: ZooKeeper>(zk: &Z, before: Status) {
    let mut status = zk.status();
    while !status.is_connected() || status.connection == before.connection {
        status = soon(zk, "another connection", zk.changed(status)).await;
    }
}

/// Unwraps a success.
fn must<T>(what: &str, result: Result<T, Error>) -> T {
    result.unwrap_or_else(|e| panic!("{what} must succeed, but: {e}"))
}

/// Asserts a refusal.
fn refused<T: Debug>(what: &str, result: Result<T, Error>, expected: ErrorKind) {
    match result {
        Err(e) if e == expected => {}
        other => panic!("{what} must be refused ({expected}), but gave {other:?}"),
    }
}

/// Asserts that `work` resolves within [`LIMIT`].
async fn soon<Z: ZooKeeper, T>(zk: &Z, what: &str, work: impl Future<Output = T>) -> T {
    let limit = zk.sleep_until(zk.now() + LIMIT);
    match select(pin!(work), pin!(limit)).await {
        Either::Left((done, _)) => done,
        Either::Right(_) => panic!("{what} must happen, but has not within {LIMIT:?}"),
    }
}

/// Asserts that `work` has resolved.
fn now<T>(what: &str, work: impl Future<Output = T>) -> T {
    work.now_or_never().unwrap_or_else(|| panic!("{what} must have happened by now"))
}

/// Asserts that `work` has not resolved.
fn not_now<T: Debug>(what: &str, work: impl Future<Output = T>) {
    if let Some(seen) = work.now_or_never() {
        panic!("{what} must not have happened, but gave {seen:?}");
    }
}

/// The path of a child.
fn below(directory: &str, name: &str) -> String {
    zk_recipes::zk::path::join(directory, name)
}
