//! A recorded case: steps, and what the real server did at each.
//!
//! Cases are written as JSON, one a line. Nothing in them is passed over: a field that is not known here is an error, so
//! that no part of an expectation goes unlooked at.

use super::wire;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// One case.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Its number where it was recorded.
    #[serde(default)]
    pub n: u32,
    /// What it is called.
    pub id: String,
    /// What it shows.
    #[serde(default)]
    pub about: String,
    /// The name of the server's configuration.
    pub config: String,
    /// Whether the server has to be an empty one that never had anything in it.
    #[serde(default)]
    pub fresh: bool,
    /// The real server itself does now this, now that; how.
    #[serde(default)]
    pub race: Option<Race>,
    /// What is done.
    pub steps: Vec<Step>,
    /// What came of it, step by step.
    pub expect: Vec<Expect>,
    /// How often it was recorded.
    #[serde(default)]
    pub runs: u32,
}

/// Whether, or how, the real server itself is not of one mind.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Race {
    /// Whether.
    Whether(bool),
    /// How.
    How(String),
}

impl Case {
    /// Whether the real server itself does now this, now that.
    pub fn is_race(&self) -> bool {
        self.race.as_ref().is_some_and(|race| !matches!(race, Race::Whether(false)))
    }

    /// Whether one of its steps stops the server and starts it again.
    pub fn restarts(&self) -> bool {
        self.steps.iter().any(|step| step.op == "restart_server")
    }
}

/// One step, or one operation of a multi or of a pipeline: an operation and its arguments.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(missing_docs, reason = "the arguments have the names of ZooKeeper's own")]
pub struct Step {
    /// The session that acts, by its label.
    pub session: Option<String>,
    /// One of ZooKeeper's operations, or one about connections.
    pub op: String,
    pub path: Option<String>,
    pub data: Option<Data>,
    /// No data at all, which is not the same as empty data.
    pub nulldata: bool,
    /// That many bytes of data.
    pub size: Option<usize>,
    pub mode: Option<NameOrNumber>,
    /// The mode of a create as the number that is sent.
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
    /// Those of a multi, a multiRead, a pipeline.
    pub ops: Vec<Step>,
    /// The session timeout asked for, in ms; of a pipeline, how long to wait for its replies.
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

/// Something that has a name, or the number that is sent.
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
    /// So much later than the case's beginning.
    Relative(i64),
    /// In a word: `seen`, that of the session's last reply.
    Word(String),
}

/// A notification: its type, its path, and the state unless that is `SyncConnected`.
pub type Notice = Vec<String>;

/// What a step came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(missing_docs, reason = "the fields of replies have the names of ZooKeeper's own")]
pub struct Expect {
    pub connected: bool,
    pub timeout: Option<i32>,
    pub readonly: Option<bool>,
    pub same_session: bool,
    /// The session's connection before this one was closed by the server.
    pub old_closed: bool,
    /// The server closed the connection instead of answering to a connect.
    pub refused: bool,
    /// The server said that there is no such session.
    pub expired: bool,
    pub session_zero: bool,
    pub passwd_zero: bool,
    /// `OK`, or the error's name.
    pub err: Option<String>,
    /// The reply's zxid, less that of the case's beginning.
    pub zxid: Option<i64>,
    pub path: Option<String>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub data: Option<Option<String>>,
    pub stat: Option<Stat>,
    /// In the order of names.
    pub children: Option<Vec<String>>,
    pub ephemerals: Option<Vec<String>>,
    /// Children or ephemerals in the order of the server.
    pub order: Option<Vec<String>>,
    pub number: Option<i32>,
    pub acl: Option<Vec<(NameOrNumber, String, String)>>,
    pub clients: Option<Vec<(String, String)>>,
    /// Of a multi, of a multiRead.
    pub results: Option<Vec<OpResult>>,
    /// The server closed the connection.
    pub closed: bool,
    /// There was no connection any more: of the session that acts, or of others.
    pub disconnected: Option<serde_json::Value>,
    pub no_reply: bool,
    pub restarted: bool,
    /// Of a pipeline: replies and notifications, as they came.
    pub stream: Option<Vec<Item>>,
    /// Which of a pipeline's requests had no reply.
    pub missing: Option<Vec<usize>>,
    /// The request of a pipeline that this is the reply to.
    pub i: Option<usize>,
    /// Notifications on the acting connection before the reply.
    pub before: Vec<Notice>,
    /// And after it.
    pub after: Vec<Notice>,
    /// Notifications on the connections of other sessions.
    pub events: BTreeMap<String, Vec<Notice>>,
}

/// A field that is there is `Some`, be it null.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(from).map(Some)
}

/// Something that a pipeline's connection brought.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Item {
    /// A reply.
    Reply(Box<Expect>),
    /// A notification.
    #[serde(alias = "notification", alias = "notice")]
    Event(Notice),
}

/// What one operation of a multi or of a multiRead came to.
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

/// What is known of a node, as far as it repeats: the times are left out.
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
    /// So much later than the case's beginning.
    Relative(i64),
    /// `zero`, or `pre` for what is older than the case.
    Word(String),
}

/// Whose ephemeral a node is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Owner {
    /// Nobody's: 0.
    Number(i64),
    /// That session's.
    Label(String),
}

/// Why a file of cases is none.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// It cannot be read.
    #[error("cannot read the cases in {}: {why}", .file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// Why.
        why: std::io::Error,
    },
    /// There is nothing in it.
    #[error("there is no case in {}", .0.display())]
    Empty(PathBuf),
    /// A line is not a case.
    #[error("line {line} of {} is not a case: {why}", .file.display())]
    Bad {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
}

/// A case, and where it stands.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The case.
    pub case: Case,
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
}

/// What a file of recorded behaviour holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Cases.
    Cases,
    /// Scenarios of an ensemble, after a first line that says of what ensemble.
    Scenarios,
}

/// What a file holds, by its first line.
///
/// # Errors
///
/// It cannot be read.
pub fn content(file: &Path) -> Result<Content, CaseError> {
    let text = text(file)?;
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let first: Option<serde_json::Value> = serde_json::from_str(first).ok();
    let is_meta = first.is_some_and(|line| line.get("meta").is_some());
    Ok(if is_meta { Content::Scenarios } else { Content::Cases })
}

fn text(file: &Path) -> Result<String, CaseError> {
    std::fs::read_to_string(file).map_err(|why| CaseError::Unreadable { file: file.to_owned(), why })
}

/// Reads a file of cases.
///
/// # Errors
///
/// The first line that is not a case, and why.
pub fn read(file: &Path) -> Result<Vec<Placed>, CaseError> {
    let text = text(file)?;
    let mut cases = Vec::new();
    for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
        let case = parse(text).map_err(|why| CaseError::Bad { file: file.to_owned(), line, why })?;
        cases.push(Placed { case, file: file.to_owned(), line });
    }
    if cases.is_empty() { Err(CaseError::Empty(file.to_owned())) } else { Ok(cases) }
}

/// Reads one case, and sees to it that it can be played.
///
/// # Errors
///
/// What is wrong with it.
pub fn parse(text: &str) -> Result<Case, String> {
    let case: Case = serde_json::from_str(text)
        .map_err(|error| error.to_string().replace(" at line 1 column", ", at column"))?;
    if case.steps.len() != case.expect.len() {
        return Err(format!("it has {} steps and {} expectations", case.steps.len(), case.expect.len()));
    }
    let mut opened = BTreeSet::new();
    for (number, step) in (1..).zip(&case.steps) {
        playable(step, &mut opened).map_err(|why| format!("step {number}, {}: {why}", step.op))?;
    }
    Ok(case)
}

/// The longest time that a step may take, in ms: an hour.
const LONGEST_MS: u64 = 3_600_000;

fn playable<'a>(step: &'a Step, opened: &mut BTreeSet<&'a str>) -> Result<(), String> {
    if step.ms.max(step.timeout_ms).is_some_and(|ms| ms > LONGEST_MS) {
        return Err("it takes longer than an hour".to_owned());
    }
    match step.op.as_str() {
        "zxid" | "restart_server" => return Ok(()),
        "wait" => return step.ms.map(drop).ok_or_else(|| "`ms` is missing".to_owned()),
        _ => {}
    }
    let session = step.session.as_deref().ok_or("`session` is missing")?;
    if step.op == "connect" {
        opened.insert(session);
        return Ok(());
    }
    if !opened.contains(session) {
        return Err(format!("session {session} was never opened"));
    }
    match step.op.as_str() {
        "reconnect" | "drop" | "close" | "quiet" | "unquiet" => Ok(()),
        "poll" => step.ms.map(drop).ok_or_else(|| "`ms` is missing".to_owned()),
        "pipeline" => step.ops.iter().try_for_each(|op| wire::request(op, 0, 0).map(drop)),
        _ => wire::request(step, 0, 0).map(drop),
    }
}
