//! What a run did, counted from its history: how many requests went into what.

use std::collections::BTreeMap;
use zk_checker::history::{FaultKind, History, OpId, Request, Verb, What};

/// Requests and the like, as the clients saw them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Acquires that were granted.
    pub grants: u32,
    /// Requests of acquires that were granted.
    pub acquiring: u32,
    /// Requests of holders, who watch their own znodes.
    pub holding: u32,
    /// Releases that were called; a guard that is dropped leaves it to clean-up.
    pub releases: u32,
    /// Their requests.
    pub releasing: u32,
    /// Requests of acquires that came to nothing: not free, over the limit, dropped.
    pub in_vain: u32,
    /// Requests of clean-up duties.
    pub cleanup: u32,
    /// Notifications.
    pub notices: u32,
    /// Sessions that were opened.
    pub sessions: u32,
    /// Connections that were lost.
    pub disconnects: u32,
    /// Operations that were dropped.
    pub dropped: u32,
}

impl Figures {
    /// Counts.
    pub fn of(history: &History) -> Figures {
        use zk_checker::history::SessionState::{Connected, Suspended};
        let mut figures = Figures::default();
        let mut verbs: BTreeMap<OpId, Verb> = BTreeMap::new();
        let mut sends: BTreeMap<OpId, u32> = BTreeMap::new();
        let mut granted: BTreeMap<OpId, ()> = BTreeMap::new();
        let mut sessions = 0;
        for event in &history.events {
            match event.what {
                What::Call { verb, .. } => _ = verbs.insert(event.op, verb),
                What::Believe { .. } => _ = granted.insert(event.op, ()),
                What::Send { cleanup: true, .. } => figures.cleanup += 1,
                What::Send { kind: Request::CloseSession, .. } => {}
                What::Send { .. } if event.op == OpId(0) => figures.holding += 1,
                What::Send { .. } => *sends.entry(event.op).or_default() += 1,
                What::Notice { .. } => figures.notices += 1,
                What::State { session, state: Connected, .. } => sessions = sessions.max(session.0),
                What::State { state: Suspended, .. } => figures.disconnects += 1,
                What::Fault { kind: FaultKind::Cancel, .. } => figures.dropped += 1,
                _ => {}
            }
        }
        figures.grants = granted.len() as u32;
        figures.sessions = u32::from(sessions);
        for (op, verb) in verbs {
            let sent = sends.get(&op).copied().unwrap_or(0);
            match verb {
                Verb::Release => {
                    figures.releases += 1;
                    figures.releasing += sent;
                }
                _ if granted.contains_key(&op) => figures.acquiring += sent,
                _ => figures.in_vain += sent,
            }
        }
        figures
    }
}

/// So much for each, or zero.
pub fn each(total: u32, number: u32) -> f64 {
    f64::from(total) / f64::from(number.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_what_they_were_for() {
        let history = zk_checker::text::parse(
            "run client
             lock /lock
             0.000 a acquire#1 call /lock
             0.001 a #1 send r1 create /lock/1-
             0.001 a #1 send r2 children /lock
             0.003 a #1 believe /lock s1 token 0x3
             0.004 a release#2 call /lock
             0.004 a #2 send r3 delete /lock/1-0
             0.005 b acquire#3 call /lock
             0.005 b #3 send r4 create /lock/2-",
        );
        let figures = Figures::of(&history.expect("the text is a history"));
        let wanted =
            Figures { grants: 1, acquiring: 2, releases: 1, releasing: 1, in_vain: 1, ..Figures::default() };
        assert_eq!(figures, wanted);
    }
}
