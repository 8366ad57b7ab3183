//! The numbers of operations (`ZooDefs.OpCode`), and the xids that mean something.

pub(super) const CREATE: i32 = 1;
pub(super) const DELETE: i32 = 2;
pub(super) const EXISTS: i32 = 3;
pub(super) const GET_DATA: i32 = 4;
pub(super) const SET_DATA: i32 = 5;
pub(super) const GET_ACL: i32 = 6;
pub(super) const SET_ACL: i32 = 7;
pub(super) const GET_CHILDREN: i32 = 8;
pub(super) const SYNC: i32 = 9;
pub(super) const PING: i32 = 11;
pub(super) const GET_CHILDREN_2: i32 = 12;
pub(super) const CHECK: i32 = 13;
pub(super) const MULTI: i32 = 14;
pub(super) const CREATE_2: i32 = 15;
pub(super) const RECONFIG: i32 = 16;
pub(super) const CHECK_WATCHES: i32 = 17;
pub(super) const REMOVE_WATCHES: i32 = 18;
pub(super) const CREATE_CONTAINER: i32 = 19;
pub(super) const DELETE_CONTAINER: i32 = 20;
pub(super) const CREATE_TTL: i32 = 21;
pub(super) const MULTI_READ: i32 = 22;
pub(super) const AUTH: i32 = 100;
pub(super) const SET_WATCHES: i32 = 101;
pub(super) const GET_EPHEMERALS: i32 = 103;
pub(super) const GET_ALL_CHILDREN_NUMBER: i32 = 104;
pub(super) const SET_WATCHES_2: i32 = 105;
pub(super) const ADD_WATCH: i32 = 106;
pub(super) const WHO_AM_I: i32 = 107;
pub(super) const CREATE_SESSION: i32 = -10;
pub(super) const CLOSE_SESSION: i32 = -11;
/// Stands for a failed operation in the answer to a multi, and ends a list of operations.
pub(super) const ERROR: i32 = -1;

/// The xid of a notification.
pub(super) const NOTIFICATION_XID: i32 = -1;
/// The xid of a ping's reply, whatever the ping has said.
pub(super) const PING_XID: i32 = -2;

/// The flags of a create (`CreateMode`) that choose the operation in a multi.
pub(super) const CONTAINER_FLAG: i32 = 4;
pub(super) const TTL_FLAGS: [i32; 2] = [5, 6];

/// The state that notifications carry (`KeeperState.SyncConnected`).
pub(super) const SYNC_CONNECTED: i32 = 3;
