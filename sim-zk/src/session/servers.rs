//! The order in which a client tries its servers.

/// The servers that a client moves between, in the order in which it tries them (`StaticHostProvider`).
#[derive(Clone, Debug)]
pub(crate) struct Servers {
    pub(super) count: u8,
    backwards: bool,
    pub(super) next: u8,
    /// The server that was connected last, or tried first: whoever comes round to it without success rests.
    last: Option<u8>,
}

impl Servers {
    pub(crate) fn new(count: u8, first: u8, backwards: bool) -> Self {
        Servers { count, backwards, next: first, last: None }
    }

    /// How long to rest before the next attempt, beside the usual wait.
    pub(super) fn pause(&self) -> u64 {
        if self.last == Some(self.next) { 1_000_000 } else { 0 }
    }

    pub(super) fn take(&mut self) -> u8 {
        let taken = self.next;
        self.last.get_or_insert(taken);
        let step = if self.backwards { self.count - 1 } else { 1 };
        self.next = (taken + step) % self.count;
        taken
    }

    pub(super) fn connected(&mut self, server: u8) {
        self.last = Some(server);
    }
}
