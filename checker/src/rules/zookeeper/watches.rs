//! Watches at servers, and their notifications in flight: ZK-6 and ZK-14.
//!
//! The tables of every server are kept according to its events. When a server applies a transaction, this rule computes
//! which watches must fire (`WatchManager.triggerWatch`), and compares them with those that fire. A connection is a
//! queue: notifications arrive in the order in which they were queued, and before any later reply.

use super::kept::{Fresh, Kept};
use super::{server, zxid_of};
use crate::recent::Recent;
use crate::rule::prelude::*;
use crate::view::{Effect, is_unjudged};
use std::collections::VecDeque;

/// A watch in a server's table.
#[derive(Clone, Copy)]
struct Armed {
    server: u8,
    conn: Conn,
    table: Table,
    path: Sym,
    mode: WatchMode,
    index: u32,
}

/// The tables of all servers.
#[derive(Clone, Default)]
struct Armory {
    /// By path: the watches armed there, in order.
    at: Recent<Vec<Armed>>,
    /// The recursive ones among them.
    recursive: Vec<Armed>,
    count: usize,
}

impl Armory {
    fn at(&self, path: Sym) -> &[Armed] {
        self.at.at(path.0 as usize)
    }

    fn has(&self, conn: Conn, table: Table, path: Sym) -> bool {
        self.at(path).iter().any(|watch| watch.conn == conn && watch.table == table)
    }

    fn push(&mut self, watch: Armed) {
        self.at.slot(watch.path.0 as usize).push(watch);
        self.count += 1;
        if watch.mode == WatchMode::Recursive {
            self.recursive.push(watch);
        }
    }

    fn retain(&mut self, path: Sym, keep: impl Fn(&Armed) -> bool) {
        let Some(here) = self.at.get_mut(path.0 as usize) else { return };
        let before = here.len();
        here.retain(&keep);
        self.count -= before - here.len();
        self.recursive.retain(|watch| watch.path != path || keep(watch));
    }

    fn forget(&mut self, server: u8) {
        let paths: Vec<Sym> = self.at.from(0).flatten().map(|watch| watch.path).collect();
        for path in paths {
            self.retain(path, |watch| watch.server != server);
        }
    }
}

/// A notification that a server must queue.
#[derive(Clone, Copy)]
struct Due {
    server: u8,
    conn: Conn,
    kind: Notify,
    path: Sym,
    zxid: u64,
    mode: WatchMode,
    armed: u32,
    /// Whether it may be dropped: a client without read permission on a znode is not notified of it.
    filtered: bool,
}

/// A notification that a server has queued without a known cause so far.
#[derive(Clone, Copy)]
struct Early {
    server: u8,
    conn: Conn,
    kind: Notify,
    path: Sym,
    half: u32,
    index: u32,
}

/// A read that must arm a watch.
#[derive(Clone, Copy)]
struct Arming {
    conn: Conn,
    table: Table,
    path: Sym,
    index: u32,
}

/// ZK-6 and ZK-14.
#[derive(Clone, Default)]
pub(crate) struct Watches {
    armed: Armory,
    due: Vec<Due>,
    early: Vec<Early>,
    arming: Vec<Arming>,
    /// By connection: queued notifications that have not arrived, each with its zxid or zero.
    queues: Vec<VecDeque<(Notify, Sym, u64, u32)>>,
    /// By session: the zxid of the last reply, and its value at the last connect.
    seen: Vec<(u64, u64)>,
    /// The current read: its connection, and whether it arms a watch.
    read: (Conn, bool),
    /// The watches that clients wait for.
    kept: Kept,
}

fn rule(mode: WatchMode) -> RuleId {
    if mode.is_one_shot() { RuleId::Zk6 } else { RuleId::Zk14 }
}

fn said(kind: Notify) -> &'static str {
    kind.name()
}

impl Watches {
    fn arm(&mut self, armed: Armed, out: &mut Findings) {
        out.premise_of_all(rule(armed.mode));
        self.arming.retain(|w| (w.conn, w.table, w.path) != (armed.conn, armed.table, armed.path));
        self.remove(armed.conn, armed.table, armed.path);
        self.armed.push(armed);
    }

    fn remove(&mut self, conn: Conn, table: Table, path: Sym) {
        self.armed.retain(path, |watch| watch.conn != conn || watch.table != table);
    }

    fn disarm(&mut self, conn: Conn, table: Table, path: Sym) {
        self.remove(conn, table, path);
        let used = |kind| crate::view::fires(table, kind);
        for due in self.due.iter_mut().filter(|due| due.conn == conn && due.path == path && used(due.kind)) {
            due.filtered = true;
        }
    }

    /// Applies an effect to a server's watches.
    fn effect(&mut self, scene: &Scene<'_>, server: u8, effect: Effect, zxid: u64) {
        let Some(kind) = effect.kind else { return };
        if self.armed.count == 0 {
            return;
        }
        self.trigger(scene, (server, zxid), Table::Data, effect.path, kind);
        if kind == Notify::Deleted {
            self.trigger(scene, (server, zxid), Table::Child, effect.path, kind);
        }
        if let Some(parent) = effect.parent.filter(|_| kind != Notify::DataChanged) {
            self.trigger(scene, (server, zxid), Table::Child, parent, Notify::ChildrenChanged);
        }
    }

    fn trigger(&mut self, scene: &Scene<'_>, at: (u8, u64), table: Table, path: Sym, kind: Notify) {
        let (server, zxid) = at;
        let listens = |watch: &Armed| watch.server == server && watch.table == table;
        let mut notified: Vec<Armed> = self.armed.at(path).iter().filter(|w| listens(w)).copied().collect();
        if notified.is_empty() && self.armed.recursive.is_empty() {
            return;
        }
        if kind == Notify::ChildrenChanged {
            notified.retain(|watch| watch.mode != WatchMode::Recursive);
        } else if !self.armed.recursive.is_empty() {
            let text = scene.text(path);
            let is_above = |watch: &Armed| {
                let above = scene.text(watch.path);
                let rest = text.strip_prefix(above.trim_end_matches('/'));
                watch.path != path && rest.is_some_and(|rest| rest.starts_with('/'))
            };
            let above = self.armed.recursive.iter().filter(|watch| listens(watch) && is_above(watch));
            notified.extend(above);
            notified.sort_by_key(|watch| watch.index);
        }
        // One notification per connection and step, for any number of matching watches.
        let mut step: Vec<Conn> = Vec::new();
        for watch in notified {
            if step.contains(&watch.conn) {
                continue;
            }
            step.push(watch.conn);
            self.expect(Due {
                server,
                conn: watch.conn,
                kind,
                path,
                zxid,
                mode: watch.mode,
                armed: watch.index,
                filtered: false,
            });
        }
        self.armed.retain(path, |watch| !listens(watch) || !watch.mode.is_one_shot());
    }

    /// A deletion fires watches of two tables, and notifies once.
    fn expect(&mut self, due: Due) {
        let same = |w: &Due| {
            (w.server, w.conn, w.kind, w.path, w.zxid) == (due.server, due.conn, due.kind, due.path, due.zxid)
        };
        // A znode may be written twice in one transaction: only its deletion fires watches of two tables.
        if due.kind == Notify::Deleted && self.due.iter().any(same) {
            return;
        }
        let notified = |w: &Early| {
            (w.server, w.conn, w.kind, w.path, w.half)
                == (due.server, due.conn, due.kind, due.path, due.zxid as u32)
        };
        match self.early.iter().position(notified) {
            Some(at) => _ = self.early.remove(at),
            None => self.due.push(due),
        }
    }

    fn fired(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let What::Fire { session, kind, path, zxid: half, conn } = event.what else { return };
        let number = server(event.who);
        out.premise_of_all(RuleId::Zk6);
        let applied = scene.view.server(number).applied;
        // Notifications from re-registration come before every reply of a later state.
        let zxid = if half == 0 { applied + 1 } else { scene.view.server(number).whole(half) };
        slot(&mut self.queues, usize::from(conn.0)).push_back((kind, path, zxid, scene.index));
        if half == 0 {
            self.kept.notified(conn, path, kind);
            return self.missed(scene, session, kind, path, applied, out);
        }
        let is =
            |w: &Due| (w.server, w.conn, w.kind, w.path, w.zxid as u32) == (number, conn, kind, path, half);
        match self.due.iter().position(is) {
            Some(at) => _ = self.due.remove(at),
            None => {
                self.early.push(Early { server: number, conn, kind, path, half, index: scene.index });
            }
        }
    }

    /// Judges a change found at re-registration: it came after the client's last reply.
    fn missed(
        &self,
        scene: &Scene<'_>,
        session: Session,
        kind: Notify,
        path: Sym,
        applied: u64,
        out: &mut Findings,
    ) {
        if is_unjudged(scene.text(path)) {
            return;
        }
        let (_, seen) = self.seen.get(usize::from(session.0)).copied().unwrap_or_default();
        // A foreign library may report an older zxid.
        let relative = if scene.view.foreign_clients { 0 } else { seen };
        let node = scene.view.oracle.node_at(path, applied);
        let right = match (kind, node) {
            (Notify::Deleted, node) => node.is_none(),
            (_, None) => false,
            (Notify::Created, Some(_)) => true,
            (Notify::DataChanged, Some(node)) => node.mzxid > relative,
            (Notify::ChildrenChanged, Some(node)) => node.pzxid > relative,
        };
        if !right {
            let text = explain(format!(
                "on registering its watches again {} was notified of {} at {}",
                said(kind),
                scene.path(path),
                scene.when(scene.view.now)
            ))
            .because(format!(
                "nothing of that kind happened since zxid {relative:#x}, which the client had seen"
            ));
            out.fail_all(RuleId::Zk6, scene, &[], text);
        }
    }

    fn noticed(&mut self, scene: &Scene<'_>, kind: Notify, path: Sym, conn: Conn, out: &mut Findings) {
        let queue = slot(&mut self.queues, usize::from(conn.0));
        if let Some((first, on, _, _)) = queue.front()
            && (*first, *on) == (kind, path)
        {
            queue.pop_front();
            return;
        }
        let at = queue.iter().position(|(other, on, _, _)| (*other, *on) == (kind, path));
        let because = match at {
            Some(at) => {
                queue.remove(at);
                "notifications that were queued earlier have not arrived"
            }
            None => "no server queued it on this connection, or it arrived before",
        };
        let text = explain(format!(
            "the notification {} of {} arrived at {}",
            said(kind),
            scene.path(path),
            scene.when(scene.view.now)
        ))
        .because(because);
        out.fail_all(RuleId::Zk6, scene, &[], text);
    }

    fn replied(&mut self, scene: &Scene<'_>, session: Session, zxid: u64, conn: Conn, out: &mut Findings) {
        let seen = slot(&mut self.seen, usize::from(session.0));
        seen.0 = seen.0.max(zxid);
        let Some(queue) = self.queues.get_mut(usize::from(conn.0)) else { return };
        let late = queue.iter().find(|(_, _, of, _)| *of != 0 && *of <= zxid).copied();
        if let Some((kind, path, of, fired)) = late.filter(|_| !conn.is_none()) {
            // Reported once.
            queue.retain(|queued| queued.3 != fired);
            let text = explain(format!(
                "a reply with zxid {zxid:#x} arrived at {}, before the notification of {of:#x}",
                scene.when(scene.view.now)
            ))
            .because(format!(
                "e{fired}: the notification {} of {} was queued first",
                said(kind),
                scene.path(path)
            ));
            out.fail_all(RuleId::Zk6, scene, &[fired], text);
        }
    }

    fn found(&mut self, scene: &Scene<'_>, read: Request, code: Code, path: Sym) {
        let (conn, watch) = self.read;
        let table = if read == Request::Children { Table::Child } else { Table::Data };
        let arms = code == Code::Ok || (code == Code::NoNode && read == Request::Exists);
        if !watch || !arms {
            return;
        }
        self.kept.explained(conn, table, path);
        if !self.armed.has(conn, table, path) {
            self.arming.push(Arming { conn, table, path, index: scene.index });
        }
    }

    /// Settles the past instant: every watch that had to fire has fired, and every watch that had to be armed is armed.
    fn settle(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        self.kept.settle(scene, out);
        for due in std::mem::take(&mut self.due).into_iter().filter(|due| !due.filtered) {
            let text = explain(format!(
                "server {} applied zxid {:#x} and did not notify {} of {}",
                due.server,
                due.zxid,
                said(due.kind),
                scene.path(due.path)
            ))
            .because(format!("e{}: a watch was armed", due.armed));
            out.fail_all(rule(due.mode), scene, &[due.armed], text);
        }
        for early in std::mem::take(&mut self.early) {
            let text = explain(format!(
                "server {} notified {} of {} at e{}",
                early.server,
                said(early.kind),
                scene.path(early.path),
                early.index
            ))
            .because("no watch that this change fires was armed on that connection");
            out.fail_all(RuleId::Zk6, scene, &[early.index], text);
        }
        for arming in std::mem::take(&mut self.arming) {
            let text = explain(format!("the read at e{} armed no watch", arming.index))
                .because(format!("the request asked for a watch on {}", scene.path(arming.path)));
            out.fail_all(RuleId::Zk6, scene, &[arming.index], text);
        }
    }

    fn ceased(&mut self, number: u8) {
        self.armed.forget(number);
        self.due.retain(|due| due.server != number);
    }
}

impl Rule for Watches {
    const JUDGES: &'static [Property] = &[Property::OneShotWatches, Property::PersistentWatches];
    const HEARS: Kinds = hears![
        Arm, Disarm, Fire, Notice, Reply, State, Created, Deleted, Written, Applied, Served, Found, Ceased
    ];

    fn pass_time(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        if !(self.due.is_empty() && self.early.is_empty() && self.arming.is_empty() && self.kept.is_settled())
        {
            self.settle(scene, out);
        }
        self.kept.pass_time(scene, out);
    }

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let (view, number) = (scene.view, server(event.who));
        match event.what {
            What::Arm { session, table, path, conn, mode } if !conn.is_none() => {
                let applied = view.server(number).applied;
                self.kept.armed(Fresh {
                    server: number,
                    session,
                    conn,
                    table,
                    path,
                    mode,
                    index: scene.index,
                    applied,
                });
                self.arm(Armed { server: number, conn, table, path, mode, index: scene.index }, out);
            }
            What::Disarm { session, table, path, conn } if conn.is_none() => {
                self.kept.forgotten(session, table, path);
            }
            What::Disarm { table, path, conn, .. } => self.disarm(conn, table, path),
            What::Fire { conn, .. } if !conn.is_none() => self.fired(scene, event, out),
            What::Notice { session, kind, path, conn } if !conn.is_none() => {
                self.kept.noticed(session, kind, path);
                self.noticed(scene, kind, path, conn, out);
            }
            What::Reply { req, code, zxid, conn } => {
                let Some(req) = view.request(req).filter(|req| req.kind != Request::Connect) else { return };
                if req.watch && !conn.is_none() {
                    self.kept.answered(req.session, req.kind, code, req.path, conn);
                }
                if let Some(zxid) = zxid_of(zxid) {
                    self.replied(scene, req.session, zxid, conn, out);
                }
            }
            What::State { session, state, .. } if state != SessionState::Connected => {
                self.kept.left(scene, session, state);
            }
            What::State { session, conn, .. } => {
                self.kept.connected(scene, session, conn);
                let seen = slot(&mut self.seen, usize::from(session.0));
                seen.1 = seen.0;
            }
            What::Created { zxid, path, .. } => {
                let parent = view.oracle.known_parent(path);
                self.effect(scene, number, Effect { path, parent, kind: Some(Notify::Created) }, zxid);
            }
            What::Deleted { zxid, path, .. } => {
                let parent = view.oracle.known_parent(path);
                self.effect(scene, number, Effect { path, parent, kind: Some(Notify::Deleted) }, zxid);
            }
            What::Written { zxid, path } => {
                let effect = Effect { path, parent: None, kind: Some(Notify::DataChanged) };
                self.effect(scene, number, effect, zxid);
            }
            What::Applied { zxid } if self.armed.count > 0 => {
                let Some(at) = view.oracle.number_of(zxid) else { return };
                for effect in view.oracle.effects_of(at) {
                    self.effect(scene, number, *effect, zxid);
                }
            }
            What::Served { req, conn, .. } => {
                let watch = view.request(req).is_some_and(|req| req.watch);
                self.read = (conn, watch && !conn.is_none());
                self.kept.served(scene, conn, out);
            }
            What::Found { read, code, path, .. } => self.found(scene, read, code, path),
            What::Ceased => self.ceased(number),
            _ => {}
        }
    }
}
