//! The links of clients to their servers: one from each client to each server, all links of a client on one line.

use crate::proxy::{Line, Network, Speech};
use std::io;

/// ZooKeeper's default port.
const PORT: &str = "2181";

/// The links of all clients.
pub struct ClientLinks {
    ways: Vec<Way>,
    /// Dropping it closes the links.
    _network: Network,
}

struct Way {
    line: Line,
    address: String,
}

impl ClientLinks {
    /// Links of that speech for a number of clients to the servers of a connect string.
    ///
    /// # Errors
    ///
    /// Errors of the operating system, if no port is free or no thread starts.
    pub fn to(servers: &str, clients: u8, speech: Speech) -> io::Result<ClientLinks> {
        let network = Network::start()?;
        let (hosts, folder) = servers.split_at(servers.find('/').unwrap_or(servers.len()));
        let mut ways = Vec::new();
        for _ in 0..clients {
            let line = Line::default();
            let mut links = Vec::new();
            for host in hosts.split(',') {
                let place = network.place()?;
                links.push(place.address().to_string());
                network.link(place, &with_port(host), &line, speech)?;
            }
            ways.push(Way { line, address: links.join(",") + folder });
        }
        Ok(ClientLinks { ways, _network: network })
    }

    /// A client's connect string.
    pub fn address(&self, client: usize) -> &str {
        &self.ways[client].address
    }

    /// A client's line.
    pub fn line(&self, client: usize) -> &Line {
        &self.ways[client].line
    }
}

impl std::fmt::Debug for ClientLinks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let addresses: Vec<&str> = self.ways.iter().map(|way| way.address.as_str()).collect();
        f.debug_struct("ClientLinks").field("addresses", &addresses).finish_non_exhaustive()
    }
}

fn with_port(host: &str) -> String {
    // The colons of an IPv6 address are within brackets.
    let after_host = &host[host.rfind(']').map_or(0, |end| end + 1)..];
    if after_host.contains(':') { host.to_owned() } else { format!("{host}:{PORT}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_has_links_of_its_own_to_every_server_and_keeps_the_folder() {
        let ways = ClientLinks::to("127.0.0.1:1,127.0.0.1:2/app", 2, Speech::Client).unwrap();
        let (a, b) = (ways.address(0), ways.address(1));
        for address in [a, b] {
            let (hosts, folder) = address.split_once('/').unwrap();
            assert_eq!((hosts.split(',').count(), folder), (2, "app"), "{address}");
        }
        assert_ne!(a, b);
    }

    #[test]
    fn who_names_no_port_means_zookeepers() {
        let hosts = ["zk", "zk:1", "[::1]", "[::1]:1"];
        assert_eq!(hosts.map(with_port), ["zk:2181", "zk:1", "[::1]:2181", "[::1]:1"]);
    }
}
