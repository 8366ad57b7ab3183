//! An order is booked in two stores or in none: each store votes, and both obey what is on record.
//!
//! ```console
//! $ cargo run -p zk-client --example two_phase_commit -- 127.0.0.1:2181
//! accounts books /order-1
//! stock books /order-1
//! stock drops /order-2 (its vote was Abort)
//! accounts drops /order-2 (its vote was Commit)
//! ```

mod common;

use std::process::ExitCode;
use std::time::Duration;
use zk_recipes::Error;
use zk_recipes::two_phase_commit::{Coordinator, Decision, Form, Site, Transaction, Vote};
use zk_recipes::zk::ZooKeeper;

fn main() -> ExitCode {
    common::run("two_phase_commit", example)
}

async fn example(ensemble: common::Ensemble) -> Result<(), Error> {
    // The second order is more than the stock has.
    for (order, amount) in [("order-1", 3), ("order-2", 30)] {
        let zk = ensemble.session().await?;
        let transaction = Transaction {
            sites: vec!["accounts".into(), "stock".into()],
            payload: vec![amount],
            form: Form::Decentralised { follow_votes: false },
        };
        let path = format!("/{order}");
        Coordinator::begin(&zk, &path, transaction).await?;
        let stores = [store(&ensemble, &path, "accounts", 100), store(&ensemble, &path, "stock", 10)];
        futures_util::future::try_join_all(stores).await?;
        zk.close(Duration::from_secs(5)).await?;
    }
    Ok(())
}

/// Each store in a process of its own, usually.
async fn store(ensemble: &common::Ensemble, path: &str, name: &str, holds: u8) -> Result<(), Error> {
    let zk = ensemble.session().await?;
    let site = Site::open(&zk, path, name).await?;
    let can = site.payload().first().is_some_and(|amount| *amount <= holds);
    // A store that had died after its vote would find it here: it stands.
    let vote = site.cast().unwrap_or(if can { Vote::Commit } else { Vote::Abort });

    // What is needed to commit has to be on the store's own disk before it votes for it.
    let voted = site.vote(vote).await?;
    match voted.decision().within(Duration::from_secs(10)).await? {
        Decision::Commit => println!("{name} books {path}"),
        Decision::Abort => println!("{name} drops {path} (its vote was {vote:?})"),
    }
    // From here on the store needs no record of the decision any more.
    voted.finish().await?;
    zk.close(Duration::from_secs(5)).await
}
