//! The watches that a client considers armed, in five lists (`ZKWatchManager`).
//!
//! 1. A request that arms a watch is counted while it is in flight.
//! 2. Its reply puts the watch on the list. A request that is lost with its connection does not.
//! 3. A notification goes to the watches on each list that its kind concerns. One-shot watches leave their lists.
//! 4. Dropping the last watch on a list removes it at the server as well.
//! 5. After a reconnect the lists are sent to the server (`setWatches2`).

use super::lists::{ANY, List, Table, Watching};
use super::protocol::{Flaw, Flaws, Protocol};
use std::collections::{BTreeMap, BTreeSet};
use zk_recipes::zk::EventKind;

/// The limit of one request that registers watches again, in bytes of paths (`ClientCnxn.SET_WATCHES_MAX_LENGTH`). A server
/// closes the connection on a request above `jute.maxbuffer`, by default 1 MB (ZOOKEEPER-706).
pub(super) const MAX_REWATCH_BYTES: usize = 128 * 1024;

/// A client's watches, by their ids.
#[derive(Clone, Debug)]
pub(super) struct Watches<P: Protocol> {
    pub(super) lists: BTreeMap<(List, P::Path), Vec<u32>>,
    /// The list of each watch.
    places: BTreeMap<u32, (List, P::Path)>,
    /// Requests in flight.
    pub(super) arming: BTreeMap<(List, P::Path), u32>,
    /// Removals that are deferred while a request on the same path is in flight, which may need what they would remove.
    pub(super) owed: BTreeSet<(i32, P::Path)>,
    /// Watches that were dropped since the connection was made, if the driver wants to know.
    pub(super) dropped: BTreeSet<(List, P::Path)>,
    /// Removals that a busy server has refused.
    pub(super) refused: BTreeSet<(i32, P::Path)>,
}

impl<P: Protocol> Default for Watches<P> {
    fn default() -> Self {
        Watches {
            lists: BTreeMap::new(),
            places: BTreeMap::new(),
            arming: BTreeMap::new(),
            owed: BTreeSet::new(),
            dropped: BTreeSet::new(),
            refused: BTreeSet::new(),
        }
    }
}

impl<P: Protocol> Watches<P> {
    /// Step 1.
    pub(super) fn sent(&mut self, ask: &P::Ask) {
        if let Some(key) = P::arms(ask) {
            *self.arming.entry(key).or_default() += 1;
        }
    }

    /// Step 2. Returns a deferred removal that this reply allows: it is the last one in flight, and no armed watch needs
    /// what it removes.
    pub(super) fn answered(
        &mut self,
        ask: &P::Ask,
        result: &Result<P::Answer, P::Refusal>,
        watch: Option<u32>,
    ) -> Option<(P::Path, i32)> {
        let key = P::arms(ask)?;
        if let Some(count) = self.arming.get_mut(&key) {
            *count -= 1;
            if *count == 0 {
                self.arming.remove(&key);
            }
        }
        // `exists` arms a watch either way.
        let absent = result.as_ref().is_err_and(|refusal| P::is_absent(ask, refusal));
        let (list, path) = key;
        if let Some(watch) = watch.filter(|_| absent || result.is_ok()) {
            let key = (if absent { List::Exist } else { list }, path.clone());
            self.dropped.remove(&key);
            self.places.insert(watch, key.clone());
            self.lists.entry(key).or_default().push(watch);
        }
        let mut removal = None;
        for kind in [ANY, list.kind()] {
            if !self.is_awaited(kind, &path) && self.owed.remove(&(kind, path.clone())) {
                removal = removal.or_else(|| self.removal_of(kind, &path, None));
            }
        }
        removal
    }

    /// A removal was refused since the server was busy.
    pub(super) fn removal_refused(&mut self, path: P::Path, kind: i32) {
        self.refused.insert((kind, path));
    }

    /// Refused removals that are still wanted, to be retried.
    pub(super) fn refused(&mut self) -> Vec<(P::Path, i32)> {
        let refused = std::mem::take(&mut self.refused);
        refused.into_iter().filter_map(|(kind, path)| self.removal_of(kind, &path, None)).collect()
    }

    /// Step 2 for all requests in flight: the connection is gone.
    pub(super) fn lost(&mut self) {
        self.arming.clear();
        self.owed.clear();
        self.refused.clear();
    }

    /// Step 3: returns the watches to notify; one-shot watches leave.
    pub(super) fn concerned(
        &mut self,
        kind: EventKind,
        path: &P::Path,
        parent: impl Fn(&P::Path) -> Option<P::Path>,
    ) -> Vec<u32> {
        let lists: &[List] = match kind {
            EventKind::NodeCreated | EventKind::NodeDataChanged => &[List::Data, List::Exist],
            EventKind::NodeDeleted => &[List::Data, List::Exist, List::Child],
            EventKind::NodeChildrenChanged => &[List::Child],
        };
        let mut told: Vec<u32> =
            lists.iter().filter_map(|list| self.lists.remove(&(*list, path.clone()))).flatten().collect();
        told.iter().for_each(|id| _ = self.places.remove(id));
        told.extend(self.lists.get(&(List::Persistent, path.clone())).into_iter().flatten());
        // A child watch below a recursive watch brings events that are not for the latter.
        let has_trees = self.lists.last_key_value().is_some_and(|((list, _), _)| *list == List::Recursive);
        if has_trees && kind != EventKind::NodeChildrenChanged {
            let mut at = Some(path.clone());
            while let Some(path) = at {
                at = parent(&path);
                told.extend(self.lists.get(&(List::Recursive, path)).into_iter().flatten());
            }
        }
        told
    }

    /// The removal to send when this watch is dropped, if any: see `Ask::RemoveWatches`.
    ///
    /// A removal names a path and a type, not a watch: it waits until no watch needs what it removes.
    pub(super) fn removal(&self, id: u32) -> Option<(P::Path, i32)> {
        let (list, path) = self.places.get(&id)?;
        self.removal_of(list.kind(), path, Some(id))
    }

    /// The same of a kind, as if `id` were gone.
    fn removal_of(&self, kind: i32, path: &P::Path, id: Option<u32>) -> Option<(P::Path, i32)> {
        let is_left = |list: List| self.is_arming(list, path) || self.is_held(list, path, id);
        if List::ALL.into_iter().any(|other| other.goes_with(kind) && is_left(other)) {
            return None;
        }
        let nobody_is_left = !List::ALL.into_iter().any(is_left);
        Some((path.clone(), if nobody_is_left { ANY } else { kind }))
    }

    /// Whether a request in flight may need what such a removal removes.
    fn is_awaited(&self, kind: i32, path: &P::Path) -> bool {
        List::ALL.into_iter().any(|list| list.goes_with(kind) && self.is_arming(list, path))
    }

    fn is_arming(&self, list: List, path: &P::Path) -> bool {
        !self.arming.is_empty() && self.arming.contains_key(&(list, path.clone()))
    }

    fn is_held(&self, list: List, path: &P::Path, but: Option<u32>) -> bool {
        self.lists.get(&(list, path.clone())).is_some_and(|ids| ids.iter().any(|held| Some(*held) != but))
    }

    /// Step 4. The removal is deferred while a request on the same path is in flight.
    pub(super) fn drop(&mut self, id: u32) {
        let Some(key) = self.places.remove(&id) else { return };
        let kind = key.0.kind();
        if self.is_awaited(kind, &key.1) {
            self.owed.insert((kind, key.1.clone()));
        }
        if let Some(ids) = self.lists.get_mut(&key) {
            ids.retain(|held| *held != id);
            if ids.is_empty() {
                self.lists.remove(&key);
                if P::TELLS_FORGOTTEN {
                    self.dropped.insert(key);
                }
            }
        }
    }

    /// Step 5: the lists for the server, in requests of limited size; none if there is nothing to register.
    pub(super) fn believed(
        &self,
        last_zxid: i64,
        flaws: P::Flaws,
        bytes: impl Fn(&P::Path) -> usize,
    ) -> Vec<Watching<P::Path>> {
        let relative = if flaws.has(Flaw::RegistersAsOfNow) { i64::MAX } else { last_zxid };
        let is_forgotten = |list| match list {
            List::Exist => flaws.has(Flaw::ForgetsAbsent),
            List::Persistent | List::Recursive => flaws.has(Flaw::ForgetsTrees),
            List::Data | List::Child => false,
        };
        let mut all: Vec<Watching<P::Path>> = Vec::new();
        let mut left = 0;
        for (list, path) in self.lists.keys().filter(|_| !flaws.has(Flaw::ForgetsWatches)) {
            let length = bytes(path);
            if all.is_empty() || left < length {
                all.push(Watching { relative, ..Watching::default() });
                left = MAX_REWATCH_BYTES;
            }
            if let Some(last) = all.last_mut().filter(|_| !is_forgotten(*list)) {
                left = left.saturating_sub(length);
                last.list(*list).push(path.clone());
            }
        }
        all
    }

    /// Before step 5: watches that were dropped since the previous connection, and are not wanted again, by the server's
    /// tables.
    pub(super) fn forgotten(&mut self) -> impl Iterator<Item = (Table, P::Path)> + use<P> {
        let mut forgotten = BTreeSet::new();
        for (list, path) in std::mem::take(&mut self.dropped) {
            forgotten.extend(list.tables().iter().map(|table| (*table, path.clone())));
        }
        for (list, path) in self.lists.keys() {
            for table in list.tables() {
                forgotten.remove(&(*table, path.clone()));
            }
        }
        forgotten.into_iter()
    }

    /// Injected bug: a fired watch stays armed.
    pub(super) fn keep(&mut self, kind: EventKind, path: P::Path) {
        let list = if kind == EventKind::NodeChildrenChanged { List::Child } else { List::Data };
        self.lists.entry((list, path)).or_default();
    }

    /// Watches to notify of a gap.
    pub(super) fn staying(&self) -> impl Iterator<Item = u32> {
        let stays = |list| matches!(list, List::Persistent | List::Recursive);
        self.lists.iter().filter(move |(key, _)| stays(key.0)).flat_map(|(_, ids)| ids.iter().copied())
    }

    /// Ends the session: all watches.
    pub(super) fn take_all(&mut self) -> Vec<u32> {
        self.arming.clear();
        self.owed.clear();
        self.places.clear();
        std::mem::take(&mut self.lists).into_values().flatten().collect()
    }
}
