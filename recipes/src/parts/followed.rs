//! What is followed: changes that come one after the other.

use crate::zk::Error;
use futures_util::stream::{Stream, unfold};
use std::future::Future;

/// Something whose changes come one after the other, in one session: [`Updates`](crate::Updates), [`Views`](crate::Views),
/// [`Leadership`](crate::Leadership).
pub trait Follow: Send {
    /// A change.
    type News: News;

    /// Returns the next change. Cancel-safe.
    ///
    /// # Errors
    ///
    /// As the recipe's: [`Error::is_session_over`] at the end of the session.
    fn next(&mut self) -> impl Future<Output = Result<Self::News, Error>> + Send;
}

/// A change of something that is followed.
pub trait News: Clone + Send {
    /// The zxid of the write that it shows, if it shows one.
    fn zxid(&self) -> Option<i64>;

    /// The same, where it shows no write, with the zxid of the last one that a follower was told in an earlier session.
    #[must_use]
    fn after(self, _zxid: i64) -> Self {
        self
    }

    /// Whether it tells a follower nothing beyond `known`.
    fn says_the_same(&self, known: &Self) -> bool;
}

/// The changes as a stream; an error that ends the session is the last item.
pub(crate) fn stream<F: Follow>(followed: F) -> impl Stream<Item = Result<F::News, Error>> + Send {
    unfold(Some(followed), |followed| async {
        let mut followed = followed?;
        let news = followed.next().await;
        let is_over = news.as_ref().is_err_and(Error::is_session_over);
        Some((news, (!is_over).then_some(followed)))
    })
}

/// `into_stream` of a type that has `next`.
macro_rules! into_stream {
    (of $followed:ident, $news:ty) => {
        impl<Z: ZooKeeper> $crate::parts::followed::Follow for $followed<Z> {
            type News = $news;

            fn next(&mut self) -> impl Future<Output = Result<$news, Error>> + Send {
                $followed::next(self)
            }
        }

        impl<Z: ZooKeeper> $followed<Z> {
            /// Returns the results of [`next`](Self::next) as a stream. The error that the session is over is its last item.
            pub fn into_stream(self) -> impl futures_util::Stream<Item = Result<$news, Error>> + Send {
                $crate::parts::followed::stream(self)
            }
        }
    };
}

pub(crate) use into_stream;
