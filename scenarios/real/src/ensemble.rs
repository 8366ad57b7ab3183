//! Apache ZooKeeper servers of our own that make up an ensemble, or a single one.
//!
//! 1. Find free ports: for each member, one for clients and two for the other members. For faults of links between
//!    members, every member is configured with links to the others instead: [`ServerLinks`].
//! 2. Begin: every member with a process and a folder of its own, and a reaper for both, as for [`Server`].
//! 3. Wait until all of them serve: then one leads, and the others follow.
//! 4. Stop when dropped: all servers are asked to stop before the first is awaited.

use crate::proxy::Network;
use crate::server::{Host, PORTS_TRIED, Peer, Seat, Server, ServerOptions, Settings, StartError, io, listen};
use crate::server_links::ServerLinks;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

/// The options of an ensemble.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnsembleOptions {
    /// The number of servers. A single one is a standalone server.
    pub servers: u8,
    /// The client port of the first server, followed by those of the others; `None`: any free ports.
    pub port: Option<u16>,
    /// The length of a tick. Sessions last 2 to 20 ticks.
    pub tick: Duration,
}

/// A running ensemble. Dropping it stops all servers and removes their folders; if this process ends without a drop, in
/// any way, they are removed as well.
///
/// Its functions block: call them outside of async code.
#[derive(Debug)]
pub struct Ensemble {
    servers: Vec<Server>,
    between: Option<ServerLinks>,
}

impl Ensemble {
    /// Starts an ensemble and waits until every server serves.
    ///
    /// # Errors
    ///
    /// One sentence each, as [`Server::start`]. Servers that were already started are stopped.
    pub fn start(options: &EnsembleOptions) -> Result<Ensemble, StartError> {
        Self::start_in(options, Settings::default(), None)
    }

    /// Starts an ensemble of servers with those settings.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start).
    pub fn start_with(options: &EnsembleOptions, settings: Settings<'_>) -> Result<Ensemble, StartError> {
        Self::start_in(options, settings, None)
    }

    /// Starts an ensemble whose members communicate over links in that network, if one is given.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start).
    pub fn start_on(options: &EnsembleOptions, network: Option<&Network>) -> Result<Ensemble, StartError> {
        Self::start_in(options, Settings::default(), network)
    }

    fn start_in(
        options: &EnsembleOptions,
        settings: Settings<'_>,
        network: Option<&Network>,
    ) -> Result<Ensemble, StartError> {
        let EnsembleOptions { servers, port, tick } = *options;
        if servers <= 1 {
            let servers = vec![Server::start_with(ServerOptions { port, tick }, settings)?];
            return Ok(Ensemble { servers, between: None });
        }
        let mut tried = 1;
        loop {
            match Self::start_once(options, settings, network) {
                Err(error) if error.is_port_taken() && tried < PORTS_TRIED => tried += 1,
                other => return other,
            }
        }
    }

    fn start_once(
        options: &EnsembleOptions,
        settings: Settings<'_>,
        network: Option<&Network>,
    ) -> Result<Ensemble, StartError> {
        let (ports, peers) = ports(options)?;
        let between = network.map(|network| ServerLinks::link(network, &peers)).transpose();
        let between = between.map_err(io("make links between servers"))?;
        let mut servers = Vec::new();
        for (number, port) in ports.into_iter().enumerate() {
            let peers = match &between {
                Some(between) => between.seen_by(number).into(),
                None => peers.clone(),
            };
            let member = Seat { id: number + 1, peers };
            servers.push(Server::begin(port, options.tick, Some(&member), settings, Host::default())?);
        }
        // From here on a drop stops all of them.
        let mut ensemble = Ensemble { servers, between };
        ensemble.wait_until_all_serve()?;
        Ok(ensemble)
    }

    /// Waits until every server serves.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start).
    pub fn wait_until_all_serve(&mut self) -> Result<(), StartError> {
        self.servers.iter_mut().try_for_each(Server::wait_until_it_serves)
    }

    /// The sum of a figure of `mntr` over all servers, if all report it.
    pub fn figure(&self, name: &str) -> Option<u64> {
        self.servers.iter().map(|server| server.figure(name)).sum()
    }

    /// The links between its members, if they use links.
    pub fn between(&self) -> Option<&ServerLinks> {
        self.between.as_ref()
    }

    /// The addresses of its servers, as a client's connect string.
    pub fn address(&self) -> String {
        let addresses: Vec<String> = self.servers.iter().map(Server::address).collect();
        addresses.join(",")
    }

    /// Its servers.
    pub fn servers(&self) -> &[Server] {
        &self.servers
    }

    /// Its servers, for fault injection.
    pub fn servers_mut(&mut self) -> &mut [Server] {
        &mut self.servers
    }

    /// The leader, if there is one; a single server is no leader.
    pub fn leader(&self) -> Option<usize> {
        let leads = |server: &Server| server.ask("srvr").is_ok_and(|answer| answer.contains("Mode: leader"));
        self.servers.iter().position(leads)
    }
}

impl Drop for Ensemble {
    fn drop(&mut self) {
        if self.servers.len() > 1 {
            self.servers.iter().for_each(|server| _ = server.ask_to_stop());
        }
    }
}

/// Step 1: the ports for clients, and those for members. All ports are held until all are found, so that no two are the
/// same.
fn ports(options: &EnsembleOptions) -> Result<(Vec<u16>, Arc<[Peer]>), StartError> {
    let count = u16::from(options.servers);
    let number = |held: &TcpListener| Ok(held.local_addr().map_err(io("find a free port"))?.port());
    let for_clients: Vec<TcpListener> = (0..count)
        .map(|n| match options.port {
            // There is no port beyond the last one.
            Some(port) => listen(Some(port.checked_add(n).ok_or(StartError::PortInUse(u16::MAX))?)),
            None => listen(None),
        })
        .collect::<Result<_, _>>()?;
    let for_members: Vec<(TcpListener, TcpListener)> =
        (0..count).map(|_| Ok((listen(None)?, listen(None)?))).collect::<Result<_, StartError>>()?;
    let peer = |(quorum, election): &(TcpListener, TcpListener)| {
        Ok(Peer { quorum: number(quorum)?, election: number(election)? })
    };
    Ok((
        for_clients.iter().map(number).collect::<Result<_, StartError>>()?,
        for_members.iter().map(peer).collect::<Result<_, StartError>>()?,
    ))
}
