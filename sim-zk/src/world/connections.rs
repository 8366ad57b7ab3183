//! Connections between clients and servers: two FIFO streams each, with latencies, which can be cut.

use super::next::Reminder;
use super::stream::{FEW, Stream};
use super::{Context, HandleId, Step, World};
use crate::choose::Point;
use crate::ensemble::PING;
use crate::fault::{Fault, InjectionPoint, Victim};
use crate::message::{Ask, Code, ConnId, Down, Up};
use crate::paths::PathId;
use std::collections::VecDeque;
use zk_protocol::session::Incoming;
use zk_protocol::wire::jute;

/// A connection between a client and a server.
#[derive(Clone, Debug)]
pub(super) struct Conn {
    /// The session that opened it; `None` if it is driven by hand.
    pub handle: Option<HandleId>,
    pub server: u8,
    pub up: Stream<Up>,
    pub down: Stream<Down>,
    /// Whether the client still sends and receives.
    pub client_open: bool,
    /// Whether the server still sends and receives.
    pub server_open: bool,
    /// Whether the server knows the connection. A client that gives up earlier leaves no trace.
    pub established: bool,
    /// Received packets, if it is driven by hand.
    arrived: VecDeque<Down>,
}

impl Conn {
    /// Returns a connection that has ended on both sides.
    pub(super) fn gone() -> Self {
        Conn {
            handle: None,
            server: 0,
            up: Stream::default(),
            down: Stream::default(),
            client_open: false,
            server_open: false,
            established: false,
            arrived: VecDeque::new(),
        }
    }

    /// Returns whether a packet that the client sends now can arrive: nothing follows the end of a stream.
    fn leads_up(&self) -> bool {
        self.client_open && self.server_open && self.up.last() != Some(&Up::Fin)
    }

    /// Returns whether a packet that the server sends now can arrive.
    fn leads_down(&self) -> bool {
        self.client_open && self.down.last() != Some(&Down::Fin)
    }

    /// Returns whether both sides have closed it and nothing is in flight.
    pub(super) fn is_gone(&self) -> bool {
        !self.client_open && !self.server_open && self.up.packets.is_empty() && self.down.packets.is_empty()
    }

    /// Returns whether no packet is in flight or waits to be taken.
    pub(super) fn is_at_rest(&self) -> bool {
        self.up.packets.is_empty() && self.down.packets.is_empty() && self.arrived.is_empty()
    }

    /// Returns whether a notification is in flight.
    pub(super) fn notifies(&self) -> bool {
        self.client_open
            && self.down.packets.iter().any(|(_, _, packet)| matches!(packet, Down::Notify { .. }))
    }
}

impl World {
    pub(super) fn conn(&self, id: ConnId) -> &Conn {
        self.conns.get(id)
    }

    fn conn_mut(&mut self, id: ConnId) -> &mut Conn {
        self.conns.get_mut(id).expect("a connection is freed when nothing happens to it any more")
    }

    /// Opens a connection. If the server is down, the client learns it after one latency.
    pub(crate) fn open_conn(&mut self, handle: Option<HandleId>, server: u8) -> ConnId {
        let listens = !self.members[usize::from(server)].is_down();
        let established = handle.is_none_or(|handle| {
            let process = &self.processes[usize::from(self.process_of(handle))];
            process.muted.is_free(self.now) && process.deafened.is_free(self.now)
        });
        let id = self.conns.add(Conn {
            handle,
            server,
            up: Stream::default(),
            down: Stream::default(),
            client_open: true,
            server_open: listens,
            established,
            arrived: VecDeque::new(),
        });
        if !listens {
            self.push_down(id, self.config.latency, Down::Fin);
        }
        id
    }

    pub(super) fn latency(&self, conn: ConnId, context: &mut Context<'_>, noteworthy: bool) -> u64 {
        if !noteworthy || self.config.is_interleaving() {
            return self.config.latency;
        }
        let calm = self.config.latency;
        match u64::from(context.choose(self.victim_of(conn), Point::Latency, 256)) {
            0 => calm,
            // From a tenth of the base latency to sixteen times as much, mostly short.
            drawn => calm / 10 + drawn * drawn * calm * 12 / 50_000,
        }
    }

    /// Returns the victim of choices about a connection: the process that opened it.
    fn victim_of(&self, id: ConnId) -> Victim {
        let conn = self.conn(id);
        conn.handle.map_or(Victim::Server(conn.server), |handle| Victim::Process(self.process_of(handle)))
    }

    pub(super) fn send_up(&mut self, id: ConnId, packet: Up, context: &mut Context<'_>) {
        if !self.conn(id).leads_up() {
            return;
        }
        let noteworthy = match &packet {
            Up::Request { ask, .. } => *ask != Ask::Ping,
            Up::Connect { .. } => true,
            Up::Unreadable | Up::Fin => false,
        };
        let latency = self.latency(id, context, noteworthy);
        let injected = match (&packet, self.conn(id).handle) {
            (Up::Request { ask, .. }, Some(handle)) if *ask != Ask::Ping => {
                context.chooser.asks(ask.kind());
                let fits = |fault: Fault| fault.refusal().is_none_or(|code| ask.may_be_refused_with(code));
                self.inject_if(InjectionPoint::Request, self.process_of(handle), fits, context)
            }
            _ => None,
        };
        match injected {
            Some(Fault::RequestLost) => {
                // This request and all later ones are lost; the server learns of the break when the request would
                // have arrived.
                self.push_up(id, latency, Up::Fin);
                self.push_down(id, latency, Down::Fin);
            }
            Some(Fault::Disconnect) => {
                self.push_up(id, latency, packet);
                self.push_up(id, latency, Up::Fin);
                self.push_down(id, latency, Down::Fin);
            }
            // Other faults leave the packet in flight.
            Some(fault) => {
                let packet = match (packet, fault.refusal()) {
                    (Up::Request { xid, ask, tag }, Some(code)) => {
                        let at = self.refused_at(id, &ask, code, context);
                        Up::Request { xid, ask: Ask::Refused(Box::new(ask), code, at), tag }
                    }
                    (packet, _) => packet,
                };
                self.push_up(id, latency, packet);
            }
            None => self.push_up(id, latency, packet),
        }
    }

    /// Draws the operation of a multi at which a fault refuses it.
    fn refused_at(&self, id: ConnId, ask: &Ask, code: Code, context: &mut Context<'_>) -> u16 {
        match &ask.refusable_with(code)[..] {
            [] => 0,
            [only] => *only,
            all => all[context.choose(self.victim_of(id), Point::Operation, all.len() as u32) as usize],
        }
    }

    fn push_up(&mut self, id: ConnId, latency: u64, packet: Up) {
        self.sequence += 1;
        let (due, order) = (self.now + latency, self.sequence);
        let stream = &mut self.conn_mut(id).up;
        if stream.last() != Some(&Up::Fin) {
            stream.push(due, order, packet);
            self.list_up(id);
        }
    }

    fn push_down(&mut self, id: ConnId, latency: u64, packet: Down) {
        self.sequence += 1;
        let (due, order) = (self.now + latency, self.sequence);
        let stream = &mut self.conn_mut(id).down;
        if stream.last() != Some(&Down::Fin) {
            stream.push(due, order, packet);
            self.list_down(id);
        }
    }

    pub(super) fn send_down(&mut self, id: ConnId, packet: Down, context: &mut Context<'_>) {
        let reply = match (&packet, self.conn(id).handle) {
            (Down::Reply { xid, .. }, Some(handle)) if *xid != PING => Some(self.process_of(handle)),
            _ => None,
        };
        if packet == Down::Fin
            && let Some(conn) = self.conns.get_mut(id)
        {
            conn.server_open = false;
            self.free_if_gone(id);
        }
        if !self.conn(id).leads_down() {
            return;
        }
        let noteworthy = reply.is_some() || matches!(packet, Down::Notify { .. });
        let mut latency = self.latency(id, context, noteworthy);
        let injected = reply.and_then(|process| self.inject(InjectionPoint::Reply, process, context));
        match injected {
            Some(Fault::ReplyLost) => {
                self.push_down(id, latency, Down::Fin);
                // The server still accepts earlier requests; the replies are lost.
                self.push_up(id, latency, Up::Fin);
            }
            Some(Fault::ReplyLate) => {
                // In interleaving mode the delay is long enough for time to pass.
                latency += 100_000 * (1 + u64::from(context.choose(self.victim_of(id), Point::Duration, 32)));
                self.push_down(id, latency, packet);
            }
            _ => self.push_down(id, latency, packet),
        }
    }

    /// Breaks the connection before the next packet reaches the client, which sees the end of the stream instead.
    pub(super) fn break_before_arrival(&mut self, id: ConnId) {
        self.conn_mut(id).down.packets.clear();
        self.push_down(id, 0, Down::Fin);
        self.push_up(id, 0, Up::Fin);
    }

    /// Closes a connection at the client: the server sees the end behind earlier packets.
    pub(super) fn close_from_client(&mut self, id: ConnId, context: &mut Context<'_>) {
        if !self.conn(id).client_open {
            return;
        }
        let latency = self.latency(id, context, false);
        let conn = self.conn_mut(id);
        if conn.established {
            self.push_up(id, latency, Up::Fin);
        } else {
            conn.up.packets.clear();
        }
        let conn = self.conn_mut(id);
        conn.client_open = false;
        conn.down.packets.clear();
        self.free_if_gone(id);
    }

    /// Frees a connection that is driven by hand, once both sides have closed it and no packet is left to deliver or to
    /// take. Connections of session machines stay until the end of the run.
    fn free_if_gone(&mut self, id: ConnId) {
        let conn = self.conn(id);
        if conn.handle.is_none() && conn.is_gone() && conn.arrived.is_empty() {
            self.conns.free(id);
        }
    }

    /// Spreads the packets in the socket of a resumed server over time.
    pub(super) fn space_out(&mut self, id: ConnId, from: u64, context: &mut Context<'_>) {
        let (mut at, victim) = (from, self.victim_of(id));
        let Some(conn) = self.conns.get_mut(id) else { return };
        for (due, _, _) in &mut conn.up.packets {
            *due = at.max(*due);
            at = *due + u64::from(context.choose(victim, Point::Lag, 8)) * 100;
        }
    }

    // ── reminders ──

    pub(super) fn list_up(&mut self, id: ConnId) {
        if let Some((due, order)) = self.conns.get_mut(id).and_then(|conn| conn.up.list()) {
            self.agenda.push(due, order, Step::Up(id));
        }
    }

    pub(super) fn list_down(&mut self, id: ConnId) {
        if let Some((due, order)) = self.conns.get_mut(id).and_then(|conn| conn.down.list()) {
            self.agenda.push(due, order, Step::Down(id));
        }
    }

    /// Returns whether the reminder of a packet to the server still holds.
    pub(super) fn up_is_due(&self, id: ConnId, due: u64, order: u64) -> Reminder {
        let conn = self.conn(id);
        if conn.up.listed != Some(order) || conn.up.packets.is_empty() {
            return Reminder::Off;
        }
        let held = conn
            .handle
            .map_or(0, |handle| self.processes[usize::from(self.process_of(handle))].muted.until(self.now));
        Reminder::at(held, due)
    }

    /// Returns whether the reminder of a packet to the client still holds.
    pub(super) fn down_is_due(&self, id: ConnId, due: u64, order: u64) -> Reminder {
        let conn = self.conn(id);
        if conn.down.listed != Some(order) || conn.down.packets.is_empty() {
            return Reminder::Off;
        }
        let held = conn.handle.map_or(0, |handle| {
            let process = &self.processes[usize::from(self.process_of(handle))];
            process.deafened.until(self.now).max(process.paused.unwrap_or(0))
        });
        Reminder::at(held, due)
    }

    pub(super) fn deliver_up(&mut self, id: ConnId, context: &mut Context<'_>) {
        let conn = self.conn_mut(id);
        conn.up.listed = None;
        conn.established = true;
        let packet = conn.up.pop().expect("the reminder holds");
        let (open, server) = (conn.server_open, conn.server);
        conn.server_open &= packet != Up::Fin;
        if open {
            self.with_member(server, context, |member, env| member.receive(id, packet, env));
        }
        self.list_up(id);
        self.free_if_gone(id);
    }

    pub(super) fn deliver_down(&mut self, id: ConnId, context: &mut Context<'_>) {
        self.conn_mut(id).down.listed = None;
        let conn = self.conn(id);
        let point = match conn.down.next().expect("the reminder holds") {
            Down::Reply { xid, .. } if *xid != PING => Some(InjectionPoint::Arrival),
            Down::Notify { .. } => Some(InjectionPoint::Notice),
            Down::Reply { .. } | Down::Connected { .. } | Down::Fin => None,
        };
        if let (Some(point), Some(handle), true) = (point, conn.handle, conn.client_open)
            && self.inject_on_arrival(point, self.process_of(handle), Some(id), context)
        {
            // The packet is still in flight, and arrives later or never.
            self.list_down(id);
            return;
        }
        let conn = self.conn_mut(id);
        let Some(packet) = conn.down.pop() else { return };
        let (open, handle) = (conn.client_open, conn.handle);
        self.list_down(id);
        match handle {
            Some(handle) if open => {
                self.with_session(handle, context, |session, now, paths, out| {
                    let bytes = |path: &PathId| jute::LENGTH_BYTES + paths.text(*path).len();
                    let packet = match packet {
                        // A simulated ensemble loses nothing that it has acknowledged, so its clients never probe.
                        Down::Fin => Incoming::Unreachable,
                        packet => packet.into(),
                    };
                    session.receive(now, id, packet, bytes, out);
                });
            }
            None if open => {
                self.conn_mut(id).arrived.push_back(packet);
                self.arrivals.insert(id);
            }
            _ => {}
        }
        self.free_if_gone(id);
    }

    // ── driven by hand ──

    /// Takes the next received packet of a connection that is driven by hand.
    pub(crate) fn take_arrived(&mut self, id: ConnId) -> Option<Down> {
        let arrived = &mut self.conns.get_mut(id)?.arrived;
        let packet = arrived.pop_front();
        if arrived.is_empty() {
            arrived.shrink_to(FEW);
            self.arrivals.remove(&id);
            self.free_if_gone(id);
        }
        packet
    }

    /// Returns the first connection that is driven by hand and has a packet to take.
    pub(crate) fn first_arrival(&self) -> Option<ConnId> {
        self.arrivals.first().copied()
    }

    /// Sends packets in one piece on a connection that is driven by hand.
    pub(crate) fn send_by_hand(&mut self, id: ConnId, packets: Vec<Up>, context: &mut Context<'_>) {
        let latency = self.latency(id, context, true);
        for packet in packets {
            if self.conn(id).leads_up() {
                self.push_up(id, latency, packet);
            }
        }
    }

    /// Cuts a connection that is driven by hand. With a reset, packets in flight are lost.
    pub(crate) fn cut_by_hand(&mut self, id: ConnId, reset: bool, context: &mut Context<'_>) {
        if reset && let Some(conn) = self.conns.get_mut(id) {
            conn.up.packets.clear();
        }
        self.close_from_client(id, context);
    }
}
