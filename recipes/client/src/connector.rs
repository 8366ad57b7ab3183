//! Sessions for a supervisor, one after the other.

use std::future::Future;
use std::time::Duration;

use super::life::Outage;
use super::{Client, Options, core};
use zk_recipes::Error;
use zk_recipes::supervisor::Connect;

/// Opens the sessions of a [`Supervisor`](zk_recipes::Supervisor) with one connect string and the same options.
///
/// # Examples
///
/// A process that may lead:
///
/// ```no_run
/// use std::time::Duration;
/// use zk_client::{Connector, Options};
/// use zk_recipes::ElectionOptions;
/// use zk_recipes::supervisor::{Ended, Supervisor};
/// # async fn schedule(_: &zk_client::Client, _: i64) -> Result<(), zk_recipes::Error> { Ok(()) }
/// # async fn service() -> Result<(), Box<dyn std::error::Error>> {
///
/// let supervisor = Supervisor::new(Connector::new("zk1:2181,zk2:2181", Options::new(Duration::from_secs(20))));
/// let led = supervisor.lead("/jobs/leader", ElectionOptions::default(), async |term| {
///     term.acknowledge(b"10.0.0.7:4711").await?;      // followers learn where the leader is
///     schedule(term.zk(), term.token()).await         // dropped when the leader must stop
/// });
/// // Over any number of sessions, until the work is done: then it resigns. The end by a shutdown is no failure.
/// let lead = async { Ok(led.await.map(drop).or_else(Ended::unless_shut_down)?) };
/// let stop = async {
///     tokio::signal::ctrl_c().await?;                 // and SIGTERM, in a container
///     Ok::<_, Box<dyn std::error::Error>>(supervisor.shutdown(Duration::from_secs(5)).await?)
/// };
/// tokio::try_join!(lead, stop)?;                      // a call that fails ends the process
/// # Ok(())
/// # }
/// ```
///
/// A setting that the leader writes, and that each process follows:
///
/// ```no_run
/// use zk_recipes::supervisor::Followed;
/// use zk_recipes::{Config, ConfigOptions, Update};
///
/// # use zk_recipes::Supervisor;
/// # async fn writes(zk: &zk_client::Client) -> Result<(), zk_recipes::Error> {
/// // In `schedule`:
/// Config::new(zk, "/jobs/settings", ConfigOptions::default())?.put(b"limit=100").await?;
///
/// # Ok(())
/// # }
/// # async fn follows(supervisor: Supervisor<zk_client::Connector>) -> Result<(), Box<dyn std::error::Error>> {
/// # fn apply(_: &[u8]) {}
/// // In each process, with `tokio::try_join!(lead, follow, stop)`:
/// let mut settings = supervisor.follow(|zk| Ok(Config::new(zk, "/jobs/settings", ConfigOptions::default())?.follow()));
/// let follow = async {
///     loop {
///         match settings.next().await {
///             Ok(Followed { news: Update::Value(value), .. }) => apply(&value.data),
///             Ok(_) => {}                             // `Update::Missing`: there is none, at first or again
///             Err(ended) => break Ok(ended.unless_shut_down()?),
///         }
///     }
/// };
/// # follow.await
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Connector {
    connect_string: String,
    options: Options,
    outage: Outage,
}

impl Connector {
    /// Sessions with these servers: see [`Client::open`], which refuses a bad connect string at the first session.
    pub fn new(connect_string: impl Into<String>, options: Options) -> Self {
        Connector { connect_string: connect_string.into(), options, outage: Outage::default() }
    }
}

impl Connect for Connector {
    type Zk = Client;

    fn open(&self) -> impl Future<Output = Result<Client, Error>> + Send + use<> {
        let Connector { connect_string, options, outage } = self.clone();
        async move { Client::open_in(&outage, &connect_string, &options).await }
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
