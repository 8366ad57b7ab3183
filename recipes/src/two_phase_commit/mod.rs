//! Sites that all commit, or all abort: two-phase commit over a record that nobody can write twice.
//!
//! 1. Begin: one transaction of ZooKeeper makes `<tx>`, one znode `s_<site>` a site, and `tally`. There is no half of it.
//! 2. Open: a site reads what is asked of it, and watches the list of these znodes. The next to come is `decision`; and a
//!    transaction that is taken away is told as well, which a watch for the absent `decision` would not be.
//! 3. Vote abort: the vote and the decision in one transaction. It is decided at once.
//! 4. Vote commit: the vote under version 0, so that it is cast once, and one more on the tally. Without a coordinator the
//!    vote that completes the set decides in the same transaction.
//! 5. Decide: create `decision`, together with a check that every vote is cast.
//! 6. Learn: whoever created `decision` first has decided. Everybody obeys that record and nothing else.
//! 7. Termination, by anybody who has waited for long enough: propose abort, together with a check that a vote is missing.
//! 8. Finish: each site takes its own znode away when it has acted; the last one takes the rest.
//!
//! After "Two-phased Commit" of ZooKeeper's recipes page, with what the page leaves out: votes and decision outlive every
//! session, so that nobody reads one that then vanishes, and no site waits for another process that has died.

mod coordinator;
mod learned;
mod record;
mod site;
mod votes;

pub use coordinator::Coordinator;
pub use site::{Site, Voted};

use crate::observe::{Outcome, operation};
use crate::parts::barrier_read;
use crate::parts::parents::{Parents, behind};
use crate::parts::retry::{again, connected, reconnected};
use crate::zk::{CreateMode, Error, Op, OpResult, ZooKeeper, path};
use record::{Contents, TransactionRecord};
use std::collections::BTreeSet;

/// The recipe's name in spans and metrics.
const RECIPE: &str = "two_phase_commit";

/// What one operation of a transaction costs beside its path and its data: header, lengths, access list, flags.
const OP_OVERHEAD_BYTES: usize = 64;

/// A vote of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vote {
    /// The site can commit, and will if all others can.
    Commit,
    /// The site cannot: nobody may.
    Abort,
}

/// What becomes of a transaction.
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

/// Who brings the decision about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// The sites: the vote that completes the set decides.
    Decentralised {
        /// Whether sites can see each other's votes before the decision ([`Voted::next_vote`]): n − 1 watches a site.
        follow_votes: bool,
    },
    /// The coordinator, who follows the tally.
    Coordinator,
    /// The coordinator, who is also told when a site dies before it has voted: each site keeps an ephemeral znode.
    SiteEphemerals,
}

/// A transaction that is to begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// Who takes part. The list is frozen with the transaction.
    pub sites: Vec<String>,
    /// What is asked of the sites: they read it, the recipe does not.
    pub payload: Vec<u8>,
    /// Who brings the decision about.
    pub form: Form,
}

/// Two-phase commit: all sites of a transaction commit, or all abort.
///
/// # Promises
///
/// * *Agreement.* All sites that learn a decision learn the same one, and it never changes.
/// * *Validity.* It is commit only if every site voted for it. It is commit if every site did, unless abort was proposed
///   before the last vote.
/// * *Termination.* Every site that can reach ZooKeeper learns a decision without waiting for any other process, once its
///   limit, or the loss of a site, lets it propose abort.
/// * *Durability.* Votes and decision outlive every session.
///
/// Not promised: to undo what a site did before it knew. That a coordinator learns the decision of a transaction that all
/// sites have finished: then the record is gone.
///
/// A path is for one transaction: do not begin another on it while somebody still has a handle of the former one.
///
/// # Cost
///
/// Without a coordinator, n sites: one request to begin, five a site, in three round trips, and one notification a site;
/// two requests to finish.
///
/// # Examples
///
/// ```
/// # use std::time::Duration;
/// use zk_recipes::two_phase_commit::{Decision, Form, Transaction, TwoPhaseCommit, Vote};
///
/// # sim_zk::doc_example(|zk| async move {
/// let transaction = Transaction {
///     sites: vec!["accounts".into(), "stock".into()],
///     payload: b"order 9".to_vec(),
///     form: Form::Decentralised { follow_votes: false },
/// };
/// TwoPhaseCommit::begin(&zk, "/orders/tx-9", transaction).await?;
///
/// // Each site in a process of its own, usually.
/// let accounts = TwoPhaseCommit::open(&zk, "/orders/tx-9", "accounts").await?;
/// let stock = TwoPhaseCommit::open(&zk, "/orders/tx-9", "stock").await?;
/// assert_eq!(stock.payload(), b"order 9");
/// let accounts = accounts.vote(Vote::Commit).await?;
/// let stock = stock.vote(Vote::Commit).await?;
/// for voted in [accounts, stock] {
///     assert_eq!(voted.decision_within(Duration::from_secs(1)).await?, Decision::Commit);
///     voted.finish().await?;
/// }
/// # Ok(())
/// # });
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TwoPhaseCommit;

impl TwoPhaseCommit {
    /// Step 1: begins a transaction on `path`. Missing levels above it are made as containers.
    ///
    /// # Cancellation
    ///
    /// Dropping the future leaves the transaction begun, or not: [`resume`](Self::resume) tells.
    ///
    /// # When the connection is lost
    ///
    /// A begin whose reply was lost is looked for by its guid. If it is not there, it may not have been begun, or the sites
    /// have finished it meanwhile: nobody can tell, and it is not begun a second time.
    ///
    /// # Errors
    ///
    /// [`is_bad_input`](Error::is_bad_input): no site, two of one name, a name that is unfit for a path, a list or a payload
    /// too large for one request, a bad path. [`is_taken`](Error::is_taken): there is a transaction on that path.
    /// [`is_outcome_unknown`](Error::is_outcome_unknown); [`is_session_over`](Error::is_session_over);
    /// [`is_denied`](Error::is_denied).
    pub async fn begin<Z: ZooKeeper>(
        zk: &Z,
        path: &str,
        transaction: Transaction,
    ) -> Result<Coordinator<Z>, Error> {
        operation!(zk, RECIPE, "begin", path).of(write(zk, path, transaction)).await
    }

    /// Step 7: takes the place of a coordinator that may have died. What is undecided is decided: commit if all have voted
    /// for it, else abort.
    ///
    /// # Cancellation
    ///
    /// Dropping the future leaves it decided, or not: ask again.
    ///
    /// # When the connection is lost
    ///
    /// Resumes after the reconnect.
    ///
    /// # Errors
    ///
    /// [`Error::NoTransaction`]; [`is_mismatch`](Error::is_mismatch): what stands there is no transaction, or somebody has
    /// taken a part of it away; [`is_bad_input`](Error::is_bad_input); [`is_session_over`](Error::is_session_over);
    /// [`is_denied`](Error::is_denied).
    pub async fn resume<Z: ZooKeeper>(zk: &Z, path: &str) -> Result<Coordinator<Z>, Error> {
        path::validate_directory(path)?;
        let resumed = async {
            let found = record::read(zk, path, &[], false).await?;
            let coordinator = Coordinator::new(found.record);
            coordinator.terminate().await?;
            Ok(coordinator)
        };
        operation!(zk, RECIPE, "resume", path).of(resumed).await
    }

    /// Step 2: a site reads what is asked of it. A vote that an earlier session of the site has cast stands:
    /// [`Site::cast`].
    ///
    /// # Cancellation
    ///
    /// Dropping the future leaves nothing behind.
    ///
    /// # When the connection is lost
    ///
    /// Resumes after the reconnect. With [`Form::SiteEphemerals`] it waits until the ephemeral of the site's former session
    /// has gone, or until there is a decision.
    ///
    /// # Errors
    ///
    /// [`Error::NoTransaction`]; [`Error::NotAParticipant`]; [`is_mismatch`](Error::is_mismatch): what stands there is no
    /// transaction, or somebody has taken a part of it away; [`is_bad_input`](Error::is_bad_input);
    /// [`is_session_over`](Error::is_session_over); [`is_denied`](Error::is_denied).
    pub async fn open<Z: ZooKeeper>(zk: &Z, path: &str, site: &str) -> Result<Site<Z>, Error> {
        path::validate_directory(path)?;
        validate_site(path, site)?;
        operation!(zk, RECIPE, "open", path).of(Site::open(zk, path, site)).await
    }
}

/// Step 1: writes the transaction down.
async fn write<Z: ZooKeeper>(zk: &Z, path: &str, transaction: Transaction) -> Result<Coordinator<Z>, Error> {
    let contents = Contents { guid: zk.guid().to_string(), transaction };
    let ops = checked(path, &contents)?;
    let mut status = connected(zk).await?;
    let mut is_missing = false;
    loop {
        // Pipelined: missing levels if there are any, and the transaction.
        let making = is_missing.then(|| Parents::Container.make_for(zk, path)).transpose()?;
        let begun = zk.multi(ops.clone());
        let czxid = match behind(making, begun).await? {
            Ok(results) => incarnation(&results)?,
            Err(Error::Multi { cause, .. }) if *cause == Error::NodeExists => {
                return Err(Error::Taken(path.to_owned()));
            }
            Err(Error::Multi { index: 0, cause }) if *cause == Error::NoNode => {
                is_missing = true;
                status = connected(zk).await?;
                continue;
            }
            Err(e) if e.is_retryable_refusal() => {
                again(zk, status, e).await?;
                status = connected(zk).await?;
                continue;
            }
            Err(Error::ConnectionLoss) => {
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

/// What a begin writes, if it may be written.
fn checked(path: &str, contents: &Contents) -> Result<Vec<Op>, Error> {
    path::validate_directory(path)?;
    let sites = &contents.transaction.sites;
    if sites.is_empty() {
        return Err(Error::BadInput("a transaction needs a site".into()));
    }
    let mut seen = BTreeSet::new();
    for site in sites {
        validate_site(path, site)?;
        if !seen.insert(site) {
            return Err(Error::BadInput(format!("site {site:?} is named twice")));
        }
    }
    let create = |path: String, data: Vec<u8>| Op::Create { path, data, mode: CreateMode::Persistent };
    // Its contents are set, not created: the stat of a set tells which incarnation of the path this one is.
    let mut ops = vec![create(path.to_owned(), Vec::new())];
    ops.extend(sites.iter().map(|site| create(record::site_path(path, site), Vec::new())));
    ops.push(create(record::tally_path(path), Vec::new()));
    ops.push(Op::Set { path: path.to_owned(), data: contents.bytes(), version: Some(0) });
    let bytes: usize = ops.iter().map(bytes_of).sum();
    if bytes > path::MAX_REQUEST_BYTES {
        return Err(Error::BadInput(format!(
            "{} sites and {} bytes of payload make a request of {bytes} bytes; a server takes {}",
            sites.len(),
            contents.transaction.payload.len(),
            path::MAX_REQUEST_BYTES
        )));
    }
    Ok(ops)
}

fn bytes_of(op: &Op) -> usize {
    match op {
        Op::Create { path, data, .. } | Op::Set { path, data, .. } => {
            path.len() + data.len() + OP_OVERHEAD_BYTES
        }
        _ => OP_OVERHEAD_BYTES,
    }
}

fn validate_site(path: &str, site: &str) -> Result<(), Error> {
    if site.is_empty() || site.contains('/') {
        return Err(Error::BadInput(format!("{site:?} is no name of a site: it is one component of a path")));
    }
    path::validate(&record::site_path(path, site))
}

/// Which incarnation of its path a transaction is: it was made by the write that set its contents.
fn incarnation(results: &[OpResult]) -> Result<i64, Error> {
    match results.last() {
        Some(OpResult::Set(stat)) => Ok(stat.mzxid),
        other => Err(Error::Unexpected(format!("a begin ends in {other:?}"))),
    }
}

/// A begin whose reply was lost: its czxid, if it was applied. Behind a write nothing of ours is still in flight.
async fn find<Z: ZooKeeper>(zk: &Z, path: &str, guid: &str) -> Result<i64, Error> {
    match barrier_read::data(zk, path).await? {
        Some(found) if Contents::parse(&found.data).is_some_and(|contents| contents.guid == guid) => {
            Ok(found.stat.czxid)
        }
        Some(_) => Err(Error::Taken(path.to_owned())),
        // Never begun, or begun and finished: it must not be begun a second time.
        None => Err(Error::ConnectionLoss),
    }
}

/// An error of a transaction of ours, without the number of the operation: that means nothing to the caller.
fn without_index(error: Error) -> Error {
    match error {
        Error::Multi { cause, .. } => *cause,
        error => error,
    }
}
