//! The lines of a driver: what it is told, and what it says.

use anyhow::{Context, anyhow};
use futures_util::future::{Either, select};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::fmt::Display;
use std::io::{BufRead, Write};
use std::pin::pin;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// The longest work under a hold.
pub const WORK: Duration = Duration::from_millis(30);

/// The longest pause between two rounds.
pub const PAUSE: Duration = Duration::from_millis(20);

/// What the driver was told last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Waits,
    Goes,
    Rests,
    Ends,
}

/// What the driver was told.
#[derive(Debug)]
struct Told {
    /// The phase, and how many audits nobody has made yet.
    state: Mutex<(Phase, u32)>,
    changed: Notify,
}

impl Told {
    fn update(&self, change: impl FnOnce(&mut (Phase, u32))) {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_waiters();
    }

    fn look<T>(&self, look: impl FnOnce(&mut (Phase, u32)) -> T) -> T {
        look(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until a look finds something.
    async fn until<T>(&self, mut found: impl FnMut(&mut (Phase, u32)) -> Option<T>) -> T {
        loop {
            let changed = self.changed.notified();
            if let Some(found) = self.look(&mut found) {
                return found;
            }
            changed.await;
        }
    }
}

/// One client, in a process of its own.
#[derive(Clone, Debug)]
pub struct Driver {
    /// The client's name.
    pub name: String,
    /// The number of clients.
    pub clients: usize,
    /// The servers.
    pub connect: String,
    /// The session timeout.
    pub timeout: Duration,
    /// The path of the object.
    pub object: String,
    kind: &'static str,
    random: Xoshiro256PlusPlus,
    told: Arc<Told>,
}

fn variable<T: FromStr>(name: &str) -> anyhow::Result<T> {
    let text = std::env::var(name).with_context(|| format!("{name} is not set"))?;
    text.parse().map_err(|_| anyhow!("{name}: {text:?} is malformed"))
}

impl Driver {
    /// The client that the environment describes, and the scenario that the command line names.
    ///
    /// # Errors
    ///
    /// A variable of the environment is missing, or no scenario is named.
    pub fn from_environment() -> anyhow::Result<(Driver, String)> {
        let scenario = std::env::args().nth(1).context("the last argument is the scenario")?;
        let told = Arc::new(Told { state: Mutex::new((Phase::Waits, 0)), changed: Notify::new() });
        let name: String = variable("HUNT_CLIENT")?;
        let seed: u64 = variable("HUNT_SEED")?;
        let own = name.bytes().fold(seed, |mix, byte| mix.wrapping_mul(31).wrapping_add(byte.into()));
        let tells = told.clone();
        std::thread::Builder::new().name("lines".to_owned()).spawn(move || {
            for line in std::io::stdin().lock().lines() {
                match line.as_deref() {
                    Ok("go") => tells.update(|(phase, _)| *phase = Phase::Goes),
                    Ok("rest") => tells.update(|(phase, _)| *phase = Phase::Rests),
                    Ok("audit") => tells.update(|(_, audits)| *audits += 1),
                    Ok(_) => {}
                    Err(_) => break,
                }
            }
            tells.update(|(phase, _)| *phase = Phase::Ends);
        })?;
        let driver = Driver {
            name,
            clients: variable("HUNT_CLIENTS")?,
            connect: variable("HUNT_CONNECT")?,
            timeout: Duration::from_millis(variable("HUNT_TIMEOUT_MS")?),
            object: variable("HUNT_OBJECT")?,
            kind: "",
            random: Xoshiro256PlusPlus::seed_from_u64(own),
            told,
        };
        Ok((driver, scenario))
    }

    /// Reports are about an object of this kind from now on.
    pub fn of_kind(&mut self, kind: &'static str) {
        self.kind = kind;
    }

    /// Says a line, with one write.
    pub fn say(&self, words: impl Display) {
        let line = format!("{} {words}\n", self.name);
        let mut out = std::io::stdout().lock();
        // Once nobody listens, the end of input follows.
        let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
    }

    /// Reports an event of the object.
    pub fn report(&self, event: &str) {
        self.say(format_args!("{event} {} {}", self.kind, self.object));
    }

    /// Reports an event of the object, with an item.
    pub fn report_item(&self, event: &str, item: impl Display) {
        self.say(format_args!("{event} {} {} {item}", self.kind, self.object));
    }

    /// Says an error.
    pub fn trouble(&self, error: impl Display) {
        self.say(format_args!("trouble {error}"));
    }

    /// Whether no further round begins.
    pub fn rests(&self) -> bool {
        self.told.look(|(phase, _)| *phase >= Phase::Rests)
    }

    /// Whether the rounds have begun, and further ones may.
    pub fn goes_on(&self) -> bool {
        self.told.look(|(phase, _)| *phase == Phase::Goes)
    }

    /// Waits until no further round begins. The end of the input is another matter.
    pub async fn is_to_rest(&self) {
        self.told.until(|(phase, _)| (*phase == Phase::Rests).then_some(())).await;
    }

    async fn reaches(&self, wanted: Phase) {
        self.told.until(|(phase, _)| (*phase >= wanted).then_some(())).await;
    }

    /// Waits until the rounds begin.
    pub async fn begins(&self) {
        self.reaches(Phase::Goes).await;
    }

    /// Waits until no further round begins, and a while longer.
    pub async fn has_rested_for(&self, time: Duration) {
        self.reaches(Phase::Rests).await;
        pause(time).await;
    }

    /// The outcome of what is waited for; nothing if no further round begins, and a while longer it has not come.
    pub async fn unless_rested<T>(&self, time: Duration, wait: impl Future<Output = T>) -> Option<T> {
        match select(pin!(wait), pin!(self.has_rested_for(time))).await {
            Either::Left((outcome, _)) => Some(outcome),
            Either::Right(_) => None,
        }
    }

    /// Waits until the driver ends.
    pub async fn ends(&self) {
        self.reaches(Phase::Ends).await;
    }

    /// Waits until somebody asks what this client sees. Nothing at the end.
    pub async fn audit(&self) -> Option<()> {
        let asked = |state: &mut (Phase, u32)| match state {
            (_, audits @ 1..) => {
                *audits -= 1;
                Some(Some(()))
            }
            (Phase::Ends, _) => Some(None),
            _ => None,
        };
        self.told.until(asked).await
    }

    /// Rests until the end; there is nothing to be seen.
    pub async fn rests_to_the_end(&self) {
        self.say("resting");
        while self.audit().await.is_some() {
            self.say("audited");
        }
    }

    /// A pause of a random length up to `most`, at least a fifth of it.
    pub async fn while_random(&mut self, most: Duration) {
        let most = u64::try_from(most.as_micros()).unwrap_or(u64::MAX).max(5);
        pause(Duration::from_micros(self.random.random_range(most / 5..=most))).await;
    }

    /// One of two, each as likely as the other.
    pub fn either(&mut self) -> bool {
        self.random.random_bool(0.5)
    }
}

/// Lets a time pass.
pub async fn pause(time: Duration) {
    // An error says that it has passed.
    let _ = tokio::time::timeout(time, std::future::pending::<()>()).await;
}
