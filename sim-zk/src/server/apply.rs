//! Applying transactions: every server does it in the order of their zxids, and asks nobody.

use super::watch_tables::Hit;
use super::{Replica, Scene, outcome_of};
use crate::acl::{Acl, perms};
use crate::message::{Answer, ConnId, CreateForm, Down, OpAnswer, Refusal, Table, WatchMode};
use crate::paths::PathId;
use crate::quirk::Quirk;
use crate::txn::{Body, Change, Life, Txn};
use crate::witness::Happening;
use zk_recipes::zk::{EventKind, SessionId, Stat};

/// What a change gave.
enum Done {
    Checked,
    Created(CreateForm, PathId, Stat),
    Deleted,
    Changed(Stat),
}

impl From<Done> for Answer {
    fn from(done: Done) -> Self {
        match done {
            Done::Checked | Done::Deleted => Answer::Nothing,
            Done::Created(CreateForm::Create, path, _) => Answer::Path(path),
            Done::Created(_, path, stat) => Answer::Created { path, stat },
            Done::Changed(stat) => Answer::Stat(stat),
        }
    }
}

impl From<Done> for OpAnswer {
    fn from(done: Done) -> Self {
        match done {
            Done::Checked => OpAnswer::Checked,
            Done::Created(CreateForm::Create | CreateForm::Create2, path, _) => OpAnswer::Created(path),
            Done::Created(form, path, stat) => OpAnswer::CreatedWith(form, path, stat),
            Done::Deleted => OpAnswer::Deleted,
            Done::Changed(stat) => OpAnswer::Set(stat),
        }
    }
}

impl Replica {
    /// Applies a transaction; what the client that asked for it is answered.
    pub(crate) fn apply(&mut self, txn: &Txn, scene: &mut Scene<'_>) -> Result<Answer, Refusal> {
        assert!(txn.zxid > self.applied, "transactions are applied in the order of their zxids");
        self.applied = txn.zxid;
        self.tell_txn(txn, scene);
        match &txn.body {
            Body::Refused(refusal) => return Err(*refusal),
            Body::Half(changes, refusal) => {
                changes.iter().for_each(|change| _ = self.change(change, txn, scene));
                return Err(*refusal);
            }
            Body::One(change) => return Ok(self.change(change, txn, scene).into()),
            Body::Many(changes) => {
                let done = changes.iter().map(|change| self.change(change, txn, scene).into());
                return Ok(Answer::Multi(done.collect()));
            }
            Body::Open { timeout } => self.open(txn, *timeout, scene),
            Body::Close { ephemerals } => self.close(txn, ephemerals, scene),
        }
        Ok(Answer::Nothing)
    }

    fn tell_txn(&self, txn: &Txn, scene: &mut Scene<'_>) {
        let server = scene.server;
        let &Txn { zxid, session, op, kind, .. } = txn;
        if !scene.first {
            return scene.tell(Happening::Applied { server, zxid });
        }
        let outcome = match txn.body {
            Body::Refused(refusal) | Body::Half(_, refusal) => outcome_of(refusal),
            _ => None,
        };
        scene.tell(Happening::Txn { server, zxid, session, op, kind, outcome });
    }

    fn open(&mut self, txn: &Txn, timeout: u64, scene: &mut Scene<'_>) {
        self.sessions.insert(txn.session, timeout);
        if scene.first {
            let &Txn { zxid, session, .. } = txn;
            scene.tell(Happening::Opened { server: scene.server, session, timeout, zxid });
        }
    }

    /// The leader's list comes first, in the leader's order; then whatever the session owns beside it, which is nothing
    /// unless the leader erred (`DataTree.killSession`).
    fn close(&mut self, txn: &Txn, ephemerals: &[PathId], scene: &mut Scene<'_>) {
        let kept = ephemerals.last().filter(|_| scene.quirk == Some(Quirk::KeepsEphemeral)).copied();
        for path in ephemerals {
            if self.tree.get(*path).is_some() && kept != Some(*path) {
                self.delete(*path, txn, scene);
            }
        }
        for path in self.tree.orphans(txn.session).into_iter().filter(|path| kept != Some(*path)) {
            self.delete(path, txn, scene);
        }
        self.sessions.remove(&txn.session);
        if scene.first {
            let &Txn { zxid, session, .. } = txn;
            scene.tell(Happening::Ended { server: scene.server, session, zxid });
        }
    }

    fn change(&mut self, change: &Change, txn: &Txn, scene: &mut Scene<'_>) -> Done {
        let &Txn { zxid, op, .. } = txn;
        let server = scene.server;
        match change {
            Change::Check => Done::Checked,
            Change::Create { .. } => self.create(change, txn, scene),
            Change::Delete { path } => {
                self.delete(*path, txn, scene);
                Done::Deleted
            }
            Change::Set { path, data, version } => {
                let path = *path;
                let version = if scene.quirk == Some(Quirk::VersionStays) { version - 1 } else { *version };
                let stat = self.tree.set(path, data.clone(), version, zxid, txn.time, scene.paths);
                if scene.first {
                    scene.tell(Happening::Written { server, zxid, op, path, data });
                }
                let acl = self.acl_of(path);
                self.fire(Table::Data, path, EventKind::NodeDataChanged, &acl, txn, &[], scene);
                if scene.quirk == Some(Quirk::ChildrenForData) {
                    self.fire_parent(path, txn, scene);
                }
                Done::Changed(stat)
            }
            Change::SetAcl { path, acl, version } => {
                let path = *path;
                let stat = self.tree.set_acl(path, acl.clone(), *version);
                if scene.first {
                    scene.tell(Happening::Restricted { server, zxid, op, path });
                }
                Done::Changed(stat)
            }
        }
    }

    fn create(&mut self, change: &Change, txn: &Txn, scene: &mut Scene<'_>) -> Done {
        let Change::Create { form, path, data, acl, life, creations } = change else {
            unreachable!("the caller has looked")
        };
        let (path, life) = (*path, *life);
        let &Txn { zxid, op, .. } = txn;
        let stat =
            self.tree.create(path, data.clone(), acl.clone(), life, *creations, zxid, txn.time, scene.paths);
        if scene.first {
            let owner = match life {
                Life::Ephemeral(session) => session,
                _ => SessionId(0),
            };
            scene.tell(Happening::Created { server: scene.server, zxid, op, path, owner, data });
        }
        self.fire(Table::Data, path, EventKind::NodeCreated, acl, txn, &[], scene);
        self.fire_parent(path, txn, scene);
        Done::Created(*form, path, stat)
    }

    fn delete(&mut self, path: PathId, txn: &Txn, scene: &mut Scene<'_>) {
        let &Txn { zxid, op, session: by, .. } = txn;
        let parent = scene.paths.parent_of_znode(path);
        let mark = self.tree.get(parent).map_or(0, |node| node.pzxid);
        let gone = self.tree.delete(path, zxid, scene.paths);
        if scene.quirk == Some(Quirk::PzxidStays) {
            self.tree.unmark(parent, mark);
        }
        if scene.first {
            scene.tell(Happening::Deleted { server: scene.server, zxid, op, path, by });
        }
        let told = self.fire(Table::Data, path, EventKind::NodeDeleted, &gone.acl, txn, &[], scene);
        self.fire(Table::Child, path, EventKind::NodeDeleted, &gone.acl, txn, &told, scene);
        let is_end = matches!(txn.body, Body::Close { .. });
        if !(is_end && scene.quirk == Some(Quirk::SilentEnd)) {
            self.fire_parent(path, txn, scene);
        }
    }

    fn acl_of(&self, path: PathId) -> Acl {
        self.tree.get(path).map_or(Acl::Open, |node| node.acl.clone())
    }

    fn fire_parent(&mut self, path: PathId, txn: &Txn, scene: &mut Scene<'_>) {
        let parent = scene.paths.parent_of_znode(path);
        let acl = self.acl_of(parent);
        self.fire(Table::Child, parent, EventKind::NodeChildrenChanged, &acl, txn, &[], scene);
    }

    /// Fires the watches of a table. A connection that the step before has told is passed over, and so is, without a
    /// word, one that may not read the znode (ZOOKEEPER-4799); their one-shot watches are used up all the same. The
    /// answer is who was concerned.
    #[allow(clippy::too_many_arguments, reason = "what happened, to what, and who knows already")]
    fn fire(
        &mut self,
        table: Table,
        path: PathId,
        kind: EventKind,
        acl: &Acl,
        txn: &Txn,
        told: &[ConnId],
        scene: &mut Scene<'_>,
    ) -> Vec<ConnId> {
        let hits = self.watches.of_mut(table).trigger(path, kind, scene.paths);
        let &Txn { zxid, op, .. } = txn;
        let server = scene.server;
        let kind = match kind {
            EventKind::NodeDeleted if scene.quirk == Some(Quirk::WrongEvent) => EventKind::NodeDataChanged,
            kind => kind,
        };
        for Hit { conn, spent } in &hits {
            match scene.quirk {
                Some(Quirk::FiresTwice) if *spent => {
                    self.watches.of_mut(table).arm(path, *conn, WatchMode::OneShot);
                }
                Some(Quirk::SpendsPersistent) if !spent => {
                    self.watches.of_mut(table).disarm(path, *conn);
                }
                _ => {}
            }
            let known = &self.conns[conn];
            let (conn, session) = (conn.0, known.session);
            let may_know = !scene.settings.filter_events || acl.allows(perms::READ, &known.identities);
            if may_know && told.binary_search(&ConnId(conn)).is_err() {
                scene.tell(Happening::Fired { server, session, conn, op, kind, path, zxid });
                scene.outbox.push((ConnId(conn), Down::Notify { kind, path }));
            } else if *spent {
                scene.tell(Happening::Disarmed { server, session, conn, table, path });
            }
        }
        hits.into_iter().map(|hit| hit.conn).collect()
    }
}
