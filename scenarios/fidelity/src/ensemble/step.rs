//! One step of a scenario. All times are in ticks. Fields that are written by another name say so.

use super::expected::Expected;
use super::written;
use crate::exchange::form::Step as Request;
use serde::Deserialize;

/// One step.
#[derive(Clone, Debug)]
pub enum Step {
    /// Opens a connection for a session, in place of the one that it has.
    Connect(Connect),
    /// Awaits the answer to a connect that took too long.
    FinishConnect(Listen),
    /// Opens another connection for a session, which keeps the one that it has.
    Move(Connect),
    /// Cuts a session's connection with a reset.
    Drop(String),
    /// Goes on with the connection that a session had before it moved, or with the later one.
    Use(String, Side),
    /// What is left to be read on the connection that a session had before it moved.
    OldFrames(Listen),
    /// A request.
    Op(Box<Op>),
    /// Awaits the reply to a request.
    Await(Await),
    /// The first notification.
    Event(Listen),
    /// All notifications.
    Events(Listen),
    /// Something goes wrong, or well again.
    Fault(Fault),
    /// Repeats a step until that comes of it.
    Until(Box<Until>),
    /// Repeats a step for some time.
    Spin(Box<Spin>),
    /// Waits for members.
    Wait(Wait),
    /// Waits.
    WaitTicks(Ticks),
    /// Sets a mark on the clock, and on the zxids.
    Mark(String),
    /// How much time has passed since a mark.
    Elapsed(Since),
    /// How many zxids have been used since a mark.
    ZxidDelta(Since),
    /// One of two ways to go on.
    If(Box<If>),
}

/// A connection to be opened.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Connect {
    /// The session.
    #[serde(rename = "s")]
    pub session: String,
    /// The name of the member.
    #[serde(rename = "connect", alias = "move")]
    pub member: String,
    /// The session timeout that is asked for.
    #[serde(rename = "T")]
    pub timeout: Option<f64>,
    /// How long to wait for an answer.
    pub wait: Option<f64>,
    /// For how long to try again.
    pub retry: Option<f64>,
    /// Where the result goes.
    #[serde(rename = "as_")]
    pub label: Option<String>,
}

/// Something that a session hears.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listen {
    /// The session.
    #[serde(rename = "s")]
    pub session: String,
    /// How long to wait for it.
    #[serde(rename = "to")]
    pub within: Option<f64>,
    /// Where the result goes.
    #[serde(rename = "as_")]
    pub label: Option<String>,
}

/// Which of two connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The one before the last move.
    Old,
    /// The last one.
    New,
}

/// A request.
#[derive(Clone, Debug)]
pub struct Op {
    /// The session.
    pub session: String,
    /// What is asked; its paths are those of the scenario.
    pub request: Request,
    /// The zxid from which setWatches counts.
    pub relative_zxid: RelativeZxid,
    /// It is only sent: the reply is fetched later, if at all.
    pub only_send: bool,
    /// How long to wait for the reply.
    pub within: Option<f64>,
    /// Where the result goes, and what to await the reply by.
    pub label: Option<String>,
}

/// The zxid from which setWatches counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelativeZxid {
    /// That of the session's last reply.
    Last,
    /// This one.
    Zxid(i64),
}

/// A reply to be awaited.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Await {
    /// The request's label.
    #[serde(rename = "await_")]
    pub request: String,
    /// How long to wait.
    #[serde(rename = "to")]
    pub within: Option<f64>,
    /// Where the result goes, if not to the request's label.
    #[serde(rename = "as_")]
    pub label: Option<String>,
}

/// A fault, or the end of one.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// On links between members.
    Link(LinkFault, Links),
    /// In members.
    Member(MemberFault, Vec<String>),
}

/// What happens to links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkFault {
    /// What is sent waits.
    Hold,
    /// What has waited goes on.
    Release,
    /// What is sent is lost.
    Lose,
    /// It is no longer lost.
    Heal,
}

/// Links between members.
#[derive(Clone, Debug, PartialEq)]
pub enum Links {
    /// All.
    All,
    /// From each of the ones to each of the others.
    Between(Vec<String>, Vec<String>),
    /// And back.
    BothWays(Vec<String>, Vec<String>),
}

/// What happens to a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are what the scenarios call them")]
pub enum MemberFault {
    Kill,
    Start,
    Pause,
    Resume,
    DiskStop,
    DiskResume,
    ApplyStop,
    ApplyResume,
    CommitStop,
    CommitResume,
}

/// A step that is retried until it has an effect.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Until {
    /// The step.
    #[serde(rename = "until")]
    pub step: Step,
    /// What is to come of it.
    pub equals: Expected,
    /// How long to go on, from the mark.
    pub max: Option<f64>,
    /// The mark; if none, the beginning of this step.
    pub since: Option<String>,
    /// Is done between the repetitions.
    #[serde(default, deserialize_with = "written::steps")]
    pub also: Vec<Step>,
    /// Where the time since the mark goes.
    #[serde(rename = "as_")]
    pub label: Option<String>,
}

/// A step that is repeated.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spin {
    /// The step.
    #[serde(rename = "spin")]
    pub step: Step,
    /// For how long.
    pub ticks: f64,
    /// Is done between the repetitions.
    #[serde(default, deserialize_with = "written::steps")]
    pub also: Vec<Step>,
    /// Where everything that came of it goes, each once.
    #[serde(rename = "as_")]
    pub label: Option<String>,
}

/// A wait for members.
#[derive(Clone, Debug)]
pub struct Wait {
    /// For what.
    pub what: WaitFor,
    /// How long, at most.
    pub within: Option<f64>,
    /// Where it goes whether that came.
    pub label: Option<String>,
}

/// What to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitFor {
    /// All members that run have applied the same.
    CaughtUp,
    /// All members serve clients.
    All,
    /// So many do.
    Members(usize),
}

/// Some time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ticks {
    /// So much.
    Fixed(f64),
    /// So much at least, and so much at most.
    Random(f64, f64),
}

/// Something counted from a mark.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Since {
    /// The mark; if none, the last one, or the beginning.
    #[serde(rename = "since")]
    pub mark: Option<String>,
    /// Where the number goes.
    #[serde(rename = "as_")]
    pub label: Option<String>,
}

/// One of two ways to go on.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct If {
    /// The label whose result is looked at.
    #[serde(rename = "if_")]
    pub label: String,
    /// What it is compared with.
    pub equals: Expected,
    /// If it is that.
    #[serde(deserialize_with = "written::steps")]
    pub then: Vec<Step>,
    /// If not.
    #[serde(default, rename = "else", alias = "else_", deserialize_with = "written::steps")]
    pub otherwise: Vec<Step>,
}
