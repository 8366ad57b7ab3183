//! Receipts make writes exactly-once, regardless of lost replies.
//!
//! 1. *Make*: create a small ephemeral znode under a fresh guid; its version counts the owner's writes. The create is
//!    confirmed before the first write, so that an absent receipt has one meaning.
//! 2. *Write*: every write is one transaction whose first operation sets the receipt, at the expected version, to the
//!    number of the write.
//! 3. *Lost reply*: retry the same transaction. Success: applied now. Refused at another operation: not applied. Refused at
//!    the receipt: applied before, if the receipt has the write's number; otherwise another client has written to it. No
//!    receipt: another client deleted it, and the outcome is unknown.
//! 4. *Cancellation*: a dropped write leaves its outcome unknown; the next write reads the receipt first.
//! 5. *Unpolled*: a write whose future nobody polls must not block the next one. The next write waits for the reply, not
//!    for the future, and reads the receipt if the reply is lost. The unpolled future finds its outcome recorded.
//!
//! One write is in flight at a time, and any caller can finish it: no lock is held across an await.

use super::locked::locked;
use super::retry::{again, connected, reconnected};
use crate::zk::duty::{answered, settle};
use crate::zk::{
    Armed, CreateMode, Data, Duty, Error, ErrorKind, Op, OpResult, Stat, Status, ZooKeeper, path,
};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

/// A receipt and its known version. Clones share it.
pub(crate) struct Receipt<Z: ZooKeeper> {
    zk: Z,
    directory: Arc<str>,
    state: Arc<Mutex<ReceiptState>>,
}

impl<Z: ZooKeeper> Clone for Receipt<Z> {
    fn clone(&self) -> Self {
        Receipt { zk: self.zk.clone(), directory: self.directory.clone(), state: self.state.clone() }
    }
}

#[derive(Default)]
struct ReceiptState {
    znode: Option<Znode>,
    doubt: Option<Doubt>,
}

struct Znode {
    path: String,
    /// `None` until the create is confirmed.
    version: Option<i32>,
    /// Creates without a definite answer.
    in_doubt: u32,
    /// Deletes the receipt when its owner is dropped.
    armed: Armed,
}

/// A write whose outcome is not recorded yet.
struct Doubt {
    /// The expected version of the receipt.
    version: i32,
    /// The connection of the last attempt.
    sent_on: u32,
    /// The number of attempts.
    sends: u32,
    /// A reply was lost, so a refusal at the receipt may mean that the write was applied before.
    is_lost: bool,
    /// A lost attempt may still be on its way: no later one was processed behind it.
    is_under_way: bool,
    /// `None`: the reply was lost, or dropped with its writer.
    answer: Option<SharedReply>,
    /// Read by the writer, which may be unpolled while another caller finds the outcome.
    outcome: OutcomeCell,
}

/// The reply to a write, for any number of waiters.
type SharedReply = Shared<BoxFuture<'static, Result<Results, Error>>>;

/// The results of all operations of a transaction, that of the receipt first.
type Results = Arc<[OpResult]>;

/// A write that was applied.
#[derive(Clone, Debug)]
pub(crate) struct Applied(Option<Results>);

impl Applied {
    /// The stat of the last znode that it wrote; none if the reply was lost, or if it wrote none.
    pub(crate) fn last_written(&self) -> Option<&Stat> {
        self.0.as_deref()?.iter().rev().find_map(|result| match result {
            OpResult::Set(stat) => Some(stat),
            _ => None,
        })
    }

    /// The path of the last znode that it created; none if the reply was lost, or if it created none.
    pub(crate) fn last_created(&self) -> Option<&str> {
        self.0.as_deref()?.iter().rev().find_map(|result| match result {
            OpResult::Created(path) => Some(path.as_str()),
            _ => None,
        })
    }
}

/// How an attempt ended.
enum Attempt {
    Applied(Applied),
    /// The receipt is gone.
    Gone,
    /// Certainly not applied: may be sent anew.
    NotApplied,
}

/// The outcome of a write, recorded once.
type OutcomeCell = Arc<OnceLock<WriteOutcome>>;

/// The outcome of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteOutcome {
    Applied,
    NotApplied,
    /// The receipt was deleted or overwritten by another client.
    Unknown,
}

/// The caller's write in flight. Dropped, its outcome stays unknown.
struct Sent<'a> {
    state: &'a Mutex<ReceiptState>,
    outcome: OutcomeCell,
    answer: SharedReply,
}

impl Drop for Sent<'_> {
    fn drop(&mut self) {
        let mut state = locked(self.state);
        if let Some(doubt) = state.doubt_of(&self.outcome) {
            doubt.answer = None;
        }
    }
}

/// The result of an attempt to send.
enum Sending<'a> {
    Sent(Sent<'a>),
    /// Another write is in flight.
    Busy,
    /// There is no receipt, or another one than expected.
    Gone,
}

/// The data that a write at this version stores in the receipt.
fn number(version: i32) -> Vec<u8> {
    version.wrapping_add(1).to_string().into_bytes()
}

/// The outcome of a write at `version` that stores `data` in the receipt, according to the receipt.
pub(super) fn outcome_at(version: i32, data: &[u8], found: &Data) -> WriteOutcome {
    let writes = found.stat.version.wrapping_sub(version);
    match writes {
        0 => WriteOutcome::NotApplied,
        1 if found.data == data => WriteOutcome::Applied,
        // Another client's write took this version.
        1 => WriteOutcome::NotApplied,
        _ => WriteOutcome::Unknown,
    }
}

impl ReceiptState {
    fn known(&self) -> Option<(&str, i32)> {
        let znode = self.znode.as_ref()?;
        Some((&znode.path, znode.version?))
    }

    fn set_version(&mut self, version: i32) {
        if let Some(znode) = &mut self.znode {
            znode.version = Some(version);
        }
    }

    /// Abandons the receipt, which is gone or written by another client; the next one gets a fresh name.
    fn forget(&mut self) {
        if let Some(znode) = self.znode.take() {
            znode.armed.done();
        }
    }

    /// The create was refused. If no other create may have been applied, a client without access has nothing to delete, and
    /// its delete would be denied as well.
    fn refused(&mut self, path: &str, is_denied: bool) {
        let Some(znode) = self.znode.as_mut().filter(|znode| znode.path == path) else { return };
        znode.in_doubt -= 1;
        if is_denied && znode.in_doubt == 0 && znode.version.is_none() {
            self.forget();
        }
    }

    /// The pending write, if its outcome is not recorded.
    fn doubt_of(&mut self, cell: &OutcomeCell) -> Option<&mut Doubt> {
        self.doubt.as_mut().filter(|doubt| Arc::ptr_eq(&doubt.outcome, cell))
    }

    /// Records the outcome of the pending write.
    fn settle(&mut self, outcome: WriteOutcome) {
        if let Some(doubt) = self.doubt.take() {
            // Only one caller takes the pending write, so the cell is empty.
            let _ = doubt.outcome.set(outcome);
        }
    }

    /// Steps 2 and 3: records the reply, unless another caller has recorded the outcome.
    fn take_down(&mut self, cell: &OutcomeCell, answer: &Result<Results, Error>) {
        let Some(doubt) = self.doubt_of(cell) else { return };
        let next = doubt.version.wrapping_add(1);
        let Err(error) = answer else {
            self.set_version(next);
            return self.settle(WriteOutcome::Applied);
        };
        if error.is_outcome_unknown() {
            (doubt.is_lost, doubt.is_under_way) = (true, true);
            doubt.answer = None;
            return;
        }
        let at_receipt = match error {
            Error { kind: ErrorKind::Multi { index: 0, cause }, .. } => Some(&**cause),
            _ => None,
        };
        match at_receipt {
            // The version has moved on: read the receipt to learn whether by this write.
            Some(e) if e.is_bad_version() && doubt.is_lost => {
                (doubt.is_under_way, doubt.answer) = (false, None);
            }
            Some(e) if e.is_no_node() && doubt.is_lost => {
                self.forget();
                self.settle(WriteOutcome::Unknown);
            }
            // Another client wrote or deleted the receipt: nothing was applied.
            Some(Error { kind: ErrorKind::BadVersion | ErrorKind::NoNode, .. }) => {
                self.forget();
                self.settle(WriteOutcome::NotApplied);
            }
            // An earlier attempt may have been applied: read the receipt.
            _ if doubt.is_lost && error.says_nothing_of_the_tree() => doubt.answer = None,
            _ => self.settle(WriteOutcome::NotApplied),
        }
    }
}

impl<Z: ZooKeeper> Receipt<Z> {
    /// A receipt in `directory`. Sends nothing.
    pub(crate) fn new(zk: &Z, directory: String) -> Self {
        Receipt { zk: zk.clone(), directory: directory.into(), state: Arc::default() }
    }

    fn state(&self) -> MutexGuard<'_, ReceiptState> {
        locked(&self.state)
    }

    /// The path of the receipt, if it is confirmed.
    pub(crate) fn path(&self) -> Option<String> {
        self.state().known().map(|(path, _)| path.to_owned())
    }

    /// Whether both are the same receipt.
    pub(crate) fn is(&self, other: &Receipt<Z>) -> bool {
        Arc::ptr_eq(&self.state, &other.state)
    }

    /// Step 1. One create at a time.
    ///
    /// # Errors
    ///
    /// `NoNode` when the directory is missing.
    pub(crate) async fn make(&self) -> Result<(), Error> {
        while self.path().is_none() {
            let status = connected(&self.zk).await?;
            let (path, create) = {
                let mut state = self.state();
                let znode = state.znode.get_or_insert_with(|| {
                    let path = path::join(&self.directory, &self.zk.guid().to_string());
                    // The name is never reused, and the delete comes behind every request in flight.
                    let armed = self.zk.arm(Duty::Path(path.clone()));
                    Znode { armed, path, version: None, in_doubt: 0 }
                });
                znode.in_doubt += 1;
                (znode.path.clone(), self.zk.create(&znode.path, &[], CreateMode::Ephemeral))
            };
            match create.await {
                // The name is unique: an existing znode was created by an attempt whose reply was lost.
                Ok(_) | Err(Error { kind: ErrorKind::NodeExists, .. }) => self.state().set_version(0),
                Err(e) => {
                    if !e.is_outcome_unknown() {
                        self.state().refused(&path, e.is_denied());
                    }
                    again(&self.zk, status, e).await?;
                }
            }
        }
        Ok(())
    }

    /// Steps 4 and 5: returns the outcome of the previous write, if it was pending. Waits for its reply, or reads the
    /// receipt if the reply is lost.
    pub(crate) async fn settled(&self) -> Result<Option<WriteOutcome>, Error> {
        loop {
            let (cell, answer) = match &self.state().doubt {
                Some(doubt) => (doubt.outcome.clone(), doubt.answer.clone()),
                None => return Ok(None),
            };
            match answer {
                Some(answer) => {
                    let answer = answer.await;
                    self.state().take_down(&cell, &answer);
                }
                None => self.ask(&cell).await?,
            }
            if let Some(outcome) = cell.get() {
                return Ok(Some(*outcome));
            }
        }
    }

    /// Reads the receipt once to learn the outcome of the write.
    async fn ask(&self, cell: &OutcomeCell) -> Result<(), Error> {
        let status = connected(&self.zk).await?;
        let (sends, settling, reading) = {
            let mut state = self.state();
            let Some((path, _)) = state.known().map(|(path, version)| (path.to_owned(), version)) else {
                state.settle(WriteOutcome::Unknown);
                return Ok(());
            };
            let Some(doubt) = state.doubt_of(cell).filter(|doubt| doubt.answer.is_none()) else {
                return Ok(());
            };
            // On the same connection a read is ordered behind the write; on another one it needs a settling write, and so it does
            // behind an attempt that the server has refused to process.
            let is_behind = status.connection == doubt.sent_on && !doubt.is_under_way;
            let settling = (!is_behind).then(|| settle(&self.zk, &path));
            let reading = self.zk.get(&path);
            (doubt.sends, settling, reading)
        };
        // A refused settling write orders nothing.
        let found = match answered(settling).await.and(reading.await) {
            Err(e) if e != ErrorKind::NoNode => return again(&self.zk, status, e).await,
            found => found,
        };
        let mut state = self.state();
        // The writer may have retried behind this read.
        let Some(doubt) = state.doubt_of(cell).filter(|doubt| doubt.sends == sends) else { return Ok(()) };
        let version = doubt.version;
        match found {
            Ok(found) => {
                state.set_version(found.stat.version);
                state.settle(outcome_at(version, &number(version), &found));
            }
            Err(_) => {
                state.forget();
                state.settle(WriteOutcome::Unknown);
            }
        }
        Ok(())
    }

    /// Steps 2 and 3: applies `ops` in one transaction, exactly once, after settling a dropped write. Creates a new receipt
    /// if the old one is gone.
    ///
    /// # Errors
    ///
    /// [`Error::refused_operation`] with the index of the operation of `ops` that was refused: nothing was applied. `NoNode` when the
    /// directory is missing: nothing was applied. An unknown outcome only when a reply was lost and the session is over, or
    /// another client deleted the receipt or wrote over it, or an access list denied the read of it.
    pub(crate) async fn write(&self, ops: &[Op]) -> Result<Applied, Error> {
        self.settled().await?;
        loop {
            self.make().await?;
            if let Some(applied) = self.send(None, ops).await? {
                return Ok(applied);
            }
        }
    }

    /// Writes only while the receipt `stood` exists; `None` if it does not. As long as it does, its directory was not
    /// deleted and recreated: data read since then belong to the znodes that `ops` name.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write).
    pub(crate) async fn write_under(&self, stood: &str, ops: &[Op]) -> Result<Option<Applied>, Error> {
        self.send(Some(stood), ops).await
    }

    /// Applies `ops`; `None` if the receipt is gone or is not `stood`.
    async fn send(&self, stood: Option<&str>, ops: &[Op]) -> Result<Option<Applied>, Error> {
        loop {
            self.settled().await?;
            let path = self.path();
            if path.is_none() || stood.is_some() && path.as_deref() != stood {
                return Ok(None);
            }
            let status = connected(&self.zk).await?;
            match self.begin(status, stood, ops) {
                Sending::Busy => {}
                Sending::Gone => return Ok(None),
                Sending::Sent(sent) => match self.outcome(sent, status, ops).await? {
                    Attempt::Applied(applied) => return Ok(Some(applied)),
                    Attempt::Gone => return Ok(None),
                    Attempt::NotApplied => {}
                },
            }
        }
    }

    fn request(&self, path: &str, version: i32, ops: &[Op]) -> SharedReply {
        let receipt = Op::Set { path: path.to_owned(), data: number(version), version: Some(version) };
        let multi = self.zk.multi(std::iter::once(receipt).chain(ops.iter().cloned()).collect());
        multi.map(|answer| answer.map(Results::from)).boxed().shared()
    }

    /// Step 2, if no write is pending.
    fn begin(&self, status: Status, stood: Option<&str>, ops: &[Op]) -> Sending<'_> {
        let mut state = self.state();
        if state.doubt.is_some() {
            return Sending::Busy;
        }
        let Some((path, version)) =
            state.known().filter(|(path, _)| stood.is_none_or(|stood| stood == *path))
        else {
            return Sending::Gone;
        };
        let (answer, outcome) = (self.request(path, version, ops), OutcomeCell::default());
        let doubt = Doubt {
            version,
            sent_on: status.connection,
            sends: 1,
            is_lost: false,
            is_under_way: false,
            answer: Some(answer.clone()),
            outcome: outcome.clone(),
        };
        state.doubt = Some(doubt);
        Sending::Sent(Sent { state: &self.state, outcome, answer })
    }

    /// Step 3, unless another caller has recorded the outcome.
    fn send_again(&self, sent: &mut Sent<'_>, status: Status, ops: &[Op]) {
        let mut state = self.state();
        let Some(path) = state.known().map(|(path, _)| path.to_owned()) else { return };
        let Some(doubt) = state.doubt_of(&sent.outcome) else { return };
        sent.answer = self.request(&path, doubt.version, ops);
        doubt.answer = Some(sent.answer.clone());
        doubt.sent_on = status.connection;
        doubt.sends += 1;
    }

    /// Step 3: returns how the attempt ended.
    async fn outcome(&self, mut sent: Sent<'_>, mut status: Status, ops: &[Op]) -> Result<Attempt, Error> {
        let mut is_lost = false;
        loop {
            let answer = sent.answer.clone().await;
            self.state().take_down(&sent.outcome, &answer);
            if sent.outcome.get().is_none() {
                match &answer {
                    Err(e) if e.is_connection_loss() => {
                        is_lost = true;
                        status = reconnected(&self.zk, status).await?;
                        self.send_again(&mut sent, status, ops);
                        if sent.outcome.get().is_none() {
                            continue;
                        }
                    }
                    // The read of the receipt may be denied as well: then the outcome is unknown.
                    _ => drop(self.settled().await.map_err(Error::while_in_doubt)?),
                }
            }
            match (sent.outcome.get(), answer) {
                (Some(WriteOutcome::Applied), answer) => return Ok(Attempt::Applied(Applied(answer.ok()))),
                (
                    Some(WriteOutcome::NotApplied),
                    Err(Error { kind: ErrorKind::Multi { index: 0, cause }, .. }),
                ) => match *cause {
                    Error { kind: ErrorKind::BadVersion, .. } if is_lost => return Ok(Attempt::NotApplied),
                    Error { kind: ErrorKind::BadVersion | ErrorKind::NoNode, .. } => {
                        return Ok(Attempt::Gone);
                    }
                    cause => return Err(cause),
                },
                (
                    Some(WriteOutcome::NotApplied),
                    Err(Error { kind: ErrorKind::Multi { index, cause }, .. }),
                ) => {
                    return Err(ErrorKind::Multi { index: index - 1, cause }.into());
                }
                // An overloaded server did not process the request.
                (Some(WriteOutcome::NotApplied), Err(e)) if e.is_retryable_refusal() => {
                    again(&self.zk, status, e).await?;
                    return Ok(Attempt::NotApplied);
                }
                // Another caller recorded the outcome.
                (
                    Some(WriteOutcome::NotApplied),
                    Ok(_) | Err(Error { kind: ErrorKind::ConnectionLoss, .. }),
                ) => {
                    return Ok(Attempt::NotApplied);
                }
                (Some(WriteOutcome::NotApplied), Err(e)) => return Err(e),
                (Some(WriteOutcome::Unknown) | None, _) => return Err(ErrorKind::ConnectionLoss.into()),
            }
        }
    }
}
