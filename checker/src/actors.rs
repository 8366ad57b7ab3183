//! The names of clients, servers and victims of faults in the written forms.

use crate::history::{Header, Victim, Who};
use std::collections::BTreeMap;

/// The clients by number and by name: an index, because a history may have thousands of clients.
#[derive(Default)]
pub(crate) struct Actors {
    clients: Vec<String>,
    /// By name: the first client of that name, and the number of clients with it.
    by_name: BTreeMap<String, (usize, u32)>,
}

impl Actors {
    /// The clients of a header.
    pub(crate) fn of(header: &Header) -> Actors {
        let mut actors = Actors::default();
        header.clients.iter().for_each(|name| actors.add(name));
        actors
    }

    /// Adds a client. A name that two clients share resolves to the first.
    pub(crate) fn add(&mut self, name: &str) {
        self.by_name.entry(name.to_owned()).or_insert((self.clients.len(), 0)).1 += 1;
        self.clients.push(name.to_owned());
    }

    /// The name of a client, or `client:3` if the name is ambiguous.
    pub(crate) fn client(&self, number: u16) -> String {
        let is_alone = |name: &str| self.by_name.get(name).is_some_and(|(_, bearers)| *bearers == 1);
        spoken(&self.clients, number, is_alone)
    }

    /// The name of an actor: a client, `server:0`, or `world`.
    pub(crate) fn who(&self, who: Who) -> String {
        match who {
            Who::Client(number) => self.client(number),
            Who::Server(number) => format!("server:{number}"),
            Who::World => "world".to_owned(),
        }
    }

    /// The name of a victim: a client, `server:0`, or `link:0:1`.
    pub(crate) fn victim(&self, victim: Victim) -> String {
        match victim {
            Victim::Process { client: number } => self.client(number),
            Victim::Server { server } => format!("server:{server}"),
            Victim::Link { from, to } => format!("link:{from}:{to}"),
        }
    }

    /// Whether a name is known.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// Parses the output of [`client`](Actors::client).
    pub(crate) fn client_of(&self, word: &str) -> Option<u16> {
        match word.strip_prefix("client:") {
            Some(number) => number.parse().ok(),
            None => self.by_name.get(word).and_then(|(number, _)| u16::try_from(*number).ok()),
        }
    }

    /// Parses the output of [`who`](Actors::who).
    pub(crate) fn who_of(&self, word: &str) -> Option<Who> {
        if word == "world" {
            return Some(Who::World);
        }
        match word.strip_prefix("server:") {
            Some(number) => number.parse().ok().map(Who::Server),
            None => self.client_of(word).map(Who::Client),
        }
    }

    /// Parses the output of [`victim`](Actors::victim).
    pub(crate) fn victim_of(&self, word: &str) -> Option<Victim> {
        if let Some(number) = word.strip_prefix("server:") {
            return number.parse().ok().map(|server| Victim::Server { server });
        }
        if let Some(ends) = word.strip_prefix("link:") {
            let (from, to) = ends.split_once(':')?;
            return Some(Victim::Link { from: from.parse().ok()?, to: to.parse().ok()? });
        }
        self.client_of(word).map(|client| Victim::Process { client })
    }
}

/// The same as [`Actors::client`], for single uses.
pub(crate) fn client(header: &Header, number: u16) -> String {
    let is_alone = |name: &str| header.clients.iter().filter(|other| *other == name).count() == 1;
    spoken(&header.clients, number, is_alone)
}

fn spoken(clients: &[String], number: u16, is_alone: impl Fn(&str) -> bool) -> String {
    match clients.get(usize::from(number)) {
        Some(name) if is_plain(name) && is_alone(name) => name.clone(),
        _ => format!("client:{number}"),
    }
}

/// Whether a client's name cannot be taken for another word of the text form.
pub(crate) fn is_plain(name: &str) -> bool {
    name != "world"
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || ['_', '-', '~'].contains(&c))
}
