//! The handshake of a connection.
//!
//! 1. Open a TCP connection; speak TLS, if the server does.
//! 2. Ask for the session, or for a new one (`ConnectRequest`).
//! 3. Authenticate by SASL, if the options say so.
//! 4. Send the credentials, and wait until the server has accepted them.
//!
//! Only then is the session machine notified. So no request and no watch reaches a server that does not know the client: it
//! would refuse requests, and may drop the events of watches (ZOOKEEPER-4799).

use std::net::{IpAddr, SocketAddr};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::address::Address;
use super::core::{Hello, Shared};
use super::link::Stream;
use super::options::Credentials;
#[cfg(feature = "client-sasl")]
use super::options::Sasl;
use super::request::{Real, header};
use super::session::shuffle;
use crate::session::Incoming;
use crate::wire::jute::{In, Out};
use crate::wire::number;
use crate::zk::{Code, SessionId};

/// The parameters of a handshake.
pub(super) struct Handshake {
    pub(super) servers: Vec<Address>,
    pub(super) credentials: Vec<Credentials>,
    #[cfg(feature = "client-tls")]
    pub(super) tls: Option<super::tls::Connector>,
    #[cfg(feature = "client-sasl")]
    pub(super) sasl: Option<Sasl>,
}

/// The reason why a handshake failed.
pub(super) enum Failed {
    /// Unreachable, not ZooKeeper, read-only, or hung up.
    Lost,
    /// The server refused the credentials.
    Refused,
}

impl From<std::io::Error> for Failed {
    fn from(_: std::io::Error) -> Failed {
        Failed::Lost
    }
}

/// The longest reply before a session is established.
const MAX_BYTES: i32 = 64 * 1024;

impl Handshake {
    /// Connects to a server; returns the connection and the server's reply about the session.
    pub(super) async fn open(
        &self,
        server: u8,
        shared: &Shared,
    ) -> Result<(Box<dyn Stream>, Incoming<Real>), Failed> {
        let hello = shared.lock().hello.take().ok_or(Failed::Lost)?;
        let stream = self.connect(&self.servers[usize::from(server)]).await?;
        self.greet(stream, &hello).await
    }

    /// Steps 2 to 4, on an open connection.
    pub(super) async fn greet(
        &self,
        mut stream: Box<dyn Stream>,
        hello: &Hello,
    ) -> Result<(Box<dyn Stream>, Incoming<Real>), Failed> {
        let welcome = ask_for_session(&mut stream, hello).await?;
        // The rest needs an accepted session.
        if !matches!(welcome, Incoming::Connected { timeout: 0, .. }) {
            #[cfg(feature = "client-sasl")]
            if let Some(sasl) = &self.sasl {
                super::sasl::prove(&mut stream, sasl).await?;
            }
            for credentials in &self.credentials {
                tell(&mut stream, credentials).await?;
            }
        }
        Ok((stream, welcome))
    }

    /// Step 1.
    async fn connect(&self, server: &Address) -> Result<Box<dyn Stream>, Failed> {
        let tcp = match server.host.parse::<IpAddr>() {
            Ok(ip) => TcpStream::connect((ip, server.port)).await?,
            // A name is resolved for each attempt: its addresses may have changed.
            Err(_) => {
                let found = tokio::net::lookup_host((server.host.as_str(), server.port)).await?;
                dial(found.collect()).await?
            }
        };
        tcp.set_nodelay(true)?;
        #[cfg(feature = "client-tls")]
        if let Some(tls) = self.tls.as_ref().filter(|_| server.secure != Some(false)) {
            return Ok(Box::new(tls.connect(&server.host, tcp).await?));
        }
        Ok(Box::new(tcp))
    }
}

/// Connects to one of the addresses of a name, in random order, as the Java client does (`StaticHostProvider`). An attempt
/// ends with the first address that does not answer; the next attempt begins with another one.
async fn dial(mut addresses: Vec<SocketAddr>) -> std::io::Result<TcpStream> {
    shuffle(&mut addresses);
    TcpStream::connect(&addresses[..]).await
}

/// Step 2.
async fn ask_for_session(stream: &mut Box<dyn Stream>, hello: &Hello) -> Result<Incoming<Real>, Failed> {
    let mut out = Out::default();
    let timeout = i32::try_from(hello.timeout / 1000).unwrap_or(i32::MAX);
    out.int(0).long(hello.last_zxid).int(timeout).long(hello.session.0);
    // A read-only server is not used.
    out.buffer(Some(&hello.password)).bool(false);
    send(stream, out.as_bytes()).await?;
    let answer = read(stream).await?;
    let mut from = In::new(&answer);
    let said = (|| {
        let (_protocol, timeout, session) = (from.int()?, from.int()?, SessionId(from.long()?));
        let password = from.buffer()?.unwrap_or_default().try_into().unwrap_or_default();
        let timeout = u64::try_from(timeout).unwrap_or(0) * 1000;
        let only_reads = from.bool().unwrap_or(false);
        Some((Incoming::Connected { session, timeout, password }, only_reads))
    })();
    match said {
        Some((welcome, false)) => Ok(welcome),
        _ => Err(Failed::Lost),
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

/// Sends a frame.
pub(super) async fn send(stream: &mut Box<dyn Stream>, frame: &[u8]) -> Result<(), Failed> {
    let mut all = Vec::with_capacity(frame.len() + 4);
    header(&mut all, frame.len());
    all.extend(frame);
    stream.write_all(&all).await?;
    Ok(stream.flush().await?)
}

/// The body of an answer.
pub(super) async fn answer(stream: &mut Box<dyn Stream>) -> Result<Vec<u8>, Failed> {
    let frame = read(stream).await?;
    let mut from = In::new(&frame);
    let header = (|| Some((from.int()?, from.long()?, from.int()?)))();
    let (_xid, _zxid, error) = header.ok_or(Failed::Lost)?;
    match error {
        0 => Ok(from.rest().to_vec()),
        error if error == Code::AuthFailed.number() => Err(Failed::Refused),
        error if error == Code::SessionClosedRequireSaslAuth.number() => Err(Failed::Refused),
        _ => Err(Failed::Lost),
    }
}

/// The next frame.
async fn read(stream: &mut Box<dyn Stream>) -> Result<Vec<u8>, Failed> {
    let length = stream.read_i32().await?;
    if !(0..=MAX_BYTES).contains(&length) {
        return Err(Failed::Lost);
    }
    let mut frame = vec![0; usize::try_from(length).unwrap_or_default()];
    stream.read_exact(&mut frame).await?;
    Ok(frame)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::net::TcpListener;

    #[test]
    fn every_address_of_a_name_is_the_first_before_long() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("it starts");
        let listeners = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").expect("there is a free port"));
        let addresses = listeners.each_ref().map(|listener| listener.local_addr().expect("it is bound"));
        let dialed = || runtime.block_on(dial(addresses.to_vec())).expect("they all listen").peer_addr();
        let first: BTreeSet<_> = (0..100).map(|_| dialed().expect("it is connected")).collect();
        assert_eq!(
            first,
            BTreeSet::from(addresses),
            "an address that takes connections and is mute may be any of them"
        );
    }

    #[test]
    fn an_address_at_which_nobody_listens_is_passed_over() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("it starts");
        let listens = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        // Bound all the while, so that nobody else comes to listen there.
        let bound = tokio::net::TcpSocket::new_v4().expect("a socket can be had");
        bound.bind((std::net::Ipv4Addr::LOCALHOST, 0).into()).expect("there is a free port");
        let gone = bound.local_addr().expect("it is bound");
        let live = listens.local_addr().expect("it is bound");
        for _ in 0..20 {
            let dialed = runtime.block_on(dial(vec![gone, live])).expect("one of them listens");
            assert_eq!(dialed.peer_addr().expect("it is connected"), live);
        }
    }
}
