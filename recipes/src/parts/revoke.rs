//! Revocation, from the side of the client that revokes.
//!
//! 1. *Ask*: write the revocation word into the owner's znode. Names are unique, so no successor is hit; only revocations
//!    write there, so the version tells whether one came before.
//! 2. *Force*: ask, pipelined with a watch on the znode. If the znode is still there when the grace period ends, delete it.

use super::retry::{Doubt, again, connected, present, until_answered, until_written};
use super::select::first;
use crate::observe::Outcome;
use crate::zk::{Error, ErrorKind, Stat, Status, ZooKeeper};
use futures_util::future::Either;
use std::time::Duration;

/// The outcome of a revocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fate {
    /// The contender was asked to release, now or before.
    Asked,
    /// The contender was asked, and released within the grace period.
    Yielded,
    /// The contender was asked, and its znode was deleted at the end of the grace period.
    Forced,
    /// The contender was already gone.
    Gone,
}

impl Outcome for Fate {
    fn outcome(&self) -> &'static str {
        match self {
            Fate::Asked => "asked",
            Fate::Yielded => "yielded",
            Fate::Forced => "forced",
            Fate::Gone => "gone",
        }
    }
}

/// Step 1: [`Fate::Asked`] or [`Fate::Gone`].
pub(crate) async fn ask<Z: ZooKeeper>(zk: &Z, path: &str, word: &str) -> Result<Fate, Error> {
    let status = connected(zk).await?;
    let set = zk.set(path, word.as_bytes(), Some(0));
    asked(zk, path, word, status, set.await).await
}

/// Resolves the outcome of the write, with retries.
async fn asked<Z: ZooKeeper>(
    zk: &Z,
    path: &str,
    word: &str,
    mut status: Status,
    mut answer: Result<Stat, Error>,
) -> Result<Fate, Error> {
    let (mut version, mut doubt) = (0, Doubt::default());
    loop {
        match answer {
            Ok(_) => return Ok(Fate::Asked),
            Err(e) if e.is_no_node() => return Ok(Fate::Gone),
            // An applied write has moved the version on, so the retry is safe.
            Err(e) if e.is_transient() => doubt.again(zk, status, e).await?,
            Err(Error { kind: ErrorKind::BadVersion, .. }) => {
                match written(zk, path).await.map_err(|e| doubt.about(e))? {
                    None => return Ok(Fate::Gone),
                    Some((_, data)) if data == word.as_bytes() => return Ok(Fate::Asked),
                    // Another client has written other data.
                    Some((now, _)) => version = now,
                }
            }
            Err(e) => return Err(doubt.about(e)),
        }
        status = connected(zk).await?;
        answer = zk.set(path, word.as_bytes(), Some(version)).await;
    }
}

/// Reads the version and the data of a znode.
pub(crate) async fn written<Z: ZooKeeper>(zk: &Z, path: &str) -> Result<Option<(i32, Vec<u8>)>, Error> {
    let found = present(until_answered(zk, || zk.get(path)).await)?;
    Ok(found.map(|found| (found.stat.version, found.data)))
}

/// Step 2: [`Fate::Yielded`], [`Fate::Forced`] or [`Fate::Gone`]. The grace period begins with the reply to the write, by
/// this client's clock.
pub(crate) async fn force<Z: ZooKeeper>(
    zk: &Z,
    path: &str,
    word: &str,
    grace: Duration,
) -> Result<Fate, Error> {
    let status = connected(zk).await?;
    // The write goes first, so the read behind it is not older.
    let set = zk.set(path, word.as_bytes(), Some(0));
    let watching = zk.children_watch(path);
    if asked(zk, path, word, status, set.await).await? == Fate::Gone {
        return Ok(Fate::Gone);
    }
    let until = zk.now() + grace;
    let going = async {
        let mut watching = Some((status, watching));
        loop {
            let (sent_at, answer) = match watching.take() {
                Some((status, watching)) => (status, watching.await),
                None => (connected(zk).await?, zk.children_watch(path).await),
            };
            match answer {
                Ok((_, watch)) => return watch.await.map(drop),
                Err(e) if e.is_no_node() => return Ok(()),
                Err(e) => again(zk, sent_at, e).await?,
            }
        }
    };
    match first(going, zk.sleep_until(until)).await {
        Either::Left(gone) => gone.map(|()| Fate::Yielded),
        Either::Right(()) => remove(zk, path).await,
    }
}

/// Deletes a znode whose grace period is over: [`Fate::Forced`] or [`Fate::Gone`].
pub(crate) async fn remove<Z: ZooKeeper>(zk: &Z, path: &str) -> Result<Fate, Error> {
    // After a lost reply it is unknown which client deleted it.
    let deleted = present(until_written(zk, || zk.delete(path, None)).await)?;
    Ok(deleted.map_or(Fate::Gone, |()| Fate::Forced))
}
