//! Opening a generation: step 3 of entering a double barrier.

use super::enter::{Entering, Opened};
use super::roster::{Roster, name_of};
use super::{MEMBER_OVERHEAD_BYTES, Reuse};
use crate::parts::retry::{again, connected, present, unless_again};
use crate::zk::{CreateMode, Duty, Error, ErrorKind, Op, OpResult, ZooKeeper, path};

/// The reason why an opening was refused.
enum Refused {
    /// Another participant has opened it.
    Elsewhere,
    /// A participant has joined or left since the list.
    Changed,
    /// The next directory exists already.
    NextExists,
}

impl<Z: ZooKeeper> Entering<'_, Z> {
    /// Step 3. Retries until the generation is open or the list shows too few, since some participant has to open it.
    pub(super) async fn open(&mut self) -> Result<Opened, Error> {
        let zk = &self.barrier.zk;
        let directory = self.barrier.directory(self.generation);
        let mut make_next = self.barrier.options.reuse == Reuse::Generations;
        loop {
            let status = connected(zk).await?;
            let list = present(zk.children(&directory).await);
            let Some(list) = unless_again(zk, status, list).await? else { continue };
            let Some(list) = list else { return self.removed() };
            let joins = list.stat.version;
            let roster = Roster::of(list.names);
            if !roster.has(name_of(&self.own())) {
                return self.removed();
            }
            if roster.ids().len() < self.barrier.options.participants {
                return Ok(Opened::TooFew);
            }
            let ops = self.opening(&roster, joins, make_next)?;
            let (result, is_in_doubt) = self.ask_to_open(ops).await?;
            let members = roster.names().len();
            match result {
                Ok(results) => {
                    self.is_keeper(&results);
                    return Ok(Opened::ByUs(roster));
                }
                // The first attempt may have been applied, which would refuse the retry.
                Err(_) if is_in_doubt => return Ok(Opened::Perhaps),
                Err(refused) => match self.refused(refused, members)? {
                    Refused::Elsewhere => return Ok(Opened::Perhaps),
                    Refused::NextExists => make_next = false,
                    Refused::Changed => {}
                },
            }
        }
    }

    /// The transaction of step 3: begins the next generation if this one is still open for joining, no participant has
    /// joined since the list, and all listed are there. It writes to each of them, which notifies it. The roster is written
    /// to `ready`, and to the directory in case `ready` goes with its owner before all have read it.
    fn opening(&self, roster: &Roster, joins: i32, make_next: bool) -> Result<Vec<Op>, Error> {
        let directory = self.barrier.directory(self.generation);
        let record = roster.record(&self.guid.to_string());
        let (barrier, data) = (self.barrier.path.clone(), self.barrier.data());
        let mut ops = vec![
            Op::Set { path: barrier, data, version: Some(self.generation) },
            Op::Set { path: directory.clone(), data: record.clone(), version: Some(joins) },
        ];
        let wake =
            |name: &String| Op::Set { path: path::join(&directory, name), data: vec![], version: None };
        ops.extend(roster.names().iter().map(wake));
        let ready = self.barrier.ready(self.generation);
        let added = self.barrier.zk.added_bytes();
        let bytes = ops.iter().map(|op| size(op) + added).sum::<usize>() + record.len();
        if bytes > self.barrier.zk.max_request_bytes() {
            let many = roster.names().len();
            return Err(
                ErrorKind::BadInput(format!("{many} have joined: to open it takes {bytes} bytes")).into()
            );
        }
        ops.push(Op::Create { path: ready, data: record, mode: CreateMode::Ephemeral });
        if make_next {
            let next = self.barrier.directory(self.generation.wrapping_add(1));
            ops.push(Op::Create { path: next, data: vec![], mode: CreateMode::Container });
        }
        Ok(ops)
    }

    /// Sends the opening until it is answered; also returns whether an earlier reply was lost.
    async fn ask_to_open(&mut self, ops: Vec<Op>) -> Result<(Result<Vec<OpResult>, Error>, bool), Error> {
        let zk = &self.barrier.zk;
        let mut is_in_doubt = false;
        loop {
            let status = connected(zk).await?;
            if self.keeper.is_none() {
                let path = self.barrier.ready(self.generation);
                self.keeper = Some(zk.arm(Duty::Fixed { path, czxid: None, connection: status.connection }));
            }
            match zk.multi(ops.clone()).await {
                Err(e) if e.is_transient() => {
                    is_in_doubt |= e.is_outcome_unknown();
                    again(zk, status, e).await?;
                }
                Err(e @ Error { kind: ErrorKind::SessionOver(_) | ErrorKind::Unexpected(_), .. }) => {
                    return Err(e);
                }
                result => return Ok((result, is_in_doubt)),
            }
        }
    }

    /// Notes that we created `ready`.
    fn is_keeper(&mut self, results: &[OpResult]) {
        if let (Some(armed), Some(OpResult::Set(stat))) = (&mut self.keeper, results.first()) {
            let path = self.barrier.ready(self.generation);
            let connection = self.barrier.zk.status().connection;
            // One transaction has one zxid.
            armed.narrow(Duty::Fixed { path, czxid: Some(stat.mzxid), connection });
        }
    }

    /// The opening was certainly refused, so `ready` is not ours.
    fn refused(&mut self, refused: Error, members: usize) -> Result<Refused, Error> {
        if let Some(armed) = self.keeper.take() {
            armed.done();
        }
        let Error { kind: ErrorKind::Multi { index, cause }, .. } = refused else { return Err(refused) };
        match (index, *cause) {
            (0, Error { kind: ErrorKind::BadVersion | ErrorKind::NoNode, .. }) => Ok(Refused::Elsewhere),
            (1, Error { kind: ErrorKind::BadVersion, .. }) | (_, Error { kind: ErrorKind::NoNode, .. }) => {
                Ok(Refused::Changed)
            }
            (index, Error { kind: ErrorKind::NodeExists, .. }) if index == members + 2 => {
                Ok(Refused::Elsewhere)
            }
            (_, Error { kind: ErrorKind::NodeExists, .. }) => Ok(Refused::NextExists),
            (index, cause) => Err(ErrorKind::Multi { index, cause: Box::new(cause) }.into()),
        }
    }
}

/// The approximate size of an operation of the opening in a request.
fn size(op: &Op) -> usize {
    match op {
        // Of a member.
        Op::Set { path, data, .. } if data.is_empty() => path.len() + MEMBER_OVERHEAD_BYTES,
        Op::Create { path, data, .. } | Op::Set { path, data, .. } => path.len() + data.len() + 64,
        _ => 0,
    }
}
