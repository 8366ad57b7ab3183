//! The watches that clients wait for, and register again: the clients' part of ZK-6 and ZK-14.
//!
//! A client has a watch from the reply that armed it until the notification arrives or the client reports that it has
//! dropped the watch. After a reconnect each watch must be armed on the new connection, or notified at once, before the
//! reply to any other request on that connection; no other watch may be armed.

use crate::rule::prelude::*;
use crate::view::{fires, is_unjudged};

/// A watch that a client waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Want {
    table: Table,
    path: Sym,
    mode: WatchMode,
    /// Whether it waits for a znode that did not exist.
    absent: bool,
}

/// The watches that a client must still register again.
#[derive(Clone)]
struct Promise {
    session: Session,
    conn: Conn,
    wants: Vec<Want>,
    /// The server and the time of its connection.
    index: u32,
    at: u64,
}

/// A watch that was armed at this instant.
#[derive(Clone, Copy)]
pub(super) struct Fresh {
    pub(super) server: u8,
    pub(super) session: Session,
    pub(super) conn: Conn,
    pub(super) table: Table,
    pub(super) path: Sym,
    pub(super) mode: WatchMode,
    pub(super) index: u32,
    /// The last transaction that the server had applied.
    pub(super) applied: u64,
}

#[derive(Clone, Default)]
struct Client {
    wants: Vec<Want>,
    /// The largest zxid that the client can have seen before its last connection was lost.
    seen_at_most: u64,
    /// Whether it was connected before.
    before: bool,
    conn: Conn,
    server: u8,
    /// The watches that it must register again since its last connection.
    registers: Vec<Want>,
}

/// The watches that clients wait for.
#[derive(Clone, Default)]
pub(super) struct Kept {
    /// By session.
    clients: Vec<Client>,
    promises: Vec<Promise>,
    fresh: Vec<Fresh>,
    /// Persistent watches, where their modes are recorded.
    modes: Vec<(Conn, Sym, WatchMode)>,
}

impl Kept {
    fn client(&mut self, session: Session) -> &mut Client {
        slot(&mut self.clients, usize::from(session.0))
    }

    /// Notes the reply to a request that arms a watch.
    pub(super) fn answered(&mut self, session: Session, kind: Request, code: Code, path: Sym, conn: Conn) {
        let absent = kind == Request::Exists && code == Code::NoNode;
        if code != Code::Ok && !absent {
            return;
        }
        let of = |(on, at, _): &&(Conn, Sym, WatchMode)| (*on, *at) == (conn, path);
        let mode = match kind {
            Request::AddWatch => match self.modes.iter().rev().find(of) {
                Some((_, _, mode)) => *mode,
                None => return,
            },
            _ => WatchMode::OneShot,
        };
        let table = if kind == Request::Children { Table::Child } else { Table::Data };
        let want = Want { table, path, mode, absent };
        let wants = &mut self.client(session).wants;
        if !wants.contains(&want) {
            wants.push(want);
        }
    }

    pub(super) fn noticed(&mut self, session: Session, kind: Notify, path: Sym) {
        let used = |want: &Want| want.path == path && want.mode.is_one_shot() && fires(want.table, kind);
        self.client(session).wants.retain(|want| !used(want));
    }

    /// Notes the watches that a client drops at a reconnect.
    pub(super) fn forgotten(&mut self, session: Session, table: Table, path: Sym) {
        let is = |want: &Want| want.path == path && (want.table == table || !want.mode.is_one_shot());
        let client = self.client(session);
        client.wants.retain(|want| !is(want));
        client.registers.retain(|want| !is(want));
        for promise in self.promises.iter_mut().filter(|promise| promise.session == session) {
            promise.wants.retain(|want| !is(want));
        }
        self.promises.retain(|promise| !promise.wants.is_empty());
    }

    pub(super) fn left(&mut self, scene: &Scene<'_>, session: Session, state: SessionState) {
        self.promises.retain(|promise| promise.session != session);
        let client = self.client(session);
        if state == SessionState::Suspended {
            client.seen_at_most = client.seen_at_most.max(scene.view.server(client.server).applied);
        } else {
            *client = Client::default();
        }
    }

    pub(super) fn connected(&mut self, scene: &Scene<'_>, session: Session, conn: Conn) {
        let (index, at) = (scene.index, scene.at);
        self.promises.retain(|promise| promise.session != session);
        let server = scene.view.session(session).server;
        let client = self.client(session);
        (client.conn, client.server) = (conn, server);
        client.registers.clone_from(&client.wants);
        let known = scene.view.session(session).is_attached;
        let was = std::mem::replace(&mut client.before, known);
        // A foreign library may skip re-registration.
        if was && !client.wants.is_empty() && !conn.is_none() && !scene.view.foreign_clients {
            let wants = client.wants.clone();
            self.promises.push(Promise { session, conn, wants, index, at });
        }
    }

    /// Notes a watch that a server arms.
    pub(super) fn armed(&mut self, fresh: Fresh) {
        let Fresh { conn, table, path, mode, .. } = fresh;
        if mode.is_one_shot() {
            self.doubts(conn, path);
        } else {
            self.modes.retain(|(on, at, _)| (*on, *at) != (conn, path));
            self.modes.push((conn, path, mode));
            self.still_wants(fresh.session, path, mode);
        }
        self.kept_promise(conn, |want| {
            want.path == path && (want.table == table || !want.mode.is_one_shot())
        });
        if mode.is_one_shot() {
            self.fresh.push(fresh);
        }
    }

    /// Notes a change found at re-registration. The client may have dropped a persistent watch beside a one-shot one on
    /// the same path: that is not recorded.
    pub(super) fn notified(&mut self, conn: Conn, path: Sym, kind: Notify) {
        self.doubts(conn, path);
        self.kept_promise(conn, |want| {
            want.path == path && (!want.mode.is_one_shot() || fires(want.table, kind))
        });
    }

    /// The client may have dropped a persistent watch beside a re-registered one-shot watch: the next connection proves
    /// nothing about it, unless this one registers it again.
    fn doubts(&mut self, conn: Conn, path: Sym) {
        for promise in self.promises.iter().filter(|promise| promise.conn == conn) {
            let client = slot(&mut self.clients, usize::from(promise.session.0));
            let is_in_doubt = |want: &Want| want.path == path && !want.mode.is_one_shot();
            client.wants.retain(|want| !is_in_doubt(want));
        }
    }

    /// A persistent watch that is registered again was not dropped.
    fn still_wants(&mut self, session: Session, path: Sym, mode: WatchMode) {
        let client = self.client(session);
        let is = |want: &&Want| want.path == path && want.mode == mode;
        if let Some(want) = client.registers.iter().find(is).copied()
            && !client.wants.contains(&want)
        {
            client.wants.push(want);
        }
    }

    fn kept_promise(&mut self, conn: Conn, is: impl Fn(&Want) -> bool) {
        for promise in self.promises.iter_mut().filter(|promise| promise.conn == conn) {
            promise.wants.retain(|want| !is(want));
        }
        self.promises.retain(|promise| !promise.wants.is_empty());
    }

    /// Notes that a read armed a watch, so that it is no re-registration.
    pub(super) fn explained(&mut self, conn: Conn, table: Table, path: Sym) {
        self.fresh.retain(|fresh| (fresh.conn, fresh.table, fresh.path) != (conn, table, path));
    }

    pub(super) fn is_settled(&self) -> bool {
        self.fresh.is_empty()
    }

    /// Settles the past instant: a watch that no read armed was registered again.
    pub(super) fn settle(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        let fresh = std::mem::take(&mut self.fresh);
        // A foreign library may register any watch.
        for fresh in fresh.into_iter().filter(|_| !scene.view.foreign_clients) {
            let Some(client) = self.clients.get(usize::from(fresh.session.0)) else { continue };
            if !client.before || client.conn != fresh.conn {
                continue;
            }
            if let Some(why) = not_to_be_armed(scene, client, fresh) {
                let (path, server) = (scene.path(fresh.path), fresh.server);
                let text = explain(format!("server {server} armed a watch on {path} at e{}", fresh.index))
                    .because(why);
                out.fail_all(RuleId::Zk6, scene, &[fresh.index], text);
            }
        }
    }

    /// Judges the first reply on a new connection: all re-registrations came before it.
    pub(super) fn served(&mut self, scene: &Scene<'_>, conn: Conn, out: &mut Findings) {
        if let Some(at) = self.promises.iter().position(|promise| promise.conn == conn) {
            let promise = self.promises.swap_remove(at);
            broken(scene, &promise, out);
        }
    }

    /// Judges a connection that has lasted two timeouts: its server must have received the re-registrations.
    pub(super) fn pass_time(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        let view = scene.view;
        let due =
            |promise: &Promise| scene.at >= promise.at.saturating_add(2 * view.timeout_of(promise.session));
        while let Some(at) = self.promises.iter().position(due) {
            let promise = self.promises.swap_remove(at);
            let client = view.session(promise.session).client.map(|client| view.client(client));
            let stood_still = |client: &crate::view::Client| {
                client.is_dead()
                    || client.is_paused()
                    || client.last_pause.1.came() && client.last_pause.1.at >= promise.at
            };
            if !client.is_some_and(stood_still) {
                broken(scene, &promise, out);
            }
        }
    }
}

fn broken(scene: &Scene<'_>, promise: &Promise, out: &mut Findings) {
    let Some(want) = promise.wants.iter().find(|want| want.mode.is_one_shot()).or(promise.wants.first())
    else {
        return;
    };
    let rule = if want.mode.is_one_shot() { RuleId::Zk6 } else { RuleId::Zk14 };
    let who = super::client_of(scene, promise.session);
    let text = explain(format!("{who} reconnected at {}", crate::text::seconds(promise.at)))
        .because(format!("the client did not register its watch on {} again", scene.path(want.path)));
    out.find(Ruling::fail(rule, promise.index), scene, None, &[], text);
}

/// The reason why a watch should not be registered again: its client does not wait for it, or should have been notified
/// at once of the missed change.
fn not_to_be_armed(scene: &Scene<'_>, client: &Client, fresh: Fresh) -> Option<String> {
    let Fresh { table, path, .. } = fresh;
    let is = |want: &&Want| want.path == path && want.table == table && want.mode.is_one_shot();
    let mut wants = client.registers.iter().filter(is).peekable();
    if wants.peek().is_none() {
        return Some(
            "no read asked for that watch, and the client had none to restore when it connected".to_owned(),
        );
    }
    if is_unjudged(scene.text(path)) {
        return None;
    }
    let (mut present, mut absent) = (false, false);
    wants.for_each(|want| if want.absent { absent = true } else { present = true });
    let node = scene.view.oracle.node_at(path, fresh.applied);
    let seen = client.seen_at_most;
    match node {
        None if present && !absent => {
            Some("the client waits for a change of a znode that no longer exists".to_owned())
        }
        Some(_) if absent && !present => {
            Some("the client waits for the creation of a znode that exists by now".to_owned())
        }
        Some(node) => {
            let (last, what) = match table {
                Table::Data => (node.mzxid, "written"),
                Table::Child => (node.pzxid, "changed in its children"),
            };
            (last > seen).then(|| {
                format!(
                    "the znode was {what} at zxid {last:#x}, and the client had seen {seen:#x} at the most"
                )
            })
        }
        None => None,
    }
}
