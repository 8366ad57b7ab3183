//! The target of a scenario: an ensemble that accepts raw connections, and injects faults on demand.

use crate::exchange::Arrival;
use crate::exchange::wire::Hello;

/// A time, or a duration, in microseconds.
pub type Micros = u64;

/// A member of the ensemble, by its index from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemberId(pub usize);

/// One direction of the connection between two members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    /// The sender.
    pub from: MemberId,
    /// The receiver.
    pub to: MemberId,
}

/// A stage of a member's pipeline that can stall while the others run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PipelineStage {
    /// `SyncRequestProcessor`: the log is not written, so nothing is acknowledged.
    Disk,
    /// `CommitProcessor`: commits are queued, and the requests behind them.
    Apply,
    /// The leader, after it has sent a COMMIT to its followers and before it commits itself.
    Commit,
}

/// An ensemble on which a scenario can be played.
///
/// # Promises
///
/// Time passes only in `advance`; everything else takes effect at the current instant, and its consequences follow in
/// later calls of `advance`. Frames of one connection keep their order, and frames that a server had sent before it
/// closed the connection come before [`Arrival::Closed`].
pub trait Cluster {
    /// A connection of a client.
    type Connection;

    /// The current time.
    fn now(&self) -> Micros;

    /// Processes the next event, if it occurs by `limit`; otherwise the time is `limit` afterwards. It may need several
    /// calls for one instant, but makes progress in each.
    fn advance(&mut self, limit: Micros);

    /// The number of members, running or not.
    fn members(&self) -> usize;

    /// The leader of the latest epoch, once a quorum follows it: `None` while there is none, as during an election, or
    /// after its process has died. A paused or isolated leader remains the leader until there is another.
    fn leader(&self) -> Option<MemberId>;

    /// The members that serve clients under that leader, including the leader: none while there is no leader.
    fn serving(&self) -> Vec<MemberId>;

    /// The last zxid that a member has applied, as a client would see it (`DataTree.lastProcessedZxid`): `None` while
    /// its process does not run.
    fn last_applied(&self, member: MemberId) -> Option<i64>;

    /// Opens a connection to a member, and sends a hello on it.
    fn open(&mut self, member: MemberId, hello: &Hello) -> Self::Connection;

    /// Sends a frame. If the connection is gone nothing is sent; `receive` will report that.
    fn send(&mut self, connection: &Self::Connection, frame: Vec<u8>);

    /// Takes the next arrival. Nothing arrives after a refusal or a close.
    fn receive(&mut self, connection: &Self::Connection) -> Arrival;

    /// Cuts a connection with a reset: undelivered frames to the client are lost, sent frames may arrive.
    fn cut(&mut self, connection: &Self::Connection);

    /// Holds the packets of a link; the release delivers them even if the sender has died.
    fn hold(&mut self, link: Link);

    /// Releases the held packets of a link, in order.
    fn release(&mut self, link: Link);

    /// From now on, packets on a link are lost. These are packets, not the bytes of a connection: if the connection
    /// survives, they are sent again after the link has healed.
    fn lose(&mut self, link: Link);

    /// Packets on a link are no longer lost.
    fn heal(&mut self, link: Link);

    /// Kills a member's process (`kill -9`). Packets that its host has accepted are still delivered.
    fn kill(&mut self, member: MemberId);

    /// Starts a member's process again, with its log. No effect if it runs.
    fn start(&mut self, member: MemberId);

    /// Pauses a member's process; its host still accepts connections and bytes.
    fn pause(&mut self, member: MemberId);

    /// Resumes a paused process.
    fn resume(&mut self, member: MemberId);

    /// Stalls one stage of a member.
    fn stall(&mut self, member: MemberId, stage: PipelineStage);

    /// Ends the stall.
    fn unstall(&mut self, member: MemberId, stage: PipelineStage);
}

/// Whether it is the name of a member in an ensemble of that size.
///
/// `L`, `F1`, `F2`, ... are the roles when the scenario begins; `NEWL` and `NEWF` are the leader, and a follower that serves,
/// when the name is used.
pub fn is_role(name: &str, members: usize) -> bool {
    match name {
        "L" | "NEWL" => true,
        "NEWF" => members > 1,
        _ => (1..members).any(|number| name == format!("F{number}")),
    }
}
