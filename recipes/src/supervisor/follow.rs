//! Followers that outlast a session.

use super::Supervisor;
use super::policy::Ended;
use super::sessions::Connect;
use crate::parts::select::first;
use crate::zk::Error;
use futures_util::future::Either;
use std::convert::Infallible;
use std::fmt;

pub use crate::parts::followed::{Follow, News};

/// A change that a [`Follower`] was told.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Followed<T> {
    /// The change.
    pub news: T,
    /// The number of the session in which it was read.
    pub session: u32,
    /// The ensemble has lost writes: what it says is older than what an earlier session was told.
    pub is_rollback: bool,
}

/// A follower that is made again in each session: see [`Supervisor::follow`].
///
/// # Promises
///
/// Those of the follower within a session. From one session to the next a value that is known is not told again, and an older
/// one only with [`Followed::is_rollback`].
pub struct Follower<C: Connect, X: Follow, M> {
    supervisor: Supervisor<C>,
    make: M,
    present: Option<(u32, X)>,
    last: Option<X::News>,
    /// The greatest zxid that an earlier session was told.
    newest: Option<i64>,
}

impl<C: Connect> Supervisor<C> {
    /// Follows something in one session after the other: `make` makes its follower in each. Sends nothing before the first
    /// [`next`](Follower::next).
    ///
    /// # Examples
    ///
    /// ```
    /// use zk_recipes::supervisor::Supervisor;
    /// use zk_recipes::{Config, ConfigOptions, Update};
    ///
    /// # sim_zk::doc_example_supervised(|connect| async move {
    /// # let supervisor = Supervisor::new(connect);
    /// let mut settings =
    ///     supervisor.follow(|zk| Ok(Config::new(zk, "/settings", ConfigOptions::default())?.follow()));
    /// assert_eq!(settings.next().await.expect("it is connected").news, Update::Missing);
    /// # Ok(())
    /// # });
    /// ```
    pub fn follow<X, M>(&self, make: M) -> Follower<C, X, M>
    where
        X: Follow,
        M: FnMut(&C::Zk) -> Result<X, Error>,
    {
        Follower { supervisor: self.clone(), make, present: None, last: None, newest: None }
    }
}

impl<C: Connect, X: Follow, M: FnMut(&C::Zk) -> Result<X, Error>> Follower<C, X, M> {
    /// Returns the next change: the current value at first, then every change, or the last of several.
    ///
    /// # Cancellation
    ///
    /// Cancel-safe.
    ///
    /// # Errors
    ///
    /// [`Ended::Recipe`] for what `make` returns, and for a denied path; [`Ended::NoSession`]; [`Ended::ShutDown`].
    pub async fn next(&mut self) -> Result<Followed<X::News>, Ended<Infallible>> {
        loop {
            let (session, follower) = match &mut self.present {
                Some((number, follower)) => (*number, follower),
                None => {
                    let session = self.supervisor.session().await?;
                    let follower = (self.make)(session.zk()).map_err(Ended::Recipe)?;
                    let (number, follower) = self.present.insert((session.number(), follower));
                    (*number, follower)
                }
            };
            let news = match first(self.supervisor.shared.stopping(), follower.next()).await {
                Either::Left(()) => return Err(Ended::ShutDown),
                Either::Right(Ok(news)) => news,
                Either::Right(Err(error)) if error.is_session_over() => {
                    self.present = None;
                    self.supervisor.shared.is_over(session);
                    continue;
                }
                Either::Right(Err(error)) => return Err(Ended::Recipe(error)),
            };
            if self.last.as_ref().is_some_and(|last| last.says_the_same(&news)) {
                continue;
            }
            let news = match self.newest {
                Some(newest) => news.after(newest),
                None => news,
            };
            let is_rollback = news.zxid().zip(self.newest).is_some_and(|(zxid, newest)| zxid < newest);
            self.newest = if is_rollback { news.zxid() } else { self.newest.max(news.zxid()) };
            self.last = Some(news.clone());
            return Ok(Followed { news, session, is_rollback });
        }
    }
}

impl<C: Connect, X: Follow, M> fmt::Debug for Follower<C, X, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let session = self.present.as_ref().map(|(number, _)| number);
        f.debug_struct("Follower").field("session", &session).finish_non_exhaustive()
    }
}
