//! Znodes of one attempt to join: a create whose reply was lost, and the create that followed it.

use super::paths::{ParsedPath, TextId};
use super::znodes::Znode;
use super::{Loss, Moment, Wire};
use crate::history::{Session, Sym};
use std::collections::BTreeMap;

/// Two znodes of one attempt.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) session: Session,
    pub(super) directory: TextId,
    /// Each with the event that created it.
    pub(super) older: (Sym, u32),
    pub(super) newer: (Sym, u32),
    /// The loss of the reply to the first create, if it was seen.
    pub(super) loss: Option<Loss>,
    /// The reply to the list that showed both.
    pub(super) informed: Option<Moment>,
    /// The reply since which the session waits, with the znode or the directory that it watches.
    pub(super) waits: Option<(Moment, TextId)>,
    /// Whether the session has had enough time since the list.
    pub(super) is_late: bool,
    /// Whether the session waits with the older one, so that the newer is surplus.
    pub(super) uses_older: bool,
    is_over: bool,
}

impl Pair {
    /// The znode that the session does not use.
    pub(super) fn surplus(&self) -> (Sym, u32) {
        if self.uses_older { self.newer } else { self.older }
    }

    /// Whether the session has gone on with both.
    pub(super) fn has_gone_on(&self) -> bool {
        self.waits.is_some() || self.is_late
    }
}

/// The pairs so far.
#[derive(Debug, Default)]
pub(super) struct Attempts {
    /// Creates whose reply was lost, by session and path of the request.
    lost: BTreeMap<(Session, TextId), Loss>,
    pairs: Vec<Pair>,
    /// Those that are not over, by session and directory.
    open: BTreeMap<(Session, TextId), Vec<usize>>,
    /// Those whose surplus znode ended without a delete by its session.
    found: Vec<usize>,
}

impl Attempts {
    pub(super) fn create_lost(&mut self, session: Session, path: TextId, loss: Loss) {
        self.lost.insert((session, path), loss);
    }

    fn open(&self, session: Session, directory: TextId) -> Vec<usize> {
        self.open.get(&(session, directory)).cloned().unwrap_or_default()
    }

    /// Pairs that are over and were not cleaned up.
    pub(super) fn found(&self) -> impl Iterator<Item = &Pair> {
        self.found.iter().map(|at| &self.pairs[*at])
    }

    /// Pairs that are not over.
    pub(super) fn still_open(&self) -> impl Iterator<Item = &Pair> {
        self.open.values().flatten().map(|at| &self.pairs[*at])
    }
}

impl Wire {
    /// Pairs a new znode with the session's others of the same guid.
    pub(super) fn joins(&mut self, path: Sym) {
        let newer = &self.znodes.live[&path];
        if newer.parsed.name.has_guid && newer.is_sequential && newer.owner != Session(0) {
            self.pair(path, |_| true);
        }
    }

    /// Pairs a znode whose name the client has learned with those whose create at the same path lost its reply.
    pub(super) fn learns_name(&mut self, path: Sym, parsed: ParsedPath) {
        let newer = &self.znodes.live[&path];
        let is_lost = self.attempts.lost.contains_key(&(newer.creator, parsed.front));
        if is_lost && !parsed.name.has_guid && newer.is_sequential && newer.owner != Session(0) {
            self.pair(path, |older| !older.is_made && older.is_plain);
        }
    }

    fn pair(&mut self, path: Sym, is_of_it: impl Fn(&Znode) -> bool) {
        let newer = &self.znodes.live[&path];
        let (session, ParsedPath { directory, front, .. }) = (newer.creator, newer.parsed);
        let older = self.znodes.of(directory, session).filter(|(sym, older)| {
            *sym != path && older.parsed.front == front && older.created < newer.created && is_of_it(older)
        });
        let pairs: Vec<Pair> = older
            .map(|(sym, older)| Pair {
                session,
                directory,
                older: (sym, older.created),
                newer: (path, newer.created),
                loss: self.attempts.lost.get(&(session, front)).copied(),
                informed: None,
                waits: None,
                is_late: false,
                uses_older: false,
                is_over: false,
            })
            .collect();
        for pair in pairs {
            let at = self.attempts.pairs.len();
            self.attempts.pairs.push(pair);
            self.attempts.open.entry((session, directory)).or_default().push(at);
        }
    }

    /// A session gets the list of a directory.
    pub(super) fn lists(&mut self, session: Session, directory: TextId, zxid: u64) {
        let now = self.now;
        for at in self.attempts.open(session, directory) {
            let pair = &mut self.attempts.pairs[at];
            let is_seen =
                |(path, _): (Sym, u32)| self.znodes.live.get(&path).is_some_and(|znode| znode.czxid <= zxid);
            if is_seen(pair.older) && is_seen(pair.newer) && pair.informed.is_none() {
                pair.informed = Some(now);
            }
        }
    }

    /// A session gets the answer to a read that watches a znode or a directory.
    pub(super) fn waits(&mut self, session: Session, sent: u32, path: Sym, parsed: ParsedPath) {
        let now = self.now;
        for directory in [parsed.directory, parsed.path] {
            for at in self.attempts.open(session, directory) {
                let pair = self.attempts.pairs[at];
                let znode = |(path, _): (Sym, u32)| self.znodes.live.get(&path).filter(|z| z.is_let_be());
                let (Some(older), Some(_)) = (znode(pair.older), znode(pair.newer)) else { continue };
                // If there is a third znode, another task of the client may be waiting with it.
                let is_alone = self.znodes.of(directory, session).count() == 2;
                let is_informed = pair.informed.is_some_and(|informed| informed.index < sent);
                if !is_informed
                    || !is_alone
                    || path == pair.newer.0
                    || pair.has_gone_on()
                    || older.is_adopted()
                {
                    continue;
                }
                let watched = self.znodes.live.get(&path).filter(|_| parsed.path != directory);
                let pair = &mut self.attempts.pairs[at];
                pair.uses_older = watched.is_some_and(|watched| watched.czxid < older.czxid);
                pair.waits = Some((now, parsed.path));
            }
        }
    }

    /// Whether the session has known a pair for too long, with both alive and no delete in flight.
    pub(super) fn is_overdue(&self, pair: &Pair) -> bool {
        pair.informed.is_some_and(|informed| self.is_settled(pair.session, informed))
    }

    /// A znode is deleted.
    pub(super) fn leaves(&mut self, path: Sym, znode: &Znode, by_owner: bool) {
        let key = (znode.creator, znode.parsed.directory);
        for at in self.attempts.open(key.0, key.1) {
            let pair = self.attempts.pairs[at];
            if pair.older.0 != path && pair.newer.0 != path {
                continue;
            }
            let other = if pair.older.0 == path { pair.newer.0 } else { pair.older.0 };
            let other_is_let_be = self.znodes.live.get(&other).is_some_and(Znode::is_let_be);
            // A delete of the znode was in flight.
            let is_late = znode.is_let_be() && other_is_let_be && self.is_overdue(&pair);
            let pair = &mut self.attempts.pairs[at];
            pair.is_late |= is_late && !by_owner;
            let is_surplus = pair.surplus().0 == path;
            if !is_surplus && pair.has_gone_on() {
                continue;
            }
            pair.is_over = true;
            let is_found = is_surplus && !by_owner && pair.has_gone_on();
            if is_found && znode.is_let_be() && !znode.is_adopted() {
                self.attempts.found.push(at);
            }
        }
        let Attempts { pairs, open, .. } = &mut self.attempts;
        if let Some(of) = open.get_mut(&key) {
            of.retain(|at| !pairs[*at].is_over);
            if of.is_empty() {
                open.remove(&key);
            }
        }
    }
}
