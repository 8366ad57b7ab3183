//! What a case is played against: something that takes raw connections.

use crate::exchange::Arrival;
use crate::exchange::reply;
use crate::exchange::wire::{Hello, Welcome};
use std::time::Duration;

/// Something that a case can be played against: a server behind a socket, or one in this process.
///
/// # Promises
///
/// Time passes only in `receive`, `wait` and `restart`, or as real time does. Frames of one connection keep their order.
pub trait Target {
    /// A connection on which the server has welcomed a session.
    type Link;

    /// Opens a connection and says hello on it.
    ///
    /// # Errors
    ///
    /// Connection refused. A server that accepts and closes has answered.
    fn connect(&mut self, hello: &Hello) -> Result<Greeting<Self::Link>, Trouble>;

    /// Sends frames, in one piece. If the connection is gone nothing is sent; `receive` will tell.
    fn send(&mut self, link: &mut Self::Link, frames: &[Vec<u8>]);

    /// The next frame, for which it waits that long.
    fn receive(&mut self, link: &mut Self::Link, within: Duration) -> Arrival;

    /// Cuts a connection without a word, or with a reset.
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
    /// It does not start.
    fn restart(&mut self) -> Result<(), Trouble>;

    /// In which order it has what a server may order as it likes.
    fn order(&self) -> ListOrder {
        ListOrder::Any
    }
}

/// The order in which a server lists children, ephemerals, and the znodes of a closed session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListOrder {
    /// In any: they are compared as sets.
    Any,
    /// In that of Java's hash sets: they are compared as lists.
    Java,
}

/// What a server answers to a hello.
#[derive(Debug)]
pub enum Greeting<L> {
    /// A session, or that there is none of that number.
    Welcome(L, Welcome),
    /// It hung up.
    Refused,
}

impl<L> Greeting<L> {
    /// What the first arrival on a link to that address means.
    ///
    /// # Errors
    ///
    /// It is no answer to a hello.
    pub(super) fn of(arrival: Arrival, link: L, address: &str) -> Result<Self, Trouble> {
        match arrival {
            Arrival::Frame(frame) => Ok(Greeting::Welcome(link, reply::welcome(&frame)?)),
            Arrival::Closed | Arrival::Refused => Ok(Greeting::Refused),
            Arrival::Nothing => {
                let why = "it accepts a connection and then says nothing";
                Err(Trouble::NoSession { address: address.to_owned(), why })
            }
        }
    }
}

/// Why a case could not be played, which says nothing about what it shows.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Trouble {
    /// No server listens there.
    #[error("no ZooKeeper server can be reached at {address}: {why}")]
    Unreachable {
        /// Where.
        address: String,
        /// What the socket says.
        why: std::io::Error,
    },
    /// A process listens, but it is not a working ZooKeeper server.
    #[error("the server at {address} does not open a session: {why}")]
    NoSession {
        /// Where.
        address: String,
        /// What it does instead.
        why: &'static str,
    },
    /// The session that watches over a case is gone.
    #[error("the server has given up the session from which it is watched")]
    ControlLost,
    /// There is something on the server that is not ours.
    #[error("the server holds {0} already, and cases need an empty one")]
    NotEmpty(String),
    /// It sends an unreadable frame.
    #[error(transparent)]
    Garbled(#[from] reply::Garbled),
    /// A server of our own does not start.
    #[error(transparent)]
    Start(#[from] zk_real::StartError),
    /// A server of others does not start again.
    #[error("the server was not restarted: {0}")]
    Restart(String),
    /// There is no configuration of that name.
    #[error("there is no server configuration {0:?}; there are {1}")]
    NoConfiguration(String, String),
}
