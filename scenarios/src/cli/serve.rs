//! `zksim serve`: a simulated ensemble on loopback sockets.

use clap::{Args, value_parser};
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;
use zk_serve::{Ensemble, Options};

#[derive(Args)]
pub(super) struct Serve {
    /// How many servers the ensemble has: each has a port of its own
    #[arg(long, default_value_t = 1, value_parser = value_parser!(u8).range(1..=9))]
    servers: u8,
    /// The port of the first server, whose successors have the next ports; 0 for any free ports
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// The length of a tick: session timeouts are 2 to 20 ticks
    #[arg(long, default_value = "2s", value_parser = super::sweeping::parse_duration)]
    tick: Duration,
    /// Allow znodes with a TTL (`zookeeper.extendedTypesEnabled`)
    #[arg(long)]
    extended_types: bool,
    /// The user who may do everything, as `user:digest` (`superDigest`)
    #[arg(long, value_name = "USER:DIGEST")]
    super_digest: Option<String>,
    /// The period at which empty containers and expired TTL znodes are deleted (`znode.container.checkIntervalMs`)
    #[arg(long, default_value = "60s", value_parser = super::sweeping::parse_duration)]
    reap_every: Duration,
}

impl Serve {
    /// Listens, prints the connect string as one line, and serves until SIGINT or SIGTERM.
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let ensemble = Ensemble::listen(&Options {
            servers: self.servers,
            port: self.port,
            tick: self.tick,
            extended_types: self.extended_types,
            super_digest: self.super_digest,
            reap_every: Some(self.reap_every),
        })?;
        let stop = ensemble.stop();
        ctrlc::set_handler(move || stop.stop())?;
        let mut out = std::io::stdout().lock();
        writeln!(out, "{}", ensemble.connect_string())?;
        // Scripts read the line while the program runs.
        out.flush()?;
        ensemble.run()?;
        Ok(ExitCode::SUCCESS)
    }
}
