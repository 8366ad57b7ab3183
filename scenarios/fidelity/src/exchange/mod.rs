//! The messages between client and server: their notation in recorded files, and their frames on the wire.
//!
//! | module | content |
//! |---|---|
//! | [`form`] | the notation of requests and expectations that both kinds of recorded files share |
//! | [`wire`] | ZooKeeper's encoding of requests |
//! | [`reply`] | the decoding of replies and notifications |
//!
//! An [`Arrival`] comes from a connection, from a socket as well as from the simulation.

pub mod form;
mod names;
pub mod reply;
pub mod wire;
#[cfg(test)]
mod wire_tests;

/// An arrival on a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// A frame, without the four bytes of its length. The first one is the reply to the hello.
    Frame(Vec<u8>),
    /// The host refused the connection: no process listens.
    Refused,
    /// The end: the server has closed the connection, or its process has died.
    Closed,
    /// Nothing within the time limit.
    Nothing,
}
