//! The clients of an ensemble: the programs at the other ends of the connections.
//!
//! A client is a session. It keeps its number when it reconnects.

use sim_zk::observer::Kind;
use std::collections::BTreeMap;
use zk_checker::history::ReqId;
use zk_checker::process_of;
use zk_recipes::zk::SessionId;

/// The number of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ClientId(pub usize);

/// A client.
pub(crate) struct Client {
    pub name: String,
    /// Zero until the server has opened the session.
    pub session: SessionId,
    /// In microseconds.
    pub timeout: u64,
    /// The index of its latest connection, while that is open.
    pub connection: Option<usize>,
    /// The number of its requests so far, pings excepted.
    pub requests: u64,
    /// The times until which packets from the client, and packets to it, are held.
    pub muted: u64,
    pub deafened: u64,
    /// Whether its session is over.
    pub is_over: bool,
}

/// A request of a client that has not been answered.
pub(crate) struct InFlight {
    pub xid: i32,
    pub req: ReqId,
    pub kind: Kind,
    /// The size of the request and its answer, in bytes.
    pub bytes: usize,
    /// The time of its arrival, in microseconds.
    pub at: u64,
    /// The fault that affects its reply.
    pub fate: Option<Fate>,
}

/// The fault of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The connection breaks before it reaches the client.
    Lost,
    /// The reply is delayed by that many microseconds.
    Late(u64),
}

/// The number of latest clients that are kept even if their sessions are over: a program may still report earlier
/// beliefs.
const KEPT: usize = 2048;

/// All clients, except those whose sessions ended long ago.
#[derive(Default)]
pub(crate) struct Clients {
    all: BTreeMap<usize, Client>,
    /// The number of the next client.
    next: usize,
    /// The number of clients after the last call of [`forget`](Self::forget).
    left: usize,
    by_session: BTreeMap<SessionId, ClientId>,
    by_name: BTreeMap<String, ClientId>,
}

impl Clients {
    /// Adds a client whose session is not open yet.
    pub fn begin(&mut self) -> ClientId {
        let id = ClientId(self.next);
        self.next += 1;
        let name = format!("client-{}", id.0 + 1);
        self.by_name.insert(name.clone(), id);
        let client = Client {
            name,
            session: SessionId(0),
            timeout: 0,
            connection: None,
            requests: 0,
            muted: 0,
            deafened: 0,
            is_over: false,
        };
        self.all.insert(id.0, client);
        id
    }

    /// Whether there are enough clients to forget some: twice as many as were left last time, which bounds the cost per
    /// new client.
    pub fn are_many(&self) -> bool {
        self.all.len() > 2 * self.left.max(KEPT)
    }

    /// Forgets the clients that are gone, except the latest [`KEPT`].
    pub fn forget(&mut self, is_gone: impl Fn(ClientId, &Client) -> bool) {
        let Clients { all, by_session, by_name, next, left } = self;
        for (id, client) in
            all.extract_if(..next.saturating_sub(KEPT), |id, client| is_gone(ClientId(*id), client))
        {
            by_session.remove(&client.session);
            // A later client may have taken over its name.
            if by_name.get(&client.name) == Some(&ClientId(id)) {
                by_name.remove(&client.name);
            }
        }
        *left = all.len();
    }

    /// The client of a session.
    pub fn of(&self, session: SessionId) -> Option<ClientId> {
        self.by_session.get(&session).copied()
    }

    /// Records the session of a client.
    pub fn attach(&mut self, id: ClientId, session: SessionId, timeout: u64) {
        let client = self.get_mut(id);
        (client.session, client.timeout) = (session, timeout);
        self.by_session.insert(session, id);
    }

    /// Finds a client by its name or its session id, such as `0x1000a2b3c4d0001`.
    pub fn find(&self, text: &str) -> Option<ClientId> {
        if let Some(id) = self.by_name.get(text) {
            return Some(*id);
        }
        self.of(session_of(text)?)
    }

    /// Renames a client. Returns whether the name was free; the name of a client whose session is over is free.
    pub fn rename(&mut self, id: ClientId, name: &str) -> bool {
        // A program reuses its name for its next session.
        if self.by_name.get(name).is_some_and(|of| *of != id && !self.get(*of).is_over) {
            return false;
        }
        let client = self.get_mut(id);
        let before = std::mem::replace(&mut client.name, name.to_owned());
        self.by_name.remove(&before);
        self.by_name.insert(name.to_owned(), id);
        true
    }

    pub fn get(&self, id: ClientId) -> &Client {
        self.all.get(&id.0).expect("a client is forgotten after its last connection")
    }

    pub fn get_mut(&mut self, id: ClientId) -> &mut Client {
        self.all.get_mut(&id.0).expect("a client is forgotten after its last connection")
    }

    /// The clients that are sessions of a process.
    pub fn of_process(&self, process: &str) -> impl Iterator<Item = ClientId> {
        self.all
            .iter()
            .filter(move |(_, client)| process_of(&client.name) == process)
            .map(|(id, _)| ClientId(*id))
    }

    /// The clients whose sessions are not over.
    pub fn alive(&self) -> impl Iterator<Item = (ClientId, &Client)> {
        let alive = |(_, client): &(&usize, &Client)| !client.is_over;
        self.all.iter().filter(alive).map(|(id, client)| (ClientId(*id), client))
    }
}

/// Reads a session id: hexadecimal with `0x`, or decimal.
pub(crate) fn session_of(text: &str) -> Option<SessionId> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => i64::from_ne_bytes(u64::from_str_radix(digits, 16).ok()?.to_ne_bytes()),
        None => text.parse().ok()?,
    };
    Some(SessionId(number)).filter(|session| session.0 != 0)
}

/// A session id as client libraries log it.
pub(crate) fn text_of(session: SessionId) -> String {
    format!("{:#x}", session.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_those_that_are_gone_are_forgotten_and_the_last_ones_are_kept() {
        let mut clients = Clients::default();
        let ids: Vec<ClientId> = (0..2 * KEPT + 2).map(|_| clients.begin()).collect();
        for id in &ids {
            clients.attach(*id, SessionId(id.0 as i64 + 1), 1);
        }
        clients.get_mut(ids[1]).is_over = true;
        assert!(clients.rename(ids[2], "client-2"), "its name is free");
        assert!(clients.are_many());
        clients.forget(|id, _| id != ids[0]);
        assert!(!clients.are_many());
        assert_eq!(clients.find("client-1"), Some(ids[0]));
        assert_eq!(clients.find("client-2"), None);
        assert_eq!(clients.of(SessionId(2)), None);
        assert_eq!(clients.of(SessionId(ids[ids.len() - 1].0 as i64 + 1)), ids.last().copied());
        assert_eq!(clients.all.len(), 1 + KEPT);
        assert_eq!(clients.begin().0, ids.len(), "a number is never used again");
    }
}
