//! Confirming batches: as a whole or item by item, with other writes or without.

use super::workload::{Hands, QUEUES, RESULTS, Worker, Zk, object, text_of};
use crate::prelude::*;
use zk_harness::operation::in_no_operation;
use zk_recipes::Claimed;
use zk_recipes::zk::{CreateMode, Op, path};

/// A batch of one queue.
type Batch<C> = Vec<Claimed<Zk<C>>>;

impl<C: Client> Worker<C> {
    /// Confirms all kept claims, one queue after the other.
    pub(super) async fn confirms_all(&self, hands: &mut Hands<Zk<C>>) {
        for number in 0..QUEUES.len() {
            let (batch, rest) =
                std::mem::take(&mut hands.kept).into_iter().partition(|(of, _, _)| *of == number);
            hands.kept = rest;
            let batch: Vec<(usize, u32, Claimed<Zk<C>>)> = batch;
            if batch.is_empty() {
                continue;
            }
            let was_kept = batch.iter().any(|(_, round, _)| *round < self.round);
            let batch = batch.into_iter().map(|(_, _, claim)| claim).collect();
            let is_done = self.ends(&hands.zk, number, batch).await;
            sometimes!(&self.client, "a batch is confirmed rounds after it was claimed", was_kept && is_done);
        }
    }

    /// Drops all kept claims: the client has replaced their session.
    pub(super) fn drops_all(&self, hands: &mut Hands<Zk<C>>) {
        for (number, _, claim) in std::mem::take(&mut hands.kept) {
            self.drops(number, claim);
        }
    }

    /// Drops a claim, which gives the item back in the background.
    fn drops(&self, number: usize, claim: Claimed<Zk<C>>) {
        let text = text_of(claim.item());
        let given = |journal: &mut Journal, at, op| journal.given(at, self.client.number(), op, &text, 0);
        give_up(&self.client, Call::new(object(number), Verb::GiveBack), given, claim);
    }

    /// Ends the claims of a batch in one of several ways. Returns whether the last of its confirmations was done.
    async fn ends(&self, zk: &Zk<C>, number: usize, mut batch: Batch<C>) -> bool {
        match self.client.choose(6) {
            3 => {
                let mut is_done = false;
                for claim in batch {
                    is_done = self.confirms(zk, number, vec![claim]).await;
                }
                return is_done;
            }
            4 => self.gives_back(number, batch.swap_remove(0)).await,
            5 => self.drops(number, batch.swap_remove(0)),
            _ => {}
        }
        !batch.is_empty() && self.confirms(zk, number, batch).await
    }

    async fn gives_back(&self, number: usize, claim: Claimed<Zk<C>>) {
        let text = text_of(claim.item());
        let given = |journal: &mut Journal, at, op| journal.given(at, self.client.number(), op, &text, 0);
        let call = Call::new(object(number), Verb::GiveBack);
        let _ = operation(&self.client, call, given, || claim.give_back()).await;
    }

    /// Confirms a batch in one transaction. Returns whether it was done.
    async fn confirms(&self, zk: &Zk<C>, number: usize, batch: Batch<C>) -> bool {
        let (client, several) = (&self.client, batch.len() > 1);
        let items: Vec<String> = batch.iter().map(|claim| text_of(claim.item())).collect();
        let writes = self.writes(&items);
        if !writes.is_empty() {
            // A caller's own directory, which a foreign client may have deleted.
            let _ = in_no_operation(client, zk.create(RESULTS, &[], CreateMode::Persistent)).await;
        }
        let given = |journal: &mut Journal, at, op| self.gives(journal, (at, op), &items, &writes);
        let call = Call::new(object(number), Verb::Confirm);
        let work = || self.calls.confirm(zk, batch, writes.clone());
        let (_, ended) = operation(client, call, given, work).await;
        let is_lost = matches!(&ended, Ended::Failed(e) if e.is_claim_lost());
        sometimes!(client, "one of several claims is lost", several && is_lost);
        let is_refused = matches!(&ended, Ended::Failed(e) if e.refused_operation().is_some());
        sometimes!(client, "a write beside a confirmation is refused", is_refused);
        sometimes!(client, "a claim is confirmed whose session is over", ended.is_session_over());
        ended.done().is_some()
    }

    /// Records the arguments of a confirmation: the items, and the paths that are written.
    pub(super) fn gives(
        &self,
        journal: &mut Journal,
        (at, op): (u64, OpId),
        items: &[String],
        writes: &[Op],
    ) {
        let written = writes.iter().filter_map(|write| match write {
            Op::Create { path, .. } | Op::Set { path, .. } => Some(path),
            Op::Delete { .. } | Op::Check { .. } => None,
        });
        for text in items.iter().chain(written) {
            journal.given(at, self.client.number(), op, text, 0);
        }
    }

    /// The writes that accompany the confirmation of some items: none, the result of each, also the count, or a write
    /// that is refused.
    fn writes(&self, items: &[String]) -> Vec<Op> {
        let drawn = self.client.choose(5);
        if drawn == 0 {
            return Vec::new();
        }
        let result = |item: &String| Op::Create {
            path: path::join(RESULTS, item),
            data: item.clone().into_bytes(),
            mode: CreateMode::Persistent,
        };
        let mut writes: Vec<Op> = items.iter().map(result).collect();
        match drawn {
            3 => {
                let data = items.len().to_string().into_bytes();
                writes.push(Op::Set { path: RESULTS.to_owned(), data, version: None });
            }
            4 => writes.push(Op::Check { path: path::join(RESULTS, "nobody"), version: None }),
            _ => {}
        }
        writes
    }
}
