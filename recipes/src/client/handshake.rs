//! How a connection begins.
//!
//! 1. Open a TCP connection; speak TLS, if the server does.
//! 2. Ask for the session, or for a new one (`ConnectRequest`).
//! 3. Prove who we are by SASL, if the options say so.
//! 4. Tell the credentials, and wait until the server has accepted them.
//!
//! Only then does the session machine hear that it is connected. So no request and no watch reaches a server that does not know
//! who asks: it would refuse the one, and may drop the events of the other (ZOOKEEPER-4799).

use std::net::IpAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::address::Address;
use super::core::{Hello, Shared};
use super::link::Stream;
use super::options::Credentials;
#[cfg(feature = "client-sasl")]
use super::options::Sasl;
use super::request::{Real, header};
use crate::session::Incoming;
use crate::wire::jute::{In, Out};
use crate::wire::number;
use crate::zk::{Code, SessionId};

/// All that is needed to begin a connection.
pub(super) struct Handshake {
    pub(super) servers: Vec<Address>,
    pub(super) credentials: Vec<Credentials>,
    #[cfg(feature = "client-tls")]
    pub(super) tls: Option<super::tls::Connector>,
    #[cfg(feature = "client-sasl")]
    pub(super) sasl: Option<Sasl>,
}

/// Why there is no connection.
pub(super) enum Failed {
    /// It cannot be reached, is none of ours, only reads, or hung up.
    Lost,
    /// It does not accept who we say that we are.
    Refused,
}

impl From<std::io::Error> for Failed {
    fn from(_: std::io::Error) -> Failed {
        Failed::Lost
    }
}

/// The longest answer before a session is there.
const MAX_BYTES: i32 = 64 * 1024;

impl Handshake {
    /// A connection with that server, and what it said of the session.
    pub(super) async fn open(
        &self,
        server: u8,
        shared: &Shared,
    ) -> Result<(Box<dyn Stream>, Incoming<Real>), Failed> {
        let hello = shared.lock().hello.take().ok_or(Failed::Lost)?;
        let mut stream = self.connect(&self.servers[usize::from(server)]).await?;
        let welcome = ask_for_session(&mut stream, &hello).await?;
        // What follows is of use only for a session that is there.
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
        // A name is looked up for each attempt: what it stands for may have moved.
        let tcp = match server.host.parse::<IpAddr>() {
            Ok(ip) => TcpStream::connect((ip, server.port)).await?,
            Err(_) => TcpStream::connect((server.host.as_str(), server.port)).await?,
        };
        tcp.set_nodelay(true)?;
        #[cfg(feature = "client-tls")]
        if let Some(tls) = self.tls.as_ref().filter(|_| server.secure != Some(false)) {
            return Ok(Box::new(tls.connect(&server.host, tcp).await?));
        }
        Ok(Box::new(tcp))
    }
}

/// Step 2.
async fn ask_for_session(stream: &mut Box<dyn Stream>, hello: &Hello) -> Result<Incoming<Real>, Failed> {
    let mut out = Out::default();
    let timeout = i32::try_from(hello.timeout / 1000).unwrap_or(i32::MAX);
    out.int(0).long(hello.last_zxid).int(timeout).long(hello.session.0);
    // A server that only reads would not do.
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
