//! Operation codes (`ZooDefs.OpCode`), and reserved xids.
#![allow(missing_docs, reason = "each is ZooKeeper's operation of that name")]

use zk_recipes::zk::CreateMode;

pub const CREATE: i32 = 1;
pub const DELETE: i32 = 2;
pub const EXISTS: i32 = 3;
pub const GET_DATA: i32 = 4;
pub const SET_DATA: i32 = 5;
pub const GET_ACL: i32 = 6;
pub const SET_ACL: i32 = 7;
pub const GET_CHILDREN: i32 = 8;
pub const SYNC: i32 = 9;
pub const PING: i32 = 11;
pub const GET_CHILDREN_2: i32 = 12;
pub const CHECK: i32 = 13;
pub const MULTI: i32 = 14;
pub const CREATE_2: i32 = 15;
pub const RECONFIG: i32 = 16;
pub const CHECK_WATCHES: i32 = 17;
pub const REMOVE_WATCHES: i32 = 18;
pub const CREATE_CONTAINER: i32 = 19;
pub const DELETE_CONTAINER: i32 = 20;
pub const CREATE_TTL: i32 = 21;
pub const MULTI_READ: i32 = 22;
pub const AUTH: i32 = 100;
pub const SET_WATCHES: i32 = 101;
pub const SASL: i32 = 102;
pub const GET_EPHEMERALS: i32 = 103;
pub const GET_ALL_CHILDREN_NUMBER: i32 = 104;
pub const SET_WATCHES_2: i32 = 105;
pub const ADD_WATCH: i32 = 106;
pub const WHO_AM_I: i32 = 107;
pub const CREATE_SESSION: i32 = -10;
pub const CLOSE_SESSION: i32 = -11;
/// A failed operation in the reply to a multi, and the end of a list of operations.
pub const ERROR: i32 = -1;

/// The xid of a notification.
pub const NOTIFICATION_XID: i32 = -1;
/// The xid of an authentication packet and its reply.
pub const AUTH_XID: i32 = -4;
/// The xid of a ping's reply, regardless of the request's.
pub const PING_XID: i32 = -2;

/// The flags of a create (`CreateMode`) that choose the operation in a multi.
pub const CONTAINER_FLAG: i32 = 4;
pub const TTL_FLAGS: [i32; 2] = [5, 6];

/// The state that notifications carry (`KeeperState.SyncConnected`).
pub const SYNC_CONNECTED: i32 = 3;

/// ZooKeeper's name of an operation that a client asks for; those that add a stat to the answer go by the older name.
pub fn name_of(op: i32) -> &'static str {
    match op {
        CREATE | CREATE_2 => "create",
        CREATE_CONTAINER => "createContainer",
        DELETE => "delete",
        EXISTS => "exists",
        GET_DATA => "getData",
        SET_DATA => "setData",
        GET_CHILDREN | GET_CHILDREN_2 => "getChildren",
        SYNC => "sync",
        CHECK => "check",
        MULTI => "multi",
        MULTI_READ => "multiRead",
        ADD_WATCH => "addWatch",
        CLOSE_SESSION => "closeSession",
        _ => "request",
    }
}

/// The number of a mode on the wire.
pub fn flags_of(mode: CreateMode) -> i32 {
    match mode {
        CreateMode::Persistent => 0,
        CreateMode::Ephemeral => 1,
        CreateMode::PersistentSequential => 2,
        CreateMode::EphemeralSequential => 3,
        CreateMode::Container => CONTAINER_FLAG,
    }
}
