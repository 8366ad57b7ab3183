//! What is followed, as a stream.

use crate::zk::Error;
use futures_util::stream::{Stream, unfold};
use std::future::Future;

/// Something whose changes come one after the other.
pub(crate) trait Followed: Send + Sized {
    type News;

    fn news(&mut self) -> impl Future<Output = Result<Self::News, Error>> + Send;

    /// The changes; an error that ends the session is the last item.
    fn stream(self) -> impl Stream<Item = Result<Self::News, Error>> + Send {
        unfold(Some(self), |followed| async {
            let mut followed = followed?;
            let news = followed.news().await;
            let is_over = news.as_ref().is_err_and(Error::is_session_over);
            Some((news, (!is_over).then_some(followed)))
        })
    }
}

/// The public side: `into_stream` of a type that has `next`.
macro_rules! into_stream {
    (of $followed:ident, $news:ty) => {
        impl<Z: ZooKeeper> $crate::parts::followed::Followed for $followed<Z> {
            type News = $news;

            fn news(&mut self) -> impl Future<Output = Result<$news, Error>> + Send {
                self.next()
            }
        }

        impl<Z: ZooKeeper> $followed<Z> {
            /// Returns the results of [`next`](Self::next) as a stream. The error that the session is over is its last item.
            pub fn into_stream(self) -> impl futures_util::Stream<Item = Result<$news, Error>> + Send {
                $crate::parts::followed::Followed::stream(self)
            }
        }
    };
}

pub(crate) use into_stream;
