//! Whether a port speaks TLS: a server that does hangs up on a client without it, as one that does not serve yet.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The longest wait for an answer.
const LIMIT: Duration = Duration::from_millis(250);

/// Says the beginning of a TLS handshake, on a connection of its own, and looks at the kind of the answer.
pub(super) async fn speaks_tls(peer: SocketAddr) -> bool {
    let asked = async {
        let mut tcp = TcpStream::connect(peer).await?;
        tcp.write_all(&client_hello()).await?;
        let mut head = [0; 2];
        tcp.read_exact(&mut head).await?;
        io::Result::Ok(is_record(head))
    };
    matches!(tokio::time::timeout(LIMIT, asked).await, Ok(Ok(true)))
}

/// Whether these are the type of a TLS record and its major version.
pub(super) fn is_record(head: [u8; 2]) -> bool {
    matches!(head, [0x14..=0x17, 3])
}

/// A `ClientHello` of TLS 1.2 (RFC 5246, section 7.4.1.2) with four usual cipher suites; the answer may be a refusal.
fn client_hello() -> Vec<u8> {
    let mut hello = vec![3, 3];
    hello.extend([0x5a; 32]);
    hello.push(0);
    hello.extend([0, 8, 0xc0, 0x2b, 0xc0, 0x2f, 0x00, 0x9c, 0x00, 0x2f]);
    hello.extend([1, 0]);
    let length = u8::try_from(hello.len()).expect("it is short");
    let mut record = vec![0x16, 3, 1, 0, length + 4, 1, 0, 0, length];
    record.extend(hello);
    record
}
