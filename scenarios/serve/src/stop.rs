//! Ends the loop from another thread.

use mio::Waker;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// Ends the loop from another thread.
#[derive(Clone)]
pub struct Stop {
    stopped: Arc<AtomicBool>,
    waker: Arc<Waker>,
}

impl Stop {
    pub(crate) fn new(waker: Arc<Waker>) -> Self {
        Stop { stopped: Arc::default(), waker }
    }

    /// Ends the loop: all connections are closed, and the ports are free.
    pub fn stop(&self) {
        self.stopped.store(true, SeqCst);
        // Waking fails only after the loop has ended.
        let _ = self.waker.wake();
    }

    /// A separate stop that wakes the same loop.
    pub(crate) fn another(&self) -> Self {
        Stop::new(self.waker.clone())
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(SeqCst)
    }
}
