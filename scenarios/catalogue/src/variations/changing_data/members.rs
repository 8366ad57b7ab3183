//! Members of the group, whose data change.

use super::workload::{GROUP, Service, over};
use crate::prelude::*;
use crate::told::{State, tells};
use futures_util::future::{Either, select};
use std::future::{Future, pending};
use std::pin::pin;
use zk_harness::operation::in_no_operation;
use zk_recipes::group::{GroupView, Membership, WithData};
use zk_recipes::{HoldState, Stop};

impl<C: Client> Service<'_, C> {
    /// Is a member for a while, and replaces its data.
    pub(super) async fn is_a_member(&self) -> Round {
        let (op, id, member) = match self.joins().await {
            Ok(joined) => joined,
            Err(round) => return round,
        };
        for number in 1..=self.client.choose(4) {
            if !self.works(op, &member).await
                || !self.attends(op, &member, self.changes(&member, id, number)).await
            {
                break;
            }
        }
        let call = Call::new(GROUP, Verb::Release);
        if self.client.choose(8) == 7 {
            // The dropped membership leaves in the background.
            give_up(self.client, call, nothing, member);
        } else {
            gives_back(self.client, call, nothing, || member.leave()).await;
        }
        Round::Over
    }

    /// Joins, within a time limit, or until the caller drops it. `Err`: the join failed.
    async fn joins(&self) -> Result<(OpId, Option<&'static str>, Membership<C::Zk>), Round> {
        let (client, first) = (self.client, self.data(0));
        let id = [Some("one"), Some("two"), None][client.choose(3) as usize];
        let call = Call::new(GROUP, Verb::Join).within(self.pace.limit * 20);
        let join = || async {
            match client.choose(2) {
                0 => self.group.join(id, first.as_bytes()).within(call.limit).await,
                _ => {
                    let join = self.calls.join(&self.group, id, first.as_bytes());
                    super::calls::until(client.sleep(call.limit), join).await
                }
            }
        };
        let observed = |journal: &mut Journal, at, op, member: &Membership<C::Zk>| {
            let czxid = self.calls.czxid(member).cast_unsigned();
            journal.observed(at, client.number(), op, GROUP, Seen::Name, member.id(), czxid);
        };
        let gives = self.gives([id.unwrap_or_default()]);
        let (op, ended) = observed_operation(client, call, gives, join, observed).await;
        sometimes!(client, "a join times out", ended.is_timed_out());
        let is_missing = matches!(&ended, Ended::Failed(e) if e.is_no_node());
        sometimes!(client, "a directory that must exist is missing", is_missing);
        match ended {
            Ended::Done(member) => Ok((op, id, member)),
            ended => Err(over(&ended)),
        }
    }

    /// Replaces its data, and checks the view of other clients.
    async fn changes(&self, member: &Membership<C::Zk>, id: Option<&str>, number: u32) {
        let data = self.data(number);
        let set = || self.calls.set_member(&self.zk, member, data.as_bytes());
        let gives = self.gives([&data, member.path()]);
        let ended = operation(self.client, Call::new(GROUP, Verb::Replace), gives, set).await.1;
        sometimes!(self.client, "data are replaced", matches!(ended, Ended::Done(())));
        if self.client.choose(3) == 2 {
            self.looks_at_itself().await;
        }
        if let Some(id) = id.filter(|_| self.client.choose(4) == 3) {
            self.joins_again(id).await;
        }
    }

    /// Works for a while. Returns whether it is still a member; a member that is out reports it.
    async fn works(&self, op: OpId, member: &Membership<C::Zk>) -> bool {
        let work = self.client.sleep(self.time()).boxed();
        let Err(stop) = self.calls.run(member, work).await else {
            tells(self.client, GROUP, op, State::Held);
            return true;
        };
        tells(self.client, GROUP, op, stop.into());
        sometimes!(self.client, "the work of a member is dropped", true);
        if let Stop::Suspect { .. } = stop {
            let resumed = self.calls.resumed(&self.zk, member).await;
            tells(self.client, GROUP, op, State::of(&resumed));
            if resumed.is_ok() {
                sometimes!(self.client, "a member works on after a suspicion", true);
                return true;
            }
        }
        let state = self.calls.state(member);
        tells(self.client, GROUP, op, state.into());
        let is_lost = matches!(state, HoldState::Lost(_));
        if is_lost {
            self.says_that_it_is_out(op);
        }
        !is_lost
    }

    fn is_lost(&self, member: &Membership<C::Zk>) -> bool {
        matches!(self.calls.state(member), HoldState::Lost(_))
    }

    /// Resolves when the membership is lost.
    async fn is_out(&self, member: &Membership<C::Zk>) {
        while let Stop::Suspect { .. } = member.lost().await {
            let _ = member.resumed().await;
        }
        if !self.is_lost(member) {
            pending().await
        }
    }

    /// Does something else while it is a member. Returns whether it still is one; a member that is out reports it at
    /// once.
    async fn attends(&self, op: OpId, member: &Membership<C::Zk>, work: impl Future<Output = ()>) -> bool {
        let out = pin!(in_no_operation(self.client, self.is_out(member)));
        match select(out, pin!(work)).await {
            Either::Left(((), work)) => {
                self.says_that_it_is_out(op);
                work.await;
                false
            }
            Either::Right(_) => true,
        }
    }

    fn says_that_it_is_out(&self, op: OpId) {
        let me = self.client.number();
        self.client.journal(|journal, at| journal.observed(at, me, op, GROUP, Seen::Missing, "", 0));
    }

    /// Reads the members with their data, including itself.
    async fn looks_at_itself(&self) {
        let views = &mut self.group.follow(WithData::Yes);
        let call = Call::new(GROUP, Verb::Watch);
        let observed = |journal: &mut Journal, at, op, view: &GroupView| self.sees(journal, (at, op), view);
        let _ =
            observed_operation(self.client, call, nothing, || self.calls.next_view(views), observed).await;
    }

    /// Joins again under its own id.
    async fn joins_again(&self, id: &str) {
        let call = Call::new(GROUP, Verb::Join).within(self.pace.limit);
        let join = || self.group.join(Some(id), b"once more").within(call.limit);
        let (_, ended) = operation(self.client, call, self.gives([id]), join).await;
        let is_member = matches!(&ended, Ended::Failed(e) if e.is_already_joined());
        sometimes!(self.client, "a client joins although it is a member", is_member);
    }
}
