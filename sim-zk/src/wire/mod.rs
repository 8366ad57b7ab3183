//! The server side of ZooKeeper's wire protocol: client frames become [`Up`], and [`Down`] becomes frames.
//!
//! The encoding and the numbers are those of [`zk_protocol::wire`], which clients use as well.
//!
//! This module knows neither sockets nor clocks. A frame excludes the four bytes of its length. Every client frame
//! becomes an `Up`: malformed input is refused as in ZooKeeper 3.8, never by a panic, and no memory is allocated for
//! announced lengths.
//!
//! | module | content |
//! |---|---|
//! | `decode` | connect requests and requests |
//! | `encode` | connect replies, replies, notifications |
//! | `password` | session passwords |

mod decode;
mod encode;
mod password;
#[cfg(test)]
mod tests;

pub use password::password;

use crate::message::{Answer, Ask, Bytes, Down, Up};
use crate::paths::Paths;
use std::collections::BTreeSet;

/// The longest accepted frame (`jute.maxbuffer`), in bytes.
pub const MAX_FRAME_BYTES: usize = 0xfffff;

/// The state of a connection that its frames depend on.
#[derive(Clone, Debug, Default)]
pub struct Codec {
    /// Whether the client sends a read-only flag, and expects one in the reply, as clients since 3.4 do.
    knows_read_only: bool,
    /// The xids of pending `addWatch` requests, whose replies have a body of their own.
    arming: BTreeSet<i32>,
}

/// A frame to a client. Large data of znodes is not copied into it.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    bytes: Vec<u8>,
    /// Data to insert between these bytes, each with its position, in order.
    shared: Vec<(usize, Bytes)>,
}

/// A part of a [`Frame`].
#[derive(Clone, Copy, Debug)]
pub enum Piece<'a> {
    /// Bytes built for the frame.
    Own(&'a [u8]),
    /// The data of a znode.
    Shared(&'a Bytes),
}

impl From<Vec<u8>> for Frame {
    fn from(bytes: Vec<u8>) -> Self {
        Frame { bytes, shared: Vec::new() }
    }
}

impl Frame {
    /// Returns the length of the whole frame, in bytes.
    pub fn length(&self) -> usize {
        self.bytes.len() + self.shared.iter().map(|(_, data)| data.len()).sum::<usize>()
    }

    /// Returns the whole frame if no data is left out of it.
    pub fn whole(&self) -> Option<&[u8]> {
        self.shared.is_empty().then_some(&self.bytes)
    }

    /// Returns the parts in order.
    pub fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        let starts = std::iter::once(0).chain(self.shared.iter().map(|(at, _)| *at));
        let ends = self.shared.iter().map(|(at, _)| *at).chain([self.bytes.len()]);
        let data = self.shared.iter().map(|(_, data)| Piece::Shared(data)).map(Some).chain([None]);
        starts.zip(ends).zip(data).flat_map(|((start, end), data)| {
            [Some(Piece::Own(&self.bytes[start..end])), data].into_iter().flatten()
        })
    }

    /// Returns the frame in one piece.
    pub fn into_bytes(self) -> Vec<u8> {
        if self.shared.is_empty() {
            return self.bytes;
        }
        let mut whole = Vec::with_capacity(self.length());
        for piece in self.pieces() {
            whole.extend_from_slice(match piece {
                Piece::Own(bytes) => bytes,
                Piece::Shared(data) => data,
            });
        }
        whole
    }
}

impl Codec {
    /// Decodes the first frame of a connection.
    pub fn hello(&mut self, frame: &[u8]) -> Up {
        let Some((up, knows_read_only)) = decode::hello(frame) else { return Up::Unreadable };
        self.knows_read_only = knows_read_only;
        up
    }

    /// Decodes a later frame, and interns its paths.
    pub fn request(&mut self, frame: &[u8], paths: &mut Paths) -> Up {
        let up = decode::request(frame, paths);
        if let Up::Request { xid, ask: Ask::AddWatch { .. }, .. } = &up {
            self.arming.insert(*xid);
        }
        up
    }

    /// Encodes a packet in one piece; `None` for the end of the stream, which is not a frame.
    pub fn frame(&mut self, down: &Down, paths: &Paths) -> Option<Vec<u8>> {
        self.frame_in_pieces(down, paths).map(Frame::into_bytes)
    }

    /// Encodes a packet; `None` for the end of the stream, which is not a frame.
    pub fn frame_in_pieces(&mut self, down: &Down, paths: &Paths) -> Option<Frame> {
        Some(match down {
            Down::Connected { session, timeout, password } => {
                let read_only = self.knows_read_only.then_some(false);
                encode::welcome(*session, *timeout, password, read_only).into()
            }
            Down::Reply { xid, zxid, result } => {
                let mut frame = encode::reply(*xid, *zxid, result.as_ref(), paths);
                if self.arming.remove(xid) && matches!(result, Ok(Answer::Nothing)) {
                    // `FinalRequestProcessor` replies with an `ErrorResponse` without an error.
                    frame.bytes.extend(0i32.to_be_bytes());
                }
                frame
            }
            Down::Notify { kind, path } => encode::notification(*kind, paths.text(*path)).into(),
            Down::Fin => return None,
        })
    }
}
