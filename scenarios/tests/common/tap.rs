//! A way to a server on which somebody counts what the client asks for.

use crate::common::requests::Requests;
use std::io::{self, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// The number of a ping among ZooKeeper's operations.
pub const PING: i32 = 11;

/// Hands every byte on, and notes the operation of every request.
pub struct Tap {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<i32>>>,
}

impl Tap {
    /// A way to the server at that address.
    pub fn to(server: &str) -> Tap {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        let address = listener.local_addr().expect("a listener has an address");
        let (seen, server) = (Arc::<Mutex<Vec<i32>>>::default(), server.to_owned());
        let notes = seen.clone();
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                carry(client, &server, notes.clone()).expect("the server is there");
            }
        });
        Tap { address, seen }
    }

    /// Where the client connects.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// The operations that were asked for since the last look.
    pub fn asked(&self) -> Vec<i32> {
        std::mem::take(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn carry(client: TcpStream, server: &str, notes: Arc<Mutex<Vec<i32>>>) -> io::Result<()> {
    let server = TcpStream::connect(server)?;
    let (mut answers, mut back) = (server.try_clone()?, client.try_clone()?);
    thread::spawn(move || {
        let _ = io::copy(&mut answers, &mut back);
        let _ = back.shutdown(Shutdown::Both);
    });
    // It ends with the connection.
    thread::spawn(move || note(client, server, &notes));
    Ok(())
}

/// Each is noted before the server hears of it.
fn note(mut client: TcpStream, mut server: TcpStream, seen: &Mutex<Vec<i32>>) -> io::Result<()> {
    let mut requests = Requests::of(&mut client);
    loop {
        let (kind, request) = requests.next()?;
        seen.lock().unwrap_or_else(PoisonError::into_inner).extend(kind);
        server.write_all(&request)?;
    }
}
