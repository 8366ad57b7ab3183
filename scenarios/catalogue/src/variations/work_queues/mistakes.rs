//! Invalid calls: the recipe refuses them before it sends a request, or finds that the queue is of another kind.

use super::workload::{Hands, QUEUES, WORN, Worker, Zk, object, text_of};
use crate::prelude::*;
use zk_recipes::zk::path;
use zk_recipes::{Claimed, Delivery, Idle, Parents, Queue, QueueOptions};

impl<C: Client> Worker<C> {
    /// Makes one invalid call.
    pub(super) async fn makes_a_mistake(&mut self, number: usize, hands: &mut Hands<Zk<C>>) {
        let ended = match self.client.choose(6) {
            0 => self.puts_nothing(number, hands).await,
            1 => self.puts_too_much(number, hands).await,
            2 => self.gets_none(number, hands).await,
            3 => self.gets_otherwise(number, hands).await,
            4 => self.confirms_what_does_not_belong_together(number, hands).await,
            _ => self.puts_into_another_queue(hands).await,
        };
        let is_bad_input = matches!(&ended, Ended::Failed(error) if error.is_bad_input());
        sometimes!(&self.client, "bad input is refused", is_bad_input);
        let is_mismatch = matches!(&ended, Ended::Failed(error) if error.is_mismatch());
        sometimes!(&self.client, "a queue has another mode", is_mismatch);
    }

    async fn puts_nothing(&self, number: usize, hands: &mut Hands<Zk<C>>) -> Ended<()> {
        let puts = &mut hands.queues[number].0;
        let call = Call::new(object(number), Verb::Put).by_mistake();
        operation(&self.client, call, nothing, || self.calls.put(puts, 0, &[])).await.1
    }

    async fn puts_too_much(&mut self, number: usize, hands: &mut Hands<Zk<C>>) -> Ended<()> {
        let (me, item) = (self.client.number(), self.text());
        let items = [vec![b'x'; path::MAX_REQUEST_BYTES], item.clone().into_bytes()];
        let given = |journal: &mut Journal, at, op| journal.given(at, me, op, &item, 0);
        let puts = &mut hands.queues[number].0;
        let call = Call::new(object(number), Verb::Put).by_mistake();
        operation(&self.client, call, given, || self.calls.put(puts, 0, &items)).await.1
    }

    /// Asks for zero items.
    async fn gets_none(&self, number: usize, hands: &mut Hands<Zk<C>>) -> Ended<()> {
        let consumer = &mut hands.queues[number].1;
        if number == WORN {
            let call = Call::new(object(number), Verb::Take).by_mistake();
            return operation(&self.client, call, nothing, || consumer.take_up_to(0)).await.1.map(drop);
        }
        let call = Call::new(object(number), Verb::Claim).by_mistake();
        operation(&self.client, call, nothing, || self.calls.claim_up_to(consumer, 0)).await.1.map(drop)
    }

    /// Takes from a queue whose items are claimed, and claims from one whose items are taken.
    async fn gets_otherwise(&self, number: usize, hands: &mut Hands<Zk<C>>) -> Ended<()> {
        let consumer = &mut hands.queues[number].1;
        if number == WORN {
            let call = Call::new(object(number), Verb::Claim).by_mistake();
            return operation(&self.client, call, nothing, || consumer.claim()).await.1.map(drop);
        }
        let call = Call::new(object(number), Verb::Take).by_mistake();
        operation(&self.client, call, nothing, || consumer.take()).await.1.map(drop)
    }

    /// Confirms no claims, or claims of two queues.
    async fn confirms_what_does_not_belong_together(
        &self,
        number: usize,
        hands: &mut Hands<Zk<C>>,
    ) -> Ended<()> {
        let first = hands.kept.first().map(|(of, _, _)| *of);
        let is_mixed = hands.kept.iter().any(|(of, _, _)| Some(*of) != first);
        let kept = if is_mixed { std::mem::take(&mut hands.kept) } else { Vec::new() };
        let claims: Vec<Claimed<Zk<C>>> = kept.into_iter().map(|(_, _, claim)| claim).collect();
        let items: Vec<String> = claims.iter().map(|claim| text_of(claim.item())).collect();
        let given = |journal: &mut Journal, at, op| self.gives(journal, (at, op), &items, &[]);
        let call =
            Call::new(object(first.filter(|_| is_mixed).unwrap_or(number)), Verb::Confirm).by_mistake();
        operation(&self.client, call, given, || self.calls.confirm(&hands.zk, claims, Vec::new())).await.1
    }

    /// Uses a queue whose items are claimed as one whose items are taken.
    async fn puts_into_another_queue(&mut self, hands: &mut Hands<Zk<C>>) -> Ended<()> {
        let (me, item) = (self.client.number(), self.text());
        let options = QueueOptions::new(Delivery::AtMostOnce)
            .with_idle(Idle::HerdFree)
            .with_parents(Parents::MustExist);
        let queue = Queue::new(&hands.zk, QUEUES[0].path, options).expect("the directory is a good path");
        let mut producer = queue.producer();
        let given = |journal: &mut Journal, at, op| journal.given(at, me, op, &item, 0);
        let call = Call::new(object(0), Verb::Put).by_mistake();
        operation(&self.client, call, given, || producer.put(item.as_bytes())).await.1
    }
}
