//! The order of transactions, and the clients' view of it: ZK-1 to ZK-4, and ZK-10.

use super::{client_of, server, zxid_of};
use crate::recent::Recent;
use crate::rule::prelude::*;

/// Whether a request is ordered by the leader.
pub(super) fn is_write(kind: Request) -> bool {
    matches!(
        kind,
        Request::Create
            | Request::Delete
            | Request::Set
            | Request::SetAcl
            | Request::Multi
            | Request::CloseSession
    )
}

/// ZK-1: every server applies the committed transactions, all of them, in their order.
#[derive(Clone, Default)]
pub(crate) struct OneOrder;

impl Rule for OneOrder {
    const JUDGES: &'static [Property] = &[Property::OneOrder];
    const HEARS: Kinds = hears![Txn, Applied];

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let (What::Txn { zxid, .. } | What::Applied { zxid }) = event.what else { return };
        let oracle = &scene.view.oracle;
        let server = server(event.who);
        out.premise_of_all(RuleId::Zk1);
        if oracle.is_unknown {
            let text = explain(format!("server {server} applied zxid {zxid:#x} at {}", now(scene)))
                .because("another transaction comes next in the committed order");
            return out.fail_all(RuleId::Zk1, scene, &[], text);
        }
        let (from, to) = oracle.skipped;
        if from < to {
            let first = oracle.zxid_of(from).unwrap_or_default();
            let text = explain(format!("server {server} applied zxid {zxid:#x} at {}", now(scene)))
                .because(format!("the server has not applied {first:#x}, which was committed before"));
            out.fail_all(RuleId::Zk1, scene, &[], text);
        }
    }
}

fn now(scene: &Scene<'_>) -> String {
    scene.when(scene.view.now)
}

/// ZK-2: a write that was called after another request had returned comes after the state that this request saw.
#[derive(Clone, Default)]
pub(crate) struct Linearizable {
    largest: u64,
    told_at: u32,
    /// By request: the largest zxid in any reply before it was sent, and the event of that reply.
    floor: Recent<(u64, u32)>,
}

impl Rule for Linearizable {
    const JUDGES: &'static [Property] = &[Property::LinearizableWrites];
    const HEARS: Kinds = hears![Send, Reply];

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        if !scene.view.is_sim() {
            return;
        }
        match event.what {
            What::Send { req, kind, .. } if is_write(kind) => {
                *self.floor.slot(req.0 as usize) = (self.largest, self.told_at);
            }
            What::Reply { req, zxid, code, .. } => {
                let Some(zxid) = zxid_of(zxid) else { return };
                // A throttled request takes no zxid.
                let write =
                    code != Code::Throttled && scene.view.request(req).is_some_and(|req| is_write(req.kind));
                let (floor, seen) = *self.floor.at(req.0 as usize);
                if write && floor != 0 {
                    out.premise_of_all(RuleId::Zk2);
                    if zxid <= floor {
                        let text = explain(format!("the write r{} was answered with {zxid:#x}", req.0))
                            .because(format!(
                                "a reply at e{seen}, before the write was sent, already had zxid {floor:#x}"
                            ));
                        out.fail_all(RuleId::Zk2, scene, &[seen], text);
                    }
                }
                if zxid > self.largest {
                    (self.largest, self.told_at) = (zxid, scene.index);
                }
            }
            _ => {}
        }
    }
}

#[derive(Clone, Copy, Default)]
struct Last {
    conn: Conn,
    /// The events at which the last answered request was sent and answered.
    sent: u32,
    reply: u32,
    /// The largest zxid of its writes, and the event of that reply.
    write: u64,
    wrote: u32,
    /// The zxid of the last reply.
    zxid: u64,
}

/// ZK-3: a session's requests are answered in order, the zxids of its writes grow, and its reads see its writes.
#[derive(Clone, Default)]
pub(crate) struct SessionOrder(Vec<Last>);

impl SessionOrder {
    fn reply(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let What::Reply { req: id, code, zxid, conn } = event.what else { return };
        let Some(req) = scene.view.request(id) else { return };
        // Authentication overtakes other requests, and is answered without a zxid.
        if matches!(req.kind, Request::Other | Request::Connect) || req.session == Session(0) {
            return;
        }
        let last = slot(&mut self.0, usize::from(req.session.0));
        let session = || client_of(scene, req.session);
        out.premise_of_all(RuleId::Zk3);
        if last.reply != 0 && last.conn == conn && req.sent.index < last.sent {
            let text = explain(format!("r{} of {} was answered at {}", id.0, session(), now(scene)))
                .because(format!("a request that was sent later had been answered at e{}", last.reply));
            out.fail_all(RuleId::Zk3, scene, &[last.reply], text);
        }
        (last.conn, last.sent, last.reply) = (conn, req.sent.index, scene.index);
        let Some(zxid) = zxid_of(zxid) else { return };
        let write = is_write(req.kind) && code != Code::Throttled;
        if zxid < last.write || (write && zxid == last.write) {
            let what = if write { "write" } else { "read" };
            let of = session();
            let text = explain(format!("the {what} r{} of {of} was answered with {zxid:#x}", id.0))
                .because(format!("its own write was answered with {:#x} at e{}", last.write, last.wrote));
            out.fail_all(RuleId::Zk3, scene, &[last.wrote], text);
        }
        if write {
            (last.write, last.wrote) = (last.write.max(zxid), scene.index);
        }
    }
}

impl Rule for SessionOrder {
    const JUDGES: &'static [Property] = &[Property::SessionOrder];
    const HEARS: Kinds = hears![Reply];

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        if scene.view.is_sim() {
            self.reply(scene, event, out);
        }
    }
}

/// ZK-4: the state that a session sees never goes back, on any server.
#[derive(Clone, Default)]
pub(crate) struct OneImage(Vec<Last>);

impl Rule for OneImage {
    const JUDGES: &'static [Property] = &[Property::OneImage];
    const HEARS: Kinds = hears![Reply, State, TurnedAway];

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let view = scene.view;
        if !view.is_sim() {
            return;
        }
        match event.what {
            What::Reply { req, zxid, .. } => {
                let Some(req) = view.request(req) else { return };
                let Some(zxid) = zxid_of(zxid).filter(|_| req.kind != Request::Connect) else { return };
                if req.session == Session(0) {
                    return;
                }
                let last = slot(&mut self.0, usize::from(req.session.0));
                out.premise_of_all(RuleId::Zk4);
                if zxid < last.zxid {
                    let session = client_of(scene, req.session);
                    let text = explain(format!("{session} was answered with {zxid:#x} at {}", now(scene)))
                        .because(format!("the session had seen {:#x} at e{}", last.zxid, last.reply));
                    out.fail_all(RuleId::Zk4, scene, &[last.reply], text);
                }
                (last.zxid, last.reply) = (zxid.max(last.zxid), scene.index);
            }
            What::State { session, state: SessionState::Connected, conn, server } if !conn.is_none() => {
                let last = *slot(&mut self.0, usize::from(session.0));
                let applied = view.server(server).applied;
                if !view.server(server).applied_is_known {
                    return;
                }
                out.premise_of_all(RuleId::Zk4);
                if applied < last.zxid {
                    let session = client_of(scene, session);
                    let text = explain(format!("server {server} accepted {session} at {}", now(scene)))
                        .because(format!(
                            "the server has applied up to {applied:#x}, and the client has seen {:#x} (e{})",
                            last.zxid, last.reply
                        ));
                    out.fail_all(RuleId::Zk4, scene, &[last.reply], text);
                }
            }
            What::TurnedAway { session, seen } => {
                let number = server(event.who);
                let applied = view.server(number).applied;
                if !view.server(number).applied_is_known {
                    return;
                }
                out.premise_of_all(RuleId::Zk4);
                if seen <= applied {
                    let session = client_of(scene, session);
                    let text = explain(format!("server {number} refused {session} at {}", now(scene)))
                        .because(format!(
                            "the server has applied {applied:#x}, and the client had only seen {seen:#x}"
                        ));
                    out.fail_all(RuleId::Zk4, scene, &[], text);
                }
            }
            _ => {}
        }
    }
}

/// ZK-10: a write that was acknowledged, or shown to any client, is committed, and no server that continues lacks it.
#[derive(Clone, Default)]
pub(crate) struct Durable {
    /// The number before which a reply has shown every transaction, and the event of that reply.
    shown: u32,
    told_at: u32,
}

impl Rule for Durable {
    const JUDGES: &'static [Property] = &[Property::Durability];
    const HEARS: Kinds = hears![Reply, Txn, Applied, Serving, Elected];

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let view = scene.view;
        if !view.is_sim() {
            return;
        }
        match event.what {
            What::Reply { req, code, zxid, conn } if !conn.is_none() => {
                let Some(zxid) = zxid_of(zxid) else { return };
                let write = code == Code::Ok && view.request(req).is_some_and(|req| is_write(req.kind));
                if write {
                    out.premise_of_all(RuleId::Zk10);
                }
                match view.oracle.number_of(zxid) {
                    Some(number) if number >= self.shown => {
                        (self.shown, self.told_at) = (number + 1, scene.index);
                    }
                    None if write => {
                        let text = explain(format!("the write r{} was answered at {}", req.0, now(scene)))
                            .because(format!("no server has applied a transaction of zxid {zxid:#x}"));
                        out.fail_all(RuleId::Zk10, scene, &[], text);
                    }
                    _ => {}
                }
            }
            What::Txn { .. } | What::Applied { .. } => {
                let (from, to) = view.oracle.skipped;
                self.lost(scene, from, to, server(event.who), out);
            }
            // Before a server serves, it has every transaction that a client has seen.
            What::Serving => {
                let number = server(event.who);
                let applied = view.server(number).applied;
                let from = view.oracle.number_after(applied);
                let since = view.server(number).serving_since;
                let known = view.server(number).applied_is_known && applied != 0;
                if known && since == scene.at {
                    self.lost(scene, from, self.shown, number, out);
                }
            }
            // A new leader leads with its own state, and receives no copy.
            What::Elected { .. } => {
                let reached = view.oracle.reached(event.who);
                if reached != 0 {
                    self.lost(scene, reached, self.shown, server(event.who), out);
                }
            }
            _ => {}
        }
    }
}

impl Durable {
    fn lost(&self, scene: &Scene<'_>, from: u32, to: u32, server: u8, out: &mut Findings) {
        if from >= to.min(self.shown) {
            return;
        }
        let zxid = scene.view.oracle.zxid_of(from).unwrap_or_default();
        let text = explain(format!("server {server} continued at {} without zxid {zxid:#x}", now(scene)))
            .because(format!("e{}: an answer had shown that it was committed", self.told_at));
        out.fail_all(RuleId::Zk10, scene, &[self.told_at], text);
    }
}
