//! The session tracker of the leader: last touch, owner and expiry of each session (`SessionTrackerImpl`,
//! `ExpiryQueue`).

use crate::digest::Digest;
use crate::message::Code;
use std::collections::{BTreeMap, BTreeSet};
use zk_recipes::zk::SessionId;

#[derive(Clone, Debug)]
struct Tracked {
    timeout: u64,
    /// The expiry deadline: a multiple of the tick.
    deadline: u64,
    /// The last touch.
    heard: u64,
    /// The server that owns it, as far as the leader knows.
    owner: Option<u8>,
    /// Whether its close is in flight.
    closing: bool,
}

/// The sessions of an ensemble, as its leader tracks them.
#[derive(Clone, Debug)]
pub(crate) struct Tracker {
    tick: u64,
    sessions: BTreeMap<SessionId, Tracked>,
    buckets: BTreeMap<u64, BTreeSet<SessionId>>,
}

impl Tracker {
    /// Creates a tracker in which every known session starts again with its original timeout.
    pub(crate) fn new(tick: u64, now: u64, sessions: impl Iterator<Item = (SessionId, u64)>) -> Self {
        let mut tracker = Tracker { tick, sessions: BTreeMap::new(), buckets: BTreeMap::new() };
        sessions.for_each(|(session, timeout)| tracker.add(session, timeout, now, None));
        tracker
    }

    pub(crate) fn add(&mut self, session: SessionId, timeout: u64, now: u64, owner: Option<u8>) {
        let tracked = Tracked { timeout, deadline: 0, heard: now, owner, closing: false };
        self.sessions.insert(session, tracked);
        self.touch(session, now, timeout);
    }

    /// Touches a session. It expires at a multiple of the tick, after its timeout since the last touch and at most
    /// one tick later (`ExpiryQueue.roundToNextInterval`). Returns false if the session does not exist or its close
    /// is in flight.
    pub(crate) fn touch(&mut self, session: SessionId, now: u64, timeout: u64) -> bool {
        let Some(tracked) = self.sessions.get_mut(&session).filter(|tracked| !tracked.closing) else {
            return false;
        };
        tracked.timeout = timeout;
        tracked.heard = now;
        let deadline = ((now + timeout) / self.tick + 1) * self.tick;
        let before = std::mem::replace(&mut tracked.deadline, deadline);
        if before != deadline {
            self.unlist(session, before);
            self.buckets.entry(deadline).or_default().insert(session);
        }
        true
    }

    /// Touches a session with its present timeout.
    pub(crate) fn touch_again(&mut self, session: SessionId, now: u64) -> bool {
        let Some(timeout) = self.sessions.get(&session).map(|tracked| tracked.timeout) else { return false };
        self.touch(session, now, timeout)
    }

    fn unlist(&mut self, session: SessionId, deadline: u64) {
        if let Some(bucket) = self.buckets.get_mut(&deadline) {
            bucket.remove(&session);
            if bucket.is_empty() {
                self.buckets.remove(&deadline);
            }
        }
    }

    /// Checks that a write of a session, received by server `by`, may be ordered (`checkSession`).
    pub(crate) fn check(&mut self, session: SessionId, by: u8) -> Result<(), Code> {
        match self.sessions.get_mut(&session) {
            Some(tracked) if !tracked.closing => match *tracked.owner.get_or_insert(by) {
                owner if owner == by => Ok(()),
                _ => Err(Code::SessionMoved),
            },
            _ => Err(Code::SessionExpired),
        }
    }

    pub(crate) fn set_owner(&mut self, session: SessionId, owner: u8) {
        if let Some(tracked) = self.sessions.get_mut(&session) {
            tracked.owner = Some(owner);
        }
    }

    /// Marks the session as closing, after which it cannot be touched. Returns the last touch.
    pub(crate) fn close(&mut self, session: SessionId) -> Option<u64> {
        let tracked = self.sessions.get_mut(&session)?;
        tracked.closing = true;
        let (deadline, heard) = (tracked.deadline, tracked.heard);
        self.unlist(session, deadline);
        Some(heard)
    }

    /// Removes a session whose close was applied.
    pub(crate) fn remove(&mut self, session: SessionId) {
        if let Some(tracked) = self.sessions.remove(&session) {
            self.unlist(session, tracked.deadline);
        }
    }

    /// Returns the deadline of the next expiry.
    pub(crate) fn next(&self) -> Option<u64> {
        self.buckets.first_key_value().map(|(deadline, _)| *deadline)
    }

    /// Returns the sessions that are alive, with their deadlines, the earliest first.
    pub(crate) fn deadlines(&self) -> impl Iterator<Item = (u64, SessionId)> {
        self.buckets.iter().flat_map(|(deadline, bucket)| bucket.iter().map(|session| (*deadline, *session)))
    }

    /// Returns the sessions whose deadline has passed.
    pub(crate) fn due(&self, now: u64) -> Vec<SessionId> {
        self.buckets.range(..=now).flat_map(|(_, bucket)| bucket).copied().collect()
    }

    /// Returns whether the session is alive.
    pub(crate) fn knows(&self, session: SessionId) -> bool {
        self.sessions.get(&session).is_some_and(|tracked| !tracked.closing)
    }

    /// Adds its state to a digest.
    pub(crate) fn digest(&self, now: u64, digest: &mut Digest) {
        for (session, tracked) in &self.sessions {
            let Tracked { timeout, deadline, heard, owner, closing } = tracked;
            let owner = owner.map_or(0xff, u64::from);
            digest.add_two(u8::from(*closing), session.0 as u64 ^ owner << 48);
            [*timeout, deadline.wrapping_sub(now), now.wrapping_sub(*heard)]
                .into_iter()
                .for_each(|time| digest.add(time));
        }
    }

    /// Returns the sessions that are alive, or whose close has not yet been applied.
    pub(crate) fn sessions(&self) -> impl Iterator<Item = SessionId> {
        self.sessions.keys().copied()
    }
}
