//! Ctrl-C: the program stops after the current wait, and stops what it has started.

use anyhow::{Context, bail};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the user wants the program to stop.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens to the signals that end a program.
    ///
    /// # Errors
    ///
    /// The system refuses.
    pub fn listen() -> anyhow::Result<Interrupt> {
        let interrupt = Interrupt::default();
        let heard = interrupt.clone();
        ctrlc::set_handler(move || heard.0.store(true, Ordering::Relaxed))
            .context("cannot listen to signals")?;
        Ok(interrupt)
    }

    /// # Errors
    ///
    /// The user has interrupted.
    pub fn check(&self) -> anyhow::Result<()> {
        if self.0.load(Ordering::Relaxed) {
            bail!("interrupted");
        }
        Ok(())
    }
}
