//! Promises to clean up, kept on the runtime in which the handle was opened.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};

use tokio::sync::Notify;

use super::Client;
use crate::zk::duty::{Armed, Discharge, Duty, DutyId, discharge};

/// The duties of one session: how many have begun and are not done.
#[derive(Default)]
pub(super) struct Duties {
    next: AtomicU64,
    begun: AtomicUsize,
    done: Notify,
}

impl Duties {
    /// Resolves when no duty is running.
    pub(super) async fn idle(&self) {
        loop {
            let mut done = pin!(self.done.notified());
            done.as_mut().enable();
            if self.begun.load(SeqCst) == 0 {
                return;
            }
            done.await;
        }
    }
}

/// Arms a duty of this handle.
pub(super) fn arm(client: &Client, duty: Duty) -> Armed {
    let id = client.session.duties.next.fetch_add(1, SeqCst);
    Armed::new(id, duty, Arc::new(Discharger(client.clone())))
}

struct Discharger(Client);

impl Discharge for Discharger {
    fn start(&self, _: DutyId, duty: Duty) {
        let begun = Begun::count(self.0.clone());
        // The first request leaves here; the task only waits for answers.
        let work = discharge(&self.0, duty);
        self.0.session.runtime.spawn(async move {
            work.await;
            drop(begun);
        });
    }

    fn done(&self, _: DutyId) {}
}

/// A duty that counts as long as this value lives, so also one whose task is dropped with its runtime.
struct Begun(Client);

impl Begun {
    fn count(client: Client) -> Self {
        client.session.duties.begun.fetch_add(1, SeqCst);
        Begun(client)
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        let duties = &self.0.session.duties;
        if duties.begun.fetch_sub(1, SeqCst) == 1 {
            duties.done.notify_waiters();
        }
    }
}
