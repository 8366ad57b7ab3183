//! ZooKeeper's numbers and their names.

use zk_recipes::zk::Code;

/// The name of an error.
pub(super) fn error(code: i32) -> String {
    match (code, Code::from_number(code)) {
        (0, _) => "OK".to_owned(),
        (_, Some(code)) => code.name().to_owned(),
        (code, None) => format!("error {code}"),
    }
}

/// The name of a notification's type.
pub(super) fn event(number: i32) -> String {
    let name = match number {
        -1 => "None",
        1 => "NodeCreated",
        2 => "NodeDeleted",
        3 => "NodeDataChanged",
        4 => "NodeChildrenChanged",
        5 => "DataWatchRemoved",
        6 => "ChildWatchRemoved",
        7 => "PersistentWatchRemoved",
        _ => return format!("type {number}"),
    };
    name.to_owned()
}

/// The state that nearly every notification has.
pub(super) const SYNC_CONNECTED: i32 = 3;

/// The name of a notification's state.
pub(super) fn state(number: i32) -> String {
    let name = match number {
        0 => "Disconnected",
        SYNC_CONNECTED => "SyncConnected",
        4 => "AuthFailed",
        5 => "ConnectedReadOnly",
        6 => "SaslAuthenticated",
        7 => "Closed",
        -112 => "Expired",
        _ => return format!("state {number}"),
    };
    name.to_owned()
}

/// The letter of each bit of an ACL's permissions, in the order of writing them.
pub(super) const PERMISSIONS: [(char, i32); 5] = [('c', 4), ('d', 8), ('r', 1), ('w', 2), ('a', 16)];

/// The number of a create's mode.
pub(super) fn create_mode(name: &str) -> Option<i32> {
    Some(match name {
        "persistent" => 0,
        "ephemeral" => 1,
        "persistent_sequential" => 2,
        "ephemeral_sequential" => 3,
        "container" => 4,
        "ttl" | "persistent_ttl" => 5,
        "ttl_sequential" | "persistent_ttl_sequential" => 6,
        _ => return None,
    })
}

/// The number of a watch's mode.
pub(super) fn watch_mode(name: &str) -> Option<i32> {
    match name {
        "persistent" => Some(0),
        "recursive" => Some(1),
        _ => None,
    }
}

/// The number of a watch's type.
pub(super) fn watch_type(name: &str) -> Option<i32> {
    match name {
        "children" => Some(1),
        "data" => Some(2),
        "any" => Some(3),
        _ => None,
    }
}
