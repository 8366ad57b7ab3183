//! Leader election: one leader among many candidates, and a record that the leader has begun.
//!
//! 1. Stand: create an ephemeral sequential znode, pipelined with a list of the directory. The first candidate has a
//!    [`Term`] of office, whose fencing token is the czxid of the candidate. Otherwise watch the candidate just ahead, and only
//!    that one; look again when it goes.
//! 2. Acknowledge: write the record when the leader procedure is done, in one transaction with a check of the own
//!    candidate.
//! 3. Follow: read the record, pipelined with a list of the candidates. The record is valid if it names the first of them.
//! 4. Resign: delete candidate and record in one transaction.
//!
//! After "Leader Election" of ZooKeeper's recipes page, which omits lost replies, leaders that must stop in time, a fencing token,
//! and an acknowledgement that only the leader can make and that goes with it.

mod acknowledgement;
mod leadership;
mod term;

pub use leadership::{Leader, Leadership};
pub use term::Term;

use crate::call::{Call, Work};
use crate::observe::operation;
use crate::parts::contenders::{Contender, Contenders, OwnContender};
use crate::parts::lock_methods::lock_methods;
use crate::parts::naming::{Marks, Role};
use crate::parts::parents::Parents;
use crate::parts::select::within;
use crate::parts::setters::setters;
use crate::parts::tenure::{Grant, OnSuspect, Tenure, margin_in};
use crate::zk::{Error, ZooKeeper, path};
use std::time::Duration;

const RECIPE: &str = "election";

/// The only role among candidates.
const CANDIDATE: Role = 0;

/// Every candidate excludes every other.
const EVERYBODY: fn(Role) -> bool = |_| true;

/// Candidates are `<guid>-n_<n>`.
const MARKS: Marks = Marks::standard(&["-n_"]);

/// The name of the record's znode.
const RECORD: &str = "leader";

/// Options of an election. By default: containers, [`OnSuspect::Stop`], a tenth of the timeout as margin, no data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
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

setters!(ElectionOptions {
    with_parents(parents: Parents),
    with_on_suspect(on_suspect: OnSuspect),
    with_margin(margin: Option<Duration>, into),
    with_data(data: Vec<u8>, into),
});

/// An election on a directory.
///
/// # Promises
///
/// * *Effects.* Through [`Term::transact`], or on a store that refuses smaller [tokens](Term::token), the effects of two
///   leaders never interleave: regardless of clocks, networks and pauses.
/// * *Belief.* At most one term at a time may act, as long as clocks drift by less than the margin within one session
///   timeout, leaders stop within the margin, and an answering server is in touch with its leader.
/// * *Order.* Terms begin in the order in which the candidates' znodes were created; the token grows every time.
/// * *No thundering herd.* The end of a leader wakes one candidate, the end of another candidate at most one.
/// * *Stability.* A candidate is never recreated silently: a new candidate is a new call.
/// * *Acknowledged.* A term has at most one acknowledgement, and a deposed leader cannot make it.
///
/// Not promised: that followers know the leader at every instant; that an elected leader has begun, which is what the
/// acknowledgement is for.
///
/// # Cost
///
/// Uncontended: two requests in one round trip. Taking over: one list after the notification. Acknowledging and resigning:
/// one request each. The first [`lost`](Term::lost) or [`run`](Term::run) of a term arms the watch on its own candidate: one
/// request, off the critical path, and one notification when the term ends.
///
/// # Examples
///
/// ```
/// use zk_recipes::{Election, ElectionOptions, Leader, Released};
///
/// # sim_zk::doc_example(|zk| async move {
/// let election = Election::new(&zk, "/election", ElectionOptions::default())?;
/// let mut leadership = election.follow();
/// assert_eq!(leadership.next().await?, Leader::Unacknowledged { candidates: vec![] });
///
/// let term = election.stand().await?;
/// term.acknowledge(b"10.0.0.7:4711").await?;
/// let news = leadership.next().await?;
/// assert_eq!(news, Leader::Acknowledged { token: term.token(), data: b"10.0.0.7:4711".to_vec() });
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
    /// [`Error::is_bad_input`]: the path is not absolute, is the root, lies in ZooKeeper's own directory, or violates
    /// ZooKeeper's path rules; the data do not fit into a request; the margin is greater than half of the session timeout.
    pub fn new(zk: &Z, directory: &str, options: ElectionOptions) -> Result<Self, Error> {
        let contenders =
            Contenders { directory: directory.to_owned(), marks: MARKS, parents: options.parents };
        contenders.validate(zk, &options.data)?;
        margin_in(zk, options.margin)?;
        Ok(Election { zk: zk.clone(), contenders, record: path::join(directory, RECORD), options })
    }

    /// Stands for election, and waits for the term. Step 1.
    ///
    /// # Cancellation
    ///
    /// Dropping the future withdraws: the candidate is deleted in the background, even while the reply to its create is in
    /// flight, and the watch is removed. Nothing is sent before the first poll.
    ///
    /// An unpolled future blocks no other call, but its candidate stays: candidates behind it wait for it, as for a leader.
    /// Drop it to withdraw.
    ///
    /// # When the connection is lost
    ///
    /// The place in the queue lasts as long as the session. After a lost reply the znode is looked for by its guid, and the
    /// create is retried only if there is none.
    ///
    /// # When the session is over
    ///
    /// The candidacy ends. No znode of a former session counts as the own candidate.
    ///
    /// # With a limit
    ///
    /// When it is over, the error is [`Error::is_timed_out`], and the clean-up is under way.
    ///
    /// # Errors
    ///
    /// [`Error::is_session_over`]; [`Error::is_removed`] when another client deleted our
    /// candidate; [`Error::is_denied`]; with [`Parents::MustExist`] also [`Error::is_no_node`];
    /// [`Error::is_bad_input`] when a reconnect has made the session timeout too short for the margin.
    pub fn stand(&self) -> Call<Z, impl Work<Output = Result<Term<Z>, Error>>> {
        Call::new(&self.zk, |until| {
            operation!(&self.zk, RECIPE, "stand", &self.contenders.directory).of(within(
                &self.zk,
                until,
                self.standing(),
            ))
        })
    }

    async fn standing(&self) -> Result<Term<Z>, Error> {
        margin_in(&self.zk, self.options.margin)?;
        let (contender, look) = self.contenders.join(&self.zk, CANDIDATE, &self.options.data).await?;
        self.contenders.wait_turn(&self.zk, &contender, look, EVERYBODY).await?;
        self.term(contender)
    }

    fn term(&self, contender: OwnContender) -> Result<Term<Z>, Error> {
        let ElectionOptions { data, on_suspect, margin, .. } = &self.options;
        let grant = Grant::of_contender(&self.zk, RECIPE, contender, data, *on_suspect, *margin)?;
        Ok(Term::new(&self.zk, Tenure::new(&self.zk, grant), self.record.clone()))
    }

    /// Follows the leadership. Step 3. Sends nothing before the first [`next`](Leadership::next).
    pub fn follow(&self) -> Leadership<Z> {
        Leadership::new(&self.zk, self.contenders.clone(), self.record.clone())
    }
}

lock_methods!(evict Election, candidates);
