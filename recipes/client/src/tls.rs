//! TLS with servers, by rustls: certificates that can be replaced while sessions use them.
//!
//! 1. A session's connections begin with the certificates of that time; what was made of them is kept until they change.
//! 2. Certificates are looked at when they are given, so that bad ones are refused, and the former stay.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer, ServerName};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::crypto::{CryptoProvider, aws_lc_rs};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use zk_recipes::zk::{Error, ErrorKind};

/// TLS certificates: trusted authorities and the client's own.
///
/// The host of the connect string must be in the server's certificate; that check has no option.
///
/// A refused certificate, on either side, makes a server count as unreachable.
///
/// Clones share their certificates: [`replace`](Self::replace) gives new ones to all of them, and to the sessions that were
/// opened with them.
#[derive(Clone)]
pub struct Tls(Arc<Mutex<Arc<Certificates>>>);

/// In PEM.
#[derive(Clone, PartialEq, Eq)]
struct Certificates {
    authorities: String,
    identity: Option<(String, String)>,
}

impl Tls {
    /// Trusts server certificates signed by one of these authorities: certificates in PEM, and optional revocation lists.
    pub fn trusting(authorities: impl Into<String>) -> Tls {
        Tls::of(Certificates { authorities: authorities.into(), identity: None })
    }

    /// Presents a client certificate to servers that ask for one (`ssl.clientAuth`): certificate and private key in PEM. Clones
    /// that were made before are left as they are.
    pub fn with_identity(self, certificate: impl Into<String>, key: impl Into<String>) -> Tls {
        let mut certificates = Certificates::clone(&self.current());
        certificates.identity = Some((certificate.into(), key.into()));
        Tls::of(certificates)
    }

    /// Replaces the certificates of this value and its clones, authorities and identity, by those of another one: for
    /// certificates that are about to expire.
    ///
    /// Sessions that were opened with a clone use them from their next connection on; connections go on with the former.
    ///
    /// # Errors
    ///
    /// [`Error::is_bad_input`] for invalid certificates or keys: the former stay.
    pub fn replace(&self, by: &Tls) -> Result<(), Error> {
        let certificates = by.current();
        connector(&certificates)?;
        *locked(&self.0) = certificates;
        Ok(())
    }

    fn of(certificates: Certificates) -> Tls {
        Tls(Arc::new(Mutex::new(Arc::new(certificates))))
    }

    fn current(&self) -> Arc<Certificates> {
        locked(&self.0).clone()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic between two related writes is impossible: there is one.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PartialEq for Tls {
    fn eq(&self, other: &Tls) -> bool {
        self.current() == other.current()
    }
}

impl Eq for Tls {}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls")
            .field("has_identity", &self.current().identity.is_some())
            .finish_non_exhaustive()
    }
}

/// Starts TLS on a connection.
pub(super) struct Connector {
    tls: Tls,
    /// Of which certificates, and what was made of them.
    made: Mutex<(Arc<Certificates>, TlsConnector)>,
}

impl Connector {
    /// # Errors
    ///
    /// [`Error::is_bad_input`] for invalid certificates or keys.
    pub(super) fn new(tls: Tls) -> Result<Connector, Error> {
        let certificates = tls.current();
        let made = connector(&certificates)?;
        Ok(Connector { tls, made: Mutex::new((certificates, made)) })
    }

    /// Step 1.
    fn current(&self) -> TlsConnector {
        let certificates = self.tls.current();
        let mut made = locked(&self.made);
        // Certificates were looked at when they were given; nothing but the process's provider of cryptography can have changed.
        if !Arc::ptr_eq(&made.0, &certificates)
            && let Ok(connector) = connector(&certificates)
        {
            *made = (certificates, connector);
        }
        made.1.clone()
    }

    pub(super) async fn connect(&self, host: &str, tcp: TcpStream) -> std::io::Result<TlsStream<TcpStream>> {
        let name = ServerName::try_from(host.to_owned()).map_err(std::io::Error::other)?;
        self.current().connect(name, tcp).await
    }
}

/// Step 2.
fn connector(tls: &Certificates) -> Result<TlsConnector, Error> {
    let bad = |what: &str, why: String| ErrorKind::BadInput(format!("TLS: no good {what}: {why}")).into();
    let authorities = |why: String| bad("authorities", why);
    let identity = |why: String| bad("identity of ours", why);
    // The process's default provider, if it has one.
    let default = CryptoProvider::get_default().cloned();
    let provider = default.unwrap_or_else(|| Arc::new(aws_lc_rs::default_provider()));

    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(tls.authorities.as_bytes()) {
        let certificate = certificate.map_err(|e| authorities(e.to_string()))?;
        roots.add(certificate).map_err(|e| authorities(e.to_string()))?;
    }
    if roots.is_empty() {
        return Err(authorities("there is no certificate in it".to_owned()));
    }
    let revoked: Vec<_> = CertificateRevocationListDer::pem_slice_iter(tls.authorities.as_bytes())
        .collect::<Result<_, _>>()
        .map_err(|e| authorities(e.to_string()))?;
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone())
        .with_crls(revoked)
        .build()
        .map_err(|e| authorities(e.to_string()))?;
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| bad("provider of cryptography", e.to_string()))?
        .with_webpki_verifier(verifier);
    let config = match &tls.identity {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => {
            let chain: Vec<_> = CertificateDer::pem_slice_iter(certificate.as_bytes())
                .collect::<Result<_, _>>()
                .map_err(|e| identity(e.to_string()))?;
            let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(|e| identity(e.to_string()))?;
            builder.with_client_auth_cert(chain, key).map_err(|e| identity(e.to_string()))?
        }
    };
    Ok(TlsConnector::from(Arc::new(config)))
}
