//! Following the leadership.
//!
//! 1. Read the record with a watch, pipelined with a list of the candidates. The record is valid if it names the first.
//! 2. Without a record arm a watch for its creation.
//! 3. After any notification look again.
//!
//! The watch is on the record, not on the candidates: followers are woken when a leader begins or goes, not by waiting
//! candidates. A leader whose candidate was deleted by another client leaves a stale record; the next acknowledgement
//! replaces it.

use super::RECIPE;
use super::acknowledgement::Acknowledgement;
use crate::observe::{self, operation};
use crate::parts::contenders::{Contender, Contenders};
use crate::parts::followed::{News, into_stream};
use crate::parts::retry::{connected, unless_again};
use crate::zk::{Error, ZooKeeper};
use std::future::Future;

/// The known leadership.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leader {
    /// A leader has begun.
    Acknowledged {
        /// The fencing token: larger than that of any leader before.
        token: i64,
        /// The leader's data.
        data: Vec<u8>,
    },
    /// No leader has recorded that it has begun.
    Unacknowledged {
        /// The candidates at that look, in order. Later changes are not reported.
        candidates: Vec<Contender>,
    },
}

impl Leader {
    /// Whether an observer is notified: changes among waiting candidates do not count.
    fn differs_from(&self, told: &Leader) -> bool {
        match (self, told) {
            (Leader::Unacknowledged { .. }, Leader::Unacknowledged { .. }) => false,
            _ => self != told,
        }
    }
}

/// A stream of the leadership, from [`follow`](super::Election::follow).
///
/// # Promises
///
/// The first value is the result of the first look; the next comes when it has changed. A record that exists only between
/// two looks is missed. Tokens never go back.
#[must_use = "nothing is followed unless `next` is awaited"]
pub struct Leadership<Z: ZooKeeper> {
    zk: Z,
    contenders: Contenders,
    record: String,
    /// Armed by the last look.
    watch: Option<Z::Watch>,
    told: Option<Leader>,
}

into_stream!(of Leadership, Leader);

impl News for Leader {
    fn zxid(&self) -> Option<i64> {
        match self {
            Leader::Acknowledged { token, .. } => Some(*token),
            Leader::Unacknowledged { .. } => None,
        }
    }

    fn says_the_same(&self, known: &Self) -> bool {
        !self.differs_from(known)
    }
}

impl<Z: ZooKeeper> Leadership<Z> {
    pub(super) fn new(zk: &Z, contenders: Contenders, record: String) -> Self {
        Leadership { zk: zk.clone(), contenders, record, watch: None, told: None }
    }

    /// Returns the current leadership at the first call, and every change later.
    ///
    /// # Cancellation
    ///
    /// Cancel-safe: may be dropped and called again at any time without missing a notification. Dropping the [`Leadership`]
    /// removes its watch.
    ///
    /// # When the connection is lost
    ///
    /// Resumes after the reconnect; what was missed shows at the next look.
    ///
    /// # Errors
    ///
    /// [`Error::is_session_over`], [`Error::is_denied`].
    pub async fn next(&mut self) -> Result<Leader, Error> {
        let operation = operation!(unnamed: &self.zk, RECIPE, "next", &self.record);
        operation.of(self.news()).await.map_err(|error| error.at("next", &self.record))
    }

    async fn news(&mut self) -> Result<Leader, Error> {
        loop {
            if let Some(watch) = &mut self.watch {
                observe::waits(&self.record);
                let fired = watch.await;
                self.watch = None;
                fired?;
            }
            let status = connected(&self.zk).await?;
            let Some(looked) =
                unless_again(&self.zk, status, look(&self.zk, &self.contenders, &self.record).await).await?
            else {
                continue;
            };
            let Some((news, watch)) = looked else { continue };
            self.watch = Some(watch);
            if self.told.as_ref().is_none_or(|told| news.differs_from(told)) {
                self.told = Some(news.clone());
                return Ok(news);
            }
        }
    }
}

/// Steps 1 and 2, once. `None`: look again.
async fn look<Z: ZooKeeper>(
    zk: &Z,
    contenders: &Contenders,
    record: &str,
) -> Result<Option<(Leader, Z::Watch)>, Error> {
    let reading = zk.get_watch(record);
    let listing = zk.children(&contenders.directory);
    let reading = match reading.await {
        Ok((found, watch)) => Some((Acknowledgement::read(&found.data), watch)),
        Err(e) if e.is_no_node() => None,
        Err(e) => return Err(e),
    };
    let names = match listing.await {
        Ok(listing) => listing.names,
        Err(e) if e.is_no_node() => Vec::new(),
        Err(e) => return Err(e),
    };
    let order = contenders.in_order(zk, &names).await?;
    let first = order.first().map(|(_, index)| names[*index].as_str());
    let unacknowledged = || Leader::Unacknowledged { candidates: contenders.contenders_at(&names, &order) };
    let Some((said, watch)) = reading else {
        let (found, watch) = zk.exists_watch(record).await?;
        // Created in between: the next look reads it.
        return Ok(found.is_none().then(|| (unacknowledged(), watch)));
    };
    let news = match said {
        Some(said) if first == Some(said.candidate.as_str()) => {
            Leader::Acknowledged { token: said.token, data: said.data }
        }
        _ => unacknowledged(),
    };
    Ok(Some((news, watch)))
}

impl<Z: ZooKeeper> std::fmt::Debug for Leadership<Z> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Leadership")
            .field("record", &self.record)
            .field("told", &self.told)
            .finish_non_exhaustive()
    }
}
