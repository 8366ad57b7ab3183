//! The links: two FIFO streams a connection, with latencies, which can be cut.

use super::{Company, Conn, World};
use crate::choose::Point;
use crate::fault::{Fault, Place};
use crate::message::{Ask, Down, Up};
use crate::server::ConnId;

impl Conn {
    /// Whether what the client sends now can still arrive. Behind the end of a stream there is nothing.
    fn leads_up(&self) -> bool {
        self.client_open && self.server_open && !matches!(self.up.back(), Some((_, _, Up::Fin)))
    }

    /// Whether what the server sends now can still arrive.
    fn leads_down(&self) -> bool {
        self.client_open && !matches!(self.down.back(), Some((_, _, Down::Fin)))
    }
}

impl World {
    pub(super) fn latency(&self, company: &mut Company<'_>, noteworthy: bool) -> u64 {
        if !noteworthy {
            return self.config.latency;
        }
        match u64::from(company.chooser.choose(Point::Latency, 256)) {
            0 => self.config.latency,
            // From half a millisecond to some eighty, most of them short.
            drawn => 500 + drawn * drawn * 12 / 10,
        }
    }

    pub(super) fn send_up(&mut self, id: ConnId, packet: Up, company: &mut Company<'_>) {
        if !self.conns[id.0 as usize].leads_up() {
            return;
        }
        let noteworthy = match &packet {
            Up::Request { ask, .. } => *ask != Ask::Ping,
            Up::Connect { .. } => true,
            Up::Fin => false,
        };
        let latency = self.latency(company, noteworthy);
        let handle = self.conns[id.0 as usize].handle;
        let process = self.process_of(handle);
        let struck = match &packet {
            Up::Request { ask, .. } if *ask != Ask::Ping => self.strike(Place::Request, process, company),
            _ => None,
        };
        match struck {
            Some(Fault::RequestLost) => {
                // This request and all behind it never arrive; the server learns of the break when it would have come.
                self.push_up(id, latency, Up::Fin);
                self.push_down(id, latency, Down::Fin);
            }
            Some(_) => {
                self.push_up(id, latency, packet);
                self.push_up(id, latency, Up::Fin);
                self.push_down(id, latency, Down::Fin);
            }
            None => self.push_up(id, latency, packet),
        }
    }

    fn push_up(&mut self, id: ConnId, latency: u64, packet: Up) {
        self.sequence += 1;
        let conn = &mut self.conns[id.0 as usize];
        if matches!(conn.up.back(), Some((_, _, Up::Fin))) {
            return;
        }
        let due = (self.now + latency).max(conn.up.back().map_or(0, |(due, _, _)| *due));
        conn.up.push_back((due, self.sequence, packet));
    }

    fn push_down(&mut self, id: ConnId, latency: u64, packet: Down) {
        self.sequence += 1;
        let conn = &mut self.conns[id.0 as usize];
        if matches!(conn.down.back(), Some((_, _, Down::Fin))) {
            return;
        }
        let due = (self.now + latency).max(conn.down.back().map_or(0, |(due, _, _)| *due));
        conn.down.push_back((due, self.sequence, packet));
    }

    pub(super) fn send_down(&mut self, id: ConnId, packet: Down, company: &mut Company<'_>) {
        let (process, reply) = match &packet {
            Down::Reply { xid, .. } if *xid != -2 => {
                (self.process_of(self.conns[id.0 as usize].handle), true)
            }
            _ => (0, false),
        };
        if packet == Down::Fin {
            self.conns[id.0 as usize].server_open = false;
        }
        if !self.conns[id.0 as usize].leads_down() {
            return;
        }
        let noteworthy = reply || matches!(packet, Down::Notify { .. });
        let mut latency = self.latency(company, noteworthy);
        let struck = if reply { self.strike(Place::Reply, process, company) } else { None };
        match struck {
            Some(Fault::ReplyLost) => {
                self.push_down(id, latency, Down::Fin);
                // What the client has sent already is taken in all the same; its answers go nowhere.
                self.push_up(id, latency, Up::Fin);
            }
            Some(Fault::ReplyLate) => {
                latency += 100_000 * (1 + u64::from(company.chooser.choose(Point::Duration, 32)));
                self.push_down(id, latency, packet);
            }
            _ => self.push_down(id, latency, packet),
        }
    }

    /// The client lets go of a connection: the server sees its end behind what was sent before.
    pub(super) fn close_from_client(&mut self, id: ConnId, company: &mut Company<'_>) {
        if !self.conns[id.0 as usize].client_open {
            return;
        }
        let latency = self.latency(company, false);
        self.push_up(id, latency, Up::Fin);
        let conn = &mut self.conns[id.0 as usize];
        conn.client_open = false;
        conn.down.clear();
        self.bury(id);
    }
}
