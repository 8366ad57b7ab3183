//! The figures of a run, counted from its history: for each verb of its recipe, the outcomes and the costs of its
//! calls.

use std::collections::BTreeMap;
use zk_checker::history::{Event, FaultKind, History, OpId, Outcome, Request, Verb, Victim, What, Who};

/// Calls, requests and notifications, as the clients saw them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// For each verb that was called, in the order of the recipes.
    pub verbs: Vec<(Verb, Calls)>,
    /// Requests outside of operations, such as those of holders that watch their own znodes.
    pub between: u32,
    /// Notifications to a client without an operation in progress.
    pub notices_between: u32,
    /// Requests of clean-up duties.
    pub cleanup: u32,
    /// Requests whose reply was lost with the connection.
    pub lost: u32,
    /// Sessions that were opened.
    pub sessions: u32,
    /// Sessions that ended against their client's will.
    pub expired: u32,
    /// Connections that were lost.
    pub disconnects: u32,
    /// Operations that were to be dropped, even if they had ended by then.
    pub dropped: u32,
    /// The number of stalls of servers, including those that injected faults caused.
    pub slow_servers: u32,
    /// The number of pauses of the process of all clients without an injected fault.
    pub slow_process: u32,
    /// All other faults, counted by kind.
    pub faults: BTreeMap<FaultKind, u32>,
}

/// The calls of one verb.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// The number of calls.
    pub calls: u32,
    /// The number of successful calls.
    pub done: u32,
    /// The number of calls that certainly had no effect: not free, timed out, refused.
    pub refused: u32,
    /// The number of calls with an unknown outcome.
    pub unknown: u32,
    /// The number of dropped calls.
    pub cancelled: u32,
    /// The requests of successful calls.
    pub requests: u32,
    /// The requests of all other calls.
    pub fruitless: u32,
    /// Notifications during a call: if a client has several operations in progress, they count for the latest.
    pub notices: u32,
}

impl Calls {
    /// Requests per successful call.
    pub fn requests_each(&self) -> f64 {
        f64::from(self.requests) / f64::from(self.done.max(1))
    }

    fn plus(self, other: &Calls) -> Calls {
        Calls {
            calls: self.calls + other.calls,
            done: self.done + other.done,
            refused: self.refused + other.refused,
            unknown: self.unknown + other.unknown,
            cancelled: self.cancelled + other.cancelled,
            requests: self.requests + other.requests,
            fruitless: self.fruitless + other.fruitless,
            notices: self.notices + other.notices,
        }
    }
}

/// One operation.
struct CallFigures {
    verb: Verb,
    ended: Option<Outcome>,
    requests: u32,
    notices: u32,
}

impl Figures {
    /// Counts the figures of a history.
    pub fn of(history: &History) -> Figures {
        use zk_checker::history::SessionState::{Connected, Expired, Suspended};
        let mut figures = Figures::default();
        let mut operations: BTreeMap<OpId, CallFigures> = BTreeMap::new();
        // For each client: its operations in progress, the latest one last.
        let mut present: BTreeMap<u16, Vec<OpId>> = BTreeMap::new();
        for event in &history.events {
            let Event { op, who: Who::Client(client), what, .. } = *event else {
                match event.what {
                    What::Fault { kind: FaultKind::Cancel, .. } => figures.dropped += 1,
                    What::Fault { kind: FaultKind::SlowServer, .. } => figures.slow_servers += 1,
                    What::Fault { kind: FaultKind::SlowProcess, victim, .. } => {
                        // The pause is recorded for each of its clients; count it once.
                        figures.slow_process += u32::from(victim == Victim::Process { client: 0 });
                    }
                    What::Fault { kind, .. } => *figures.faults.entry(kind).or_default() += 1,
                    _ => {}
                }
                continue;
            };
            match what {
                What::Call { verb, .. } => {
                    operations.insert(op, CallFigures { verb, ended: None, requests: 0, notices: 0 });
                    present.entry(client).or_default().push(op);
                }
                What::Return { outcome, .. } => {
                    present.entry(client).or_default().retain(|of| *of != op);
                    if let Some(operation) = operations.get_mut(&op) {
                        operation.ended = Some(outcome);
                    }
                }
                What::Send { cleanup: true, .. } => figures.cleanup += 1,
                What::Send { kind: Request::CloseSession, .. } => {}
                What::Send { .. } => match operations.get_mut(&op) {
                    Some(operation) => operation.requests += 1,
                    None => figures.between += 1,
                },
                What::Notice { .. } => {
                    let last = present.get(&client).and_then(|present| present.last());
                    match last.and_then(|op| operations.get_mut(op)) {
                        Some(operation) => operation.notices += 1,
                        None => figures.notices_between += 1,
                    }
                }
                What::State { session, state: Connected, .. } => {
                    figures.sessions = figures.sessions.max(u32::from(session.0));
                }
                What::State { state: Suspended, .. } => figures.disconnects += 1,
                What::State { state: Expired, .. } => figures.expired += 1,
                What::Lost { .. } => figures.lost += 1,
                _ => {}
            }
        }
        figures.verbs = by_verb(operations.values());
        figures
    }

    /// Successful calls of all verbs.
    pub fn done(&self) -> u32 {
        self.calls().done
    }

    /// The calls of all verbs.
    pub fn calls(&self) -> Calls {
        self.verbs.iter().fold(Calls::default(), |sum, (_, calls)| sum.plus(calls))
    }

    /// Servers that were killed, or asked to stop.
    pub fn kills(&self) -> u32 {
        let crashes = [FaultKind::ServerCrash, FaultKind::LeaderCrash];
        crashes.iter().filter_map(|kind| self.faults.get(kind)).sum()
    }

    /// The sum of two runs.
    #[must_use]
    pub fn plus(&self, other: &Figures) -> Figures {
        let mut sum = self.clone();
        for (verb, calls) in &other.verbs {
            match sum.verbs.iter_mut().find(|(known, _)| known == verb) {
                Some((_, known)) => *known = known.plus(calls),
                None => sum.verbs.push((*verb, *calls)),
            }
        }
        sum.verbs.sort_by_key(|(verb, _)| *verb as usize);
        for (kind, count) in &other.faults {
            *sum.faults.entry(*kind).or_default() += count;
        }
        sum.slow_servers += other.slow_servers;
        sum.slow_process += other.slow_process;
        sum.between += other.between;
        sum.notices_between += other.notices_between;
        sum.cleanup += other.cleanup;
        sum.lost += other.lost;
        sum.sessions += other.sessions;
        sum.expired += other.expired;
        sum.disconnects += other.disconnects;
        sum.dropped += other.dropped;
        sum
    }

    /// All notifications.
    pub fn notices(&self) -> u32 {
        self.notices_between + self.verbs.iter().map(|(_, calls)| calls.notices).sum::<u32>()
    }
}

fn by_verb<'a>(operations: impl Iterator<Item = &'a CallFigures>) -> Vec<(Verb, Calls)> {
    let mut verbs: BTreeMap<usize, (Verb, Calls)> = BTreeMap::new();
    for operation in operations {
        let place = operation.verb as usize;
        let (_, calls) = verbs.entry(place).or_insert((operation.verb, Calls::default()));
        calls.calls += 1;
        calls.notices += operation.notices;
        match operation.ended {
            Some(Outcome::Done) => {
                calls.done += 1;
                calls.requests += operation.requests;
                continue;
            }
            Some(Outcome::Refused) => calls.refused += 1,
            Some(Outcome::Cancelled) => calls.cancelled += 1,
            // The run ended before the call, or before its outcome was known.
            Some(Outcome::Unknown) | None => calls.unknown += 1,
        }
        calls.fruitless += operation.requests;
    }
    verbs.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_notifications_are_counted_by_what_they_were_for() {
        let history = zk_checker::text::parse(
            "run client
             lock /lock
             0.000 a acquire#1 call /lock
             0.001 a #1 send r1 create /lock/1-
             0.001 a #1 send r2 children /lock
             0.003 a #1 return done
             0.003 a #1 believe /lock s1 token 0x3
             0.003 b acquire#2 call /lock
             0.003 b #2 send r3 create /lock/2-
             0.003 a send r4 children /lock/1-0
             0.004 a release#3 call /lock
             0.004 a #3 send r5 delete /lock/1-0
             0.005 b notice s2 deleted /lock/1-0
             0.005 a #3 return done
             0.006 a notice s1 deleted /lock/1-0
             0.006 b #2 return refused
             0.006 b #2 send r6 delete /lock/2-1 cleanup",
        );
        let figures = Figures::of(&history.expect("the text is a history"));
        let acquire = Calls {
            calls: 2,
            done: 1,
            refused: 1,
            requests: 2,
            fruitless: 1,
            notices: 1,
            ..Calls::default()
        };
        let release = Calls { calls: 1, done: 1, requests: 1, ..Calls::default() };
        let wanted = Figures {
            verbs: vec![(Verb::Acquire, acquire), (Verb::Release, release)],
            between: 1,
            notices_between: 1,
            cleanup: 1,
            ..Figures::default()
        };
        assert_eq!(figures, wanted);
        let twice = figures.plus(&figures);
        assert_eq!((twice.calls().calls, twice.between, twice.verbs.len()), (6, 2, 2));
        assert_eq!((figures.done(), figures.notices()), (2, 2));
    }
}
