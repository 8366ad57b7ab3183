//! The server side of ZooKeeper's wire protocol: client frames become [`Up`], and [`Down`] becomes frames.
//!
//! The encoding and the numbers are those of [`zk_recipes::wire`], which clients use as well.
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

use crate::message::{Answer, Ask, Down, Up};
use crate::paths::Paths;
use std::collections::BTreeSet;

/// The longest accepted frame (`jute.maxbuffer`), in bytes.
pub const MAX_FRAME_BYTES: usize = 0xfffff;

/// The state of a connection that its frames depend on.
#[derive(Clone, Debug, Default)]
pub struct Codec {
    /// Clients since 3.4 send whether a read-only server is acceptable, and expect whether this is one.
    knows_read_only: bool,
    /// The xids of pending `addWatch` requests, whose replies have a body of their own.
    arming: BTreeSet<i32>,
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

    /// Encodes a packet; `None` for the end of the stream, which is not a frame.
    pub fn frame(&mut self, down: &Down, paths: &Paths) -> Option<Vec<u8>> {
        Some(match down {
            Down::Connected { session, timeout, password } => {
                let read_only = self.knows_read_only.then_some(false);
                encode::welcome(*session, *timeout, password, read_only)
            }
            Down::Reply { xid, zxid, result } => {
                let mut frame = encode::reply(*xid, *zxid, result.as_ref(), paths);
                if self.arming.remove(xid) && matches!(result, Ok(Answer::Nothing)) {
                    // `FinalRequestProcessor` replies with an `ErrorResponse` without an error.
                    frame.extend(0i32.to_be_bytes());
                }
                frame
            }
            Down::Notify { kind, path } => encode::notification(*kind, paths.text(*path)),
            Down::Fin => return None,
        })
    }
}
