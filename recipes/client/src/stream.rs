//! The bytes of a connection before its session is established: frames there and back.

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::failed::Failed;
use super::tls_port::is_record;
use zk_protocol::wire::frame;
use zk_protocol::wire::jute::In;
use zk_recipes::zk::{Code, ConnectFailureKind as Kind};

/// A connection, plain or by TLS.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// The longest reply before a session is established.
const MAX_BYTES: i32 = 64 * 1024;

/// Sends a frame.
pub(super) async fn send(stream: &mut Box<dyn Stream>, frame: &[u8]) -> Result<(), Failed> {
    stream.write_all(&frame::of(frame)).await?;
    Ok(stream.flush().await?)
}

/// The body of an answer.
pub(super) async fn answer(stream: &mut Box<dyn Stream>) -> Result<Vec<u8>, Failed> {
    let frame = read(stream).await?;
    let mut from = In::new(&frame);
    let header = (|| Some((from.int()?, from.long()?, from.int()?)))();
    let Some((_xid, _zxid, error)) = header else {
        return Err(Failed::not_zookeeper("the server's answer is none of ZooKeeper's"));
    };
    let refusals = [Code::AuthFailed, Code::SessionClosedRequireSaslAuth];
    match error {
        0 => Ok(from.rest().to_vec()),
        error if refusals.iter().any(|code| code.number() == error) => {
            Err(Failed::refused("the server refused the credentials"))
        }
        error => Err(Failed::new(Kind::NotServing, format!("the server answered with error {error}"))),
    }
}

/// The next frame. Its room grows with what arrives, so that an announcement alone takes no memory.
pub(super) async fn read(stream: &mut Box<dyn Stream>) -> Result<Vec<u8>, Failed> {
    let length = stream.read_i32().await?;
    match length.to_be_bytes() {
        [first, second, ..] if is_record([first, second]) => return Err(expects_tls()),
        _ if (0..=MAX_BYTES).contains(&length) => {}
        bytes => {
            let text = String::from_utf8_lossy(&bytes).escape_debug().to_string();
            let message = format!("the answer begins with {text:?}, which is none of ZooKeeper's");
            return Err(Failed::not_zookeeper(message));
        }
    }
    let mut frame = Vec::new();
    let length = u64::try_from(length).unwrap_or_default();
    let read = AsyncReadExt::take(&mut *stream, length).read_to_end(&mut frame).await?;
    if read as u64 != length {
        return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into());
    }
    Ok(frame)
}

pub(super) fn expects_tls() -> Failed {
    Failed::lasting(Kind::Tls, "the server speaks TLS at this port, and the client does not")
}
