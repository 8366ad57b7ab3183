//! A term of office: a hold, and the record that it has begun.

use super::RECIPE;
use super::acknowledgement::Acknowledgement;
use crate::observe::operation;
use crate::parts::guard::guard_methods;
use crate::parts::retry::{again, connected};
use crate::parts::tenure::{HoldState, LostReason, Released, Stop, Tenure};
use crate::zk::{Armed, CreateMode, Duty, Error, Op, OpResult, ZooKeeper, path};
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A term of office: whoever has it leads.
///
/// # Promises
///
/// It is told in time when it must end: when its session ends, when so much time has passed without an answer that the
/// session may have ended, and when another client deletes the candidate, which is watched from the beginning.
///
/// # Cancellation
///
/// Dropping the term resigns in the background; [`resign`](Self::resign) also waits for the outcome and returns it.
#[must_use = "dropping the term resigns"]
pub struct Term<Z: ZooKeeper> {
    // The first to be dropped: the deletion leaves before the watch is taken down.
    duty: Mutex<Option<Armed>>,
    /// The record alone: of use when another client has deleted the candidate.
    relic: Mutex<Option<Armed>>,
    tenure: Tenure<Z>,
    acknowledged: Mutex<Acknowledged>,
    record: String,
    zk: Z,
}

/// How far the acknowledgement is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Acknowledged {
    Not,
    /// A request with these data may have been sent.
    Begun(Vec<u8>),
    Done(Vec<u8>),
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic cannot leave the value half updated.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn delete(path: &str) -> Op {
    Op::Delete { path: path.to_owned(), version: None }
}

guard_methods!(held Term, tenure, "term");
guard_methods!(run Term, tenure);
guard_methods!(fenced Term);
guard_methods!(once Term);

impl<Z: ZooKeeper> Term<Z> {
    /// Step 1's end: the office is ours, and whoever takes it away is noticed.
    pub(super) fn new(zk: &Z, mut tenure: Tenure<Z>, record: String) -> Self {
        tenure.watch_now();
        let duty = Mutex::new(tenure.take_duty());
        Term {
            duty,
            relic: Mutex::new(None),
            tenure,
            acknowledged: Mutex::new(Acknowledged::Not),
            record,
            zk: zk.clone(),
        }
    }

    /// The epoch, which is the fencing token: the czxid of the candidate. It grows with every change of leadership, also
    /// when the directory is deleted and recreated; a store that refuses epochs smaller than the largest it has seen is
    /// safe from late writers.
    pub fn epoch(&self) -> i64 {
        self.tenure.token()
    }

    /// Puts on record that the leader has begun, for all who [observe](super::Election::observe). Step 2.
    ///
    /// One acknowledgement a term: once begun, only the same data may be acknowledged again, which does nothing.
    ///
    /// # Cancellation
    ///
    /// Dropped midway, it may or may not be on record; acknowledge the same again to be sure. However the term ends,
    /// the record goes with it.
    ///
    /// # When the connection is lost
    ///
    /// It is sent again; what was lost is found out by reading the record.
    ///
    /// # Errors
    ///
    /// [`is_removed`](Error::is_removed) when the term was over: nothing is on record.
    /// [`is_outcome_unknown`](Error::is_outcome_unknown) when the term or the session ended before the outcome was found
    /// out. [`is_bad_input`](Error::is_bad_input) when the data do not fit into a request. [`Error::NodeExists`] when
    /// other data were acknowledged before.
    pub async fn acknowledge(&self, data: &[u8]) -> Result<(), Error> {
        operation!(&self.zk, RECIPE, "acknowledge", &self.record).of(self.put_on_record(data)).await
    }

    async fn put_on_record(&self, data: &[u8]) -> Result<(), Error> {
        let candidate = path::split(self.path()).1.to_owned();
        let record = Acknowledgement { candidate, epoch: self.epoch(), data: data.to_vec() }.to_bytes();
        path::validate_size(&self.record, &record)?;
        {
            let mut acknowledged = locked(&self.acknowledged);
            match &*acknowledged {
                Acknowledged::Done(before) if before == data => return Ok(()),
                Acknowledged::Begun(before) if before == data => {}
                Acknowledged::Not => *acknowledged = Acknowledged::Begun(data.to_vec()),
                _ => return Err(Error::NodeExists),
            }
        }
        // Before the request leaves: from now on the record goes with the candidate. If there is none, the candidate
        // goes alone.
        if let Some(duty) = &mut *locked(&self.duty) {
            let own = delete(self.path());
            duty.narrow(Duty::FirstOf(vec![vec![own.clone(), delete(&self.record)], vec![own]]));
        }
        locked(&self.relic).get_or_insert_with(|| {
            self.zk.arm(Duty::Replaceable {
                path: self.record.clone(),
                data: record.clone(),
                gate: path::split(&self.record).0.to_owned(),
                connection: self.zk.status().connection,
            })
        });
        self.write_record(&record).await?;
        *locked(&self.acknowledged) = Acknowledged::Done(data.to_vec());
        Ok(())
    }

    async fn write_record(&self, record: &[u8]) -> Result<(), Error> {
        let create =
            Op::Create { path: self.record.clone(), data: record.to_vec(), mode: CreateMode::Ephemeral };
        let directory = path::split(&self.record).0;
        let (mut replacing, mut in_doubt) = (Vec::new(), false);
        loop {
            let status = connected(&self.zk).await?;
            let ops = std::mem::take(&mut replacing).into_iter().chain([create.clone()]).collect();
            // In one transaction with a check of the candidate: one who has been deposed writes nothing.
            match self.tenure.transact(ops).await {
                Ok(_) => return Ok(()),
                Err(e) if e.is_transient() => {
                    // It may stand there already: then it must not be taken for a relic.
                    in_doubt |= e.is_outcome_unknown();
                    again(&self.zk, status, e).await?;
                }
                Err(Error::Removed(_)) if in_doubt => return Err(Error::ConnectionLoss),
                // As long as our candidate exists nobody else leads: either it is ours, or a relic of one before us.
                Err(Error::Multi { cause, .. }) if *cause == Error::NodeExists => {
                    let (standing, gate) = (self.zk.get(&self.record), self.zk.get(directory));
                    match (standing.await, gate.await) {
                        (Ok(found), _)
                            if found.data == record && found.stat.ephemeral_owner == self.zk.session() =>
                        {
                            return Ok(());
                        }
                        (Ok(_), Ok(gate)) => {
                            // Who made the relic may be about to take it away: the gate tells it that there is another.
                            let (path, version) = (directory.to_owned(), Some(gate.stat.version));
                            replacing =
                                vec![Op::Set { path, data: gate.data, version }, delete(&self.record)];
                        }
                        (Err(Error::NoNode), _) | (_, Err(Error::NoNode)) => {}
                        (Err(e), _) | (_, Err(e)) => again(&self.zk, status, e).await?,
                    }
                }
                // The relic is gone, or somebody has written to the directory.
                Err(Error::Multi { cause, .. }) if matches!(*cause, Error::NoNode | Error::BadVersion) => {}
                Err(e) => return Err(e),
            }
        }
    }

    /// Gives the office back, and waits until that is certain. Step 4.
    ///
    /// # Cancellation
    ///
    /// Dropping the future leaves the same to the background.
    ///
    /// # Errors
    ///
    /// Only what is unexpected for an own znode, such as [`is_denied`](Error::is_denied).
    pub async fn resign(self) -> Result<Released, Error> {
        let path = self.path().to_owned();
        operation!(&self.zk, RECIPE, "resign", &path).telling(self.give_up()).await
    }

    async fn give_up(self) -> Result<Released, Error> {
        let Term { duty, relic, tenure, acknowledged, record, .. } = self;
        let own = tenure.path().to_owned();
        let is_on_record = *locked(&acknowledged) != Acknowledged::Not;
        // Only an answer that says so: a candidate that is gone may have been deleted by another client, without the
        // record, and that our own deletion came first is then no more than a guess.
        let went_together = AtomicBool::new(!is_on_record);
        let ended = tenure.end(|zk| {
            let both = is_on_record.then(|| zk.multi(vec![delete(&own), delete(&record)]));
            let (zk, own, went_together) = (zk.clone(), own.clone(), &went_together);
            async move {
                let refused = match both {
                    Some(both) => both.await.err(),
                    None => return zk.delete(&own, None).await,
                };
                match refused {
                    None => {
                        went_together.store(true, Ordering::Relaxed);
                        Ok(())
                    }
                    Some(Error::Multi { index: 0, cause }) => Err(*cause),
                    // There is no record: it was not made, or another client has taken it away.
                    Some(Error::Multi { .. }) => zk.delete(&own, None).await,
                    Some(e) => Err(e),
                }
            }
        });
        let ended = ended.await?;
        if let Some(armed) = locked(&duty).take() {
            armed.done();
        }
        // Else the record may be left, without a candidate.
        if went_together.into_inner()
            && let Some(armed) = locked(&relic).take()
        {
            armed.done();
        }
        Ok(ended)
    }
}

impl<Z: ZooKeeper> std::fmt::Debug for Term<Z> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Term")
            .field("hold", &self.tenure)
            .field("acknowledged", &self.acknowledged)
            .finish_non_exhaustive()
    }
}
