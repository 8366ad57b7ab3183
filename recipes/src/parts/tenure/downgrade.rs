//! Downgrade of a writer's tenure to a reader's, without a gap.
//!
//! 1. Arm the clean-up of the read znode, whose name has a fresh guid and the number of the write znode.
//! 2. Create it and delete the write znode in one transaction. The read znode takes the writer's place in the queue, so
//!    conflicting waiters of the writer wait for it. After a lost reply retry: an existing read znode means that it was
//!    applied.
//! 3. Keep the writer's fencing token: the read znode is younger than the znodes of waiting writers, and its token must not
//!    exceed theirs.
//!
//! For revocable owners the delete has the data version, so that no revocation is lost.

use super::{LostReason, TARGET, Tenure};
use crate::observe::operation;
use crate::parts::contenders::is_good;
use crate::parts::naming::{Marks, READ};
use crate::parts::owned_node::OwnedNode;
use crate::parts::retry::{again, connected};
use crate::zk::{Armed, CreateMode, Duty, Error, ErrorKind, Op, ZooKeeper, path};

impl<Z: ZooKeeper> Tenure<Z> {
    /// Turns the writer's tenure into a reader's; on an error returns it unchanged.
    pub(crate) async fn downgrade(self, marks: Marks) -> Result<Self, (Self, Error)> {
        let operation = operation!(target: TARGET, &self.zk, self.recipe, "downgrade", self.path());
        match operation.of(self.take_its_place(marks)).await {
            Ok((own, armed)) => Ok(self.moved_to(own, armed)),
            Err(e) => Err((self, e)),
        }
    }

    async fn take_its_place(&self, marks: Marks) -> Result<(OwnedNode<Z>, Armed), Error> {
        let (directory, name) = path::split(self.path());
        let Some(number) = marks.number(name).filter(|number| is_good(*number)) else {
            // Among worn numbers the czxid gives the place, which cannot be taken over (ZOOKEEPER-4372).
            return Err(ErrorKind::Exhausted(directory.to_owned()).into());
        };
        if self.own.is_asked() {
            return Err(ErrorKind::Revoked.into());
        }
        let zk = &self.zk;
        let path = path::join(directory, &format!("{}{number:010}", marks.prefix(zk.guid(), READ)));
        let armed = zk.arm(Duty::Path(path.clone()));
        let mut in_doubt = false;
        let took = loop {
            let status = connected(zk).await?;
            match zk.multi(self.exchange(&path)).await {
                Ok(_) => break Ok(()),
                Err(e) if e.is_transient() => {
                    in_doubt |= e.is_outcome_unknown();
                    again(zk, status, e).await?;
                }
                // An earlier attempt may have been applied.
                Err(e) if in_doubt && e.says_nothing_of_the_tree() => {
                    break Err(ErrorKind::ConnectionLoss.into());
                }
                Err(Error { kind: ErrorKind::Multi { index: 0, cause }, .. })
                    if *cause == ErrorKind::NodeExists =>
                {
                    // The name is unique: the transaction was applied, and its reply was lost.
                    break Ok(());
                }
                Err(Error { kind: ErrorKind::Multi { cause, .. }, .. })
                    if *cause == ErrorKind::BadVersion =>
                {
                    self.own.read(status).await;
                    if self.own.is_removed() {
                        break Err(ErrorKind::Removed(self.path().to_owned()).into());
                    }
                    if self.own.is_asked() {
                        break Err(ErrorKind::Revoked.into());
                    }
                }
                Err(Error { kind: ErrorKind::Multi { cause, .. }, .. }) if *cause == ErrorKind::NoNode => {
                    self.lose(LostReason::Removed);
                    break Err(ErrorKind::Removed(self.path().to_owned()).into());
                }
                Err(e) => break Err(e),
            }
        };
        match took {
            Ok(()) => {
                let own = OwnedNode::new(zk, path, None, self.own.word());
                if own.word().is_some() {
                    own.watch_now();
                }
                Ok((own, armed))
            }
            Err(e) => {
                if !e.is_outcome_unknown() {
                    armed.done();
                }
                Err(e)
            }
        }
    }

    /// Step 2.
    fn exchange(&self, path: &str) -> Vec<Op> {
        let version = self.own.word().map(|_| self.own.version());
        vec![
            Op::Create { path: path.to_owned(), data: self.data.clone(), mode: CreateMode::Ephemeral },
            Op::Delete { path: self.path().to_owned(), version },
        ]
    }
}
