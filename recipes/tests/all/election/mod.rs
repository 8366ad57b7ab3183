//! The election: who takes office and when, the record that a leader has begun, and what observers are told.

mod ends;
mod office;

use crate::common::bent::Bent;
use crate::common::{Client, DIRECTORY, RECONNECT, TIMEOUT, play, play_struck};
use futures_util::FutureExt;
use sim_zk::SimClient;
use sim_zk::fault::Fault;
use sim_zk::observer::Kind;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;
use zk_recipes::zk::{CreateMode, Error, ErrorKind, Op, ZooKeeper, path};
use zk_recipes::{
    Contender, Election, ElectionOptions, HoldState, Leader, LostReason, OnSuspect, Parents, Released, Stop,
    Term,
};

type Office = Term<SimClient>;
type Standing = Pin<Box<dyn Future<Output = Result<Office, Error>> + Send>>;

/// The path of the record.
const RECORD: &str = "/locks/a/leader";

fn election(client: &Client) -> Election<SimClient> {
    Election::new(&client.zk, DIRECTORY, ElectionOptions::default()).expect("the path is good")
}

async fn takes_office(client: &Client) -> Office {
    election(client).stand().await.expect("it is elected")
}

/// Begins to stand, in its own process.
fn stands(client: &Client) -> Standing {
    let election = election(client);
    let standing = client.process.spawn(async move { election.stand().await });
    Box::pin(async move { standing.await.expect("its process lives") })
}

fn acknowledged(term: &Office, data: &[u8]) -> Leader {
    Leader::Acknowledged { token: term.token(), data: data.to_vec() }
}

fn unacknowledged(candidates: &[(&str, i32)]) -> Leader {
    let candidate = |(path, number): &(&str, i32)| Contender { path: (*path).to_owned(), number: *number };
    Leader::Unacknowledged { candidates: candidates.iter().map(candidate).collect() }
}

async fn is_evicted(path: &str, by: &Client) {
    let candidate = Contender { path: path.to_owned(), number: 0 };
    assert_eq!(election(by).evict(&candidate).await, Ok(true));
}

async fn record_of(client: &Client) -> Vec<u8> {
    client.zk.get(RECORD).await.expect("it is there").data
}
