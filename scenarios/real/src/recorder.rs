//! Records a run in real time: a [`Recorder`] with a clock, and a [`Scribe`] for each client.
//!
//! A process that is stopped, or gets no processor, cannot record that meanwhile. So the observer (`stalls`) calls
//! [`Recorder::beat`] regularly: if no beat came for a quarter of a second, a pause of every client is recorded before
//! the next event, beginning at the last event or beat.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use zk_checker::history::{Code, Conn, FaultKind, OpId, ReqId, Request, SessionState, Victim, What, Who};
use zk_harness::journal::Journal;
use zk_recipes::zk::{Created, Error, ErrorKind, Over, SessionId, Stat, State, Status};

/// The shortest gap between two beats that counts as a pause of the process.
const STALL: Duration = Duration::from_millis(250);

/// The journal of a run in real time, and its clock.
pub struct Recorder {
    inner: Mutex<Inner>,
    start: Instant,
}

struct Inner {
    journal: Journal,
    /// The time of the last sign that the process runs, in microseconds; unused before the first beat.
    seen_alive: Option<u64>,
}

impl Inner {
    /// Records a pause of all clients, if there was no event or beat for too long.
    fn look_for_stall(&mut self, now: u64) {
        let Some(seen) = self.seen_alive else { return };
        let last = self.journal.history().events.last().map_or(0, |event| event.at);
        let begin = seen.max(last);
        if u128::from(now.saturating_sub(begin)) < STALL.as_micros() {
            return;
        }
        let clients = self.journal.history().header.clients.len() as u16;
        let mut note = |at, what| self.journal.note(at, Who::World, OpId(0), what);
        let victim = |client| Victim::Process { client };
        for client in 0..clients {
            let lasts = now - begin;
            note(begin, What::Fault { kind: FaultKind::SlowProcess, victim: victim(client), lasts });
        }
        for client in 0..clients {
            note(now, What::Mended { kind: FaultKind::SlowProcess, victim: victim(client) });
        }
    }
}

impl Recorder {
    /// A recording that begins now.
    #[expect(clippy::disallowed_methods, reason = "a real run happens in real time")]
    pub fn new(journal: Journal) -> Arc<Recorder> {
        Arc::new(Recorder { inner: Mutex::new(Inner { journal, seen_alive: None }), start: Instant::now() })
    }

    /// Records at the current time, in microseconds. Times never decrease.
    pub fn write<R>(&self, write: impl FnOnce(&mut Journal, u64) -> R) -> R {
        let (mut inner, at) = self.at_present();
        write(&mut inner.journal, at)
    }

    /// The journal, with any stall until now recorded, and the current time.
    fn at_present(&self) -> (MutexGuard<'_, Inner>, u64) {
        let mut inner = self.lock();
        let at = u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX);
        inner.look_for_stall(at);
        if inner.seen_alive.is_some() {
            inner.seen_alive = Some(at);
        }
        (inner, at)
    }

    /// Notes that the process runs. A long gap between two beats is a pause.
    pub fn beat(&self) {
        let mut inner = self.lock();
        let at = u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX);
        inner.look_for_stall(at);
        inner.seen_alive = Some(at);
    }

    /// Returns the recording so far, and continues with `next`.
    pub fn change(&self, next: Journal) -> Journal {
        std::mem::replace(&mut self.lock().journal, next)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A journal is consistent between any two events.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The number of duties that have begun and are not discharged.
#[derive(Default)]
pub struct Duties {
    begun: AtomicUsize,
    idle: Notify,
}

impl Duties {
    /// Counts a duty until the returned value is dropped.
    pub fn begin(self: &Arc<Self>) -> Begun {
        self.begun.fetch_add(1, SeqCst);
        Begun(self.clone())
    }

    /// Resolves when no duty is left.
    pub async fn idle(&self) {
        loop {
            let mut idle = pin!(self.idle.notified());
            idle.as_mut().enable();
            if self.begun.load(SeqCst) == 0 {
                return;
            }
            idle.await;
        }
    }
}

/// A duty that is being discharged.
#[must_use = "it counts for as long as it lives"]
pub struct Begun(Arc<Duties>);

impl Drop for Begun {
    fn drop(&mut self) {
        if self.0.begun.fetch_sub(1, SeqCst) == 1 {
            self.0.idle.notify_waiters();
        }
    }
}

/// Records for one client.
#[derive(Clone)]
pub struct Scribe {
    tape: Arc<Recorder>,
    client: u16,
    op: Arc<AtomicU32>,
    cleanup: bool,
    duties: Arc<Duties>,
}

impl Scribe {
    /// A scribe for that client.
    pub fn new(tape: &Arc<Recorder>, client: u16) -> Self {
        Scribe {
            tape: tape.clone(),
            client,
            op: Arc::new(AtomicU32::new(0)),
            cleanup: false,
            duties: Arc::default(),
        }
    }

    /// The recorder that it writes to.
    pub fn tape(&self) -> &Recorder {
        &self.tape
    }

    /// Assigns later requests to that operation.
    pub fn set_op(&self, op: u32) {
        self.op.store(op, SeqCst);
    }

    /// The operation of current requests, or 0.
    pub fn op(&self) -> u32 {
        self.op.load(SeqCst)
    }

    /// The duties of this client's sessions.
    pub fn duties(&self) -> &Arc<Duties> {
        &self.duties
    }

    /// The number of the client.
    pub fn client(&self) -> u16 {
        self.client
    }

    /// A scribe for a clean-up duty of the current operation.
    pub(crate) fn for_duty(&self) -> Self {
        let op = Arc::new(AtomicU32::new(self.op.load(SeqCst)));
        Scribe { op, cleanup: true, ..self.clone() }
    }

    pub(crate) fn note(&self, op: OpId, what: impl FnOnce(&mut Journal) -> What) {
        self.tape.write(|journal, at| {
            let what = what(journal);
            journal.note(at, Who::Client(self.client), op, what);
        });
    }

    pub(crate) fn sent(&self, kind: Request, path: &str, watch: bool) -> OpenRequest {
        let op = OpId(self.op.load(SeqCst));
        let mut req = ReqId(0);
        self.note(op, |journal| {
            req = journal.next_request();
            What::Send { req, kind, watch, cleanup: self.cleanup, path: journal.sym(path) }
        });
        OpenRequest { scribe: self.clone(), op, req }
    }

    pub(crate) fn state(&self, session: SessionId, state: SessionState) {
        self.note(OpId(0), |journal| What::State {
            session: journal.session(session),
            state,
            // Unknown to the client.
            conn: Conn(0),
            server: 0,
        });
    }

    /// Records how a session changed from one status to another.
    pub(crate) fn news(&self, session: SessionId, seen: Status, now: Status) {
        if seen.is_connected() && now.connection > seen.connection {
            self.state(session, SessionState::Suspended);
        }
        let state = match now.state {
            State::Connected => SessionState::Connected,
            State::Suspended => SessionState::Suspended,
            State::Over(Over::Closed) => SessionState::Closed,
            State::Over(Over::Expired | Over::AuthFailed) => SessionState::Expired,
        };
        self.state(session, state);
    }
}

/// A recorded request.
pub(crate) struct OpenRequest {
    scribe: Scribe,
    op: OpId,
    req: ReqId,
}

impl OpenRequest {
    /// Records the reply.
    fn heard(&self, answer: Result<ReplyFacts, &Error>) {
        let (code, answer) = match answer {
            Ok(answer) => (answer.code, answer),
            Err(e) if e.is_connection_loss() => {
                return self.scribe.note(self.op, |_| What::Lost { req: self.req });
            }
            Err(error) => (code(error), ReplyFacts::PLAIN),
        };
        self.scribe.tape.write(|journal, at| {
            let who = Who::Client(self.scribe.client);
            let what = What::Reply { req: self.req, code, zxid: answer.zxid, conn: Conn(0) };
            journal.note(at, who, self.op, what);
            if let Some((path, czxid)) = answer.made {
                let what = What::Made { path: journal.sym(&path), czxid: czxid as u64 };
                journal.note(at, who, self.op, what);
            }
        });
    }
}

/// Step 2, around the future of a request in flight.
pub(crate) async fn heard<T>(
    asked: OpenRequest,
    answer: impl Future<Output = Result<T, Error>>,
    tells: impl Fn(&T) -> ReplyFacts,
) -> Result<T, Error> {
    let answer = answer.await;
    asked.heard(answer.as_ref().map(tells));
    answer
}

/// The information in a successful reply.
pub(crate) struct ReplyFacts {
    code: Code,
    /// The largest zxid in its stats.
    zxid: u64,
    /// The path and the czxid of a new znode.
    made: Option<(String, i64)>,
}

impl ReplyFacts {
    pub(crate) const PLAIN: ReplyFacts = ReplyFacts { code: Code::Ok, zxid: 0, made: None };

    pub(crate) fn stat(stat: &Stat) -> ReplyFacts {
        ReplyFacts { zxid: stat.czxid.max(stat.mzxid).max(stat.pzxid) as u64, ..ReplyFacts::PLAIN }
    }

    pub(crate) fn maybe(stat: &Option<Stat>) -> ReplyFacts {
        stat.as_ref().map_or(ReplyFacts { code: Code::NoNode, ..ReplyFacts::PLAIN }, ReplyFacts::stat)
    }

    pub(crate) fn made(made: &Created) -> ReplyFacts {
        ReplyFacts { made: Some((made.path.clone(), made.stat.czxid)), ..ReplyFacts::stat(&made.stat) }
    }
}

fn code(error: &Error) -> Code {
    match error.kind() {
        ErrorKind::NoNode => Code::NoNode,
        ErrorKind::NodeExists => Code::NodeExists,
        ErrorKind::BadVersion => Code::BadVersion,
        ErrorKind::NotEmpty => Code::NotEmpty,
        ErrorKind::NoChildrenForEphemerals => Code::NoChildrenForEphemerals,
        ErrorKind::SessionOver(_) => Code::SessionExpired,
        ErrorKind::Multi { cause, .. } => code(cause),
        ErrorKind::Refused(zk_recipes::zk::Code::ThrottledOp) => Code::Throttled,
        _ => Code::Other,
    }
}
