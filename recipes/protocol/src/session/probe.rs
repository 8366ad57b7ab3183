//! Probes: how a client learns that an ensemble has forgotten its session.
//!
//! A server closes the connection on a connect request whose `last_zxid` is ahead of its own ("client must try another
//! server", `ZooKeeperServer.processConnectRequest`), before it looks at the session, and without an answer. One that does
//! not serve yet does the same. So a client cannot tell a server that lags by a moment from an ensemble that came back empty
//! or from an old backup, which never catches up: nobody would ever tell it that its session is over.
//!
//! 1. A server turns the client away, and no server of the same round of attempts accepts the session, although none has
//!    confirmed it for longer than its timeout. Until then the session may live, and other servers may serve it.
//! 2. The same server is asked again with a `last_zxid` of 0: a probe. It goes to the server that is behind, and to no other,
//!    since others answer the usual connect.
//! 3. The session is unknown there (a timeout of 0): it is over. A follower has asked its leader by then, so it does not
//!    matter how far it lags itself.
//! 4. The session lives: the connection is closed at once. A server that is behind does not serve the session, since its
//!    reads would contradict earlier ones, and its answer does not renew the lease.
//! 5. No answer: the server does not serve yet. Nothing is concluded.
//!
//! A probe that finds the session alive has touched it, as any connect does. So the next one waits for twice the timeout
//! that was granted: a session of an old backup, which nothing else touches, has expired by then, since servers find that
//! out up to a tick late, and a timeout has two ticks at least. Otherwise probes would keep it alive for ever.
//!
//! What is left: a leader that was deposed and does not know it yet may not know a session that its successor has opened.
//! The usual connect has the same gap until the first answer brings a zxid. Step 1 keeps it harmless: the session's lease
//! has ended before any probe, so no holder relies on the session any more, and what it owns goes by expiry.

use super::{ClientSession, Phase, Protocol};
use zk_recipes::zk::SessionId;

/// When to probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Probes {
    /// The first server of this round of attempts that has turned the client away.
    pub(super) behind: Option<u8>,
    /// The attempt that begins is a probe.
    pub(super) is_next: bool,
    /// No probe before this instant.
    pub(super) not_before: u64,
}

impl Probes {
    pub(super) fn connected(&mut self) {
        self.behind = None;
    }

    /// Step 4.
    pub(super) fn found_alive(&mut self, now: u64, timeout: u64) {
        self.not_before = now.saturating_add(timeout.saturating_mul(2));
    }
}

impl<P: Protocol> ClientSession<P> {
    /// In the attempt that goes on, a server hung up on the connect instead of answering it. A driver says so whose attempts have
    /// several servers; from others it is the end of the stream ([`Incoming::Fin`](super::Incoming)).
    pub fn turned_away(&mut self) {
        if matches!(self.phase, Phase::Connecting { .. }) {
            self.probes.behind.get_or_insert(self.server);
        }
    }

    /// Steps 1 and 2: the server to probe now, if a round of attempts has ended in vain and a probe proves something.
    pub(super) fn next_probe(&mut self, now: u64) -> Option<u8> {
        let is_round_over = self.servers.pause() > 0;
        let behind = self.probes.behind.take_if(|_| is_round_over)?;
        let is_unconfirmed = now > self.safe_from.saturating_add(self.timeout);
        let proves = self.session != SessionId(0) && is_unconfirmed && now >= self.probes.not_before;
        self.probes.is_next = proves;
        proves.then_some(behind)
    }
}
