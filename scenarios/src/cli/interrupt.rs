//! SIGINT, SIGTERM and SIGHUP: how a verb that works for longer than a second ends early.
//!
//! 1. The first signal asks the verb to end. The verb prints its results so far, and keeps its files.
//! 2. Work without partial results, such as the judgement of a history, ends at once with a message.
//! 3. The exit status is 1 if a promise is broken; otherwise it is that of a shell: 128 and the number of the signal.
//! 4. A second signal ends the program at once by the signal's default action.
//!
//! A program started by `nohup` must outlive the terminal, so an ignored SIGHUP stays ignored. An ignored SIGINT does
//! not: a shell script ignores it for every program that it starts with `&`, and the program could not be asked for its
//! results.

use super::Output;
use anyhow::Context;
use serde_json::{Value, json};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::Signals;
use signal_hook::low_level::{emulate_default_handler, signal_name};
use std::ffi::c_int;
use std::io::{Write, stderr};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A shell adds this to the number of the signal that ended a program.
const OF_A_SIGNAL: c_int = 128;

/// The handler that ends the program at once when a signal comes.
type Farewell = Box<dyn FnOnce(c_int) + Send>;

/// Receives the first signal.
#[derive(Clone)]
pub(super) struct Interrupt {
    stop: Arc<AtomicBool>,
    /// The number of the signal, or 0. The signal handler writes it, so no signal is lost before a thread waits for
    /// one.
    came: Arc<AtomicUsize>,
    farewell: Arc<Mutex<Option<Farewell>>>,
}

impl Interrupt {
    /// Installs the handlers, once per process.
    pub(super) fn listen() -> anyhow::Result<Interrupt> {
        let heard: Vec<c_int> =
            [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !stays_ignored(*signal)).collect();
        let of = Interrupt { stop: Arc::default(), came: Arc::default(), farewell: Arc::default() };
        let is_second = Arc::<AtomicBool>::default();
        let mut which = Vec::new();
        for signal in &heard {
            which.push(Arc::<AtomicBool>::default());
            // The order matters: a signal is the second one if an earlier one has set the flag. Of two that two threads handle at the
            // same time neither finds it set: then the thread below finds both.
            flag::register_usize(*signal, of.came.clone(), usize::try_from(*signal)?)
                .and_then(|_| flag::register(*signal, which[which.len() - 1].clone()))
                .and_then(|_| flag::register_conditional_default(*signal, is_second.clone()))
                .and_then(|_| flag::register(*signal, is_second.clone()))
                .context("cannot listen to signals")?;
        }
        let mut signals = Signals::new(&heard).context("cannot listen to signals")?;
        let told = of.clone();
        let listens = move || {
            let mut all = signals.forever();
            if !told.has_come() {
                all.next();
            }
            let are_two = || which.iter().filter(|one| one.load(Ordering::SeqCst)).count() > 1;
            if !are_two() {
                told.hear();
            }
            while !are_two() && all.next().is_some() {}
            let _ = emulate_default_handler(told.signal());
        };
        std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(listens)
            .context("cannot start a thread")?;
        Ok(of)
    }

    fn hear(&self) {
        let signal = self.signal();
        self.stop.store(true, Ordering::SeqCst);
        let farewell = self.farewell().take();
        match farewell {
            Some(farewell) => farewell(signal),
            // A write error is ignored: the terminal may be gone.
            None => {
                let _ = writeln!(
                    stderr(),
                    "{}: reporting what was found so far; a second signal ends at once",
                    name(signal)
                );
            }
        }
    }

    fn farewell(&self) -> MutexGuard<'_, Option<Farewell>> {
        self.farewell.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn signal(&self) -> c_int {
        c_int::try_from(self.came.load(Ordering::SeqCst)).unwrap_or_default()
    }

    /// Whether a signal has come. Resetting `stop` for a clean-up does not change this.
    pub(super) fn has_come(&self) -> bool {
        self.signal() != 0
    }

    /// Set when it is time to end.
    pub(super) fn stop(&self) -> &Arc<AtomicBool> {
        &self.stop
    }

    /// The name of the signal, if it has come.
    pub(super) fn by(&self) -> Option<&'static str> {
        self.has_come().then(|| name(self.signal()))
    }

    /// The exit status of a verb with this result: after an interruption only a breach is certain.
    pub(super) fn status(&self, status: u8) -> ExitCode {
        let is_cut = self.has_come() && !matches!(status, 1 | 3);
        ExitCode::from(if is_cut { of_a_signal(self.signal()) } else { status })
    }

    /// Marks the summary of an interrupted verb.
    pub(super) fn mark(&self, mut summary: Value) -> Value {
        if self.has_come() {
            summary["interrupted"] = json!(true);
        }
        summary
    }

    /// Prints the last line of an interrupted verb.
    pub(super) fn say(&self, made: &str) {
        if let Some(by) = self.by() {
            println!("interrupted by {by}: {made}");
        }
    }

    /// Does work without partial results. A signal meanwhile ends the program, with a message that there is no verdict.
    pub(super) fn or_nothing<R>(&self, what: &str, output: Output, work: impl FnOnce() -> R) -> R {
        let what = what.to_owned();
        let farewell = move |signal| {
            let _ = writeln!(stderr(), "interrupted by {}: {what} has no verdict", name(signal));
            if output.is_json() {
                let summary = json!({"kind": "summary", "verdict": "unknown", "runs": 0, "failed": 0, "interrupted": true});
                println!("{summary}");
            }
            std::process::exit(of_a_signal(signal).into());
        };
        *self.farewell() = Some(Box::new(farewell));
        self.catch_up();
        let result = work();
        self.farewell().take();
        result
    }

    /// Calls `work` when a signal comes.
    pub(super) fn then(&self, work: impl FnOnce() + Send + 'static) {
        *self.farewell() = Some(Box::new(|_| work()));
        self.catch_up();
    }

    /// Calls the handler if the signal came before the handler was set.
    fn catch_up(&self) {
        let late = if self.has_come() { self.farewell().take() } else { None };
        if let Some(farewell) = late {
            farewell(self.signal());
        }
    }
}

fn of_a_signal(signal: c_int) -> u8 {
    u8::try_from(OF_A_SIGNAL + signal).unwrap_or(u8::MAX)
}

fn name(signal: c_int) -> &'static str {
    signal_name(signal).unwrap_or("a signal")
}

/// Whether a signal was ignored when the program began, and stays ignored. False if the system does not say.
fn stays_ignored(signal: c_int) -> bool {
    signal == SIGHUP && std::fs::read_to_string("/proc/self/status").is_ok_and(|text| ignores(&text, signal))
}

/// Whether that signal is ignored, according to the status of a process as Linux prints it.
fn ignores(status: &str, signal: c_int) -> bool {
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_read_from_the_mask() {
        let status =
            "Name:\tzksim\nSigBlk:\tffffffffffffffff\nSigIgn:\t0000000000001001\nSigCgt:\t0000000000004002\n";
        assert!(ignores(status, SIGHUP), "the first bit");
        assert!(!ignores(status, SIGINT), "the second one is clear");
        assert!(!ignores("Name:\tzksim\n", SIGHUP));
    }
}
