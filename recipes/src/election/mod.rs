//! Leader election: one leader among many candidates, a new one when it goes, and a record that it has begun.
//!
//! 1. Stand: create an ephemeral sequential znode and list the directory, pipelined. First in the queue: a [`Term`] of
//!    office begins; its epoch is the czxid of the candidate. Otherwise watch the candidate just ahead, and only that one;
//!    look again when it goes.
//! 2. Acknowledge: when the leader procedure is done, put that on record, in one transaction with a check of the own
//!    candidate.
//! 3. Observe: read the record and list the candidates, pipelined. The record is valid if it names the first of them.
//! 4. Resign: delete the candidate and the record together.
//!
//! After "Leader Election" of ZooKeeper's recipes page, with what the page leaves out: a create whose reply was lost,
//! leaders that must stop in time, an epoch, and an acknowledgement that only the leader can make and that goes with it.

mod acknowledgement;
mod leadership;
mod term;

pub use leadership::{Leader, Leadership};
pub use term::Term;

use crate::observe::operation;
use crate::parts::contenders::{Contender, Contenders, OwnContender, deleted};
use crate::parts::naming::{Marks, Role};
use crate::parts::parents::Parents;
use crate::parts::select::within;
use crate::parts::tenure::{Grant, OnSuspect, Tenure, margin_in};
use crate::zk::{Error, ZooKeeper, path};
use std::future::Future;
use std::time::Duration;

/// The recipe's name in spans and metrics.
const RECIPE: &str = "election";

/// Who stands for election.
const CANDIDATE: Role = 0;

/// Whom one ahead is in the way of: there is one office.
const EVERYBODY: fn(Role) -> bool = |_| true;

/// Candidates are `<guid>-n_<n>`.
const MARKS: Marks = Marks::standard(&["-n_"]);

/// The name of the record.
const RECORD: &str = "leader";

/// Options of an election. By default: containers, [`OnSuspect::Stop`], a tenth of the timeout as margin, no data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ElectionOptions {
    /// How a missing directory is created.
    pub parents: Parents,
    /// The policy of a leader while the connection is lost.
    pub on_suspect: OnSuspect,
    /// How long before the end of the session the leader stops: at most half of the session timeout; `None` for a tenth.
    /// The margin covers clock drift over one timeout and the time that the leader takes to stop.
    pub margin: Option<Duration>,
    /// Data of the candidate's znode, for operators: its address, for example.
    pub data: Vec<u8>,
}

/// An election on a directory.
///
/// # Promises
///
/// * *Effects.* Through [`Term::transact`], or on a store that refuses smaller [epochs](Term::epoch), the effects of two
///   leaders never interleave: regardless of clocks, networks and pauses.
/// * *Belief.* At most one term at a time has not been told to end, as long as clocks drift by less than the margin
///   within one session timeout, leaders stop within the margin, and a server that answers is in touch with its leader.
/// * *Order.* Office is taken in the order in which the candidates' znodes were created; the epoch grows every time.
/// * *No thundering herd.* A leader's going wakes one candidate, another candidate's going at most one.
/// * *Stability.* A candidate is never recreated behind the caller's back: a new candidate is a new call.
/// * *Acknowledged.* There is at most one acknowledgement an epoch, and one who has been deposed cannot make it.
///
/// Not promised: that followers know the leader at every instant; that one who was elected has begun, which is what the
/// acknowledgement is for.
///
/// # Cost
///
/// Nobody ahead: two requests in one round trip, and one that nobody waits for: the watch on the own candidate. Taking
/// over: one list after the event. Acknowledging and resigning: one request each.
///
/// # Examples
///
/// ```
/// use zk_recipes::{Election, ElectionOptions, Leader, Released};
///
/// # sim_zk::doc_example(|zk| async move {
/// let election = Election::new(&zk, "/election", ElectionOptions::default())?;
/// let mut leadership = election.observe();
/// assert_eq!(leadership.next().await?, Leader::Unacknowledged { candidates: vec![] });
///
/// let term = election.stand().await?;
/// term.acknowledge(b"10.0.0.7:4711").await?;
/// let news = leadership.next().await?;
/// assert_eq!(news, Leader::Acknowledged { epoch: term.epoch(), data: b"10.0.0.7:4711".to_vec() });
///
/// assert_eq!(term.resign().await?, Released::Clean);
/// # Ok(())
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct Election<Z: ZooKeeper> {
    zk: Z,
    contenders: Contenders,
    record: String,
    options: ElectionOptions,
}

impl<Z: ZooKeeper> Election<Z> {
    /// The election on `directory`. Sends nothing.
    ///
    /// # Errors
    ///
    /// [`is_bad_input`](Error::is_bad_input): the path is not absolute, is the root, lies in ZooKeeper's own directory, or
    /// violates ZooKeeper's path rules; the data do not fit into a request; the margin is greater than half of the session
    /// timeout.
    pub fn new(zk: &Z, directory: &str, options: ElectionOptions) -> Result<Self, Error> {
        let contenders =
            Contenders { directory: directory.to_owned(), marks: MARKS, parents: options.parents };
        contenders.validate(&options.data)?;
        margin_in(zk, options.margin)?;
        Ok(Election { zk: zk.clone(), contenders, record: path::join(directory, RECORD), options })
    }

    /// Stands for election, and waits for the office. Step 1.
    ///
    /// # Cancellation
    ///
    /// Dropping the future withdraws: the candidate is deleted in the background, even while the reply to its create is in
    /// flight, and the watch is removed. Nothing is sent before the first poll.
    ///
    /// A future that is left unpolled holds up no other call, but its candidate stays: those behind it wait for it, as for
    /// a leader. Drop it to withdraw.
    ///
    /// # When the connection is lost
    ///
    /// The place in the queue lasts as long as the session. After a lost reply the znode is looked for by its guid, and the
    /// create is retried only if there is none.
    ///
    /// # When the session is over
    ///
    /// So is the candidacy. Nothing of a former session is taken for one's own.
    ///
    /// # Errors
    ///
    /// [`is_session_over`](Error::is_session_over); [`is_removed`](Error::is_removed) when another client deleted our
    /// candidate; [`is_denied`](Error::is_denied); with [`Parents::MustExist`] also [`Error::NoNode`];
    /// [`is_bad_input`](Error::is_bad_input) when a reconnect has made the session timeout too short for the margin.
    pub async fn stand(&self) -> Result<Term<Z>, Error> {
        operation!(&self.zk, RECIPE, "stand", &self.contenders.directory).of(self.standing()).await
    }

    async fn standing(&self) -> Result<Term<Z>, Error> {
        margin_in(&self.zk, self.options.margin)?;
        let (contender, look) = self.contenders.join(&self.zk, CANDIDATE, &self.options.data).await?;
        self.contenders.wait_turn(&self.zk, &contender, look, EVERYBODY).await?;
        self.term(contender)
    }

    /// As [`stand`](Self::stand), but for at most `limit`, counted from the call and over all retries; then the error is
    /// [`is_timed_out`](Error::is_timed_out), and the clean-up is under way.
    pub fn stand_within(&self, limit: Duration) -> impl Future<Output = Result<Term<Z>, Error>> + Send + '_ {
        let until = self.zk.now() + limit;
        let operation = operation!(&self.zk, RECIPE, "stand", &self.contenders.directory);
        operation.of(within(&self.zk, until, self.standing()))
    }

    fn term(&self, contender: OwnContender) -> Result<Term<Z>, Error> {
        let (data, on_suspect) = (self.options.data.clone(), self.options.on_suspect);
        let margin = margin_in(&self.zk, self.options.margin)?;
        let grant = Grant::of_contender(RECIPE, contender, data, on_suspect, margin);
        Ok(Term::new(&self.zk, Tenure::new(&self.zk, grant), self.record.clone()))
    }

    /// Follows who leads. Step 3. Nothing is sent before the first [`next`](Leadership::next).
    pub fn observe(&self) -> Leadership<Z> {
        Leadership::new(&self.zk, self.contenders.clone(), self.record.clone())
    }

    /// Who stands for election, the first in the queue first. The list may be stale.
    ///
    /// # Errors
    ///
    /// [`is_transient`](Error::is_transient), [`is_session_over`](Error::is_session_over), [`is_denied`](Error::is_denied).
    pub async fn candidates(&self) -> Result<Vec<Contender>, Error> {
        self.contenders.contenders(&self.zk).await
    }

    /// Deletes a candidate's znode, and exactly that one: a leader is told, a waiting candidate's call fails. `false` if it
    /// was gone already.
    ///
    /// # Errors
    ///
    /// As [`candidates`](Self::candidates); after `ConnectionLoss` it may be gone.
    pub async fn evict(&self, candidate: &Contender) -> Result<bool, Error> {
        let operation = operation!(&self.zk, RECIPE, "evict", &candidate.path);
        deleted(operation.of(self.zk.delete(&candidate.path, None)).await)
    }
}
