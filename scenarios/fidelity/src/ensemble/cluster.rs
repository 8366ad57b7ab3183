//! What a scenario is played against: an ensemble that takes raw connections, and has faults on demand.

use crate::exchange::Arrival;
use crate::exchange::wire::Hello;

/// A time, or a span of it, in microseconds.
pub type Micros = u64;

/// A member of the ensemble, by its place: 0 is the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Member(pub usize);

/// One direction of the connection between two members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    /// The sender.
    pub from: Member,
    /// The receiver.
    pub to: Member,
}

/// A stage of a member's pipeline that can stall while the others run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PipelineStage {
    /// `SyncRequestProcessor`: nothing is written to the log, so nothing is acknowledged.
    Disk,
    /// `CommitProcessor`: commits queue, and the requests that came after them.
    Apply,
    /// The leader, after it has sent a COMMIT to its followers and before it commits itself.
    Commit,
}

/// An ensemble that a scenario can be played against.
///
/// # Promises
///
/// Time passes only in `advance`; everything else takes effect at the present instant, and what follows from it comes
/// about in later calls of `advance`. Frames of one connection keep their order, and what a server had sent before it
/// closed the connection comes before [`Arrival::Closed`].
pub trait Cluster {
    /// A connection of a client.
    type Connection;

    /// What time it is.
    fn now(&self) -> Micros;

    /// Does the next thing that happens, if it happens by `limit`; if nothing does, it is `limit` afterwards. It need
    /// not be done with an instant at once, but gets on with it in every call.
    fn advance(&mut self, limit: Micros);

    /// How many members there are, running or not.
    fn members(&self) -> usize;

    /// The leader of the latest epoch, once a quorum follows it: `None` while there is none, as during an election, or
    /// after its process has died. A paused or isolated leader is the leader until there is another.
    fn leader(&self) -> Option<Member>;

    /// Those which serve clients under that leader, with the leader itself: none while there is no leader.
    fn serving(&self) -> Vec<Member>;

    /// The last zxid that a member has applied, as a client would see it (`DataTree.lastProcessedZxid`): `None` while
    /// its process does not run.
    fn last_applied(&self, member: Member) -> Option<i64>;

    /// Opens a connection to a member, and says hello on it.
    fn open(&mut self, member: Member, hello: &Hello) -> Self::Connection;

    /// Sends a frame. If the connection is gone nothing is sent; `receive` will tell.
    fn send(&mut self, connection: &Self::Connection, frame: Vec<u8>);

    /// Takes the next thing that has come. Nothing comes after a refusal or a close.
    fn receive(&mut self, connection: &Self::Connection) -> Arrival;

    /// Cuts a connection with a reset: what it still had to bring is lost, what was sent may arrive.
    fn cut(&mut self, connection: &Self::Connection);

    /// Holds the packets of a link; the release delivers them even if the sender has died.
    fn hold(&mut self, link: Link);

    /// Releases the held packets of a link, in order.
    fn release(&mut self, link: Link);

    /// From now on, packets on a link are lost. Those are packets, not the bytes of a connection: if the connection
    /// outlives it, they are sent again after the link has healed.
    fn lose(&mut self, link: Link);

    /// Packets on a link are no longer lost.
    fn heal(&mut self, link: Link);

    /// Kills a member's process (`kill -9`). Packets that its host has accepted are still delivered.
    fn kill(&mut self, member: Member);

    /// A member's process starts again, on the log that it has. Nothing, if it runs.
    fn start(&mut self, member: Member);

    /// Pauses a member's process; its host still accepts connections and bytes.
    fn pause(&mut self, member: Member);

    /// Resumes it.
    fn resume(&mut self, member: Member);

    /// Stalls one stage of a member.
    fn stall(&mut self, member: Member, stage: PipelineStage);

    /// It goes on.
    fn unstall(&mut self, member: Member, stage: PipelineStage);
}

/// Whether that is the name of a member in an ensemble of that size.
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
