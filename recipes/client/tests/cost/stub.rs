//! A server that grants whatever is asked for, and notes how many requests arrive together.

use super::script::{Peer, SESSION, answer, asked, serves, welcome};
use std::io::{Read, Write};
use std::sync::{Arc, Mutex};
use zk_protocol::wire::jute::{In, Out};
use zk_protocol::wire::{frame, number};
use zk_recipes::zk::{SessionId, Stat};

/// The server of one client.
pub struct Stub {
    address: String,
    packets: Arc<Mutex<Vec<usize>>>,
}

impl Stub {
    pub fn start() -> Stub {
        let packets = Arc::new(Mutex::new(Vec::new()));
        let noted = packets.clone();
        // Both end with the connection, which is all that can go wrong.
        let address = serves(move |peer| _ = serve(peer, &noted));
        Stub { address, packets }
    }

    pub fn address(&self) -> String {
        self.address.clone()
    }

    /// The number of requests in each packet since the last call.
    pub fn take_packets(&self) -> Vec<usize> {
        std::mem::take(&mut *self.packets.lock().expect("nobody panics"))
    }
}

fn serve(Peer { mut stream }: Peer, packets: &Mutex<Vec<usize>>) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let (mut packet, mut received) = (vec![0; 1 << 16], Vec::new());
    let mut server = Server::default();
    loop {
        let read = stream.read(&mut packet)?;
        if read == 0 {
            return Ok(());
        }
        received.extend(&packet[..read]);
        let (mut requests, mut answers) = (0, Vec::new());
        while let Some(request) = frame::take(&mut received)? {
            requests += 1;
            answers.extend(frame::of(&server.answer(&request)));
        }
        packets.lock().expect("nobody panics").push(requests);
        stream.write_all(&answers)?;
    }
}

#[derive(Default)]
struct Server {
    is_greeted: bool,
    zxid: i64,
    /// That of the last create: every znode has it.
    czxid: i64,
    /// The name of the only contender.
    standing: String,
}

impl Server {
    fn answer(&mut self, request: &[u8]) -> Vec<u8> {
        if !std::mem::replace(&mut self.is_greeted, true) {
            return welcome(30_000, false);
        }
        let mut from = In::new(request);
        let (xid, operation) = asked(&mut from);
        self.zxid += 1;
        let mut body = Out::default();
        match operation {
            number::CREATE_2 => {
                self.czxid = self.zxid;
                let prefix = from.text().flatten().expect("a path");
                let path = format!("{prefix}{:010}", self.zxid);
                path.rsplit_once('/').expect("it is absolute").1.clone_into(&mut self.standing);
                body.text(&path).stat(&self.stat());
            }
            number::GET_CHILDREN_2 => {
                body.list(&[&self.standing], |out, name| _ = out.text(name)).stat(&self.stat());
            }
            number::EXISTS | number::SET_DATA => _ = body.stat(&self.stat()),
            number::GET_DATA => _ = body.text("data").stat(&self.stat()),
            number::SYNC => _ = body.text("/lock"),
            number::MULTI => {
                body.int(number::CHECK).bool(false).int(0);
                body.int(number::ERROR).bool(true).int(-1);
            }
            number::MULTI_READ => {
                body.int(number::GET_DATA).bool(false).int(0).text("data").stat(&self.stat());
                body.int(number::ERROR).bool(true).int(-1);
            }
            _ => {}
        }
        answer(xid, self.zxid, 0, body.as_bytes())
    }

    fn stat(&self) -> Stat {
        let (czxid, zxid) = (self.czxid, self.zxid);
        Stat { czxid, mzxid: zxid, pzxid: zxid, ephemeral_owner: SessionId(SESSION), ..Stat::default() }
    }
}
