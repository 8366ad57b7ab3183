//! What a client says to a server, request by request.

use std::io::{self, Read};
use std::net::TcpStream;

/// The requests of one connection.
pub struct Requests<'a> {
    client: &'a mut TcpStream,
    is_first: bool,
}

impl Requests<'_> {
    /// From the begin of a connection on.
    pub fn of(client: &mut TcpStream) -> Requests<'_> {
        Requests { client, is_first: true }
    }

    /// The same behind the first request.
    pub fn goes_on(self) -> Self {
        Requests { is_first: false, ..self }
    }

    /// The next one as it came, its length in front; and its type (`ZooDefs.OpCode`), behind a number of the client's, which
    /// the first one, that opens the session, does not have.
    pub fn next(&mut self) -> io::Result<(Option<i32>, Vec<u8>)> {
        let mut request = vec![0; 4];
        self.client.read_exact(&mut request)?;
        let length = u32::from_be_bytes(request[..4].try_into().expect("four bytes")) as usize;
        request.resize(4 + length, 0);
        self.client.read_exact(&mut request[4..])?;
        let is_first = std::mem::take(&mut self.is_first);
        let kind = request.get(8..12).filter(|_| !is_first);
        Ok((kind.map(|kind| i32::from_be_bytes(kind.try_into().expect("four bytes"))), request))
    }
}
