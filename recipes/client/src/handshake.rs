//! The handshake of a connection.
//!
//! 1. Resolve the server's name; open a TCP connection; speak TLS, if the server does.
//! 2. Ask for the session, or for a new one (`ConnectRequest`).
//! 3. Authenticate by SASL, if the options say so.
//! 4. Send the credentials, and wait until the server has accepted them.
//!
//! Only then is the session machine notified. So no request and no watch reaches a server that does not know the client: it
//! would refuse requests, and may drop the events of watches (ZOOKEEPER-4799).

use std::net::SocketAddr;
use std::pin::Pin;
use std::task::Context;

use futures_util::task::noop_waker_ref;
use tokio::io::AsyncWrite;
use tokio::net::TcpStream;

use super::address::Address;
use super::core::{Hello, shuffle};
use super::failed::{Failed, Stage};
#[cfg(feature = "sasl")]
use super::options::Sasl;
use super::options::{Credentials, Options};
use super::request::Real;
use super::stream::{Stream, answer, expects_tls, read, send};
use super::tls_port::speaks_tls;
use zk_protocol::session::{Incoming, Password};
use zk_protocol::wire::jute::{In, Out};
use zk_protocol::wire::{frame, number};
use zk_recipes::zk::{ConnectFailureKind as Kind, Error, SessionId, Time};

/// The parameters of a handshake.
pub(super) struct Handshake {
    pub(super) servers: Vec<Address>,
    pub(super) credentials: Vec<Credentials>,
    #[cfg(feature = "tls")]
    pub(super) tls: Option<super::tls::Connector>,
    #[cfg(feature = "sasl")]
    pub(super) sasl: Option<Sasl>,
}

/// What the client waits for when a server hangs up on it.
const ASKING: &str =
    "instead of accepting the session: it does not serve yet, or has not seen what this session has seen";
const AUTHENTICATING: &str = "while it checked the credentials";

/// An accepted connection.
pub(super) struct Opened {
    pub(super) stream: Box<dyn Stream>,
    pub(super) welcome: Incoming<Real>,
    /// When the session was asked for: the lease counts from here.
    pub(super) asked_at: Time,
    pub(super) server: usize,
    pub(super) peer: Option<SocketAddr>,
}

impl Handshake {
    /// # Errors
    ///
    /// [`Error::is_bad_input`] for options that can never work with these servers.
    pub(super) fn new(servers: Vec<Address>, options: &Options) -> Result<Handshake, Error> {
        options.can_work(&servers)?;
        Ok(Handshake {
            servers,
            credentials: options.credentials.clone(),
            #[cfg(feature = "tls")]
            tls: options.tls.clone().map(super::tls::Connector::new).transpose()?,
            #[cfg(feature = "sasl")]
            sasl: options.sasl.clone(),
        })
    }

    /// Resolves a name. That is done for each attempt: its addresses may have changed.
    pub(super) async fn resolve(&self, server: &Address) -> Result<Vec<SocketAddr>, Failed> {
        let found = tokio::net::lookup_host((server.host.as_str(), server.port)).await;
        let addresses = in_dialing_order(found.map_err(|e| Failed::to_resolve(&e))?.collect());
        match addresses.is_empty() {
            true => Err(Failed::lasting(Kind::UnknownHost, "the name has no address")),
            false => Ok(addresses),
        }
    }

    /// Step 1. `at` is called at the beginning of each stage but the first.
    pub(super) async fn connect(
        &self,
        server: &Address,
        peer: SocketAddr,
        at: impl Fn(Stage),
    ) -> Result<Box<dyn Stream>, Failed> {
        let tcp = TcpStream::connect(peer).await.map_err(|e| Failed::to_dial(&e))?;
        tcp.set_nodelay(true)?;
        #[cfg(feature = "tls")]
        if let Some(tls) = self.tls.as_ref().filter(|_| self.is_secure(server)) {
            at(Stage::Secure);
            let secure = tls.connect(&server.host, tcp).await.map_err(|e| Failed::to_secure(&e))?;
            at(Stage::Line);
            return Ok(Box::new(secure));
        }
        #[cfg(not(feature = "tls"))]
        let _ = server;
        at(Stage::Line);
        Ok(Box::new(tcp))
    }

    /// Whether the connection with that server is by TLS.
    fn is_secure(&self, server: &Address) -> bool {
        #[cfg(feature = "tls")]
        let has_tls = self.tls.is_some();
        #[cfg(not(feature = "tls"))]
        let has_tls = false;
        has_tls && server.secure != Some(false)
    }

    /// A server hangs up if it does not serve yet, and if it expects TLS. Looks at the difference, for a new session: one
    /// that exists has been served without TLS.
    pub(super) async fn explain(
        &self,
        why: Failed,
        server: &Address,
        peer: Option<SocketAddr>,
        hello: &Hello,
    ) -> Failed {
        let Some(peer) = peer else { return why };
        let may_expect_tls = why.kind == Kind::NotServing && hello.session == SessionId(0);
        match may_expect_tls && !self.is_secure(server) && speaks_tls(peer).await {
            true => expects_tls(),
            false => why,
        }
    }

    /// Steps 2 to 4, on an open connection.
    pub(super) async fn greet(
        &self,
        stream: Box<dyn Stream>,
        hello: &Hello,
    ) -> Result<(Box<dyn Stream>, Incoming<Real>), Failed> {
        let mut asking = Asking { stream: Some(stream), is_new: hello.session == SessionId(0) };
        let welcome = self.is_accepted(asking.stream.as_mut().expect("it was put there"), hello).await;
        // Answered: nothing is left behind.
        asking.is_new = false;
        let stream = asking.stream.take().expect("it was put there");
        Ok((stream, welcome?))
    }

    async fn is_accepted(
        &self,
        stream: &mut Box<dyn Stream>,
        hello: &Hello,
    ) -> Result<Incoming<Real>, Failed> {
        let welcome = ask_for_session(stream, hello).await?;
        // The rest needs an accepted session.
        if !matches!(welcome, Incoming::Connected { timeout: 0, .. }) {
            #[cfg(feature = "sasl")]
            if let Some(sasl) = &self.sasl {
                super::sasl::prove(stream, sasl).await.map_err(|why| why.during(AUTHENTICATING))?;
            }
            for credentials in &self.credentials {
                tell(stream, credentials).await.map_err(|why| why.during(AUTHENTICATING))?;
            }
        }
        Ok(welcome)
    }
}

/// The addresses of a name in random order, as the Java client tries them (`StaticHostProvider`); those of the two families take
/// turns (RFC 8305, section 4).
fn in_dialing_order(mut addresses: Vec<SocketAddr>) -> Vec<SocketAddr> {
    shuffle(&mut addresses);
    let starts_with_v6 = addresses.first().is_some_and(SocketAddr::is_ipv6);
    let (one, other): (Vec<_>, Vec<_>) =
        addresses.into_iter().partition(|address| address.is_ipv6() == starts_with_v6);
    let (mut one, mut other) = (one.into_iter(), other.into_iter());
    let mut all = Vec::new();
    loop {
        let (first, second) = (one.next(), other.next());
        if first.is_none() && second.is_none() {
            return all;
        }
        all.extend(first.into_iter().chain(second));
    }
}

/// A connection that has asked for a session. If it is given up before the answer, a new session must not stay behind at the
/// server until it expires.
struct Asking {
    stream: Option<Box<dyn Stream>>,
    is_new: bool,
}

impl Drop for Asking {
    fn drop(&mut self) {
        let Some(stream) = self.stream.as_mut().filter(|_| self.is_new) else { return };
        let frame = frame::of(Out::default().int(1).int(number::CLOSE_SESSION).as_bytes());
        // As far as it goes without waiting.
        let mut context = Context::from_waker(noop_waker_ref());
        if Pin::new(&mut *stream).poll_write(&mut context, &frame).is_ready() {
            let _ = Pin::new(stream).poll_flush(&mut context);
        }
    }
}

/// Step 2.
async fn ask_for_session(stream: &mut Box<dyn Stream>, hello: &Hello) -> Result<Incoming<Real>, Failed> {
    let mut out = Out::default();
    let timeout = i32::try_from(hello.timeout / 1000).unwrap_or(i32::MAX);
    out.int(0).long(hello.last_zxid).int(timeout).long(hello.session.0);
    // A read-only server is not used.
    out.buffer(Some(&hello.password)).bool(false);
    let answer = async {
        send(stream, out.as_bytes()).await?;
        read(stream).await
    };
    welcome(
        &answer.await.map_err(|why| if why.kind == Kind::NotServing { why.during(ASKING) } else { why })?,
        hello,
    )
}

/// Reads the answer to the request for a session.
fn welcome(answer: &[u8], hello: &Hello) -> Result<Incoming<Real>, Failed> {
    let mut from = In::new(answer);
    let said = (|| {
        let (_protocol, timeout, session) = (from.int()?, from.int()?, SessionId(from.long()?));
        let password: Password = from.buffer()??.try_into().ok()?;
        Some((timeout, session, password, from.bool().unwrap_or(false)))
    })();
    let Some((timeout, session, password, only_reads)) = said else {
        return Err(Failed::not_zookeeper("the answer to the request for a session is none of ZooKeeper's"));
    };
    let is_new = hello.session == SessionId(0);
    match u64::try_from(timeout).map(|millis| millis * 1000) {
        // Only a session that exists can have expired.
        Ok(0) if !is_new => Ok(Incoming::Connected { session, timeout: 0, password }),
        Ok(0) | Err(_) => {
            let message =
                format!("the server granted a session timeout of {timeout} ms, which no ZooKeeper does");
            Err(Failed::not_zookeeper(message))
        }
        Ok(_) if only_reads => {
            Err(Failed::new(Kind::ReadOnly, "the server has lost its quorum and only serves reads"))
        }
        Ok(timeout) => Ok(Incoming::Connected { session, timeout, password }),
    }
}

/// Step 4.
async fn tell(stream: &mut Box<dyn Stream>, credentials: &Credentials) -> Result<(), Failed> {
    let mut out = Out::default();
    out.int(number::AUTH_XID).int(number::AUTH).int(0);
    out.text(&credentials.scheme).buffer(Some(&credentials.secret));
    send(stream, out.as_bytes()).await?;
    answer(stream).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_address_of_a_name_is_the_first_before_long() {
        let addresses: Vec<SocketAddr> = (1..4).map(|last| ([10, 0, 0, last], 2181).into()).collect();
        let first: BTreeSet<_> = (0..200).map(|_| in_dialing_order(addresses.clone())[0]).collect();
        assert_eq!(
            first,
            BTreeSet::from_iter(addresses),
            "an address that takes connections and is mute may be any of them"
        );
    }

    #[test]
    fn addresses_of_both_families_take_turns() {
        let v4 = (1..4).map(|last| SocketAddr::from(([10, 0, 0, last], 2181)));
        let v6 = (1..3).map(|last| SocketAddr::from(([0, 0, 0, 0, 0, 0, 0, last], 2181)));
        let all: Vec<_> = v4.chain(v6).collect();
        for _ in 0..50 {
            let ordered = in_dialing_order(all.clone());
            assert_eq!(BTreeSet::from_iter(&ordered), BTreeSet::from_iter(&all));
            let families: Vec<_> = ordered[..4].iter().map(SocketAddr::is_ipv6).collect();
            assert!(families.windows(2).all(|two| two[0] != two[1]), "{ordered:?}");
        }
    }
}
