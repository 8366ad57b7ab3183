//! A proxy before one or several servers, whose connections can be cut: a broken connection as a client sees it, whatever the
//! server does. It can refuse connections, and break each connection after an amount of traffic; where it reads requests it
//! notes their types, and can hold back what a client sends behind one.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use zk_real::client_links::ClientLinks;
use zk_real::proxy::{Line, Speech, Way};

/// Forwards every byte, unless it is told otherwise.
pub struct Proxy {
    links: ClientLinks,
    requests: Arc<Requests>,
}

/// The requests that have passed.
#[derive(Default)]
struct Requests {
    state: Mutex<State>,
    held: Condvar,
}

#[derive(Default)]
struct State {
    /// Their types (`ZooDefs.OpCode`).
    kinds: Vec<i32>,
    /// All that a client says behind a request of this type is held.
    hold_behind: Option<i32>,
    is_held: bool,
}

impl Requests {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a request, before the server receives it.
    fn pass(&self, line: &Line, kind: i32) {
        let mut state = self.state();
        state.kinds.push(kind);
        if state.hold_behind == Some(kind) {
            line.hold(Way::There);
            state.is_held = true;
            self.held.notify_all();
        }
    }
}

/// The handshake and the registration of a few watches, so that sessions get on.
const LEAST_BYTES: u64 = 400;

/// Between the least and the most that a connection carries one way.
const MORE_BYTES: u64 = 3000;

impl Proxy {
    /// A proxy before the server at that address, or before each of several, separated by commas. It reads nothing, so
    /// that they may speak by TLS.
    pub fn to(servers: &str) -> Proxy {
        Proxy::with(servers, Speech::Bytes)
    }

    /// A proxy that reads requests.
    pub fn reading(servers: &str) -> Proxy {
        let proxy = Proxy::with(servers, Speech::Client);
        let (requests, line) = (proxy.requests.clone(), proxy.line().clone());
        proxy.line().pass(move || {
            let (requests, line, mut is_first) = (requests.clone(), line.clone(), true);
            Box::new(move |way, message| {
                // The one that opens the session has no type.
                if way == Way::There && !std::mem::take(&mut is_first) {
                    let kind = message[8..12].try_into().expect("four bytes");
                    requests.pass(&line, i32::from_be_bytes(kind));
                }
                true
            })
        });
        proxy
    }

    /// A proxy whose connections break after some hundred or some thousand bytes, in the middle of whatever is being said. How
    /// many each carries is drawn from that seed. Traffic breaks it, not time, so a slow machine breaks no more.
    pub fn breaking(servers: &str, seed: u64) -> Proxy {
        let proxy = Proxy::to(servers);
        let state = AtomicU64::new(seed);
        proxy.line().pass(move || {
            let mut left = Way::BOTH.map(|_| budget(&state));
            Box::new(move |way, piece| {
                let left = &mut left[way as usize];
                piece.truncate(*left);
                *left -= piece.len();
                *left > 0
            })
        });
        proxy
    }

    fn with(servers: &str, speech: Speech) -> Proxy {
        let links = ClientLinks::to(servers, 1, speech).expect("there are free ports");
        Proxy { links, requests: Arc::default() }
    }

    fn line(&self) -> &Line {
        self.links.line(0)
    }

    /// Where clients connect: as many addresses as there are servers.
    pub fn address(&self) -> &str {
        self.links.address(0)
    }

    /// From now on, hangs up on each new connection; or no longer.
    pub fn refuse(&self, refuses: bool) {
        if refuses { self.line().refuse() } else { self.line().heal() }
    }

    /// Ends every connection. New ones are accepted as before.
    pub fn cut(&self) {
        self.line().hang_up();
    }

    /// The types of the requests since the last call.
    pub fn asked(&self) -> Vec<i32> {
        std::mem::take(&mut self.requests.state().kinds)
    }

    /// Holds back what clients send behind a request of that type.
    pub fn hold_behind(&self, kind: i32) {
        self.requests.state().hold_behind = Some(kind);
    }

    /// Waits for a request of that type.
    pub fn wait_until_held(&self) {
        let held = self.requests.held.wait_while(self.requests.state(), |state| !state.is_held);
        drop(held.unwrap_or_else(PoisonError::into_inner));
    }

    /// Lets it pass.
    pub fn release(&self) {
        *self.requests.state() = State::default();
        self.line().heal();
    }
}

/// How many bytes a connection carries one way.
fn budget(state: &AtomicU64) -> usize {
    // A multiplier of L'Ecuyer's: the upper half of the state is spread well enough.
    let next = |state: u64| state.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
    let drawn = state.update(SeqCst, SeqCst, next);
    (LEAST_BYTES + (drawn >> 32) % MORE_BYTES) as usize
}
