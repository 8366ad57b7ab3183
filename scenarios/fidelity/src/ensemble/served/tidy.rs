//! Restores an ensemble after a scenario: its connections, its faults, its sessions, its znodes.

use super::{ControlOfServed, Served, Trouble};
use crate::ensemble::answer;
use crate::ensemble::cluster::{Cluster, Micros};
use crate::ensemble::scenario::Meta;
use crate::exchange::Arrival;
use crate::exchange::form::{Expect, Request};
use crate::exchange::reply::{self, Terms};
use crate::exchange::wire::{self, Hello};
use std::sync::atomic::Ordering;

/// The time limit for the ensemble to serve and to reply, in ticks.
const PATIENCE: f64 = 200.0;

/// A separate session, with one request at a time.
struct Janitor<'a, C> {
    served: &'a Served<C>,
    connection: usize,
    xid: i32,
    end: Micros,
}

impl<C: ControlOfServed> Served<C> {
    /// Checks that the ensemble is ready for a scenario: all members serve, and the znode of the scenario's paths does
    /// not exist.
    ///
    /// # Errors
    ///
    /// It is not ready, or does not reply.
    pub fn prepare(&self, meta: &Meta) -> Result<(), Trouble> {
        let mut janitor = self.janitor(meta)?;
        let found = janitor.ask("exists", answer::PARENT)?;
        janitor.close()?;
        match found.err.as_deref() {
            Some("NoNode") => Ok(()),
            _ => Err(Trouble(format!(
                "there is a znode {} on the ensemble, which a scenario makes and deletes: delete it first",
                answer::PARENT
            ))),
        }
    }

    /// Undoes the effects of the scenario: cuts its connections, ends its faults and its sessions, deletes its znodes.
    /// Faults and sessions of other clients are left alone.
    ///
    /// # Errors
    ///
    /// The scenario could not use the ensemble to the end, so that its results are no evidence; or the ensemble does
    /// not reply now.
    pub fn tidy(&self, meta: &Meta) -> Result<(), Trouble> {
        self.sockets.take().iter_mut().for_each(super::Socket::reset);
        let faults = self.lasting.take().into_iter().rev();
        // Every fault is ended, even if one of them cannot be.
        let ended: Vec<Result<(), Trouble>> = faults.map(|fault| self.control.end(fault)).collect();
        let sessions = self.sessions.take();
        let before = self.trouble.take();
        // The first interruption aborts the scenario, a second one the clean-up.
        self.interrupted.store(false, Ordering::Relaxed);
        let done = ended.into_iter().collect::<Result<(), Trouble>>().and_then(|()| {
            let mut janitor = self.janitor(meta)?;
            sessions.into_iter().try_for_each(|session| self.control.end_session(session))?;
            janitor.delete(answer::PARENT)?;
            janitor.close()
        });
        before.map_or(done, Err).inspect_err(|trouble| *self.trouble.borrow_mut() = Some(trouble.clone()))
    }

    /// Waits until all members serve, and opens a session.
    fn janitor(&self, meta: &Meta) -> Result<Janitor<'_, C>, Trouble> {
        let mut cluster = self;
        let end = cluster.now() + meta.micros(PATIENCE);
        let leader = loop {
            if let Some(leader) = cluster.leader().filter(|_| cluster.serving().len() == cluster.members()) {
                break leader;
            }
            if let Some(trouble) = self.trouble() {
                return Err(trouble);
            }
            if cluster.now() >= end {
                return Err(Trouble("not all servers serve".to_owned()));
            }
            cluster.advance(end);
        };
        let timeout = i32::try_from(meta.tick_ms.saturating_mul(20)).unwrap_or(i32::MAX);
        let hello = Hello { last_zxid: 0, timeout, session: 0, password: vec![0; 16], readonly: false };
        let connection = cluster.open(leader, &hello);
        let mut janitor = Janitor { served: self, connection, xid: 0, end };
        janitor.frame()?;
        // The janitor's own session is closed already.
        self.sessions.borrow_mut().clear();
        Ok(janitor)
    }
}

impl<C: ControlOfServed> Janitor<'_, C> {
    fn frame(&mut self) -> Result<Vec<u8>, Trouble> {
        let mut cluster = self.served;
        loop {
            match cluster.receive(&self.connection) {
                Arrival::Frame(frame) => return Ok(frame),
                Arrival::Nothing if cluster.now() < self.end => cluster.advance(self.end),
                _ => return Err(Trouble("a server does not answer".to_owned())),
            }
        }
    }

    fn ask(&mut self, op: &str, path: &str) -> Result<Expect, Trouble> {
        let mut cluster = self.served;
        self.xid += 1;
        let request = Request { op: op.to_owned(), path: Some(path.to_owned()), ..Request::default() };
        let frame = wire::request(&request, self.xid, 0).map_err(Trouble)?;
        cluster.send(&self.connection, frame);
        let frame = self.frame()?;
        let told = reply::header(&frame)
            .and_then(|(header, body)| reply::reply(op, header, body, &Terms::default()));
        told.map_err(|garbled| Trouble(garbled.to_string()))
    }

    /// Deletes a znode and its descendants.
    fn delete(&mut self, path: &str) -> Result<(), Trouble> {
        for child in self.ask("getChildren", path)?.children.unwrap_or_default() {
            self.delete(&format!("{path}/{child}"))?;
        }
        match self.ask("delete", path)?.err.as_deref() {
            None | Some("OK" | "NoNode") => Ok(()),
            Some(why) => {
                Err(Trouble(format!("{path} remains on the ensemble: its deletion is refused with {why}")))
            }
        }
    }

    fn close(mut self) -> Result<(), Trouble> {
        self.ask("closeSession", "/")?;
        self.served.sockets.take();
        Ok(())
    }
}
