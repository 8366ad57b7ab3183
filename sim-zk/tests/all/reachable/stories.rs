//! Small stories that show an anomaly in some seeds.

use crate::common::{
    LIMIT, TIMEOUT, Tape, calm, hostile_ensemble, make, make_ephemeral, ms, until_back, wait,
};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use sim_zk::choose::{Rates, Seeded};
use sim_zk::fault::Fault;
use sim_zk::observer::SimEvent;
use sim_zk::{End, Sim};
use zk_recipes::zk::{CreateMode, EventKind, ZooKeeper};

/// Tries seeds with lost requests and replies, on one server and on three, until the story has returned true three
/// times.
fn told(name: &str, story: impl Fn(Sim) -> BoxFuture<'static, bool>) {
    let rates = Rates::NONE.with(Fault::ReplyLost, 0.03).with(Fault::RequestLost, 0.03);
    for servers in [1, 3] {
        let ended_so = |seed: &u64| {
            let chooser = Seeded::new(*seed, rates);
            let run = Sim::run(hostile_ensemble(servers, 2), LIMIT, chooser, Tape::default(), &story);
            assert_eq!(run.end, End::Done, "seed {seed} ends");
            run.output == Some(true)
        };
        let found = (0..1_000).filter(ended_so).take(3).count();
        assert_eq!(found, 3, "{name} is seen within 1,000 seeds on {servers} servers");
    }
}

/// A watcher is away while another client creates and deletes the znode. Returns whether the watch never fires.
async fn created_and_deleted(sim: Sim) -> bool {
    let (watcher, other) = (sim.process("watcher"), sim.process("other"));
    let (zk, actor) = (watcher.open(TIMEOUT).await, other.open(TIMEOUT).await);
    let Ok((None, mut watch)) = zk.exists_watch("/a").await else { return false };
    let busy = watcher.spawn({
        let zk = zk.clone();
        async move { drop(zk.sync("/").await) }
    });
    wait(&actor, ms(100)).await;
    let done = actor.create("/a", b"", CreateMode::Persistent).await.is_ok()
        && actor.delete("/a", None).await.is_ok();
    let _ = busy.await;
    sim.heal();
    sim.quiet().await;
    done && (&mut watch).now_or_never().is_none()
}

#[test]
fn a_znode_created_and_deleted_while_away_and_never_told() {
    told("a znode that was never told", |sim| Box::pin(created_and_deleted(sim)));
}

async fn deleted_and_made_again(sim: Sim) -> bool {
    let (watcher, other) = (sim.process("watcher"), sim.process("other"));
    let (zk, actor) = (watcher.open(TIMEOUT).await, other.open(TIMEOUT).await);
    if actor.create("/a", b"", CreateMode::Persistent).await.is_err() {
        return false;
    }
    let Ok((_, watch)) = zk.get_watch("/a").await else { return false };
    let busy = watcher.spawn({
        let zk = zk.clone();
        async move { drop(zk.sync("/").await) }
    });
    wait(&actor, ms(100)).await;
    let done = actor.delete("/a", None).await.is_ok()
        && actor.create("/a", b"", CreateMode::Persistent).await.is_ok();
    let _ = busy.await;
    done && watch.await.is_ok_and(|event| event.kind == EventKind::NodeDataChanged)
}

#[test]
fn a_znode_deleted_and_made_again_while_away_told_as_a_change() {
    told("a new znode told as a change of the old", |sim| Box::pin(deleted_and_made_again(sim)));
}

#[test]
fn ones_own_old_ephemeral_seen_by_ones_new_session() {
    let (_, tape) = calm(|sim| async move {
        let process = sim.process("a");
        let zk = process.open(TIMEOUT).await;
        make(&zk, "/dir").await;
        make_ephemeral(&zk, "/dir/e").await;
        process.inflict(Fault::ClientCrash, ms(0));
        let zk = sim.process("a again").open(TIMEOUT).await;
        let (old, gone) = zk.get_watch("/dir/e").await.expect("the old one is there");
        assert_ne!(old.stat.ephemeral_owner, zk.session());
        gone.await.expect("it fires");
        assert_eq!(make_ephemeral(&zk, "/dir/e").await.stat.ephemeral_owner, zk.session());
    });
    assert_eq!(tape.count(|h| matches!(h, SimEvent::Marked { .. })), 1);
}

/// Tries seeds on three servers until the story has returned true three times.
fn ends_so<F>(rates: Rates, story: impl Fn(Sim) -> F)
where
    F: Future<Output = bool> + Send + 'static,
{
    let ended_so = |seed: &u64| {
        let run = Sim::run(hostile_ensemble(3, 2), LIMIT, Seeded::new(*seed, rates), (), &story);
        assert_eq!(run.end, End::Done, "seed {seed} ends");
        run.output == Some(true)
    };
    assert_eq!((0..1_000).filter(ended_so).take(3).count(), 3, "within 1,000 seeds");
}

/// A client that only reads. Returns whether a read is answered after the leader has ended the session.
async fn answered_after_the_end(sim: Sim) -> bool {
    let (reader, other) = (sim.process("reader"), sim.process("other"));
    let (zk, busy) = (reader.open(TIMEOUT).await, other.open(TIMEOUT).await);
    for _ in 0..80 {
        // Keeps packets between the servers in flight.
        drop(busy.create("/a", b"", CreateMode::PersistentSequential));
        let session = zk.session();
        let over = sim.look(|world| !world.lives(session));
        match zk.exists("/").await {
            Ok(_) if over => return true,
            Ok(_) => wait(&zk, ms(250)).await,
            Err(_) => return false,
        }
    }
    false
}

#[test]
fn a_client_that_is_connected_and_answered_and_already_expired() {
    ends_so(Rates::NONE.with(Fault::ServerPartition, 0.02), answered_after_the_end);
}

/// A client is notified, loses the connection, and reads on another server. Returns whether the read is stale.
async fn reads_the_old_after_the_news(sim: Sim) -> bool {
    let (watcher, other) = (sim.process("watcher"), sim.process("other"));
    let (zk, actor) = (watcher.open(TIMEOUT).await, other.open(TIMEOUT).await);
    let (Ok(_), Ok(())) = (actor.create("/a", b"", CreateMode::Persistent).await, zk.sync("/").await) else {
        return false;
    };
    let Ok((old, watch)) = zk.get_watch("/a").await else { return false };
    drop(actor.set("/a", b"new", None));
    if watch.await.is_err() {
        return false;
    }
    watcher.order(Fault::RequestLost);
    let connection = zk.status().connection;
    let _ = zk.exists("/a").await;
    until_back(&zk, connection).await;
    zk.get("/a").await.is_ok_and(|read| read.stat.version == old.stat.version)
}

#[test]
fn a_read_older_than_a_notification_after_a_move() {
    ends_so(Rates::NONE.with(Fault::ApplyStall, 0.05), reads_the_old_after_the_news);
}
