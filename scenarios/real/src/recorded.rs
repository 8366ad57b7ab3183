//! A session that records its requests, replies and notifications: [`Recorded`], around any other [`ZooKeeper`].
//!
//! 1. A request is sent: `Send`, at the call.
//! 2. Its reply arrives: `Reply` or `Lost`, when the future resolves. A dropped future records no reply.
//! 3. A watch resolves with an event, or a tree watch yields one: `Notice`.
//! 4. The session changes its state: `State`, before any caller can observe the change through the wrapper. So the disconnect is
//!    recorded before the loss of a hold.
//!
//! The wrapper also discharges duties, as clean-up requests: without their deletions a history would show waiters that
//! wake up for no reason.

use crate::recorder::{ReplyFacts, Scribe, heard};
use futures_util::Stream;
use futures_util::future::select;
use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use zk_checker::history::{Conn, OpId, Request, SessionState, What};
use zk_harness::journal::notify;
use zk_recipes::zk::duty::discharge;
use zk_recipes::zk::{
    Armed, CreateMode, Created, Data, Discharge, Duty, DutyId, Error, Event, Guid, InFlight, Listing,
    OnSessionOver, Op, OpResult, Runtime, SessionId, Stat, State, Status, Time, TreeEvent, ZooKeeper,
};

/// Follows the states of a session for as long as this value lives.
struct Follower(AbortHandle);

impl Drop for Follower {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The state of a session that was recorded last.
struct RecordedState {
    scribe: Scribe,
    session: SessionId,
    status: Mutex<Status>,
}

impl RecordedState {
    /// Step 4.
    fn write_down(&self, now: Status) {
        let mut seen = self.status.lock().unwrap_or_else(PoisonError::into_inner);
        // Another task may have recorded a later state first.
        if now.changes > seen.changes {
            self.scribe.news(self.session, *seen, now);
            *seen = now;
        }
    }
}

/// A recorded session. Clones record the same session.
#[derive(Clone)]
pub struct Recorded<Z: ZooKeeper> {
    zk: Z,
    scribe: Scribe,
    seen: Arc<RecordedState>,
    _follower: Arc<Follower>,
}

impl<Z: ZooKeeper> Recorded<Z> {
    /// Records that session from here on.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime, which follows its states and discharges its duties.
    pub fn new(zk: Z, scribe: Scribe) -> Self {
        let first = zk.status();
        let session = zk.session();
        scribe.state(session, SessionState::Connected);
        if !first.is_connected() {
            scribe.news(session, Status { state: State::Connected, ..first }, first);
        }
        let seen = Arc::new(RecordedState { scribe: scribe.clone(), session, status: Mutex::new(first) });
        let (followed, writes) = (zk.clone(), seen.clone());
        let follower = tokio::spawn(async move {
            let mut status = first;
            while status.over().is_none() {
                status = followed.changed(status).await;
                writes.write_down(status);
            }
        });
        Recorded { zk, scribe, seen, _follower: Arc::new(Follower(follower.abort_handle())) }
    }

    /// Step 3, for a pending watch.
    fn watching(&self) -> RecordedWatch<()> {
        RecordedWatch { watch: (), scribe: self.scribe.clone(), session: self.zk.session() }
    }

    /// Step 3, for the watch that comes with a reply.
    fn with_watch<T, F>(
        &self,
        answer: F,
    ) -> impl Future<Output = Result<(T, RecordedWatch<Z::Watch>), Error>> + Send + use<Z, T, F>
    where
        T: Send,
        F: Future<Output = Result<(T, Z::Watch), Error>> + Send,
    {
        let recorded = self.watching();
        async move {
            let (told, watch) = answer.await?;
            Ok((told, recorded.of(watch)))
        }
    }
}

impl<Z: ZooKeeper> fmt::Debug for Recorded<Z> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorded").field("session", &self.zk.session()).finish_non_exhaustive()
    }
}

/// The path under which a transaction is recorded.
fn foremost(ops: &[Op]) -> &str {
    match ops.first() {
        Some(
            Op::Check { path, .. } | Op::Create { path, .. } | Op::Delete { path, .. } | Op::Set { path, .. },
        ) => path,
        None => "",
    }
}

/// The watch of a [`Recorded`] session: of one notification, or of a tree.
#[must_use = "dropping a watch removes it"]
pub struct RecordedWatch<W> {
    watch: W,
    scribe: Scribe,
    session: SessionId,
}

impl RecordedWatch<()> {
    fn of<W>(self, watch: W) -> RecordedWatch<W> {
        RecordedWatch { watch, scribe: self.scribe, session: self.session }
    }
}

impl<W> RecordedWatch<W> {
    fn write_down(&self, event: &Event) {
        let session = self.session;
        self.scribe.note(OpId(0), |journal| What::Notice {
            session: journal.session(session),
            kind: notify(event.kind),
            path: journal.sym(&event.path),
            conn: Conn(0),
        });
    }
}

impl<W> Future for RecordedWatch<W>
where
    W: Future<Output = Result<Event, Error>> + Unpin,
{
    type Output = Result<Event, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let event = ready!(Pin::new(&mut self.watch).poll(cx));
        if let Ok(event) = &event {
            self.write_down(event);
        }
        Poll::Ready(event)
    }
}

impl<W> Stream for RecordedWatch<W>
where
    W: Stream<Item = Result<TreeEvent, Error>> + Unpin,
{
    type Item = Result<TreeEvent, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let told = ready!(Pin::new(&mut self.watch).poll_next(cx));
        // Missed events show in the states of the session.
        if let Some(Ok(TreeEvent::Changed(event))) = &told {
            self.write_down(event);
        }
        Poll::Ready(told)
    }
}

struct Discharger<Z: ZooKeeper> {
    zk: Recorded<Z>,
    runtime: Handle,
}

impl<Z: ZooKeeper> Discharge for Discharger<Z> {
    fn start(self: Arc<Self>, _: DutyId, duty: Duty) {
        let begun = self.zk.scribe.duties().begin();
        // The first request is sent here; the task only waits for replies.
        let work = discharge(&self.zk, duty);
        self.runtime.spawn(async move {
            work.await;
            drop(begun);
        });
    }

    fn done(&self, _: DutyId) {}
}

impl<Z: ZooKeeper> Runtime for Recorded<Z> {
    fn now(&self) -> Time {
        self.zk.now()
    }

    fn sleep_until(&self, until: Time) -> impl Future<Output = ()> + Send + use<Z> {
        self.zk.sleep_until(until)
    }

    fn guid(&self) -> Guid {
        self.zk.guid()
    }

    /// The wrapper discharges the duty, so that its requests are recorded as clean-up.
    fn arm(&self, duty: Duty) -> Armed {
        let zk = Recorded { scribe: self.scribe.for_duty(), ..self.clone() };
        Armed::new(0, duty, Arc::new(Discharger { zk, runtime: Handle::current() }))
    }
}

impl<Z: ZooKeeper> ZooKeeper for Recorded<Z> {
    type Watch = RecordedWatch<Z::Watch>;
    type TreeWatch = RecordedWatch<Z::TreeWatch>;

    fn create(&self, path: &str, data: &[u8], mode: CreateMode) -> impl InFlight<Created> + use<Z> {
        let asked = self.scribe.sent(Request::Create, path, false);
        heard(asked, self.zk.create(path, data, mode), ReplyFacts::made)
    }

    fn delete(&self, path: &str, version: Option<i32>) -> impl InFlight<()> + use<Z> {
        let asked = self.scribe.sent(Request::Delete, path, false);
        heard(asked, self.zk.delete(path, version), |()| ReplyFacts::PLAIN)
    }

    fn set(&self, path: &str, data: &[u8], version: Option<i32>) -> impl InFlight<Stat> + use<Z> {
        let asked = self.scribe.sent(Request::Set, path, false);
        heard(asked, self.zk.set(path, data, version), ReplyFacts::stat)
    }

    fn exists(&self, path: &str) -> impl InFlight<Option<Stat>> + use<Z> {
        let asked = self.scribe.sent(Request::Exists, path, false);
        heard(asked, self.zk.exists(path), ReplyFacts::maybe)
    }

    fn exists_watch(&self, path: &str) -> impl InFlight<(Option<Stat>, Self::Watch)> + use<Z> {
        let asked = self.scribe.sent(Request::Exists, path, true);
        let answer = heard(asked, self.zk.exists_watch(path), |(stat, _)| ReplyFacts::maybe(stat));
        self.with_watch(answer)
    }

    fn get(&self, path: &str) -> impl InFlight<Data> + use<Z> {
        let asked = self.scribe.sent(Request::Get, path, false);
        heard(asked, self.zk.get(path), |data: &Data| ReplyFacts::stat(&data.stat))
    }

    fn get_watch(&self, path: &str) -> impl InFlight<(Data, Self::Watch)> + use<Z> {
        let asked = self.scribe.sent(Request::Get, path, true);
        self.with_watch(heard(asked, self.zk.get_watch(path), |(data, _)| ReplyFacts::stat(&data.stat)))
    }

    fn children(&self, path: &str) -> impl InFlight<Listing> + use<Z> {
        let asked = self.scribe.sent(Request::Children, path, false);
        heard(asked, self.zk.children(path), |list: &Listing| ReplyFacts::stat(&list.stat))
    }

    fn children_watch(&self, path: &str) -> impl InFlight<(Listing, Self::Watch)> + use<Z> {
        let asked = self.scribe.sent(Request::Children, path, true);
        self.with_watch(heard(asked, self.zk.children_watch(path), |(list, _)| ReplyFacts::stat(&list.stat)))
    }

    fn get_many(&self, paths: &[String]) -> impl InFlight<Vec<Option<Data>>> + use<Z> {
        let asked = self.scribe.sent(Request::MultiRead, paths.first().map_or("", String::as_str), false);
        heard(asked, self.zk.get_many(paths), |_| ReplyFacts::PLAIN)
    }

    fn multi(&self, ops: Vec<Op>) -> impl InFlight<Vec<OpResult>> + use<Z> {
        let asked = self.scribe.sent(Request::Multi, foremost(&ops), false);
        heard(asked, self.zk.multi(ops), |_| ReplyFacts::PLAIN)
    }

    fn sync(&self, path: &str) -> impl InFlight<()> + use<Z> {
        let asked = self.scribe.sent(Request::Sync, path, false);
        heard(asked, self.zk.sync(path), |()| ReplyFacts::PLAIN)
    }

    fn watch_tree(&self, path: &str) -> impl InFlight<Self::TreeWatch> + use<Z> {
        let asked = self.scribe.sent(Request::AddWatch, path, true);
        let (answer, recorded) =
            (heard(asked, self.zk.watch_tree(path), |_| ReplyFacts::PLAIN), self.watching());
        async move { Ok(recorded.of(answer.await?)) }
    }

    fn session(&self) -> SessionId {
        self.zk.session()
    }

    fn status(&self) -> Status {
        let status = self.zk.status();
        self.seen.write_down(status);
        status
    }

    fn changed(&self, seen: Status) -> impl Future<Output = Status> + Send + use<Z> {
        let (changed, writes) = (self.zk.changed(seen), self.seen.clone());
        async move {
            let status = changed.await;
            writes.write_down(status);
            status
        }
    }

    fn safe_until(&self) -> Time {
        self.zk.safe_until()
    }

    fn added_bytes(&self) -> usize {
        self.zk.added_bytes()
    }

    fn on_session_over(&self, listener: Weak<dyn OnSessionOver>) {
        self.zk.on_session_over(listener);
    }

    fn timeout(&self) -> Duration {
        self.zk.timeout()
    }

    fn max_request_bytes(&self) -> usize {
        self.zk.max_request_bytes()
    }

    fn close(&self, limit: Duration) -> impl InFlight<()> + use<Z> {
        let this = self.clone();
        async move {
            let begun = this.zk.now();
            let idle = this.scribe.duties().idle();
            // The end of the session deletes what is left at the limit.
            let _ = select(pin!(idle), pin!(this.zk.sleep_until(begun + limit))).await;
            let rest = limit.saturating_sub(this.zk.now().since(begun));
            let asked = this.scribe.sent(Request::CloseSession, "/", false);
            heard(asked, this.zk.close(rest), |()| ReplyFacts::PLAIN).await
        }
    }
}
