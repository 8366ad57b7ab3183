//! Followers of a name, and of the members with their data.

use super::calls::until;
use super::workload::{GROUP, NAMES, Service, over};
use crate::prelude::*;
use std::future::Future;
use std::sync::OnceLock;
use std::time::Duration;
use zk_recipes::Update;
use zk_recipes::group::{GroupView, WithData};

impl<C: Client> Service<'_, C> {
    /// How long a follower follows: within the long time every fault is over and the last change must have arrived.
    fn follows_for(&self) -> Duration {
        self.pace.think * if self.client.choose(8) == 7 { 4000 } else { 20 * (1 + self.client.choose(8)) }
    }

    /// Follows a name for a while.
    pub(super) async fn follows_a_name(&self) -> Round {
        let (client, name, time) = (self.client, self.name(), self.follows_for());
        let Ok(mut updates) = self.names.follow(name) else { return Round::Over };
        let op = &OnceLock::new();
        let called = |journal: &mut Journal, at, id| {
            op.set(id).expect("it is called once");
            journal.given(at, client.number(), id, name, 0);
        };
        let following = move || async move {
            let following = async {
                let mut told = 0;
                loop {
                    let next = self.calls.next_value(&mut updates, told).await?;
                    told += 1;
                    let (seen, text, mzxid) = match next {
                        Update::Value(found) => {
                            let text = String::from_utf8_lossy(&found.data).into_owned();
                            (Seen::Value, text, found.mzxid.cast_unsigned())
                        }
                        Update::Missing => (Seen::Missing, name.to_owned(), 0),
                    };
                    let op = *op.get().expect("it has been called");
                    let me = client.number();
                    client.journal(|journal, at| journal.observed(at, me, op, NAMES, seen, &text, mzxid));
                }
            };
            until(client.sleep(time), following).await
        };
        self.ends_following(Call::new(NAMES, Verb::Follow).within(time), called, following).await
    }

    /// Follows the members and their data for a while.
    pub(super) async fn follows_the_members(&self) -> Round {
        let (client, time) = (self.client, self.follows_for());
        let mut views = self.group.follow(WithData::Yes);
        let op = &OnceLock::new();
        let called = |_: &mut Journal, _, id| op.set(id).expect("it is called once");
        let following = move || async move {
            let following = async {
                loop {
                    let view = self.calls.next_view(&mut views).await?;
                    let op = *op.get().expect("it has been called");
                    client.journal(|journal, at| self.sees(journal, (at, op), &view));
                }
            };
            until(client.sleep(time), following).await
        };
        self.ends_following(Call::new(GROUP, Verb::Watch).within(time), called, following).await
    }

    async fn ends_following<F: Future<Output = Result<(), Error>> + Send>(
        &self,
        call: Call,
        called: impl FnOnce(&mut Journal, u64, OpId) + Send,
        following: impl FnOnce() -> F + Send,
    ) -> Round {
        over(&operation(self.client, call, called, following).await.1)
    }

    /// Records a view, and the data of its members.
    pub(super) fn sees(&self, journal: &mut Journal, (at, op): (u64, OpId), view: &GroupView) {
        let (me, zxid) = (self.client.number(), view.zxid.cast_unsigned());
        let ids: Vec<_> = view.members.iter().map(|member| member.id.as_str()).collect();
        journal.observed(at, me, op, GROUP, Seen::View, &ids.join(","), zxid);
        for member in &view.members {
            // Without an equals sign the member has no data, although the view should include them.
            let data = member.data.as_ref().map(|data| format!("={}", String::from_utf8_lossy(data)));
            let text = format!("{}{}", member.id, data.unwrap_or_default());
            journal.observed(at, me, op, GROUP, Seen::MemberData, &text, zxid);
        }
    }
}
