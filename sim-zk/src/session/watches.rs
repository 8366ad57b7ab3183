//! What a client believes to be armed, in five lists (`ZKWatchManager`).
//!
//! 1. A request that arms a watch leaves, and is counted as long as it is on its way.
//! 2. Its answer comes: whoever waits is put on the list. One that is lost with its connection puts nobody there.
//! 3. A notification comes: whom it concerns, on each list that its kind goes to. One-shot watches leave their lists.
//! 4. A watch is dropped: if it was the last, it is removed at the server as well.
//! 5. After a reconnect the lists are handed to the server (`setWatches2`).

use crate::message::{Answer, Ask, Code, Refusal, Table, Watching};
use crate::paths::{PathId, Paths};
use crate::quirk::Quirk;
use std::collections::{BTreeMap, BTreeSet};
use zk_recipes::zk::EventKind;

/// The lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum List {
    /// Armed on the data of a znode.
    Data,
    /// Armed on the absence of one.
    Exist,
    /// Armed on the children of one.
    Child,
    /// Stays, and is about data and children.
    Persistent,
    /// Stays, and is about everything at and below a path.
    Recursive,
}

impl List {
    const ALL: [List; 5] = [List::Data, List::Exist, List::Child, List::Persistent, List::Recursive];

    /// What takes a watch of this list away, by the number of its `WatcherType`.
    fn kind(self) -> i32 {
        match self {
            List::Child => 1,
            List::Data | List::Exist => 2,
            List::Persistent | List::Recursive => ANY,
        }
    }

    /// The server's tables in which such a watch is armed.
    fn tables(self) -> &'static [Table] {
        match self {
            List::Data | List::Exist => &[Table::Data],
            List::Child => &[Table::Child],
            List::Persistent | List::Recursive => &[Table::Child, Table::Data],
        }
    }

    /// Whether removing `kind` at the server takes a watch of this list along.
    fn goes_with(self, kind: i32) -> bool {
        kind == ANY || self.kind() == kind
    }
}

/// The `WatcherType` that stands for all watches of a connection on a path.
const ANY: i32 = 3;

impl Ask {
    /// Which watch the request arms, if it succeeds.
    pub(crate) fn arms(&self) -> Option<(List, PathId)> {
        match self {
            Ask::Exists { path, watch: true } | Ask::Get { path, watch: true } => Some((List::Data, *path)),
            Ask::Children { path, watch: true, .. } => Some((List::Child, *path)),
            Ask::AddWatch { path, mode: 0 } => Some((List::Persistent, *path)),
            Ask::AddWatch { path, mode: 1 } => Some((List::Recursive, *path)),
            _ => None,
        }
    }
}

/// A client's watches, by the numbers of those who wait.
#[derive(Clone, Debug, Default)]
pub(super) struct Watches {
    pub(super) lists: BTreeMap<(List, PathId), Vec<u32>>,
    /// Requests on their way.
    pub(super) arming: BTreeMap<(List, PathId), u32>,
    /// Removals that wait for such a request, since it may need what they would take along.
    pub(super) owed: BTreeSet<(i32, PathId)>,
    /// Given up by the last who waited, since the connection was made.
    pub(super) dropped: BTreeSet<(List, PathId)>,
}

impl Watches {
    /// Step 1.
    pub(super) fn sent(&mut self, ask: &Ask) {
        if let Some(key) = ask.arms() {
            *self.arming.entry(key).or_default() += 1;
        }
    }

    /// Step 2. What must be asked of the server, if a removal has waited for this answer, the last on its way, and nothing
    /// that was armed needs what it takes along.
    pub(super) fn answered(
        &mut self,
        ask: &Ask,
        result: &Result<Answer, Refusal>,
        watch: Option<u32>,
    ) -> Option<(PathId, i32)> {
        let (list, path) = ask.arms()?;
        if let Some(count) = self.arming.get_mut(&(list, path)) {
            *count -= 1;
            if *count == 0 {
                self.arming.remove(&(list, path));
            }
        }
        // Asking whether a znode exists arms a watch either way.
        let absent = matches!(ask, Ask::Exists { .. }) && *result == Err(Code::NoNode.into());
        if let Some(watch) = watch.filter(|_| absent || result.is_ok()) {
            let list = if absent { List::Exist } else { list };
            self.lists.entry((list, path)).or_default().push(watch);
            self.dropped.remove(&(list, path));
        }
        let mut removal = None;
        for kind in [ANY, list.kind()] {
            if !self.is_awaited(kind, path) && self.owed.remove(&(kind, path)) {
                removal = removal.or_else(|| self.removal_of(kind, path, None));
            }
        }
        removal
    }

    /// Step 2 for all that were on their way: the connection is gone.
    pub(super) fn lost(&mut self) {
        self.arming.clear();
        self.owed.clear();
    }

    /// Step 3: who is told, and no longer waits unless the watch stays.
    pub(super) fn concerned(&mut self, kind: EventKind, path: PathId, paths: &Paths) -> Vec<u32> {
        let lists: &[List] = match kind {
            EventKind::NodeCreated | EventKind::NodeDataChanged => &[List::Data, List::Exist],
            EventKind::NodeDeleted => &[List::Data, List::Exist, List::Child],
            EventKind::NodeChildrenChanged => &[List::Child],
        };
        let mut told: Vec<u32> =
            lists.iter().filter_map(|list| self.lists.remove(&(*list, path))).flatten().collect();
        told.extend(self.lists.get(&(List::Persistent, path)).into_iter().flatten());
        // A one-shot watch on the children of a path below a recursive one brings events that are not for the latter.
        let has_trees = self.lists.last_key_value().is_some_and(|((list, _), _)| *list == List::Recursive);
        if has_trees && kind != EventKind::NodeChildrenChanged {
            let mut at = path;
            loop {
                told.extend(self.lists.get(&(List::Recursive, at)).into_iter().flatten());
                if at == PathId::ROOT {
                    break;
                }
                at = paths.parent_of_znode(at);
            }
        }
        told
    }

    /// What must be asked of the server when this watch is dropped, if anything: see `Ask::RemoveWatches`.
    ///
    /// A removal names a path and a type, not a watch: it waits until nobody is left whom it would concern, and then
    /// takes along whatever was left there for their sake.
    pub(super) fn removal(&self, id: u32) -> Option<(PathId, i32)> {
        let (list, path) = self.place_of(id)?;
        self.removal_of(list.kind(), path, Some(id))
    }

    /// The same of a kind, as if `id` were gone.
    fn removal_of(&self, kind: i32, path: PathId, id: Option<u32>) -> Option<(PathId, i32)> {
        let is_left = |list: List| self.is_arming(list, path) || self.is_held(list, path, id);
        if List::ALL.into_iter().any(|other| other.goes_with(kind) && is_left(other)) {
            return None;
        }
        let nobody_is_left = !List::ALL.into_iter().any(is_left);
        Some((path, if nobody_is_left { ANY } else { kind }))
    }

    /// Whether a request is on its way that may need what such a removal takes along.
    fn is_awaited(&self, kind: i32, path: PathId) -> bool {
        List::ALL.into_iter().any(|list| list.goes_with(kind) && self.is_arming(list, path))
    }

    fn is_arming(&self, list: List, path: PathId) -> bool {
        self.arming.contains_key(&(list, path))
    }

    fn is_held(&self, list: List, path: PathId, but: Option<u32>) -> bool {
        self.lists.get(&(list, path)).is_some_and(|ids| ids.iter().any(|held| Some(*held) != but))
    }

    /// Step 4. A removal that a request on its way stands in the way of is owed.
    pub(super) fn drop(&mut self, id: u32) {
        let Some(key) = self.place_of(id) else { return };
        let (kind, path) = (key.0.kind(), key.1);
        if self.is_awaited(kind, path) {
            self.owed.insert((kind, path));
        }
        if let Some(ids) = self.lists.get_mut(&key) {
            ids.retain(|held| *held != id);
            if ids.is_empty() {
                self.lists.remove(&key);
                self.dropped.insert(key);
            }
        }
    }

    fn place_of(&self, id: u32) -> Option<(List, PathId)> {
        self.lists.iter().find(|(_, ids)| ids.contains(&id)).map(|(key, _)| *key)
    }

    /// Step 5: what the server is told, unless there is nothing to tell.
    pub(super) fn believed(&self, relative: i64, quirk: Option<Quirk>) -> Option<Watching> {
        let of = |list| self.lists.keys().filter(|key| key.0 == list).map(|key| key.1).collect();
        let mut watching = (!self.lists.is_empty()).then(|| Watching {
            relative,
            data: of(List::Data),
            exist: of(List::Exist),
            child: of(List::Child),
            persistent: of(List::Persistent),
            recursive: of(List::Recursive),
        })?;
        match quirk {
            Some(Quirk::ForgetsWatches) => return None,
            Some(Quirk::ForgetsAbsent) => watching.exist.clear(),
            Some(Quirk::ForgetsTrees) => (watching.persistent, watching.recursive) = (Vec::new(), Vec::new()),
            Some(Quirk::RegistersAsOfNow) => watching.relative = i64::MAX,
            _ => {}
        }
        Some(watching)
    }

    /// Before step 5: what was given up since the connection before this one was made, and is not wanted again. By the
    /// server's tables.
    pub(super) fn forgotten(&mut self) -> impl Iterator<Item = (Table, PathId)> {
        let mut forgotten = BTreeSet::new();
        for (list, path) in std::mem::take(&mut self.dropped) {
            forgotten.extend(list.tables().iter().map(|table| (*table, path)));
        }
        for (list, path) in self.lists.keys() {
            for table in list.tables() {
                forgotten.remove(&(*table, *path));
            }
        }
        forgotten.into_iter()
    }

    /// What has fired is believed to be armed, although nobody waits.
    pub(super) fn keep(&mut self, kind: EventKind, path: PathId) {
        let list = if kind == EventKind::NodeChildrenChanged { List::Child } else { List::Data };
        self.lists.entry((list, path)).or_default();
    }

    /// Those who hear that something may have been missed.
    pub(super) fn staying(&self) -> impl Iterator<Item = u32> {
        let stays = |list| matches!(list, List::Persistent | List::Recursive);
        self.lists.iter().filter(move |(key, _)| stays(key.0)).flat_map(|(_, ids)| ids.iter().copied())
    }

    /// The end of the session: everybody.
    pub(super) fn take_all(&mut self) -> Vec<u32> {
        self.arming.clear();
        self.owed.clear();
        std::mem::take(&mut self.lists).into_values().flatten().collect()
    }
}
