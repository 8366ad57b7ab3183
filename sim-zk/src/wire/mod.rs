//! ZooKeeper's wire protocol as a server sees it: a client's frames become [`Up`], and [`Down`] becomes frames.
//!
//! The encoding and the numbers are those of [`zk_recipes::wire`], which clients use as well.
//!
//! Nothing here knows a socket or a clock. A frame is without the four bytes of its length. Whatever a client sends gives
//! an `Up`: nonsense is told as ZooKeeper 3.8 tells it, never by a panic, and no memory is set aside because a client says
//! how long something will be.
//!
//! | module | what it holds |
//! |---|---|
//! | `decode` | hellos and requests |
//! | `encode` | welcomes, replies, notifications |
//! | `password` | the passwords of sessions |

mod decode;
mod encode;
mod password;
#[cfg(test)]
mod tests;

pub use password::password;

use crate::message::{Answer, Ask, Down, Up};
use crate::paths::Paths;
use std::collections::BTreeSet;

/// The longest frame that a server takes (`jute.maxbuffer`), in bytes.
pub const MAX_FRAME_BYTES: usize = 0xfffff;

/// What has to be remembered of a connection to read and write its frames.
#[derive(Clone, Debug, Default)]
pub struct Codec {
    /// Clients since 3.4 say whether a server that only reads would do, and are told whether this is one.
    knows_read_only: bool,
    /// The xids of `addWatch` whose replies are to come: they alone have a body that says nothing.
    arming: BTreeSet<i32>,
}

impl Codec {
    /// Reads the first frame of a connection.
    pub fn hello(&mut self, frame: &[u8]) -> Up {
        let Some((up, knows_read_only)) = decode::hello(frame) else { return Up::Unreadable };
        self.knows_read_only = knows_read_only;
        up
    }

    /// Reads a later frame. The paths in it get their numbers.
    pub fn request(&mut self, frame: &[u8], paths: &mut Paths) -> Up {
        let up = decode::request(frame, paths);
        if let Up::Request { xid, ask: Ask::AddWatch { .. }, .. } = &up {
            self.arming.insert(*xid);
        }
        up
    }

    /// Writes what a server says; `None` for the end of the stream, which is no frame.
    pub fn frame(&mut self, down: &Down, paths: &Paths) -> Option<Vec<u8>> {
        Some(match down {
            Down::Connected { session, timeout, password } => {
                let read_only = self.knows_read_only.then_some(false);
                encode::welcome(*session, *timeout, password, read_only)
            }
            Down::Reply { xid, zxid, result } => {
                let mut frame = encode::reply(*xid, *zxid, result.as_ref(), paths);
                if self.arming.remove(xid) && matches!(result, Ok(Answer::Nothing)) {
                    // `FinalRequestProcessor` answers an `ErrorResponse` that tells of no error.
                    frame.extend(0i32.to_be_bytes());
                }
                frame
            }
            Down::Notify { kind, path } => encode::notification(*kind, paths.text(*path)),
            Down::Fin => return None,
        })
    }
}
