//! Mutants whose waiters wait too long, or leave something behind.

use super::copy::{EndOfSession, Mutation};
use super::{WORKLOAD, run};
use crate::barrier::workload::{client, new};
use crate::prelude::*;
use crate::session::{Intercepted, Polls};
use std::sync::Arc;

/// A barrier whose waiters poll while they wait.
pub(super) static POLLS: Workload = WORKLOAD.mutant(
    "barrier-polls",
    "a waiter polls beside its watch",
    Caught::by(Ba3).within(1),
    &[],
    |_| Plan { rounds: 4, ..Plan::calm() },
    |task| client(task, Box::new(|zk, lives| new(&Intercepted::new(zk, Arc::new(Polls)), lives))).boxed(),
);

/// A barrier whose waiters check again after every event, including the deletion, as in ZooKeeper's recipes page: a
/// released waiter that finds the next barrier raised waits for that one too, and for every later one.
pub(super) static ASKS_AGAIN: Workload = WORKLOAD.mutant(
    "barrier-asks-again",
    "a barrier whose waiters read again after the event, and wait again if it was raised anew",
    Caught::by(Ba2).seen("the recipes page"),
    &[],
    |_| Plan { rounds: 4, ..Plan::calm() },
    |task| run(task, &Mutation { edge: false, ..Mutation::RIGHT }),
);

/// A barrier whose waiters react only to events of the barrier: when their session ends, and their watch with it, they
/// wait for ever (kazoo).
pub(super) static DEAF: Workload = WORKLOAD.mutant(
    "barrier-deaf",
    "a barrier whose waiters ignore the end of their session",
    Caught::by(Ba2).seen("kazoo"),
    &[Fault::SessionExpiry],
    |_| Plan { rounds: 4, ..Plan::calm().with(&[Fault::SessionExpiry], 0.05) },
    |task| run(task, &Mutation { end_of_session: EndOfSession::Unheard, ..Mutation::RIGHT }),
);

/// A barrier that checks with `exists` and a watch, as in ZooKeeper's recipes page: if no barrier stands, an unused
/// watch on its creation is left behind (CURATOR-654).
pub(super) static EXISTS_WATCH: Workload = WORKLOAD.mutant(
    "barrier-exists-watch",
    "a barrier that uses exists with a watch, and leaves the watch behind when there is no barrier",
    Caught::by(Ba4).within(1).seen("CURATOR-654; the recipes page"),
    &[],
    |_| Plan { rounds: 4, ..Plan::calm() },
    |task| run(task, &Mutation { no_watch_left: false, ..Mutation::RIGHT }),
);
