//! Which names may still be mentioned, so that a long history can forget the others.
//!
//! A name is in use if it is a text of an operation, or the path of a live znode, of an armed watch or of a request in
//! flight; or if it was mentioned since the last call but one of `InUse::forget`.

use std::collections::{BTreeMap, BTreeSet};
use zk_checker::history::{Event, Names, ReqId, Session, Sym, WatchMode, What};

/// The names that may still be mentioned.
#[derive(Debug, Default)]
pub(super) struct InUse {
    /// Texts of operations and paths of objects: they identify items.
    pub(super) texts: BTreeSet<Sym>,
    live: BTreeSet<Sym>,
    /// Armed watches, each with whether it is persistent.
    armed: BTreeMap<(Session, Sym), bool>,
    in_flight: BTreeMap<ReqId, Sym>,
    /// The names mentioned between the last two calls of `forget`, and (`now`) since the last one.
    lately: BTreeSet<Sym>,
    now: BTreeSet<Sym>,
    /// The name that was mentioned last.
    latest: Option<Sym>,
    /// The number of names at the last call of `forget`.
    known: usize,
}

/// Names that were forgotten: those in `gone`, all below `end`.
#[derive(Clone, Debug, Default)]
pub struct Forgotten {
    end: usize,
    /// Sorted.
    gone: Vec<Sym>,
}

impl Forgotten {
    /// Forgets the same names in another table of the same history.
    pub fn forget(&self, names: &mut Names) {
        names.forget(self.end, |sym| self.gone.binary_search(&sym).is_err());
    }
}

impl InUse {
    /// Notes a mention of a path.
    pub(super) fn mention(&mut self, sym: Sym) {
        // Consecutive events are often about the same path.
        if self.latest != Some(sym) {
            self.latest = Some(sym);
            self.now.insert(sym);
        }
    }

    /// Tracks znodes, watches and requests.
    pub(super) fn note(&mut self, event: &Event) {
        match event.what {
            What::Created { path, .. } => _ = self.live.insert(path),
            What::Deleted { path, .. } => _ = self.live.remove(&path),
            What::Send { req, path, .. } => _ = self.in_flight.insert(req, path),
            What::Reply { req, .. } | What::Lost { req } => _ = self.in_flight.remove(&req),
            What::Arm { session, path, mode, .. } => {
                let stays = mode != WatchMode::OneShot;
                *self.armed.entry((session, path)).or_default() |= stays;
            }
            What::Fire { session, path, .. } if self.armed.get(&(session, path)) == Some(&false) => {
                self.armed.remove(&(session, path));
            }
            What::Disarm { session, path, .. } => _ = self.armed.remove(&(session, path)),
            What::Ended { session, .. } => {
                let all = (session, Sym(0))..=(session, Sym(u32::MAX));
                self.armed.extract_if(all, |_, _| true).for_each(drop);
            }
            _ => {}
        }
    }

    /// Forgets the names that are not in use.
    pub(super) fn forget(&mut self, names: &mut Names) -> Forgotten {
        let kept: BTreeSet<Sym> =
            self.armed.keys().map(|(_, sym)| *sym).chain(self.in_flight.values().copied()).collect();
        let sets = [&self.texts, &self.live, &self.lately, &self.now, &kept];
        let mut forgotten = Forgotten { end: self.known, gone: Vec::new() };
        names.forget(self.known, |sym| {
            let stays = sets.iter().any(|set| set.contains(&sym));
            if !stays {
                forgotten.gone.push(sym);
            }
            stays
        });
        self.known = names.end();
        self.lately = std::mem::take(&mut self.now);
        self.latest = None;
        forgotten
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zk_checker::history::{OpId, Who};

    #[test]
    fn what_is_gone_is_forgotten_and_what_lives_is_not() {
        let (mut names, mut in_use) = (Names::default(), InUse::default());
        let syms: Vec<Sym> = ["/live", "/gone", "/asked"].iter().map(|text| names.intern(text)).collect();
        let note =
            |in_use: &mut InUse, what| in_use.note(&Event { at: 0, op: OpId(0), who: Who::Server(0), what });
        for path in [syms[0], syms[1]] {
            note(&mut in_use, What::Created { zxid: 1, path, owner: Session(0) });
        }
        note(&mut in_use, What::Deleted { zxid: 2, path: syms[1], by: Session(0) });
        let (req, kind) = (ReqId(1), zk_checker::history::Request::Get);
        note(&mut in_use, What::Send { req, kind, watch: false, cleanup: false, path: syms[2] });
        syms.iter().for_each(|sym| in_use.mention(*sym));
        let mut copy = names.clone();
        for _ in 0..3 {
            in_use.forget(&mut names).forget(&mut copy);
        }
        assert_eq!(names.iter().collect::<Vec<_>>(), ["/live", "/asked"]);
        assert_eq!(names, copy);
    }
}
