//! Sessions of a simulated process for a supervisor.

use super::{Process, SimClient};
use std::future::Future;
use std::time::Duration;
use zk_recipes::Error;
use zk_recipes::supervisor::Connect;

/// Opens the sessions of a process.
#[derive(Clone)]
pub struct Connector {
    process: Process,
    timeout: Duration,
}

impl Process {
    /// Opens sessions of this process with the requested timeout, for a [`Supervisor`](zk_recipes::Supervisor).
    pub fn connector(&self, timeout: Duration) -> Connector {
        Connector { process: self.clone(), timeout }
    }
}

impl Connect for Connector {
    type Zk = SimClient;

    fn open(&self) -> impl Future<Output = Result<SimClient, Error>> + Send + use<> {
        let opening = self.process.open(self.timeout);
        async move { Ok(opening.await) }
    }

    fn sleep(&self, by: Duration) -> impl Future<Output = ()> + Send + use<> {
        self.process.sim.sleep(&self.process, by)
    }

    /// A choice of the run: a pause of zero, or one of 15 others.
    fn random(&self) -> u64 {
        u64::from(self.process.choose(16)) << 60
    }
}
