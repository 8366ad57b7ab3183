//! Step 6: waiting while the queue is empty.

use super::consumer::Consumer;
use super::gather::names_of;
use crate::observe;
use crate::parts::contenders::OwnContender;
use crate::parts::naming::Role;
use crate::parts::retry::{again, connected};
use crate::parts::select::first;
use crate::zk::{Error, ZooKeeper};

/// Idle consumers have one role, and each waits for all ahead.
const TAKER: Role = 0;
const EVERYBODY: fn(Role) -> bool = |_| true;

impl<Z: ZooKeeper> Consumer<Z> {
    /// Waits until a list with items is known.
    pub(super) async fn idle(&mut self, contender: &mut Option<OwnContender>) -> Result<(), Error> {
        self.stand_in_line(contender).await?;
        while self.known.is_empty() {
            self.watch().await?;
        }
        Ok(())
    }

    /// Waits until this is the first idle consumer; with [`Idle::Textbook`](super::Idle::Textbook) all are.
    pub(super) async fn stand_in_line(&mut self, contender: &mut Option<OwnContender>) -> Result<(), Error> {
        let contenders = self.layout().contenders();
        while self.is_herd_free() && contender.is_none() {
            let (own, look) = match contenders.join(&self.core.zk, TAKER, &[]).await {
                Ok(joined) => joined,
                Err(e) if e.is_no_node() => {
                    self.core.make().await?;
                    continue;
                }
                Err(e) => return Err(e),
            };
            match contenders.wait_turn(&self.core.zk, &own, look, EVERYBODY).await {
                Ok(_) => {
                    *contender = Some(own);
                    if !self.known.is_empty() {
                        self.look_again(self.ahead.amount(1)).await?;
                    }
                }
                // Another client has deleted the own contender: join again.
                Err(e) if e.is_removed() => own.armed.done(),
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// Lists with a watch; if the queue is empty, waits for a notification and lists again.
    async fn watch(&mut self) -> Result<(), Error> {
        let zk = self.core.zk.clone();
        let status = connected(&zk).await?;
        let list = zk.children_watch(&self.layout().root);
        let claims = self.claims_listing();
        let (list, changes) = match list.await {
            Ok(listed) => listed,
            // The queue was reaped or deleted in between.
            Err(e) if e.is_no_node() => return self.core.make().await,
            Err(e) => return again(&zk, status, e).await,
        };
        let Some(claimed) = names_of(&zk, claims).await? else { return Ok(()) };
        let taken = self.knows(list.names, claimed, list.stat.version);
        if !self.known.is_empty() {
            return Ok(());
        }
        if taken.is_empty() {
            observe::waits(&self.layout().root);
            changes.await?;
        } else {
            // All items are claimed: one of those consumers may die, or give its item back.
            let (list, released) = match zk.children_watch(&self.layout().claims()).await {
                Ok(listed) => listed,
                Err(e) if e.is_no_node() => return Ok(()),
                Err(e) => return again(&zk, status, e).await,
            };
            if !self.layout().sorted(taken, list.names).0.is_empty() {
                return Ok(());
            }
            observe::waits(&self.layout().root);
            match first(changes, released).await {
                futures_util::future::Either::Left(event) | futures_util::future::Either::Right(event) => {
                    event?
                }
            };
        }
        self.list().await
    }
}
