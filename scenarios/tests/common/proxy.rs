//! A proxy before one or several servers, whose connections can be cut: what a broken connection looks like to a client,
//! whatever the server does. It can hold up what a client says behind a request of some kind, refuse connections, and break
//! each connection after an amount of traffic.

use super::requests::Requests;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Hands every byte on, until it is told to cut.
pub struct Proxy {
    addresses: Vec<SocketAddr>,
    way: Arc<Way>,
}

#[derive(Default)]
struct Way {
    open: Mutex<Vec<TcpStream>>,
    over: AtomicBool,
    refuses: AtomicBool,
    /// The state of the generator that draws how many bytes each connection carries; 0 for any number.
    breaks: AtomicU64,
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
    /// A way to the server at that address, or to each of several, separated by commas.
    pub fn to(servers: &str) -> Proxy {
        Proxy::breaking(servers, 0)
    }

    /// The same, but every connection breaks after some hundred or some thousand bytes, in the middle of whatever is being
    /// said. How many it carries is drawn from that seed. Traffic breaks it, not time, so a slow machine breaks no more.
    pub fn breaking(servers: &str, seed: u64) -> Proxy {
        let way = Arc::new(Way { breaks: AtomicU64::new(seed), ..Way::default() });
        let addresses = servers.split(',').map(|server| listen(server.to_owned(), way.clone())).collect();
        Proxy { addresses, way }
    }

    /// Where clients connect: as many addresses as there are servers.
    pub fn address(&self) -> String {
        self.addresses.iter().map(SocketAddr::to_string).collect::<Vec<_>>().join(",")
    }

    /// From now on, hangs up on whoever connects; or no longer.
    pub fn refuse(&self, refuses: bool) {
        self.way.refuses.store(refuses, SeqCst);
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

/// Listens in front of a server; where.
fn listen(server: String, way: Arc<Way>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let address = listener.local_addr().expect("a listener has an address");
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            if way.over.load(SeqCst) {
                return;
            }
            if way.refuses.load(SeqCst) {
                continue;
            }
            if let Ok(server) = TcpStream::connect(&server) {
                way.carry(client, server).expect("a socket can be shared");
            }
        }
    });
    address
}

/// The handshake and the registration of a few watches, so that sessions get on.
const LEAST_BYTES: u64 = 400;

/// Between the least and the most that a connection carries one way.
const MORE_BYTES: u64 = 3000;

impl Way {
    /// How many bytes a connection carries one way.
    fn budget(&self) -> u64 {
        // A multiplier of L'Ecuyer's: the upper half of the state is spread well enough.
        let next =
            |state: u64| (state != 0).then(|| state.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1));
        match self.breaks.try_update(SeqCst, SeqCst, next) {
            Ok(state) => LEAST_BYTES + (state >> 32) % MORE_BYTES,
            Err(_) => u64::MAX,
        }
    }

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
        let (there, back) = (self.budget(), self.budget());
        thread::spawn(move || {
            let behind = way.hold().behind;
            let _ = match behind {
                Some(kind) => way.hand_on(&mut from, &mut to, kind),
                None => io::copy(&mut (&mut from).take(there), &mut to).map(drop),
            };
            hang_up(&from, &to);
        });
        let (mut from, mut to) = (server, client);
        thread::spawn(move || {
            let _ = io::copy(&mut (&mut from).take(back), &mut to);
            hang_up(&from, &to);
        });
        Ok(())
    }
}

fn hang_up(one: &TcpStream, other: &TcpStream) {
    for side in [one, other] {
        // It may be over already.
        let _ = side.shutdown(Shutdown::Both);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.way.over.store(true, SeqCst);
        self.release();
        self.cut();
        for address in &self.addresses {
            // Wakes the one that takes connections, so that it sees the end.
            let _ = TcpStream::connect(address);
        }
    }
}
