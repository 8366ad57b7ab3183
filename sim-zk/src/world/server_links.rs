//! Server links: FIFO streams between servers, each with a variable lag, which can be held.

use super::agenda::rank;
use super::next::Reminder;
use super::stream::Stream;
use super::{Context, Step, World};
use crate::choose::{Chooser, Point};
use crate::ensemble::{Member, Packet};
use crate::fault::{InjectionPoint, Victim};

/// The minimum retransmission timeout of a host.
const FIRST_RETRANSMISSION: u64 = 200_000;

/// One direction of a server link.
#[derive(Clone, Debug)]
pub(super) struct ServerLink {
    stream: Stream<Packet>,
    /// The number of faults that hold it. While the connection is open nothing is lost, because the hosts retransmit.
    pub holds: u8,
    lag: u64,
}

impl ServerLink {
    pub(super) fn new(lag: u64) -> Self {
        ServerLink { stream: Stream::default(), holds: 0, lag }
    }

    /// Returns whether nothing but pings and their replies is in flight.
    pub(super) fn is_idle(&self) -> bool {
        let idle = |packet: &Packet| matches!(packet, Packet::Ping | Packet::Heard(_));
        self.stream.packets.iter().all(|(_, _, packet)| idle(packet))
    }
}

impl World {
    fn server_link_index(&self, from: u8, to: u8) -> usize {
        usize::from(from) * self.members.len() + usize::from(to)
    }

    pub(super) fn server_link_mut(&mut self, from: u8, to: u8) -> &mut ServerLink {
        let index = self.server_link_index(from, to);
        &mut self.server_links[index]
    }

    /// Returns whether packets are held.
    pub(super) fn is_held(&self, from: u8, to: u8) -> bool {
        self.server_links[self.server_link_index(from, to)].holds > 0
    }

    pub(super) fn post(&mut self, from: u8, to: u8, packet: Packet) {
        self.sequence += 1;
        let (now, order) = (self.now, self.sequence);
        let link = self.server_link_mut(from, to);
        link.stream.push(now + link.lag, order, packet);
        self.list_server_link(from, to);
    }

    /// Starts a new connection between two servers: packets of the old one are dropped.
    pub(super) fn reset_server_links(&mut self, a: u8, b: u8) {
        self.server_link_mut(a, b).stream.packets.clear();
        self.server_link_mut(b, a).stream.packets.clear();
    }

    pub(super) fn list_server_link(&mut self, from: u8, to: u8) {
        let link = self.server_link_mut(from, to);
        if link.holds == 0
            && let Some((due, order)) = link.stream.list()
        {
            self.agenda.push(due, order, Step::Packet(from, to));
        }
    }

    /// Returns whether the reminder of a packet still holds.
    pub(super) fn packet_is_due(&self, from: u8, to: u8, order: u64) -> Reminder {
        let link = &self.server_links[self.server_link_index(from, to)];
        let next = link.stream.packets.front().is_some_and(|(_, of, _)| *of == order);
        if next && link.holds == 0 && link.stream.listed == Some(order) {
            Reminder::Holds
        } else {
            Reminder::Off
        }
    }

    /// Retransmits lost packets at the next retransmission timeout, which doubles each time.
    pub(super) fn retransmit(&mut self, from: u8, to: u8) {
        let now = self.now;
        let link = self.server_link_mut(from, to);
        let Some((lost, ..)) = link.stream.packets.front() else { return };
        let mut wait = FIRST_RETRANSMISSION;
        let mut next = lost + wait;
        while next < now {
            wait *= 2;
            next += wait;
        }
        for (due, _, _) in &mut link.stream.packets {
            *due = next.max(*due);
        }
    }

    /// Releases held packets.
    pub(super) fn release(&mut self, from: u8, to: u8) {
        let link = self.server_link_mut(from, to);
        link.holds -= 1;
        link.stream.listed = None;
        self.list_server_link(from, to);
    }

    /// Delivers the next packet.
    pub(super) fn deliver_packet(&mut self, from: u8, to: u8, context: &mut Context<'_>) {
        let stream = &mut self.server_link_mut(from, to).stream;
        stream.listed = None;
        let noteworthy = stream
            .next()
            .is_some_and(|packet| !matches!(packet, Packet::Ping | Packet::Heard(_) | Packet::Fin));
        if noteworthy {
            let leads = self.members[usize::from(to)].is_leading();
            let point = if leads { InjectionPoint::LeaderPacket } else { InjectionPoint::Packet };
            if self.inject_on_server(point, from, to, context) {
                // The packet is still in flight, and arrives later or never.
                self.list_server_link(from, to);
                return;
            }
        }
        if let Some(packet) = self.server_link_mut(from, to).stream.pop() {
            self.list_server_link(from, to);
            let pinged = matches!(packet, Packet::Ping);
            self.with_member(to, context, |member, env| member.packet(from, packet, env));
            if pinged {
                self.draw_lags(from, to, context.chooser);
            }
        }
    }

    /// Draws the lags of the links between two servers, and of the servers themselves.
    fn draw_lags(&mut self, leader: u8, follower: u8, chooser: &mut dyn Chooser) {
        let calm = self.config.link_latency;
        for (from, to) in [(leader, follower), (follower, leader)] {
            chooser.about(Victim::Link(from, to));
            self.server_link_mut(from, to).lag = match u64::from(chooser.choose(Point::Lag, 64)) {
                0 => calm,
                // From a fifth of the base latency to sixty times as much, mostly short.
                drawn => calm / 5 + drawn * drawn * calm * 8 / 500,
            };
        }
        for id in [leader, follower] {
            chooser.about(Victim::Server(id));
            Member::draw_lags(&mut self.members[usize::from(id)], chooser);
            self.list_member(id);
        }
    }

    /// Lists the next timer of a server if it is earlier than listed.
    pub(super) fn list_member(&mut self, id: u8) {
        let member = &mut self.members[usize::from(id)];
        if let Some(due) = member.next_timer()
            && member.listed.is_none_or(|listed| due < listed)
        {
            member.listed = Some(due);
            self.agenda.push(due, rank::SERVER + u64::from(id), Step::Server(id));
        }
    }

    /// Returns whether the reminder of a server timer still holds.
    pub(super) fn member_is_due(&self, id: u8, due: u64) -> Reminder {
        let member = &self.members[usize::from(id)];
        match member.next_timer() {
            Some(at) if member.listed == Some(due) => Reminder::at(at, due),
            _ => Reminder::Off,
        }
    }
}
