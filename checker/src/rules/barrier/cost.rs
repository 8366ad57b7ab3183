//! Notifications, requests and watches of waits: BA-3 and BA-4.

use super::{Barriers, is_wait};
use crate::rule::prelude::*;
use crate::rules::wake_sources::keeps_budget;

impl Barriers {
    /// BA-3: one notification per waiter and transaction; a budget of requests per wake-up.
    ///
    /// Each connection counts separately: a notification in flight when a connection breaks is repeated on the next
    /// one, by a server that may apply the change later.
    pub(super) fn fired(
        &mut self,
        scene: &Scene<'_>,
        (session, conn): (Session, Conn),
        object: ObjectId,
        zxid: u64,
        out: &mut Findings,
    ) {
        let waiters = self.waiters.iter().filter(|waiter| {
            waiter.object == object
                && (waiter.session == session
                    || scene.view.client(scene.view.op(waiter.op).client).session == session)
        });
        let waiting = waiters.count() as u32;
        if waiting == 0 {
            return;
        }
        out.premise(RuleId::Ba3, object);
        self.fired.retain(|(other, ..)| zxid.abs_diff(*other) < 64);
        let same = |fired: &&mut (u64, Session, Conn, ObjectId, u32)| {
            (fired.0, fired.1, fired.2, fired.3) == (zxid, session, conn, object)
        };
        let count = match self.fired.iter_mut().find(same) {
            Some(fired) => {
                fired.4 += 1;
                fired.4
            }
            None => {
                self.fired.push((zxid, session, conn, object, 1));
                1
            }
        };
        if count == waiting + 1 {
            let who =
                scene.view.session(session).client.map_or("?".to_owned(), |client| scene.client(client));
            let text = explain(format!("zxid {zxid:#x} notified {who} {count} times"))
                .because(format!("{waiting} of its operations wait there"));
            out.fail(RuleId::Ba3, scene, object, &[], text);
        }
    }

    pub(super) fn sent(&self, scene: &Scene<'_>, id: OpId, out: &mut Findings) {
        let op = scene.view.op(id);
        if !op.calm || !self.waiters.iter().any(|waiter| waiter.op == id) {
            return;
        }
        keeps_budget(RuleId::Ba3, scene, id, out);
    }

    /// BA-4: a wait that is over leaves no watch.
    pub(super) fn left(&self, scene: &Scene<'_>, out: &mut Findings) {
        for (at, object) in scene.tables.objects.iter().enumerate() {
            let id = ObjectId(at as u16);
            let used = scene.view.ops.from(0).any(|op| op.object == id && is_wait(op.verb));
            if object.kind == Kind::Barrier && used {
                out.premise(RuleId::Ba4, id);
            }
        }
        let view = scene.view;
        for (watch, client) in view.watches_left() {
            let Some(object) = scene.object_at(Kind::Barrier, watch.path) else { continue };
            if view.client(client).open.iter().any(|op| view.op(*op).object == object) {
                continue;
            }
            let who = scene.client(client);
            let text = explain(format!("a watch of {who} on {} is still armed", scene.path(watch.path)))
                .because(format!("it was armed at e{}, and no operation of {who} waits", watch.armed_index));
            out.leak(RuleId::Ba4, scene, object, &[watch.armed_index], text);
        }
    }
}
