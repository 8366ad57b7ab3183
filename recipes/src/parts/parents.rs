//! What becomes of directories that do not exist.
//!
//! A container may be reaped between any two requests, so a missing directory always leads here: one flight that makes
//! every level from the top and repeats the request that found it missing.
//!
//! Only the root is not made. It can be missing where a session takes place below a path that is not there: then nothing
//! can be made, and that is said rather than tried again.

use crate::zk::{CreateMode, Created, Error, ZooKeeper, path};
use std::future::Future;

/// How a missing directory is created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Parents {
    /// Missing levels are made as containers: the server removes them when they have been left empty.
    #[default]
    Container,
    /// Missing levels are made to stay.
    Persistent,
    /// A missing directory is an error.
    MustExist,
}

impl Parents {
    /// Sends the making of every level of a directory; what is called next comes behind it. One answer for each level is
    /// to be [awaited](Making::done).
    pub(crate) fn make<Z: ZooKeeper>(
        self,
        zk: &Z,
        directory: &str,
    ) -> Making<Z, impl Future<Output = Result<Created, Error>> + Send + use<Z>> {
        let mode = match self {
            Parents::Persistent => CreateMode::Persistent,
            Parents::Container | Parents::MustExist => CreateMode::Container,
        };
        let levels = levels_of(directory).into_iter().map(|level| (zk.create(&level, &[], mode), level));
        Making { zk: zk.clone(), levels: levels.collect() }
    }

    /// The directory of a znode is missing: sends the making of it, or says that it must be there.
    ///
    /// # Errors
    ///
    /// [`Error::NoNode`] with [`Parents::MustExist`], and when that directory is the root.
    pub(crate) fn make_for<Z: ZooKeeper>(
        self,
        zk: &Z,
        znode: &str,
    ) -> Result<Making<Z, impl Future<Output = Result<Created, Error>> + Send + use<Z>>, Error> {
        match self {
            Parents::MustExist => Err(Error::NoNode),
            _ if is_at_top(znode) => Err(Error::NoNode),
            _ => Ok(self.make(zk, path::split(znode).0)),
        }
    }
}

/// Whether a znode lies in the root. If such a one finds its directory missing, nothing can be made.
pub(crate) fn is_at_top(znode: &str) -> bool {
    path::split(znode).0 == "/"
}

/// The answer to what was sent behind the levels that are being made. Where a level could not be made, and is missing for
/// that, the answer is why: not before it is known that nothing came of what was sent.
///
/// # Errors
///
/// [`Error::NoNode`] when there is no root, so that no repetition helps. An answer may be that too, of a directory that was
/// there for a moment.
pub(crate) async fn behind<Z, F, T>(
    making: Option<Making<Z, F>>,
    sent: impl Future<Output = Result<T, Error>>,
) -> Result<Result<T, Error>, Error>
where
    Z: ZooKeeper,
    F: Future<Output = Result<Created, Error>>,
{
    let made = match making {
        Some(making) => making.done().await,
        None => Ok(()),
    };
    let answer = sent.await;
    let is_missing = match &answer {
        Err(Error::Multi { cause, .. }) => **cause == Error::NoNode,
        answer => matches!(answer, Err(Error::NoNode)),
    };
    match made {
        Err(Error::NoNode) if is_missing => Err(Error::NoNode),
        Err(refused) if is_missing => Ok(Err(refused)),
        _ => Ok(answer),
    }
}

/// Levels that are being made.
pub(crate) struct Making<Z, F> {
    zk: Z,
    levels: Vec<(F, String)>,
}

impl<Z: ZooKeeper, F: Future<Output = Result<Created, Error>>> Making<Z, F> {
    /// Waits for the answers. That a level is there already is fine; what was lost, or refused for the time being,
    /// shows in the request behind it.
    ///
    /// # Errors
    ///
    /// What no repetition helps against: no access, no root, the session's end.
    pub(crate) async fn done(self) -> Result<(), Error> {
        for (made, level) in self.levels {
            match made.await {
                Ok(_) | Err(Error::NodeExists) => {}
                Err(e) if e.is_transient() => {}
                Err(Error::NoNode) if !is_at_top(&level) => {}
                // A server says so without looking whether it is there. If it is, nobody needs to make it.
                Err(Error::NoAuth) => match self.zk.exists(&level).await {
                    Ok(Some(_)) => {}
                    Err(e) if e.is_transient() => {}
                    Ok(None) => return Err(Error::NoAuth),
                    Err(e) => return Err(e),
                },
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }
}

/// Every level of a path, from the top.
fn levels_of(directory: &str) -> Vec<String> {
    if directory == "/" {
        return Vec::new();
    }
    let ends = directory.match_indices('/').map(|(at, _)| at).skip(1).chain([directory.len()]);
    ends.map(|end| directory[..end].to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_come_from_the_top() {
        assert_eq!(levels_of("/a/b/c"), ["/a", "/a/b", "/a/b/c"]);
        assert_eq!(levels_of("/a"), ["/a"]);
        assert_eq!(levels_of("/"), [""; 0]);
    }
}
