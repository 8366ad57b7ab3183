//! Rules that hold under fault injection, while the session lives.
//!
//! Each rule also cuts connections itself, so it tests something without other faults. Retried requests are idempotent;
//! others are sent once and judged by their effect.

use std::collections::BTreeSet;
use std::fmt::Debug;

use futures_util::future::{BoxFuture, join};
use futures_util::{FutureExt, StreamExt, TryFutureExt};

use super::{LIMIT, Site, below, ensure, insist, must, now, refused, soon, tells};
use zk_recipes::zk::{
    CreateMode, Duty, Error, ErrorKind, Event, EventKind, Op, Over, Runtime, State, Status, TreeEvent,
    ZooKeeper, duty,
};

const ROUNDS: usize = 4;

const CLOSED: ErrorKind = ErrorKind::SessionOver(Over::Closed);

/// Ensures that a znode does not exist.
async fn delete<Z: ZooKeeper>(zk: &Z, path: &str) {
    insist("delete", || async {
        match zk.delete(path, None).await {
            Err(e) if e.is_no_node() => Ok(()),
            deleted => deleted,
        }
    })
    .await;
}

/// Waits until reads here show completed writes of other sessions.
async fn catch_up<Z: ZooKeeper>(zk: &Z) {
    insist("multi", || duty::settle(zk, "/")).await;
}

/// Closes a session. The reply may be lost; the session is over all the same.
async fn end<Z: ZooKeeper>(zk: &Z) {
    is_lost(&zk.close(LIMIT).await);
}

/// Cuts the connection every second time.
async fn cut_now_and_then<S: Site>(site: &S, zk: &S::Zk, round: usize) {
    if round.is_multiple_of(2) {
        site.cut(zk).await;
    }
}

/// Whether the reply was lost: a good request fails in no other way.
fn is_lost<T: Debug>(answer: &Result<T, Error>) -> bool {
    match answer {
        Ok(_) => false,
        Err(e) if e.is_connection_loss() => true,
        Err(other) => panic!("a request must be answered or lost, but: {other}"),
    }
}

/// One request of each kind, and whether it works.
fn flight<Z: ZooKeeper>(zk: &Z, path: &str) -> Vec<BoxFuture<'static, Result<(), Error>>> {
    let check = Op::Check { path: path.to_owned(), version: None };
    vec![
        zk.set(path, b"new", None).map_ok(drop).boxed(),
        zk.exists(path).map_ok(drop).boxed(),
        zk.create(&format!("{path}/s-"), b"", CreateMode::PersistentSequential).map_ok(drop).boxed(),
        zk.get(path).map_ok(drop).boxed(),
        zk.get_many(&[path.to_owned(), path.to_owned()]).map_ok(drop).boxed(),
        zk.multi(vec![check]).map_ok(drop).boxed(),
        zk.children(path).map_ok(drop).boxed(),
        zk.get_watch(path).map_ok(drop).boxed(),
        zk.sync(path).map_ok(drop).boxed(),
    ]
}

pub(super) async fn every_request_ends_in_call_order<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    let session = zk.session();
    for round in 0..ROUNDS {
        let mut called: Vec<_> = (0..3).flat_map(|_| flight(zk, home)).collect();
        cut_now_and_then(site, zk, round).await;
        let last = called.pop().expect("a flight has requests");
        is_lost(&soon(zk, "the end of the last request", last).await);
        for (at, earlier) in called.into_iter().enumerate() {
            is_lost(&now(&format!("the end of request {at}, called before the last one,"), earlier));
        }
    }
    assert_eq!((zk.session(), zk.status().over()), (session, None), "the session outlives its connections");
}

pub(super) async fn what_is_called_while_away_keeps_its_order<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    let prefix = below(home, "s-");
    let mut answered = Vec::new();
    for _ in 0..ROUNDS {
        site.cut(zk).await;
        let mut called: Vec<_> =
            (0..5).map(|_| zk.create(&prefix, b"", CreateMode::PersistentSequential)).collect();
        let last = called.pop().expect("five were called");
        let last = soon(zk, "the end of the last request", last).await;
        let earlier = called.into_iter().map(|created| now("the end of an earlier request", created));
        for created in earlier.collect::<Vec<_>>().into_iter().chain([last]) {
            if !is_lost(&created) {
                answered.push(must("create", created).path);
            }
        }
    }
    assert!(answered.is_sorted(), "the numbers grow in call order: {answered:?}");
}

pub(super) async fn what_is_lost_is_done_once_or_never<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    const FLIGHT: usize = 5;
    let prefix = below(home, "s-");
    let mut answered = Vec::new();
    for round in 0..ROUNDS {
        let create = |_| zk.create(&prefix, b"", CreateMode::PersistentSequential);
        let called: Vec<_> = (0..FLIGHT).map(create).collect();
        cut_now_and_then(site, zk, round).await;
        for created in called {
            let created = soon(zk, "the end of a create", created).await;
            if !is_lost(&created) {
                answered.push(must("create", created).path);
            }
        }
    }
    let listed = async || {
        catch_up(zk).await;
        let mut names = insist("children", || zk.children(home)).await.names;
        names.sort();
        names
    };
    let names = listed().await;
    assert!((answered.len()..=FLIGHT * ROUNDS).contains(&names.len()), "{answered:?} of {names:?}");
    assert!(answered.is_sorted(), "the numbers grow in call order: {answered:?}");
    for path in &answered {
        assert!(names.iter().any(|name| path.ends_with(name.as_str())), "{path} is not among {names:?}");
    }
    assert_eq!(listed().await, names, "nothing arrives behind an answer");
}

pub(super) async fn what_was_answered_is_never_contradicted<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    let other = site.open().await;
    let mut seen = (0, 0);
    for round in 0..ROUNDS * 3 {
        let calls = (zk.set(home, b"own", None), other.set(home, b"other", None), zk.get(home));
        cut_now_and_then(site, zk, round / 3).await;
        if let Ok(stat) = soon(zk, "the end of a set", calls.0).await {
            seen = seen.max((stat.version, stat.mzxid));
        }
        is_lost(&soon(&other, "the end of the other's set", calls.1).await);
        for read in [calls.2.boxed(), zk.get(home).boxed()] {
            let read = soon(zk, "the end of a read", read).await;
            if !is_lost(&read) {
                let stat = must("get", read).stat;
                assert!((stat.version, stat.mzxid) >= seen, "{stat:?} after {seen:?}");
                seen = (stat.version, stat.mzxid);
            }
        }
    }
    end(&other).await;
}

/// A consistent status: each connection and each loss counts as one change.
fn counted(status: Status) -> Status {
    let changes = match status.state {
        State::Connected => status.connection * 2 - 1,
        State::Suspended => status.connection * 2,
        State::Over(_) => panic!("the session outlives its connections"),
    };
    assert_eq!(status.changes, changes, "{status:?}");
    status
}

pub(super) async fn a_loss_shows_in_the_status<S: Site>(site: &S, zk: &S::Zk, _: &str) {
    for round in 0..ROUNDS {
        let before = counted(zk.status());
        let called: Vec<_> = (0..5).map(|_| zk.sync("/")).collect();
        cut_now_and_then(site, zk, round).await;
        for synced in called {
            let lost = is_lost(&soon(zk, "the end of a sync", synced).await);
            let after = counted(zk.status());
            assert!((after.changes, after.connection) >= (before.changes, before.connection));
            // An attempt that fails is no change: the session had no connection.
            let shows = after.changes > before.changes || !before.is_connected();
            assert!(shows || !lost, "lost, and still {after:?}");
        }
        let mut status = zk.status();
        while !counted(status).is_connected() {
            status = soon(zk, "another connection", zk.changed(status)).await;
        }
    }
}

pub(super) async fn safe_until_is_never_too_late<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    let mut last = zk.safe_until();
    for round in 0..ROUNDS {
        let before = zk.now();
        let called = zk.exists(home);
        cut_now_and_then(site, zk, round).await;
        let lost = is_lost(&soon(zk, "the end of a read", called).await);
        let (safe, now) = (zk.safe_until(), zk.now());
        assert!(last <= safe, "safe until {last:?}, and later until {safe:?} only");
        assert!(safe <= now + zk.timeout(), "safe until {safe:?}, which nobody can know at {now:?}");
        assert!(lost || before + zk.timeout() <= safe, "answered, called at {before:?}, safe until {safe:?}");
        last = safe;
    }
}

pub(super) async fn a_watch_misses_nothing<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    let other = site.open().await;
    for round in 0..ROUNDS {
        let [set, late, doomed] =
            ["set", "late", "doomed"].map(|name| below(home, &format!("{name}-{round}")));
        ensure(zk, &set).await;
        ensure(zk, &doomed).await;
        let (_, data) = insist("get_watch", || zk.get_watch(&set)).await;
        let (_, stat) = insist("exists_watch", || zk.exists_watch(&set)).await;
        let (_, end) = insist("get_watch", || zk.get_watch(&doomed)).await;
        let (_, end_of_parent) = insist("children_watch", || zk.children_watch(&doomed)).await;
        let (_, children) = insist("children_watch", || zk.children_watch(home)).await;
        let (absent, made) = insist("exists_watch", || zk.exists_watch(&late)).await;
        assert_eq!(absent, None);
        cut_now_and_then(site, zk, round).await;
        insist("set", || other.set(&set, b"new", None)).await;
        ensure(&other, &late).await;
        delete(&other, &doomed).await;
        tells(zk, data, EventKind::NodeDataChanged, &set).await;
        tells(zk, stat, EventKind::NodeDataChanged, &set).await;
        tells(zk, end, EventKind::NodeDeleted, &doomed).await;
        tells(zk, end_of_parent, EventKind::NodeDeleted, &doomed).await;
        tells(zk, children, EventKind::NodeChildrenChanged, home).await;
        tells(zk, made, EventKind::NodeCreated, &late).await;
    }
    end(&other).await;
}

pub(super) async fn a_znode_made_again_while_away_is_told<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    let other = site.open().await;
    for round in 0..ROUNDS {
        let path = below(home, &format!("{round}"));
        ensure(zk, &path).await;
        let (_, data) = insist("get_watch", || zk.get_watch(&path)).await;
        let (_, stat) = insist("exists_watch", || zk.exists_watch(&path)).await;
        let (_, children) = insist("children_watch", || zk.children_watch(&path)).await;
        cut_now_and_then(site, zk, round).await;
        delete(&other, &path).await;
        ensure(&other, &path).await;
        // A server that compares zxids afterwards sees a change; one that was connected in between, the deletion.
        for (watch, missed) in [
            (data, EventKind::NodeDataChanged),
            (stat, EventKind::NodeDataChanged),
            (children, EventKind::NodeChildrenChanged),
        ] {
            let event = must("the watch", soon(zk, "the event of a znode that was made again", watch).await);
            assert!(
                [EventKind::NodeDeleted, missed].contains(&event.kind) && event.path == path,
                "{event:?}"
            );
        }
    }
    end(&other).await;
}

pub(super) async fn a_watch_is_told_before_the_answer_that_shows_it<S: Site>(
    site: &S,
    zk: &S::Zk,
    home: &str,
) {
    let other = site.open().await;
    for round in 0..ROUNDS {
        let (armed, watch) = insist("get_watch", || zk.get_watch(home)).await;
        cut_now_and_then(site, zk, round).await;
        insist("set", || other.set(home, b"new", None)).await;
        catch_up(zk).await;
        let found = insist("get", || zk.get(home)).await;
        assert!(found.stat.version > armed.stat.version, "{found:?} behind a write");
        must("the watch", now("the event that the read shows", watch));
    }
    end(&other).await;
}

pub(super) async fn a_watch_dropped_while_away_leaves_the_others<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    let other = site.open().await;
    for round in 0..ROUNDS {
        let path = below(home, &format!("{round}"));
        ensure(zk, &path).await;
        let (_, dropped) = insist("get_watch", || zk.get_watch(&path)).await;
        let (_, kept) = insist("get_watch", || zk.get_watch(&path)).await;
        let (_, also_dropped) = insist("children_watch", || zk.children_watch(&path)).await;
        cut_now_and_then(site, zk, round).await;
        drop((dropped, also_dropped));
        let (_, children) = insist("children_watch", || zk.children_watch(&path)).await;
        insist("set", || other.set(&path, b"new", None)).await;
        ensure(&other, &below(&path, "child")).await;
        tells(zk, kept, EventKind::NodeDataChanged, &path).await;
        tells(zk, children, EventKind::NodeChildrenChanged, &path).await;
    }
    end(&other).await;
}

pub(super) async fn a_tree_watch_and_its_gaps_miss_nothing<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    const ZNODES: usize = ROUNDS * 3;
    let other = site.open().await;
    let mut tree = insist("watch_tree", || zk.watch_tree(home)).await;
    let makes = async {
        for number in 0..ZNODES {
            ensure(&other, &below(home, &format!("{number}"))).await;
            if number % 4 == 2 {
                site.cut(zk).await;
            }
        }
    };
    let reads = async {
        let mut known = BTreeSet::new();
        while known.len() < ZNODES {
            let told = soon(zk, "an event or a gap", tree.next()).await.expect("the watch goes on");
            match must("the watch", told) {
                TreeEvent::Gap => known.extend(insist("children", || zk.children(home)).await.names),
                TreeEvent::Changed(Event { kind: EventKind::NodeCreated, path }) => {
                    known.insert(path.rsplit('/').next().expect("a path has a name").to_owned());
                }
                other => panic!("nothing but creations happens here: {other:?}"),
            }
        }
    };
    join(makes, reads).await;
    end(&other).await;
}

pub(super) async fn an_ephemeral_outlives_its_connections<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    let path = below(home, "e");
    let created = zk.create(&path, b"", CreateMode::Ephemeral);
    site.cut(zk).await;
    if is_lost(&created.await) {
        insist("create", || async {
            match zk.create(&path, b"", CreateMode::Ephemeral).await {
                Err(e) if e.is_node_exists() => Ok(()),
                created => created.map(drop),
            }
        })
        .await;
    }
    let made = insist("exists", || zk.exists(&path)).await.expect("it was made");
    assert_eq!(made.ephemeral_owner, zk.session());
    for round in 0..ROUNDS {
        cut_now_and_then(site, zk, round).await;
        let found = insist("exists", || zk.exists(&path)).await;
        assert_eq!(found, Some(made));
    }
}

pub(super) async fn a_dropped_duty_is_done_in_the_end<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    let other = site.open().await;
    for round in 0..ROUNDS {
        let path = below(home, &format!("{round}"));
        let armed = zk.arm(Duty::Path(path.clone()));
        let created = zk.create(&path, b"", CreateMode::Persistent);
        cut_now_and_then(site, zk, round).await;
        if round % 3 == 0 {
            is_lost(&created.await);
        }
        drop(armed);
    }
    end(zk).await;
    catch_up(&other).await;
    let left = insist("children", || other.children(home)).await.names;
    assert_eq!(left, [""; 0], "close has waited for the duties");
    end(&other).await;
}

pub(super) async fn a_close_ends_everything<S: Site>(site: &S, other: &S::Zk, home: &str) {
    let quiet = below(home, "quiet");
    ensure(other, &quiet).await;
    for is_away in [false, true] {
        let zk = site.open().await;
        catch_up(&zk).await;
        let (_, watch) = insist("get_watch", || zk.get_watch(&quiet)).await;
        let mut tree = insist("watch_tree", || zk.watch_tree(&below(&quiet, "tree"))).await;
        let own = below(home, if is_away { "away" } else { "there" });
        let called = flight(&zk, home);
        let created = zk.create(&own, b"", CreateMode::Ephemeral);
        if is_away {
            site.cut(&zk).await;
        }
        let changed = zk.changed(zk.status());
        is_lost(&zk.close(LIMIT).await);
        assert_eq!(zk.status().state, State::Over(Over::Closed));
        now("the change of status", changed);
        for answer in called.into_iter().chain([created.map_ok(drop).boxed()]) {
            let answer = now("the end of a request called before", answer);
            assert!(
                answer.as_ref().err().is_none_or(|e| e.is_connection_loss() || *e == CLOSED),
                "{answer:?}"
            );
        }
        refused("the watch", now("its end", watch), CLOSED);
        let mut told = Vec::new();
        while let Some(event) = now("the end of the tree watch", tree.next()) {
            told.push(event);
        }
        assert_eq!(told.last(), Some(&Err(CLOSED.into())));
        refused("a request", zk.exists(&quiet).await, CLOSED);
        must("a second close", zk.close(LIMIT).await);
        // By its expiry at the latest.
        catch_up(other).await;
        let (found, gone) = insist("exists_watch", || other.exists_watch(&own)).await;
        if found.is_some() {
            tells(other, gone, EventKind::NodeDeleted, &own).await;
        }
    }
}
