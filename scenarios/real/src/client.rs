//! One client of a real run: its own sessions, its own seeded choices, its share of the common recording.

use crate::bell::Bell;
use crate::recorded::Recorded;
use crate::recorder::{Recorder, Scribe};
use crate::time::sleep;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::future::{Future, pending};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use zk_checker::history::{FaultKind, OpId, Victim, What, Who};
use zk_client::{Client, Options};
use zk_harness::client;
use zk_harness::journal::Journal;
use zk_recipes::zk::{Error, SessionId, ZooKeeper};

/// The most rounds with one set of objects, twice the average; then the client starts anew.
const LONGEST_STRETCH: u32 = 31;

/// One operation in this number is dropped, within [`CANCEL_WITHIN`].
const CANCEL: u32 = 12;

/// The delay after which a cancelled operation is dropped, at most.
const CANCEL_WITHIN: Duration = Duration::from_millis(20);

/// The time limit for a replaced session to discharge its duties and to close.
const CLOSE_LIMIT: Duration = Duration::from_secs(2);

/// The pause before another attempt to open a session.
const REOPEN: Duration = Duration::from_millis(100);

/// The settings that all clients of a run share, except for their links.
#[derive(Clone, Debug)]
pub struct Common {
    /// The session timeout that they ask for.
    pub timeout: Duration,
    /// Rings when the time is over and faults have ended.
    pub over: Arc<Bell>,
}

/// One client, which stands for a process.
#[derive(Clone)]
pub struct RealClient {
    part: Arc<ClientProcess>,
}

struct ClientProcess {
    common: Common,
    address: String,
    scribe: Scribe,
    rng: Mutex<Xoshiro256PlusPlus>,
    session: Mutex<Option<Recorded<Client>>>,
}

impl RealClient {
    /// The client of that number, with its connect string.
    pub fn new(common: Common, address: String, tape: &Arc<Recorder>, number: u16, seed: u64) -> Self {
        // Each client has its own random stream, since the order of draws between clients is nondeterministic.
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        (0..number).for_each(|_| rng.jump());
        let name = char::from(b'a' + (number % 26) as u8).to_string();
        tape.write(|journal, at| {
            journal.name_client(number, &name);
            journal.note(at, Who::World, OpId(0), What::Start { client: number });
        });
        let scribe = Scribe::new(tape, number);
        RealClient {
            part: Arc::new(ClientProcess {
                common,
                address,
                scribe,
                rng: Mutex::new(rng),
                session: Mutex::new(None),
            }),
        }
    }

    /// Resolves when all its duties are discharged.
    pub async fn discharged(&self) {
        self.part.scribe.duties().idle().await;
    }

    /// The number of its current session.
    pub fn session(&self) -> Option<SessionId> {
        self.held().as_ref().map(ZooKeeper::session)
    }

    /// Closes its current session.
    pub async fn close(&self) {
        let session = self.held().take();
        if let Some(session) = session {
            // If it cannot be closed it expires.
            let _ = session.close(CLOSE_LIMIT).await;
        }
    }

    /// Draws the number of rounds before it starts anew, with new objects in a new session.
    pub fn stretch(&self) -> u32 {
        1 + self.draw(LONGEST_STRETCH)
    }

    fn held(&self) -> MutexGuard<'_, Option<Recorded<Client>>> {
        self.part.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn draw(&self, n: u32) -> u32 {
        self.part.rng.lock().unwrap_or_else(PoisonError::into_inner).random_range(0..n)
    }

    fn healed(&self) -> bool {
        self.part.common.over.has_rung()
    }
}

impl client::Client for RealClient {
    type Zk = Recorded<Client>;

    fn number(&self) -> u16 {
        self.part.scribe.client()
    }

    /// Returns its session if that lives, or else a new one.
    async fn open(&self) -> Result<Recorded<Client>, Error> {
        let session = self.held().clone().filter(|session| session.status().over().is_none());
        if let Some(session) = session {
            return Ok(session);
        }
        self.close().await;
        let options = Options::new(self.part.common.timeout);
        match Client::open(&self.part.address, options).await {
            Ok(session) => {
                let session = Recorded::new(session, self.part.scribe.clone());
                *self.held() = Some(session.clone());
                Ok(session)
            }
            Err(error) => {
                self.sleep(REOPEN).await;
                Err(error)
            }
        }
    }

    fn journal<R>(&self, write: impl FnOnce(&mut Journal, u64) -> R) -> R {
        self.part.scribe.tape().write(write)
    }

    fn set_op(&self, op: u32) {
        self.part.scribe.set_op(op);
    }

    fn op(&self) -> u32 {
        self.part.scribe.op()
    }

    fn choose(&self, n: u32) -> u32 {
        self.draw(n)
    }

    fn sleep(&self, by: Duration) -> impl Future<Output = ()> + Send {
        sleep(by)
    }

    async fn ending(&self) {
        self.part.common.over.rings().await;
    }

    async fn cancelled(&self) {
        if self.healed() || self.draw(CANCEL) != CANCEL - 1 {
            return pending().await;
        }
        sleep(CANCEL_WITHIN.mul_f64(f64::from(self.draw(1000)) / 1000.0)).await;
        if self.healed() {
            return pending().await;
        }
        let client = self.number();
        let what = What::Fault { kind: FaultKind::Cancel, victim: Victim::Process { client }, lasts: 0 };
        self.journal(|journal, at| journal.note(at, Who::World, OpId(0), what));
    }
}
