//! The connections of a world, by number. Numbers are never reused, but the memory of a connection is.

use super::connections::Conn;
use crate::message::ConnId;

/// The connections by number.
#[derive(Clone, Debug, Default)]
pub(super) struct ConnTable {
    /// `None` for a connection that has ended and was freed.
    all: Vec<Option<Box<Conn>>>,
    gone: Gone,
}

/// A connection that has ended on both sides, in place of each freed one.
#[derive(Clone, Debug)]
struct Gone(Conn);

impl Default for Gone {
    fn default() -> Self {
        Gone(Conn::gone())
    }
}

impl ConnTable {
    /// Adds a connection, and returns its number.
    pub(super) fn add(&mut self, conn: Conn) -> ConnId {
        let id = ConnId(u32::try_from(self.all.len()).expect("fewer than 2^32 connections"));
        self.all.push(Some(Box::new(conn)));
        id
    }

    /// Returns a connection. One that was freed has ended on both sides, with nothing in flight.
    pub(super) fn get(&self, id: ConnId) -> &Conn {
        self.all[id.0 as usize].as_deref().unwrap_or(&self.gone.0)
    }

    /// Returns a connection for modification; `None` after it was freed.
    pub(super) fn get_mut(&mut self, id: ConnId) -> Option<&mut Conn> {
        self.all[id.0 as usize].as_deref_mut()
    }

    /// Frees a connection.
    pub(super) fn free(&mut self, id: ConnId) {
        self.all[id.0 as usize] = None;
    }

    /// Returns the connections that were not freed, in the order of their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = (ConnId, &Conn)> {
        (0..).map(ConnId).zip(&self.all).filter_map(|(id, conn)| Some((id, conn.as_deref()?)))
    }
}

#[cfg(test)]
mod tests {
    use crate::choose::Calm;
    use crate::config::Config;
    use crate::message::{Ask, ConnId, Down, Password, Tag, Up};
    use crate::raw::Raw;
    use zk_recipes::zk::SessionId;

    fn connected(raw: &mut Raw) -> ConnId {
        let hello =
            Up::Connect { session: SessionId(0), last_zxid: 0, timeout: 0, password: Password::default() };
        let conn = raw.connect(0, hello);
        pass(raw, 1_000_000);
        assert!(matches!(raw.receive(conn), Some(Down::Connected { timeout: 1.., .. })));
        conn
    }

    fn pass(raw: &mut Raw, time: u64) {
        let until = raw.now() + time;
        while raw.advance(until) {}
    }

    fn kept(raw: &Raw) -> usize {
        raw.world().conns.iter().count()
    }

    #[test]
    fn a_connection_that_ended_on_both_sides_is_freed_once_everything_is_taken() {
        let mut raw = Raw::new(Config::default(), Calm);
        let stays = connected(&mut raw);
        let (cut, closed, refused) =
            (connected(&mut raw), connected(&mut raw), raw.connect(0, Up::Unreadable));
        assert_eq!(kept(&raw), 4);
        raw.cut(cut, false);
        let close = Up::Request { xid: 1, ask: Ask::CloseSession, tag: Tag::default() };
        raw.send(closed, vec![close]);
        pass(&mut raw, 1_000_000);
        raw.cut(closed, false);
        raw.cut(refused, false);
        pass(&mut raw, 1_000_000);
        assert_eq!(kept(&raw), 3, "two have packets that nobody has taken");
        while let Some(conn) = raw.first_arrival() {
            raw.receive(conn);
        }
        assert_eq!(kept(&raw), 1);
        // Packets for a closed connection are dropped.
        for conn in [cut, closed, refused] {
            raw.send(conn, vec![Up::Request { xid: 2, ask: Ask::Ping, tag: Tag::default() }]);
            raw.cut(conn, true);
            assert_eq!(raw.receive(conn), None);
        }
        raw.send(stays, vec![Up::Request { xid: -2, ask: Ask::Ping, tag: Tag::default() }]);
        pass(&mut raw, 1_000_000);
        assert!(matches!(raw.receive(stays), Some(Down::Reply { xid: -2, .. })));
    }
}
