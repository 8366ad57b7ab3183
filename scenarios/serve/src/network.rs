//! The faults of the network between clients and their servers: faults that wait for a matching request, and faults
//! drawn from a seed. This module decides; the front carries out.

use crate::clients::{ClientId, Fate};
use crate::command::RequestFilter;
use serde_json::{Value, json};
use sim_zk::choose::{Chooser, Point, Rates, Seeded};
use sim_zk::fault::{Fault, InjectionPoint};
use sim_zk::message::{Ask, Code};
use sim_zk::observer::Kind;

/// A fault that waits for a matching request or notification.
struct Waiting {
    fault: Fault,
    client: Option<ClientId>,
    op: Option<Kind>,
    path: Option<String>,
    /// The number of matches that are left.
    left: u32,
    /// The delay of a reply, in microseconds.
    delay: u64,
    /// The command, as it was given.
    asked: Value,
}

/// The properties of a request on which faults depend.
pub(crate) struct Request<'a> {
    pub client: ClientId,
    pub ask: &'a Ask,
    pub kind: Kind,
    pub path: &'a str,
    /// The negotiated timeout of its session, in microseconds.
    pub timeout: u64,
}

/// The fault of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strike {
    /// The connection breaks before it reaches the server.
    Lost,
    /// The connection breaks; the request arrives.
    Disconnect,
    /// The server refuses it.
    Refused(Fault, Code),
    /// Its reply is lost or late.
    Reply(Fate),
    /// A partition in one direction or both, for that many microseconds.
    Partition(Fault, u64),
}

/// The fault of a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missed {
    /// The connection breaks before it arrives.
    Lost,
    /// The client is partitioned for that many microseconds, until its session has expired.
    Expiry(u64),
}

/// The faults of the network.
pub(crate) struct Network {
    waiting: Vec<Waiting>,
    next: u64,
    drawn: Option<Seeded>,
    tick: u64,
}

impl Network {
    /// A network whose faults are drawn at these rates, if given.
    pub fn new(drawn: Option<(u64, Rates)>, tick: u64) -> Self {
        let drawn = drawn.map(|(seed, rates)| Seeded::new(seed, rates));
        Network { waiting: Vec::new(), next: 1, drawn, tick }
    }

    /// Whether no fault waits and none is drawn.
    pub fn is_calm(&self) -> bool {
        self.waiting.is_empty() && self.drawn.is_none()
    }

    /// The number of the next fault.
    pub fn number(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    /// Adds a waiting fault, and returns its number.
    pub fn wait(&mut self, fault: Fault, client: Option<ClientId>, which: &RequestFilter, delay: u64) -> u64 {
        let number = self.number();
        let asked = json!({
            "fault": number,
            "kind": fault.name(),
            "client": which.client,
            "op": which.op.map(crate::command::Op::name),
            "path": which.path,
            "count": which.count.unwrap_or(1),
        });
        self.waiting.push(Waiting {
            fault,
            client,
            op: which.op.map(crate::command::Op::kind),
            path: which.path.clone(),
            left: which.count.unwrap_or(1),
            delay,
            asked,
        });
        number
    }

    /// The waiting faults, as they were given.
    pub fn waiting(&self) -> Vec<Value> {
        self.waiting.iter().map(|waiting| waiting.asked.clone()).collect()
    }

    /// Ends all faults of the network, and draws no more.
    pub fn calm(&mut self) {
        self.waiting.clear();
        self.drawn = None;
    }

    /// The fault of a request that is being sent.
    pub fn strikes(&mut self, request: &Request<'_>) -> Option<Strike> {
        let is_about_requests = |fault: Fault| fault != Fault::WatchLost;
        let fits = |waiting: &Waiting| {
            is_about_requests(waiting.fault)
                && waiting.client.is_none_or(|client| client == request.client)
                && waiting.op.is_none_or(|op| op == request.kind)
                && waiting.path.as_deref().is_none_or(|prefix| request.path.starts_with(prefix))
                && waiting.fault.refusal().is_none_or(|code| request.ask.may_be_refused_with(code))
        };
        match self.take(fits) {
            Some((fault, delay)) => strike(fault, delay),
            None => self.draw(request),
        }
    }

    /// The fault of a notification.
    pub fn misses(&mut self, client: ClientId, path: &str, timeout: u64) -> Option<Missed> {
        let fits = |waiting: &Waiting| {
            waiting.fault == Fault::WatchLost
                && waiting.client.is_none_or(|of| of == client)
                && waiting.path.as_deref().is_none_or(|prefix| path.starts_with(prefix))
        };
        if self.take(fits).is_some() {
            return Some(Missed::Lost);
        }
        match self.drawn_at(InjectionPoint::Notice)? {
            Fault::WatchLost => Some(Missed::Lost),
            Fault::SessionExpiry => Some(Missed::Expiry(timeout + 2 * self.tick)),
            // Faults of a process cannot be injected into a foreign one.
            _ => None,
        }
    }

    fn take(&mut self, fits: impl Fn(&Waiting) -> bool) -> Option<(Fault, u64)> {
        let at = self.waiting.iter().position(fits)?;
        let waiting = &mut self.waiting[at];
        let found = (waiting.fault, waiting.delay);
        waiting.left = waiting.left.saturating_sub(1);
        if waiting.left == 0 {
            self.waiting.remove(at);
        }
        Some(found)
    }

    fn drawn_at(&mut self, point: InjectionPoint) -> Option<Fault> {
        let chooser = self.drawn.as_mut()?;
        let chosen = chooser.choose(Point::Fault(point), point.faults().len() as u32 + 1);
        point.faults().get((chosen as usize).checked_sub(1)?).copied()
    }

    fn draw(&mut self, request: &Request<'_>) -> Option<Strike> {
        let fits = |fault: &Fault| fault.refusal().is_none_or(|code| request.ask.may_be_refused_with(code));
        if let Some(fault) = self.drawn_at(InjectionPoint::Request).filter(fits) {
            return match fault {
                Fault::ClientMuted | Fault::ClientDeafened | Fault::ClientPartition => {
                    let eighths = 1 + self.length(8);
                    Some(Strike::Partition(fault, request.timeout.max(self.tick) * eighths / 8))
                }
                fault => strike(fault, 0),
            };
        }
        match self.drawn_at(InjectionPoint::Reply)? {
            Fault::ReplyLate => {
                let delay = 100_000 * (1 + self.length(32));
                strike(Fault::ReplyLate, delay)
            }
            fault => strike(fault, 0),
        }
    }

    /// The index of the refused operation of a transaction; the first possible one, if faults are not drawn.
    pub fn refused_at(&mut self, ask: &Ask, code: Code) -> u16 {
        let all = ask.refusable_with(code);
        let drawn = match &mut self.drawn {
            Some(chooser) if all.len() > 1 => chooser.choose(Point::Operation, all.len() as u32),
            _ => 0,
        };
        all.get(drawn as usize).copied().unwrap_or_default()
    }

    fn length(&mut self, n: u32) -> u64 {
        self.drawn.as_mut().map_or(0, |chooser| u64::from(chooser.choose(Point::Duration, n)))
    }
}

fn strike(fault: Fault, delay: u64) -> Option<Strike> {
    Some(match fault {
        Fault::RequestLost => Strike::Lost,
        Fault::Disconnect => Strike::Disconnect,
        Fault::ReplyLost => Strike::Reply(Fate::Lost),
        Fault::ReplyLate => Strike::Reply(Fate::Late(delay)),
        fault => Strike::Refused(fault, fault.refusal()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_zk::paths::PathId;

    fn request(client: usize, path: &str) -> Request<'_> {
        static ASK: Ask = Ask::Exists { path: PathId::ROOT, watch: false };
        Request { client: ClientId(client), ask: &ASK, kind: Kind::Exists, path, timeout: 1 }
    }

    #[test]
    fn a_fault_waits_for_what_fits() {
        let mut network = Network::new(None, 1);
        let which =
            RequestFilter { path: Some("/locks".to_owned()), count: Some(2), ..RequestFilter::default() };
        network.wait(Fault::ReplyLost, Some(ClientId(1)), &which, 0);
        assert_eq!(network.strikes(&request(0, "/locks/a")), None, "another client");
        assert_eq!(network.strikes(&request(1, "/lock")), None, "another path");
        assert_eq!(network.strikes(&request(1, "/locks/a")), Some(Strike::Reply(Fate::Lost)));
        assert!(!network.is_calm());
        assert_eq!(network.strikes(&request(1, "/locks/b")), Some(Strike::Reply(Fate::Lost)));
        assert_eq!(network.strikes(&request(1, "/locks/c")), None, "it was for two");
        assert!(network.is_calm());
    }

    #[test]
    fn a_refusal_spares_what_cannot_be_refused_so() {
        let mut network = Network::new(None, 1);
        network.wait(Fault::QuotaExceeded, None, &RequestFilter::default(), 0);
        assert_eq!(network.strikes(&request(0, "/a")), None, "no quota forbids a read");
        network.wait(Fault::Throttled, None, &RequestFilter::default(), 0);
        let throttled = Strike::Refused(Fault::Throttled, Code::ThrottledOp);
        assert_eq!(network.strikes(&request(0, "/a")), Some(throttled));
    }

    #[test]
    fn a_seed_draws_the_same_faults() {
        let rates = Rates::NONE.with(Fault::ReplyLost, 0.1).with(Fault::RequestLost, 0.1);
        let drawn = |seed| {
            let mut network = Network::new(Some((seed, rates)), 1);
            (0..200).map(|_| network.strikes(&request(0, "/a"))).collect::<Vec<_>>()
        };
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
        assert!(drawn(1).contains(&Some(Strike::Lost)));
    }
}
