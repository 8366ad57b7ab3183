//! Revocations whose caller goes: its future is dropped, or its session ends. The revocable and the priority lock share them.

use crate::common::every_await::at_every_await;
use crate::common::{Client, DIRECTORY, Drops, RECONNECT, Stage, TIMEOUT, dropping, play};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use sim_zk::SimClient;
use sim_zk::fault::Fault;
use std::future::Future;
use std::time::Duration;
use zk_recipes::guard::{Exclusive, Irrevocable, Revocable, Write};
use zk_recipes::zk::{Error, ZooKeeper};
use zk_recipes::{
    Contender, Fate, Guard, HoldState, LostReason, OnSuspect, Priority, PriorityContender, PriorityLock,
    PriorityLockOptions, RevocableLock, RevocableLockOptions, Stop,
};

const GRACE: Duration = Duration::from_millis(300);
const WORD: &[u8] = b"unlock";

/// A revocation that was not polled yet.
type Revoking = BoxFuture<'static, Result<Fate, Error>>;

/// A lock whose holder is revoked: the two kinds.
trait Lock: Send + Sync + 'static {
    type Held: Held;
    type Holder: Send + 'static;

    fn of(client: &Client) -> Self;

    /// Takes it as a holder that goes on while the connection is lost.
    fn holds(client: &Client) -> impl Future<Output = Self::Held> + Send;

    /// The first of the list.
    fn holder(&self) -> impl Future<Output = Self::Holder> + Send;

    /// Asks it.
    fn asks(&self, holder: Self::Holder) -> Revoking;

    /// Forces it.
    fn forces(&self, holder: Self::Holder, grace: Duration) -> Revoking;
}

trait Held: Send + Sync + 'static {
    fn path(&self) -> &str;
    fn state(&self) -> HoldState;
    fn revoked(&self) -> BoxFuture<'_, Result<(), LostReason>>;
    fn lost(&self) -> BoxFuture<'_, Stop>;
}

macro_rules! lock {
    ($lock:ident, $mode:ty, $options:ident, $contender:ident, ($($priority:expr)?)) => {
        impl Lock for $lock<SimClient> {
            type Held = Guard<SimClient, Revocable<$mode>>;
            type Holder = $contender;

            fn of(client: &Client) -> Self {
                $lock::new(&client.zk, DIRECTORY, $options::default()).expect("the path is good")
            }

            async fn holds(client: &Client) -> Self::Held {
                let options = $options::default().with_on_suspect(OnSuspect::UntilDeadline);
                let lock = $lock::new(&client.zk, DIRECTORY, options).expect("the path is good");
                lock.write($($priority)?).await.expect("it is granted")
            }

            async fn holder(&self) -> $contender {
                self.contenders().await.expect("they can be listed").remove(0)
            }

            fn asks(&self, holder: $contender) -> Revoking {
                let lock = self.clone();
                async move { lock.ask(&holder).await }.boxed()
            }

            fn forces(&self, holder: $contender, grace: Duration) -> Revoking {
                let lock = self.clone();
                async move { lock.force(&holder, grace).await }.boxed()
            }
        }
    };
}

impl<M: Irrevocable> Held for Guard<SimClient, Revocable<M>> {
    fn path(&self) -> &str {
        Guard::path(self)
    }

    fn state(&self) -> HoldState {
        Guard::state(self)
    }

    fn revoked(&self) -> BoxFuture<'_, Result<(), LostReason>> {
        Guard::revoked(self).boxed()
    }

    fn lost(&self) -> BoxFuture<'_, Stop> {
        Guard::lost(self).boxed()
    }
}

lock!(RevocableLock, Write, RevocableLockOptions, Contender, ());
lock!(PriorityLock, Exclusive, PriorityLockOptions, PriorityContender, (Priority(5)));

async fn founder(stage: &Stage) -> Client {
    let founder = stage.founder().await;
    founder.makes("/locks/a/line").await;
    founder.makes("/locks/a/held").await;
    founder
}

async fn word_of(by: &Client, path: &str) -> Vec<u8> {
    by.zk.get(path).await.expect("it is there").data
}

/// What has left at the drop is done, and nothing takes it back.
fn a_dropped_ask_stands<L: Lock>() {
    for polls in 0..=2 {
        play(move |stage| async move {
            let (a, b) = (founder(&stage).await, stage.client("b").await);
            let held = L::holds(&a).await;
            let lock = L::of(&b);
            let asks = lock.asks(lock.holder().await);
            let asked = dropping(Drops::AfterPolls(polls), &stage, &b, asks).await;
            stage.settle().await;
            let is_asked = word_of(&a, held.path()).await == WORD;
            assert_eq!((is_asked, asked.is_some()), (polls > 0, polls > 1), "{polls} polls");
            stage.pass(&b, 3 * TIMEOUT).await;
            assert_eq!(held.state(), HoldState::Held, "asking removes nobody");
            assert_eq!(word_of(&a, held.path()).await == WORD, is_asked, "it stands");
            if is_asked {
                assert_eq!(held.revoked().await, Ok(()), "{polls} polls");
            }
            b.has_left_nothing(&stage, "after it gave up");
        });
    }
    // Whatever is lost besides: the holder hears the word if it was written, and has it no sooner.
    at_every_await(|stage, danger, drops| async move {
        let (a, b) = (founder(&stage).await, stage.client("b").await);
        let held = L::holds(&a).await;
        let lock = L::of(&b);
        let asks = lock.asks(lock.holder().await);
        danger.begins();
        let ended = dropping(drops, &stage, &b, asks).await;
        stage.pass(&b, 3 * RECONNECT).await;
        stage.settle().await;
        danger.ends();
        let is_asked = word_of(&a, held.path()).await == WORD;
        let heard = dropping(Drops::Later(1_000), &stage, &a, held.revoked()).await;
        assert_eq!(heard.is_some(), is_asked, "dropped {drops:?}");
        if let Some(Ok(fate)) = &ended {
            assert!(*fate == Fate::Asked && is_asked, "dropped {drops:?}: {fate:?}");
        }
        ended.is_some()
    });
}

/// The session ends at every moment of a forced revocation: the error leaves the outcome open, and nothing comes later.
fn a_forced_revocation_ends_with_its_session<L: Lock>() {
    let mut outcomes = [0; 3];
    for after_ms in (0..400).step_by(5) {
        let outcome = play(move |stage| async move {
            let (a, b) = (founder(&stage).await, stage.client("b").await);
            let held = L::holds(&a).await;
            let lock = L::of(&b);
            let forces = lock.forces(lock.holder().await, GRACE);
            let forcing = b.process.spawn(forces);
            stage.pass(&a, Duration::from_micros(after_ms * 1000 + 500)).await;
            b.process.inflict(Fault::SessionExpiry, 3 * TIMEOUT);
            let ended = forcing.await.expect("its process lives");
            let then = word_of_any(&a, held.path()).await;
            match ended {
                Ok(fate) => {
                    assert_eq!((fate, &then), (Fate::Forced, &None), "after {after_ms} ms");
                }
                Err(e) => assert!(e.is_session_over() && e.is_outcome_unknown(), "after {after_ms} ms: {e}"),
            }
            stage.pass(&a, 4 * TIMEOUT).await;
            assert_eq!(word_of_any(&a, held.path()).await, then, "nothing comes after the session's end");
            if then.is_none() {
                assert_eq!(held.lost().await, Stop::Lost(LostReason::Removed));
            }
            match then.as_deref() {
                None => 2,
                Some(WORD) => 1,
                Some(_) => 0,
            }
        });
        outcomes[outcome] += 1;
    }
    assert!(outcomes.iter().all(|count| *count > 0), "untouched, asked and removed: {outcomes:?}");
}

async fn word_of_any(by: &Client, path: &str) -> Option<Vec<u8>> {
    by.zk.get(path).await.ok().map(|found| found.data)
}

#[test]
fn an_ask_of_a_revocable_lock_that_is_dropped_stands() {
    a_dropped_ask_stands::<RevocableLock<SimClient>>();
}

#[test]
fn an_ask_of_a_priority_lock_that_is_dropped_stands() {
    a_dropped_ask_stands::<PriorityLock<SimClient>>();
}

#[test]
fn after_the_end_of_the_session_of_force_the_outcome_is_unknown_and_final() {
    a_forced_revocation_ends_with_its_session::<RevocableLock<SimClient>>();
}

#[test]
fn after_the_end_of_the_session_of_force_on_a_priority_lock_the_outcome_is_unknown_and_final() {
    a_forced_revocation_ends_with_its_session::<PriorityLock<SimClient>>();
}
