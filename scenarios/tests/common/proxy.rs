//! A way to a server that can be cut: what a broken connection looks like to a client, whatever the server does.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
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
}

impl Way {
    fn carry(&self, client: TcpStream, server: TcpStream) -> io::Result<()> {
        for stream in [&client, &server] {
            stream.set_nodelay(true)?;
            self.open.lock().unwrap_or_else(PoisonError::into_inner).push(stream.try_clone()?);
        }
        for (mut from, mut to) in [(client.try_clone()?, server.try_clone()?), (server, client)] {
            thread::spawn(move || {
                let _ = io::copy(&mut from, &mut to);
                // Whichever side has ended, the other is told.
                let _ = to.shutdown(Shutdown::Both);
            });
        }
        Ok(())
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.way.over.store(true, SeqCst);
        self.cut();
        // Wakes the one that takes connections, so that it sees the end.
        let _ = TcpStream::connect(self.address);
    }
}
