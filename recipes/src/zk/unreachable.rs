//! Why no server could be used, by server: see [`Error::connect_failures`](super::Error::connect_failures).

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

/// Why no server accepted a session: the latest failure with each server, the most recent one last.
///
/// A name of several addresses has a failure for each address that was tried.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unreachable(Arc<[ConnectFailure]>);

impl Unreachable {
    /// The failures, the most recent one last.
    pub fn failures(&self) -> &[ConnectFailure] {
        &self.0
    }

    /// The most recent failure; none if the time was over before the first one.
    pub fn last(&self) -> Option<&ConnectFailure> {
        self.0.last()
    }
}

impl FromIterator<ConnectFailure> for Unreachable {
    fn from_iter<I: IntoIterator<Item = ConnectFailure>>(failures: I) -> Self {
        Unreachable(failures.into_iter().collect())
    }
}

impl std::error::Error for Unreachable {}

/// The failures, separated by semicolons.
impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("no attempt was made in time");
        }
        for (at, failure) in self.0.iter().enumerate() {
            let separator = if at > 0 { "; " } else { "" };
            write!(f, "{separator}{failure}")?;
        }
        Ok(())
    }
}

/// Why one server could not be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConnectFailure {
    /// The server as the connect string names it, without its transport: `host:port`.
    pub server: String,
    /// The address that was tried, once the name was resolved.
    pub peer: Option<SocketAddr>,
    /// What kind of failure it is.
    pub kind: ConnectFailureKind,
    /// The cause in one sentence; of TLS, the library's own.
    pub message: String,
    /// Whether waiting alone does not mend it, such as a certificate of an unknown authority: a configuration has to change.
    pub is_lasting: bool,
}

impl ConnectFailure {
    /// A failure that may pass.
    pub fn new(
        server: impl Into<String>,
        peer: Option<SocketAddr>,
        kind: ConnectFailureKind,
        message: impl Into<String>,
    ) -> ConnectFailure {
        ConnectFailure { server: server.into(), peer, kind, message: message.into(), is_lasting: false }
    }

    /// The same failure, as one that waiting alone does not mend.
    #[must_use]
    pub fn lasting(mut self) -> ConnectFailure {
        self.is_lasting = true;
        self
    }
}

/// `zk1:2181 (10.0.0.1:2181): connection refused`
impl fmt::Display for ConnectFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.server)?;
        match self.peer {
            Some(peer) if peer.to_string() != self.server => write!(f, " ({peer})")?,
            _ => {}
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for ConnectFailure {}

/// The kind of a [`ConnectFailure`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ConnectFailureKind {
    /// The name could not be resolved.
    UnknownHost,
    /// Nothing listens at the port.
    Refused,
    /// The operating system could not connect for another reason, such as a missing route.
    Network,
    /// There was no answer in time; the message says to what.
    TimedOut,
    /// TLS failed: a certificate was refused, by either side, or only one side speaks TLS.
    Tls,
    /// The answer is none of ZooKeeper's.
    NotZooKeeper,
    /// The server hung up instead of accepting the session: it does not serve yet, or is behind what the session has seen.
    NotServing,
    /// The server has lost its quorum and only serves reads.
    ReadOnly,
    /// The server refused the credentials.
    AuthFailed,
}

impl ConnectFailureKind {
    /// The value of `error.type` in events and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            ConnectFailureKind::UnknownHost => "unknown_host",
            ConnectFailureKind::Refused => "connection_refused",
            ConnectFailureKind::Network => "network",
            ConnectFailureKind::TimedOut => "timed_out",
            ConnectFailureKind::Tls => "tls",
            ConnectFailureKind::NotZooKeeper => "not_zookeeper",
            ConnectFailureKind::NotServing => "not_serving",
            ConnectFailureKind::ReadOnly => "read_only",
            ConnectFailureKind::AuthFailed => "auth_failed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_server_has_its_cause() {
        let kind = ConnectFailureKind::Refused;
        let peer = Some(([10, 0, 0, 1], 2181).into());
        let all: Unreachable = [("zk1:2181", None), ("zk2:2181", peer), ("10.0.0.1:2181", peer)]
            .map(|(server, peer)| ConnectFailure::new(server, peer, kind, "connection refused"))
            .into_iter()
            .collect();
        assert_eq!(
            all.to_string(),
            "zk1:2181: connection refused; zk2:2181 (10.0.0.1:2181): connection refused; \
             10.0.0.1:2181: connection refused"
        );
        assert_eq!(all.last().map(|last| last.server.as_str()), Some("10.0.0.1:2181"));
    }
}
