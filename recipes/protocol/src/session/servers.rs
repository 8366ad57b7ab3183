//! The order in which a client tries its servers.

/// The servers that a client moves between, in the order in which it tries them (`StaticHostProvider`).
#[derive(Clone, Debug)]
pub struct Servers {
    pub(super) count: u8,
    backwards: bool,
    pub(super) next: u8,
    /// The server that was connected last, or tried first: a full round without success ends there with a pause.
    last: Option<u8>,
}

impl Servers {
    /// The order of `n` servers: the first one to try, then the others forwards or backwards.
    pub fn new(count: u8, first: u8, backwards: bool) -> Self {
        Servers { count, backwards, next: first, last: None }
    }

    /// The pause before the next attempt, beside the usual wait.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_goes_round_its_servers_and_rests_after_each_round_without_success() {
        let mut servers = Servers::new(3, 1, false);
        let mut tried = Vec::new();
        for _ in 0..5 {
            tried.push((servers.pause() > 0, servers.take()));
        }
        assert_eq!(tried, [(false, 1), (false, 2), (false, 0), (true, 1), (false, 2)]);
        servers.connected(2);
        assert_eq!(
            (servers.pause(), servers.take()),
            (0, 0),
            "it begins with the one after the last that served it"
        );
        assert_eq!(servers.take(), 1);
        assert_eq!(servers.pause(), 1_000_000);
        assert_eq!([1, 0, 2].map(|_| Servers::new(3, 0, true).take()), [0; 3]);
    }
}
