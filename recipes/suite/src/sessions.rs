//! A session: its ephemerals, its status, its clock, its end.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::future::join;

use super::{
    LIMIT, Site, below, catch_up, close, every_method, make, make_ephemeral, must, names_in, not_now, now,
    refused, soon, stat_of,
};
use zk_recipes::zk::{CreateMode, Duty, ErrorKind, Over, Runtime, SessionId, State, Time, ZooKeeper};

const CLOSED: ErrorKind = ErrorKind::SessionOver(Over::Closed);

pub(super) async fn a_session_owns_its_ephemerals<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    let other = site.open().await;
    assert_ne!(zk.session(), other.session());
    assert_ne!(zk.session(), SessionId::default());
    let mine = make_ephemeral(zk, &below(home, "mine")).await;
    let others = make_ephemeral(&other, &below(home, "other")).await;
    let nobodys = make(zk, &below(home, "nobody")).await;
    assert_eq!(mine.stat.ephemeral_owner, zk.session());
    assert_eq!(others.stat.ephemeral_owner, other.session());
    assert_eq!(nobodys.stat.ephemeral_owner, SessionId::default());
    close(&other).await;
}

pub(super) async fn ephemerals_go_with_their_session<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    let other = site.open().await;
    make_ephemeral(zk, &below(home, "mine")).await;
    make_ephemeral(&other, &below(home, "e")).await;
    must("create", other.create(&below(home, "s-"), b"", CreateMode::EphemeralSequential).await);
    make(&other, &below(home, "stays")).await;
    close(&other).await;
    catch_up(zk).await;
    assert_eq!(names_in(zk, home).await, ["mine", "stays"]);
}

pub(super) async fn an_idle_session_stays_safe<S: Site>(_: &S, zk: &S::Zk, _: &str) {
    let (begun, status, first) = (zk.now(), zk.status(), zk.safe_until());
    assert!(begun < first && first <= begun + zk.timeout(), "safe from {begun:?} until {first:?}");
    // The handle is idle meanwhile.
    zk.sleep_until(first).await;
    let later = zk.safe_until();
    assert_eq!(zk.status(), status, "the connection was there all the time");
    // A ping is sent after a third of the timeout; one may be delayed by the scheduler.
    assert!(first + zk.timeout() / 3 <= later, "after {first:?} it is safe until {later:?}");
}

pub(super) async fn status_tells_a_connection<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let status = zk.status();
    assert_eq!(status.state, State::Connected);
    assert!(status.is_connected() && status.over().is_none() && status.connection >= 1, "{status:?}");
    must("exists", zk.exists(home).await);
    assert_eq!(zk.clone().status(), status, "nothing has happened");
}

pub(super) async fn changed_waits_for_a_change<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let seen = zk.status();
    let mut waiting = Box::pin(zk.changed(seen));
    not_now("a change", &mut waiting);
    must("exists", zk.exists(home).await);
    not_now("a change", &mut waiting);
    for other in [
        zk_recipes::zk::Status { state: State::Suspended, ..seen },
        zk_recipes::zk::Status { connection: seen.connection + 1, ..seen },
        zk_recipes::zk::Status { changes: seen.changes + 1, ..seen },
    ] {
        assert_eq!(now("the change from another status", zk.changed(other)), seen);
    }
}

pub(super) async fn guids_differ<S: Site>(site: &S, _: &S::Zk, _: &str) {
    let (one, two) = (site.open().await, site.open().await);
    let guids: BTreeSet<_> = (0..100).flat_map(|_| [one.guid(), two.guid(), one.clone().guid()]).collect();
    assert_eq!(guids.len(), 300, "no guid comes twice");
    for guid in guids {
        let text = guid.to_string();
        let hex = text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        assert!(text.len() == 32 && hex, "{text}");
    }
    close(&one).await;
    close(&two).await;
}

pub(super) async fn sleep_until_waits<S: Site>(_: &S, zk: &S::Zk, _: &str) {
    let start = zk.now();
    let until = start + Duration::from_millis(30);
    zk.sleep_until(until).await;
    assert!(zk.now() >= until, "awake at {:?}, asked for {until:?}", zk.now());
    soon(zk, "waking for what is past", zk.sleep_until(start)).await;
    soon(zk, "waking for the clock's start", zk.sleep_until(Time::default())).await;
    let mut never = Box::pin(zk.sleep_until(Time::NEVER));
    not_now("the end of time", &mut never);
    assert!(zk.now() >= until, "a clock does not go back");
}

pub(super) async fn safe_until_follows_answers<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    assert!(zk.timeout() > Duration::ZERO);
    zk.sleep_until(zk.now() + Duration::from_millis(20)).await;
    let before = zk.now();
    let request = zk.exists(home);
    let after = zk.now();
    must("exists", request.await);
    let safe = zk.safe_until();
    assert!(
        safe >= before + zk.timeout(),
        "sent after {before:?} and answered, but safe until {safe:?} only"
    );
    assert!(
        safe <= after + zk.timeout(),
        "sent before {after:?}, but safe until {safe:?}: the sending counts"
    );
}

pub(super) async fn nothing_is_sent_after_close<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let before = zk.status();
    close(&zk.clone()).await;
    let after = zk.status();
    assert_eq!((after.state, after.over()), (State::Over(Over::Closed), Some(CLOSED.into())));
    assert!(after.changes > before.changes, "{before:?}, then {after:?}");
    for (method, answer) in every_method(zk, home) {
        refused(method, answer.await, CLOSED);
    }
}

pub(super) async fn close_ends_watches<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let (_, data) = must("get_watch", zk.get_watch(home).await);
    let (_, children) = must("children_watch", zk.children_watch(home).await);
    let (_, missing) = must("exists_watch", zk.exists_watch(&below(home, "no")).await);
    close(zk).await;
    refused("a data watch", soon(zk, "its end", data).await, CLOSED);
    refused("a child watch", soon(zk, "its end", children).await, CLOSED);
    refused("an exists watch", soon(zk, "its end", missing).await, CLOSED);
}

pub(super) async fn close_ends_changed<S: Site>(_: &S, zk: &S::Zk, _: &str) {
    let seen = zk.status();
    let (closed, mut status) = join(zk.close(LIMIT), zk.changed(seen)).await;
    must("close", closed);
    while status.over().is_none() {
        status = soon(zk, "the end of the session", zk.changed(status)).await;
    }
    assert_eq!(status.state, State::Over(Over::Closed));
}

pub(super) async fn what_was_sent_before_close_is_done<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    let other = site.open().await;
    let create = other.create(&below(home, "a"), b"", CreateMode::Persistent);
    let set = other.set(home, b"new", None);
    close(&other).await;
    // The answers may be lost with the session, the requests are not.
    for answer in [create.await.map(drop), set.await.map(drop)] {
        assert!(answer.as_ref().err().is_none_or(|e| *e == CLOSED), "{answer:?}");
    }
    catch_up(zk).await;
    let listing = must("children", zk.children(home).await);
    assert_eq!((listing.names.as_slice(), listing.stat.version), (["a".to_owned()].as_slice(), 1));
}

pub(super) async fn ephemerals_go_in_one_transaction<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    let other = site.open().await;
    let [a, b] = ["a", "b"].map(|name| below(home, name));
    for parent in [&a, &b] {
        make(zk, parent).await;
        make_ephemeral(&other, &below(parent, "e")).await;
    }
    close(&other).await;
    let last = make(zk, &below(home, "last")).await.stat.czxid;
    let (a, b) = (zk.exists(&a), zk.exists(&b));
    let a = must("exists", a.await).expect("the first parent was made");
    let b = must("exists", b.await).expect("the second parent was made");
    assert_eq!((a.num_children, b.num_children), (0, 0));
    assert_eq!(a.pzxid, b.pzxid, "one end, one zxid");
    assert!(a.pzxid < last, "and it is one of the writes");
}

pub(super) async fn what_is_over_can_be_closed<S: Site>(_: &S, zk: &S::Zk, _: &str) {
    let (one, two) = join(zk.close(LIMIT), zk.clone().close(LIMIT)).await;
    must("close", one);
    must("a close beside it", two);
    let over = zk.status();
    must("a close after it", zk.close(LIMIT).await);
    assert_eq!(zk.status(), over, "nothing more happens");
}

pub(super) async fn a_close_that_is_not_awaited_changes_nothing<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let before = zk.status();
    drop(zk.close(LIMIT));
    must("exists", zk.exists(home).await);
    assert_eq!(zk.status(), before);
}

pub(super) async fn a_session_that_is_closed_is_not_the_others<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    let other = site.open().await;
    let (_, mut watch) = must("get_watch", zk.get_watch(home).await);
    let before = zk.status();
    close(&other).await;
    catch_up(zk).await;
    not_now("the end of another session's watch", &mut watch);
    assert_eq!(zk.status(), before);
}

pub(super) async fn a_close_begins_when_it_is_polled<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    let other = site.open().await;
    let limit = Duration::from_secs(5);
    let closing = other.close(limit);
    zk.sleep_until(zk.now() + limit).await;
    // A duty of several round trips, and beside it a znode that the end of the session takes along.
    let (first, last) = (below(home, "first"), below(home, "last"));
    make(&other, &first).await;
    make(&other, &last).await;
    let (guid, connection) = (other.guid().to_string(), other.status().connection);
    let own = below(&first, &format!("{guid}-lock-"));
    must("create", other.create(&own, b"", CreateMode::EphemeralSequential).await);
    make_ephemeral(&other, &below(&last, "e")).await;
    drop(other.arm(Duty::Guid { directory: first.clone(), guid, connection }));
    must("close", closing.await);
    catch_up(zk).await;
    let (first, last) = (stat_of(zk, &first).await, stat_of(zk, &last).await);
    assert!(
        first.pzxid < last.pzxid,
        "the close did not wait for the duty: its limit counted from the call: {first:?}, {last:?}"
    );
}
