//! A line: what the connections of one party to another have to pass, and what can be done to all of them at once.

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Which of two ways something goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From whoever connects.
    There,
    /// To whoever connects.
    Back,
}

impl Way {
    /// Both.
    pub const BOTH: [Way; 2] = [Way::There, Way::Back];
}

/// What is lost of a write, together with the connection that it goes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The request: it does not reach the server.
    Request,
    /// The reply: the server has applied the write, and the client does not hear of it.
    Reply,
}

/// What is told when a loss has struck.
type Struck = Box<dyn FnOnce() + Send>;

/// The connections of one party to another. Clones are of the same line.
#[derive(Clone, Default)]
pub struct Line {
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    /// What goes there, and what goes back, is held up.
    held: [bool; 2],
    /// Nobody is let in.
    cut: bool,
    /// How often all connections were ended.
    ended: u64,
    /// What is to be lost of the next write.
    loss: Option<(Loss, Struck)>,
}

impl Line {
    /// Holds up what goes that way, until [`heal`](Line::heal): it arrives then, if anybody still waits for it. Neither side
    /// is told anything meanwhile, not even that the other has hung up; and nobody new is let in.
    pub fn hold(&self, way: Way) {
        self.change(|state| state.held[way as usize] = true);
    }

    /// Ends every connection, with whatever is under way. New ones are taken as before.
    pub fn hang_up(&self) {
        self.change(|state| state.ended += 1);
    }

    /// Ends every connection, and lets nobody in until [`heal`](Line::heal).
    pub fn cut(&self) {
        self.change(|state| {
            state.ended += 1;
            state.cut = true;
        });
    }

    /// Nothing is held up or cut any more.
    pub fn heal(&self) {
        self.change(|state| (state.held, state.cut) = ([false; 2], false));
    }

    /// Loses the next write of a client, and its connection with it; `struck` is called before the connection ends.
    pub fn lose_next(&self, loss: Loss, struck: impl FnOnce() + Send + 'static) {
        self.change(|state| state.loss = Some((loss, Box::new(struck))));
    }

    /// Loses nothing after all.
    pub fn lose_nothing(&self) {
        self.change(|state| state.loss = None);
    }

    /// Whether that is to be lost now; if so, that was it.
    pub(super) fn loses(&self, loss: Loss) -> bool {
        let struck = self.state().loss.take_if(|(wanted, _)| *wanted == loss);
        struck.is_some_and(|(_, struck)| {
            struck();
            true
        })
    }

    /// Whether what goes that way is held up.
    pub fn holds(&self, way: Way) -> bool {
        self.state().held[way as usize]
    }

    pub(super) fn is_cut(&self) -> bool {
        self.state().cut
    }

    pub(super) fn is_held(&self) -> bool {
        self.state().held.contains(&true)
    }

    /// How often all connections were ended.
    pub(super) fn ended(&self) -> u64 {
        self.state().ended
    }

    /// Resolves when nothing is held up that goes that way.
    pub(super) async fn passes(&self, way: Way) {
        self.until(|state| !state.held[way as usize]).await;
    }

    /// Resolves when nothing is held up.
    pub(super) async fn is_open(&self) {
        self.until(|state| !state.held.contains(&true)).await;
    }

    /// Resolves when all connections were ended more often than that.
    pub(super) async fn ends(&self, seen: u64) {
        self.until(|state| state.ended > seen).await;
    }

    async fn until(&self, reached: impl Fn(&State) -> bool) {
        loop {
            let mut changed = pin!(self.inner.changed.notified());
            changed.as_mut().enable();
            if reached(&self.state()) {
                return;
            }
            changed.await;
        }
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.inner.changed.notify_waiters();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
