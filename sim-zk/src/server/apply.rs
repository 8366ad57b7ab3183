//! Applying transactions: every server does it in the order of zxids, without asking another server.

use super::watch_tables::Hit;
use super::{Replica, ReplicaEnv, outcome_of};
use crate::acl::{Acl, perms};
use crate::injected_bug::InjectedBug;
use crate::message::{Answer, ConnId, CreateForm, Down, OpAnswer, Refusal, Table, WatchMode};
use crate::observer::SimEvent;
use crate::paths::PathId;
use crate::txn::{Body, Change, Life, Txn};
use zk_recipes::zk::{EventKind, SessionId, Stat};

/// The result of a change.
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
    /// Applies a transaction, and returns the reply to its client.
    pub(crate) fn apply(&mut self, txn: &Txn, env: &mut ReplicaEnv<'_>) -> Result<Answer, Refusal> {
        assert!(txn.zxid > self.applied, "transactions are applied in the order of their zxids");
        self.applied = txn.zxid;
        self.emit_txn(txn, env);
        match &txn.body {
            Body::Refused(refusal) => return Err(*refusal),
            Body::Half(changes, refusal) => {
                changes.iter().for_each(|change| _ = self.change(change, txn, env));
                return Err(*refusal);
            }
            Body::One(change) => return Ok(self.change(change, txn, env).into()),
            Body::Many(changes) => {
                let done = changes.iter().map(|change| self.change(change, txn, env).into());
                return Ok(Answer::Multi(done.collect()));
            }
            Body::Open { timeout } => self.open(txn, *timeout, env),
            Body::Close { ephemerals, .. } => self.close(txn, ephemerals, env),
        }
        Ok(Answer::Nothing)
    }

    fn emit_txn(&self, txn: &Txn, env: &mut ReplicaEnv<'_>) {
        let server = env.server;
        let &Txn { zxid, session, op, kind, .. } = txn;
        if !env.first {
            return env.emit(SimEvent::Applied { server, zxid });
        }
        let outcome = match txn.body {
            Body::Refused(refusal) | Body::Half(_, refusal) => outcome_of(refusal),
            _ => None,
        };
        env.emit(SimEvent::Txn { server, zxid, session, op, kind, outcome });
    }

    fn open(&mut self, txn: &Txn, timeout: u64, env: &mut ReplicaEnv<'_>) {
        self.sessions.insert(txn.session, timeout);
        if env.first {
            let &Txn { zxid, session, .. } = txn;
            env.emit(SimEvent::Opened { server: env.server, session, timeout, zxid });
        }
    }

    /// Deletes the ephemerals in the list and order of the leader, then any other one of the session, which exists
    /// only if the leader erred (`DataTree.killSession`).
    fn close(&mut self, txn: &Txn, ephemerals: &[PathId], env: &mut ReplicaEnv<'_>) {
        let kept = ephemerals.last().filter(|_| env.bug == Some(InjectedBug::KeepsEphemeral)).copied();
        for path in ephemerals {
            if self.tree.get(*path).is_some() && kept != Some(*path) {
                self.delete(*path, txn, env);
            }
        }
        for path in self.tree.orphans(txn.session).into_iter().filter(|path| kept != Some(*path)) {
            self.delete(path, txn, env);
        }
        self.sessions.remove(&txn.session);
        if env.first {
            let &Txn { zxid, session, .. } = txn;
            env.emit(SimEvent::Ended { server: env.server, session, zxid });
        }
    }

    fn change(&mut self, change: &Change, txn: &Txn, env: &mut ReplicaEnv<'_>) -> Done {
        let &Txn { zxid, op, .. } = txn;
        let server = env.server;
        match change {
            Change::Check => Done::Checked,
            Change::Create { .. } => self.create(change, txn, env),
            Change::Delete { path } => {
                self.delete(*path, txn, env);
                Done::Deleted
            }
            Change::Set { path, data, version } => {
                let path = *path;
                let version = if env.bug == Some(InjectedBug::VersionStays) { version - 1 } else { *version };
                let stat = self.tree.set(path, data.clone(), version, zxid, txn.time, env.paths);
                if env.first {
                    env.emit(SimEvent::Written { server, zxid, op, path, data });
                }
                let acl = self.acl_of(path);
                self.fire(Table::Data, path, EventKind::NodeDataChanged, &acl, txn, &[], env);
                if env.bug == Some(InjectedBug::ChildrenForData) {
                    self.fire_parent(path, txn, env);
                }
                Done::Changed(stat)
            }
            Change::SetAcl { path, acl, version } => {
                let path = *path;
                let stat = self.tree.set_acl(path, acl.clone(), *version);
                if env.first {
                    env.emit(SimEvent::Restricted { server, zxid, op, path });
                }
                Done::Changed(stat)
            }
        }
    }

    fn create(&mut self, change: &Change, txn: &Txn, env: &mut ReplicaEnv<'_>) -> Done {
        let Change::Create { form, path, data, acl, life, creations } = change else {
            unreachable!("the caller has looked")
        };
        let (path, life) = (*path, *life);
        let &Txn { zxid, op, .. } = txn;
        let stat =
            self.tree.create(path, data.clone(), acl.clone(), life, *creations, zxid, txn.time, env.paths);
        self.tree.preset_creations(path, env.settings.first_number);
        if env.first {
            let owner = match life {
                Life::Ephemeral(session) => session,
                _ => SessionId(0),
            };
            env.emit(SimEvent::Created { server: env.server, zxid, op, path, owner, data });
        }
        self.fire(Table::Data, path, EventKind::NodeCreated, acl, txn, &[], env);
        self.fire_parent(path, txn, env);
        Done::Created(*form, path, stat)
    }

    fn delete(&mut self, path: PathId, txn: &Txn, env: &mut ReplicaEnv<'_>) {
        let &Txn { zxid, op, session: by, .. } = txn;
        let parent = env.paths.parent_of_znode(path);
        let mark = self.tree.get(parent).map_or(0, |node| node.pzxid);
        let gone = self.tree.delete(path, zxid, env.paths);
        if env.bug == Some(InjectedBug::PzxidStays) {
            self.tree.unmark(parent, mark);
        }
        if env.first {
            env.emit(SimEvent::Deleted { server: env.server, zxid, op, path, by });
        }
        let told = self.fire(Table::Data, path, EventKind::NodeDeleted, &gone.acl, txn, &[], env);
        self.fire(Table::Child, path, EventKind::NodeDeleted, &gone.acl, txn, &told, env);
        let is_end = matches!(txn.body, Body::Close { .. });
        if !(is_end && env.bug == Some(InjectedBug::SilentEnd)) {
            self.fire_parent(path, txn, env);
        }
    }

    /// Fires the watches on data that a transaction will change, as only an injected bug does.
    pub(crate) fn fire_early(&mut self, txn: &Txn, env: &mut ReplicaEnv<'_>) {
        if let Body::One(Change::Set { path, .. }) = txn.body {
            let acl = self.acl_of(path);
            self.fire(Table::Data, path, EventKind::NodeDataChanged, &acl, txn, &[], env);
        }
    }

    fn acl_of(&self, path: PathId) -> Acl {
        self.tree.get(path).map_or(Acl::Open, |node| node.acl.clone())
    }

    fn fire_parent(&mut self, path: PathId, txn: &Txn, env: &mut ReplicaEnv<'_>) {
        let parent = env.paths.parent_of_znode(path);
        let acl = self.acl_of(parent);
        self.fire(Table::Child, parent, EventKind::NodeChildrenChanged, &acl, txn, &[], env);
    }

    /// Fires the watches of a table. It skips connections in `told`, which the step before has notified, and
    /// connections without READ permission (ZOOKEEPER-4799); their one-shot watches are used up all the same. Returns
    /// the connections concerned.
    #[allow(clippy::too_many_arguments, reason = "what happened, to what, and who knows already")]
    fn fire(
        &mut self,
        table: Table,
        path: PathId,
        kind: EventKind,
        acl: &Acl,
        txn: &Txn,
        told: &[ConnId],
        env: &mut ReplicaEnv<'_>,
    ) -> Vec<ConnId> {
        let hits = self.watches.of_mut(table).trigger(path, kind, env.paths);
        let &Txn { zxid, op, .. } = txn;
        let server = env.server;
        let kind = match kind {
            EventKind::NodeDeleted if env.bug == Some(InjectedBug::WrongEvent) => EventKind::NodeDataChanged,
            kind => kind,
        };
        for Hit { conn, spent } in &hits {
            match env.bug {
                Some(InjectedBug::FiresTwice) if *spent => {
                    self.watches.of_mut(table).arm(path, *conn, WatchMode::OneShot);
                }
                Some(InjectedBug::SpendsPersistent) if !spent => {
                    self.watches.of_mut(table).disarm(path, *conn);
                }
                _ => {}
            }
            let known = &self.conns[conn];
            let (conn, session) = (conn.0, known.session);
            let may_know = !env.settings.filter_events || acl.allows(perms::READ, &known.identities);
            if may_know && told.binary_search(&ConnId(conn)).is_err() {
                env.emit(SimEvent::Fired { server, session, conn, op, kind, path, zxid });
                env.outbox.push((ConnId(conn), Down::Notify { kind, path }));
            } else if *spent {
                env.emit(SimEvent::Disarmed { server, session, conn, table, path });
            }
        }
        hits.into_iter().map(|hit| hit.conn).collect()
    }
}
