//! The target of a case, which accepts raw connections.

use crate::exchange::Arrival;
use crate::exchange::reply;
use crate::exchange::wire::{Hello, Welcome};
use std::time::Duration;

/// A target on which a case can be played: a server behind a socket, or one in this process.
///
/// # Promises
///
/// Time passes only in `receive`, `wait` and `restart`, or as real time does. Frames of one connection keep their order.
pub trait Target {
    /// A connection on which the server has welcomed a session.
    type Link;

    /// Opens a connection and sends a hello on it.
    ///
    /// # Errors
    ///
    /// Connection refused. Accepting and then closing counts as an answer.
    fn connect(&mut self, hello: &Hello) -> Result<Greeting<Self::Link>, Trouble>;

    /// Sends frames, in one write. If the connection is gone nothing is sent; `receive` will report that.
    fn send(&mut self, link: &mut Self::Link, frames: &[Vec<u8>]);

    /// The next frame, awaited for that long.
    fn receive(&mut self, link: &mut Self::Link, within: Duration) -> Arrival;

    /// Cuts a connection without a message, or with a reset.
    fn cut(&mut self, link: Self::Link, reset: bool);

    /// Lets that much time pass.
    fn wait(&mut self, by: Duration);

    /// How much time has passed.
    fn now(&self) -> Duration;

    /// Whether it can be stopped and started again.
    fn can_restart(&self) -> bool;

    /// Stops it and starts it again with the same data.
    ///
    /// # Errors
    ///
    /// The target does not start.
    fn restart(&mut self) -> Result<(), Trouble>;

    /// Its order where servers are free.
    fn order(&self) -> ListOrder {
        ListOrder::Any
    }
}

/// The order in which a server lists children, ephemerals, and the znodes of a closed session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListOrder {
    /// Any order: the lists are compared as sets.
    Any,
    /// The order of Java's hash sets: the lists are compared as lists.
    Java,
}

/// The reply of a server to a hello.
#[derive(Debug)]
pub enum Greeting<L> {
    /// A session, or the reply that there is no such session.
    Welcome(L, Welcome),
    /// The server closed the connection.
    Refused,
}

impl<L> Greeting<L> {
    /// The meaning of the first arrival on a link to that address.
    ///
    /// # Errors
    ///
    /// It is no reply to a hello.
    pub(super) fn of(arrival: Arrival, link: L, address: &str) -> Result<Self, Trouble> {
        match arrival {
            Arrival::Frame(frame) => Ok(Greeting::Welcome(link, reply::welcome(&frame)?)),
            Arrival::Closed | Arrival::Refused => Ok(Greeting::Refused),
            Arrival::Nothing => {
                let why = "it accepts a connection and sends nothing";
                Err(Trouble::NoSession { address: address.to_owned(), why })
            }
        }
    }
}

/// Why a case could not be played; this is no evidence about its behaviour.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Trouble {
    /// No server listens there.
    #[error("no ZooKeeper server can be reached at {address}: {why}")]
    Unreachable {
        /// The address.
        address: String,
        /// The error of the socket.
        why: std::io::Error,
    },
    /// A process listens, but it is not a working ZooKeeper server.
    #[error("the server at {address} does not open a session: {why}")]
    NoSession {
        /// The address.
        address: String,
        /// The server's behaviour instead.
        why: &'static str,
    },
    /// The control session is gone.
    #[error("the server has ended the session that observes it")]
    ControlLost,
    /// The server has znodes that are not ours.
    #[error("the server already has {0}; cases need an empty server")]
    NotEmpty(String),
    /// The server sends an unreadable frame.
    #[error(transparent)]
    Garbled(#[from] reply::Garbled),
    /// A server of our own does not start.
    #[error(transparent)]
    Start(#[from] zk_real::StartError),
    /// A foreign server does not restart.
    #[error("the server was not restarted: {0}")]
    Restart(String),
    /// There is no configuration of that name.
    #[error("there is no server configuration {0:?}; there are {1}")]
    NoConfiguration(String, String),
}
