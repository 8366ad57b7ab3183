//! How a session is opened: its timeout, who we are, how the servers are spoken with, and who may touch what we create.

use std::fmt;
use std::time::Duration;

use zookeeper_client as lib;

use super::acl::Acl;
use super::translate;
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

    /// Whether a connection is used before the server knows who we are.
    pub(super) fn is_known_late(&self) -> bool {
        #[cfg(feature = "client-sasl")]
        return self.sasl.is_some();
        #[cfg(not(feature = "client-sasl"))]
        false
    }

    /// Opens a session of the library's.
    pub(super) async fn connect(&self, connect_string: &str) -> Result<lib::Client, Error> {
        if self.session_timeout.is_zero() || self.session_timeout > MAX_TIMEOUT {
            return Err(Error::BadInput(format!(
                "a session needs a timeout above zero and of {} days at most",
                MAX_TIMEOUT.as_secs() / 86400
            )));
        }
        let mut connector = lib::Client::connector().with_session_timeout(self.session_timeout);
        for Credentials { scheme, secret } in &self.credentials {
            connector = connector.with_auth(scheme, secret);
        }
        #[cfg(feature = "client-sasl")]
        if let Some(Sasl { user, password }) = &self.sasl {
            connector = connector.with_sasl(lib::SaslOptions::digest_md5(user.clone(), password.clone()));
        }
        #[cfg(feature = "client-tls")]
        if let Some(tls) = &self.tls {
            // It fails in about one of a hundred sessions, and then again and again. Servers speak TLS by Netty only, where
            // the answer to SASL may overtake the one that opens the session if both requests arrive in one piece; the
            // library sends both at once, and takes what comes first for the latter.
            #[cfg(feature = "client-sasl")]
            if self.sasl.is_some() {
                let why =
                    "SASL over TLS is not offered: a certificate says who we are, by `Tls::with_identity`";
                return Err(Error::BadInput(why.to_owned()));
            }
            servers(connect_string).try_for_each(|server| tls.can_speak_with(server))?;
            let connector = connector.with_tls(tls.options()?);
            return connector.secure_connect(connect_string).await.map_err(translate::not_opened);
        }
        if let Some(secure) = servers(connect_string).find(|server| server.starts_with(SECURE)) {
            return Err(Error::BadInput(format!("{secure} wants TLS, which the options do not have")));
        }
        connector.connect(connect_string).await.map_err(translate::not_opened)
    }
}

/// How a connect string marks a server that speaks TLS.
const SECURE: &str = "tcp+tls://";

/// What a connect string names, one by one.
fn servers(connect_string: &str) -> impl Iterator<Item = &str> {
    connect_string.split(',')
}

/// Who we are, by a scheme of the server's.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    scheme: String,
    secret: Vec<u8>,
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
/// A certificate that is refused, on either side, looks like a server that cannot be reached: the client library tries
/// the next one, and tells the reason in its log only (crate `tracing`, target `zookeeper_client`).
#[cfg(feature = "client-tls")]
#[derive(Clone, PartialEq, Eq)]
pub struct Tls {
    authorities: String,
    identity: Option<(String, String)>,
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

    fn options(&self) -> Result<lib::TlsOptions, Error> {
        let bad = |what| move |why: lib::Error| Error::BadInput(format!("TLS: no good {what}: {why}"));
        let options = lib::TlsOptions::new().with_pem_ca(&self.authorities).map_err(bad("authorities"))?;
        match &self.identity {
            Some((certificate, key)) => {
                options.with_pem_identity(certificate, key).map_err(bad("identity of ours"))
            }
            None => Ok(options),
        }
    }

    /// Whether there can be a certificate for what a connect string calls a server. The library takes that for granted.
    fn can_speak_with(&self, server: &str) -> Result<(), Error> {
        let server = server.strip_prefix(SECURE).unwrap_or(server);
        let address = server.split('/').next().unwrap_or_default();
        let host = match address.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or_default(),
            None => address.rsplit_once(':').map_or(address, |(host, _)| host),
        };
        if server.starts_with("tcp://") || rustls_pki_types::ServerName::try_from(host).is_ok() {
            return Ok(());
        }
        Err(Error::BadInput(format!("{host:?} is no name and no address that a certificate could be for")))
    }
}

#[cfg(feature = "client-tls")]
impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").field("has_identity", &self.identity.is_some()).finish_non_exhaustive()
    }
}

/// A user of the ensemble's, without TLS: with it, a certificate says who we are.
///
/// The servers must have ZooKeeper's usual connections (`NIOServerCnxnFactory`). By Netty, the answer to SASL may overtake
/// the one that opens the session, which then takes several attempts.
///
/// Every reconnect costs one read for each watch that somebody waits for: a server may lose what changes before it knows the
/// user again, and tell nobody. Until that read is answered, a read of the holder's own may show a change of which its watch
/// tells later.
///
/// A server that was not set up for SASL takes the client all the same, as nobody in particular. What only that user may
/// do is denied then: give what you create an [`Acl`] that asks for it.
#[cfg(feature = "client-sasl")]
#[derive(Clone, PartialEq, Eq)]
pub struct Sasl {
    user: String,
    password: String,
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
