//! Where the servers come from that cases are played against.

use super::sim::Simulated;
use super::target::{Target, Trouble};
use super::tcp::{Restart, Tcp};
use std::time::Duration;
use zk_real::{Server, ServerOptions, Settings};

/// The tick of our servers: session timeouts lie between one and ten seconds.
pub(super) const TICK: Duration = Duration::from_millis(500);

/// A configuration that cases ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// Its name.
    pub name: &'static str,
    /// Whether there are znodes with a time to live.
    pub extended_types: bool,
    /// Who may do everything, as `user:digest`.
    pub super_digest: Option<&'static str>,
    /// How often empty containers and the like are looked for. Unless a case is about that, not while it runs.
    pub reap_every: Option<Duration>,
}

/// The default configuration of a server.
const DEFAULT: Configuration =
    Configuration { name: "default", extended_types: false, super_digest: None, reap_every: None };

const CONFIGURATIONS: [Configuration; 4] = [
    DEFAULT,
    Configuration { name: "ext", extended_types: true, ..DEFAULT },
    Configuration {
        name: "ext-reap",
        extended_types: true,
        reap_every: Some(Duration::from_millis(300)),
        ..DEFAULT
    },
    // The user `super` with the password `admin`.
    Configuration { name: "super", super_digest: Some("super:xQJmxLMiHGwaqBvst5y6rkB6HQs="), ..DEFAULT },
];

/// The names of the configurations.
pub fn configurations() -> impl Iterator<Item = &'static str> {
    CONFIGURATIONS.iter().map(|configuration| configuration.name)
}

impl Configuration {
    /// The configuration of that name.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn named(name: &str) -> Result<&'static Configuration, Trouble> {
        CONFIGURATIONS.iter().find(|configuration| configuration.name == name).ok_or_else(|| {
            let names: Vec<&str> = configurations().collect();
            Trouble::NoConfiguration(name.to_owned(), names.join(", "))
        })
    }

    /// The Java system properties that make it.
    fn properties(&self) -> Vec<String> {
        let reap_every = self.reap_every.map_or(100_000_000, |every| every.as_millis());
        let mut properties = vec![
            format!("znode.container.checkIntervalMs={reap_every}"),
            "znode.container.maxPerMinute=60000".to_owned(),
        ];
        if self.extended_types {
            properties.push("zookeeper.extendedTypesEnabled=true".to_owned());
        }
        if let Some(digest) = self.super_digest {
            properties.push(format!("zookeeper.DigestAuthenticationProvider.superDigest={digest}"));
        }
        properties
    }
}

/// Gives out targets.
pub trait Supply {
    /// What it gives out.
    type Target: Target;

    /// An empty server of that configuration, or `None` if there is only the one that was given out before.
    ///
    /// # Errors
    ///
    /// There is none to be had.
    fn target(&mut self, config: &str) -> Result<Option<Self::Target>, Trouble>;
}

/// Simulated servers, one after the other.
#[derive(Debug)]
pub struct InSimulation;

impl Supply for InSimulation {
    type Target = Simulated;

    fn target(&mut self, config: &str) -> Result<Option<Simulated>, Trouble> {
        Configuration::named(config).map(|configuration| Some(Simulated::new(configuration)))
    }
}

/// Servers of our own, one after the other.
#[derive(Debug)]
pub struct OurOwn;

impl Supply for OurOwn {
    type Target = Tcp;

    fn target(&mut self, config: &str) -> Result<Option<Tcp>, Trouble> {
        let properties = Configuration::named(config)?.properties();
        let properties: Vec<&str> = properties.iter().map(String::as_str).collect();
        let settings = Settings { properties: &properties, lines: &[] };
        let server = Server::start_with(ServerOptions { port: None, tick: TICK }, settings)?;
        Ok(Some(Tcp::of_our_own(server)))
    }
}

/// One server that runs already, whatever its configuration.
#[derive(Debug)]
pub struct OfOthers {
    address: Option<String>,
    restart: Option<Restart>,
}

impl OfOthers {
    /// The server at that address.
    pub fn at(address: &str) -> Self {
        OfOthers { address: Some(address.to_owned()), restart: None }
    }

    /// The same server, which can be restarted so.
    #[must_use]
    pub fn restarted_by(self, restart: Restart) -> Self {
        OfOthers { restart: Some(restart), ..self }
    }
}

impl Supply for OfOthers {
    type Target = Tcp;

    fn target(&mut self, _config: &str) -> Result<Option<Tcp>, Trouble> {
        Ok(self.address.take().map(|address| Tcp::of_others(&address, self.restart.take())))
    }
}
