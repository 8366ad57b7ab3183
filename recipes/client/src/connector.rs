//! Sessions for a supervisor, one after the other.

use std::future::Future;
use std::time::Duration;

use super::{Client, Options, core};
use zk_recipes::Error;
use zk_recipes::supervisor::Connect;

/// Opens the sessions of a [`Supervisor`](zk_recipes::Supervisor) with one connect string and the same options.
///
/// ```no_run
/// use std::time::Duration;
/// use zk_client::{Connector, Options};
/// use zk_recipes::Supervisor;
///
/// let connector = Connector::new("zk1:2181,zk2:2181", Options::new(Duration::from_secs(20)));
/// let supervisor = Supervisor::new(connector);
/// ```
#[derive(Clone, Debug)]
pub struct Connector {
    connect_string: String,
    options: Options,
}

impl Connector {
    /// Sessions with these servers: see [`Client::open`], which refuses a bad connect string at the first session.
    pub fn new(connect_string: impl Into<String>, options: Options) -> Self {
        Connector { connect_string: connect_string.into(), options }
    }
}

impl Connect for Connector {
    type Zk = Client;

    fn open(&self) -> impl Future<Output = Result<Client, Error>> + Send + use<> {
        let Connector { connect_string, options } = self.clone();
        async move { Client::open(&connect_string, options).await }
    }

    /// By tokio's timer.
    #[expect(clippy::disallowed_methods, reason = "between two sessions there is only real time")]
    fn sleep(&self, by: Duration) -> impl Future<Output = ()> + Send + use<> {
        tokio::time::sleep(by)
    }

    /// Drawn by the operating system.
    ///
    /// # Panics
    ///
    /// When the operating system has no random numbers to give.
    fn random(&self) -> u64 {
        core::random()
    }
}
