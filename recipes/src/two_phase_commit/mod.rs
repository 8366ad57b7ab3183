//! Two-phase commit: all sites commit, or all abort, over a write-once record.
//!
//! 1. Begin: one ZooKeeper transaction creates `<tx>`, one znode `s_<site>` a site, and `tally`, so no part of it can be
//!    missing.
//! 2. Open: a site reads the transaction, and watches the list of its znodes. The next child to be created is `decision`;
//!    the deletion of the whole transaction is notified as well, which a watch on the absent `decision` would miss.
//! 3. Vote abort: one transaction writes the vote and the decision.
//! 4. Vote commit: write the vote at version 0, so that it is cast once, and increment the tally. Without a coordinator the
//!    last vote also decides, in the same transaction.
//! 5. Decide: create `decision`, together with checks that every vote is cast.
//! 6. Learn: the first `decision` counts, and every participant obeys it.
//! 7. Termination, by any participant after its time limit: propose abort, together with a check that a vote is missing.
//! 8. Finish: each site deletes its own znode when it has acted; the last one deletes the rest.
//!
//! After "Two-phased Commit" of ZooKeeper's recipes page, with one change: votes and decision outlive every session, so a
//! decision that was read cannot vanish, and no site waits for a dead process.
//!
//! # Promises
//!
//! * *Agreement.* All sites that learn a decision learn the same one, and it never changes.
//! * *Validity.* The decision is commit only if every site voted for it, and if every site did, unless abort was proposed
//!   before the last vote.
//! * *Termination.* Every site that can reach ZooKeeper learns a decision without waiting for another process, once its
//!   limit, or the loss of a site, lets it propose abort.
//! * *Durability.* Votes and decision outlive every session.
//!
//! Not promised: undoing effects of a site before the decision; that a coordinator learns the decision after all sites have
//! finished, since the record is deleted then.
//!
//! A path is for one transaction: do not begin another on it while a client has a handle of the former one.
//!
//! # Cost
//!
//! Without a coordinator, n sites: one request to begin, five a site, in three round trips, and one notification a site;
//! two requests to finish.
//!
//! # Examples
//!
//! ```
//! # use std::time::Duration;
//! use zk_recipes::two_phase_commit::{Coordinator, Decision, Form, Site, Transaction, Vote};
//!
//! # sim_zk::doc_example(|zk| async move {
//! let transaction = Transaction {
//!     sites: vec!["accounts".into(), "stock".into()],
//!     payload: b"order 9".to_vec(),
//!     form: Form::Decentralised { follow_votes: false },
//! };
//! Coordinator::begin(&zk, "/orders/tx-9", transaction).await?;
//!
//! // Each site in a process of its own, usually.
//! let accounts = Site::open(&zk, "/orders/tx-9", "accounts").await?;
//! let stock = Site::open(&zk, "/orders/tx-9", "stock").await?;
//! assert_eq!(stock.payload(), b"order 9");
//! let accounts = accounts.vote(Vote::Commit).await?;
//! let stock = stock.vote(Vote::Commit).await?;
//! for voted in [accounts, stock] {
//!     assert_eq!(voted.decision().within(Duration::from_secs(1)).await?, Decision::Commit);
//!     voted.finish().await?;
//! }
//! # Ok(())
//! # });
//! ```

mod contents;
mod coordinator;
mod learned;
mod record;
mod site;
mod votes;

pub use coordinator::Coordinator;
pub use site::{Site, Voted};

use crate::observe::Outcome;
use crate::parts::barrier_read;
use crate::parts::parents::{Parents, behind};
use crate::parts::retry::{again, connected, reconnected};
use crate::zk::{CreateMode, Error, ErrorKind, Op, OpResult, ZooKeeper, path};
use contents::Contents;
use record::TransactionRecord;
use std::collections::BTreeSet;

const RECIPE: &str = "two_phase_commit";

/// The vote of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vote {
    /// The site can commit, and will if all others can.
    Commit,
    /// The site cannot commit.
    Abort,
}

/// The decision about a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decision {
    /// All sites commit.
    Commit,
    /// All sites abort.
    Abort,
}

impl Outcome for Decision {
    fn outcome(&self) -> &'static str {
        self.word()
    }
}

/// Which participant makes the decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// The sites: the last vote decides.
    Decentralised {
        /// Whether sites see each other's votes before the decision ([`Voted::next_vote`]): n − 1 watches a site.
        follow_votes: bool,
    },
    /// The coordinator, which follows the tally.
    Coordinator,
    /// The coordinator, which also detects sites that die before their vote: each site keeps an ephemeral znode.
    SiteEphemerals,
}

/// A transaction to begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// The participating sites, fixed at the begin.
    pub sites: Vec<String>,
    /// The request to the sites, opaque to the recipe.
    pub payload: Vec<u8>,
    /// Which participant makes the decision.
    pub form: Form,
}

/// Step 1: creates the transaction.
async fn write<Z: ZooKeeper>(zk: &Z, path: &str, transaction: Transaction) -> Result<Coordinator<Z>, Error> {
    let contents = Contents { guid: zk.guid().to_string(), transaction };
    let ops = checked(zk.max_request_bytes(), path, &contents)?;
    let mut status = connected(zk).await?;
    let mut is_missing = false;
    loop {
        // Pipelined: missing levels if there are any, and the transaction.
        let making = is_missing.then(|| Parents::Container.make_for(zk, path)).transpose()?;
        let begun = zk.multi(ops.clone());
        let czxid = match behind(making, begun).await? {
            Ok(results) => incarnation(&results)?,
            Err(Error { kind: ErrorKind::Multi { cause, .. }, .. }) if *cause == ErrorKind::NodeExists => {
                return Err(ErrorKind::Taken(path.to_owned()).into());
            }
            Err(Error { kind: ErrorKind::Multi { index: 0, cause }, .. }) if *cause == ErrorKind::NoNode => {
                is_missing = true;
                status = connected(zk).await?;
                continue;
            }
            Err(e) if e.is_retryable_refusal() => {
                again(zk, status, e).await?;
                status = connected(zk).await?;
                continue;
            }
            Err(e) if e.is_connection_loss() => {
                reconnected(zk, status).await?;
                find(zk, path, &contents.guid).await.map_err(Error::while_in_doubt)?
            }
            Err(e) => return Err(without_index(e)),
        };
        let Transaction { sites, form, .. } = contents.transaction;
        let record = TransactionRecord { zk: zk.clone(), path: path.to_owned(), czxid, sites, form };
        return Ok(Coordinator::new(record));
    }
}

/// The operations of a begin, if it is valid.
fn checked(most: usize, path: &str, contents: &Contents) -> Result<Vec<Op>, Error> {
    path::validate_directory(path)?;
    let sites = &contents.transaction.sites;
    if sites.is_empty() {
        return Err(ErrorKind::BadInput("a transaction needs a site".into()).into());
    }
    let mut seen = BTreeSet::new();
    for site in sites {
        validate_site(path, site)?;
        if !seen.insert(site) {
            return Err(ErrorKind::BadInput(format!("site {site:?} is named twice")).into());
        }
    }
    let create = |path: String, data: Vec<u8>| Op::Create { path, data, mode: CreateMode::Persistent };
    // The contents are set, not created: only the reply to a set has the stat that identifies this incarnation.
    let mut ops = vec![create(path.to_owned(), Vec::new())];
    ops.extend(sites.iter().map(|site| create(record::site_path(path, site), Vec::new())));
    ops.push(create(record::tally_path(path), Vec::new()));
    ops.push(Op::Set { path: path.to_owned(), data: contents.bytes(), version: Some(0) });
    path::validate_total(most, &ops, || {
        let payload = contents.transaction.payload.len();
        format!("{} sites and {payload} bytes of payload make", sites.len())
    })?;
    Ok(ops)
}

fn validate_site(path: &str, site: &str) -> Result<(), Error> {
    if site.is_empty() || site.contains('/') {
        return Err(ErrorKind::BadInput(format!(
            "{site:?} is no name of a site: it is one component of a path"
        ))
        .into());
    }
    path::validate(&record::site_path(path, site))
}

/// The incarnation of a begun transaction, from the write of its contents.
fn incarnation(results: &[OpResult]) -> Result<i64, Error> {
    match results.last() {
        Some(OpResult::Set(stat)) => Ok(stat.mzxid),
        other => Err(ErrorKind::Unexpected(format!("a begin ends in {other:?}")).into()),
    }
}

/// Returns the czxid of a begin whose reply was lost, if it was applied.
async fn find<Z: ZooKeeper>(zk: &Z, path: &str, guid: &str) -> Result<i64, Error> {
    match barrier_read::data(zk, path).await? {
        Some(found) if Contents::parse(&found.data).is_some_and(|contents| contents.guid == guid) => {
            Ok(found.stat.czxid)
        }
        Some(_) => Err(ErrorKind::Taken(path.to_owned()).into()),
        // Never begun, or begun and finished: it must not be begun a second time.
        None => Err(ErrorKind::ConnectionLoss.into()),
    }
}

/// Removes the index of the operation from an error, since the caller does not know the operations.
fn without_index(error: Error) -> Error {
    match error {
        Error { kind: ErrorKind::Multi { cause, .. }, .. } => *cause,
        error => error,
    }
}
