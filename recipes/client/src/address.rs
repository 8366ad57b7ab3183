//! Connect strings: servers, their transport, and the chroot.

use super::request::Root;
use zk_recipes::zk::{Error, ErrorKind, path};

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
    #[cfg(feature = "tls")]
    pub(super) fn can_have_certificate(&self) -> bool {
        self.secure == Some(false) || rustls_pki_types::ServerName::try_from(self.host.as_str()).is_ok()
    }

    fn parse(text: &str) -> Result<Address, Error> {
        let (secure, rest) = match (text.strip_prefix(SECURE), text.strip_prefix(PLAIN)) {
            (Some(rest), _) => (Some(true), rest),
            (_, Some(rest)) => (Some(false), rest),
            _ => (None, text),
        };
        let bad = |why: &str| ErrorKind::BadInput(format!("connect string: {text:?} {why}")).into();
        let (host, behind) = match rest.strip_prefix('[') {
            Some(inner) => inner.split_once(']').ok_or_else(|| bad("has no ']'"))?,
            None if rest.matches(':').count() > 1 => {
                return Err(bad("has several colons: write an IPv6 address as [address]:port"));
            }
            None => rest.split_at(rest.find(':').unwrap_or(rest.len())),
        };
        if host.is_empty() {
            return Err(bad("names no host"));
        }
        if host.contains(char::is_whitespace) {
            return Err(bad("has a blank in the name of its host"));
        }
        let port = match behind.strip_prefix(':') {
            None if behind.is_empty() => PORT,
            None => return Err(bad("has something between ']' and its end that is no ':port'")),
            Some(port) => parse_port(port).ok_or_else(|| bad("has no good port"))?,
        };
        Ok(Address { host: host.to_owned(), port, secure })
    }
}

/// A port other than 0, in digits alone.
fn parse_port(text: &str) -> Option<u16> {
    let has_digits_only = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|port| has_digits_only && *port != 0)
}

/// Where the chroot begins: at the first slash that is not in the mark of a server.
fn root_at(connect_string: &str) -> Option<usize> {
    let mut server = 0;
    loop {
        let rest = &connect_string[server..];
        let text = rest.trim_start();
        let mark = [SECURE, PLAIN].into_iter().find(|mark| text.starts_with(mark)).map_or(0, str::len);
        let from = server + rest.len() - text.len() + mark;
        let next = connect_string[from..].find([',', '/'])? + from;
        if connect_string[next..].starts_with('/') {
            return Some(next);
        }
        server = next + 1;
    }
}

/// Parses a connect string: `host:port`, several of them separated by commas, and a path at the end. As for other clients,
/// blanks around a server and commas too many do no harm.
///
/// # Errors
///
/// [`Error::is_bad_input`] with the invalid part.
pub(super) fn parse(connect_string: &str) -> Result<(Vec<Address>, Root), Error> {
    let (servers, root) = connect_string.split_at(root_at(connect_string).unwrap_or(connect_string.len()));
    // A slash alone is the root, as for the Java client.
    let root = if root == "/" { "" } else { root };
    if !root.is_empty() {
        path::validate(root)?;
    }
    let servers = servers.split(',').map(str::trim).filter(|server| !server.is_empty());
    let servers: Vec<Address> = servers.map(Address::parse).collect::<Result<_, _>>()?;
    if servers.is_empty() {
        return Err(ErrorKind::BadInput(format!("connect string: {connect_string:?} names no host")).into());
    }
    if servers.len() > usize::from(u8::MAX) {
        return Err(ErrorKind::BadInput(format!(
            "connect string: {} servers; 255 are the most",
            servers.len()
        ))
        .into());
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
                format!("{:?} {:?}", servers.into_iter().map(told).collect::<Vec<_>>(), root.path)
            }
            Err(e) => e.to_string(),
        }
    }

    #[test]
    fn servers_and_a_path() {
        assert_eq!(told("zk1:2182,zk2"), r#"["zk1 2182", "zk2 2181"] """#);
        assert_eq!(told("[::1]:99,10.0.0.1/app/x"), r#"["::1 99", "10.0.0.1 2181"] "/app/x""#);
        assert_eq!(told("a/"), r#"["a 2181"] """#);
        assert_eq!(told("tcp://a:1,tcp+tls://b/app"), r#"["-a 1", "+b 2181"] "/app""#);
        assert_eq!(told("tcp://a:1/b,c/tcp://d"), r#"bad input: path "/b,c/tcp://d" has an empty component"#);
        assert_eq!(told("a,b/c,d"), r#"["a 2181", "b 2181"] "/c,d""#);
    }

    #[test]
    fn blanks_around_servers_and_commas_too_many_do_no_harm() {
        let two = r#"["a 1", "b 2181"] """#;
        for text in ["a:1,b,", " a:1 , b ", ",a:1,,b", "a:1,\tb\n", "a:1, b ,/"] {
            assert_eq!(told(text), two, "{text:?}");
        }
        assert_eq!(told(" tcp://a:1 , tcp+tls://[::1] /x y"), r#"["-a 1", "+::1 2181"] "/x y""#);
        assert_eq!(told("a:1, /app"), r#"["a 1"] "/app""#);
    }

    #[test]
    fn what_is_no_connect_string_is_refused_in_one_sentence() {
        assert_eq!(told(""), r#"bad input: connect string: "" names no host"#);
        assert_eq!(told("a:0"), r#"bad input: connect string: "a:0" has no good port"#);
        assert_eq!(told("a:b"), r#"bad input: connect string: "a:b" has no good port"#);
        assert_eq!(told(" ,"), r#"bad input: connect string: " ," names no host"#);
        assert_eq!(told("/app"), r#"bad input: connect string: "/app" names no host"#);
        assert_eq!(told(":2181"), r#"bad input: connect string: ":2181" names no host"#);
        assert_eq!(
            told("a b:1"),
            r#"bad input: connect string: "a b:1" has a blank in the name of its host"#
        );
        assert_eq!(told("a:"), r#"bad input: connect string: "a:" has no good port"#);
        assert_eq!(told("a:+1"), r#"bad input: connect string: "a:+1" has no good port"#);
        assert_eq!(
            told("[::1]2182"),
            r#"bad input: connect string: "[::1]2182" has something between ']' and its end that is no ':port'"#
        );
        assert_eq!(told("[::1"), r#"bad input: connect string: "[::1" has no ']'"#);
        assert_eq!(
            told("::1"),
            r#"bad input: connect string: "::1" has several colons: write an IPv6 address as [address]:port"#
        );
        assert_eq!(told("a:1/b/"), r#"bad input: path "/b/" ends in '/'"#);
        assert_eq!(told("a/b//c"), r#"bad input: path "/b//c" has an empty component"#);
    }
}
