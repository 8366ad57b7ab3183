//! The verbs of the control API that only query.

use super::Front;
use super::packets::state_of;
use crate::clients::text_of;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use zk_recipes::zk::SessionId;

impl Front {
    pub(super) fn status(&self) -> Value {
        let world = self.raw.world();
        let servers: Vec<Value> = (0..world.config().servers)
            .map(|server| {
                let of_server = self.connections.iter().flatten().filter(|of| of.server == server);
                json!({
                    "server": server,
                    "address": self.addresses.get(usize::from(server)).map(ToString::to_string),
                    "state": state_of(server, world),
                    "zxid": format!("{:#x}", world.applied(server)),
                    "connections": of_server.count(),
                })
            })
            .collect();
        json!({
            "servers": servers,
            // Also while it is paused and cannot answer for itself.
            "leader": world.leader_of_quorum(),
            "tick": format!("{}ms", world.config().tick / 1000),
            "sessions": self.clients.alive().filter(|(_, client)| world.lives(client.session)).count(),
            "znodes": world.znodes().count(),
            "watches": world.watches().count(),
            "waiting": self.network.waiting(),
            "events": self.recorder.events(),
            "recording": self.recorder.goes_on(),
            "given_up": self.recorder.given_up(),
        })
    }

    pub(super) fn tree(&self, below: &str) -> Value {
        let below = below.trim_end_matches('/');
        let is_below = |path: &str| {
            path.strip_prefix(below).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let mut znodes: Vec<(&str, SessionId)> =
            self.raw.world().znodes().filter(|(path, _)| is_below(path)).collect();
        znodes.sort_unstable();
        znodes.dedup();
        let znodes: Vec<Value> = znodes
            .into_iter()
            .map(|(path, owner)| json!({ "path": path, "owner": text_of(owner) }))
            .collect();
        json!({ "znodes": znodes })
    }

    pub(super) fn sessions(&self) -> Value {
        let world = self.raw.world();
        let (mut ephemerals, mut watches) = (BTreeMap::new(), BTreeMap::new());
        for (path, owner) in world.znodes() {
            ephemerals.entry(owner).or_insert_with(Vec::new).push(path);
        }
        for (path, session) in world.watches() {
            watches.entry(session).or_insert_with(Vec::new).push(path);
        }
        let sorted = |of: &mut BTreeMap<SessionId, Vec<&str>>, session| {
            let mut paths: Vec<String> =
                of.remove(&session).unwrap_or_default().into_iter().map(ToOwned::to_owned).collect();
            paths.sort_unstable();
            paths
        };
        let alive = self.clients.alive().filter(|(_, client)| world.lives(client.session));
        let sessions: Vec<Value> = alive
            .map(|(_, client)| {
                let connection = client.connection.and_then(|at| self.connections[at].as_ref());
                json!({
                    "session": text_of(client.session),
                    "name": client.name,
                    "timeout": format!("{}ms", client.timeout / 1000),
                    "server": connection.map(|connection| connection.server),
                    "connected": connection.is_some(),
                    "address": connection.and_then(|connection| connection.peer).map(|peer| peer.to_string()),
                    "ephemerals": sorted(&mut ephemerals, client.session),
                    "watches": sorted(&mut watches, client.session),
                    "requests": client.requests,
                })
            })
            .collect();
        json!({ "sessions": sessions })
    }

    pub(super) fn watches(&self) -> Value {
        let mut watches: Vec<(&str, SessionId)> = self.raw.world().watches().collect();
        watches.sort_unstable();
        let watches: Vec<Value> = watches
            .into_iter()
            .map(|(path, session)| json!({ "path": path, "session": text_of(session) }))
            .collect();
        json!({ "watches": watches })
    }
}
