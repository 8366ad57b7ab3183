//! The votes of other sites before the decision: one watch on each that is missing.

use super::Vote;
use super::record::TransactionRecord;
use crate::observe;
use crate::parts::locked::locked;
use crate::parts::retry::{connected, unless_again};
use crate::zk::{Error, ZooKeeper};
use futures_util::FutureExt;
use futures_util::future::{Shared, select_all};
use std::sync::{Mutex, MutexGuard};

/// The known state of each vote, in the order of the sites.
pub(super) struct Votes<Z: ZooKeeper>(Mutex<Vec<Known<Z::Watch>>>);

enum Known<W: std::future::Future> {
    /// Not read.
    Nothing,
    /// Not cast; fires when it is.
    Missing(Shared<W>),
    /// Changed since the read.
    Changed,
    /// Cast, and not reported.
    Cast(Vote),
    /// Reported; or the own vote; or of a site that has finished.
    Done,
}

impl<Z: ZooKeeper> Default for Votes<Z> {
    fn default() -> Self {
        Votes(Mutex::new(Vec::new()))
    }
}

impl<Z: ZooKeeper> Votes<Z> {
    fn known(&self) -> MutexGuard<'_, Vec<Known<Z::Watch>>> {
        locked(&self.0)
    }

    /// Returns the next unreported vote of another site; `None` when all are reported.
    pub(super) async fn next(
        &self,
        record: &TransactionRecord<Z>,
        own: &str,
    ) -> Result<Option<(String, Vote)>, Error> {
        {
            let mut known = self.known();
            if known.is_empty() {
                let known_of = |site: &String| if site == own { Known::Done } else { Known::Nothing };
                known.extend(record.sites.iter().map(known_of));
            }
        }
        loop {
            let status = connected(&record.zk).await?;
            let asked = self.ask(record).await;
            let Some(()) = unless_again(&record.zk, status, asked).await? else { continue };
            if let Some(without_index) = self.tell(record) {
                return Ok(Some(without_index));
            }
            let missing = self.missing();
            if missing.is_empty() {
                return Ok(None);
            }
            observe::waits(&record.path);
            let (event, at, _) = select_all(missing.iter().map(|(_, watch)| watch.clone())).await;
            event?;
            let (site, watch) = &missing[at];
            let mut known = self.known();
            if matches!(&known[*site], Known::Missing(other) if other.ptr_eq(watch)) {
                known[*site] = Known::Changed;
            }
        }
    }

    /// Reads all unknown votes: changed ones in one request, the others with a watch each, pipelined.
    async fn ask(&self, record: &TransactionRecord<Z>) -> Result<(), Error> {
        let asked = |is: fn(&Known<Z::Watch>) -> bool| -> Vec<usize> {
            self.known().iter().enumerate().filter(|(_, known)| is(known)).map(|(at, _)| at).collect()
        };
        let path = |at: usize| record.site(&record.sites[at]);
        let changed = asked(|known| matches!(known, Known::Changed));
        if !changed.is_empty() {
            let paths: Vec<String> = changed.iter().copied().map(path).collect();
            let votes = record.zk.get_many(&paths).await?;
            for (at, vote) in changed.into_iter().zip(votes) {
                let found = match vote {
                    Some(vote) => Vote::read(&vote.data)?.map_or(Known::Nothing, Known::Cast),
                    None => Known::Done,
                };
                self.learns(at, found, |known| matches!(known, Known::Changed));
            }
        }
        let unknown = asked(|known| matches!(known, Known::Nothing));
        let flight: Vec<_> = unknown.iter().map(|at| record.zk.get_watch(&path(*at))).collect();
        for (at, answer) in unknown.into_iter().zip(flight) {
            let found = match answer.await {
                Ok((vote, watch)) => {
                    Vote::read(&vote.data)?.map_or_else(|| Known::Missing(watch.shared()), Known::Cast)
                }
                Err(e) if e.is_no_node() => Known::Done,
                Err(e) => return Err(e),
            };
            self.learns(at, found, |known| matches!(known, Known::Nothing));
        }
        Ok(())
    }

    /// Records an answer, unless a newer one was recorded since the request.
    fn learns(&self, at: usize, found: Known<Z::Watch>, is_asked_for: fn(&Known<Z::Watch>) -> bool) {
        let known = &mut self.known()[at];
        if is_asked_for(known) {
            *known = found;
        }
    }

    fn tell(&self, record: &TransactionRecord<Z>) -> Option<(String, Vote)> {
        let mut known = self.known();
        let cast = known.iter().enumerate().find_map(|(at, known)| match known {
            Known::Cast(vote) => Some((at, *vote)),
            _ => None,
        });
        let (at, vote) = cast?;
        known[at] = Known::Done;
        Some((record.sites[at].clone(), vote))
    }

    fn missing(&self) -> Vec<(usize, Shared<Z::Watch>)> {
        let missing = |(at, known): (usize, &Known<Z::Watch>)| match known {
            Known::Missing(watch) => Some((at, watch.clone())),
            _ => None,
        };
        self.known().iter().enumerate().filter_map(missing).collect()
    }
}
