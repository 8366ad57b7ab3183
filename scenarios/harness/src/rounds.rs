//! Runs the rounds of a client, and opens a new session when the old one is over.

use crate::client::Client;
use crate::sometimes;
use crate::workload::Task;
use futures_util::future::BoxFuture;
use std::future::Future;
use std::time::Duration;
use zk_recipes::zk::{SessionId, ZooKeeper};

/// The conditions that workloads made of [`rounds`] must reach in some runs.
pub const SESSIONS: [&str; 2] =
    ["a client has lost its session", "a suspended session is given up for another"];

/// How a round went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// It ended.
    Over,
    /// Its session ended first; the round is repeated in another session.
    Again,
}

/// Runs the rounds of a task: pauses, makes sure that there is a session, and repeats the round until it is over; then
/// reports the number of finished rounds to the task.
pub async fn rounds<C: Client, F: Future<Output = Round> + Send>(
    task: &Task<C>,
    mut make: impl FnMut(C::Zk, u32) -> F + Send,
) {
    rounds_of(task, &mut |zk, round| Box::pin(make(zk, round))).await;
}

/// As [`rounds`], for rounds of any type.
async fn rounds_of<'r, C: Client>(
    task: &Task<C>,
    make: &mut (dyn FnMut(C::Zk, u32) -> BoxFuture<'r, Round> + Send),
) {
    let mut sessions = Sessions::default();
    let client = &task.client;
    for round in task.rounds.clone() {
        client.sleep(task.setting.pace.think * client.choose(8)).await;
        loop {
            let zk = sessions.live(client).await;
            if make(zk, round).await == Round::Over {
                break;
            }
            sessions.close_over().await;
        }
        (task.done)(round + 1);
    }
}

/// A value of a client's present session, such as an object that exists once per session.
pub struct OfSession<T> {
    present: Option<(SessionId, T)>,
}

impl<T> Default for OfSession<T> {
    fn default() -> Self {
        OfSession { present: None }
    }
}

impl<T: Clone> OfSession<T> {
    /// The value of this session, created on the first call.
    pub fn of<Z: ZooKeeper>(&mut self, zk: &Z, make: impl FnOnce() -> T) -> T {
        let kept = self.present.take_if(|(session, _)| *session == zk.session());
        self.present.insert(kept.unwrap_or_else(|| (zk.session(), make()))).1.clone()
    }
}

/// The sessions of one client, one after the other.
pub struct Sessions<Z> {
    present: Option<Z>,
}

impl<Z> Default for Sessions<Z> {
    fn default() -> Self {
        Sessions { present: None }
    }
}

impl<Z: ZooKeeper> Sessions<Z> {
    /// Closes a session after an answer said that it is over. The status may not show it yet.
    async fn close_over(&mut self) {
        if let Some(zk) = self.present.take_if(|zk| zk.status().over().is_none()) {
            let _ = zk.close(Duration::ZERO).await;
        }
    }

    /// A session that is not known to be over. Sometimes a suspended session is given up for another.
    pub async fn live<C: Client<Zk = Z>>(&mut self, client: &C) -> Z {
        loop {
            let away = self.present.as_ref().is_some_and(|zk| !zk.status().is_connected());
            if away
                && client.choose(4) == 3
                && let Some(zk) = self.present.take()
            {
                sometimes!(client, "a suspended session is given up for another", true);
                // The session is given up while it lives: the servers end it when it expires.
                let _ = zk.close(Duration::ZERO).await;
            }
            match &self.present {
                Some(zk) if zk.status().over().is_none() => return zk.clone(),
                _ => {
                    sometimes!(client, "a client has lost its session", self.present.is_some());
                    // If opening fails, nothing is held and no request was sent: try again.
                    if let Ok(zk) = client.open().await {
                        return self.present.insert(zk).clone();
                    }
                }
            }
        }
    }
}
