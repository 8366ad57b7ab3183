//! A line: the faults that all connections of one pair of endpoints share.

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// A direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the connecting side.
    There,
    /// To the connecting side.
    Back,
}

impl Way {
    /// Both.
    pub const BOTH: [Way; 2] = [Way::There, Way::Back];
}

/// The part of a write that is lost, together with its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The request: it does not reach the server.
    Request,
    /// The reply: the server has applied the write, but the client does not learn of it.
    Reply,
}

/// The callback of a loss.
type Struck = Box<dyn FnOnce() + Send>;

/// Sees what a connection forwards, piece by piece, before it is forwarded, and may shorten it. Returns whether the connection
/// goes on behind it. A piece is a message on a link that understands messages.
pub type Passage = Box<dyn FnMut(Way, &mut Vec<u8>) -> bool + Send>;

/// Makes the passage of each connection.
type Passages = Arc<dyn Fn() -> Passage + Send + Sync>;

/// The connections of one party to another. Clones share the line.
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
    /// Whether each direction is held.
    held: [bool; 2],
    /// Whether new connections are refused.
    cut: bool,
    /// How often all connections were closed.
    ended: u64,
    /// The loss for the next write.
    loss: Option<(Loss, Struck)>,
    /// What later connections pass.
    passages: Option<Passages>,
}

impl Line {
    /// Delays all bytes in that direction until [`heal`](Line::heal). Meanwhile neither side sees that the other has closed the
    /// connection, and new connections are not accepted.
    pub fn hold(&self, way: Way) {
        self.change(|state| state.held[way as usize] = true);
    }

    /// Closes every connection, with the bytes in flight. New ones are accepted.
    pub fn hang_up(&self) {
        self.change(|state| state.ended += 1);
    }

    /// Refuses new connections until [`heal`](Line::heal).
    pub fn refuse(&self) {
        self.change(|state| state.cut = true);
    }

    /// Closes every connection, and refuses new ones until [`heal`](Line::heal).
    pub fn cut(&self) {
        self.refuse();
        self.hang_up();
    }

    /// Lets each later connection pass what `passages` makes for it.
    pub fn pass(&self, passages: impl Fn() -> Passage + Send + Sync + 'static) {
        self.change(|state| state.passages = Some(Arc::new(passages)));
    }

    /// The passage of a connection.
    pub(super) fn passage(&self) -> Option<Passage> {
        let passages = self.state().passages.clone();
        passages.map(|passages| passages())
    }

    /// Ends [`hold`](Line::hold) and [`cut`](Line::cut).
    pub fn heal(&self) {
        self.change(|state| (state.held, state.cut) = ([false; 2], false));
    }

    /// Loses the next write of a client, and its connection with it; `struck` is called before the connection ends.
    pub fn lose_next(&self, loss: Loss, struck: impl FnOnce() + Send + 'static) {
        self.change(|state| state.loss = Some((loss, Box::new(struck))));
    }

    /// Withdraws a loss.
    pub fn lose_nothing(&self) {
        self.change(|state| state.loss = None);
    }

    /// Takes the loss, if it is of that kind.
    pub(super) fn loses(&self, loss: Loss) -> bool {
        let struck = self.state().loss.take_if(|(wanted, _)| *wanted == loss);
        struck.is_some_and(|(_, struck)| {
            struck();
            true
        })
    }

    /// Whether that direction is held.
    pub fn holds(&self, way: Way) -> bool {
        self.state().held[way as usize]
    }

    pub(super) fn is_cut(&self) -> bool {
        self.state().cut
    }

    pub(super) fn is_held(&self) -> bool {
        self.state().held.contains(&true)
    }

    /// How often all connections were closed.
    pub(super) fn ended(&self) -> u64 {
        self.state().ended
    }

    /// Resolves when that direction is not held.
    pub(super) async fn passes(&self, way: Way) {
        self.until(|state| !state.held[way as usize]).await;
    }

    /// Resolves when neither direction is held.
    pub(super) async fn is_open(&self) {
        self.until(|state| !state.held.contains(&true)).await;
    }

    /// Resolves when all connections were closed more often than that.
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
