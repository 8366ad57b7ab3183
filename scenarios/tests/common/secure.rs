//! A real server that speaks TLS and wants to see certificates, and one that knows a user by SASL.

use crate::common::{refusing, server_with};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use std::time::Duration;
use tempfile::TempDir;
use zk_client::Tls;
use zk_real::{Server, Settings};

/// The user whom the server knows, and that user's password.
pub const USER: (&str, &str) = ("printer", "ink");

/// Who signs certificates.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pub certificate: String,
}

impl Authority {
    pub fn new(name: &str) -> Authority {
        let mut params = named(name, &[]);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key can be made");
        let certificate = params.self_signed(&key).expect("it can sign for itself").pem();
        Authority { issuer: Issuer::new(params, key), certificate }
    }

    /// A certificate for those addresses, and the key to it.
    pub fn signs(&self, name: &str, addresses: &[&str]) -> (String, String) {
        let key = KeyPair::generate().expect("a key can be made");
        let signed = named(name, addresses).signed_by(&key, &self.issuer).expect("it can be signed");
        (signed.pem(), key.serialize_pem())
    }

    /// The same, and it expired long ago.
    pub fn signs_expired(&self, name: &str, addresses: &[&str]) -> (String, String) {
        let key = KeyPair::generate().expect("a key can be made");
        let mut params = named(name, addresses);
        params.not_after = date_time_ymd(2001, 1, 1);
        let signed = params.signed_by(&key, &self.issuer).expect("it can be signed");
        (signed.pem(), key.serialize_pem())
    }
}

fn named(name: &str, addresses: &[&str]) -> CertificateParams {
    let addresses: Vec<String> = addresses.iter().copied().map(str::to_owned).collect();
    let mut params = CertificateParams::new(addresses).expect("they are addresses");
    params.distinguished_name.push(DnType::CommonName, name);
    params
}

/// The server, and what its clients need.
pub struct Secure {
    pub server: Server,
    pub authority: Authority,
    _folder: TempDir,
    _users: Option<TempDir>,
}

impl Secure {
    /// Starts one whose certificate is for 127.0.0.1; `None` and a word about it where none is installed.
    pub fn start(tick: Duration) -> Option<Secure> {
        Secure::start_with(tick, &[])
    }

    /// The same, of one that knows [`USER`] as well.
    pub fn start_with_user(tick: Duration) -> Option<Secure> {
        let folder = tempfile::tempdir().expect("there is room");
        let started = Secure::start_with(tick, &knows_user(&folder))?;
        Some(Secure { _users: Some(folder), ..started })
    }

    fn start_with(tick: Duration, more: &[String]) -> Option<Secure> {
        let (authority, folder) = (Authority::new("authority"), tempfile::tempdir().expect("there is room"));
        let identity = authority.signs("server", &["127.0.0.1"]);
        // With TLS and without on one port: the four-letter words go without.
        let unified = "zookeeper.client.portUnification=true".to_owned();
        let properties = tls_properties(&folder, &authority, identity);
        let properties: Vec<&str> =
            properties.iter().chain([&unified]).chain(more).map(String::as_str).collect();
        let settings = Settings { properties: &properties, lines: &[] };
        Some(Secure { server: server_with(tick, settings)?, authority, _folder: folder, _users: None })
    }

    /// What its clients need to speak TLS with it.
    pub fn tls(&self) -> Tls {
        let (certificate, key) = self.authority.signs("client", &["127.0.0.1"]);
        Tls::trusting(&self.authority.certificate).with_identity(certificate, key)
    }
}

/// A server with a port for TLS alone, beside the one without.
pub struct SecurePort {
    pub server: Server,
    port: u16,
    _folder: TempDir,
}

impl SecurePort {
    /// Starts one with that certificate and key; `None` and a word about it where none is installed.
    pub fn start(tick: Duration, authority: &Authority, identity: (String, String)) -> Option<SecurePort> {
        let folder = tempfile::tempdir().expect("there is room");
        let properties = tls_properties(&folder, authority, identity);
        let properties: Vec<&str> = properties.iter().map(String::as_str).collect();
        // Given back, so that the server can have it.
        let port = refusing().1.port();
        let line = format!("secureClientPort={port}");
        let server = server_with(tick, Settings { properties: &properties, lines: &[&line] })?;
        Some(SecurePort { server, port, _folder: folder })
    }

    /// Where it speaks TLS.
    pub fn secure_address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
}

/// What makes a server speak TLS, by files in that folder.
fn tls_properties(folder: &TempDir, authority: &Authority, identity: (String, String)) -> [String; 4] {
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file can be written");
        path.display().to_string()
    };
    let (certificate, key) = identity;
    [
        "zookeeper.serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory".to_owned(),
        format!("zookeeper.ssl.keyStore.location={}", file("server.pem", &format!("{key}{certificate}"))),
        format!("zookeeper.ssl.trustStore.location={}", file("authority.pem", &authority.certificate)),
        "zookeeper.authProvider.1=org.apache.zookeeper.server.auth.X509AuthenticationProvider".to_owned(),
    ]
}

/// A server that knows [`USER`].
pub struct KnowsUser {
    pub server: Server,
    _folder: TempDir,
}

impl KnowsUser {
    /// Starts one; `None` and a word about it where none is installed.
    pub fn start(tick: Duration) -> Option<KnowsUser> {
        KnowsUser::start_with(tick, &[])
    }

    /// The same, of one that serves nobody else.
    pub fn start_exclusive(tick: Duration) -> Option<KnowsUser> {
        KnowsUser::start_with(tick, &["zookeeper.sessionRequireClientSASLAuth=true"])
    }

    fn start_with(tick: Duration, more: &[&str]) -> Option<KnowsUser> {
        let folder = tempfile::tempdir().expect("there is room");
        let properties = knows_user(&folder);
        let properties: Vec<&str> =
            properties.iter().map(String::as_str).chain(more.iter().copied()).collect();
        let settings = Settings { properties: &properties, lines: &[] };
        Some(KnowsUser { server: server_with(tick, settings)?, _folder: folder })
    }
}

/// What makes a server know [`USER`], by a file in that folder.
fn knows_user(folder: &TempDir) -> [String; 2] {
    let (path, (user, password)) = (folder.path().join("jaas.conf"), USER);
    let module = "org.apache.zookeeper.server.auth.DigestLoginModule";
    let users = format!("Server {{\n  {module} required\n  user_{user}=\"{password}\";\n}};\n");
    std::fs::write(&path, users).expect("a file can be written");
    [
        "zookeeper.authProvider.2=org.apache.zookeeper.server.auth.SASLAuthenticationProvider".to_owned(),
        format!("java.security.auth.login.config={}", path.display()),
    ]
}
