//! A session with a server that sends arbitrary bytes: what the fuzz target `client` does with them. No promise for anybody else.
//!
//! The client is the one that ships, from its calls down to the reading and writing of a connection. The connection is in memory, and
//! no time passes: the next attempt follows at once.
//!
//! 1. Calls of several kinds wait for the first connection.
//! 2. The server sends what the bytes say; meanwhile the client calls, and drops calls and watches.
//! 3. The server hangs up: every call has ended, with an answer or an error. Further connections follow while there are bytes.
//! 4. A well-behaved server answers on the last connection, unless the session is over.

mod server;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::future::Future;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::task::noop_waker_ref;
use tokio::runtime::{Builder, Runtime};

use self::server::{Input, Wire};
use super::address::Address;
use super::core::Shared;
use super::handshake::{Handshake, Opened};
use super::life::{Life, Outage};
use super::link::{begin, carry, next_attempt};
use super::options::Options;
use super::race::Ended;
use super::request::Root;
use super::session::Session;
use super::{Acl, Client, Credentials};
use zk_recipes::zk::{ConnectFailureKind, CreateMode, Error, Op, Over, ZooKeeper};

/// The timeout that is asked for: longer than a run, so that no timer is due in it.
const TIMEOUT: Duration = Duration::from_secs(600);

/// The most polls until a well-behaved server has answered: each of its answers takes one or two.
const PATIENCE: u32 = 20;

/// The most bytes that are read of one input: a run is to take microseconds.
const MOST_BYTES: usize = 4096;

/// Something that a caller waits for.
type Call = Pin<Box<dyn Future<Output = ()>>>;

/// Hands arbitrary bytes to a client, as the header of this module says.
///
/// The first byte chooses options of the session; the next two bytes choose the calls that wait for the first connection, and the
/// others are what the server and the client do, step by step.
///
/// # Panics
///
/// When a call does not end with its connection, or when the well-behaved server's answer does not arrive: that is a finding.
pub fn client(bytes: &[u8]) {
    let _entered = runtime().enter();
    let mut input = Input::new(&bytes[..bytes.len().min(MOST_BYTES)]);
    let options = input.byte();
    let mut bench = Bench::new(options);
    let chosen = u16::from_be_bytes([input.byte(), input.byte()]);
    (0..16).filter(|kind| chosen >> kind & 1 == 1).for_each(|kind| bench.asks(kind));
    if options & 4 != 0 {
        // Callers lose their patience before the answers come.
        let mut number = 0;
        bench.calls.retain(|_| {
            number += 1;
            number % 2 == 0
        });
    }
    loop {
        input = bench.meets(Wire::arbitrary(input, options));
        if input.is_empty() || bench.shared.status().over().is_some() {
            break;
        }
        // A call waits for the next connection; and each connection takes a byte at least.
        bench.asks(input.byte() & 15);
    }
    let over = bench.shared.status().over();
    let answer = bench.is_answered();
    match over {
        Some(why) => assert_eq!(answer, Err(why), "the session is over"),
        None => assert_eq!(answer, Ok(None), "the well-behaved server was not heard"),
    }
}

/// A runtime whose timers are never run.
fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| Builder::new_current_thread().enable_all().build().expect("it needs no system"))
}

fn poll<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(noop_waker_ref()))
}

/// Opens the connection that the machine wants next, to this server, and lives through it.
async fn connection(shared: Arc<Shared>, handshake: Arc<Handshake>, wire: Wire) {
    if !next_attempt(&shared, drop).await {
        return;
    }
    let conn = begin(&shared);
    let (hello, asked_at) = (shared.lock().hello.take(), shared.clock.now());
    let opened = match hello {
        Some(hello) => match handshake.greet(Box::new(wire), &hello).await {
            Ok((stream, welcome)) => Ok(Opened { stream, welcome, asked_at, server: 0, peer: None }),
            Err(why) if why.kind == ConnectFailureKind::AuthFailed => Err(Ended::Refused),
            Err(_) => Err(Ended::Failed),
        },
        None => Err(Ended::Failed),
    };
    let limits = Options::new(TIMEOUT).limits();
    carry(&shared, conn, opened, &limits, &mut Life::begin(&handshake.servers, &Outage::default(), asked_at))
        .await;
}

/// A client, its calls, and what it has armed.
struct Bench {
    shared: Arc<Shared>,
    handshake: Arc<Handshake>,
    client: Client,
    calls: Vec<Call>,
    /// Watches stay armed, so that they are registered again.
    armed: Rc<RefCell<Vec<Box<dyn std::any::Any>>>>,
}

impl Bench {
    fn new(options: u8) -> Bench {
        let root = Root::new(if options & 1 == 0 { "" } else { "/app" });
        let shared = Arc::new(Shared::new(TIMEOUT, 1, root, usize::MAX));
        let credentials = match options & 2 {
            0 => Vec::new(),
            _ => vec![Credentials { scheme: "digest".to_owned(), secret: b"user:password".to_vec() }],
        };
        let address = Address { host: "server".to_owned(), port: 1, secure: None };
        let handshake = Arc::new(Handshake {
            servers: vec![address],
            credentials,
            #[cfg(feature = "tls")]
            tls: None,
            #[cfg(feature = "sasl")]
            sasl: None,
        });
        let (acl, runtime) = (Acl::anyone(), runtime().handle().clone());
        let client = Client { session: Arc::new(Session::new(shared.clone(), acl, runtime)) };
        Bench { shared, handshake, client, calls: Vec::new(), armed: Rc::default() }
    }

    /// Makes a call of that kind.
    fn asks(&mut self, kind: u8) {
        let call = self.call(kind);
        self.calls.push(call);
    }

    /// Lets callers read what has come.
    fn reads(&mut self) {
        self.calls.retain_mut(|call| poll(call.as_mut()).is_pending());
    }

    /// What the client does by itself in a step: a call, and a call and a watch that it drops.
    fn acts(&mut self, what: u8) {
        self.reads();
        self.asks(what & 15);
        if what & 16 != 0 {
            drop(self.calls.remove(0));
        }
        if what & 32 != 0 {
            let dropped = self.armed.borrow_mut().pop();
            drop(dropped);
        }
    }

    /// A call. What it returns is dropped, but for a watch.
    fn call(&self, kind: u8) -> Call {
        fn ends<T: 'static>(call: impl Future<Output = T> + 'static) -> Call {
            Box::pin(async move { drop(call.await) })
        }
        let zk = &self.client;
        match kind {
            0 => ends(zk.create("/a", b"data", CreateMode::EphemeralSequential)),
            1 => ends(zk.delete("/a", Some(3))),
            2 => ends(zk.set("/a", b"data", None)),
            3 => ends(zk.exists("/a")),
            4 => self.arms(zk.exists_watch("/a")),
            5 => ends(zk.get("/a")),
            6 => self.arms(zk.get_watch("/a")),
            7 => ends(zk.children("/")),
            8 => self.arms(zk.children_watch("/a")),
            9 => ends(zk.get_many(&["/a".to_owned(), "/b".to_owned()])),
            10 => ends(zk.multi(vec![
                Op::Check { path: "/a".to_owned(), version: None },
                Op::Set { path: "/a".to_owned(), data: Vec::new(), version: None },
            ])),
            11 => ends(zk.sync("/")),
            12 => self.arms(zk.watch_tree("/")),
            13 => self.arms(zk.get_watch("/")),
            14 => self.arms(zk.children_watch("/")),
            // A watch whose caller does not keep it is removed at the server.
            _ => ends(zk.exists_watch("/b")),
        }
    }

    fn arms<T: 'static>(&self, call: impl Future<Output = Result<T, Error>> + 'static) -> Call {
        let armed = self.armed.clone();
        Box::pin(async move {
            if let Ok(watch) = call.await {
                armed.borrow_mut().push(Box::new(watch));
            }
        })
    }

    /// Lives through a connection to its end. Returns the bytes that are left.
    fn meets(&mut self, wire: Wire) -> Input {
        let (shared, handshake) = (self.shared.clone(), self.handshake.clone());
        let mut connection = pin!(connection(shared, handshake, wire.clone()));
        while poll(connection.as_mut()).is_pending() {
            assert!(!wire.is_over(), "a connection outlives its server");
            match wire.take_act() {
                Some(what) => self.acts(what),
                None => self.reads(),
            }
        }
        self.reads();
        let left = self.calls.len();
        assert_eq!(left, 0, "calls have not ended with their connection");
        // The pause before the next attempt is left out.
        self.shared.act(|core, now, _| core.machine.retry_at(now));
        wire.into_input()
    }

    /// Asks for a znode that is not there, of a server that is well-behaved.
    fn is_answered(&self) -> Result<Option<zk_recipes::zk::Stat>, Error> {
        let wire = Wire::default();
        let mut server = wire.well_behaved();
        let mut connection = pin!(connection(self.shared.clone(), self.handshake.clone(), wire));
        let mut asked = pin!(self.client.exists("/good"));
        for _ in 0..PATIENCE {
            let ended = poll(connection.as_mut()).is_ready();
            server.answers();
            if let Poll::Ready(answer) = poll(asked.as_mut()) {
                return answer;
            }
            assert!(!ended, "the client has hung up on a well-behaved server");
        }
        panic!("a well-behaved server was not heard")
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.shared.end(Over::Closed);
    }
}
