//! TLS with servers, by rustls.

use std::sync::Arc;

use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer, ServerName};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::crypto::{CryptoProvider, aws_lc_rs};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::options::Tls;
use crate::zk::Error;

/// Starts TLS on a connection.
pub(super) struct Connector(TlsConnector);

impl Connector {
    /// # Errors
    ///
    /// [`Error::BadInput`] for invalid certificates or keys.
    pub(super) fn new(tls: &Tls) -> Result<Connector, Error> {
        let bad = |what: &str, why: String| Error::BadInput(format!("TLS: no good {what}: {why}"));
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
                let key =
                    PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(|e| identity(e.to_string()))?;
                builder.with_client_auth_cert(chain, key).map_err(|e| identity(e.to_string()))?
            }
        };
        Ok(Connector(TlsConnector::from(Arc::new(config))))
    }

    pub(super) async fn connect(&self, host: &str, tcp: TcpStream) -> std::io::Result<TlsStream<TcpStream>> {
        let name = ServerName::try_from(host.to_owned()).map_err(std::io::Error::other)?;
        self.0.connect(name, tcp).await
    }
}
