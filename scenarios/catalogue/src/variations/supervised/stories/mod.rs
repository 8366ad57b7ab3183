//! Stories of supervised clients.

mod closes_last;
mod in_two_sessions;
mod node_waits;

use super::mutants::Wrong;
use super::standing::Connecting;
use super::workload::{User, objects as of_workload, policy};
use crate::prelude::*;
use sim_zk::SimClient;
use std::future::Future;
use std::time::Duration;
use zk_recipes::supervisor::Supervisor;

/// All of them.
pub(super) const ALL: &[&Story] = &[&in_two_sessions::STORY, &node_waits::STORY, &closes_last::STORY];

/// The supervisor of a process.
type Supervises = Supervisor<Connecting<SimProcess, fn(SimClient) -> SimClient>>;

fn objects(names: &mut Names) -> Vec<Object> {
    let setting = Setting { clients: 0, rounds: 0, timeout: TIMEOUT, pace: Pace::SIMULATED };
    of_workload(names, &setting)
}

fn supervises(client: &SimProcess) -> Supervises {
    let connecting = Connecting { client: client.clone(), sees: (|zk| zk) as fn(SimClient) -> SimClient };
    Supervisor::new(connecting).with_policy(policy())
}

/// Leads in its process, until work of that length is done.
fn leads(client: &SimProcess, supervisor: &Supervises, time: Duration) -> impl Future<Output = ()> + use<> {
    let (client, supervisor) = (client.clone(), supervisor.clone());
    let mut pace = Pace::SIMULATED;
    pace.work = time;
    let process = client.process.clone();
    let leading = process.spawn(async move {
        let first_tokens = &Default::default();
        User { client: &client, supervisor: &supervisor, pace, wrong: Wrong::Nothing, first_tokens }
            .leads()
            .await;
    });
    async move { leading.await.expect("its process lives") }
}
