//! The server that all peers share, and the proxies before it.

use crate::agent::raw::Bare;
use crate::figures::Spread;
use crate::proxy::Proxy;
use anyhow::{Context, anyhow, bail};
use clap::ValueEnum;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use zk_real::{Host, Server, ServerOptions, Settings};

/// Where the server keeps its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Storage {
    /// A file system in memory.
    Memory,
    /// A folder for temporary files; the log is forced to the disk before each reply.
    Disk,
    /// No server: the simulated ensemble of this workspace, on loopback sockets. Needs nothing installed.
    Simulated,
}

impl Storage {
    /// What the table says of it.
    pub fn description(self) -> &'static str {
        match self {
            Storage::Memory => "one Apache ZooKeeper server, its data in memory",
            Storage::Disk => "one Apache ZooKeeper server, its log forced to the disk before each reply",
            Storage::Simulated => "one simulated server on loopback sockets",
        }
    }
}

/// A file system in memory, on Linux.
const IN_MEMORY: &str = "/dev/shm";

/// Sessions of peers that have no turn are not pinged by bare sockets, so they must live long: up to twenty ticks.
const TICK: Duration = Duration::from_secs(5);

/// Enough requests for a JVM to compile what serves them.
const WARM_UP: usize = 20_000;

/// The server and its proxies. Dropping it stops them.
pub struct Stage {
    server: Running,
    // Proxies are tasks of it.
    _runtime: Runtime,
    pub counting: Proxy,
    pub delaying: Proxy,
    /// The delay of the delaying proxy, each way.
    pub delay: Duration,
}

enum Running {
    Real(Server),
    Simulated(zk_serve::Server),
}

impl Stage {
    /// Starts the server, warms it up, and starts the proxies; the slow one delays each frame.
    ///
    /// # Errors
    ///
    /// Nothing is installed, or the system refuses.
    pub fn start(storage: Storage, delay: Duration, is_quick: bool) -> anyhow::Result<Stage> {
        let server = start(storage)?;
        let address = server.address();
        let mut bare = Bare::open(&address)?;
        bare.make("/peers")?;
        let warm_up = if is_quick || storage == Storage::Simulated { 0 } else { WARM_UP };
        bare.warm_up("/peers", warm_up)?;
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let counting = Proxy::start(&runtime, &address, Duration::ZERO)?;
        let delaying = Proxy::start(&runtime, &address, delay)?;
        Ok(Stage { server, _runtime: runtime, counting, delaying, delay })
    }

    /// Does the work, and reads through the delaying proxy meanwhile, one request after the other. Returns the median time of
    /// a read in microseconds, too.
    pub fn beside_reads<T>(&self, work: impl FnOnce() -> T) -> (T, anyhow::Result<f64>) {
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let reads = scope.spawn(|| self.read_until(&is_over));
            let done = work();
            is_over.store(true, Ordering::Relaxed);
            let read = reads.join().unwrap_or_else(|_| Err(anyhow!("the reads beside the peer ended early")));
            (done, read)
        })
    }

    fn read_until(&self, is_over: &AtomicBool) -> anyhow::Result<f64> {
        let mut bare = Bare::open(&self.delaying.address())?;
        let mut times = vec![bare.round_trip()?];
        while !is_over.load(Ordering::Relaxed) {
            times.push(bare.round_trip()?);
        }
        Spread::of(times).map(|spread| spread.median).context("no read was timed")
    }

    /// Where the server itself listens.
    pub fn address(&self) -> String {
        self.server.address()
    }

    /// The version that the server tells.
    pub fn version(&self) -> Option<String> {
        let Running::Real(server) = &self.server else { return None };
        let answer = server.ask("srvr").ok()?;
        let line = answer.lines().find_map(|line| line.strip_prefix("Zookeeper version: "))?;
        line.split(['-', ',']).next().map(str::to_owned)
    }
}

impl Running {
    fn address(&self) -> String {
        match self {
            Running::Real(server) => server.address(),
            Running::Simulated(server) => server.connect_string(),
        }
    }
}

fn start(storage: Storage) -> anyhow::Result<Running> {
    let (folder, sync) = match storage {
        Storage::Simulated => {
            let options = zk_serve::Options { tick: TICK, extended_types: true, ..Default::default() };
            return Ok(Running::Simulated(zk_serve::Server::start(&options)?));
        }
        Storage::Memory if !Path::new(IN_MEMORY).is_dir() => {
            bail!("there is no {IN_MEMORY} on this system: use --storage disk")
        }
        Storage::Memory => (Some(Path::new(IN_MEMORY)), "zookeeper.forceSync=no"),
        Storage::Disk => (None, "zookeeper.forceSync=yes"),
    };
    let settings = Settings {
        // An empty container that the server deletes between two runs would have to be made again.
        properties: &[
            sync,
            "zookeeper.extendedTypesEnabled=true",
            "znode.container.checkIntervalMs=86400000",
        ],
        // Nothing is written beside the log, so that no row has a snapshot in it.
        lines: &["snapCount=10000000"],
    };
    let host = Host { folder, flags: &["-Xms512m", "-Xmx512m", "-XX:TieredStopAtLevel=4"] };
    let options = ServerOptions { port: None, tick: TICK };
    Ok(Running::Real(Server::start_at(options, settings, host).context("there is no server")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_through_the_delaying_proxy_takes_the_delay_both_ways() {
        let delay = Duration::from_millis(5);
        let stage = Stage::start(Storage::Simulated, delay, true).unwrap();
        let (done, read) = stage.beside_reads(|| 7);
        assert_eq!(done, 7);
        assert!(read.unwrap() >= 2.0 * delay.as_secs_f64() * 1e6);
    }
}
