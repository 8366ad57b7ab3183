//! Grants by a transaction that puts a holder's znode in the place of a waiter's.
//!
//! Before the transaction is sent, either znode becomes the clean-up's business. Its reply tells the fencing token: the zxid of
//! the write among its operations. After a lost reply a barrier read of the holder's znode tells whether it was applied.

use super::contenders::OwnContender;
use super::owned_node::OwnedNode;
use super::retry::{again, connected, reconnected};
use crate::zk::duty::{answered, settle};
use crate::zk::{Duty, Error, ErrorKind, Op, OpResult, Status, ZooKeeper};

/// The znodes of a grant.
pub(crate) struct Promotion<'a> {
    /// The recipe's directory.
    pub directory: &'a str,
    pub contender: &'a mut OwnContender,
    /// The znode that stands for the hold.
    pub held: &'a str,
}

pub(crate) fn delete(path: &str, version: Option<i32>) -> Op {
    Op::Delete { path: path.to_owned(), version }
}

impl Promotion<'_> {
    /// To be called before the transaction is sent: afterwards either znode may exist.
    pub(crate) fn begin(&mut self) {
        let all = vec![vec![delete(self.held, None)], vec![delete(&self.contender.path, None)]];
        self.contender.armed.narrow(Duty::FirstOf { all, then: None });
    }

    /// The contender is in its place still.
    fn failed(&mut self) {
        self.contender.armed.narrow(Duty::Path(self.contender.path.clone()));
    }

    /// The fencing token; `None`, after a lost reply: nothing was applied.
    ///
    /// # Errors
    ///
    /// The refusal of the transaction; what ends the session.
    pub(crate) async fn outcome<Z: ZooKeeper>(
        &mut self,
        zk: &Z,
        sent_at: Status,
        answer: Result<Vec<OpResult>, Error>,
    ) -> Result<Option<i64>, Error> {
        match answer {
            Ok(results) => match results.iter().find_map(written_at) {
                Some(token) => Ok(Some(token)),
                None => Err(ErrorKind::Unexpected("a transaction that says less than it did".into()).into()),
            },
            Err(e) if e.is_connection_loss() => self.unheard(zk, sent_at).await,
            Err(e) => {
                if !e.is_outcome_unknown() {
                    self.failed();
                }
                Err(e)
            }
        }
    }

    /// The reply was lost: a barrier read tells the outcome.
    async fn unheard<Z: ZooKeeper>(&mut self, zk: &Z, before: Status) -> Result<Option<i64>, Error> {
        let mut status = reconnected(zk, before).await?;
        loop {
            let (settled, stat) = (settle(zk, self.directory), zk.exists(self.held));
            let settled = answered(Some(settled)).await;
            match settled.and(stat.await) {
                Ok(stat) => {
                    let granted = stat.filter(|stat| stat.ephemeral_owner == zk.session());
                    if granted.is_none() {
                        self.failed();
                    }
                    return Ok(granted.map(|stat| stat.czxid));
                }
                Err(e) => {
                    again(zk, status, e).await?;
                    status = connected(zk).await?;
                }
            }
        }
    }
}

/// Confirms the holder's znode on the current connection: on another one it may be gone already.
pub(crate) async fn confirm<Z: ZooKeeper>(zk: &Z, own: &OwnedNode<Z>) -> Result<(), Error> {
    loop {
        let status = connected(zk).await?;
        if own.is_removed() {
            return Err(ErrorKind::Removed(own.path().to_owned()).into());
        }
        if own.is_confirmed(status) {
            return Ok(());
        }
        own.read(status).await;
    }
}

/// The zxid of the transaction that granted the hold.
fn written_at(result: &OpResult) -> Option<i64> {
    match result {
        OpResult::Set(stat) => Some(stat.mzxid),
        _ => None,
    }
}
