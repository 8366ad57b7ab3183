//! What recipes need of the process that they run in.

use std::future::Future;

use super::{Armed, Duty, Guid, Time};

/// Time, identity, and clean-ups that outlive a dropped future: what a session's handle has of its process, and not of its
/// servers.
///
/// Recipes spawn no task, read no other clock and draw no random number, so a run is determined by what this trait and
/// [`ZooKeeper`](super::ZooKeeper) answer.
///
/// # Promises
///
/// **Clones** speak for the same session.
pub trait Runtime: Clone + Send + Sync + 'static {
    /// The client's own monotonic clock.
    fn now(&self) -> Time;

    /// Resolves when [`now`](Self::now) has reached `until`.
    fn sleep_until(&self, until: Time) -> impl Future<Output = ()> + Send + use<Self>;

    /// A fresh identity: 128 bits that no other call returns, in this or another session.
    fn guid(&self) -> Guid;

    /// Registers a clean-up *before* the request is sent that makes it necessary. See [`Armed`].
    fn arm(&self, duty: Duty) -> Armed;
}
