//! Where the servers come from that cases are played against.

use super::target::Trouble;
use super::tcp::Tcp;
use crate::real::{Server, ServerOptions};
use std::time::Duration;

/// The tick of our servers: session timeouts lie between one and ten seconds.
const TICK: Duration = Duration::from_millis(500);

/// Containers are not looked after while a case runs, unless it is about that.
const NO_REAPER: &str = "znode.container.checkIntervalMs=100000000";

/// The configurations that cases ask for, by name, and the Java system properties that make them.
const CONFIGURATIONS: [(&str, &[&str]); 4] = [
    ("default", &[NO_REAPER]),
    ("ext", &["zookeeper.extendedTypesEnabled=true", NO_REAPER]),
    (
        "ext-reap",
        &[
            "zookeeper.extendedTypesEnabled=true",
            "znode.container.checkIntervalMs=300",
            "znode.container.maxPerMinute=60000",
        ],
    ),
    (
        "super",
        &[
            NO_REAPER,
            // The user `super` with the password `admin`.
            "zookeeper.DigestAuthenticationProvider.superDigest=super:xQJmxLMiHGwaqBvst5y6rkB6HQs=",
        ],
    ),
];

/// The names of the configurations.
pub fn configurations() -> impl Iterator<Item = &'static str> {
    CONFIGURATIONS.iter().map(|(name, _)| *name)
}

/// Gives out targets.
pub trait Supply {
    /// What it gives out.
    type Target: super::target::Target;

    /// An empty server of that configuration, or `None` if there is only the one that was given out before.
    ///
    /// # Errors
    ///
    /// There is none to be had.
    fn target(&mut self, config: &str) -> Result<Option<Self::Target>, Trouble>;
}

/// Servers of our own, one after the other.
#[derive(Debug)]
pub struct OurOwn;

impl Supply for OurOwn {
    type Target = Tcp;

    fn target(&mut self, config: &str) -> Result<Option<Tcp>, Trouble> {
        let known = CONFIGURATIONS.iter().find(|(name, _)| *name == config);
        let (_, properties) = known.ok_or_else(|| {
            let names: Vec<&str> = configurations().collect();
            Trouble::NoConfiguration(config.to_owned(), names.join(", "))
        })?;
        let server = Server::start_with(ServerOptions { port: None, tick: TICK }, properties)?;
        Ok(Some(Tcp::of_our_own(server)))
    }
}

/// One server that runs already, whatever its configuration.
#[derive(Debug)]
pub struct OfOthers {
    address: Option<String>,
}

impl OfOthers {
    /// The server at that address.
    pub fn at(address: &str) -> Self {
        OfOthers { address: Some(address.to_owned()) }
    }
}

impl Supply for OfOthers {
    type Target = Tcp;

    fn target(&mut self, _config: &str) -> Result<Option<Tcp>, Trouble> {
        Ok(self.address.take().map(|address| Tcp::of_others(&address)))
    }
}
