//! The shared lock: who waits for whom, whom a release wakes, downgrades, and what becomes of it all when messages are lost
//! and futures are dropped.

use crate::common::bent::Bent;
use crate::common::every_await::at_every_await;
use crate::common::{
    Client, DIRECTORY, Drops, RECONNECT, Refusal, Stage, TIMEOUT, dropping, play, play_refusing, play_struck,
};
use futures_util::FutureExt;
use sim_zk::SimClient;
use sim_zk::fault::Fault;
use sim_zk::observer::{Kind, SimEvent};
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;
use zk_recipes::zk::{CreateMode, Error, ErrorKind, Op, ZooKeeper, path};
use zk_recipes::{
    Guard, HoldState, LostReason, Naming, NotDowngraded, Parents, Released, SharedLock, SharedLockOptions,
    guard,
};

type Read = Guard<SimClient, guard::Read>;
type Write = Guard<SimClient, guard::Write>;
type Asking<G> = Pin<Box<dyn Future<Output = Result<G, Error>> + Send>>;

fn shared_with(client: &Client, options: SharedLockOptions) -> SharedLock<SimClient> {
    SharedLock::new(&client.zk, DIRECTORY, options).expect("the path is good")
}

fn shared(client: &Client) -> SharedLock<SimClient> {
    shared_with(client, SharedLockOptions::default())
}

async fn reads(client: &Client) -> Read {
    shared(client).read().await.expect("the lock is granted")
}

async fn writes(client: &Client) -> Write {
    shared(client).write().await.expect("the lock is granted")
}

/// Begins to wait, in the client's own process.
fn wants_to_read(client: &Client) -> Asking<Read> {
    let lock = shared(client);
    let asking = client.process.spawn(async move { lock.read().await });
    Box::pin(async move { asking.await.expect("its process lives") })
}

fn wants_to_write(client: &Client) -> Asking<Write> {
    let lock = shared(client);
    let asking = client.process.spawn(async move { lock.write().await });
    Box::pin(async move { asking.await.expect("its process lives") })
}

fn waits<G>(asking: &mut Asking<G>) -> bool {
    asking.now_or_never().is_none()
}

/// Several clients, the first of whom has made the directory.
async fn clients<const N: usize>(stage: &Stage) -> [Client; N] {
    let mut clients = vec![stage.founder().await];
    for number in 1..N {
        clients.push(stage.client(&format!("c{number}")).await);
    }
    clients.try_into().unwrap_or_else(|_| unreachable!("there are so many"))
}

#[test]
fn readers_share_and_a_writer_waits_for_all_of_them() {
    play(|stage| async move {
        let [a, b, c] = clients(&stage).await;
        let (one, other) = (reads(&a).await, reads(&b).await);
        let mut writer = wants_to_write(&c);
        stage.settle().await;
        one.release().await.expect("released");
        stage.settle().await;
        assert!(waits(&mut writer), "one reader is left");
        other.release().await.expect("released");
        drop(writer.await.expect("it is granted"));
    });
}

#[test]
fn no_reader_overtakes_a_writer_that_waits() {
    play(|stage| async move {
        let [a, b, c] = clients(&stage).await;
        let read = reads(&a).await;
        let mut writer = wants_to_write(&b);
        stage.settle().await;
        let mut reader = wants_to_read(&c);
        stage.settle().await;
        assert!(waits(&mut reader) && waits(&mut writer));
        read.release().await.expect("released");
        let written = writer.await.expect("it stands before the reader");
        assert!(waits(&mut reader));
        written.release().await.expect("released");
        drop(reader.await.expect("it is granted"));
    });
}

#[test]
fn a_reader_does_not_wait_for_a_writer_behind_it() {
    play(|stage| async move {
        let [a, b, c, d] = clients(&stage).await;
        let written = writes(&a).await;
        let reader = wants_to_read(&b);
        stage.settle().await;
        let mut writer = wants_to_write(&c);
        stage.settle().await;
        let mut late = wants_to_read(&d);
        stage.settle().await;
        written.release().await.expect("released");
        let read = reader.await.expect("only a later writer is left");
        stage.settle().await;
        assert!(waits(&mut writer) && waits(&mut late));
        drop(read);
        drop(writer.await.expect("it is granted"));
        drop(late.await.expect("it is granted"));
    });
}

#[test]
fn a_reader_watches_the_nearest_writer_ahead_and_is_woken_once() {
    play(|stage| async move {
        let [a, b, c, d] = clients(&stage).await;
        let first = writes(&a).await;
        let second = wants_to_write(&b);
        stage.settle().await;
        let (third, fourth) = (wants_to_read(&c), wants_to_read(&d));
        stage.settle().await;
        let nearest = b.znodes(&stage);
        assert_eq!((c.watches(&stage), d.watches(&stage)), (nearest.clone(), nearest));
        assert_eq!(b.watches(&stage), [first.path()]);

        let mark = stage.mark();
        first.release().await.expect("released");
        let second = second.await.expect("it is granted");
        stage.settle().await;
        assert_eq!(
            (c.noticed(&stage, mark), d.noticed(&stage, mark)),
            (0, 0),
            "a farther writer is none of theirs"
        );

        let mark = stage.mark();
        second.release().await.expect("released");
        let (third, fourth) = (third.await.expect("granted"), fourth.await.expect("granted"));
        assert_eq!(stage.fired(mark), 2, "each is told once");
        assert_eq!(c.sent(&stage, mark), [Kind::Children]);
        drop((third, fourth));
    });
}

#[test]
fn a_writer_watches_the_nearest_of_any_kind_and_looks_again_when_it_goes() {
    play(|stage| async move {
        let [a, b, c] = clients(&stage).await;
        let (one, other) = (reads(&a).await, reads(&b).await);
        let mut writer = wants_to_write(&c);
        stage.settle().await;
        assert_eq!(c.watches(&stage), [other.path()]);
        let mark = stage.mark();
        other.release().await.expect("released");
        stage.settle().await;
        assert!(waits(&mut writer), "the highest reader is gone, and one is left");
        assert_eq!(c.sent(&stage, mark), [Kind::Children, Kind::Children]);
        assert_eq!(c.watches(&stage), [one.path()]);
        drop(one);
        drop(writer.await.expect("it is granted"));
    });
}

#[test]
fn a_writers_going_wakes_the_readers_it_lets_in_or_one_writer() {
    play(|stage| async move {
        let [a, b, c, d, e] = clients(&stage).await;
        let first = writes(&a).await;
        let (one, other) = (wants_to_read(&b), wants_to_read(&c));
        stage.settle().await;
        let writer = wants_to_write(&d);
        stage.settle().await;
        let next = wants_to_write(&e);
        stage.settle().await;

        let mark = stage.mark();
        first.release().await.expect("released");
        let (one, other) = (one.await.expect("granted"), other.await.expect("granted"));
        stage.settle().await;
        assert_eq!(stage.fired(mark), 2);

        let mark = stage.mark();
        one.release().await.expect("released");
        stage.settle().await;
        assert!(stage.fired(mark) <= 1, "a reader's going wakes at most one");
        other.release().await.expect("released");
        let writer = writer.await.expect("granted");
        let mark = stage.mark();
        writer.release().await.expect("released");
        drop(next.await.expect("granted"));
        assert_eq!(stage.fired(mark), 1);
    });
}

#[test]
fn a_try_gives_up_only_where_it_would_wait() {
    play(|stage| async move {
        let [a, b] = clients(&stage).await;
        let read = reads(&a).await;
        let lock = shared(&b);
        let other = lock.try_read().await.expect("it can be tried");
        assert!(other.is_some() && lock.try_write().await.expect("it can be tried").is_none());
        drop((read, other));
        stage.settle().await;
        b.has_left_nothing(&stage, "after it gave up");
        let write = lock.try_write().await.expect("it can be tried");
        assert!(write.is_some() && shared(&a).try_read().await.expect("it can be tried").is_none());
        stage.settle().await;
        a.has_left_nothing(&stage, "after it gave up");
    });
}

#[test]
fn a_limit_counts_from_the_call() {
    play(|stage| async move {
        let [a, b] = clients(&stage).await;
        let write = writes(&a).await;
        let (lock, limit) = (shared(&b), Duration::from_millis(700));
        for reads in [true, false] {
            let asked = stage.sim.now();
            let refused = match reads {
                true => lock.read().within(limit).await.map(drop),
                false => lock.write().within(limit).await.map(drop),
            };
            assert!(refused.expect_err("a holds it").is_timed_out());
            assert_eq!(stage.sim.now().since(asked), limit);
            stage.settle().await;
            b.has_left_nothing(&stage, "after its time was over");
        }
        drop(write);
    });
}

#[test]
fn names_are_written_as_the_other_libraries_write_them_and_theirs_are_waited_for() {
    for (naming, guid_length, read, write, theirs) in [
        (Naming::Standard, 32, "-read-", "-write-", "5f3a-write-0000000000"),
        (
            Naming::Curator,
            3 + 36,
            "-__READ__",
            "-__WRIT__",
            "_c_01234567-89ab-cdef-0123-456789abcdef-__WRIT__0000000000",
        ),
        (Naming::Kazoo, 32, "__rlock__", "__lock__", "0123456789abcdef0123456789abcdef__lock__0000000000"),
    ] {
        play(move |stage| async move {
            let [other, a] = clients(&stage).await;
            let theirs = path::join(DIRECTORY, theirs);
            other.makes_ephemeral(&theirs).await;
            let lock = shared_with(&a, SharedLockOptions::default().with_naming(naming));
            let mut reading = Box::pin(lock.read());
            for _ in 0..3 {
                assert!((&mut reading).now_or_never().is_none(), "a writer of theirs is ahead");
                stage.pass(&a, Duration::from_millis(20)).await;
            }
            assert_eq!(a.watches(&stage), [theirs.as_str()], "{naming:?}");
            other.zk.delete(&theirs, None).await.expect("it is there");
            let guard = reading.await.expect("granted");
            let name = path::split(guard.path()).1.to_owned();
            assert_eq!(
                (&name[guid_length..name.len() - 10], name.len()),
                (read, guid_length + read.len() + 10)
            );
            drop(guard);
            let guard = lock.write().await.expect("granted");
            let name = path::split(guard.path()).1.to_owned();
            assert_eq!(
                (&name[guid_length..name.len() - 10], name.len()),
                (write, guid_length + write.len() + 10)
            );
        });
    }
}

#[test]
fn foreign_children_do_not_stand_in_line() {
    play(|stage| async move {
        let [founder, a] = clients(&stage).await;
        for name in
            ["config", "write-0000000000", "x-write-", "x-write-7", "x-read-00000000001", "x-lock-0000000000"]
        {
            founder.makes(&path::join(DIRECTORY, name)).await;
        }
        let mark = stage.mark();
        let write = writes(&a).await;
        assert_eq!(a.sent(&stage, mark), [Kind::Create, Kind::Children]);
        assert_eq!(shared(&a).contenders().await.expect("they can be listed").len(), 1);
        drop(write);
    });
}

#[test]
fn bad_input_is_refused_before_anything_is_sent() {
    play(|stage| async move {
        let a = stage.founder().await;
        let mark = stage.mark();
        for directory in ["", "locks", "/locks/", "/", "/zookeeper/locks", "/a//b", "/a/../b", "/🔒"] {
            let refused = SharedLock::new(&a.zk, directory, SharedLockOptions::default());
            assert!(refused.is_err_and(|e| e.is_bad_input()), "{directory:?}");
        }
        let data = vec![0; 1 << 20];
        let refused = SharedLock::new(&a.zk, DIRECTORY, SharedLockOptions::default().with_data(data));
        assert!(refused.is_err_and(|e| e.is_bad_input()));
        assert_eq!(a.sent(&stage, mark), []);
    });
}

#[test]
fn a_missing_directory_is_made_unless_it_must_exist() {
    play(|stage| async move {
        let a = stage.client("a").await;
        let options = SharedLockOptions::default().with_parents(Parents::MustExist);
        assert_eq!(shared_with(&a, options).read().await.expect_err("it is not there"), ErrorKind::NoNode);
        drop(reads(&a).await);
    });
}

#[test]
fn a_waiter_whose_znode_is_deleted_is_told_at_its_next_look() {
    play(|stage| async move {
        let [a, b] = clients(&stage).await;
        let write = writes(&a).await;
        let reader = wants_to_read(&b);
        stage.settle().await;
        let contenders = shared(&a).contenders().await.expect("they can be listed");
        assert_eq!(contenders[0].path, write.path());
        assert_eq!(shared(&a).evict(&contenders[1]).await, Ok(true));
        assert_eq!(shared(&a).evict(&contenders[1]).await, Ok(false));
        write.release().await.expect("released");
        assert!(
            reader.await.expect_err("its znode is gone").is_removed(),
            "never: nobody is ahead, so it is mine"
        );
    });
}

#[test]
fn a_directory_that_vanishes_under_a_waiter_is_no_grant() {
    play(|stage| async move {
        let [a, b] = clients(&stage).await;
        let write = writes(&a).await;
        let reader = wants_to_read(&b);
        stage.settle().await;
        let gone = stage.names(DIRECTORY).into_iter();
        let delete = |name: String| Op::Delete { path: path::join(DIRECTORY, &name), version: None };
        a.zk.multi(gone.map(delete).collect()).await.expect("they are there");
        let _ = a.zk.delete(DIRECTORY, None).await;
        assert!(reader.await.expect_err("its znode is gone").is_removed());
        assert_eq!(write.release().await, Ok(Released::WasLost(LostReason::Removed)));
    });
}

// ── downgrades ──

#[test]
fn a_downgrade_takes_the_writers_place_and_keeps_its_token() {
    play(|stage| async move {
        let [a, b, c, d] = clients(&stage).await;
        let write = writes(&a).await;
        let between = wants_to_read(&b);
        stage.settle().await;
        let mut writer = wants_to_write(&c);
        stage.settle().await;
        let mut late = wants_to_read(&d);
        stage.settle().await;
        let (token, old) = (write.token(), write.path().to_owned());

        let mark = stage.mark();
        let read = write.downgrade().await.expect("it goes on as a reader");
        assert_eq!(a.sent(&stage, mark), [Kind::Multi], "one request");
        let between = between.await.expect("readers are let in");
        stage.settle().await;
        assert!(waits(&mut writer) && waits(&mut late), "a writer is not, nor who stands behind it");
        assert_eq!((read.token(), read.state()), (token, HoldState::Held));
        assert_eq!(old[old.len() - 10..], read.path()[read.path().len() - 10..], "the writer's number");
        assert_eq!(a.znodes(&stage), [read.path()]);

        drop(between);
        stage.settle().await;
        assert!(waits(&mut writer), "it waits for the reader that was a writer");
        assert_eq!(c.watches(&stage), [read.path()]);
        assert_eq!(read.release().await, Ok(Released::Clean));
        let write = writer.await.expect("granted");
        assert!(write.token() > token);
        drop(write);
        drop(late.await);
    });
}

#[test]
fn a_downgraded_hold_is_held_like_any_other() {
    play(|stage| async move {
        let [a, b] = clients(&stage).await;
        let write = writes(&a).await;
        assert_eq!(write.lost().now_or_never(), None);
        stage.settle().await;
        let made = |path: &str| {
            vec![Op::Create { path: path.to_owned(), data: vec![], mode: CreateMode::Persistent }]
        };
        write.transact_once(made("/locks/first")).await.expect("it is held");
        let read = write.downgrade().await.expect("it goes on as a reader");
        assert_eq!(read.lost().now_or_never(), None, "what the old znode's watch told means nothing");
        stage.settle().await;
        let mark = stage.mark();
        read.transact_once(made("/locks/made")).await.expect("the new znode is the receipt");
        assert_eq!(a.sent(&stage, mark), [Kind::Multi], "its version is known");
        a.is_disconnected().await;
        assert_eq!(read.resumed().await, Ok(()), "confirmed");

        b.zk.delete(read.path(), None).await.expect("it is there");
        assert!(read.transact(made("/locks/late")).await.expect_err("it is gone").is_removed());
        assert_eq!(read.state(), HoldState::Lost(LostReason::Removed));
        drop(read);
        stage.settle().await;
        a.has_left_nothing(&stage, "after all that");
    });
}

#[test]
fn a_downgrade_whose_message_was_lost_is_made_once() {
    for fault in [Fault::RequestLost, Fault::ReplyLost, Fault::Disconnect] {
        play(move |stage| async move {
            let [a, b] = clients(&stage).await;
            let write = writes(&a).await;
            let mut writer = wants_to_write(&b);
            stage.settle().await;
            let mark = stage.mark();
            a.process.order(fault);
            let read = write.downgrade().await.expect("it goes on as a reader");
            assert_eq!(a.sent(&stage, mark), [Kind::Multi, Kind::Multi], "{fault:?}: the same again");
            stage.settle().await;
            assert_eq!(a.znodes(&stage), [read.path()]);
            assert!(waits(&mut writer));
            assert_eq!(read.release().await, Ok(Released::Clean));
            drop(writer.await.expect("granted"));
        });
    }
}

#[test]
fn a_downgrade_that_cannot_be_leaves_a_writer() {
    play(|stage| async move {
        let [a, b] = clients(&stage).await;
        let bent = Bent::counting(&a.zk, &[i32::MAX]);
        let lock = SharedLock::new(&bent, DIRECTORY, SharedLockOptions::default()).expect("the path is good");
        let write = lock.write().await.expect("granted");
        let bent = Bent::counting(&b.zk, &[i32::MAX]);
        let behind =
            SharedLock::new(&bent, DIRECTORY, SharedLockOptions::default()).expect("the path is good");
        let mut reader = Box::pin(b.process.spawn(async move { behind.read().await }));
        stage.settle().await;
        let mark = stage.mark();
        let not = write.downgrade().await.expect_err("its number tells no order");
        assert_eq!(not.error, ErrorKind::Exhausted(DIRECTORY.into()));
        assert!(not.to_string().contains("run out"), "{not}");
        stage.settle().await;
        assert_eq!((a.sent(&stage, mark), not.guard.state()), (vec![], HoldState::Held));
        assert!((&mut reader).now_or_never().is_none(), "it is a writer still");
        assert!(Error::from(not).is_exhausted(), "as an error it gives the lock back");
        drop(reader.await.expect("its process lives").expect("granted"));
    });
}

#[test]
fn a_downgrade_of_what_is_gone_is_none() {
    play(|stage| async move {
        let [a, b] = clients(&stage).await;
        let write = writes(&a).await;
        b.zk.delete(write.path(), None).await.expect("it is there");
        let not = write.downgrade().await.expect_err("it is gone");
        assert!(not.error.is_removed());
        assert_eq!(not.guard.state(), HoldState::Lost(LostReason::Removed));
        drop(not);
        stage.settle().await;
        a.has_left_nothing(&stage, "after that");

        let write = writes(&a).await;
        a.zk.close(TIMEOUT).await.expect("it is closed");
        assert!(write.downgrade().await.expect_err("the session is over").error.is_session_over());
    });
}

#[test]
fn worn_numbers_are_told_apart_by_age() {
    play(|stage| async move {
        let [a, b, c] = clients(&stage).await;
        let worn = |client: &Client| {
            let bent = Bent::counting(&client.zk, &[i32::MAX]);
            SharedLock::new(&bent, DIRECTORY, SharedLockOptions::default()).expect("the path is good")
        };
        let (first, second, third) = (worn(&a), worn(&b), worn(&c));
        let write = first.write().await.expect("granted");
        let reader = b.process.spawn(async move { second.read().await });
        stage.settle().await;
        let mut writer = Box::pin(c.process.spawn(async move { third.write().await }));
        stage.settle().await;
        drop(write);
        let read = reader.await.expect("its process lives").expect("the writer behind it is none of its");
        stage.settle().await;
        assert!((&mut writer).now_or_never().is_none());
        drop(read);
        drop(writer.await.expect("its process lives").expect("granted"));
    });
}

// ── lost messages, dropped futures ──

#[test]
fn one_fault_at_any_place_does_no_harm() {
    for fault in [Fault::RequestLost, Fault::ReplyLost, Fault::Disconnect, Fault::WatchLost] {
        for nth in 0.. {
            let ((), struck) = play_struck(fault, nth, |stage, danger| async move {
                let [a, b, c] = clients(&stage).await;
                danger.begins();
                let mark = stage.mark();
                let write = writes(&a).await;
                let reader = wants_to_read(&b);
                stage.pass(&a, 3 * RECONNECT).await;
                let writer = wants_to_write(&c);
                stage.pass(&a, 3 * RECONNECT).await;
                let read = write.downgrade().await.expect("it goes on as a reader");
                let other = reader.await.expect("granted");
                assert_eq!(read.release().await, Ok(Released::Clean));
                assert_eq!(other.release().await, Ok(Released::Clean));
                assert_eq!(writer.await.expect("granted").release().await, Ok(Released::Clean));
                stage.pass(&a, 3 * RECONNECT).await;
                stage.settle().await;
                assert_eq!(stage.joined(mark), 4, "three joined, one of them again as a reader");
                for client in [a, b, c] {
                    client.has_left_nothing(&stage, "after the release");
                }
            });
            if !struck {
                break;
            }
        }
    }
}

/// Nothing is left of the one who gave up, and the next in line gets the lock.
async fn all_is_well(stage: &Stage, gave_up: &Client, next: &Client, drops: Drops) {
    stage.pass(gave_up, 3 * RECONNECT).await;
    stage.settle().await;
    gave_up.has_left_nothing(stage, &format!("dropped {drops:?}"));
    let granted = shared(next).write().within(Duration::from_secs(30)).await;
    assert!(granted.is_ok(), "the next gets the lock, dropped {drops:?}: {granted:?}");
}

/// Gives it back before long.
fn holds_for_a_while(stage: &Stage, holder: &Client, held: Write) {
    let over = stage.sim.sleep(&holder.process, Duration::from_millis(62));
    holder.process.spawn(async move {
        over.await;
        held.release().await
    });
}

#[test]
fn a_reader_that_waits_may_be_dropped_at_every_await() {
    at_every_await(|stage, danger, drops| async move {
        let [next, a] = clients(&stage).await;
        let held = writes(&next).await;
        danger.begins();
        holds_for_a_while(&stage, &next, held);
        let lock = shared(&a);
        let ended = dropping(drops, &stage, &a, lock.read()).await.is_some();
        all_is_well(&stage, &a, &next, drops).await;
        ended
    });
}

#[test]
fn a_writer_that_waits_may_be_dropped_at_every_await() {
    at_every_await(|stage, danger, drops| async move {
        let [next, a] = clients(&stage).await;
        let held = writes(&next).await;
        danger.begins();
        holds_for_a_while(&stage, &next, held);
        let lock = shared(&a);
        let ended = dropping(drops, &stage, &a, lock.write()).await.is_some();
        all_is_well(&stage, &a, &next, drops).await;
        ended
    });
}

#[test]
fn a_downgrade_may_be_dropped_at_every_await() {
    at_every_await(|stage, danger, drops| async move {
        let [next, a] = clients(&stage).await;
        let write = writes(&a).await;
        danger.begins();
        let ended = dropping(drops, &stage, &a, write.downgrade()).await;
        if let Some(result) = &ended {
            assert!(result.is_ok(), "{result:?}");
        }
        let ended = ended.map(drop).is_some();
        all_is_well(&stage, &a, &next, drops).await;
        ended
    });
}

#[test]
fn a_server_that_lags_grants_nobody_too_early() {
    let config = sim_zk::Config::default().with_servers(3);
    crate::common::play_with(config, sim_zk::choose::Calm, |stage| async move {
        let [a, b, c] = clients(&stage).await;
        let write = writes(&a).await;
        let mut reader = wants_to_read(&b);
        stage.settle().await;
        let mut writer = wants_to_write(&c);
        stage.settle().await;
        for server in 0..3 {
            // One after the other answers late, and everybody goes to another.
            stage.sim.inflict(Fault::ApplyStall, sim_zk::fault::Victim::Server(server), TIMEOUT / 4);
            for client in [&b, &c] {
                client.process.order(Fault::Disconnect);
                drop(client.zk.exists("/"));
            }
            stage.pass(&a, 2 * RECONNECT).await;
            assert!(waits(&mut reader) && waits(&mut writer), "server {server}");
        }
        a.is_connected_again().await;
        let read = write.downgrade().await.expect("it goes on as a reader");
        drop(reader.await.expect("granted"));
        stage.settle().await;
        assert!(waits(&mut writer));
        drop(read);
        drop(writer.await.expect("granted"));
    });
}

#[test]
fn a_session_that_ends_takes_its_place_along() {
    play(|stage| async move {
        let [a, b, c] = clients(&stage).await;
        let write = writes(&a).await;
        let reader = wants_to_read(&b);
        let writer = wants_to_write(&c);
        stage.settle().await;
        b.process.inflict(Fault::SessionExpiry, 3 * TIMEOUT);
        assert!(reader.await.expect_err("b's session ends").is_session_over());
        a.process.inflict(Fault::SessionExpiry, 3 * TIMEOUT);
        drop(writer.await.expect("the only one left"));
        assert!(matches!(write.state(), HoldState::Lost(_)));
        let joined =
            |happening: &SimEvent<'_>| matches!(happening, SimEvent::Created { owner, .. } if owner.0 != 0);
        assert_eq!(stage.count(0, joined), 3, "nobody joins again by itself");
    });
}

#[test]
fn a_downgrade_that_an_overloaded_server_refuses_asks_seldom_and_an_access_list_ends_it() {
    for refusal in [Fault::Throttled, Fault::AccessDenied] {
        let refused = Refusal { fault: refusal, kind: Kind::Multi, at: 0 };
        let ((ended, sent), _) = play_refusing(None, refused, |stage, danger| async move {
            let a = stage.founder().await;
            let write = writes(&a).await;
            let mark = stage.mark();
            danger.begins();
            let ended = dropping(Drops::Later(20_000), &stage, &a, write.downgrade()).await;
            let sent = a.sent(&stage, mark).len();
            danger.ends();
            let held = |refused: NotDowngraded<Write>| (refused.guard.state(), refused.error.is_denied());
            (ended.map(|ended| ended.map(drop).map_err(held)), sent)
        });
        match refusal {
            Fault::Throttled => assert!(ended.is_none() && sent <= 400, "{sent} requests, {ended:?}"),
            _ => assert_eq!(ended, Some(Err((HoldState::Held, true))), "it still holds"),
        }
    }
}
