//! A way to a server that can be cut: what a broken connection looks like to a client, whatever the server does. And it can
//! hold up what a client says behind a request of some kind.

use super::requests::Requests;
use std::io::{self, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Hands every byte on, until it is told to cut.
pub struct Proxy {
    address: SocketAddr,
    way: Arc<Way>,
}

#[derive(Default)]
struct Way {
    open: Mutex<Vec<TcpStream>>,
    over: AtomicBool,
    hold: Mutex<Hold>,
    held: Condvar,
}

/// What is held up.
#[derive(Default)]
struct Hold {
    /// All that a client says behind a request of this type.
    behind: Option<i32>,
    /// Such a request has passed.
    has_passed: bool,
}

impl Proxy {
    /// A way to the server at that address.
    pub fn to(server: &str) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        let address = listener.local_addr().expect("a listener has an address");
        let (way, server, taking) = (Arc::<Way>::default(), server.to_owned(), listener);
        let here = way.clone();
        thread::spawn(move || {
            for client in taking.incoming().map_while(Result::ok) {
                if here.over.load(SeqCst) {
                    return;
                }
                if let Ok(server) = TcpStream::connect(&server) {
                    here.carry(client, server).expect("a socket can be shared");
                }
            }
        });
        Proxy { address, way }
    }

    /// Where clients connect.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// Ends every connection. New ones are taken as before.
    pub fn cut(&self) {
        for stream in self.way.open.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // It may be over already.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// On connections from now on, holds up what clients say behind a request of that type (`ZooDefs.OpCode`). Not over TLS.
    pub fn hold_behind(&self, kind: i32) {
        *self.way.hold() = Hold { behind: Some(kind), has_passed: false };
    }

    /// Waits for a request of that type, and for whatever is said behind it to be held up.
    pub fn wait_until_held(&self) {
        let held = self.way.held.wait_while(self.way.hold(), |hold| !hold.has_passed);
        drop(held.unwrap_or_else(PoisonError::into_inner));
    }

    /// Lets it pass.
    pub fn release(&self) {
        *self.way.hold() = Hold::default();
        self.way.held.notify_all();
    }
}

impl Way {
    fn hold(&self) -> MutexGuard<'_, Hold> {
        self.hold.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands on what a client says, request by request.
    fn hand_on(&self, client: &mut TcpStream, server: &mut TcpStream, behind: i32) -> io::Result<()> {
        let mut requests = Requests::of(client);
        loop {
            let (kind, request) = requests.next()?;
            server.write_all(&request)?;
            if kind == Some(behind) {
                let mut hold = self.hold();
                hold.has_passed = true;
                self.held.notify_all();
                let held = self.held.wait_while(hold, |hold| hold.behind.is_some());
                drop(held.unwrap_or_else(PoisonError::into_inner));
            }
        }
    }

    fn carry(self: &Arc<Self>, client: TcpStream, server: TcpStream) -> io::Result<()> {
        for stream in [&client, &server] {
            stream.set_nodelay(true)?;
            self.open.lock().unwrap_or_else(PoisonError::into_inner).push(stream.try_clone()?);
        }
        // Whichever side has ended, the other is told.
        let (mut from, mut to, way) = (client.try_clone()?, server.try_clone()?, self.clone());
        thread::spawn(move || {
            let behind = way.hold().behind;
            let _ = match behind {
                Some(kind) => way.hand_on(&mut from, &mut to, kind),
                None => io::copy(&mut from, &mut to).map(drop),
            };
            let _ = to.shutdown(Shutdown::Both);
        });
        let (mut from, mut to) = (server, client);
        thread::spawn(move || {
            let _ = io::copy(&mut from, &mut to);
            let _ = to.shutdown(Shutdown::Both);
        });
        Ok(())
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.way.over.store(true, SeqCst);
        self.release();
        self.cut();
        // Wakes the one that takes connections, so that it sees the end.
        let _ = TcpStream::connect(self.address);
    }
}
