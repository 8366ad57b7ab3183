//! Options of a session: timeout, credentials, transport, access lists.

use std::fmt;
use std::time::Duration;

use super::acl::Acl;
use super::address::Address;
use super::ephemerals;
use super::request::within_limit;
#[cfg(feature = "tls")]
use super::tls::Tls;
use zk_protocol::wire::jute::LENGTH_BYTES;
use zk_recipes::zk::{Error, ErrorKind, path};

/// The shortest limit of requests: watches are registered again in requests of up to half of that.
const MIN_REQUEST_BYTES: usize = 256 * 1024;

/// The longest session timeout that fits into a request.
const MAX_TIMEOUT: Duration = Duration::from_millis(i32::MAX as u64);

/// Options of a session.
///
/// ```
/// use std::time::Duration;
/// use zk_client::{Acl, Options};
///
/// let options = Options::new(Duration::from_secs(20))
///     .with_auth("digest", "printer:secret")
///     .with_acl(Acl::creator());
/// # assert!(!format!("{options:?}").contains("secret"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The session timeout to request. The ensemble grants a value within its own bounds, by default 2 to 20 ticks; see
    /// [`timeout`](zk_recipes::ZooKeeper::timeout).
    pub session_timeout: Duration,
    /// How long it may take until a server has accepted the session; by default as long as the session timeout.
    /// [`open`](super::Client::open) ends after that time. A session that has lost its connection begins anew with all
    /// servers, if this is less than the session timeout, and is not ended by it.
    ///
    /// The servers share the time: attempts overlap, and all have begun after half of it.
    pub connect_timeout: Option<Duration>,
    /// Whether [`open`](super::Client::open) ends as soon as each server has failed for a reason that waiting does not mend:
    /// an unknown host, a refused certificate, TLS on one side only, a server that is not ZooKeeper.
    /// By default it tries until the time is over, since a name may be entered, and a certificate renewed.
    pub fails_fast: bool,
    /// The longest reply, in bytes (`jute.maxbuffer` of the Java client); by default [`MAX_REPLY_BYTES`](Self::MAX_REPLY_BYTES).
    /// A server that announces a longer one is not ZooKeeper, or the list of children is that long: the connection is given
    /// up at once, and requests in flight fail with a lost connection.
    pub max_reply_bytes: usize,
    /// The longest request that the servers take, in bytes: their `jute.maxbuffer`, by default 1,048,575. A longer one is
    /// refused as bad input before it is sent, since a server hangs up on it; 262,144 is the least.
    ///
    /// What is larger than the default needs that `jute.maxbuffer` at every server, and at every client that reads it.
    pub max_request_bytes: usize,
    /// Credentials for every server.
    pub credentials: Vec<Credentials>,
    /// The access list of every znode that is created: directories, contenders, items. Existing znodes are not changed.
    pub acl: Acl,
    /// The most bytes of the session's ephemerals: of their paths, chroot included, and 4 for each. The create that would pass it
    /// fails with [`Error::is_session_full`].
    ///
    /// When the session ends, the server logs all of these paths in one transaction; above twice `jute.maxbuffer` no server can
    /// read that again, and none that has logged it starts again (ZOOKEEPER-4306). The default is what servers with default settings
    /// survive: 2,097,086 bytes.
    pub max_ephemeral_bytes: usize,
    /// TLS with every server, with certificates that can be [replaced](Tls::replace); without it traffic can be read and changed in
    /// transit.
    #[cfg(feature = "tls")]
    pub tls: Option<Tls>,
    /// SASL authentication with every server.
    #[cfg(feature = "sasl")]
    pub sasl: Option<Sasl>,
}

/// The limits of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) connect_timeout: Duration,
    pub(super) fails_fast: bool,
    pub(super) max_reply_bytes: usize,
}

impl Options {
    /// The default of [`max_reply_bytes`](Self::max_reply_bytes), 64 MiB: a list of a million children is shorter.
    pub const MAX_REPLY_BYTES: usize = 64 * 1024 * 1024;

    /// No credentials and no TLS; all clients have all permissions on created znodes.
    pub const fn new(session_timeout: Duration) -> Options {
        Options {
            session_timeout,
            connect_timeout: None,
            fails_fast: false,
            max_reply_bytes: Options::MAX_REPLY_BYTES,
            max_request_bytes: path::MAX_REQUEST_BYTES,
            credentials: Vec::new(),
            acl: Acl::anyone(),
            max_ephemeral_bytes: ephemerals::MAX_BYTES,
            #[cfg(feature = "tls")]
            tls: None,
            #[cfg(feature = "sasl")]
            sasl: None,
        }
    }

    /// Adds credentials: for the scheme `digest` they are `user:password`.
    ///
    /// A server accepts any user and any password of `digest`: wrong ones show as [`Error::is_denied`] at an access list.
    /// Without TLS they can be read in transit.
    pub fn with_auth(mut self, scheme: impl Into<String>, secret: impl Into<Vec<u8>>) -> Options {
        self.credentials.push(Credentials { scheme: scheme.into(), secret: secret.into() });
        self
    }

    /// Sets the longest request that the servers take: see [`max_request_bytes`](Self::max_request_bytes).
    pub const fn with_max_request_bytes(mut self, bytes: usize) -> Options {
        self.max_request_bytes = bytes;
        self
    }

    /// Sets how long it may take until a server has accepted the session.
    pub const fn with_connect_timeout(mut self, limit: Duration) -> Options {
        self.connect_timeout = Some(limit);
        self
    }

    /// Ends `open` as soon as no waiting can help.
    pub const fn failing_fast(mut self) -> Options {
        self.fails_fast = true;
        self
    }

    /// Sets the longest reply, in bytes.
    pub const fn with_max_reply_bytes(mut self, limit: usize) -> Options {
        self.max_reply_bytes = limit;
        self
    }

    pub(super) fn limits(&self) -> Limits {
        Limits {
            connect_timeout: self.connect_timeout.unwrap_or(self.session_timeout),
            fails_fast: self.fails_fast,
            max_reply_bytes: self.max_reply_bytes,
        }
    }

    /// Limits the bytes of the session's ephemerals: see [`max_ephemeral_bytes`](Self::max_ephemeral_bytes).
    pub const fn with_max_ephemeral_bytes(mut self, bytes: usize) -> Options {
        self.max_ephemeral_bytes = bytes;
        self
    }

    /// Sets the access list of created znodes.
    pub fn with_acl(mut self, acl: Acl) -> Options {
        self.acl = acl;
        self
    }

    /// Uses TLS with every server that the connect string does not mark as `tcp://host:port`.
    #[cfg(feature = "tls")]
    pub fn with_tls(mut self, tls: Tls) -> Options {
        self.tls = Some(tls);
        self
    }

    /// Authenticates by SASL.
    #[cfg(feature = "sasl")]
    pub fn with_sasl(mut self, sasl: Sasl) -> Options {
        self.sasl = Some(sasl);
        self
    }

    /// # Errors
    ///
    /// [`Error::is_bad_input`] for options that can never work with these servers.
    pub(super) fn can_work(&self, servers: &[Address]) -> Result<(), Error> {
        if self.session_timeout < Duration::from_millis(1) || self.session_timeout > MAX_TIMEOUT {
            return Err(ErrorKind::BadInput(format!(
                "a session needs a timeout above zero and of {} days at most",
                MAX_TIMEOUT.as_secs() / 86400
            ))
            .into());
        }
        if self.max_request_bytes < MIN_REQUEST_BYTES {
            let bytes = self.max_request_bytes;
            return Err(ErrorKind::BadInput(format!(
                "requests of {bytes} bytes are too short to register watches: {MIN_REQUEST_BYTES} are the least"
            ))
            .into());
        }
        for credentials in &self.credentials {
            credentials.fit(self.max_request_bytes)?;
        }
        #[cfg(feature = "tls")]
        let has_tls = self.tls.is_some();
        #[cfg(not(feature = "tls"))]
        let has_tls = false;
        if let Some(secure) = servers.iter().find(|server| server.secure == Some(true) && !has_tls) {
            let Address { host, port, .. } = secure;
            return Err(ErrorKind::BadInput(format!(
                "tcp+tls://{host}:{port} wants TLS, which the options do not have"
            ))
            .into());
        }
        #[cfg(feature = "tls")]
        if let Some(server) = servers.iter().find(|server| has_tls && !server.can_have_certificate()) {
            let host = &server.host;
            return Err(ErrorKind::BadInput(format!(
                "{host:?} is no name and no address that a certificate could be for"
            ))
            .into());
        }
        Ok(())
    }
}

/// Credentials of a scheme of the server's.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    pub(super) scheme: String,
    pub(super) secret: Vec<u8>,
}

impl Credentials {
    /// A server hangs up on credentials that are too long for a request: no connection would come about.
    fn fit(&self, limit: usize) -> Result<(), Error> {
        within_limit(limit, AUTH_BYTES + self.scheme.len() + self.secret.len())
    }
}

/// The bytes of a request with credentials beside these: three numbers, and two lengths.
const AUTH_BYTES: usize = 3 * 4 + 2 * LENGTH_BYTES;

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("scheme", &self.scheme).finish_non_exhaustive()
    }
}

/// A SASL user, over TLS or not.
///
/// Each connection authenticates before it sends requests or registers watches, which costs two round trips.
///
/// A server without SASL accepts the client as unauthenticated. Operations that need the user are denied then: use an
/// [`Acl`] that requires it.
#[cfg(feature = "sasl")]
#[derive(Clone, PartialEq, Eq)]
pub struct Sasl {
    pub(super) user: String,
    pub(super) password: String,
}

#[cfg(feature = "sasl")]
impl Sasl {
    /// Uses the mechanism DIGEST-MD5. The password is not sent, but an eavesdropper can guess it offline.
    pub fn digest_md5(user: impl Into<String>, password: impl Into<String>) -> Sasl {
        Sasl { user: user.into(), password: password.into() }
    }
}

#[cfg(feature = "sasl")]
impl fmt::Debug for Sasl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sasl").field("user", &self.user).finish_non_exhaustive()
    }
}
