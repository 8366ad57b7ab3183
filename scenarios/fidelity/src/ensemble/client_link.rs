//! One connection of a session: its requests, and the frames received.
//!
//! Replies come in the order of the requests, but a server that abandons a session's write may still reply to the reads
//! behind it before it closes: so each reply belongs to the first request with its xid, not to the next one.

use super::cluster::Cluster;
use crate::exchange::Arrival;
use crate::exchange::form::{Notice, Request};
use crate::exchange::reply::{self, Garbled, Header, Terms};
use crate::exchange::wire::{self, Welcome};
use std::collections::VecDeque;

/// One connection.
pub(super) struct ClientLink<C> {
    connection: C,
    /// The label of the session.
    pub(super) session: String,
    pub(super) greeting: Greeting,
    pub(super) is_over: bool,
    /// The zxid of the last reply.
    pub(super) seen: i64,
    asked: Vec<AwaitedReply>,
    pub(super) notices: VecDeque<Notice>,
}

/// The result of the hello.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Greeting {
    Awaited,
    Welcome(Welcome),
    /// The server closed the connection.
    Closed,
    /// Connection refused.
    Refused,
}

/// A request, and the text of its reply.
struct AwaitedReply {
    xid: i32,
    request: Request,
    told: Option<String>,
    /// A step has waited for the reply, and received it or a timeout.
    settled: bool,
}

impl<C> ClientLink<C> {
    pub(super) fn new(connection: C, session: &str) -> Self {
        ClientLink {
            connection,
            session: session.to_owned(),
            greeting: Greeting::Awaited,
            is_over: false,
            seen: 0,
            asked: Vec::new(),
            notices: VecDeque::new(),
        }
    }

    /// Sends a request with the scenario's paths, and returns the index of its reply.
    pub(super) fn ask<L: Cluster<Connection = C>>(
        &mut self,
        cluster: &mut L,
        request: &Request,
        own_xid: i32,
        relative_zxid: i64,
    ) -> usize {
        let frame = wire::request(&super::answer::absolute_request(request), own_xid, relative_zxid)
            .expect("it was tried when the scenario was read");
        cluster.send(&self.connection, frame);
        let xid = wire::xid(request, own_xid);
        self.asked.push(AwaitedReply { xid, request: request.clone(), told: None, settled: false });
        self.asked.len() - 1
    }

    /// Reads everything that has arrived.
    pub(super) fn take_in<L: Cluster<Connection = C>>(&mut self, cluster: &mut L) -> Result<(), Garbled> {
        while !self.is_over {
            match cluster.receive(&self.connection) {
                Arrival::Nothing => return Ok(()),
                Arrival::Frame(frame) => self.frame(&frame)?,
                end => {
                    self.is_over = true;
                    if self.greeting == Greeting::Awaited {
                        let refused = end == Arrival::Refused;
                        self.greeting = if refused { Greeting::Refused } else { Greeting::Closed };
                    }
                }
            }
        }
        Ok(())
    }

    fn frame(&mut self, frame: &[u8]) -> Result<(), Garbled> {
        if self.greeting == Greeting::Awaited {
            self.greeting = Greeting::Welcome(reply::welcome(frame)?);
            return Ok(());
        }
        let (header, body) = reply::header(frame)?;
        if header.xid == wire::NOTICE {
            self.notices.push_back(reply::notice(body)?);
            return Ok(());
        }
        self.seen = self.seen.max(header.zxid);
        self.reply(header, body)
    }

    fn reply(&mut self, header: Header, body: &[u8]) -> Result<(), Garbled> {
        let mine = |asked: &&mut AwaitedReply| asked.xid == header.xid && asked.told.is_none();
        if let Some(asked) = self.asked.iter_mut().find(mine) {
            let told = reply::reply(&asked.request.op, header, body, &Terms::default())?;
            asked.told = Some(super::answer::reply(&asked.request, &told));
        }
        Ok(())
    }

    /// The text of a reply: `CLOSED` if there will be none.
    pub(super) fn told(&mut self, place: usize) -> Option<String> {
        let asked = &mut self.asked[place];
        let told = asked.told.clone().or_else(|| self.is_over.then(|| "CLOSED".to_owned()));
        asked.settled |= told.is_some();
        told
    }

    /// The replies that no step has waited for, numbered among these from 1, and the state of the connection.
    pub(super) fn left(&mut self) -> String {
        let left = (1..).zip(self.asked.iter_mut().filter(|asked| !asked.settled));
        let mut words = Vec::new();
        for (number, asked) in left {
            if let Some(told) = &asked.told {
                words.push(format!("#{number}:{told}"));
            }
        }
        if self.is_over {
            words.push("closed".to_owned());
        }
        words.join(" ")
    }

    /// Cuts the connection.
    pub(super) fn cut<L: Cluster<Connection = C>>(&mut self, cluster: &mut L) -> Result<(), Garbled> {
        self.take_in(cluster)?;
        if !self.is_over {
            cluster.cut(&self.connection);
            self.is_over = true;
        }
        Ok(())
    }
}
