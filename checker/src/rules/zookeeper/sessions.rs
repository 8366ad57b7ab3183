//! The life and end of sessions: ZK-7.

use super::{client_of, server};
use crate::rule::prelude::*;

/// ZK-7: ephemerals are deleted together, at the end of their session and only then; a session does nothing after its
/// end; a session expires when its leader has received no touch for its timeout, and within one tick after.
#[derive(Clone, Default)]
pub(crate) struct Sessions {
    /// By session: the event of its end, and its zxid.
    ended: Vec<(u32, u64)>,
    /// The current transaction, if it ends a session.
    closing: Option<(u64, Session)>,
}

impl Sessions {
    fn fail(scene: &Scene<'_>, out: &mut Findings, seen: u32, what: String, because: String) {
        out.fail_all(RuleId::Zk7, scene, &[seen], explain(what).because(because));
    }

    fn end_of(&self, session: Session) -> Option<u32> {
        self.ended.get(usize::from(session.0)).map(|end| end.0).filter(|at| *at != 0)
    }

    fn marked(scene: &Scene<'_>, number: u8, session: Session, heard: u64, out: &mut Findings) {
        let view = scene.view;
        let leader = view.server(number);
        let timeout = view.timeout_of(session);
        out.premise_of_all(RuleId::Zk7);
        // A new leader starts every timeout again.
        let from = heard.max(leader.elected);
        let who = client_of(scene, session);
        let what = |how| format!("{who} was expired at {}, {how}", scene.when(view.now));
        let because = format!(
            "the leader last heard from it at {}, its timeout is {}",
            crate::text::seconds(heard),
            ms(timeout)
        );
        if scene.at.saturating_add(view.settle) < from.saturating_add(timeout) {
            Self::fail(scene, out, u32::MAX, what("too early"), because);
        } else {
            // Time in which the leader was paused, or did not lead yet, does not count.
            let paused = leader.pauses;
            let from =
                from.max(leader.serving_since).max(if paused.is_now() { scene.at } else { paused.until() });
            let latest = from.saturating_add(timeout + view.tick + view.settle);
            if scene.at > latest {
                Self::fail(scene, out, u32::MAX, what("too late"), because);
            }
        }
    }

    fn deleted(&self, scene: &Scene<'_>, path: Sym, zxid: u64, out: &mut Findings) {
        let Some((closing, session)) = self.closing.filter(|(closing, _)| *closing == zxid) else { return };
        let owner = scene.view.oracle.node_at(path, zxid.saturating_sub(1)).map(|node| node.owner);
        out.premise_of_all(RuleId::Zk7);
        if owner.is_some_and(|owner| owner != session) {
            let what = format!("{} was deleted at {closing:#x}", scene.path(path));
            let because =
                format!("that transaction ends {}, which does not own the znode", client_of(scene, session));
            Self::fail(scene, out, u32::MAX, what, because);
        }
    }

    fn ended(&mut self, scene: &Scene<'_>, session: Session, zxid: u64, out: &mut Findings) {
        out.premise_of_all(RuleId::Zk7);
        let left = scene.view.oracle.living_of(session);
        if left > 0 {
            let what = format!("{} ended at zxid {zxid:#x}", client_of(scene, session));
            let because = format!("{left} of its ephemerals were not deleted with it");
            Self::fail(scene, out, u32::MAX, what, because);
        }
        *slot(&mut self.ended, usize::from(session.0)) = (scene.index, zxid);
    }
}

impl Sessions {
    /// Judges an answer of a server that has applied the end of the session: it must have closed the session's
    /// connections.
    fn served(&self, scene: &Scene<'_>, id: ReqId, zxid: u64, out: &mut Findings) {
        let Some(req) = scene.view.request(id) else { return };
        let Some((end, at)) = self.ended.get(usize::from(req.session.0)).copied() else { return };
        if end != 0 && zxid >= at {
            let what = format!("the read r{} of {} is answered", id.0, client_of(scene, req.session));
            let because = format!("e{end}: that session had ended, and the server had applied its end");
            Self::fail(scene, out, end, what, because);
        }
    }
}

impl Rule for Sessions {
    const JUDGES: &'static [Property] = &[Property::SessionsEnd];
    const HEARS: Kinds = hears![Txn, Created, Deleted, Marked, Ended, Opened, Served];

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        if !scene.view.is_sim() {
            return;
        }
        match event.what {
            What::Txn { zxid, session, kind, code } => {
                self.closing = (kind == Request::CloseSession && code == Code::Ok).then_some((zxid, session));
                if let Some(end) = self.end_of(session).filter(|_| code == Code::Ok && self.closing.is_none())
                {
                    let what = format!("zxid {zxid:#x} is a transaction of {}", client_of(scene, session));
                    Self::fail(scene, out, end, what, format!("e{end}: that session had ended"));
                }
            }
            What::Created { path, owner, .. } => {
                if let Some(end) = self.end_of(owner) {
                    let what = format!("{} was created for {}", scene.path(path), client_of(scene, owner));
                    Self::fail(scene, out, end, what, format!("e{end}: that session had ended"));
                }
            }
            What::Deleted { path, zxid, .. } => self.deleted(scene, path, zxid, out),
            What::Marked { session, heard } => {
                Self::marked(scene, server(event.who), session, heard, out);
            }
            What::Ended { session, zxid } => self.ended(scene, session, zxid, out),
            What::Opened { session, .. } => *slot(&mut self.ended, usize::from(session.0)) = (0, 0),
            What::Served { req, zxid, .. } => self.served(scene, req, zxid, out),
            _ => {}
        }
    }
}
