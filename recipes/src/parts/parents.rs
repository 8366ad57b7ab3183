//! Creation of missing directories.
//!
//! A container may be reaped between any two requests, so every recipe that finds its directory missing comes here: it
//! creates every level from the top, pipelined with a retry of the failed request.
//!
//! The root is never created. A session with a chroot may find it missing; that is an error, since no retry can help.

use crate::zk::{CreateMode, Created, Error, ErrorKind, ZooKeeper, path};
use std::future::Future;

/// How missing directories are created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Parents {
    /// As containers, which the server deletes some time after their last child.
    #[default]
    Container,
    /// As persistent znodes.
    Persistent,
    /// A missing directory is an error.
    MustExist,
}

impl Parents {
    /// The mode of a directory. One that must exist is not created, but what a recipe has below it is.
    pub(crate) fn mode(self) -> CreateMode {
        match self {
            Parents::Persistent => CreateMode::Persistent,
            Parents::Container | Parents::MustExist => CreateMode::Container,
        }
    }

    /// Sends the creates of every level; requests sent later come behind them. The caller must [await](Making::done) the
    /// replies.
    pub(crate) fn make<Z: ZooKeeper>(
        self,
        zk: &Z,
        directory: &str,
    ) -> Making<Z, impl Future<Output = Result<Created, Error>> + Send + use<Z>> {
        let mode = self.mode();
        let levels = levels_of(directory).into_iter().map(|level| (zk.create(&level, &[], mode), level));
        Making { zk: zk.clone(), levels: levels.collect() }
    }

    /// Sends the creates for the parent of a znode, if that is allowed.
    ///
    /// # Errors
    ///
    /// [`Error::is_no_node`] with [`Parents::MustExist`], and when that directory is the root.
    pub(crate) fn make_for<Z: ZooKeeper>(
        self,
        zk: &Z,
        znode: &str,
    ) -> Result<Making<Z, impl Future<Output = Result<Created, Error>> + Send + use<Z>>, Error> {
        match self {
            Parents::MustExist => Err(ErrorKind::NoNode.into()),
            _ if is_at_top(znode) => Err(ErrorKind::NoNode.into()),
            _ => Ok(self.make(zk, path::split(znode).0)),
        }
    }
}

/// Whether the parent of a znode is the root, which cannot be created.
pub(crate) fn is_at_top(znode: &str) -> bool {
    path::split(znode).0 == "/"
}

/// Returns the answer to a request that was sent behind the creates of its parents. If a parent could not be created, that
/// error replaces the `NoNode` of the request.
///
/// # Errors
///
/// [`Error::is_no_node`] when there is no root, so that no repetition helps. An answer may be that too, of a directory that was
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
        Err(Error { kind: ErrorKind::Multi { cause, .. }, .. }) => **cause == ErrorKind::NoNode,
        answer => matches!(answer, Err(e) if e.is_no_node()),
    };
    match made {
        Err(e) if e.is_no_node() && is_missing => Err(ErrorKind::NoNode.into()),
        Err(refused) if is_missing => Ok(Err(refused)),
        _ => Ok(answer),
    }
}

/// Creates in flight, one a level.
pub(crate) struct Making<Z, F> {
    zk: Z,
    levels: Vec<(F, String)>,
}

impl<Z: ZooKeeper, F: Future<Output = Result<Created, Error>>> Making<Z, F> {
    /// Waits for the replies. `NodeExists` is success; a lost create shows in the request behind it.
    ///
    /// # Errors
    ///
    /// The refusal of an overloaded server, which may be repeated after a backoff; and what a retry cannot help: no access, no root,
    /// session over.
    pub(crate) async fn done(self) -> Result<(), Error> {
        for (made, level) in self.levels {
            match made.await {
                Ok(_) | Err(Error { kind: ErrorKind::NodeExists, .. }) => {}
                Err(e) if e.is_connection_loss() => {}
                Err(e) if e.is_no_node() && !is_at_top(&level) => {}
                // The server checks access before existence; an existing level need not be created.
                Err(Error { kind: ErrorKind::NoAuth, .. }) => match self.zk.exists(&level).await {
                    Ok(Some(_)) => {}
                    Err(e) if e.is_connection_loss() => {}
                    Ok(None) => return Err(ErrorKind::NoAuth.into()),
                    Err(e) => return Err(e),
                },
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }
}

/// Lists every level of a path, from the top.
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

    #[test]
    fn a_znode_right_below_the_root_has_no_parent_that_could_be_made() {
        assert!(is_at_top("/a"));
        assert!(!is_at_top("/a/b"));
    }
}
