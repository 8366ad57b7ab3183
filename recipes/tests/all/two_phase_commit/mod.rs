//! Two-phase commit: who decides what, and what becomes of it when replies, sessions, znodes and futures are lost.

mod begun_anew;
mod losses;
mod strangers;
mod votes;

use crate::common::bent::Bent;
use crate::common::every_await::at_every_await;
use crate::common::{Client, RECONNECT, Stage, TIMEOUT, dropping, play, play_struck, play_with};
use futures_util::FutureExt;
use sim_zk::choose::Calm;
use sim_zk::fault::{Fault, Victim};
use sim_zk::observer::{Kind, SimEvent};
use sim_zk::{Config, SimClient};
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;
use zk_recipes::two_phase_commit::{Coordinator, Decision, Form, Site, Transaction, Vote, Voted};
use zk_recipes::zk::{CreateMode, Error, ErrorKind, Op, ZooKeeper};

const TX: &str = "/app/tx";
const LIMIT: Duration = Duration::from_secs(1);
/// Shorter than the tests that drop a future at every moment are patient.
const SHORT: Duration = Duration::from_millis(40);
const PLAIN: Form = Form::Decentralised { follow_votes: false };
const FOLLOWED: Form = Form::Decentralised { follow_votes: true };
const FORMS: [Form; 4] = [PLAIN, FOLLOWED, Form::Coordinator, Form::SiteEphemerals];

fn of(form: Form, sites: &[&str]) -> Transaction {
    Transaction { sites: sites.iter().map(|site| (*site).to_owned()).collect(), payload: b"p".to_vec(), form }
}

impl Client {
    async fn begins(&self, form: Form, sites: &[&str]) -> Coordinator<SimClient> {
        Coordinator::begin(&self.zk, TX, of(form, sites)).await.expect("it begins")
    }

    async fn opens(&self, site: &str) -> Site<SimClient> {
        Site::open(&self.zk, TX, site).await.expect("it opens")
    }

    async fn votes(&self, site: &str, vote: Vote) -> Voted<SimClient> {
        self.opens(site).await.vote(vote).await.expect("it votes")
    }
}

/// Somebody who has made the parent, to stay.
async fn founder(stage: &Stage) -> Client {
    let founder = stage.client("founder").await;
    founder.makes("/app").await;
    founder
}

/// Waits in its own process.
fn spawned<T: Send + 'static>(
    on: &Client,
    work: impl Future<Output = T> + Send + 'static,
) -> Pin<Box<dyn Future<Output = T> + Send>> {
    let going_on = on.process.spawn(work);
    Box::pin(async move { going_on.await.expect("its process lives") })
}

fn contents(stage: &Stage) -> Vec<String> {
    stage.names(TX)
}
