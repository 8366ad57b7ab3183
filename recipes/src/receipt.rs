//! Receipts, for writes that must happen exactly once, whatever replies are lost.
//!
//! 1. *Make*: a small ephemeral znode under a fresh guid. Its version counts its owner's writes. It is made and answered
//!    before the first write: else a receipt that is not there could mean two things.
//! 2. *Write*: every write is one transaction whose first operation sets the receipt at the version that we count, to the
//!    number of the write.
//! 3. *Lost answer*: send the same transaction again. Done: applied now. Refused at another operation: really refused. Refused
//!    at the receipt: it was applied before, if the receipt bears the number; else a stranger has written to it. No
//!    receipt: a stranger took it, and nobody knows.
//! 4. *Dropped*: whoever drops a write leaves it in doubt; the next one reads the receipt first.
//!
//! One write at a time.

use crate::race::{connected, reconnected};
use crate::zk::duty::settle;
use crate::zk::{Armed, CreateMode, Data, Duty, Error, Op, ZooKeeper, path};

/// A receipt, and what is known of its version.
pub(crate) struct Receipt<Z: ZooKeeper> {
    zk: Z,
    directory: String,
    znode: Option<Znode>,
    /// A write that was sent and whose answer nobody has taken down: the connection on which it was sent last.
    in_doubt: Option<u32>,
}

struct Znode {
    path: String,
    /// `None` until it is known that it was made.
    version: Option<i32>,
    /// Deletes it when its owner goes.
    armed: Armed,
}

/// What became of a write that was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Applied,
    NotApplied,
    /// The receipt is gone, or a stranger has written over it: nobody knows.
    Unknown,
}

/// What a write sets the receipt to that finds it at this version.
fn number(version: i32) -> Vec<u8> {
    version.wrapping_add(1).to_string().into_bytes()
}

/// What became of a write that found the receipt at `version`, if it found it.
fn fate(version: i32, found: &Data) -> Fate {
    let writes = found.stat.version.wrapping_sub(version);
    match writes {
        0 => Fate::NotApplied,
        1 if found.data == number(version) => Fate::Applied,
        // Somebody else's was the first.
        1 => Fate::NotApplied,
        _ => Fate::Unknown,
    }
}

impl<Z: ZooKeeper> Receipt<Z> {
    /// A receipt in `directory`. Nothing is sent yet.
    pub(crate) fn new(zk: &Z, directory: String) -> Self {
        Receipt { zk: zk.clone(), directory, znode: None, in_doubt: None }
    }

    fn known(&self) -> Option<(String, i32)> {
        let znode = self.znode.as_ref()?;
        Some((znode.path.clone(), znode.version?))
    }

    /// The path under which it stands, as far as is known.
    pub(crate) fn path(&self) -> Option<&str> {
        self.znode.as_ref().filter(|znode| znode.version.is_some()).map(|znode| znode.path.as_str())
    }

    fn set_version(&mut self, version: i32) {
        if let Some(znode) = &mut self.znode {
            znode.version = Some(version);
        }
    }

    /// It is gone, or somebody else writes to it: the next one gets a fresh name.
    fn forget(&mut self) {
        if let Some(znode) = self.znode.take() {
            znode.armed.done();
        }
        self.in_doubt = None;
    }

    /// Step 1.
    ///
    /// # Errors
    ///
    /// `NoNode` when the directory is missing.
    pub(crate) async fn make(&mut self) -> Result<(), Error> {
        while self.known().is_none() {
            let status = connected(&self.zk).await?;
            let znode = match self.znode.take() {
                Some(znode) => znode,
                None => {
                    let path = path::join(&self.directory, &self.zk.guid().to_string());
                    // Nobody else ever uses the name, and a delete comes behind whatever is still on its way.
                    Znode { armed: self.zk.arm(Duty::Path(path.clone())), path, version: None }
                }
            };
            let create = self.zk.create(&znode.path, &[], CreateMode::Ephemeral);
            self.znode = Some(znode);
            match create.await {
                // Nobody else knows the name: one that is there was made by a create whose answer was lost.
                Ok(_) | Err(Error::NodeExists) => self.set_version(0),
                Err(Error::ConnectionLoss) => drop(reconnected(&self.zk, status).await?),
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// Step 4: what became of a write that was dropped, if there was one.
    pub(crate) async fn settled(&mut self) -> Result<Option<Fate>, Error> {
        while let Some(sent_on) = self.in_doubt {
            let Some((path, version)) = self.known() else { break };
            let status = connected(&self.zk).await?;
            // On one connection a read comes behind whatever was sent; after another one nothing is certain.
            let settling = (status.connection != sent_on).then(|| settle(&self.zk, &path));
            let reading = self.zk.get(&path);
            // That the read behind it is answered says that it was.
            drop(settling);
            match reading.await {
                Ok(found) => {
                    self.in_doubt = None;
                    self.set_version(found.stat.version);
                    return Ok(Some(fate(version, &found)));
                }
                Err(Error::NoNode) => {
                    self.forget();
                    return Ok(Some(Fate::Unknown));
                }
                Err(Error::ConnectionLoss) => drop(reconnected(&self.zk, status).await?),
                Err(e) => return Err(e),
            }
        }
        self.in_doubt = None;
        Ok(None)
    }

    /// Steps 2 and 3: `ops` in one transaction, once. What was dropped before is settled first. If the receipt is gone, a fresh
    /// one serves as well.
    ///
    /// # Errors
    ///
    /// [`Error::Multi`] with the index of the operation of `ops` that was refused: nothing was applied. `NoNode` when the
    /// directory is missing: nothing was applied. An unknown outcome only when the session is over, or when a stranger
    /// deleted the receipt, or wrote over it, while an answer was lost.
    pub(crate) async fn write(&mut self, ops: &[Op]) -> Result<(), Error> {
        self.settled().await?;
        loop {
            self.make().await?;
            if self.send(ops).await? {
                return Ok(());
            }
        }
    }

    /// The same, if the receipt that `stood` is still there; says whether it was. As long as it is, whatever it stands below
    /// was not deleted and made again: what was read since is of the znodes that `ops` name.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write).
    pub(crate) async fn write_under(&mut self, stood: &str, ops: &[Op]) -> Result<bool, Error> {
        self.settled().await?;
        if self.path() != Some(stood) {
            return Ok(false);
        }
        self.send(ops).await
    }

    /// Whether `ops` were applied: not, if there is no receipt (any more).
    async fn send(&mut self, ops: &[Op]) -> Result<bool, Error> {
        let mut answer_was_lost = false;
        loop {
            let status = connected(&self.zk).await?;
            let Some((path, version)) = self.known() else { return Ok(false) };
            let receipt = Op::Set { path, data: number(version), version: Some(version) };
            let multi = self.zk.multi(std::iter::once(receipt).chain(ops.iter().cloned()).collect());
            self.in_doubt = Some(status.connection);
            let answer = multi.await;
            if answer.as_ref().is_err_and(Error::is_outcome_unknown) {
                let Err(Error::ConnectionLoss) = answer else { return answer.map(|_| true) };
                answer_was_lost = true;
                reconnected(&self.zk, status).await?;
                continue;
            }
            self.in_doubt = None;
            match answer {
                Ok(_) => {
                    self.set_version(version.wrapping_add(1));
                    return Ok(true);
                }
                Err(Error::Multi { index: 0, cause }) => match *cause {
                    // The receipt has moved on: most likely it was applied, and its answer was lost.
                    Error::BadVersion if answer_was_lost => {
                        self.in_doubt = Some(status.connection);
                        match self.settled().await? {
                            Some(Fate::Applied) => return Ok(true),
                            Some(Fate::NotApplied) => {}
                            Some(Fate::Unknown) | None => return Err(Error::ConnectionLoss),
                        }
                    }
                    Error::NoNode if answer_was_lost => {
                        self.forget();
                        return Err(Error::ConnectionLoss);
                    }
                    // A stranger wrote to it, or took it: nothing was applied.
                    Error::BadVersion | Error::NoNode => {
                        self.forget();
                        return Ok(false);
                    }
                    cause => return Err(cause),
                },
                Err(Error::Multi { index, cause }) => return Err(Error::Multi { index: index - 1, cause }),
                Err(e) => return Err(e),
            }
        }
    }
}
