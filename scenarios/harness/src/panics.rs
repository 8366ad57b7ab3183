//! Panics of the code under test: each is a part of its run's result, and no run prints its own.
//!
//! 1. [`caught`] and [`caught_future`] run code whose panic somebody is told of.
//! 2. The hook of this module notes a panic there: where it happened, and the backtrace, if `RUST_BACKTRACE` asks for one.
//! 3. Every other panic goes to the hook that was there before, be it that of a test, of a program, or Rust's own.

use std::any::Any;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};
use std::pin::pin;
use std::sync::{Arc, Once};
use std::task::Poll;

/// A panic of the code under test.
#[derive(Clone, Debug)]
pub struct Panic {
    /// Its message.
    pub said: String,
    /// Its file, line and column, unless another hook has hidden them.
    pub place: Option<String>,
    /// How the code got there.
    trace: Option<Arc<Backtrace>>,
}

/// What the hook has noted.
struct Noted {
    place: Option<String>,
    trace: Backtrace,
    said: String,
}

thread_local! {
    /// How many calls of [`caught`] this thread is in.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static NOTED: RefCell<Option<Noted>> = const { RefCell::new(None) };
}

/// Runs code, whose panic is its result. Whatever it has touched must go with it.
///
/// # Errors
///
/// The panic.
pub fn caught<R>(run: impl FnOnce() -> R) -> Result<R, Panic> {
    listen();
    DEPTH.set(DEPTH.get() + 1);
    let result = catch_unwind(AssertUnwindSafe(run));
    DEPTH.set(DEPTH.get() - 1);
    let noted = NOTED.take();
    result.map_err(|panic| Panic::of(&*panic, noted))
}

/// The same for a future, which is not polled again after its panic.
///
/// # Errors
///
/// The panic.
pub async fn caught_future<F: Future>(future: F) -> Result<F::Output, Panic> {
    let mut future = pin!(future);
    poll_fn(|context| match caught(|| future.as_mut().poll(context)) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
        Err(panic) => Poll::Ready(Err(panic)),
    })
    .await
}

/// Puts the hook in front of the one that is there, once.
fn listen() {
    static LISTENS: Once = Once::new();
    LISTENS.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |panic| {
            if DEPTH.get() == 0 {
                return usual(panic);
            }
            let before = NOTED.replace(Some(Noted::of(panic)));
            // A panic while another one unwinds may end the process, and then nobody else tells of either.
            if let Some(before) = before {
                eprintln!(
                    "panicked{}: {}",
                    before.place.map_or(String::new(), |at| format!(" at {at}")),
                    before.said
                );
                usual(panic);
            }
        }));
    });
}

impl Noted {
    fn of(panic: &PanicHookInfo<'_>) -> Noted {
        Noted {
            place: panic.location().map(ToString::to_string),
            trace: Backtrace::capture(),
            said: message(panic.payload()),
        }
    }
}

impl Panic {
    fn of(payload: &(dyn Any + Send), noted: Option<Noted>) -> Panic {
        let (place, trace) = noted.map_or((None, None), |noted| (noted.place, Some(Arc::new(noted.trace))));
        Panic { said: message(payload), place, trace }
    }

    /// What it said, without the numbers: by that the same panic is known in another run.
    pub fn words(&self) -> String {
        let words = self.said.split(|c: char| c.is_ascii_digit()).filter(|words| !words.is_empty());
        words.collect::<Vec<_>>().join("#")
    }

    /// How the code got there, if `RUST_BACKTRACE` asks for it.
    pub fn trace(&self) -> Option<&Backtrace> {
        self.trace.as_deref().filter(|trace| trace.status() == BacktraceStatus::Captured)
    }
}

/// What a panic said.
fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a message".into())
}

impl fmt::Display for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.said)?;
        let Some(place) = &self.place else { return Ok(()) };
        // An assertion says what it has compared in lines of its own.
        let before = if self.said.contains('\n') { "\n" } else { ", " };
        write!(f, "{before}at {place}")
    }
}
