//! The supply of servers against which cases are played.

use super::configuration::{Configuration, TICK};
use super::sim::Simulated;
use super::target::{Target, Trouble};
use super::tcp::{Restart, Tcp};
use zk_real::{Server, ServerOptions, Settings};

/// Gives out targets.
pub trait Supply {
    /// The type of the targets.
    type Target: Target;

    /// An empty server of that configuration, or `None` if the previous one is the only one.
    ///
    /// # Errors
    ///
    /// No server is available.
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

/// One running server, whatever its configuration.
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

    /// The same server, with a way to restart it.
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
