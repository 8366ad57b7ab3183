//! Step 5: the end of a claim.

use super::{Item, QueueCore};
use crate::observe::operation;
use crate::parts::barrier_read;
use crate::parts::receipt::Receipt;
use crate::parts::retry::{Doubt, connected};
use crate::zk::{Armed, Error, ErrorKind, Op, ZooKeeper};
use std::sync::Arc;

/// A claimed item, until it is done or given back.
///
/// # Cancellation
///
/// Dropping it gives the item back in the background; at the latest the end of the session does.
///
/// An unpolled future of a claim blocks no other call, neither of other claims nor of the consumer.
#[must_use = "dropping a claim gives the item back"]
pub struct Claimed<Z: ZooKeeper> {
    pub(super) core: QueueCore<Z>,
    pub(super) receipt: Receipt<Z>,
    /// The receipt at the time of the claim.
    pub(super) stood: Arc<str>,
    pub(super) item: Item,
    pub(super) name: String,
    /// The item's version since this claim: while it is current, the item was not delivered again.
    pub(super) version: i32,
    /// The data of the claim's znode, which no other claim has.
    pub(super) mark: Vec<u8>,
    /// Gives it back.
    pub(super) armed: Armed,
}

impl<Z: ZooKeeper> Claimed<Z> {
    /// Returns the handle of the session in which the item is claimed, for other recipes beside it.
    pub fn zk(&self) -> &Z {
        &self.core.zk
    }

    /// The item.
    pub fn item(&self) -> &Item {
        &self.item
    }

    /// Returns how many times the item was delivered, this time included.
    pub fn attempts(&self) -> u32 {
        self.version.cast_unsigned()
    }

    /// Deletes the item, which is done.
    ///
    /// # Cancellation
    ///
    /// Dropping the future confirms the item or gives it back.
    ///
    /// # Errors
    ///
    /// As [`done_with`](Self::done_with).
    pub async fn done(self) -> Result<(), Error> {
        self.done_with(Vec::new()).await
    }

    /// Deletes the item, which is done, in one transaction with further writes, exactly once.
    ///
    /// # Cancellation
    ///
    /// As [`done`](Self::done).
    ///
    /// # When the connection is lost
    ///
    /// The transaction is retried; the consumer's receipt refuses it if it was applied before.
    ///
    /// # Errors
    ///
    /// [`Error::is_claim_lost`]: the claim is lost, or cannot be verified since another client deleted the
    /// consumer's receipt; nothing was written. [`Error::refused_operation`] with the index of the caller's operation that was refused:
    /// nothing was written, and the item is given back. [`Error::is_session_over`]: the outcome is unknown.
    pub async fn done_with(self, ops: Vec<Op>) -> Result<(), Error> {
        Self::done_all(vec![self], ops).await
    }

    /// Deletes several done items in one transaction with further writes: all or none. The claims must come from one
    /// consumer.
    ///
    /// # Errors
    ///
    /// As [`done_with`](Self::done_with); if one of the claims is lost, nothing is written and the others are given back.
    /// [`Error::is_bad_input`]: no claim, or claims of several consumers.
    pub async fn done_all(claims: Vec<Self>, ops: Vec<Op>) -> Result<(), Error> {
        let Some(first) = claims.first() else {
            return Err(ErrorKind::BadInput("there is nothing to be done with".into()).into());
        };
        if claims.iter().any(|claim| !claim.receipt.is(&first.receipt)) {
            return Err(ErrorKind::BadInput("the claims come from several consumers".into()).into());
        }
        let (core, receipt) = (first.core.clone(), first.receipt.clone());
        let operation = operation!(&core.zk, core.recipe(), "done", &core.layout.root);
        let mut all: Vec<Op> = claims.iter().flat_map(Claimed::settles).collect();
        let own = all.len();
        all.extend(ops);
        let done = async {
            let stood = &first.stood;
            // With another receipt the names may be those of a recreated queue.
            let all_stand = claims.iter().all(|claim| claim.stood == *stood);
            if all_stand && receipt.write_under(stood, &all).await?.is_some() {
                Ok(())
            } else {
                Err(ErrorKind::ClaimLost.into())
            }
        };
        let done = operation.of(done).await;
        match done {
            Ok(()) => {
                for claim in claims {
                    claim.armed.done();
                }
                Ok(())
            }
            Err(Error { kind: ErrorKind::Multi { index, cause }, .. }) if index >= own => {
                Err(ErrorKind::Multi { index: index - own, cause }.into())
            }
            // Another version, no item, or no claim.
            Err(Error { kind: ErrorKind::Multi { cause, .. }, .. }) if is_gone(&cause) => {
                Err(ErrorKind::ClaimLost.into())
            }
            Err(e) => Err(e),
        }
    }

    /// Deletes item and claim.
    fn settles(&self) -> [Op; 2] {
        let layout = &self.core.layout;
        [
            Op::Delete { path: layout.item(&self.name), version: Some(self.version) },
            Op::Delete { path: layout.claim(&self.name), version: None },
        ]
    }

    /// Gives the item back to its old position.
    ///
    /// # Cancellation
    ///
    /// Dropping the future leaves the same to the background.
    ///
    /// # Errors
    ///
    /// [`Error::is_claim_lost`]: the claim was lost, or cannot be verified since another client deleted the
    /// consumer's receipt: then the clean-up gives it back if it is ours. [`Error::is_session_over`]: the
    /// end of the session gives it back.
    pub async fn give_back(self) -> Result<(), Error> {
        let (zk, path) = (self.core.zk.clone(), self.core.layout.claim(&self.name));
        operation!(&zk, self.core.recipe(), "give_back", &path).of(self.release()).await
    }

    async fn release(self) -> Result<(), Error> {
        let mut doubt = Doubt::default();
        loop {
            let status = connected(&self.core.zk).await?;
            match self.core.zk.multi(self.gives_back()).await {
                Ok(_) => break,
                Err(e) if e.is_transient() => doubt.again(&self.core.zk, status, e).await?,
                // The refused check is of the receipt, the item or the claim, and other clients delete each of them: only
                // the claim's znode shows whether an earlier attempt was applied.
                Err(Error { kind: ErrorKind::Multi { cause, .. }, .. }) if is_gone(&cause) => {
                    if doubt.is_there() && !self.stands().await? {
                        break;
                    }
                    // If another client has written or deleted the item, the clean-up deletes the rest of the claim.
                    return Err(ErrorKind::ClaimLost.into());
                }
                Err(e) => return Err(doubt.about(e)),
            }
        }
        self.armed.done();
        Ok(())
    }

    /// After a lost reply: whether this claim still stands, behind a settling write.
    async fn stands(&self) -> Result<bool, Error> {
        let found = barrier_read::data(&self.core.zk, &self.core.layout.claim(&self.name)).await;
        Ok(found.map_err(Error::while_in_doubt)?.is_some_and(|found| found.data == self.mark))
    }

    /// A no-op if the item was delivered again since, which changes its version, or if the queue was deleted and recreated,
    /// where names and versions repeat.
    fn gives_back(&self) -> Vec<Op> {
        let layout = &self.core.layout;
        vec![
            Op::Check { path: self.stood.to_string(), version: None },
            Op::Check { path: layout.item(&self.name), version: Some(self.version) },
            Op::Delete { path: layout.claim(&self.name), version: None },
        ]
    }
}

fn is_gone(cause: &Error) -> bool {
    matches!(cause.kind, ErrorKind::NoNode | ErrorKind::BadVersion)
}

impl<Z: ZooKeeper> std::fmt::Debug for Claimed<Z> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Claimed")
            .field("name", &self.name)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}
