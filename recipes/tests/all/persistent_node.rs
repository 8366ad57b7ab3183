//! Persistent nodes: there again after every loss, with the last data, and nobody else's znode is touched.

use crate::common::{Refusal, Stage, TIMEOUT, play, play_refusing};
use crate::supervisor::Service;
use futures_util::FutureExt;
use futures_util::future::select;
use sim_zk::fault::Fault;
use sim_zk::observer::Kind;
use sim_zk::{Connector, SimClient};
use std::time::Duration;
use zk_recipes::names::{Freshness, Names, NamesOptions};
use zk_recipes::supervisor::{Ended, Lifetime, PersistentNode, PersistentNodeOptions, Supervisor};
use zk_recipes::zk::{CreateMode, Data, Guid, Op, ZooKeeper};
use zk_recipes::{HoldState, LostReason};

const NODE: &str = "/services/api";
const PERMANENT: Lifetime = Lifetime::Permanent(Guid(7));
const SECOND: Duration = Duration::from_secs(1);

fn node(supervisor: &Supervisor<Connector>, lifetime: Lifetime) -> PersistentNode<Connector> {
    supervisor.persistent_node(NODE, b"1", PersistentNodeOptions::default().with_lifetime(lifetime))
}

/// A node of a process that keeps it there.
fn kept(a: &Service, lifetime: Lifetime) -> PersistentNode<Connector> {
    let node = node(&a.supervisor, lifetime);
    let runs = node.clone();
    drop(a.runs(async move { runs.run().await }));
    node
}

/// The znode as a client reads it: without the guid, if it is permanent.
async fn read(zk: &SimClient) -> Option<(Data, String)> {
    let data = zk.get(NODE).await.ok()?;
    let names = Names::new(zk, "/services", NamesOptions::default()).expect("a good path");
    let shown = names.resolve("api", Freshness::Latest).await.expect("it answers").expect("it is there");
    Some((data, String::from_utf8(shown.data).expect("it is text")))
}

async fn value(zk: &SimClient) -> Option<String> {
    read(zk).await.map(|(_, value)| value)
}

fn of_both_lifetimes<F: Future<Output = ()> + Send + 'static>(test: fn(Stage, Lifetime) -> F) {
    for lifetime in [Lifetime::Session, PERMANENT] {
        play(move |stage| test(stage, lifetime));
    }
}

#[test]
fn it_is_there_again_in_the_next_session_with_the_last_data() {
    of_both_lifetimes(|stage, lifetime| async move {
        let (a, b) = (Service::new(&stage, "a"), stage.client("b").await);
        let node = kept(&a, lifetime);
        assert!(!node.is_there());
        node.until_there().await;
        assert!(node.is_there());
        node.set(b"2").await.expect("it runs");
        let (before, shown) = read(&b.zk).await.expect("it is there");
        assert_eq!(shown, "2");
        a.process.inflict(Fault::ClientPartition, TIMEOUT * 2);
        a.sleeps(TIMEOUT - SECOND).await;
        assert!(!node.is_there(), "nobody knows");
        // While the session lives and has ended, and the next one is opened.
        let writes = node.clone();
        drop(a.runs(async move { writes.set(b"3").await }));
        a.sleeps(TIMEOUT).await;
        let meanwhile = value(&b.zk).await;
        assert_eq!(meanwhile, (lifetime == PERMANENT).then(|| "2".to_owned()));
        a.sleeps(TIMEOUT * 3).await;
        let (after, shown) = read(&b.zk).await.expect("it is there again");
        assert_eq!((shown.as_str(), a.supervisor.number()), ("3", 2));
        assert_eq!(after.stat.czxid == before.stat.czxid, lifetime == PERMANENT);
        assert!(node.is_there());
    });
}

#[test]
fn it_is_there_again_when_another_client_has_deleted_it_and_its_directory() {
    of_both_lifetimes(|stage, lifetime| async move {
        let (a, b) = (Service::new(&stage, "a"), stage.client("b").await);
        let node = kept(&a, lifetime);
        node.until_there().await;
        node.set(b"2").await.expect("it runs");
        for round in 0..10 {
            b.zk.delete(NODE, None).await.expect("it is there");
            // The directory, too, unless the owner was faster.
            let _ = b.zk.delete("/services", None).await;
            a.sleeps(SECOND).await;
            assert_eq!(value(&b.zk).await.as_deref(), Some("2"), "after deletion {round}");
        }
        assert_eq!(a.supervisor.number(), 1);
    });
}

#[test]
fn a_session_that_goes_on_after_its_deadline_keeps_its_znode() {
    of_both_lifetimes(|stage, lifetime| async move {
        let (a, b) = (Service::new(&stage, "a"), stage.client("b").await);
        let node = kept(&a, lifetime);
        node.until_there().await;
        let before = b.zk.get(NODE).await.expect("it is there").stat.czxid;
        // Its deadline comes a tenth of the timeout before the expiry.
        a.process.inflict(Fault::ClientPartition, TIMEOUT - TIMEOUT / 20);
        a.sleeps(TIMEOUT - TIMEOUT / 20).await;
        let session = a.supervisor.session().await.expect("it lives");
        assert_eq!(session.state(), HoldState::Lost(LostReason::DeadlinePassed));
        a.sleeps(TIMEOUT * 3).await;
        let after = b.zk.get(NODE).await.expect("it is there").stat.czxid;
        assert_eq!((before, a.supervisor.number()), (after, 1));
    });
}

#[test]
fn a_znode_of_somebody_else_is_waited_for_and_never_touched() {
    of_both_lifetimes(|stage, lifetime| async move {
        let b = stage.client("b").await;
        b.zk.create("/services", &[], CreateMode::Container).await.expect("it is created");
        for (mode, name) in [(CreateMode::Ephemeral, "a"), (CreateMode::Persistent, "c")] {
            let a = Service::new(&stage, name);
            b.zk.create(NODE, b"b's", mode).await.expect("it is created");
            let running = kept(&a, lifetime);
            let sets = running.clone();
            drop(a.runs(async move { sets.set(b"2").await }));
            a.sleeps(TIMEOUT * 3).await;
            a.expires();
            a.sleeps(TIMEOUT * 3).await;
            let theirs = b.zk.get(NODE).await.expect("it is there");
            assert!(theirs.data == b"b's" && theirs.stat.version == 0 && !running.is_there());
            b.zk.delete(NODE, None).await.expect("it is there");
            a.sleeps(SECOND).await;
            assert_eq!(value(&b.zk).await.as_deref(), Some("2"));
            // Somebody deletes it and is first again: the owner waits again.
            let own = b.zk.delete(NODE, None);
            let theirs = b.zk.create(NODE, b"b's", CreateMode::Ephemeral);
            own.await.expect("it is there");
            theirs.await.expect("it comes first");
            a.sleeps(TIMEOUT).await;
            assert!(b.zk.get(NODE).await.is_ok_and(|data| data.data == b"b's") && !running.is_there());
            a.supervisor.shutdown(TIMEOUT).await.expect("it ends");
            b.zk.delete(NODE, None).await.expect("it is there");
        }
    });
}

#[test]
fn a_permanent_one_outlives_its_process_and_its_owner_finds_it_by_the_guid() {
    play(|stage| async move {
        let (a, b) = (Service::new(&stage, "a"), stage.client("b").await);
        kept(&a, PERMANENT).until_there().await;
        let (before, _) = read(&b.zk).await.expect("it is there");
        a.supervisor.shutdown(TIMEOUT).await.expect("it ends");
        a.sleeps(TIMEOUT * 3).await;
        assert_eq!(read(&b.zk).await.map(|(data, _)| data.stat), Some(before.stat));
        // Another owner waits; the former one goes on, with other data.
        let stranger = Service::new(&stage, "c");
        let waits = kept(&stranger, Lifetime::Permanent(Guid(8)));
        let again = Service::new(&stage, "d");
        let owner = kept(&again, PERMANENT);
        owner.until_there().await;
        owner.set(b"2").await.expect("it runs");
        let (after, shown) = read(&b.zk).await.expect("it is there");
        assert!(shown == "2" && after.stat.czxid == before.stat.czxid && !waits.is_there());
        again.supervisor.shutdown(TIMEOUT).await.expect("it ends");
        let names = Names::new(&b.zk, "/services", NamesOptions::default()).expect("a good path");
        let own = names.registered("api", Guid(7)).await.expect("it answers").expect("it is there");
        assert!(own.unregister().await.expect("it answers"));
        waits.until_there().await;
        assert_eq!(value(&b.zk).await.as_deref(), Some("1"));
    });
}

#[test]
fn an_ephemeral_is_gone_when_its_run_is_dropped_at_any_moment() {
    play(|stage| async move {
        let a = Service::new(&stage, "a");
        let node = node(&a.supervisor, Lifetime::Session);
        for moment in 0..40 {
            let running = Box::pin(node.run());
            let soon = Box::pin(a.sleeps(Duration::from_millis(3 * moment)));
            drop(select(running, soon).await);
            assert!(!node.is_there());
            a.sleeps(SECOND).await;
            assert_eq!(a.znodes("/services"), 0, "dropped after {} ms", 3 * moment);
        }
        // A next node in the same session does not meet the clean-up of the one before.
        for moment in 0..40 {
            let node = self::node(&a.supervisor, Lifetime::Session);
            let running = Box::pin(node.run());
            let soon = Box::pin(a.sleeps(Duration::from_millis(3 * moment)));
            drop(select(running, soon).await);
        }
        let runs = node.clone();
        drop(a.runs(async move { runs.run().await }));
        a.sleeps(SECOND).await;
        assert_eq!(a.znodes("/services"), 1);
        a.sleeps(TIMEOUT * 3).await;
        assert_eq!(a.znodes("/services"), 1);
        a.supervisor.shutdown(TIMEOUT).await.expect("it ends");
        assert_eq!(a.znodes("/services"), 0);
    });
}

#[test]
fn it_costs_pings_while_calm_two_requests_a_session_and_three_a_set() {
    play(|stage| async move {
        let a = Service::new(&stage, "a");
        let node = kept(&a, Lifetime::Session);
        node.until_there().await;
        a.sleeps(SECOND).await;
        let calm = stage.mark();
        a.sleeps(TIMEOUT * 6).await;
        assert!(a.sent(&stage, calm).iter().all(|kind| *kind == Kind::Ping));
        let others = |mark| -> Vec<Kind> {
            a.sent(&stage, mark).into_iter().filter(|kind| *kind != Kind::Ping).collect()
        };
        let set = stage.mark();
        node.set(b"2").await.expect("it runs");
        a.sleeps(SECOND).await;
        // The read of its version, the write, and the watch again.
        assert_eq!(others(set), [Kind::Exists, Kind::Set, Kind::Get]);
        a.expires();
        a.sleeps(TIMEOUT * 3).await;
        let again = stage.mark();
        a.sleeps(TIMEOUT * 3).await;
        assert_eq!((others(again), a.supervisor.number()), (vec![Kind::Create, Kind::Get], 2));
    });
}

#[test]
fn data_that_a_server_fails_to_write_are_written_later() {
    for lifetime in [Lifetime::Session, PERMANENT] {
        let refusal = Refusal { fault: Fault::ServerError, kind: Kind::Set, at: 0 };
        let (_, refused) = play_refusing(None, refusal, move |stage, danger| async move {
            let a = Service::new(&stage, "a");
            let node = kept(&a, lifetime);
            node.until_there().await;
            danger.begins();
            let sets = node.clone();
            let set = a.runs(async move { sets.set(b"2").await });
            a.sleeps(SECOND).await;
            danger.ends();
            set.await.expect("it runs");
        });
        assert!(refused.requests > 0);
    }
}

#[test]
fn what_cannot_be_created_or_written_ends_it_with_the_reason() {
    play(|stage| async move {
        let a = Service::new(&stage, "a");
        for path in ["/top", "services/api", "/services/", "/services/a/../b"] {
            let bad = a.supervisor.persistent_node(path, b"", PersistentNodeOptions::default());
            let ended = bad.run().await;
            assert!(matches!(ended, Err(Ended::Recipe(error)) if error.is_bad_input()), "{path}");
        }
        let node = node(&a.supervisor, Lifetime::Session);
        let runs = node.clone();
        let running = a.runs(async move { runs.run().await });
        node.until_there().await;
        assert!(node.set(&vec![0; 2 << 20]).now_or_never().is_none());
        assert!(matches!(running.await, Err(Ended::Recipe(error)) if error.is_bad_input()));
        a.supervisor.shutdown(TIMEOUT).await.expect("it ends");
        assert!(node.set(b"").await.is_err_and(|ended| ended.is_shut_down()));
    });
}

/// As a create of a former session does that is applied late: the guid is right, and the data are old.
#[test]
fn what_a_late_create_puts_there_gets_the_last_data() {
    play(|stage| async move {
        let (a, b) = (Service::new(&stage, "a"), stage.client("b").await);
        let node = kept(&a, PERMANENT);
        node.set(b"2").await.expect("it runs");
        let (path, data) = (NODE.to_owned(), format!("{}\n1", Guid(7)).into_bytes());
        let gone = Op::Delete { path: path.clone(), version: None };
        let late = Op::Create { path, data, mode: CreateMode::Persistent };
        b.zk.multi(vec![gone, late]).await.expect("it is there");
        a.sleeps(SECOND).await;
        assert_eq!(value(&b.zk).await.as_deref(), Some("2"));
    });
}
