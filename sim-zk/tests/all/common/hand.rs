//! Clients driven by hand in a world driven by hand: every connection, request and fault is a line of the story.

use super::Tape;
use sim_zk::choose::{Chooser, Point};
use sim_zk::fault::{Fault, InjectionPoint, Victim};
use sim_zk::message::{Answer, Ask, Code, Creation, Down, Password, Refusal, Tag, Up};
use sim_zk::observer::{Observer, SimEvent};
use sim_zk::paths::{PathId, Paths};
use sim_zk::raw::Raw;
use sim_zk::{Config, ConnId, Hold};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use zk_recipes::zk::{CreateMode, EventKind, SessionId};

/// Of three servers, the leader at the start, and the two followers.
pub const L: u8 = 2;
pub const F1: u8 = 0;
pub const F2: u8 = 1;

/// The smallest session timeout: two ticks.
pub const SHORT: u64 = 4_000;
/// A timeout that outlives the stories.
pub const LONG: u64 = 40_000;

/// The result of an attempt to connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Greeting {
    Welcome,
    Expired,
    /// The server hangs up without a reply.
    Closed,
    Silence,
}

/// The result of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    Ok(Answer),
    No(Code),
    /// The connection has ended.
    Closed,
    Silence,
}

/// A client with at most one connection.
pub struct Client {
    pub session: SessionId,
    /// The zxid of the last reply.
    pub seen: i64,
    pub conn: ConnId,
    pub closed: bool,
    pub notices: Vec<(EventKind, PathId)>,
    password: Password,
    timeout_us: u64,
    xid: i32,
    greeting: Option<Greeting>,
    replies: VecDeque<(i32, Heard)>,
}

impl Client {
    /// Creates a client without a session.
    pub fn new(timeout_ms: u64) -> Self {
        Client {
            session: SessionId(0),
            seen: 0,
            conn: ConnId(0),
            closed: true,
            notices: Vec::new(),
            password: Password::default(),
            timeout_us: timeout_ms * 1000,
            xid: 0,
            greeting: None,
            replies: VecDeque::new(),
        }
    }
}

/// A tape that the story can read while the world writes it.
struct SharedTape(Arc<Mutex<Tape>>);

impl Observer for SharedTape {
    fn on_event(&mut self, at: u64, event: &SimEvent<'_>, paths: &Paths) {
        self.0.lock().expect("nobody panicked").on_event(at, event, paths);
    }
}

/// A chooser that is fault-free except where a story orders a fault.
#[derive(Clone, Default)]
pub struct Orders(Arc<Mutex<Ordered>>);

#[derive(Default)]
struct Ordered {
    /// The injection point, the fault, the number of draws to skip there, and the number of injections.
    fault: Option<(InjectionPoint, Fault, u32, u32)>,
    duration: u32,
    race: u32,
}

impl Orders {
    /// Sets the alternative of all further draws of durations and of races, capped at the last one.
    pub fn lengths_and_races(&self, duration: u32, race: u32) {
        let mut ordered = self.0.lock().expect("nobody panicked");
        (ordered.duration, ordered.race) = (duration, race);
    }

    fn fault(&self, place: InjectionPoint, fault: Fault, passed_by: u32, times: u32, duration: u32) {
        assert!(place.faults().contains(&fault), "{fault:?} fits at {place:?}");
        let mut ordered = self.0.lock().expect("nobody panicked");
        (ordered.fault, ordered.duration) = (Some((place, fault, passed_by, times)), duration);
    }
}

impl Chooser for Orders {
    fn choose(&mut self, point: Point, n: u32) -> u32 {
        let mut ordered = self.0.lock().expect("nobody panicked");
        match point {
            Point::Fault(place) => {
                let Some((_, fault, passed_by, times)) = ordered.fault.filter(|(of, ..)| *of == place) else {
                    return 0;
                };
                if passed_by > 0 {
                    ordered.fault = Some((place, fault, passed_by - 1, times));
                    return 0;
                }
                ordered.fault = (times > 1).then(|| (place, fault, 0, times - 1));
                place.faults().iter().position(|of| *of == fault).map_or(0, |at| at as u32 + 1)
            }
            Point::Duration => ordered.duration.min(n - 1),
            Point::Race => ordered.race.min(n - 1),
            _ => 0,
        }
    }
}

/// A world driven by hand, its tape, and its clients' requests.
pub struct Hand {
    raw: Raw,
    tape: Arc<Mutex<Tape>>,
    pub orders: Orders,
    requests: u32,
}

impl Hand {
    /// Creates three servers on a fault-free network; the story orders faults.
    pub fn three() -> Self {
        let orders = Orders::default();
        let config = Config { faults: 9, hostile_until: u64::MAX, ..Config::default().with_servers(3) };
        Hand { orders: orders.clone(), ..Hand::new(config, orders) }
    }

    /// Creates a world with another chooser.
    pub fn new(config: Config, chooser: impl Chooser + 'static) -> Self {
        let tape = Arc::new(Mutex::new(Tape::default()));
        let raw = Raw::watched(config, chooser, SharedTape(tape.clone()));
        Hand { raw, tape, orders: Orders::default(), requests: 0 }
    }

    pub fn raw(&self) -> &Raw {
        &self.raw
    }

    pub fn tape(&self) -> MutexGuard<'_, Tape> {
        self.tape.lock().expect("nobody panicked")
    }

    pub fn now(&self) -> u64 {
        self.raw.now()
    }

    pub fn path(&mut self, text: &str) -> PathId {
        self.raw.paths().intern(text)
    }

    // ── time ──

    pub fn pass(&mut self, ms: u64) {
        let end = self.now() + ms * 1000;
        while self.raw.advance(end) {}
    }

    /// Lets time pass while these clients ping their servers, every quarter of a second.
    pub fn pass_pinging(&mut self, ms: u64, clients: &mut [&mut Client]) {
        for _ in 0..ms / 250 {
            for client in clients.iter_mut() {
                self.send(client, Ask::Ping);
            }
            self.pass(250);
        }
    }

    /// Lets time pass until `so` holds; returns false if that takes longer than `ms`.
    pub fn until(&mut self, ms: u64, so: impl Fn(&Raw) -> bool) -> bool {
        let end = self.now() + ms * 1000;
        while !so(&self.raw) {
            if !self.raw.advance(end) {
                return so(&self.raw);
            }
        }
        true
    }

    // ── faults ──

    pub fn hold(&mut self, hold: Hold) {
        self.raw.hold(hold);
    }

    pub fn release(&mut self, hold: Hold) {
        self.raw.release(hold);
    }

    pub fn kill(&mut self, server: u8) {
        self.raw.kill(server);
    }

    pub fn start(&mut self, server: u8) {
        self.raw.start(server);
    }

    /// Injects a fault into a server link now, for `ms` milliseconds.
    pub fn inject(&mut self, fault: Fault, victim: Victim, ms: u64) {
        self.raw.inject(fault, victim, ms * 1000);
    }

    /// Ends the faults of a server link early.
    pub fn mend(&mut self, victim: Victim) -> usize {
        self.raw.mend(|_, of| of == victim)
    }

    /// Orders a fault at an injection point, after `passed_by` draws there; `duration` is the alternative drawn for its
    /// length.
    pub fn order(&mut self, place: InjectionPoint, fault: Fault, passed_by: u32, duration: u32) {
        self.orders.fault(place, fault, passed_by, 1, duration);
    }

    /// Like `order`, at the next two injection points of that kind.
    pub fn order_two(&mut self, place: InjectionPoint, fault: Fault, duration: u32) {
        self.orders.fault(place, fault, 0, 2, duration);
    }

    /// Returns the injected faults, with their victims and their durations in milliseconds.
    pub fn struck(&self) -> Vec<(Fault, Victim, u64)> {
        let struck = |(_, event): &(u64, SimEvent<'_>)| match event {
            SimEvent::Injected { fault, victim, lasts } => Some((*fault, *victim, lasts / 1000)),
            _ => None,
        };
        self.tape().seen.iter().filter_map(struck).collect()
    }

    // ── connections ──

    /// Connects a client with a session of its own.
    pub fn client(&mut self, server: u8, timeout_ms: u64) -> Client {
        let mut client = Client::new(timeout_ms);
        assert_eq!(self.attach(&mut client, server), Greeting::Welcome, "a session is opened");
        client
    }

    /// Connects, and waits for the reply.
    pub fn attach(&mut self, client: &mut Client, server: u8) -> Greeting {
        self.knock(client, server);
        self.greeted(client, 2_000)
    }

    /// Connects without waiting; an earlier connection stays open.
    pub fn knock(&mut self, client: &mut Client, server: u8) {
        let Client { session, seen, timeout_us, password, .. } = *client;
        client.conn =
            self.raw.connect(server, Up::Connect { session, last_zxid: seen, timeout: timeout_us, password });
        (client.closed, client.greeting) = (false, None);
        client.replies.clear();
    }

    /// Waits up to `ms` milliseconds for the result of the connect.
    pub fn greeted(&mut self, client: &mut Client, ms: u64) -> Greeting {
        let end = self.now() + ms * 1000;
        loop {
            self.receive(client);
            match client.greeting.take() {
                Some(greeting) => return greeting,
                None if client.closed => return Greeting::Closed,
                None if self.raw.advance(end) => {}
                None => return Greeting::Silence,
            }
        }
    }

    /// Cuts the client's connection; packets in flight to the server still arrive.
    pub fn cut(&mut self, client: &mut Client) {
        self.raw.cut(client.conn, false);
        client.closed = true;
    }

    /// Resets the client's connection; packets in flight are lost.
    pub fn reset(&mut self, client: &mut Client) {
        self.raw.cut(client.conn, true);
        client.closed = true;
    }

    // ── requests ──

    /// Sends a request, which has the same number as its operation, and returns its xid.
    pub fn send(&mut self, client: &mut Client, ask: Ask) -> i32 {
        self.requests += 1;
        let xid = if ask == Ask::Ping { -2 } else { client.xid + 1 };
        client.xid = client.xid.max(xid);
        let tag = Tag { req: self.requests, op: self.requests, cleanup: false };
        self.raw.send(client.conn, vec![Up::Request { xid, ask, tag }]);
        xid
    }

    /// Returns the operation of the last request.
    pub fn op(&self) -> u32 {
        self.requests
    }

    /// Waits up to `ms` milliseconds for the reply to a request.
    pub fn heard(&mut self, client: &mut Client, xid: i32, ms: u64) -> Heard {
        let end = self.now() + ms * 1000;
        loop {
            self.receive(client);
            if let Some(at) = client.replies.iter().position(|(of, _)| *of == xid) {
                return client.replies.remove(at).expect("it was just found").1;
            }
            if client.closed {
                return Heard::Closed;
            }
            if !self.raw.advance(end) {
                return Heard::Silence;
            }
        }
    }

    /// Sends a request, and waits up to a second for the reply.
    pub fn ask(&mut self, client: &mut Client, ask: Ask) -> Heard {
        let xid = self.send(client, ask);
        self.heard(client, xid, 1_000)
    }

    /// Takes the received packets.
    pub fn receive(&mut self, client: &mut Client) {
        while let Some(packet) = self.raw.receive(client.conn) {
            match packet {
                Down::Connected { timeout: 0, .. } => client.greeting = Some(Greeting::Expired),
                Down::Connected { session, password, .. } => {
                    (client.session, client.password) = (session, password);
                    client.greeting = Some(Greeting::Welcome);
                }
                Down::Reply { xid, zxid, result } => {
                    if xid > 0 {
                        client.seen = client.seen.max(zxid);
                    }
                    let heard = match result {
                        Ok(answer) => Heard::Ok(answer),
                        Err(Refusal::All(code) | Refusal::Multi { code, .. }) => Heard::No(code),
                    };
                    client.replies.push_back((xid, heard));
                }
                Down::Notify { kind, path } => client.notices.push((kind, path)),
                Down::Fin => client.closed = true,
            }
        }
    }

    // ── common requests ──

    pub fn creation(&mut self, path: &str, mode: CreateMode) -> Ask {
        let path = self.path(path);
        Ask::Create(Box::new(Creation::new(path, None, mode)))
    }

    /// Creates a znode, and expects success.
    pub fn make(&mut self, client: &mut Client, path: &str, mode: CreateMode) {
        let ask = self.creation(path, mode);
        let heard = self.ask(client, ask);
        assert!(matches!(heard, Heard::Ok(_)), "{path} is created: {heard:?}");
    }

    pub fn writing(&mut self, path: &str, text: &str) -> Ask {
        Ask::Set { path: self.path(path), data: Some(text.as_bytes().into()), version: -1 }
    }

    /// Sets data, and expects success.
    pub fn set(&mut self, client: &mut Client, path: &str, text: &str) {
        let ask = self.writing(path, text);
        let heard = self.ask(client, ask);
        assert!(matches!(heard, Heard::Ok(_)), "{path} is set: {heard:?}");
    }

    /// Reads a znode: returns its text, or `None` if the znode is absent.
    pub fn get(&mut self, client: &mut Client, path: &str) -> Option<String> {
        let path = self.path(path);
        match self.ask(client, Ask::Get { path, watch: false }) {
            Heard::Ok(Answer::Data(data, _)) => {
                Some(String::from_utf8_lossy(&data.unwrap_or_default()).into_owned())
            }
            Heard::No(Code::NoNode) => None,
            other => panic!("a read is answered: {other:?}"),
        }
    }

    /// Returns whether a client sees the znode.
    pub fn sees(&mut self, client: &mut Client, path: &str) -> bool {
        self.get(client, path).is_some()
    }

    pub fn sync(&mut self, client: &mut Client) {
        let heard = self.ask(client, Ask::Sync { path: PathId::ROOT });
        assert!(matches!(heard, Heard::Ok(_)), "the sync is answered: {heard:?}");
    }
}
