//! What a client and a server say to each other, as recorded files have it, and the frames that it is on the wire.
//!
//! | module | content |
//! |---|---|
//! | [`form`] | requests, and what is expected of them, as both kinds of recorded files write them |
//! | [`wire`] | ZooKeeper's encoding of requests |
//! | [`reply`] | the decoding of replies and notifications |
//!
//! A connection brings an [`Arrival`], from a socket as from the simulation.

pub mod form;
mod names;
pub mod reply;
pub mod wire;
#[cfg(test)]
mod wire_tests;

/// What comes from a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// A frame, without the four bytes of its length. The first one is the answer to the hello.
    Frame(Vec<u8>),
    /// The host refused the connection: no process listens.
    Refused,
    /// The end: the server has closed the connection, or its process has died.
    Closed,
    /// Nothing, for as long as was waited.
    Nothing,
}
