//! The ephemerals of a session, in bytes of the transaction that ends it.
//!
//! When a session ends, its server logs one transaction with the paths of all its ephemerals, however long it is. Above twice
//! `jute.maxbuffer` no server can read it again, and none that has logged it starts again (ZOOKEEPER-4306). So the client
//! counts, and refuses the create that would pass a limit, before it is sent.
//!
//! 1. A create reserves its bytes when it is sent.
//! 2. Its answer turns the reservation into the path that was created, or gives it back.
//! 3. A delete frees its path when it is answered, or finds nothing.
//! 4. A create whose answer is lost keeps its reservation.
//! 5. A create for which there is no room is held, with all that is called behind it, until the ephemerals of the session are
//!    read from the server, behind a settling write: what others have deleted is free then, and it shows what became of
//!    creates whose answers were lost.
//!
//! Until such a reading the count may be too large, and never too small.

use std::collections::VecDeque;

use super::effect::{Effect, PathNumber};
use super::request::{self, Body, Root};
use zk_protocol::wire::jute::{In, LENGTH_BYTES};
use zk_recipes::zk::{Code, OpResult};

/// What a server with default settings can read of a transaction that it has logged: `jute.maxbuffer`, and as much again
/// (`BinaryInputArchive.checkLength`).
const READABLE_BYTES: usize = 2 * 0xfffff;

/// The most bytes of that transaction beside its paths: a header of 32, the number of the paths in 4, the digest of the tree
/// in 12, and some to spare.
const OVERHEAD_BYTES: usize = 64;

/// The limit that a server with default settings survives.
pub(super) const MAX_BYTES: usize = READABLE_BYTES - OVERHEAD_BYTES;

/// The ephemerals of a session, and the requests in flight that change them.
#[derive(Debug)]
pub(super) struct Ephemerals {
    limit: usize,
    /// By number: the bytes of each path.
    known: Vec<(PathNumber, usize)>,
    /// The bytes of those.
    bytes: usize,
    /// The bytes of creates whose answers are not known: in flight, or lost.
    reserved: usize,
    /// By ticket, in the order of requests and answers, each with its reservation.
    in_flight: VecDeque<(u32, usize, Effect)>,
}

impl Ephemerals {
    pub(super) fn new(limit: usize) -> Ephemerals {
        Ephemerals { limit, known: Vec::new(), bytes: 0, reserved: 0, in_flight: VecDeque::new() }
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// The bytes in the transaction that would end the session, at the most, if `effect` were sent.
    pub(super) fn bytes_with(&self, effect: &Effect) -> usize {
        self.bytes + self.reserved + self.added_by(effect)
    }

    /// What a request adds if it is applied: a transaction may delete as much as it creates.
    fn added_by(&self, effect: &Effect) -> usize {
        match effect {
            Effect::Creates(bytes) => *bytes,
            Effect::Several(all) => {
                let created: usize = all.iter().map(|one| self.added_by(one)).sum();
                created.saturating_sub(all.iter().map(|one| self.freed_by(one)).sum())
            }
            Effect::Nothing | Effect::Deletes(_) => 0,
        }
    }

    fn freed_by(&self, effect: &Effect) -> usize {
        match effect {
            Effect::Deletes(path) => self.find(*path).map_or(0, |at| self.known[at].1),
            _ => 0,
        }
    }

    /// Whether the limit allows it. What creates nothing is never refused.
    pub(super) fn have_room_for(&self, effect: &Effect) -> bool {
        !effect.creates_any() || self.bytes_with(effect) <= self.limit
    }

    /// Step 1.
    pub(super) fn sent(&mut self, ticket: u32, effect: Effect) {
        if !effect.is_nothing() {
            let added = self.added_by(&effect);
            self.reserved += added;
            self.in_flight.push_back((ticket, added, effect));
        }
    }

    /// Steps 2 to 4: the request of that ticket is answered, refused with a number, or lost (`None`).
    pub(super) fn answered(&mut self, ticket: u32, answer: Option<Result<&Body, i32>>) {
        let Some((_, added, effect)) = self.in_flight.pop_front_if(|(first, ..)| *first == ticket) else {
            return;
        };
        let Some(answer) = answer else { return };
        self.reserved -= added;
        match (effect, answer) {
            (Effect::Creates(_), Ok(body)) => {
                if let Some(Some(path)) = In::new(body).text() {
                    self.add(&path);
                }
            }
            (Effect::Deletes(path), Ok(_)) => self.remove(path),
            (Effect::Deletes(path), Err(error)) if error == Code::NoNode.number() => self.remove(path),
            (Effect::Several(all), Ok(body)) => self.several(all, body),
            _ => {}
        }
    }

    fn several(&mut self, all: Vec<Effect>, body: &Body) {
        // The server's names of paths.
        let Ok(results) = request::read_results(&Root::default(), Ok(body.clone())) else { return };
        for (effect, result) in all.into_iter().zip(results) {
            match (effect, result) {
                (Effect::Creates(_), OpResult::Created(path)) => self.add(&path),
                (Effect::Deletes(path), _) => self.remove(path),
                _ => {}
            }
        }
    }

    /// Step 5: all of them, as the server tells; nothing is in flight.
    pub(super) fn are(&mut self, body: &Body) {
        let Some(Some(paths)) = In::new(body).list(|from| from.text()?) else { return };
        self.known = paths.iter().map(|path| entry(path)).collect();
        self.known.sort_unstable();
        self.bytes = self.known.iter().map(|(_, bytes)| bytes).sum();
        self.reserved = 0;
    }

    fn add(&mut self, path: &str) {
        let entry = entry(path);
        if let Err(at) = self.known.binary_search(&entry) {
            self.bytes += entry.1;
            self.known.insert(at, entry);
        }
    }

    fn remove(&mut self, path: PathNumber) {
        if let Some(at) = self.find(path) {
            self.bytes -= self.known.remove(at).1;
        }
    }

    fn find(&self, path: PathNumber) -> Option<usize> {
        self.known.binary_search_by_key(&path, |(known, _)| *known).ok()
    }
}

fn entry(path: &str) -> (PathNumber, usize) {
    (PathNumber::of("", path), LENGTH_BYTES + path.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use zk_protocol::wire::jute::Out;

    fn created(path: &str) -> Body {
        let mut out = Out::default();
        out.text(path);
        out.done()
    }

    fn creates(path: &str) -> Effect {
        Effect::creates(LENGTH_BYTES + path.len(), false)
    }

    fn owning(limit: usize, paths: &[&str]) -> Ephemerals {
        let mut ephemerals = Ephemerals::new(limit);
        for (path, ticket) in paths.iter().zip(0..) {
            ephemerals.sent(ticket, creates(path));
            ephemerals.answered(ticket, Some(Ok(&created(path))));
        }
        ephemerals
    }

    #[test]
    fn a_session_may_own_as_many_as_the_documentation_says() {
        for (bytes, most) in
            [(30, 61_679), (63, 31_299), (100, 20_164), (220, 9_361), (500, 4_160), (905, 2_307)]
        {
            assert_eq!(MAX_BYTES / (LENGTH_BYTES + bytes), most, "with paths of {bytes} bytes");
            let said = include_str!("lib.rs").lines().any(|line| {
                let grouped = format!("{},{:03} |", most / 1000, most % 1000);
                line.starts_with(&format!("//! | {bytes}")) && line.ends_with(&grouped)
            });
            assert!(said, "{bytes} bytes: {most}");
        }
    }

    #[test]
    fn a_reservation_becomes_the_path_that_was_made_or_is_given_back() {
        let mut ephemerals = Ephemerals::new(100);
        ephemerals.sent(7, Effect::creates(20, true));
        assert_eq!(ephemerals.bytes_with(&Effect::Nothing), 30);
        ephemerals.answered(7, Some(Ok(&created("/short"))));
        assert_eq!(ephemerals.bytes_with(&Effect::Nothing), 10);
        ephemerals.sent(8, creates("/refused"));
        ephemerals.answered(8, Some(Err(Code::NodeExists.number())));
        assert_eq!(ephemerals.bytes_with(&Effect::Nothing), 10);
        ephemerals.sent(9, creates("/lost"));
        ephemerals.answered(9, None);
        assert_eq!(ephemerals.bytes_with(&Effect::Nothing), 19, "it may be there");
        let mut list = Out::default();
        list.list(&["/lost", "/short"], |out, path| _ = out.text(path));
        ephemerals.are(&list.done());
        assert_eq!(ephemerals.bytes_with(&Effect::Nothing), 19, "it is there, and counts once");
        ephemerals.sent(10, Effect::Deletes(PathNumber::of("/lo", "st")));
        ephemerals.answered(10, Some(Err(Code::NoNode.number())));
        assert_eq!(ephemerals.bytes_with(&Effect::Nothing), 10, "somebody else has deleted it");
    }

    #[test]
    fn a_transaction_that_deletes_what_it_replaces_needs_no_more_room() {
        let mut ephemerals = owning(9, &["/mine"]);
        assert!(!ephemerals.have_room_for(&creates("/x")));
        let deletes = || Effect::Deletes(PathNumber::of("", "/mine"));
        let replaces = Effect::several([deletes(), creates("/more")].into_iter());
        assert!(ephemerals.have_room_for(&replaces));
        ephemerals.sent(1, replaces);
        ephemerals.answered(1, Some(Err(Code::NoNode.number())));
        assert_eq!(ephemerals.bytes_with(&Effect::Nothing), 9, "all or nothing");
        assert!(ephemerals.have_room_for(&deletes()), "what creates nothing is not refused");
    }
}
