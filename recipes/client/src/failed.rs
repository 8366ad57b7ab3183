//! What an attempt to connect is doing, and why it failed.

use std::io;

use zk_recipes::zk::ConnectFailureKind as Kind;

/// The step of an attempt, for the message of one that takes too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Resolve,
    Dial,
    #[cfg(feature = "tls")]
    Secure,
    /// Connected, and waiting until the servers before it have had their time.
    Line,
    Ask,
}

impl Stage {
    /// What there is no answer to.
    pub(super) fn awaits(self) -> &'static str {
        match self {
            Stage::Resolve => "the name was not resolved",
            Stage::Dial => "no answer to the TCP connect",
            #[cfg(feature = "tls")]
            Stage::Secure => "no answer to the TLS handshake",
            Stage::Line => "the request for the session waited for other servers",
            Stage::Ask => "no answer to the request for a session",
        }
    }
}

/// The reason why an attempt failed.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) kind: Kind,
    pub(super) message: String,
    /// Whether waiting does not mend it.
    pub(super) is_lasting: bool,
}

impl Failed {
    pub(super) fn new(kind: Kind, message: impl Into<String>) -> Failed {
        Failed { kind, message: message.into(), is_lasting: false }
    }

    pub(super) fn lasting(kind: Kind, message: impl Into<String>) -> Failed {
        Failed { is_lasting: true, ..Failed::new(kind, message) }
    }

    /// The server refused the credentials.
    pub(super) fn refused(message: impl Into<String>) -> Failed {
        Failed::lasting(Kind::AuthFailed, message)
    }

    pub(super) fn not_zookeeper(message: impl Into<String>) -> Failed {
        Failed::lasting(Kind::NotZooKeeper, message)
    }

    /// The name has no address: for good, unless the resolver says that it is at fault itself.
    pub(super) fn to_resolve(error: &io::Error) -> Failed {
        let message = error.to_string();
        let is_lasting = !message.to_lowercase().contains("tempor") && !message.contains("ry again");
        Failed { kind: Kind::UnknownHost, message, is_lasting }
    }

    /// The TCP connection was not made.
    pub(super) fn to_dial(error: &io::Error) -> Failed {
        match error.kind() {
            io::ErrorKind::ConnectionRefused => Failed::new(Kind::Refused, "connection refused"),
            io::ErrorKind::TimedOut => Failed::new(Kind::TimedOut, "no answer to the TCP connect"),
            _ => Failed::new(Kind::Network, error.to_string()),
        }
    }

    /// TLS was not agreed on.
    #[cfg(feature = "tls")]
    pub(super) fn to_secure(error: &io::Error) -> Failed {
        if is_end(error) {
            return Failed::new(
                Kind::Tls,
                "the server closed the connection during the TLS handshake: it may not speak TLS at this port",
            );
        }
        by_tls(error).unwrap_or_else(|| Failed::new(Kind::Tls, error.to_string()))
    }

    /// The same failure, with what was going on.
    pub(super) fn during(self, what: &str) -> Failed {
        Failed { message: format!("{} {what}", self.message), ..self }
    }
}

/// The connection ended during the handshake.
impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Failed {
        by_tls(&error).unwrap_or_else(|| match is_end(&error) {
            true => Failed::new(Kind::NotServing, "the server closed the connection"),
            false => Failed::new(Kind::Network, error.to_string()),
        })
    }
}

/// Whether the peer hung up.
pub(super) fn is_end(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof, WriteZero};
    let kinds = [UnexpectedEof, ConnectionReset, ConnectionAborted, BrokenPipe, WriteZero];
    kinds.contains(&error.kind()) && error.get_ref().is_none_or(|inner| !is_tls(inner))
}

/// The library's own sentence: waiting mends no certificate.
fn by_tls(error: &io::Error) -> Option<Failed> {
    let inner = error.get_ref().filter(|inner| is_tls(*inner))?;
    Some(Failed::lasting(Kind::Tls, inner.to_string()))
}

#[cfg(feature = "tls")]
fn is_tls(error: &(dyn std::error::Error + Send + Sync + 'static)) -> bool {
    error.is::<tokio_rustls::rustls::Error>()
}

#[cfg(not(feature = "tls"))]
fn is_tls(_: &(dyn std::error::Error + Send + Sync + 'static)) -> bool {
    false
}
