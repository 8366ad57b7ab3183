//! A client process of the simulation.

use super::shared::HandleState;
use super::{Sim, SimClient, register};
use crate::choose::Point;
use crate::fault::{Fault, Victim};
use std::future::Future;
use std::task::Poll;
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
    /// Its number, from 0 in the order of beginning.
    pub fn id(&self) -> u8 {
        self.id
    }

    /// Says what the process begins with, if that is not the same in every run: how far a former one has got, say. Without
    /// it runs that differ in just that would be taken for one where all orders are explored.
    pub fn begins_with(&self, word: u64) {
        self.sim.core().world.begins_with(self.id, word);
    }

    /// Says that all tasks of the process are done, and that no other will be spawned in it. Where all orders are explored,
    /// what it was told does not matter any more from here on.
    pub fn retire(&self) {
        self.sim.core().processes[usize::from(self.id)].is_over = true;
    }

    /// Runs a task in the process: it is dropped when the process crashes, and stands still while it is paused.
    pub fn spawn<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> madsim::task::JoinHandle<T> {
        self.node.spawn(task)
    }

    /// Opens a session that asks for `timeout`; the future is ready with the first connection.
    pub fn open(&self, timeout: Duration) -> impl Future<Output = SimClient> + Send + use<> {
        let handle = self.sim.act(|core| {
            core.handles.push(HandleState::default());
            core.with_world(|world, context| world.open(self.id, timeout.as_micros() as u64, context))
        });
        let client = SimClient { sim: self.sim.clone(), handle, process: self.id, cleanup: None };
        async move {
            let mut status = client.status();
            while status.connection == 0 {
                status = client.changed(status).await;
            }
            client
        }
    }

    /// A choice of the process's user: 0 is the calm one.
    pub fn choose(&self, n: u32) -> u32 {
        let mut core = self.sim.core();
        core.chooser.about(Victim::Process(self.id));
        core.chooser.choose(Point::User, n)
    }

    /// From here on the process's requests belong to operation `op` of its user.
    pub fn set_op(&self, op: u32) {
        self.sim.core().world.set_op(self.id, op);
    }

    /// The operation of its user to which the process's requests belong at present, or 0.
    pub fn op(&self) -> u32 {
        self.sim.core().world.op(self.id)
    }

    /// How many times the user was asked to drop what it waits for.
    pub fn cancels(&self) -> u32 {
        self.sim.core().processes[usize::from(self.id)].cancels
    }

    /// Resolves when the user is asked to drop what it waits for more than `seen` times.
    pub fn cancelled(&self, seen: u32) -> impl Future<Output = ()> + Send + use<> {
        let (sim, id) = (self.sim.clone(), usize::from(self.id));
        std::future::poll_fn(move |context| {
            let mut core = sim.core();
            let state = &mut core.processes[id];
            if state.cancels > seen {
                return Poll::Ready(());
            }
            register(&mut state.waiting, context);
            Poll::Pending
        })
    }

    /// Resolves when the process has crashed. For whoever watches over it.
    pub fn crashed(&self) -> impl Future<Output = ()> + Send + use<> {
        let (sim, id) = (self.sim.clone(), usize::from(self.id));
        std::future::poll_fn(move |context| {
            let mut core = sim.core();
            let state = &mut core.processes[id];
            if state.crashed {
                return Poll::Ready(());
            }
            register(&mut state.waiting, context);
            Poll::Pending
        })
    }

    /// Orders a fault: it strikes the process at the next place where it fits. For scripts.
    pub fn order(&self, fault: Fault) {
        self.sim.core().world.order(self.id, fault);
    }

    /// Lets a fault strike the process now. For scripts.
    pub fn inflict(&self, fault: Fault, lasts: Duration) {
        let lasts = lasts.as_micros() as u64;
        self.sim.act(|core| {
            core.with_world(|world, context| world.inflict(self.id, fault, lasts, context));
        });
    }
}
