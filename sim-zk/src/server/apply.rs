//! Applying transactions: every server does it in the order of their zxids, and asks nobody.

use super::leader::{Body, Change, Txn};
use super::{ConnId, Scene, Server, outcome_of};
use crate::message::{Answer, Down, OpAnswer, Refusal, Table};
use crate::paths::PathId;
use crate::witness::{Happening, Outcome};
use zk_recipes::zk::EventKind;

impl Server {
    pub(super) fn apply(&mut self, txn: Txn, scene: &mut Scene<'_>) -> Result<Answer, Refusal> {
        assert!(txn.zxid > self.applied, "transactions are applied in the order of their zxids");
        self.applied = txn.zxid;
        let Txn { zxid, session, op, kind, .. } = txn;
        let outcome = match &txn.body {
            Body::Refused(refusal) => outcome_of(*refusal),
            _ => Outcome::Ok,
        };
        scene.tell(Happening::Txn { server: self.id, zxid, session, op, kind, outcome });
        match txn.body.clone() {
            Body::Refused(refusal) => Err(refusal),
            Body::One(change) => Ok(match self.change(change, &txn, scene) {
                OpAnswer::Created(path) => {
                    let stat = self.tree.get(path).map(|node| node.stat()).unwrap_or_default();
                    Answer::Created { path, stat }
                }
                OpAnswer::Set(stat) => Answer::Stat(stat),
                OpAnswer::Checked | OpAnswer::Deleted => Answer::Nothing,
            }),
            Body::Many(changes) => Ok(Answer::Multi(
                changes.into_iter().map(|change| self.change(change, &txn, scene)).collect(),
            )),
            Body::Open { timeout } => {
                scene.tell(Happening::Opened { server: self.id, session, timeout, zxid });
                Ok(Answer::Nothing)
            }
            Body::Close => {
                for path in self.tree.ephemerals(session).to_vec() {
                    self.change(Change::Delete { path }, &txn, scene);
                }
                scene.tell(Happening::Ended { server: self.id, session, zxid });
                Ok(Answer::Nothing)
            }
        }
    }

    pub(super) fn change(&mut self, change: Change, txn: &Txn, scene: &mut Scene<'_>) -> OpAnswer {
        let (server, zxid, op) = (self.id, txn.zxid, txn.op);
        match change {
            Change::Check => OpAnswer::Checked,
            Change::Create { path, data, owner } => {
                self.tree.create(path, data, owner, zxid, txn.time, scene.paths);
                scene.tell(Happening::Created { server, zxid, op, path, owner });
                self.fire(Table::Data, path, EventKind::NodeCreated, txn, &[], scene);
                let parent = scene.paths.parent(path);
                self.fire(Table::Child, parent, EventKind::NodeChildrenChanged, txn, &[], scene);
                OpAnswer::Created(path)
            }
            Change::Delete { path } => {
                self.tree.delete(path, zxid, scene.paths);
                scene.tell(Happening::Deleted { server, zxid, op, path, by: txn.session });
                let told = self.fire(Table::Data, path, EventKind::NodeDeleted, txn, &[], scene);
                self.fire(Table::Child, path, EventKind::NodeDeleted, txn, &told, scene);
                let parent = scene.paths.parent(path);
                self.fire(Table::Child, parent, EventKind::NodeChildrenChanged, txn, &[], scene);
                OpAnswer::Deleted
            }
            Change::Set { path, data } => {
                let stat = self.tree.set(path, data, zxid, txn.time);
                scene.tell(Happening::Written { server, zxid, op, path });
                self.fire(Table::Data, path, EventKind::NodeDataChanged, txn, &[], scene);
                OpAnswer::Set(stat)
            }
        }
    }

    /// Fires the one-shot watches of a table on a path; a connection already told in this step is passed over, its
    /// watch is used up all the same. Returns who was told.
    pub(super) fn fire(
        &mut self,
        table: Table,
        path: PathId,
        kind: EventKind,
        txn: &Txn,
        told: &[ConnId],
        scene: &mut Scene<'_>,
    ) -> Vec<ConnId> {
        let watches = self.watches_mut(table);
        let fired: Vec<ConnId> =
            watches.range((path, ConnId(0))..=(path, ConnId(u32::MAX))).map(|(_, conn)| *conn).collect();
        for conn in &fired {
            watches.remove(&(path, *conn));
        }
        for conn in &fired {
            let session = self.serves.get(conn).copied().unwrap_or_default();
            if told.contains(conn) {
                scene.tell(Happening::Disarmed { server: self.id, session, table, path });
                continue;
            }
            scene.tell(Happening::Fired { server: self.id, session, op: txn.op, kind, path, zxid: txn.zxid });
            scene.outbox.push((*conn, Down::Notify { kind, path }));
        }
        fired
    }
}
