//! A fingerprint of a session's state, as far as it decides the continuations of a run.
//!
//! Requests are identified by their numbers only: what the k-th request of a session asks for follows from what its process
//! has observed, which is in the digest of the process.

use super::watches::Watches;
use super::{ClientSession, Phase, Protocol};

/// An accumulator of state: a hash, or a list of what was added.
pub trait Fingerprint: Default {
    /// Adds a number.
    fn add(&mut self, word: u64);
    /// Adds a small number and another one.
    fn add_two(&mut self, small: u8, word: u64);
    /// Adds another fingerprint.
    fn add_wide(&mut self, wide: u128);
    /// Adds a text.
    fn add_bytes(&mut self, bytes: &[u8]);
    /// The fingerprint.
    fn finish(self) -> u128;
}

impl<P: Protocol> ClientSession<P> {
    /// Adds its state to a digest. The caller adds connections. Times are relative to `now`, by the process's clock.
    /// `has_user`: whether the process may still send requests. `changed`: what of a znode has changed since a zxid, since
    /// the last zxid matters only when the session hands its watches over. `text` is the text of a path.
    pub fn digest<'a, F: Fingerprint>(
        &self,
        now: u64,
        has_user: bool,
        digest: &mut F,
        text: impl Fn(&P::Path) -> &'a str,
        changed: impl Fn(&P::Path, i64) -> u64,
    ) {
        let ago = |time: u64| now.wrapping_sub(time);
        let (phase, until) = match self.phase {
            Phase::Waiting { until } => (1, ago(until)),
            Phase::Connecting { until, sent, .. } => (2, ago(until) << 20 ^ ago(sent)),
            Phase::Probing { until, .. } => (7, ago(until)),
            Phase::Up { .. } => (3, self.pings.len() as u64),
            // What its user has observed is in the digest of the process.
            Phase::Over => return digest.add_two(4, 0),
        };
        digest.add_two(phase, until);
        digest.add(self.session.0 as u64);
        if has_user {
            digest.add(u64::from(self.status.changes) << 32 ^ u64::from(self.status.connection));
            digest.add(self.next_xid as u64);
        }
        digest.add(self.timeout << 32 ^ self.least_timeout);
        for time in [self.last_heard, self.last_sent, self.safe_from] {
            digest.add(ago(time));
        }
        self.pings.iter().for_each(|sent| digest.add(ago(*sent)));
        digest.add(self.closing.into());
        if now < self.probes.not_before {
            digest.add_two(8, ago(self.probes.not_before));
        }
        if let Some(server) = self.probes.behind {
            digest.add_two(9, server.into());
        }
        digest.add((self.waiting.len() as u64) << 32 | self.outstanding.len() as u64);
        self.outstanding.iter().for_each(|pending| digest.add(pending.xid as u64 ^ ago(pending.sent) << 20));
        self.watches.digest(digest, &text, |path| changed(path, self.last_zxid));
        for (kind, path) in &self.kept_back {
            digest.add_two(5, *kind as u64);
            digest.add_bytes(text(path).as_bytes());
        }
    }
}

impl<P: Protocol> Watches<P> {
    /// Order-independent, since paths are numbered in the order of their first use, on which no behaviour depends.
    fn digest<'a, F: Fingerprint>(
        &self,
        digest: &mut F,
        text: impl Fn(&P::Path) -> &'a str,
        changed: impl Fn(&P::Path) -> u64,
    ) {
        let mut sum = 0u128;
        let mut add = |of: u8, which: u64, path: &P::Path, what: u64| {
            let mut one = F::default();
            one.add_two(of, which);
            one.add_bytes(text(path).as_bytes());
            one.add(what);
            sum = sum.wrapping_add(one.finish());
        };
        for ((list, path), ids) in &self.lists {
            add(1, (*list as u64) << 32 | ids.len() as u64, path, changed(path));
        }
        self.arming.iter().for_each(|((list, path), count)| add(2, *list as u64, path, u64::from(*count)));
        self.dropped.iter().for_each(|(list, path)| add(3, *list as u64, path, 0));
        self.owed.iter().for_each(|(kind, path)| add(4, *kind as u64, path, 0));
        self.refused.iter().for_each(|(kind, path)| add(6, *kind as u64, path, 0));
        digest.add_wide(sum);
    }
}
