//! Until when the session is safe: the send time of the last answered request, and new ones while somebody cares.
//!
//! 1. Every answer of the server proves that it had the request, so that the session lived a whole timeout after the
//!    request was sent, at the least.
//! 2. Nobody asks: nothing is done.
//! 3. Somebody asks: for two session timeouts, whenever there was no answer for a quarter of one, a small question is
//!    sent.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::Notify;

use super::session::Session;
use crate::zk::Time;

/// Of one session: when the last answered request was sent, and until when somebody wants to know.
pub(super) struct Keeper {
    answered: AtomicU64,
    wanted: AtomicU64,
    wake: Arc<Notify>,
}

impl Keeper {
    /// The session was asked for at `opened`, so it was made later.
    pub(super) fn new(opened: Time) -> Self {
        Keeper {
            answered: AtomicU64::new(opened.as_micros()),
            wanted: AtomicU64::new(0),
            wake: Arc::new(Notify::new()),
        }
    }

    /// A request sent then was answered.
    pub(super) fn answered(&self, sent: Time) {
        self.answered.fetch_max(sent.as_micros(), SeqCst);
    }

    /// When the last answered request was sent, for somebody who cares from now on.
    pub(super) fn ask(&self, now: Time, timeout: Duration) -> Time {
        let wanted = self.wanted.fetch_max((now + 2 * timeout).as_micros(), SeqCst);
        // Long before the keeper falls asleep again, so that it cannot be missed in between.
        if wanted < (now + timeout).as_micros() {
            self.wake.notify_one();
        }
        self.last()
    }

    fn last(&self) -> Time {
        Time::from_micros(self.answered.load(SeqCst))
    }

    fn is_wanted(&self, now: Time) -> bool {
        now.as_micros() < self.wanted.load(SeqCst)
    }

    /// The work of 3, until the session is over or its last handle gone.
    pub(super) fn keep(session: &Arc<Session>) {
        let wake = session.keeper.wake.clone();
        session.runtime.spawn(keep(Arc::downgrade(session), wake));
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.wake.notify_one();
    }
}

async fn keep(session: Weak<Session>, wake: Arc<Notify>) {
    loop {
        wake.notified().await;
        loop {
            let Some(now) = session.upgrade() else { return };
            if !now.keeper.is_wanted(now.clock.now()) {
                break;
            }
            let due = now.keeper.last() + now.timeout / 4;
            if now.clock.now() < due {
                let rest = now.sleep_until(due);
                drop(now);
                rest.await;
                continue;
            }
            // Held back while the connection is away, so this cannot spin. Holds no share of the session while it waits.
            let (at, sent) = now.send(Ok(()), |zk| zk.check_stat("/"));
            drop(now);
            let Ok(question) = sent else { return };
            let answer = question.await;
            let Some(then) = session.upgrade() else { return };
            if then.receive(at, answer).is_err_and(|e| e.is_session_over()) {
                return;
            }
        }
    }
}
