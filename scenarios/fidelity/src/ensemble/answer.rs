//! Replies and notifications in a scenario's notation, and its paths on the ensemble.
//!
//! A scenario's paths are relative to a node of its own. ZooKeeper's own paths are unchanged.

use crate::exchange::form::{Data, Expect, NameOrNumber, Notice, OpResult, Request};

/// The node under which a scenario's paths are.
pub const PARENT: &str = "/scenario";

/// A path of the scenario, as the ensemble has it.
pub fn absolute(path: &str) -> String {
    match path {
        "/" => PARENT.to_owned(),
        "/zookeeper" => path.to_owned(),
        path if path.starts_with("/zookeeper/") => path.to_owned(),
        path => format!("{PARENT}{path}"),
    }
}

/// A path of the ensemble, as the scenario has it.
pub fn relative(path: &str) -> &str {
    match path.strip_prefix(PARENT) {
        Some("") => "/",
        Some(rest) if rest.starts_with('/') => rest,
        _ => path,
    }
}

/// A request with the paths of the ensemble.
pub fn absolute_request(request: &Request) -> Request {
    let all = |paths: &[String]| paths.iter().map(|path| absolute(path)).collect();
    let mut request = request.clone();
    request.path = request.path.as_deref().map(absolute);
    request.prefix = request.prefix.as_deref().map(absolute);
    if let Some(Data::Paths(paths)) = &mut request.data {
        *paths = all(paths);
    }
    request.child = all(&request.child);
    request.exist = all(&request.exist);
    request.persistent = all(&request.persistent);
    request.recursive = all(&request.recursive);
    request.ops = request.ops.iter().map(absolute_request).collect();
    request
}

/// The text of a reply: the error's name, or `OK` and the requested values.
pub fn reply(request: &Request, told: &Expect) -> String {
    let err = told.err.clone().unwrap_or_default();
    if err != "OK" {
        return err;
    }
    if let Some(results) = &told.results {
        return failure(results).unwrap_or("OK").to_owned();
    }
    if let Some(data) = &told.data {
        return format!("OK:{}", data.as_deref().unwrap_or_default());
    }
    if let Some(children) = &told.children {
        return format!("OK:{}", children.join(","));
    }
    if let Some(ephemerals) = &told.ephemerals {
        let paths: Vec<&str> = ephemerals.iter().map(|path| relative(path)).collect();
        return format!("OK:{}", paths.join(","));
    }
    if let Some(number) = told.number {
        return format!("OK:{number}");
    }
    match &told.path {
        Some(path) if is_sequential(request) => format!("OK:{}", relative(path)),
        _ => err,
    }
}

/// The error that aborted a transaction: the other operations report that they were rolled back because of it.
fn failure(results: &[OpResult]) -> Option<&str> {
    let errors =
        || results.iter().filter_map(|result| result.error.as_deref()).filter(|error| *error != "OK");
    errors().find(|error| *error != "RuntimeInconsistency").or_else(|| errors().next())
}

fn is_sequential(request: &Request) -> bool {
    let by_name = |mode: &NameOrNumber| match mode {
        NameOrNumber::Name(name) => name.ends_with("sequential"),
        NameOrNumber::Number(number) => is_sequential_flag(*number),
    };
    request.op.starts_with("create")
        && request.flags.map_or(request.mode.as_ref().is_some_and(by_name), is_sequential_flag)
}

/// `CreateMode`: persistent, ephemeral, and with a time to live.
fn is_sequential_flag(flag: i32) -> bool {
    matches!(flag, 2 | 3 | 6)
}

/// A notification's type, and its state unless that is `SyncConnected`.
pub fn event(notice: &Notice) -> String {
    match notice.as_slice() {
        [event, _, state] => format!("{event}:{state}"),
        [event, ..] => event.clone(),
        [] => String::new(),
    }
}

/// Notifications with their paths, sorted as text: several watches of one change fire in any order.
pub fn events(notices: &[Notice]) -> String {
    let text = |notice: &Notice| {
        let mut parts = notice.clone();
        if let Some(path) = parts.get_mut(1) {
            *path = relative(path).to_owned();
        }
        parts.join(":")
    };
    let mut texts: Vec<String> = notices.iter().map(text).collect();
    texts.sort();
    texts.join(",")
}
