//! The report on the traffic so far.

use super::Wire;
use super::naming::{Naming, Suggests};
use super::paths::TextId;
use super::report::{
    ClientReport, Cost, DirectoryReport, Herd, Largest, Left, LeftWatch, LeftZnode, QueueReport, Standing,
    WireReport,
};
use super::znodes::{Directory, Znode};
use crate::history::{Session, Tables};
use std::collections::BTreeMap;

/// The maximal number of entries of a list.
const LISTED: usize = 100;

impl Wire {
    /// Reports the traffic so far.
    pub fn report(&self, tables: Tables<'_>) -> WireReport {
        let kinds: BTreeMap<TextId, Suggests> =
            self.znodes.directories.iter().map(|(path, of)| (*path, self.kind(*path, of))).collect();
        let collected = self.findings(tables, &kinds);
        let mut herds = self.herds();
        let mut directories: Vec<DirectoryReport> = Vec::new();
        let mut queues = Vec::new();
        for (path, directory) in &self.znodes.directories {
            let herd = herds.remove(path).unwrap_or_default();
            let kind = kinds[path];
            if kind == Suggests::Queue {
                queues.push(QueueReport {
                    path: self.paths.text(*path).to_owned(),
                    put: directory.items_put,
                    taken: directory.items_taken,
                    left: directory.items_put - directory.items_taken,
                    claimed_twice: directory.claimed_twice,
                });
            }
            directories.push(self.directory(tables, *path, directory, kind, herd));
        }
        directories.sort_by(|a, b| a.path.cmp(&b.path));
        queues.sort_by(|a, b| a.path.cmp(&b.path));
        WireReport {
            events: self.events,
            findings: collected.findings,
            found: collected.found,
            directories,
            queues,
            clients: self.client_reports(tables),
            left: self.left(),
            faults: self.faults.clone(),
        }
    }

    /// The recipe of a directory. Ephemerals named by a guid alone are a semaphore's leases only if the semaphore's
    /// lock was seen, too.
    fn kind(&self, path: TextId, directory: &Directory) -> Suggests {
        let kind = Suggests::of(directory.namings.iter().copied());
        let text = self.paths.text(path);
        let has_lock = || {
            ["-__lock__", "/__lock__"].iter().any(|lock| self.paths.find(&format!("{text}{lock}")).is_some())
        };
        if kind == Suggests::Semaphore && directory.namings.contains(&Naming::Guid) && !has_lock() {
            return Suggests::Other;
        }
        kind
    }

    /// The name of the client of a session.
    pub(super) fn client_name(&self, tables: Tables<'_>, session: Session) -> Option<String> {
        Some(name_of(tables, self.session(session).client?))
    }

    fn herds(&self) -> BTreeMap<TextId, Herd> {
        let mut herds: BTreeMap<TextId, Herd> = BTreeMap::new();
        for deletion in self.herd.iter() {
            let herd = herds.entry(deletion.deleted.parsed.directory).or_default();
            herd.deletions += 1;
            herd.notifications += deletion.notifications;
            let sessions = deletion.notified.len() as u64;
            if sessions > herd.largest.as_ref().map_or(0, |largest| largest.sessions) {
                let path = self.paths.text(deletion.deleted.parsed.path).to_owned();
                herd.largest = Some(Largest { sessions, zxid: deletion.deleted.zxid, path });
            }
        }
        herds
    }

    fn directory(
        &self,
        tables: Tables<'_>,
        path: TextId,
        of: &Directory,
        kind: Suggests,
        herd: Herd,
    ) -> DirectoryReport {
        let live = of.live.iter().filter_map(|(_, path)| self.znodes.live.get(path));
        let (most, most_path) = match of.most {
            Some((most, path)) => (most, Some(self.paths.text(path).to_owned())),
            None => (0, None),
        };
        DirectoryReport {
            path: self.paths.text(path).to_owned(),
            kind,
            naming: of.namings.iter().copied().collect(),
            created: of.created,
            deleted_by_owner: of.deleted_by_owner,
            deleted_with_session: of.deleted_with_session,
            deleted_by_others: of.deleted_by_others,
            written: of.written,
            standing: of.live.len() as u64,
            contenders: live.take(LISTED).map(|znode| self.standing(tables, znode)).collect(),
            herd,
            cost: Cost { contenders: of.contenders, requests: of.requests, most, most_path },
        }
    }

    fn standing(&self, tables: Tables<'_>, znode: &Znode) -> Standing {
        let session = znode.creator;
        let directory = znode.parsed.directory;
        let is_sibling = |path: &TextId| {
            let text = self.paths.text(*path);
            let above =
                text.rsplit_once('/').map_or("", |(above, _)| if above.is_empty() { "/" } else { above });
            *path != znode.parsed.path && above == self.paths.text(directory)
        };
        let mut watched: Vec<TextId> = self.watches.of(session).map(|(path, _, _)| path).collect();
        watched.dedup();
        Standing {
            name: self.paths.name(znode.parsed.path).to_owned(),
            session,
            client: self.client_name(tables, session),
            session_open: self.session(session).is_open,
            waits_on_all: watched.contains(&directory),
            waits_on: watched
                .into_iter()
                .filter(is_sibling)
                .map(|path| self.paths.name(path).to_owned())
                .collect(),
        }
    }

    fn client_reports(&self, tables: Tables<'_>) -> Vec<ClientReport> {
        let reports = self.clients.iter().enumerate().map(|(number, client)| ClientReport {
            client: name_of(tables, number as u16),
            sessions: client.sessions.iter().copied().collect(),
            requests: client.requests.clone(),
            reads_answered: client.reads,
            polls: client.polls,
            replies_lost: client.lost,
            notifications: client.notifications,
        });
        reports.collect()
    }

    fn left(&self) -> Left {
        let mut znode_list: Vec<LeftZnode> =
            self.znodes.live.values().map(|znode| self.left_znode(znode)).collect();
        znode_list.sort_by(|a, b| a.path.cmp(&b.path));
        let znodes = znode_list.len() as u64;
        znode_list.truncate(LISTED);
        let watches = self.watches.iter();
        Left {
            znodes,
            znode_list,
            watches: watches.len() as u64,
            watch_list: watches
                .take(LISTED)
                .map(|(session, path, table, armed)| LeftWatch {
                    path: self.paths.text(path).to_owned(),
                    session,
                    session_open: self.session(session).is_open,
                    table,
                    mode: armed.mode,
                })
                .collect(),
        }
    }

    fn left_znode(&self, znode: &Znode) -> LeftZnode {
        LeftZnode {
            path: self.paths.text(znode.parsed.path).to_owned(),
            session: znode.creator,
            session_open: self.session(znode.creator).is_open,
            ephemeral: znode.owner != Session(0),
            sequential: znode.is_sequential,
        }
    }
}

/// The name of a client.
fn name_of(tables: Tables<'_>, client: u16) -> String {
    let name = tables.header.clients.get(usize::from(client)).filter(|name| !name.is_empty());
    name.cloned().unwrap_or_else(|| format!("client:{client}"))
}
