//! Connect strings: servers, their transport, and the chroot.

use super::request::Root;
use crate::zk::{Error, path};

/// The marks of a server with TLS, and of one without, regardless of the options.
const SECURE: &str = "tcp+tls://";
const PLAIN: &str = "tcp://";

/// The default port.
const PORT: u16 = 2181;

/// One server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    /// A name or an IP address.
    pub(super) host: String,
    pub(super) port: u16,
    /// The transport, if the connect string gives it.
    pub(super) secure: Option<bool>,
}

impl Address {
    /// `host:port`, as an address is written.
    pub(super) fn name(&self) -> String {
        let Address { host, port, .. } = self;
        if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
    }

    /// Whether there can be a certificate for it, or it needs none.
    #[cfg(feature = "client-tls")]
    pub(super) fn can_have_certificate(&self) -> bool {
        self.secure == Some(false) || rustls_pki_types::ServerName::try_from(self.host.as_str()).is_ok()
    }

    fn parse(text: &str) -> Result<Address, Error> {
        let (secure, rest) = match (text.strip_prefix(SECURE), text.strip_prefix(PLAIN)) {
            (Some(rest), _) => (Some(true), rest),
            (_, Some(rest)) => (Some(false), rest),
            _ => (None, text),
        };
        let bad = |why: &str| Error::BadInput(format!("connect string: {text:?} {why}"));
        let (host, port) = match rest.strip_prefix('[') {
            Some(inner) => {
                let (host, port) = inner.split_once(']').ok_or_else(|| bad("has no ']'"))?;
                (host, port.strip_prefix(':'))
            }
            None if rest.matches(':').count() > 1 => {
                return Err(bad("has several colons: write an IPv6 address as [address]:port"));
            }
            None => rest.split_once(':').map_or((rest, None), |(host, port)| (host, Some(port))),
        };
        if host.is_empty() || host.contains(char::is_whitespace) {
            return Err(bad("names no host"));
        }
        let port = match port {
            None => PORT,
            Some(port) => {
                port.parse().ok().filter(|port| *port != 0).ok_or_else(|| bad("has no good port"))?
            }
        };
        Ok(Address { host: host.to_owned(), port, secure })
    }
}

/// Parses a connect string: `host:port`, several of them separated by commas, and a path at the end.
///
/// # Errors
///
/// [`Error::BadInput`] with the invalid part.
pub(super) fn parse(connect_string: &str) -> Result<(Vec<Address>, Root), Error> {
    // The path begins behind the last server, whose mark has slashes of its own.
    let last = connect_string.rfind(',').map_or(0, |at| at + 1);
    let marked = connect_string[last..].find("://").map_or(last, |at| last + at + "://".len());
    let (servers, root) = match connect_string[marked..].find('/') {
        Some(at) => connect_string.split_at(marked + at),
        None => (connect_string, ""),
    };
    // A slash alone is the root, as for the Java client.
    let root = if root == "/" { "" } else { root };
    if !root.is_empty() {
        path::validate(root)?;
    }
    let servers: Vec<Address> = servers.split(',').map(Address::parse).collect::<Result<_, _>>()?;
    if servers.len() > usize::from(u8::MAX) {
        return Err(Error::BadInput(format!("connect string: {} servers; 255 are the most", servers.len())));
    }
    Ok((servers, Root::new(root)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> String {
        let told = |address: Address| {
            let mark = address.secure.map_or("", |secure| if secure { "+" } else { "-" });
            format!("{mark}{} {}", address.host, address.port)
        };
        match parse(text) {
            Ok((servers, root)) => {
                format!("{:?} {root:?}", servers.into_iter().map(told).collect::<Vec<_>>())
            }
            Err(e) => e.to_string(),
        }
    }

    #[test]
    fn servers_and_a_path() {
        assert_eq!(told("zk1:2182,zk2"), r#"["zk1 2182", "zk2 2181"] Root("")"#);
        assert_eq!(told("[::1]:99,10.0.0.1/app/x"), r#"["::1 99", "10.0.0.1 2181"] Root("/app/x")"#);
        assert_eq!(told("a/"), r#"["a 2181"] Root("")"#);
        assert_eq!(told("tcp://a:1,tcp+tls://b/app"), r#"["-a 1", "+b 2181"] Root("/app")"#);
    }

    #[test]
    fn what_is_no_connect_string_is_refused_in_one_sentence() {
        assert_eq!(told(""), r#"bad input: connect string: "" names no host"#);
        assert_eq!(told("a:0"), r#"bad input: connect string: "a:0" has no good port"#);
        assert_eq!(told("a:b"), r#"bad input: connect string: "a:b" has no good port"#);
        assert_eq!(told("a,,b"), r#"bad input: connect string: "" names no host"#);
        assert_eq!(
            told("::1"),
            r#"bad input: connect string: "::1" has several colons: write an IPv6 address as [address]:port"#
        );
        assert_eq!(told("a:1/b/"), r#"bad input: path "/b/" ends in '/'"#);
        assert_eq!(told("a/b//c"), r#"bad input: path "/b//c" has an empty component"#);
    }
}
