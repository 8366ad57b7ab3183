//! The signal that the time of a run is over.

use crate::time::sleep;
use futures_util::future::select;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;
use tokio::sync::Notify;

/// Signals that the time is over.
#[derive(Debug, Default)]
pub struct Bell {
    rung: AtomicBool,
    ring: Notify,
}

impl Bell {
    pub(crate) fn ring(&self) {
        self.rung.store(true, SeqCst);
        self.ring.notify_waiters();
    }

    pub(crate) fn has_rung(&self) -> bool {
        self.rung.load(SeqCst)
    }

    pub(crate) async fn rings(&self) {
        let mut ring = pin!(self.ring.notified());
        ring.as_mut().enable();
        if !self.rung.load(SeqCst) {
            ring.await;
        }
    }

    /// Waits that long, or until it rings. Returns false if it has rung.
    pub(crate) async fn lets_pass(&self, time: Duration) -> bool {
        let _ = select(pin!(self.rings()), pin!(sleep(time))).await;
        !self.rung.load(SeqCst)
    }
}
