//! A name that outlives its session, whose owner is known by a guid.

use super::{RECIPE, with_guid};
use crate::observe::operation;
use crate::parts::barrier_read;
use crate::parts::retry::{Doubt, again, connected, present};
use crate::parts::tenure::LostReason;
use crate::zk::backoff::back_off_denied;
use crate::zk::{Data, Error, ErrorKind, Guid, Stat, ZooKeeper, path};

/// A permanently registered name. Dropping this changes nothing.
#[derive(Clone, Debug)]
pub struct PermanentName<Z: ZooKeeper> {
    pub(super) zk: Z,
    pub(super) path: String,
    pub(super) guid: Guid,
    /// The incarnation that was registered or found.
    pub(super) czxid: i64,
}

impl<Z: ZooKeeper> PermanentName<Z> {
    /// Returns the path of the znode.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the guid that identifies the registration, also to a later session: see
    /// [`Names::registered`](super::Names::registered).
    pub fn guid(&self) -> Guid {
        self.guid
    }

    /// Returns the handle of the session in which it was registered or found.
    pub(crate) fn zk(&self) -> &Z {
        &self.zk
    }

    pub(super) fn of(self, found: &Stat) -> Self {
        PermanentName { czxid: found.czxid, ..self }
    }

    /// Resolves when the znode is no longer the one that was registered, or the session is over. A create of a former session
    /// that is applied late makes another one with the same guid, and with old data.
    pub(crate) async fn gone(&self) -> LostReason {
        gone(&self.zk, &self.path, self.czxid).await
    }

    pub(super) fn is_ours(&self, found: &Data) -> bool {
        found.data.starts_with(format!("{}\n", self.guid).as_bytes())
    }

    /// Replaces the value, if the name is still this registration's. If another client, against the rules, puts a znode of
    /// the same version there between read and write, that one is overwritten, and the caller gets [`Error::is_removed`].
    ///
    /// # Cancellation
    ///
    /// The outcome of a dropped call is unknown: it is applied once or not at all, and not after the end of the
    /// session.
    ///
    /// # Errors
    ///
    /// [`Error::is_removed`] when the name belongs to another registration;
    /// [`Error::is_bad_input`] for data that do not fit into a request; [`Error::is_session_over`]; [`Error::is_denied`].
    pub async fn set(&self, data: &[u8]) -> Result<(), Error> {
        operation!(&self.zk, RECIPE, "set", &self.path).of(self.replace(data)).await
    }

    async fn replace(&self, data: &[u8]) -> Result<(), Error> {
        let content = with_guid(self.guid, data);
        path::validate_size(self.zk.max_request_bytes(), &self.path, &content)?;
        let removed = || ErrorKind::Removed(self.path.clone());
        let (mut czxid, mut doubt) = (None, Doubt::default());
        loop {
            let status = connected(&self.zk).await?;
            let found = barrier_read::data(&self.zk, &self.path).await.map_err(|e| doubt.about(e))?;
            let Data { data, stat } = found.filter(|found| self.is_ours(found)).ok_or_else(removed)?;
            // Our own data in another incarnation do not make it ours.
            if *czxid.get_or_insert(stat.czxid) != stat.czxid {
                return Err(removed().into());
            }
            if data == content {
                return Ok(());
            }
            match self.zk.set(&self.path, &content, Some(stat.version)).await {
                // A server compares versions only: the reply shows which incarnation was written.
                Ok(written) if written.czxid != stat.czxid => return Err(removed().into()),
                Ok(_) => return Ok(()),
                Err(Error { kind: ErrorKind::BadVersion | ErrorKind::NoNode, .. }) => {}
                Err(e) => doubt.again(&self.zk, status, e).await?,
            }
        }
    }

    /// Unregisters the name; returns whether it was still this registration's.
    ///
    /// # Cancellation
    ///
    /// The outcome of a dropped call is unknown: it is applied once or not at all, and not after the end of the
    /// session.
    ///
    /// # Errors
    ///
    /// [`Error::is_session_over`], [`Error::is_denied`].
    pub async fn unregister(&self) -> Result<bool, Error> {
        operation!(&self.zk, RECIPE, "unregister", &self.path).of(self.delete()).await
    }

    async fn delete(&self) -> Result<bool, Error> {
        let (mut czxid, mut doubt) = (None, Doubt::default());
        loop {
            let status = connected(&self.zk).await?;
            let found = barrier_read::data(&self.zk, &self.path).await.map_err(|e| doubt.about(e))?;
            let Some(found) = found else { return Ok(doubt.is_there()) };
            // While the incarnation stands that an attempt was to delete, no attempt was applied: another client wrote to it.
            let is_same = *czxid.get_or_insert(found.stat.czxid) == found.stat.czxid;
            if !self.is_ours(&found) {
                return Ok(doubt.is_there() && !is_same);
            }
            match self.zk.delete(&self.path, Some(found.stat.version)).await {
                Ok(()) => return Ok(true),
                Err(e) if e.is_no_node() => return Ok(doubt.is_there()),
                Err(e) if e.is_bad_version() => {}
                Err(e) => doubt.again(&self.zk, status, e).await?,
            }
        }
    }
}

/// Resolves when the znode at `path` is gone or another one, or the session is over.
pub(super) async fn gone<Z: ZooKeeper>(zk: &Z, path: &str, czxid: i64) -> LostReason {
    let mut denied = 0;
    loop {
        let Ok(status) = connected(zk).await else { return LostReason::SessionOver };
        let (found, watch) = match present(zk.get_watch(path).await) {
            Ok(Some(found)) => found,
            Ok(None) => return LostReason::Removed,
            Err(error) => {
                match again(zk, status, error).await {
                    Err(over) if over.is_session_over() => return LostReason::SessionOver,
                    // An access list may allow it later.
                    Err(_) => {
                        denied += 1;
                        back_off_denied(zk, status, denied).await;
                    }
                    Ok(()) => {}
                }
                continue;
            }
        };
        if found.stat.czxid != czxid {
            return LostReason::Removed;
        }
        denied = 0;
        // Whatever it reports, the next read shows.
        let _ = watch.await;
    }
}
