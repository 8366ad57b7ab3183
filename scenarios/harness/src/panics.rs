//! Panics of the code under test: each is part of its run's result, and the panic hook prints none of them.
//!
//! 1. [`caught`] and [`caught_future`] run code and return its panic.
//! 2. Within them the hook of this module records the panic's location, and the backtrace if `RUST_BACKTRACE` asks for
//!    one.
//! 3. Every other panic goes to the previously installed hook: that of a test, of a program, or Rust's own.

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
    /// The backtrace.
    trace: Option<Arc<Backtrace>>,
}

/// The hook's record of a panic.
struct Noted {
    place: Option<String>,
    trace: Backtrace,
    said: String,
}

thread_local! {
    /// The nesting depth of [`caught`] on this thread.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static NOTED: RefCell<Option<Noted>> = const { RefCell::new(None) };
}

/// Runs code and returns its panic as an error. The caller must drop all state that the code has touched.
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

/// The same for a future, which is not polled again after a panic.
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

/// Installs the hook before the existing one, once.
fn listen() {
    static LISTENS: Once = Once::new();
    LISTENS.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |panic| {
            if DEPTH.get() == 0 {
                return usual(panic);
            }
            let before = NOTED.replace(Some(Noted::of(panic)));
            // A panic during unwinding may abort the process, so both panics are printed here.
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

    /// Its message without the numbers, which identifies the same panic in another run.
    pub fn words(&self) -> String {
        let words = self.said.split(|c: char| c.is_ascii_digit()).filter(|words| !words.is_empty());
        words.collect::<Vec<_>>().join("#")
    }

    /// The backtrace, if `RUST_BACKTRACE` asks for one.
    pub fn trace(&self) -> Option<&Backtrace> {
        self.trace.as_deref().filter(|trace| trace.status() == BacktraceStatus::Captured)
    }
}

/// The message of a panic.
fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a message".into())
}

impl fmt::Display for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.said)?;
        let Some(place) = &self.place else { return Ok(()) };
        // The message of an assertion has several lines, so the location gets its own.
        let before = if self.said.contains('\n') { "\n" } else { ", " };
        write!(f, "{before}at {place}")
    }
}
