//! One session of a case: its number, its password, its connection if it has one.

use super::target::Target;
use crate::exchange::Arrival;
use crate::exchange::form::{Expect, Notice, Request};
use crate::exchange::reply::{self, Garbled, Terms};
use crate::exchange::wire;
use std::time::Duration;

/// The time limit for a server to reply to a ping, and to close a connection.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// A session.
pub(super) struct CaseSession<L> {
    pub(super) id: i64,
    pub(super) password: Vec<u8>,
    /// The timeout that was asked for last, in ms.
    pub(super) timeout: i32,
    pub(super) link: Option<L>,
    /// The zxid of its last reply.
    pub(super) seen: i64,
    /// It is not kept alive.
    pub(super) quiet: bool,
    /// It was closed, or the server said that there is no such session.
    pub(super) over: bool,
    /// Its authentications.
    pub(super) auths: Vec<Request>,
    pub(super) last_xid: i32,
}

/// What arrived in place of a reply, or the reply.
pub(super) enum Awaited {
    /// The reply.
    Reply(Box<Expect>),
    /// No reply within the time limit.
    Nothing,
    /// No reply, and the connection is closed.
    Closed,
}

impl<L> CaseSession<L> {
    pub(super) fn next_xid(&mut self) -> i32 {
        self.last_xid += 1;
        self.last_xid
    }

    /// Sends a request and awaits its reply; returns the notifications before it as well.
    pub(super) fn ask<T: Target<Link = L>>(
        &mut self,
        target: &mut T,
        step: &Request,
        terms: &Terms,
        within: Duration,
    ) -> Result<(Awaited, Vec<Notice>), Garbled> {
        let own = self.next_xid();
        let frame = wire::request(step, own, terms.z0).expect("it was tried when the case was read");
        let xid = wire::xid(step, own);
        let mut before = Vec::new();
        let Some(link) = &mut self.link else { return Ok((Awaited::Closed, before)) };
        target.send(link, &[frame]);
        let end = target.now() + within;
        loop {
            match target.receive(link, end.saturating_sub(target.now())) {
                Arrival::Nothing => return Ok((Awaited::Nothing, before)),
                Arrival::Closed | Arrival::Refused => {
                    self.link = None;
                    return Ok((Awaited::Closed, before));
                }
                Arrival::Frame(frame) => {
                    let (header, body) = reply::header(&frame)?;
                    if header.xid == wire::NOTICE {
                        before.push(reply::notice(body)?);
                    } else if header.xid == xid {
                        self.seen = self.seen.max(header.zxid);
                        let told = reply::reply(&step.op, header, body, terms)?;
                        return Ok((Awaited::Reply(Box::new(told)), before));
                    }
                    // Otherwise it is a late reply that no step awaits any more.
                }
            }
        }
    }

    /// All notifications that the server has sent up to now, marked by the reply to a ping.
    pub(super) fn barrier<T: Target<Link = L>>(&mut self, target: &mut T) -> Result<Vec<Notice>, Garbled> {
        let ping = Request { op: "ping".to_owned(), ..Request::default() };
        let (_, notices) = self.ask(target, &ping, &Terms::default(), PATIENCE)?;
        Ok(notices)
    }

    /// The notifications within that time; drops the connection if it ends.
    pub(super) fn listen<T: Target<Link = L>>(
        &mut self,
        target: &mut T,
        within: Duration,
    ) -> Result<Vec<Notice>, Garbled> {
        let mut notices = Vec::new();
        let end = target.now() + within;
        while let Some(link) = &mut self.link {
            match target.receive(link, end.saturating_sub(target.now())) {
                Arrival::Nothing => break,
                Arrival::Closed | Arrival::Refused => self.link = None,
                Arrival::Frame(frame) => {
                    let (header, body) = reply::header(&frame)?;
                    if header.xid == wire::NOTICE {
                        notices.push(reply::notice(body)?);
                    }
                }
            }
        }
        Ok(notices)
    }
}
