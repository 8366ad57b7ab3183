//! The messages between clients and servers, and the fate of each.

use crate::causes::Causes;
use crate::lives::{Lives, WatchEnd};
use crate::requests::{Requests, SentRequest};
use std::collections::BTreeMap;
use zk_checker::history::{FaultKind, History, Victim, What, Who};

/// The content of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Carries {
    Request,
    Reply,
    Notification,
    /// Request and reply together, if the servers' events are not known.
    Exchange,
}

/// The fate of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Arrived,
    Late,
    Lost,
    /// Unknown: the history does not show it.
    Open,
}

/// One message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    pub carries: Carries,
    pub fate: Fate,
    /// The event of its sending.
    pub from: u32,
    /// The event of its arrival, or of the discovery of its loss.
    pub to: Option<u32>,
    pub client: u16,
    pub server: Option<u8>,
}

/// All messages, in the order of their sending.
pub(super) fn of(history: &History, asked: &Requests, causes: &Causes, lives: &Lives) -> Vec<Message> {
    let late = late(history, asked);
    let mut messages = Vec::new();
    // The server to which each client was last connected.
    let mut at_server: BTreeMap<u16, u8> = BTreeMap::new();
    for (index, event) in history.events.iter().enumerate() {
        match (event.who, event.what) {
            (Who::Client(client), What::State { conn, server, .. }) if !conn.is_none() => {
                at_server.insert(client, server);
            }
            (Who::Client(client), What::Send { req, .. }) => {
                let Some(ask) = asked.get(req).filter(|ask| ask.sent == index as u32) else { continue };
                let server = server_of(history, ask.handled).or(at_server.get(&client).copied());
                messages.extend(of_ask(ask, server, &late));
            }
            (Who::Server(server), What::Fire { session, .. }) => {
                let from = index as u32;
                let to = causes.notices.get(&from).copied();
                let Some(client) = asked.client_of(session) else { continue };
                let fate = if to.is_some() { Fate::Arrived } else { Fate::Lost };
                messages.push(Message {
                    carries: Carries::Notification,
                    fate,
                    from,
                    to,
                    client,
                    server: Some(server),
                });
            }
            _ => {}
        }
    }
    debug_assert!(
        lives.watches.iter().all(|watch| watch.end != WatchEnd::Notified || watch.notice.is_some())
    );
    messages.sort_by_key(|message| message.from);
    messages
}

fn server_of(history: &History, event: Option<u32>) -> Option<u8> {
    match history.events[event? as usize].who {
        Who::Server(server) => Some(server),
        _ => None,
    }
}

fn of_ask(ask: &SentRequest, server: Option<u8>, late: &BTreeMap<u32, u32>) -> Vec<Message> {
    let message = |carries, fate, from, to| Message { carries, fate, from, to, client: ask.client, server };
    let Some(handled) = ask.handled else {
        return match (ask.answered, ask.lost) {
            (Some(answered), _) => vec![message(Carries::Exchange, Fate::Arrived, ask.sent, Some(answered))],
            (None, Some(lost)) => vec![message(Carries::Request, Fate::Lost, ask.sent, Some(lost))],
            (None, None) => vec![message(Carries::Request, Fate::Open, ask.sent, None)],
        };
    };
    let fate = match (ask.answered, ask.lost) {
        (Some(_), _) if late.contains_key(&handled) => Fate::Late,
        (Some(_), _) => Fate::Arrived,
        (None, Some(_)) => Fate::Lost,
        (None, None) => Fate::Open,
    };
    // A client may learn of the loss before a server handles the request.
    let told = ask.answered.or(ask.lost.filter(|lost| *lost > handled));
    vec![
        message(Carries::Request, Fate::Arrived, ask.sent, Some(handled)),
        message(Carries::Reply, fate, handled, told),
    ]
}

/// The late replies, by their transaction or read: the latest one in flight when the fault was injected.
fn late(history: &History, asked: &Requests) -> BTreeMap<u32, u32> {
    let mut by_client: BTreeMap<u16, Vec<(u32, u32)>> = BTreeMap::new();
    for ask in asked.iter() {
        if let (Some(handled), Some(answered)) = (ask.handled, ask.answered) {
            by_client.entry(ask.client).or_default().push((handled, answered));
        }
    }
    by_client.values_mut().for_each(|replies| replies.sort_unstable());
    let mut late = BTreeMap::new();
    for (index, event) in history.events.iter().enumerate() {
        let What::Fault { kind: FaultKind::ReplyLate, victim: Victim::Process { client }, .. } = event.what
        else {
            continue;
        };
        let (Some(replies), index) = (by_client.get(&client), index as u32) else { continue };
        let before = replies.partition_point(|(handled, _)| *handled <= index);
        let on_its_way = replies[..before].iter().rev().take(8).find(|(_, answered)| *answered > index);
        late.extend(on_its_way.map(|(handled, _)| (*handled, index)));
    }
    late
}
