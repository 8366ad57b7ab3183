//! Client processes of the simulation.

use super::shared::{Core, HandleState, ProcessState};
use super::{Sim, SimClient};
use crate::choose::Point;
use crate::fault::{Fault, Victim};
use futures_util::future::BoxFuture;
use std::future::Future;
use std::time::Duration;
use zk_recipes::zk::ZooKeeper;

/// A client process: a madsim node that opens sessions.
#[derive(Clone)]
pub struct Process {
    pub(super) sim: Sim,
    pub(super) id: u8,
    pub(super) node: madsim::runtime::NodeHandle,
}

impl Process {
    /// Returns its number, counting from 0 in order of creation.
    pub fn id(&self) -> u8 {
        self.id
    }

    /// Returns the simulation that it is a process of.
    pub fn sim(&self) -> &Sim {
        &self.sim
    }

    /// Declares the input of the process, if it differs between runs, such as the progress of a predecessor.
    /// Interleaving mode would otherwise merge states that differ only in that.
    pub fn begins_with(&self, word: u64) {
        self.sim.core().world.begins_with(self.id, word);
    }

    /// Declares that all tasks of the process are done and no other will be spawned. In interleaving mode its
    /// observations no longer matter from now on.
    pub fn retire(&self) {
        self.sim.core().processes[usize::from(self.id)].is_over = true;
    }

    /// Spawns a task in the process: a crash drops it, and a pause stops it.
    pub fn spawn<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> madsim::task::JoinHandle<T> {
        // In a box: a task is compiled once for each type of its result, and not for each future.
        self.node.spawn(Box::pin(task) as BoxFuture<'static, T>)
    }

    /// Opens a session with the requested timeout; the future resolves with the first connection. A session whose future is
    /// dropped before is closed.
    pub fn open(&self, timeout: Duration) -> impl Future<Output = SimClient> + Send + use<> {
        let handle = self.sim.act(|core| {
            core.handles.push(HandleState::default());
            core.with_world(|world, context| world.open(self.id, timeout.as_micros() as u64, context))
        });
        let client = SimClient { sim: self.sim.clone(), handle, process: self.id, cleanup: None };
        let mut opening = Opening(Some(client));
        async move {
            let client = opening.0.clone().expect("it is taken at the end");
            let mut status = client.status();
            while status.connection == 0 {
                status = client.changed(status).await;
            }
            drop(opening.0.take());
            client
        }
    }

    /// Makes a choice of the code of the process: 0 is the fault-free alternative.
    pub fn choose(&self, n: u32) -> u32 {
        let mut core = self.sim.core();
        core.chooser.about(Victim::Process(self.id));
        core.chooser.choose(Point::User, n)
    }

    /// Sets the operation of client code to which further requests belong.
    pub fn set_op(&self, op: u32) {
        self.sim.core().world.set_op(self.id, op);
    }

    /// Returns the operation to which requests belong at present, or 0.
    pub fn op(&self) -> u32 {
        self.sim.core().world.op(self.id)
    }

    /// Returns the number of cancellations so far.
    pub fn cancels(&self) -> u32 {
        self.sim.core().processes[usize::from(self.id)].cancels
    }

    /// Resolves when there have been more than `seen` cancellations.
    pub fn cancelled(&self, seen: u32) -> impl Future<Output = ()> + Send + use<> {
        self.until(move |state| state.cancels > seen)
    }

    /// Returns whether it has crashed: then what is dropped is dropped by the crash.
    pub fn is_crashed(&self) -> bool {
        self.sim.core().world.is_crashed(self.id)
    }

    /// Resolves when the process has crashed. For supervisors.
    pub fn crashed(&self) -> impl Future<Output = ()> + Send + use<> {
        self.until(|state| state.crashed)
    }

    fn until<F>(&self, holds: F) -> impl Future<Output = ()> + Send + use<F>
    where
        F: Fn(&ProcessState) -> bool + Send + Unpin,
    {
        let id = usize::from(self.id);
        self.sim.until(
            move |core: &mut Core| &mut core.processes[id].waiting,
            move |core: &Core| holds(&core.processes[id]).then_some(()),
        )
    }

    /// Orders a fault for the next injection point at which it is possible. For scripts.
    pub fn order(&self, fault: Fault) {
        self.sim.core().world.order(self.id, fault);
    }

    /// Injects a fault into the process now. For scripts.
    pub fn inflict(&self, fault: Fault, lasts: Duration) {
        let lasts = lasts.as_micros() as u64;
        self.sim.act(|core| {
            core.with_world(|world, context| world.inflict(self.id, fault, lasts, context));
        });
    }
}

/// A session that nobody has yet.
struct Opening(Option<SimClient>);

impl Drop for Opening {
    fn drop(&mut self) {
        if let Some(client) = self.0.take() {
            client.abandon();
        }
    }
}
