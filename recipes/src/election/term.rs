//! A term of office: a tenure, and the record that the leader has begun.

use super::RECIPE;
use super::acknowledgement::Acknowledgement;
use crate::call::{Call, Work};
use crate::observe::operation;
use crate::parts::hold_methods::hold_methods;
use crate::parts::locked::locked;
use crate::parts::retry::{Doubt, again, connected};
use crate::parts::select::within;
use crate::parts::tenure::{HoldState, LostReason, Released, Stop, Tenure};
use crate::zk::{Armed, CreateMode, Duty, Error, ErrorKind, Op, OpResult, ZooKeeper, path};
use std::future::Future;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// A term of office: its owner leads.
///
/// # Promises
///
/// The term is lost in time: when the session ends, at the deadline at which the session may have expired, and when another
/// client deletes the candidate, which is watched from the first call of [`lost`](Self::lost) or [`run`](Self::run).
///
/// # Cancellation
///
/// Dropping the term resigns in the background; [`resign`](Self::resign) also waits for the outcome and returns it.
#[must_use = "dropping the term resigns"]
pub struct Term<Z: ZooKeeper> {
    // Dropped first, so that the delete is sent before the watch is removed.
    duty: Mutex<Option<Armed>>,
    /// The end of that duty: deletes the record alone, if another client has deleted the candidate.
    relic: Mutex<Option<Duty>>,
    tenure: Tenure<Z>,
    acknowledged: Mutex<Acknowledged>,
    record: String,
    zk: Z,
}

/// The progress of the acknowledgement.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Acknowledged {
    Not,
    /// A request with these data may have been sent.
    Begun(Vec<u8>),
    Done(Vec<u8>),
}

fn delete(path: &str) -> Op {
    Op::Delete { path: path.to_owned(), version: None }
}

impl<Z: ZooKeeper> Term<Z> {
    hold_methods!(held tenure, "term");
    hold_methods!(run tenure);
    hold_methods!(fenced);
    hold_methods!(once);

    /// The end of step 1: the term begins.
    pub(super) fn new(zk: &Z, mut tenure: Tenure<Z>, record: String) -> Self {
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

    /// Returns the fencing token: the czxid of the candidate. It grows with every change of leadership, also when the
    /// directory is deleted and recreated; a store that refuses a token smaller than the largest it has seen is safe from
    /// late writes.
    pub fn token(&self) -> i64 {
        self.tenure.token()
    }

    /// Records that the leader has begun, for all clients that [follow](super::Election::follow). Step 2.
    ///
    /// A term has one acknowledgement: another call with the same data does nothing.
    ///
    /// # Cancellation
    ///
    /// The outcome of a dropped call is unknown; acknowledge the same data again to be sure. The record goes with the term.
    ///
    /// # When the connection is lost
    ///
    /// The request is retried; the outcome of a lost reply is found by reading the record.
    ///
    /// # Errors
    ///
    /// [`Error::is_removed`] when the term was over: nothing is recorded. [`Error::is_outcome_unknown`] when the term or
    /// the session ended before the outcome was found. [`Error::is_bad_input`] when the data do not fit into a request.
    /// [`Error::is_node_exists`] when other data were acknowledged before.
    pub async fn acknowledge(&self, data: &[u8]) -> Result<(), Error> {
        operation!(&self.zk, RECIPE, "acknowledge", &self.record).of(self.put_on_record(data)).await
    }

    async fn put_on_record(&self, data: &[u8]) -> Result<(), Error> {
        let candidate = path::split(self.path()).1.to_owned();
        let record = Acknowledgement { candidate, token: self.token(), data: data.to_vec() }.to_bytes();
        path::validate_size(self.zk.max_request_bytes(), &self.record, &record)?;
        {
            let mut acknowledged = locked(&self.acknowledged);
            match &*acknowledged {
                Acknowledged::Done(before) if before == data => return Ok(()),
                Acknowledged::Begun(before) if before == data => {}
                Acknowledged::Not => *acknowledged = Acknowledged::Begun(data.to_vec()),
                _ => return Err(ErrorKind::NodeExists.into()),
            }
        }
        self.owes_the_record(&record);
        self.write_record(&record).await?;
        *locked(&self.acknowledged) = Acknowledged::Done(data.to_vec());
        Ok(())
    }

    /// From now on the record goes with the candidate, or the candidate alone if there is no record. Called before a request
    /// that may write it.
    fn owes_the_record(&self, record: &[u8]) {
        let mut relic = locked(&self.relic);
        let relic = relic.get_or_insert_with(|| Duty::Replaceable {
            path: self.record.clone(),
            data: record.to_vec(),
            gate: path::split(&self.record).0.to_owned(),
            connection: self.zk.status().connection,
        });
        if let Some(duty) = &mut *locked(&self.duty) {
            let own = delete(self.path());
            duty.narrow(Duty::FirstOf {
                all: vec![vec![own.clone(), delete(&self.record)], vec![own]],
                then: Some(Box::new(relic.clone())),
            });
        }
    }

    async fn write_record(&self, record: &[u8]) -> Result<(), Error> {
        let create =
            Op::Create { path: self.record.clone(), data: record.to_vec(), mode: CreateMode::Ephemeral };
        let directory = path::split(&self.record).0;
        let (mut replacing, mut doubt) = (Vec::new(), Doubt::default());
        loop {
            let status = connected(&self.zk).await?;
            let ops = std::mem::take(&mut replacing).into_iter().chain([create.clone()]).collect();
            // The transaction checks the candidate: a deposed leader writes nothing.
            match self.tenure.transact(ops).await {
                Ok(_) => return Ok(()),
                // The record may have been written; it must not be taken for a stale one.
                Err(e) if e.is_transient() => doubt.again(&self.zk, status, e).await?,
                Err(e) if e.is_removed() && doubt.is_there() => {
                    return Err(ErrorKind::ConnectionLoss.into());
                }
                // While our candidate exists no other client leads: the record is either ours, or a stale one.
                Err(Error { kind: ErrorKind::Multi { cause, .. }, .. })
                    if *cause == ErrorKind::NodeExists =>
                {
                    let (standing, gate) = (self.zk.get(&self.record), self.zk.get(directory));
                    match (standing.await, gate.await) {
                        (Ok(found), _)
                            if found.data == record && found.stat.ephemeral_owner == self.zk.session() =>
                        {
                            return Ok(());
                        }
                        (Ok(_), Ok(gate)) => {
                            // The maker of the stale record may be about to delete it: the gate tells it that the record
                            // was replaced.
                            let (path, version) = (directory.to_owned(), Some(gate.stat.version));
                            replacing =
                                vec![Op::Set { path, data: gate.data, version }, delete(&self.record)];
                        }
                        (Err(Error { kind: ErrorKind::NoNode, .. }), _)
                        | (_, Err(Error { kind: ErrorKind::NoNode, .. })) => {}
                        (Err(e), _) | (_, Err(e)) => {
                            again(&self.zk, status, e).await.map_err(|e| doubt.about(e))?;
                        }
                    }
                }
                // The stale record is gone, or another client has written to the directory.
                Err(Error { kind: ErrorKind::Multi { cause, .. }, .. })
                    if matches!(cause.kind, ErrorKind::NoNode | ErrorKind::BadVersion) => {}
                Err(e) => return Err(doubt.about(e)),
            }
        }
    }

    /// Ends the term, and waits until that is certain. Step 4.
    ///
    /// # Cancellation
    ///
    /// Dropping the future leaves the same to the background.
    ///
    /// # When the connection is lost
    ///
    /// It waits for the reconnect, or for the end of the session.
    ///
    /// # With a limit
    ///
    /// When it is over, the error is [`Error::is_timed_out`], and the same is left to the background.
    ///
    /// # Errors
    ///
    /// Only what is unexpected for an own znode, such as [`Error::is_denied`].
    pub fn resign(self) -> Call<Z, impl Work<Output = Result<Released, Error>>> {
        let zk = self.zk.clone();
        Call::new(&zk.clone(), move |until| async move {
            let path = self.path().to_owned();
            operation!(&zk, RECIPE, "resign", &path).telling(within(&zk, until, self.give_up())).await
        })
    }

    async fn give_up(self) -> Result<Released, Error> {
        let Term { duty, relic, tenure, acknowledged, record, .. } = self;
        let own = tenure.path().to_owned();
        let is_on_record = *locked(&acknowledged) != Acknowledged::Not;
        // Only a positive reply proves that record and candidate went together: an absent candidate may have been deleted
        // by another client, without the record.
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
                    Some(Error { kind: ErrorKind::Multi { index: 0, cause }, .. }) => Err(*cause),
                    // There is no record: it was never written, or another client deleted it.
                    Some(Error { kind: ErrorKind::Multi { .. }, .. }) => zk.delete(&own, None).await,
                    Some(e) => Err(e),
                }
            }
        });
        let ended = ended.await?;
        let left = locked(&relic).take().filter(|_| !went_together.into_inner());
        if let Some(mut armed) = locked(&duty).take() {
            match left {
                // The record may be left without its candidate.
                Some(relic) => armed.narrow(relic),
                None => armed.done(),
            }
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
