//! A simulated ensemble behind loopback sockets: any client in any language connects to the `World` of `sim-zk`, in real time.
//!
//! | module | content |
//! |---|---|
//! | `connection` | a client's socket: frames in, frames out, limits |
//! | `front` | the loop of one thread: sockets, the world, the clock |
//! | `words` | four-letter words |
//!
//! One thread owns the world. It reads what all sockets have, lets the world catch up with the clock, and writes what the world has
//! sent. A client that reads slowly or sends nonsense delays nobody else: a connection with too much unread data is closed, and
//! a frame that the server cannot read closes its own connection.

mod connection;
mod front;
mod words;

use sim_zk::choose::Calm;
use sim_zk::raw::Raw;
use sim_zk::{Config, Settings};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::thread::JoinHandle;
use std::time::Duration;

pub use front::Stop;

/// The kind of ensemble to serve.
#[derive(Clone, Debug)]
pub struct Options {
    /// The number of members, from 1 to 9.
    pub servers: u8,
    /// The port of the first member, whose successors have the next ports; 0 for any free ports.
    pub port: u16,
    /// The length of a tick: session timeouts are 2 to 20 ticks.
    pub tick: Duration,
    /// Whether containers and znodes with a TTL are allowed (`zookeeper.extendedTypesEnabled`).
    pub extended_types: bool,
    /// The user who may do everything, as `user:digest` (`zookeeper.DigestAuthenticationProvider.superDigest`).
    pub super_digest: Option<String>,
    /// The period at which empty containers and expired TTL znodes are deleted (`znode.container.checkIntervalMs`).
    pub reap_every: Option<Duration>,
}

impl Default for Options {
    /// One member on a free port, with ticks of two seconds as ZooKeeper's own sample configuration.
    fn default() -> Self {
        Options {
            servers: 1,
            port: 0,
            tick: Duration::from_secs(2),
            extended_types: false,
            super_digest: None,
            reap_every: Some(Duration::from_secs(60)),
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
    /// The ports of the members go past the last one.
    #[error("the members need {servers} ports from {port}, and the last port is 65535")]
    Ports {
        /// The first port.
        port: u16,
        /// The number of members.
        servers: u8,
    },
    /// A port is in use, or may not be used.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The error of the system.
        source: io::Error,
    },
    /// The system refuses what the loop needs.
    #[error("cannot watch sockets: {0}")]
    Io(#[from] io::Error),
}

/// An ensemble whose members listen, and that serves when it runs.
pub struct Ensemble {
    front: front::Front,
    addresses: Vec<SocketAddr>,
    stop: Stop,
}

impl Ensemble {
    /// Listens on one loopback port for each member.
    ///
    /// # Errors
    ///
    /// A number of members that is not possible, or a port that is in use.
    pub fn listen(options: &Options) -> Result<Ensemble, ServeError> {
        let servers = options.servers;
        if !(1..=9).contains(&servers) {
            return Err(ServeError::Servers(servers));
        }
        if options.port != 0 && options.port.checked_add(u16::from(servers) - 1).is_none() {
            return Err(ServeError::Ports { port: options.port, servers });
        }
        let config = Config {
            tick: micros(options.tick),
            settings: Settings {
                extended_types: options.extended_types,
                super_digest: options.super_digest.clone(),
                filter_events: true,
            },
            // The network is the real one.
            latency: 0,
            link_latency: 0,
            reap_every: options.reap_every.map(micros),
            ..Config::default().with_servers(servers)
        };
        let addresses = (0..u16::from(servers)).map(|number| {
            let port = if options.port == 0 { 0 } else { options.port + number };
            SocketAddr::from((Ipv4Addr::LOCALHOST, port))
        });
        let front = front::Front::listen(Raw::new(config, Calm), addresses)?;
        Ok(Ensemble { addresses: front.addresses()?, stop: front.stop(), front })
    }

    /// The address of each member.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The connect string of a client: all addresses, separated by commas.
    pub fn connect_string(&self) -> String {
        connect_string(&self.addresses)
    }

    /// A handle that ends [`run`](Self::run) from another thread.
    pub fn stop(&self) -> Stop {
        self.stop.clone()
    }

    /// Serves until it is stopped.
    ///
    /// # Errors
    ///
    /// Those of the system while it waits for sockets.
    pub fn run(mut self) -> io::Result<()> {
        self.front.run()
    }

    /// Serves on a thread of its own, until the returned value is dropped.
    ///
    /// # Errors
    ///
    /// No thread can be started.
    pub fn spawn(self) -> io::Result<Running> {
        let (addresses, stop) = (self.addresses.clone(), self.stop.clone());
        let thread = std::thread::Builder::new().name("zk-serve".to_owned()).spawn(move || self.run())?;
        Ok(Running { addresses, stop, thread: Some(thread) })
    }
}

/// An ensemble that serves on a thread of its own. Dropping it ends it.
pub struct Running {
    addresses: Vec<SocketAddr>,
    stop: Stop,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Running {
    /// The address of each member.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The connect string of a client: all addresses, separated by commas.
    pub fn connect_string(&self) -> String {
        connect_string(&self.addresses)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has said so.
            let _ = thread.join();
        }
    }
}

fn connect_string(addresses: &[SocketAddr]) -> String {
    let texts: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    texts.join(",")
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
