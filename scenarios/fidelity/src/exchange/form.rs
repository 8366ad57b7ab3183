//! The notation of requests and replies that both kinds of recorded files share.
//!
//! An unknown field is an error, so that no part of an expectation is ignored.

use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// One step, or one operation of a multi or of a pipeline: an operation and its arguments.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(missing_docs, reason = "the arguments have the names of ZooKeeper's own")]
pub struct Request {
    /// The label of the acting session.
    pub session: Option<String>,
    /// One of ZooKeeper's operations, or an operation on a connection.
    pub op: String,
    pub path: Option<String>,
    pub data: Option<Data>,
    /// No data at all, which is not the same as empty data.
    pub nulldata: bool,
    /// That many bytes of data.
    pub size: Option<usize>,
    pub mode: Option<NameOrNumber>,
    /// The mode of a create as the number on the wire.
    pub flags: Option<i32>,
    pub acl: Option<Vec<(NameOrNumber, String, String)>>,
    /// No list of ACLs at all, which is not the same as an empty one.
    pub nullacl: bool,
    pub ttl: Option<i64>,
    pub version: Option<i32>,
    pub watch: bool,
    pub wtype: Option<NameOrNumber>,
    pub relative: Option<i64>,
    pub child: Vec<String>,
    pub exist: Vec<String>,
    pub persistent: Vec<String>,
    pub recursive: Vec<String>,
    pub prefix: Option<String>,
    pub scheme: Option<String>,
    pub auth: Option<String>,
    /// The number of an unknown operation.
    #[serde(rename = "type")]
    pub number: Option<i32>,
    pub joining: Option<String>,
    pub leaving: Option<String>,
    pub members: Option<String>,
    pub config_id: Option<i64>,
    /// The operations of a multi, a multiRead or a pipeline.
    pub ops: Vec<Request>,
    /// The requested session timeout, in ms; for a pipeline, how long to wait for its replies.
    pub timeout: Option<i32>,
    /// How long to wait for a reply.
    pub timeout_ms: Option<u64>,
    /// How long to wait, or to read.
    pub ms: Option<u64>,
    pub readonly: bool,
    pub last_zxid: Option<LastZxid>,
    pub passwd: Option<String>,
    /// Cut with a reset.
    pub rst: bool,
    /// Cut without reading a reply.
    pub noread: bool,
    /// The server closes the connection after its reply.
    pub then_closed: bool,
}

/// The data of a node, or the paths of data watches.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Data {
    /// Data.
    Text(String),
    /// Paths.
    Paths(Vec<String>),
}

/// A name, or its number on the wire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum NameOrNumber {
    /// The name.
    Name(String),
    /// The number.
    Number(i32),
}

/// The last zxid that a client claims to have seen.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum LastZxid {
    /// That much later than the case's beginning.
    Relative(i64),
    /// As a word: `seen` is the zxid of the session's last reply.
    Word(String),
}

/// A notification: its type, its path, and the state unless that is `SyncConnected`.
pub type Notice = Vec<String>;

/// The result of a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(missing_docs, reason = "the fields of replies have the names of ZooKeeper's own")]
pub struct Expect {
    pub connected: bool,
    pub timeout: Option<i32>,
    pub readonly: Option<bool>,
    pub same_session: bool,
    /// The server closed the session's previous connection.
    pub old_closed: bool,
    /// The server closed the connection instead of replying to a connect.
    pub refused: bool,
    /// The server replied that there is no such session.
    pub expired: bool,
    pub session_zero: bool,
    pub passwd_zero: bool,
    /// `OK`, or the error's name.
    pub err: Option<String>,
    /// The reply's zxid, relative to the case's beginning.
    pub zxid: Option<i64>,
    pub path: Option<String>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub data: Option<Option<String>>,
    pub stat: Option<Stat>,
    /// Sorted by name.
    pub children: Option<Vec<String>>,
    pub ephemerals: Option<Vec<String>>,
    /// Children or ephemerals in the order of the server.
    pub order: Option<Vec<String>>,
    pub number: Option<i32>,
    pub acl: Option<Vec<(NameOrNumber, String, String)>>,
    pub clients: Option<Vec<(String, String)>>,
    /// The results of a multi or multiRead.
    pub results: Option<Vec<OpResult>>,
    /// The server closed the connection.
    pub closed: bool,
    /// The acting session, or others, had no connection any more.
    pub disconnected: Option<serde_json::Value>,
    pub no_reply: bool,
    pub restarted: bool,
    /// Replies and notifications of a pipeline, in the order of arrival.
    pub stream: Option<Vec<Item>>,
    /// The requests of a pipeline without a reply.
    pub missing: Option<Vec<usize>>,
    /// The index of the request in a pipeline to which this is the reply.
    pub i: Option<usize>,
    /// Notifications on the acting connection before the reply.
    pub before: Vec<Notice>,
    /// Notifications after the reply.
    pub after: Vec<Notice>,
    /// Notifications on the connections of other sessions.
    pub events: BTreeMap<String, Vec<Notice>>,
}

/// Maps a present field to `Some`, even if it is null.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(from).map(Some)
}

/// One arrival on a pipeline's connection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Item {
    /// A reply.
    Reply(Box<Expect>),
    /// A notification.
    #[serde(alias = "notification", alias = "notice")]
    Event(Notice),
}

/// The result of one operation of a multi or multiRead.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
#[expect(missing_docs, reason = "they have the names of ZooKeeper's operations")]
pub struct OpResult {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub create: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub create2: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub delete: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set_data: Option<Stat>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub check: bool,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub get_data: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub get_children: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stat: Option<Stat>,
}

/// The reproducible part of a node's stat: the times are left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(missing_docs, reason = "the fields have the names of ZooKeeper's own")]
pub struct Stat {
    pub version: i32,
    pub cversion: i32,
    pub aversion: i32,
    pub data_length: i32,
    pub num_children: i32,
    pub czxid: Zxid,
    pub mzxid: Zxid,
    pub pzxid: Zxid,
    pub ephemeral_owner: Owner,
}

/// A zxid of a stat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Zxid {
    /// That much later than the case's beginning.
    Relative(i64),
    /// `zero`, or `pre` for a zxid older than the case.
    Word(String),
}

/// The owner of an ephemeral node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Owner {
    /// No owner: 0.
    Number(i64),
    /// The session with that label.
    Label(String),
}
