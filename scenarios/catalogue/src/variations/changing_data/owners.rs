//! Owners of names: for as long as their session lives, and permanently.

use super::workload::{NAMES, SERVICES, Service, over};
use crate::prelude::*;
use crate::told::{State, tells};
use zk_recipes::names::{Freshness, Names, NamesOptions, PermanentName, Registration};
use zk_recipes::{HoldState, Stop};

impl<C: Client> Service<'_, C> {
    /// Registers a name for the session, and replaces its data while it has it.
    pub(super) async fn serves_for_a_while(&self) -> Round {
        let (client, name, first) = (self.client, self.name(), self.data(0));
        let limit = self.pace.limit * (1 + client.choose(8));
        let call = Call::new(NAMES, Verb::Register).within(limit);
        let register = || self.names.register(name, first.as_bytes()).within(limit);
        let observed = |journal: &mut Journal, at, op, registered: &Registration<C::Zk>| {
            let czxid = registered.token().cast_unsigned();
            journal.observed(at, client.number(), op, NAMES, Seen::Name, name, czxid);
        };
        let (op, ended) = observed_operation(client, call, self.gives([name]), register, observed).await;
        sometimes!(client, "a registration times out", ended.is_timed_out());
        let is_missing = matches!(&ended, Ended::Failed(e) if e.is_no_node());
        sometimes!(client, "a directory that must exist is missing", is_missing);
        let registered = match ended {
            Ended::Done(registered) => registered,
            ended => return over(&ended),
        };
        for number in 1..=client.choose(4) {
            if !self.keeps(op, &registered).await {
                break;
            }
            let data = self.data(number);
            let call = Call::new(NAMES, Verb::Replace);
            let set = || self.calls.set(&self.zk, &registered, data.as_bytes());
            let gives = self.gives([&data, registered.path()]);
            let ended = operation(client, call, gives, set).await.1;
            sometimes!(client, "data are replaced", matches!(ended, Ended::Done(())));
        }
        let state = self.calls.registration_state(&registered);
        tells(client, NAMES, op, state.into());
        let is_lost = matches!(state, HoldState::Lost(_));
        sometimes!(client, "the state of a registration is lost", is_lost);
        let call = Call::new(NAMES, Verb::Unregister);
        if client.choose(8) == 7 {
            // The dropped registration is released in the background.
            give_up(client, call, self.gives([name]), registered);
        } else {
            gives_back(client, call, self.gives([name]), || registered.release()).await;
        }
        Round::Over
    }

    /// Keeps a name for a while. Returns whether the name is still its own, as far as the client knows.
    async fn keeps(&self, op: OpId, registered: &Registration<C::Zk>) -> bool {
        let work = self.client.sleep(self.time()).boxed();
        let Err(stop) = self.calls.run_registered(registered, work).await else {
            tells(self.client, NAMES, op, State::Held);
            return true;
        };
        tells(self.client, NAMES, op, stop.into());
        match stop {
            Stop::Suspect { .. } => {
                let resumed = self.calls.resumed_registration(&self.zk, registered).await;
                tells(self.client, NAMES, op, State::of(&resumed));
                resumed.is_ok()
            }
            Stop::Lost(_) => false,
        }
    }

    /// Registers a permanent name, replaces its value, finds the registration again and removes it.
    pub(super) async fn serves_for_good(&self) -> Round {
        let (client, name) = (self.client, self.name());
        // No waiting: a permanent name may never be free again.
        let names = Names::new(&self.zk, SERVICES, NamesOptions::default()).expect("a good path");
        let Some((mut registered, round)) = self.registers_for_good(&names, name).await else {
            return Round::Over;
        };
        if round == Round::Again {
            return round;
        }
        for number in 1..=client.choose(3) {
            client.sleep(self.pace.work * client.choose(4)).await;
            self.replaces(&registered, &self.data(number)).await;
            if client.choose(2) == 1 {
                registered = self.recalls(&names, name, registered).await;
            }
        }
        let call = Call::new(NAMES, Verb::Unregister);
        let ended = operation(client, call, self.gives([name]), || registered.unregister()).await.1;
        if matches!(ended, Ended::Done(_)) && client.choose(2) == 1 {
            // The client uses the removed registration.
            self.replaces(&registered, &self.data(9)).await;
            self.recalls(&names, name, registered).await;
        }
        over(&ended)
    }

    /// Registers a permanent name. `None` if that failed.
    async fn registers_for_good(
        &self,
        names: &Names<C::Zk>,
        name: &str,
    ) -> Option<(PermanentName<C::Zk>, Round)> {
        let (client, first) = (self.client, self.data(0));
        let register = || async {
            let registered = names.register_permanent(name, first.as_bytes()).await?;
            // Identified by the guid in front: the znode may have been deleted, and another client's may have its name.
            let own = registered.guid().to_string();
            let czxid = loop {
                match self.zk.get(registered.path()).await {
                    Ok(found) if found.data.starts_with(own.as_bytes()) => break found.stat.czxid,
                    Ok(_) => break 0,
                    Err(e) if e.is_no_node() => break 0,
                    Err(e) if e.is_outcome_unknown() => return Err(e),
                    // The client owns the name: an error of this read does not change that.
                    Err(_) => client.sleep(self.pace.work).await,
                }
            };
            Ok((registered, czxid))
        };
        let observed = |journal: &mut Journal, at, op, done: &(PermanentName<C::Zk>, i64)| {
            journal.observed(at, client.number(), op, NAMES, Seen::Name, name, done.1.cast_unsigned());
        };
        let call = Call::new(NAMES, Verb::Register);
        let (_, ended) = observed_operation(client, call, self.gives([name]), register, observed).await;
        let round = over(&ended);
        ended.done().map(|(registered, _)| (registered, round))
    }

    /// Replaces the value of a permanent name.
    async fn replaces(&self, registered: &PermanentName<C::Zk>, value: &str) {
        let content = format!("{}\n{value}", registered.guid());
        let set = || self.calls.set_permanent(&self.zk, registered, value.as_bytes());
        let gives = self.gives([&content, registered.path()]);
        let ended = operation(self.client, Call::new(NAMES, Verb::Replace), gives, set).await.1;
        let is_gone = matches!(&ended, Ended::Failed(e) if e.is_removed());
        sometimes!(self.client, "the znode whose data are to be replaced is gone", is_gone);
    }

    /// Finds the registration again, as a restarted owner does that knows the name and the guid.
    async fn recalls(
        &self,
        names: &Names<C::Zk>,
        name: &str,
        registered: PermanentName<C::Zk>,
    ) -> PermanentName<C::Zk> {
        let call = Call::new(NAMES, Verb::Recall);
        let recall = || self.calls.registered(names, name, registered.guid());
        let (_, ended) = attempt(self.client, call, self.gives([name]), recall).await;
        match ended {
            Ended::Done(Some(found)) => {
                sometimes!(self.client, "a permanent registration is found again", true);
                found
            }
            ended => {
                let is_gone = matches!(ended, Ended::Done(None));
                sometimes!(self.client, "a permanent registration is not found again", is_gone);
                registered
            }
        }
    }

    /// Looks a name up, in the newest state.
    pub(super) async fn looks_up(&self) -> Round {
        self.client.sleep(self.pace.work * self.client.choose(8)).await;
        let (client, name) = (self.client, self.name());
        let (freshness, number) = [(Freshness::Latest, 2), (Freshness::Synced, 1), (Freshness::Local, 0)]
            [client.choose(3) as usize];
        let given = |journal: &mut Journal, at, op| journal.given(at, client.number(), op, name, number);
        let call = Call::new(NAMES, Verb::Resolve);
        let resolve = || self.names.resolve(name, freshness);
        let (_, ended) = observed_operation(client, call, given, resolve, |journal, at, op, found| {
            let (seen, text, mzxid) = match found {
                Some(found) => {
                    (Seen::Value, String::from_utf8_lossy(&found.data), found.mzxid.cast_unsigned())
                }
                None => (Seen::Missing, name.into(), 0),
            };
            journal.observed(at, client.number(), op, NAMES, seen, &text, mzxid);
        })
        .await;
        over(&ended)
    }
}
