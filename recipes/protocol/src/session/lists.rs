//! The lists of watches that a client keeps, and what it tells a server of them.

/// The lists of watches that a client keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum List {
    /// Armed on the data of a znode.
    Data,
    /// Armed on the absence of one.
    Exist,
    /// Armed on the children of one.
    Child,
    /// Persistent, on data and children.
    Persistent,
    /// Persistent, on everything at and below a path.
    Recursive,
}

impl List {
    pub(super) const ALL: [List; 5] =
        [List::Data, List::Exist, List::Child, List::Persistent, List::Recursive];

    /// The number of the `WatcherType` that removes a watch of this list.
    pub(super) fn kind(self) -> i32 {
        match self {
            List::Child => 1,
            List::Data | List::Exist => 2,
            List::Persistent | List::Recursive => ANY,
        }
    }

    /// The server's tables in which such a watch is armed.
    pub(super) fn tables(self) -> &'static [Table] {
        match self {
            List::Data | List::Exist => &[Table::Data],
            List::Child => &[Table::Child],
            List::Persistent | List::Recursive => &[Table::Child, Table::Data],
        }
    }

    /// Whether removing `kind` at the server also removes a watch of this list.
    pub(super) fn goes_with(self, kind: i32) -> bool {
        kind == ANY || self.kind() == kind
    }
}

/// The `WatcherType` that stands for all watches of a connection on a path.
pub(super) const ANY: i32 = 3;

/// A server's tables of watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Table {
    /// Armed by `getData` and `exists`.
    Data,
    /// Armed by `getChildren`.
    Child,
}

/// The watches that a client considers armed, and the zxid of the last reply that it has seen: the arguments of
/// `setWatches2`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Watching<Path> {
    /// The zxid of the last reply.
    pub relative: i64,
    /// Watches on the data of znodes.
    pub data: Vec<Path>,
    /// Watches on the absence of znodes.
    pub exist: Vec<Path>,
    /// Watches on the children of znodes.
    pub child: Vec<Path>,
    /// Persistent watches.
    pub persistent: Vec<Path>,
    /// Persistent recursive watches.
    pub recursive: Vec<Path>,
}

impl<Path> Default for Watching<Path> {
    fn default() -> Self {
        let (data, exist, child) = (Vec::new(), Vec::new(), Vec::new());
        Watching { relative: 0, data, exist, child, persistent: Vec::new(), recursive: Vec::new() }
    }
}

impl<Path> Watching<Path> {
    /// All that is watched, list by list.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        [&self.data, &self.exist, &self.child, &self.persistent, &self.recursive].into_iter().flatten()
    }

    pub(super) fn list(&mut self, list: List) -> &mut Vec<Path> {
        match list {
            List::Data => &mut self.data,
            List::Exist => &mut self.exist,
            List::Child => &mut self.child,
            List::Persistent => &mut self.persistent,
            List::Recursive => &mut self.recursive,
        }
    }
}
