//! A simulated ensemble behind loopback sockets: any client in any language connects to the `World` of `sim-zk`, in real time.
//!
//! One thread owns the world. It reads all sockets, lets the world catch up with the clock, and writes the packets of
//! the world. A client that reads slowly or sends invalid bytes delays no other client: requests of a connection that
//! has not read its answers wait, and its socket is not read meanwhile; connections have turns of bounded size; and a
//! frame that the server cannot read closes its own connection.

pub mod command;

mod clients;
mod connection;
mod control;
mod duration;
mod fields;
mod figures;
mod front;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzz;
mod judging;
mod listener;
mod memory;
mod network;
mod outgoing;
mod recorder;
mod reports;
mod sockets;
mod stop;
mod verdict;
mod words;

use command::{Command, Refused};
use control::Http;
use front::{Front, Parts};
use network::Network;
use recorder::Recorder;
use serde_json::Value;
use sim_zk::choose::{Calm, Rates, Seeded};
use sim_zk::raw::Raw;
use sim_zk::{Config, Settings};
use sockets::{Ports, Sockets};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use zk_checker::history::History;

pub use control::Control;
pub use duration::parse_duration;
pub use reports::ReportSource;
pub use stop::Stop;
pub use verdict::{Judged, Undecided};

/// The kind of ensemble to serve.
#[derive(Clone, Debug)]
pub struct Options {
    /// The number of members, from 1 to 9.
    pub servers: u8,
    /// The port of the first member; the others have the next ports. 0 for any free ports.
    pub port: u16,
    /// Length of a tick; session timeouts are 2 to 20 ticks.
    pub tick: Duration,
    /// Whether containers and znodes with a TTL are allowed (`zookeeper.extendedTypesEnabled`).
    pub extended_types: bool,
    /// Whether a session with too many ephemerals crashes members, as it does real ones: see
    /// `Settings::dies_of_long_closes` of `sim-zk`.
    pub dies_of_long_closes: bool,
    /// The superuser, as `user:digest` (`zookeeper.DigestAuthenticationProvider.superDigest`).
    pub super_digest: Option<String>,
    /// Period at which empty containers and expired TTL znodes are deleted (`znode.container.checkIntervalMs`).
    pub reap_every: Option<Duration>,
    /// The address to listen on: the loopback address by default.
    pub address: IpAddr,
    /// Port of the control API. 0: any free port.
    pub control_port: u16,
    /// The seed of faults, and the rate of each kind; without it no faults are drawn.
    pub drawn: Option<(u64, Rates)>,
    /// Commands, each carried out at a time since the start, in order.
    pub plan: Vec<(Duration, Command)>,
    /// The maximal number of connections: further ones are closed at once.
    pub most_connections: usize,
    /// The maximal number of events that are kept, of 32 bytes and their texts. The available history and the report of
    /// the traffic end there. All events are judged nevertheless, as they happen.
    pub most_events: usize,
    /// The source of the ensemble, as its history names it.
    pub source: String,
}

impl Default for Options {
    /// One member on a free port, with ticks of two seconds as in ZooKeeper's sample configuration.
    fn default() -> Self {
        Options {
            servers: 1,
            port: 0,
            tick: Duration::from_secs(2),
            extended_types: false,
            dies_of_long_closes: false,
            super_digest: None,
            reap_every: Some(Duration::from_secs(60)),
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            control_port: 0,
            drawn: None,
            plan: Vec::new(),
            most_connections: 20_000,
            most_events: 2_000_000,
            source: String::new(),
        }
    }
}

/// Why an ensemble cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The number of members is not possible.
    #[error("an ensemble has from 1 to 9 servers, not {0}")]
    Servers(u8),
    /// A period has no length: the ensemble would loop for ever.
    #[error("{0} must be longer than 0")]
    NoLength(&'static str),
    /// The ports of the members go past the last one.
    #[error("the members need {servers} ports from {port}, and the last port is 65535")]
    Ports {
        /// The first port.
        port: u16,
        /// The number of members.
        servers: u8,
    },
    /// A port is in use, or must not be used.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The error of the system.
        source: io::Error,
    },
    /// The system refuses the resources of the loop.
    #[error("cannot watch sockets: {0}")]
    Io(#[from] io::Error),
}

/// An ensemble whose members listen; it serves once it runs.
pub struct Ensemble {
    // Dropped first: callers that wait for an answer then learn that there is none.
    sockets: Sockets,
    http: Http,
    reports: Option<reports::Reader>,
    addresses: Vec<SocketAddr>,
    control_address: SocketAddr,
}

impl Ensemble {
    /// Listens on one port for each member, and on one port for the control API.
    ///
    /// # Errors
    ///
    /// If the number of members is impossible, a period has no length, or a port is in use.
    pub fn listen(options: &Options) -> Result<Ensemble, ServeError> {
        let servers = options.servers;
        if !(1..=9).contains(&servers) {
            return Err(ServeError::Servers(servers));
        }
        if micros(options.tick) == 0 {
            return Err(ServeError::NoLength("a tick"));
        }
        if options.reap_every.is_some_and(|every| micros(every) == 0) {
            return Err(ServeError::NoLength("the period of deleting empty containers"));
        }
        if options.port != 0 && options.port.checked_add(u16::from(servers) - 1).is_none() {
            return Err(ServeError::Ports { port: options.port, servers });
        }
        let addresses = (0..u16::from(servers)).map(|number| {
            let port = if options.port == 0 { 0 } else { options.port + number };
            SocketAddr::from((options.address, port))
        });
        let ports = Ports::listen(addresses)?;
        let addresses = ports.addresses();
        let (front, recorder) = front_of(options, addresses.clone(), wall_clock_ms());
        let sockets = Sockets::new(ports, front, recorder);
        let address = SocketAddr::from((options.address, options.control_port));
        let http = Http::listen(address, sockets.control())
            .map_err(|source| ServeError::Listen { address, source })?;
        let control_address = http.address().unwrap_or(address);
        Ok(Ensemble { addresses, control_address, http, sockets, reports: None })
    }

    /// Sets a callback for each command of the plan that is refused at its time, such as one about an unknown client.
    pub fn on_refused_plan(&mut self, told: impl FnMut(Duration, &Refused) + Send + 'static) {
        self.sockets.on_refused_plan(Box::new(told));
    }

    /// Sets a callback for each sentence about abandoned work, such as the rest of a history that is too long to keep.
    pub fn on_given_up(&self, told: impl FnMut(&str) + Send + 'static) {
        self.sockets.control().on_given_up(Box::new(told));
    }

    /// Reads reports of programs from a pipe while the ensemble runs, one report per line. `bad` gets each line that is
    /// invalid or refused, with the reason; later lines are still read. Lines that are in the pipe when the ensemble is
    /// stopped are still recorded.
    ///
    /// # Errors
    ///
    /// If the system cannot start a thread.
    pub fn read_reports(
        &mut self,
        source: ReportSource,
        bad: impl FnMut(&str, &Refused) + Send + 'static,
    ) -> io::Result<()> {
        let (control, done) = (self.sockets.control(), self.sockets.another_stop());
        self.reports = Some(reports::Reader::start(source, control, done, bad)?);
        Ok(())
    }

    /// The address of each member.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The address of the control API.
    pub fn control_address(&self) -> SocketAddr {
        self.control_address
    }

    /// The connect string of a client: all addresses, separated by commas.
    pub fn connect_string(&self) -> String {
        connect_string(&self.addresses)
    }

    /// A handle that ends [`run`](Self::run) from another thread.
    pub fn stop(&self) -> Stop {
        self.sockets.stop()
    }

    /// The control of the ensemble, for other threads. It returns the history and the verdict also after the end.
    pub fn control(&self) -> Control {
        self.sockets.control()
    }

    /// Serves until it is stopped.
    ///
    /// # Errors
    ///
    /// Errors of the system while waiting for sockets.
    pub fn run(mut self) -> io::Result<()> {
        let mut ended = self.sockets.run();
        if let Some(reports) = &mut self.reports {
            reports.finish();
            ended = ended.and_then(|()| self.sockets.obey_until(|| reports.is_done()));
        }
        let Ensemble { sockets, http, .. } = self;
        // Callers that still wait for an answer learn that there is none.
        drop(sockets);
        drop(http);
        ended
    }

    /// Serves on its own thread, until the returned value is dropped.
    ///
    /// # Errors
    ///
    /// If no thread can be started.
    pub fn spawn(self) -> io::Result<Server> {
        let (addresses, control_address) = (self.addresses.clone(), self.control_address);
        let (stop, control) = (self.stop(), self.control());
        let thread = std::thread::Builder::new().name("zk-serve".to_owned()).spawn(move || self.run())?;
        Ok(Server { addresses, control_address, control, stop, thread: Some(thread) })
    }
}

/// An ensemble that serves on its own thread, for tests in Rust. Dropping it ends it.
///
/// ```
/// let server = zk_serve::Server::start(&zk_serve::Options { servers: 3, ..Default::default() })?;
/// let _connect_string = server.connect_string();
/// server.perform("lose-reply", serde_json::json!({"op": "create", "path": "/locks"}))?;
/// // … clients of any library do their work …
/// server.check()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Server {
    addresses: Vec<SocketAddr>,
    control_address: SocketAddr,
    control: Control,
    stop: Stop,
    thread: Option<JoinHandle<io::Result<()>>>,
}

/// A promise was broken, or could not be judged.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct Broken(String);

impl Server {
    /// Starts an ensemble, which listens when this returns.
    ///
    /// # Errors
    ///
    /// Errors of [`Ensemble::listen`], or if no thread can be started.
    pub fn start(options: &Options) -> Result<Server, ServeError> {
        Ok(Ensemble::listen(options)?.spawn()?)
    }

    /// The address of each member.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The address of the control API.
    pub fn control_address(&self) -> SocketAddr {
        self.control_address
    }

    /// The connect string of a client: all addresses, separated by commas.
    pub fn connect_string(&self) -> String {
        connect_string(&self.addresses)
    }

    /// The control of the ensemble.
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// Carries out a verb of the control API, with its fields as a JSON object, and waits for its effect.
    ///
    /// # Errors
    ///
    /// If the verb or a field is unknown, or the command is invalid.
    pub fn perform(&self, verb: &str, fields: Value) -> Result<Value, Refused> {
        self.control.perform(Command::read(verb, fields)?)
    }

    /// The history so far.
    pub fn history(&self) -> History {
        self.control.history()
    }

    /// The verdict so far. [Undecided](Judged::undecided) promises count neither as kept nor as broken.
    pub fn verdict(&self) -> Judged {
        self.control.verdict()
    }

    /// Judges the events so far, after waiting for promises that the passing of time alone can break, such as a session
    /// expiry that its client ignores. Usually there is no wait, and it never exceeds a few seconds.
    ///
    /// # Errors
    ///
    /// If a promise was broken or could not be judged, the checker's text.
    pub fn check(&self) -> Result<(), Broken> {
        let judged = self.control.decided();
        match judged.exit_status() {
            0 => Ok(()),
            _ => Err(Broken(judged.to_string())),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            // A panicking thread has printed its message.
            let _ = thread.join();
        }
    }
}

/// A fresh world, its front, and the history of both.
fn front_of(options: &Options, addresses: Vec<SocketAddr>, wall_clock_ms: i64) -> (Front, Recorder) {
    let config = Config {
        tick: micros(options.tick),
        settings: Settings {
            extended_types: options.extended_types,
            dies_of_long_closes: options.dies_of_long_closes,
            super_digest: options.super_digest.clone(),
            filter_events: true,
            members: members_of(&addresses),
            ..Settings::default()
        },
        // The real network has its own latency.
        latency: 0,
        link_latency: 0,
        reap_every: options.reap_every.map(micros),
        wall_clock_ms,
        // As a real server (`SessionTrackerImpl.initializeNextSessionId`), but of the wall clock.
        session_base: (wall_clock_ms << 24).cast_unsigned().wrapping_shr(8).cast_signed() & !(0xff << 56),
        hostile_until: if options.drawn.is_some() { u64::MAX } else { 0 },
        faults: if options.drawn.is_some() { u32::MAX } else { 0 },
        ..Config::default().with_servers(options.servers)
    };
    let recorder = Recorder::new(&config, options.most_events, options.source.clone());
    let network = Network::new(options.drawn, config.tick);
    let raw = match options.drawn {
        // A random stream separate from the network's.
        Some((seed, rates)) => Raw::watched(config, Seeded::new(!seed, rates), recorder.clone()),
        None => Raw::watched(config, Calm, recorder.clone()),
    };
    let mut plan = options.plan.clone();
    plan.sort_by_key(|(at, _)| *at);
    let plan = plan.into_iter().map(|(at, command)| (micros(at), command)).collect();
    let most_connections = options.most_connections;
    let parts = Parts { raw, network, recorder: recorder.clone(), plan, most_connections, addresses };
    (Front::new(parts), recorder)
}

/// The data of `/zookeeper/config` for an ensemble whose members list their client addresses
/// (`QuorumVerifier.toString`). Nothing listens on the first two ports, which members of a real ensemble use among
/// themselves.
fn members_of(addresses: &[SocketAddr]) -> Option<Arc<str>> {
    if addresses.len() < 2 {
        return None;
    }
    let line = |(index, address): (u16, &SocketAddr)| {
        let (host, quorum, election) = (host_of(address), QUORUM_PORT + index, ELECTION_PORT + index);
        format!("server.{}={host}:{quorum}:{election}:participant;{host}:{}\n", index + 1, address.port())
    };
    let lines: String = (0..).zip(addresses).map(line).collect();
    Some(format!("{lines}version=0").into())
}

/// The host of an address, in brackets for IPv6.
fn host_of(address: &SocketAddr) -> String {
    match address.ip() {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    }
}

/// The first member's ports for the other members, as in ZooKeeper's documentation; the others have the next ones.
const QUORUM_PORT: u16 = 2888;
const ELECTION_PORT: u16 = 3888;

fn connect_string(addresses: &[SocketAddr]) -> String {
    let texts: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    texts.join(",")
}

/// The present time in milliseconds since 1970.
#[expect(clippy::disallowed_types, reason = "clients compare the times of znodes with their own clocks")]
fn wall_clock_ms() -> i64 {
    use std::time::SystemTime;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
