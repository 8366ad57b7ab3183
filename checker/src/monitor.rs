//! Black-box monitors: whether the clients' view of one object can be explained by the object working one operation at
//! a time. Each is near-linear and none of them searches.
//!
//! Record your clients' calls and returns in the order in which they happened, and ask the monitor of the object:
//!
//! ```
//! use zk_checker::Verdict;
//! use zk_checker::monitor::{Fifo, Monitor, Operations, Queue};
//!
//! let mut history = Operations::new();
//! let first = history.call(0, Queue::Put(1));
//! history.done(first);
//! let second = history.call(0, Queue::Put(2));
//! let take = history.call(1, Queue::Take(None));
//! history.done_with(take, Queue::Take(Some(2)));
//!
//! let judged = Fifo.judge(&history);
//! assert_eq!(judged.verdict, Verdict::Fail);
//! // Who took 2 passed 1, which had been put before; nobody has to believe the monitor.
//! let certificate = Fifo.certify(&history, &judged);
//! zk_checker::verify::certificate(&Fifo, &history, &certificate).expect("it is proved");
//! # let _ = second;
//! ```
//!
//! | object | monitor | actions | after |
//! |---|---|---|---|
//! | lock, shared lock, semaphore, term of office | [`Holds`] | [`Locking`] | cores must not meet |
//! | queue, first in first out | [`Fifo`] | [`Queue`] | Henzinger, Sezgin, Vafeiadis (CONCUR 2013) |
//! | queue, the more urgent first | [`MostUrgent`] | [`Urgent`] | gaps blocked by what is more urgent |
//! | variable, each value written once | [`Variable`] | [`Register`] | Gibbons, Korach (SIAM J. Comput. 1997) |
//! | counter, sequence numbers | [`Increasing`] | [`Numbered`] | numbers respect real time |
//!
//! For anything else there is the bounded search of [`crate::search`].
//!
//! # Positions and gaps
//!
//! A call and a return take the next position each: 0, 1, 2 and so on. *Gap* g lies just after position g. An operation
//! called at c that returned at r takes effect at one instant, in one of the gaps c to r−1. An operation that has not
//! returned took effect in any gap from c on, or not at all: its answer was lost, or its caller died or dropped it. An
//! operation that was certainly refused is taken out ([`Operations::refused`]).

mod breach;
mod fifo;
mod holds;
mod increasing;
mod most_urgent;
mod operations;
mod stays;
mod values;
mod variable;

pub use breach::{Breach, Certificate, Effect, Judged, Wrong};
pub use fifo::{Fifo, Queue};
pub use holds::{Holds, Locking};
pub use increasing::{Increasing, Numbered};
pub use most_urgent::{MostUrgent, Urgent};
pub use operations::{Number, Operation, Operations, PENDING, Step};
pub use variable::{Register, Variable};

/// Judges histories of one kind of object.
pub trait Monitor {
    /// The client's request, and after the return also the answer.
    type Action: Copy;

    /// The verdict, with all breaches in the order of the positions at which they show. Near-linear, whatever the
    /// verdict and however many operations are open at once.
    fn judge(&self, history: &Operations<Self::Action>) -> Judged;

    /// The proof of the verdict: an order of effects for a Pass, witnesses of the first breach for a Fail. Made on
    /// demand, so that the verdict stays fast.
    fn certify(&self, history: &Operations<Self::Action>, judged: &Judged) -> Certificate;
}
