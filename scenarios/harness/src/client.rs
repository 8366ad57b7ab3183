//! A client process of a workload, simulated or real.
//!
//! A workload knows clients by this trait alone. It does not know whether its ensemble is simulated, nor which faults occur.
//! The journal records its operations.

use crate::journal::Journal;
use sim_zk::{Process, Sim, SimClient};
use std::future::Future;
use std::time::Duration;
use zk_recipes::zk::{Error, ZooKeeper};

/// One client process.
pub trait Client: Clone + Send + Sync + 'static {
    /// Its sessions.
    type Zk: ZooKeeper;

    /// Its number in the journal.
    fn number(&self) -> u16;

    /// Opens a session; ready when it is connected.
    fn open(&self) -> impl Future<Output = Result<Self::Zk, Error>> + Send;

    /// Whether it has crashed: what is dropped then is dropped by the crash, and acts no more.
    fn is_crashed(&self) -> bool {
        false
    }

    /// Writes into the journal, at the present time in microseconds.
    fn journal<R>(&self, write: impl FnOnce(&mut Journal, u64) -> R) -> R;

    /// Assigns the following requests to that operation.
    fn set_op(&self, op: u32);

    /// The operation to which requests belong at present, or 0.
    fn op(&self) -> u32;

    /// Draws one of `n` alternatives for the user's next step; 0 is the default.
    fn choose(&self, n: u32) -> u32;

    /// Waits.
    fn sleep(&self, by: Duration) -> impl Future<Output = ()> + Send;

    /// Resolves when a real run is about to end and operations should be short. A simulated run ends by itself.
    fn ending(&self) -> impl Future<Output = ()> + Send {
        std::future::pending()
    }

    /// Resolves when the operation that begins now is to be dropped.
    fn cancelled(&self) -> impl Future<Output = ()> + Send;
}

/// Declares a condition that some runs must reach: `sometimes!(client, "a waiter gives up while it is the first contender", condition)`.
///
/// A sweep reports conditions that were never reached. The workload lists their names in
/// [`Stated::sometimes`](crate::workload::Stated::sometimes). The condition does not affect the run or its hash.
#[macro_export]
macro_rules! sometimes {
    ($client:expr, $name:literal, $condition:expr $(,)?) => {
        if $condition {
            $crate::client::Client::journal($client, |journal, _| journal.reach($name));
        }
    };
}

/// A simulated process.
#[derive(Clone)]
pub struct SimProcess {
    /// The simulation.
    pub sim: Sim,
    /// The process.
    pub process: Process,
    /// The session timeout that it asks for.
    pub timeout: Duration,
}

impl Client for SimProcess {
    type Zk = SimClient;

    fn number(&self) -> u16 {
        self.process.id().into()
    }

    fn open(&self) -> impl Future<Output = Result<SimClient, Error>> + Send {
        let opening = self.process.open(self.timeout);
        async move { Ok(opening.await) }
    }

    fn is_crashed(&self) -> bool {
        self.process.is_crashed()
    }

    fn journal<R>(&self, write: impl FnOnce(&mut Journal, u64) -> R) -> R {
        self.sim.observer(write)
    }

    fn set_op(&self, op: u32) {
        self.process.set_op(op);
    }

    fn op(&self) -> u32 {
        self.process.op()
    }

    fn choose(&self, n: u32) -> u32 {
        self.process.choose(n)
    }

    fn sleep(&self, by: Duration) -> impl Future<Output = ()> + Send {
        self.sim.sleep(&self.process, by)
    }

    fn cancelled(&self) -> impl Future<Output = ()> + Send {
        let seen = self.process.cancels();
        self.process.cancelled(seen)
    }
}
