//! The session machine of simulated clients: that of [`zk_protocol::session`], which real clients use as well, with
//! simulated paths, requests and injected bugs.

#[cfg(test)]
mod tests;

use crate::digest::Digest;
use crate::injected_bug::InjectedBug;
use crate::message::{Answer, Ask, Code, ConnId, Down, Refusal, Tag, Up, Watching};
use crate::paths::PathId;
use zk_protocol::session::{
    self, Fingerprint, Flaw, Flaws, Incoming, List, Outgoing, Protocol, SessionError,
};

pub(crate) use zk_protocol::session::Servers;

/// The types of the simulated protocol.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Simulated;

pub(crate) type ClientSession = session::ClientSession<Simulated>;
pub(crate) type Out = session::Out<Simulated>;
pub(crate) type Answered = session::Answered<Simulated>;
pub(crate) type Failure = session::Failure<Refusal>;
pub(crate) type WatchItem = session::WatchItem<PathId>;

impl Protocol for Simulated {
    type Path = PathId;
    type Conn = ConnId;
    type Ask = Ask;
    type Tag = Tag;
    type Answer = Answer;
    type Refusal = Refusal;
    type Flaws = ClientFlaws;

    // Histories record forgotten watches.
    const TELLS_FORGOTTEN: bool = true;

    fn arms(ask: &Ask) -> Option<(List, PathId)> {
        ask.arms()
    }

    fn is_write(ask: &Ask) -> bool {
        ask.is_write()
    }

    fn is_close(ask: &Ask) -> bool {
        *ask == Ask::CloseSession
    }

    fn is_absent(ask: &Ask, refusal: &Refusal) -> bool {
        matches!(ask, Ask::Exists { .. }) && *refusal == Code::NoNode.into()
    }

    fn session_error(_: Option<&Ask>, result: &Result<Answer, Refusal>) -> Option<SessionError> {
        match result {
            Err(refusal) => SessionError::of(refusal.code()),
            Ok(Answer::Many(found)) => {
                found.iter().find_map(|found| SessionError::of(*found.as_ref().err()?))
            }
            Ok(_) => None,
        }
    }

    fn is_busy(refusal: &Refusal) -> bool {
        matches!(refusal, Refusal::All(code) if code.is_passing())
    }

    fn ping() -> Ask {
        Ask::Ping
    }

    fn set_watches(watching: Watching) -> Ask {
        Ask::SetWatches(Box::new(watching))
    }

    fn remove_watches(path: PathId, kind: i32) -> Ask {
        Ask::RemoveWatches { path, kind }
    }

    fn own_tag() -> Tag {
        Tag { cleanup: true, ..Tag::default() }
    }
}

impl Ask {
    /// Returns the watch that the request arms if it succeeds.
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

impl From<Outgoing<Simulated>> for Up {
    fn from(packet: Outgoing<Simulated>) -> Up {
        match packet {
            Outgoing::Connect { session, last_zxid, timeout, password } => {
                Up::Connect { session, last_zxid, timeout, password }
            }
            Outgoing::Request { xid, ask, tag } => Up::Request { xid, ask, tag },
        }
    }
}

impl From<Down> for Incoming<Simulated> {
    fn from(packet: Down) -> Self {
        match packet {
            Down::Connected { session, timeout, password } => {
                Incoming::Connected { session, timeout, password }
            }
            Down::Reply { xid, zxid, result } => Incoming::Reply { xid, zxid, result },
            Down::Notify { kind, path } => Incoming::Notify { kind, path },
            Down::Fin => Incoming::Fin,
        }
    }
}

/// The injected bug of the world, as far as it concerns the session machine.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClientFlaws(pub Option<InjectedBug>);

impl Flaws for ClientFlaws {
    fn has(self, flaw: Flaw) -> bool {
        let bug = match flaw {
            Flaw::ForgetsWatches => InjectedBug::ForgetsWatches,
            Flaw::ForgetsAbsent => InjectedBug::ForgetsAbsent,
            Flaw::ForgetsTrees => InjectedBug::ForgetsTrees,
            Flaw::RegistersAsOfNow => InjectedBug::RegistersAsOfNow,
            Flaw::KeepsFired => InjectedBug::KeepsFired,
            Flaw::ForgetsZxid => InjectedBug::ForgetsZxid,
            Flaw::ReplyFirst => InjectedBug::ReplyFirst,
            Flaw::RepeatsLost => InjectedBug::RepeatsLost,
            Flaw::SwapsAnswers => InjectedBug::SwapsAnswers,
            Flaw::HidesLoss => InjectedBug::HidesLoss,
            Flaw::ExpiresAtLoss => InjectedBug::ExpiresAtLoss,
        };
        self.0 == Some(bug)
    }
}

impl Fingerprint for Digest {
    fn add(&mut self, word: u64) {
        Digest::add(self, word);
    }

    fn add_two(&mut self, small: u8, word: u64) {
        Digest::add_two(self, small, word);
    }

    fn add_wide(&mut self, wide: u128) {
        Digest::add_wide(self, wide);
    }

    fn add_bytes(&mut self, bytes: &[u8]) {
        Digest::add_bytes(self, bytes);
    }

    fn finish(self) -> u128 {
        Digest::finish(self)
    }
}
