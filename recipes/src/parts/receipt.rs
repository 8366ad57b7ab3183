//! Receipts, for writes that must happen exactly once, whatever replies are lost.
//!
//! 1. *Make*: a small ephemeral znode under a fresh guid. Its version counts its owner's writes. It is made and answered
//!    before the first write: else a receipt that is not there could mean two things.
//! 2. *Write*: every write is one transaction whose first operation sets the receipt at the version that we count, to the
//!    number of the write.
//! 3. *Lost reply*: send the same transaction again. Done: applied now. Refused at another operation: really refused.
//!    Refused at the receipt: it was applied before, if the receipt bears the number; else another client has written to
//!    it. No receipt: another client took it, and nobody knows.
//! 4. *Dropped*: whoever drops a write leaves it in doubt; the next one reads the receipt first.
//! 5. *Left alone*: a write whose future nobody polls must not hold up the next one. The next one waits for the answer, not
//!    for the future, and if the answer is lost it reads the receipt as in 4. Who is polled again finds its fate written down.
//!
//! One write at a time is under way, and whoever comes next can bring it to its end: no lock is held while anybody waits.

use super::retry::{again, connected, reconnected};
use crate::zk::duty::{answered, settle};
use crate::zk::{Armed, CreateMode, Data, Duty, Error, Op, Status, ZooKeeper, path};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// A receipt, and what is known of its version. Clones are the same receipt.
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
    /// `None` until it is known that it was made.
    version: Option<i32>,
    /// How many creates may have made it: those without an answer, yet or for good.
    in_doubt: u32,
    /// Deletes it when its owner goes.
    armed: Armed,
}

/// A write that was sent and whose answer nobody has taken down.
struct Doubt {
    /// The version of the receipt with which it was sent.
    version: i32,
    /// The connection on which it was sent last.
    sent_on: u32,
    /// How often it was sent.
    sends: u32,
    /// A reply was lost: that the receipt refuses it may mean that it was applied before.
    is_lost: bool,
    /// `None`: lost, or dropped with its writer.
    answer: Option<SharedReply>,
    /// For its writer, who may be left alone while another client finds it out.
    outcome: OutcomeCell,
}

/// The answer to a write: whoever needs it can wait for it.
type SharedReply = Shared<BoxFuture<'static, Result<(), Error>>>;

/// Where the fate of a write is written down, once.
type OutcomeCell = Arc<OnceLock<WriteOutcome>>;

/// What became of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteOutcome {
    Applied,
    NotApplied,
    /// The receipt is gone, or another client has written over it: nobody knows.
    Unknown,
}

/// A write of one's own that is under way. Dropped, it stays in doubt.
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

/// What came of sending a write.
enum Sending<'a> {
    Sent(Sent<'a>),
    /// Another one is under way.
    Busy,
    /// There is no receipt, or not the one that was meant.
    Gone,
}

fn locked(state: &Mutex<ReceiptState>) -> MutexGuard<'_, ReceiptState> {
    // A panic cannot leave the value half updated.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a write sets the receipt to that finds it at this version.
fn number(version: i32) -> Vec<u8> {
    version.wrapping_add(1).to_string().into_bytes()
}

/// What became of a write that found the receipt at `version`, if it found it.
fn outcome_at(version: i32, found: &Data) -> WriteOutcome {
    let writes = found.stat.version.wrapping_sub(version);
    match writes {
        0 => WriteOutcome::NotApplied,
        1 if found.data == number(version) => WriteOutcome::Applied,
        // Another client's was the first.
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

    /// It is gone, or another client writes to it: the next one gets a fresh name.
    fn forget(&mut self) {
        if let Some(znode) = self.znode.take() {
            znode.armed.done();
        }
    }

    /// The create of that receipt was refused: it did not make it. If no other may have made it either, whoever is denied
    /// the create has nothing to delete, and would be denied that as well.
    fn refused(&mut self, path: &str, is_denied: bool) {
        let Some(znode) = self.znode.as_mut().filter(|znode| znode.path == path) else { return };
        znode.in_doubt -= 1;
        if is_denied && znode.in_doubt == 0 && znode.version.is_none() {
            self.forget();
        }
    }

    /// The doubt about that write, if there is one still.
    fn doubt_of(&mut self, cell: &OutcomeCell) -> Option<&mut Doubt> {
        self.doubt.as_mut().filter(|doubt| Arc::ptr_eq(&doubt.outcome, cell))
    }

    /// What became of the write that is in doubt.
    fn settle(&mut self, outcome: WriteOutcome) {
        if let Some(doubt) = self.doubt.take() {
            // Nobody else does: a doubt is settled once.
            let _ = doubt.outcome.set(outcome);
        }
    }

    /// Steps 2 and 3: takes the answer to that write down, unless another client has.
    fn take_down(&mut self, cell: &OutcomeCell, answer: &Result<(), Error>) {
        let Some(doubt) = self.doubt_of(cell) else { return };
        let next = doubt.version.wrapping_add(1);
        let Err(error) = answer else {
            self.set_version(next);
            return self.settle(WriteOutcome::Applied);
        };
        if error.is_outcome_unknown() {
            doubt.is_lost = true;
            doubt.answer = None;
            return;
        }
        let at_receipt = match error {
            Error::Multi { index: 0, cause } => Some(&**cause),
            _ => None,
        };
        match at_receipt {
            // The receipt has moved on: most likely it was applied, and its reply was lost. The receipt tells.
            Some(Error::BadVersion) if doubt.is_lost => doubt.answer = None,
            Some(Error::NoNode) if doubt.is_lost => {
                self.forget();
                self.settle(WriteOutcome::Unknown);
            }
            // Another client wrote to it, or took it: nothing was applied.
            Some(Error::BadVersion | Error::NoNode) => {
                self.forget();
                self.settle(WriteOutcome::NotApplied);
            }
            // An earlier attempt may have been applied: the receipt tells.
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

    /// The path under which it stands, as far as is known.
    pub(crate) fn path(&self) -> Option<String> {
        self.state().known().map(|(path, _)| path.to_owned())
    }

    /// Whether the two are one.
    pub(crate) fn is(&self, other: &Receipt<Z>) -> bool {
        Arc::ptr_eq(&self.state, &other.state)
    }

    /// Step 1. Only one at a time makes it.
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
                    // Nobody else ever uses the name, and a delete comes behind whatever is still in flight.
                    let armed = self.zk.arm(Duty::Path(path.clone()));
                    Znode { armed, path, version: None, in_doubt: 0 }
                });
                znode.in_doubt += 1;
                (znode.path.clone(), self.zk.create(&znode.path, &[], CreateMode::Ephemeral))
            };
            match create.await {
                // Nobody else knows the name: one that is there was made by a create whose reply was lost.
                Ok(_) | Err(Error::NodeExists) => self.state().set_version(0),
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

    /// Steps 4 and 5: what became of the write before, if nobody has taken that down. Waits for its answer if its writer may,
    /// too, and asks for it else.
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

    /// Asks the receipt once what became of that write.
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
            // On one connection a read comes behind whatever was sent; after another one nothing is certain.
            let settling = (status.connection != doubt.sent_on).then(|| settle(&self.zk, &path));
            let reading = self.zk.get(&path);
            (doubt.sends, settling, reading)
        };
        // A settling write that was refused settles nothing, whatever the read behind it shows.
        let found = match answered(settling).await.and(reading.await) {
            Err(e) if e != Error::NoNode => return again(&self.zk, status, e).await,
            found => found,
        };
        let mut state = self.state();
        // Its writer may have sent it again behind the question.
        let Some(doubt) = state.doubt_of(cell).filter(|doubt| doubt.sends == sends) else { return Ok(()) };
        let version = doubt.version;
        match found {
            Ok(found) => {
                state.set_version(found.stat.version);
                state.settle(outcome_at(version, &found));
            }
            Err(_) => {
                state.forget();
                state.settle(WriteOutcome::Unknown);
            }
        }
        Ok(())
    }

    /// Steps 2 and 3: `ops` in one transaction, once. What was dropped before is settled first. If the receipt is gone, a fresh
    /// one serves as well.
    ///
    /// # Errors
    ///
    /// [`Error::Multi`] with the index of the operation of `ops` that was refused: nothing was applied. `NoNode` when the
    /// directory is missing: nothing was applied. An unknown outcome only when a reply was lost and the session is over, or
    /// another client deleted the receipt or wrote over it, or an access list denied the read of it.
    pub(crate) async fn write(&self, ops: &[Op]) -> Result<(), Error> {
        self.settled().await?;
        loop {
            self.make().await?;
            if self.send(None, ops).await? {
                return Ok(());
            }
        }
    }

    /// The same, if the receipt that `stood` is still there; says whether it was. As long as it is, whatever it stands
    /// below was not deleted and recreated: what was read since is of the znodes that `ops` name.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write).
    pub(crate) async fn write_under(&self, stood: &str, ops: &[Op]) -> Result<bool, Error> {
        self.send(Some(stood), ops).await
    }

    /// Whether `ops` were applied: not, if there is no receipt (any more), or not the one that `stood`.
    async fn send(&self, stood: Option<&str>, ops: &[Op]) -> Result<bool, Error> {
        loop {
            self.settled().await?;
            let path = self.path();
            if path.is_none() || stood.is_some() && path.as_deref() != stood {
                return Ok(false);
            }
            let status = connected(&self.zk).await?;
            match self.begin(status, stood, ops) {
                Sending::Busy => {}
                Sending::Gone => return Ok(false),
                Sending::Sent(sent) => {
                    if let Some(applied) = self.outcome(sent, status, ops).await? {
                        return Ok(applied);
                    }
                }
            }
        }
    }

    fn request(&self, path: &str, version: i32, ops: &[Op]) -> SharedReply {
        let receipt = Op::Set { path: path.to_owned(), data: number(version), version: Some(version) };
        let multi = self.zk.multi(std::iter::once(receipt).chain(ops.iter().cloned()).collect());
        multi.map(|answer| answer.map(drop)).boxed().shared()
    }

    /// Step 2, if nothing is under way.
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
            answer: Some(answer.clone()),
            outcome: outcome.clone(),
        };
        state.doubt = Some(doubt);
        Sending::Sent(Sent { state: &self.state, outcome, answer })
    }

    /// Step 3, if nobody else has found out what became of it.
    fn send_again(&self, sent: &mut Sent<'_>, status: Status, ops: &[Op]) {
        let mut state = self.state();
        let Some(path) = state.known().map(|(path, _)| path.to_owned()) else { return };
        let Some(doubt) = state.doubt_of(&sent.outcome) else { return };
        sent.answer = self.request(&path, doubt.version, ops);
        doubt.answer = Some(sent.answer.clone());
        doubt.sent_on = status.connection;
        doubt.sends += 1;
    }

    /// Step 3: whether it was applied; not, if the receipt is gone. `None`: it was certainly not, and may be sent anew.
    async fn outcome(
        &self,
        mut sent: Sent<'_>,
        mut status: Status,
        ops: &[Op],
    ) -> Result<Option<bool>, Error> {
        let mut is_lost = false;
        loop {
            let answer = sent.answer.clone().await;
            self.state().take_down(&sent.outcome, &answer);
            if sent.outcome.get().is_none() {
                match &answer {
                    Err(Error::ConnectionLoss) => {
                        is_lost = true;
                        status = reconnected(&self.zk, status).await?;
                        self.send_again(&mut sent, status, ops);
                        if sent.outcome.get().is_none() {
                            continue;
                        }
                    }
                    Err(e) if e.is_outcome_unknown() => return Err(e.clone()),
                    // An access list may deny the read of the receipt as well: then nobody knows.
                    _ => drop(self.settled().await.map_err(Error::while_in_doubt)?),
                }
            }
            match (sent.outcome.get(), answer) {
                (Some(WriteOutcome::Applied), _) => return Ok(Some(true)),
                (Some(WriteOutcome::NotApplied), Err(Error::Multi { index: 0, cause })) => match *cause {
                    Error::BadVersion if is_lost => return Ok(None),
                    Error::BadVersion | Error::NoNode => return Ok(Some(false)),
                    cause => return Err(cause),
                },
                (Some(WriteOutcome::NotApplied), Err(Error::Multi { index, cause })) => {
                    return Err(Error::Multi { index: index - 1, cause });
                }
                // A server that was overloaded did not process it.
                (Some(WriteOutcome::NotApplied), Err(e)) if e.is_retryable_refusal() => {
                    again(&self.zk, status, e).await?;
                    return Ok(None);
                }
                // Another client has found out.
                (Some(WriteOutcome::NotApplied), Ok(()) | Err(Error::ConnectionLoss)) => return Ok(None),
                (Some(WriteOutcome::NotApplied), Err(e)) => return Err(e),
                (Some(WriteOutcome::Unknown) | None, _) => return Err(Error::ConnectionLoss),
            }
        }
    }
}
