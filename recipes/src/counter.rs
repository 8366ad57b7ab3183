//! A counter: a number that many clients add to, each addition exactly once.
//!
//! 1. The count is the number in the data of `<c>/value`, plus the data version of that znode. So a transaction that writes
//!    the same data again adds one, whoever else adds at the same time; nobody has to read before, and nobody is refused.
//! 2. The data version of `<c>` counts the changes of the number in the data. Every transaction checks it, so the number that
//!    it writes again is the one that it has read.
//! 3. Add a few: one transaction of the receipt, the check, and a write for each. The stat of the last write tells the count.
//! 4. Add many, or a negative number: the receipt, a write of `<c>` with the version that was read, and a write of the new
//!    number. Set, and compare and set, put a new znode in the place of the old one: its version begins at zero. A counter
//!    whose version is nearly used up is replaced in the same way.
//! 5. Refused: the number was changed meanwhile. Read both znodes in one flight, `<c>` first, and go on at 3 or 4.
//! 6. A lost reply: the receipt tells whether the transaction was applied. As long as the receipt exists nobody has deleted the
//!    counter and made it anew.
//!
//! ```text
//! <c>                    its version counts the changes of the number in the data
//! <c>/value              a number; with the version of this znode: the count
//! <c>/receipts/<guid>    one for each object that writes
//! ```

use crate::names::Freshness;
use crate::observe::operation;
use crate::parts::locked::locked;
use crate::parts::parents::{Parents, behind};
use crate::parts::receipt::{Applied, Receipt};
use crate::parts::retry::{again, connected, until_answered};
use crate::parts::setters::setters;
use crate::parts::watch_loop::{Updates, Versioned};
use crate::zk::duty::{answered, settle};
use crate::zk::{CreateMode, Data, Error, ErrorKind, Op, ZooKeeper, path};
use std::sync::{Arc, Mutex};

const RECIPE: &str = "counter";

/// The greatest number that is added by as many writes, in one transaction.
const FEW: i64 = 64;

/// The version from which on a znode is replaced.
const WORN: i32 = 1 << 30;

/// The greatest count, and the smallest with its sign: there is room for all that versions can add.
const LIMIT: i64 = 1 << 62;

/// Options of a counter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CounterOptions {
    /// How the counter's znode and its missing parents are created.
    pub parents: Parents,
}

setters!(CounterOptions {
    with_parents(parents: Parents),
});

/// A number that many clients add to. It begins at zero.
///
/// # Promises
///
/// * *Exactly once.* An addition that returns was applied once, also when replies were lost; one that fails with a known outcome
///   was not applied.
/// * *Its own count.* The count that an addition returns is that right after it. So as long as nobody sets the counter or subtracts,
///   each addition returns another count: a unique number.
/// * *No retries.* Additions of 1 to 64 never refuse each other, however many clients add.
/// * *Compare and set* succeeds exactly if the count is the expected one at that moment.
///
/// Not promised: these when another client writes to the counter's znodes in another way than this recipe; that a call which is
/// refused again and again, by others that set the counter or add more than 64, ends in a bounded time: one of them goes on each
/// time.
///
/// The count lies between −2^62 and 2^62. Curator's `DistributedAtomicLong` and Kazoo's `Counter` keep a number in the data of
/// one znode: they cannot share a counter with this recipe.
///
/// # Cost
///
/// An addition of 1 to 64: one request, and three more for the first one of an object. Another change: one request, and three
/// more for each refusal.
///
/// # Examples
///
/// ```
/// use zk_recipes::{Counter, CounterOptions, Freshness};
///
/// # sim_zk::doc_example(|zk| async move {
/// let orders = Counter::new(&zk, "/counters/orders", CounterOptions::default())?;
/// assert_eq!(orders.add(1).await?, Some(1));
/// assert_eq!(orders.add(41).await?, Some(42));
/// orders.compare_and_set(42, 7).await?;
/// assert!(orders.compare_and_set(42, 8).await.is_err_and(|error| error.is_conflict()));
/// assert_eq!(orders.get(Freshness::Latest).await?, 7);
/// # Ok(())
/// # });
/// ```
#[derive(Clone)]
pub struct Counter<Z: ZooKeeper> {
    zk: Z,
    path: String,
    options: CounterOptions,
    receipt: Receipt<Z>,
    /// What was last read or written.
    known: Arc<Mutex<Option<Known>>>,
}

/// The state of a counter.
#[derive(Clone)]
struct Known {
    /// The receipt that stood while it was read.
    stood: Arc<str>,
    /// The version of the counter's znode.
    changes: i32,
    /// The number in the data and the version of the value, if there is one.
    value: Option<(i64, i32)>,
}

impl Known {
    fn count(&self) -> i64 {
        self.value.map_or(0, |(number, version)| counted(number, version))
    }
}

/// A change of a counter.
#[derive(Clone, Copy)]
enum Change {
    Add(i64),
    Set(i64),
    Replace { expected: i64, new: i64 },
}

/// The transaction for a change, without the receipt.
struct Plan {
    ops: Vec<Op>,
    /// The number in the data behind it.
    number: i64,
    /// The change is applied by it; otherwise it only prepares for it.
    is_whole: bool,
    /// It makes the znode of the value, with that count.
    is_new: bool,
    /// It changes the number in the data.
    changes: bool,
}

/// Step 1. A version is counted on beyond the greatest signed number.
fn counted(number: i64, version: i32) -> i64 {
    number.saturating_add(i64::from(version.cast_unsigned()))
}

/// The number in the data; a foreign text counts as zero.
fn number_in(data: &[u8]) -> i64 {
    std::str::from_utf8(data).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn shown(found: Data) -> Versioned {
    let count = counted(number_in(&found.data), found.stat.version);
    Versioned::new(count.to_string().into_bytes(), &found.stat)
}

impl<Z: ZooKeeper> Counter<Z> {
    /// The counter at `path`. Sends nothing.
    ///
    /// # Errors
    ///
    /// [`Error::is_bad_input`]: the path is not absolute, is the root, lies in ZooKeeper's own directory, violates ZooKeeper's
    /// path rules, or is too long for a request.
    pub fn new(zk: &Z, path: &str, options: CounterOptions) -> Result<Self, Error> {
        path::validate_directory(path)?;
        // The longest request names a znode below it as often as it writes.
        let writes = usize::try_from(FEW).unwrap_or(0) + 2;
        path::validate_size(zk.max_request_bytes(), &path::join(path, &"x".repeat(160)).repeat(writes), &[])?;
        let receipt = Receipt::new(zk, path::join(path, "receipts"));
        Ok(Counter { zk: zk.clone(), path: path.to_owned(), options, receipt, known: Arc::default() })
    }

    fn value(&self) -> String {
        path::join(&self.path, "value")
    }

    /// Adds a number, and returns the count right after that; `None` if the reply was lost: the number was added, and what the
    /// count was then is not known.
    ///
    /// # Cancellation
    ///
    /// The outcome of a dropped call is unknown: it is applied once or not at all, and not after the end of the session. The next
    /// change through this object waits until that is certain.
    ///
    /// # When the connection is lost
    ///
    /// The receipt tells whether it was applied; if not, it is sent again.
    ///
    /// # Errors
    ///
    /// [`Error::is_bad_input`] for zero, and if the count would leave its limits; [`Error::is_outcome_unknown`] only when another
    /// client deleted the receipt or wrote to it after a lost reply; [`Error::is_session_over`]: the outcome is unknown;
    /// [`Error::is_denied`]; with [`Parents::MustExist`] also [`Error::is_no_node`].
    pub async fn add(&self, number: i64) -> Result<Option<i64>, Error> {
        let operation = operation!(&self.zk, RECIPE, "add", &self.path);
        let adds = async {
            if number == 0 {
                return Err(ErrorKind::BadInput("there is nothing to add".to_owned()).into());
            }
            self.apply(Change::Add(number)).await
        };
        operation.of(adds).await
    }

    /// Sets the count, whatever it is.
    ///
    /// # Cancellation, When the connection is lost, Errors
    ///
    /// As [`add`](Self::add).
    pub async fn set(&self, count: i64) -> Result<(), Error> {
        operation!(&self.zk, RECIPE, "set", &self.path).of(self.apply(Change::Set(count))).await.map(drop)
    }

    /// Sets the count if it is the expected one.
    ///
    /// # Cancellation, When the connection is lost
    ///
    /// As [`add`](Self::add).
    ///
    /// # Errors
    ///
    /// [`Error::is_conflict`] when the count was another one at some moment during the call: nothing was set. Otherwise as
    /// [`add`](Self::add).
    pub async fn compare_and_set(&self, expected: i64, new: i64) -> Result<(), Error> {
        let operation = operation!(&self.zk, RECIPE, "compare_and_set", &self.path);
        operation.of(self.apply(Change::Replace { expected, new })).await.map(drop)
    }

    /// Reads the count; zero if there is no counter.
    ///
    /// # When the connection is lost
    ///
    /// The request is sent again.
    ///
    /// # Errors
    ///
    /// [`Error::is_session_over`], [`Error::is_denied`].
    pub async fn get(&self, freshness: Freshness) -> Result<i64, Error> {
        let value = self.value();
        let found = crate::names::look_up(&self.zk, &value, freshness);
        let found = operation!(&self.zk, RECIPE, "get", &self.path).attempt(found).await?;
        Ok(found.map_or(0, |found| counted(number_in(&found.data), found.stat.version)))
    }

    /// Follows the count: the data of each [`Versioned`] are the count as a decimal number. Sends nothing. Its position among the
    /// changes is the mzxid; the version is of no use.
    pub fn follow(&self) -> Updates<Z> {
        Updates::new(&self.zk, RECIPE, self.value(), shown)
    }

    /// Steps 3 to 6.
    async fn apply(&self, change: Change) -> Result<Option<i64>, Error> {
        let mut is_certain = false;
        loop {
            let known = self.known(is_certain).await?;
            if let Change::Replace { expected, .. } = change
                && known.count() != expected
            {
                if is_certain {
                    return Err(ErrorKind::Conflict.into());
                }
                // It may have been read earlier, or by a server that is behind.
                is_certain = true;
                continue;
            }
            let plan = self.plan(&known, change)?;
            match self.receipt.write_under(&known.stood, &plan.ops).await {
                Ok(Some(applied)) => {
                    let is_whole = plan.is_whole;
                    let count = self.learns(known, plan, &applied);
                    if is_whole {
                        return Ok(count);
                    }
                }
                Ok(None) => *locked(&self.known) = None,
                Err(Error { kind: ErrorKind::Multi { cause, .. }, .. }) => match cause.kind {
                    ErrorKind::BadVersion | ErrorKind::NoNode | ErrorKind::NodeExists => {
                        (is_certain, *locked(&self.known)) = (false, None);
                    }
                    _ => return Err(*cause),
                },
                Err(e) => return Err(e),
            }
        }
    }

    /// Notes what a transaction has made, and returns the count behind it.
    fn learns(&self, known: Known, plan: Plan, applied: &Applied) -> Option<i64> {
        let version = match applied.last_written() {
            _ if plan.is_new => Some(0),
            written => written.map(|stat| stat.version),
        };
        let changes = if plan.changes { known.changes.wrapping_add(1) } else { known.changes };
        let value = version.map(|version| (plan.number, version));
        // Without a version it is read again.
        *locked(&self.known) =
            value.filter(|_| plan.is_whole).map(|value| Known { changes, value: Some(value), ..known });
        value.map(|(number, version)| counted(number, version))
    }

    /// The transaction for a change.
    fn plan(&self, known: &Known, change: Change) -> Result<Plan, Error> {
        let (path, value) = (self.path.clone(), self.value());
        let set = |number: i64| Op::Set {
            path: value.clone(),
            data: number.to_string().into_bytes(),
            version: None,
        };
        let prepares = Plan { ops: Vec::new(), number: 0, is_whole: true, is_new: false, changes: true };
        // A server takes the version −1 for any: it is passed over.
        if known.changes == -1 {
            let ops = vec![Op::Set { path, data: Vec::new(), version: None }];
            return Ok(Plan { ops, is_whole: false, ..prepares });
        }
        let is_worn = |version: i32| !(0..WORN).contains(&version);
        if let (Change::Add(few @ 1..=FEW), Some((number, version))) = (change, known.value)
            && !is_worn(version)
        {
            let check = Op::Check { path, version: Some(known.changes) };
            let writes = std::iter::repeat_with(|| set(number)).take(usize::try_from(few).unwrap_or(0));
            let ops = std::iter::once(check).chain(writes).collect();
            return Ok(Plan { ops, number, changes: false, ..prepares });
        }
        let count = known.count();
        let new = match change {
            Change::Add(number) => count.saturating_add(number),
            Change::Set(new) | Change::Replace { new, .. } => new,
        };
        if !(-LIMIT..=LIMIT).contains(&new) {
            let why = format!("the count would be {new}, and its limit is 2^62 either way");
            return Err(ErrorKind::BadInput(why).into());
        }
        let changes = Op::Set { path, data: Vec::new(), version: Some(known.changes) };
        let create = Op::Create {
            path: value.clone(),
            data: new.to_string().into_bytes(),
            mode: CreateMode::Persistent,
        };
        let delete = |version| Op::Delete { path: value.clone(), version };
        Ok(match (change, known.value) {
            (_, None) => Plan { ops: vec![changes, create], number: new, is_new: true, ..prepares },
            (Change::Add(many), Some((number, version))) if !is_worn(version) => {
                // The write itself adds one.
                let number = number.saturating_add(many) - 1;
                Plan { ops: vec![changes, set(number)], number, ..prepares }
            }
            (Change::Set(_), Some(_)) => {
                Plan { ops: vec![changes, delete(None), create], number: new, is_new: true, ..prepares }
            }
            (_, Some((_, version))) => {
                let ops = vec![changes, delete(Some(version)), create];
                Plan { ops, number: new, is_new: true, ..prepares }
            }
        })
    }

    /// What is known, or else is read, behind a settling write if it has to be certain.
    async fn known(&self, is_certain: bool) -> Result<Known, Error> {
        loop {
            let known = locked(&self.known).clone();
            if let Some(known) = known.filter(|_| !is_certain) {
                return Ok(known);
            }
            match self.receipt.make().await {
                Err(e) if e.is_no_node() => {
                    self.make().await?;
                    continue;
                }
                made => made?,
            }
            let Some(stood) = self.receipt.path() else { continue };
            let status = connected(&self.zk).await?;
            let settled = is_certain.then(|| settle(&self.zk, &self.path));
            // In this order: what is read of the value is no older than the version.
            let (above, value) = (self.zk.exists(&self.path), self.zk.get(&self.value()));
            let (settled, above, value) = (answered(settled).await, above.await, value.await);
            let value = match value {
                Err(e) if e.is_no_node() => Ok(None),
                value => value.map(Some),
            };
            match settled.and(above).and_then(|above| Ok((above, value?))) {
                // Without the counter's znode there is no receipt either, and the next write says so.
                Ok((above, value)) => {
                    let changes = above.map_or(0, |above| above.version);
                    let value = value.map(|found| (number_in(&found.data), found.stat.version));
                    let known = Known { stood: stood.into(), changes, value };
                    *locked(&self.known) = Some(known.clone());
                    return Ok(known);
                }
                Err(e) => again(&self.zk, status, e).await?,
            }
        }
    }

    /// Creates the directory of the receipts, and what is missing above.
    async fn make(&self) -> Result<(), Error> {
        let parents = self.options.parents;
        let made = until_answered(&self.zk, || async {
            let above = (parents != Parents::MustExist).then(|| parents.make(&self.zk, &self.path));
            let below = self.zk.create(&path::join(&self.path, "receipts"), &[], parents.mode());
            behind(above, below).await?
        });
        match made.await {
            Ok(_) | Err(Error { kind: ErrorKind::NodeExists, .. }) => Ok(()),
            // It was collected in between.
            Err(e) if e.is_no_node() && parents != Parents::MustExist => Ok(()),
            Err(e) => Err(e),
        }
    }
}

impl<Z: ZooKeeper> std::fmt::Debug for Counter<Z> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Counter").field("path", &self.path).finish_non_exhaustive()
    }
}
