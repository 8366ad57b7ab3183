//! How a session is opened: its timeout, who we are, how the servers are spoken with, and who may touch what we create.

use std::fmt;
use std::time::Duration;

use super::acl::Acl;
use super::address::Address;
use super::handshake::Handshake;
use crate::zk::Error;

/// The longest session timeout that fits into a request.
const MAX_TIMEOUT: Duration = Duration::from_millis(i32::MAX as u64);

/// How to open a session.
///
/// ```
/// use std::time::Duration;
/// use zk_recipes::client::{Acl, Options};
///
/// let options = Options::new(Duration::from_secs(20))
///     .with_auth("digest", "printer:secret")
///     .with_acl(Acl::creator());
/// # assert!(!format!("{options:?}").contains("secret"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The session timeout to ask for. The ensemble grants what lies within its own bounds, by default 2 to 20 ticks;
    /// [`timeout`](crate::ZooKeeper::timeout) is what it granted.
    pub session_timeout: Duration,
    /// Who we are, told to every server that we connect with.
    pub credentials: Vec<Credentials>,
    /// What every znode bears that is created: directories, contenders, items, all of them. None is changed that exists.
    pub acl: Acl,
    /// TLS with every server; without it, whatever passes can be read and changed on the way.
    #[cfg(feature = "client-tls")]
    pub tls: Option<Tls>,
    /// Who we are, proved by SASL to every server that we connect with.
    #[cfg(feature = "client-sasl")]
    pub sasl: Option<Sasl>,
}

impl Options {
    /// Nobody in particular, over a bare connection; everybody may do everything with what is created.
    pub const fn new(session_timeout: Duration) -> Options {
        Options {
            session_timeout,
            credentials: Vec::new(),
            acl: Acl::anyone(),
            #[cfg(feature = "client-tls")]
            tls: None,
            #[cfg(feature = "client-sasl")]
            sasl: None,
        }
    }

    /// Also tells these credentials: for the scheme `digest` they are `user:password`.
    ///
    /// A server takes any user and any password of `digest`: what is wrong with them shows as
    /// [`Error::is_denied`] where an access list asks for others. Without TLS they can be read on the way.
    pub fn with_auth(mut self, scheme: impl Into<String>, secret: impl Into<Vec<u8>>) -> Options {
        self.credentials.push(Credentials { scheme: scheme.into(), secret: secret.into() });
        self
    }

    /// What is created bears this access list.
    pub fn with_acl(mut self, acl: Acl) -> Options {
        self.acl = acl;
        self
    }

    /// Speaks TLS with every server that the connect string does not mark as `tcp://host:port`.
    #[cfg(feature = "client-tls")]
    pub fn with_tls(mut self, tls: Tls) -> Options {
        self.tls = Some(tls);
        self
    }

    /// Proves who we are by SASL.
    #[cfg(feature = "client-sasl")]
    pub fn with_sasl(mut self, sasl: Sasl) -> Options {
        self.sasl = Some(sasl);
        self
    }

    /// All that is needed to begin a connection with one of these servers.
    ///
    /// # Errors
    ///
    /// [`Error::BadInput`] for what can never work.
    pub(super) fn handshake(&self, servers: Vec<Address>) -> Result<Handshake, Error> {
        if self.session_timeout < Duration::from_millis(1) || self.session_timeout > MAX_TIMEOUT {
            return Err(Error::BadInput(format!(
                "a session needs a timeout above zero and of {} days at most",
                MAX_TIMEOUT.as_secs() / 86400
            )));
        }
        #[cfg(feature = "client-tls")]
        let has_tls = self.tls.is_some();
        #[cfg(not(feature = "client-tls"))]
        let has_tls = false;
        if let Some(secure) = servers.iter().find(|server| server.secure == Some(true) && !has_tls) {
            let Address { host, port, .. } = secure;
            return Err(Error::BadInput(format!(
                "tcp+tls://{host}:{port} wants TLS, which the options do not have"
            )));
        }
        #[cfg(feature = "client-tls")]
        if let Some(server) = servers.iter().find(|server| has_tls && !server.can_have_certificate()) {
            let host = &server.host;
            return Err(Error::BadInput(format!(
                "{host:?} is no name and no address that a certificate could be for"
            )));
        }
        Ok(Handshake {
            servers,
            credentials: self.credentials.clone(),
            #[cfg(feature = "client-tls")]
            tls: self.tls.as_ref().map(super::tls::Connector::new).transpose()?,
            #[cfg(feature = "client-sasl")]
            sasl: self.sasl.clone(),
        })
    }
}

/// Who we are, by a scheme of the server's.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    pub(super) scheme: String,
    pub(super) secret: Vec<u8>,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("scheme", &self.scheme).finish_non_exhaustive()
    }
}

/// Whom to trust, and who we are, over TLS.
///
/// The name or address by which the connect string calls a server must stand in the server's certificate: there is no
/// option to leave that check out.
///
/// A certificate that is refused, on either side, looks like a server that cannot be reached: the next one is tried.
#[cfg(feature = "client-tls")]
#[derive(Clone, PartialEq, Eq)]
pub struct Tls {
    pub(super) authorities: String,
    pub(super) identity: Option<(String, String)>,
}

#[cfg(feature = "client-tls")]
impl Tls {
    /// Trusts servers whose certificate was signed by one of these authorities: certificates in PEM, and lists of what
    /// they have revoked, if there are any.
    pub fn trusting(authorities: impl Into<String>) -> Tls {
        Tls { authorities: authorities.into(), identity: None }
    }

    /// Shows a certificate to servers that ask for one (`ssl.clientAuth`): certificate and private key in PEM.
    pub fn with_identity(mut self, certificate: impl Into<String>, key: impl Into<String>) -> Tls {
        self.identity = Some((certificate.into(), key.into()));
        self
    }
}

#[cfg(feature = "client-tls")]
impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").field("has_identity", &self.identity.is_some()).finish_non_exhaustive()
    }
}

/// A user of the ensemble's, over TLS or not.
///
/// Each connection proves who we are before it carries a request or registers a watch, which costs two round trips.
///
/// A server that was not set up for SASL takes the client all the same, as nobody in particular. What only that user may
/// do is denied then: give what you create an [`Acl`] that asks for it.
#[cfg(feature = "client-sasl")]
#[derive(Clone, PartialEq, Eq)]
pub struct Sasl {
    pub(super) user: String,
    pub(super) password: String,
}

#[cfg(feature = "client-sasl")]
impl Sasl {
    /// By the mechanism DIGEST-MD5. The password is not sent, but who listens can guess at it.
    pub fn digest_md5(user: impl Into<String>, password: impl Into<String>) -> Sasl {
        Sasl { user: user.into(), password: password.into() }
    }
}

#[cfg(feature = "client-sasl")]
impl fmt::Debug for Sasl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sasl").field("user", &self.user).finish_non_exhaustive()
    }
}
