//! The receive buffer of a connection: bytes as they arrive, and the whole frames in them.
//!
//! The buffer grows with the bytes that have arrived, whatever length a peer declares, and no frame exceeds a limit.

use std::io;

use zk_protocol::wire::frame::{self, TooLong};
use zk_protocol::wire::jute::LENGTH_BYTES;

/// The size of a read.
const READ_BYTES: usize = 64 * 1024;

/// The capacity that is kept for the next frames.
const MAX_IDLE_BYTES: usize = 1024 * 1024;

pub(super) struct Frames {
    bytes: Vec<u8>,
    /// The number of bytes that have arrived: the beginning of a frame.
    filled: usize,
    /// The longest valid frame.
    limit: usize,
}

impl Frames {
    pub(super) fn new(limit: usize) -> Frames {
        Frames { bytes: vec![0; READ_BYTES], filled: 0, limit }
    }

    /// The room for the next bytes.
    pub(super) fn room(&mut self) -> &mut [u8] {
        if self.bytes.len() - self.filled < READ_BYTES / 4 {
            let length = frame::length(&self.bytes[..self.filled], self.limit).ok().flatten();
            let whole = length.map_or(READ_BYTES, |length| length + LENGTH_BYTES);
            let wanted = (2 * self.filled).min(whole);
            if wanted > self.bytes.len() {
                self.bytes.reserve_exact(wanted - self.bytes.len());
                self.bytes.resize(wanted, 0);
            }
        }
        &mut self.bytes[self.filled..]
    }

    /// So many bytes were put into the room.
    pub(super) fn arrived(&mut self, bytes: usize) {
        self.filled += bytes;
    }

    /// Passes on the whole frames.
    ///
    /// # Errors
    ///
    /// Those of `each`, and a frame that exceeds the limit.
    pub(super) fn take(&mut self, mut each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let mut from = 0;
        let taken = (|| {
            while let Some(frame) = self.first(from)? {
                from += frame.len() + LENGTH_BYTES;
                each(frame)?;
            }
            Ok(())
        })();
        self.bytes.copy_within(from..self.filled, 0);
        self.filled -= from;
        if self.filled == 0 && self.bytes.len() > MAX_IDLE_BYTES {
            self.bytes = vec![0; READ_BYTES];
        }
        taken
    }

    /// The frame that begins there, if all of it has arrived.
    fn first(&self, from: usize) -> io::Result<Option<&[u8]>> {
        frame::first(&self.bytes[from..self.filled], self.limit).map_err(|TooLong(length)| {
            let length = if length < 0 { "a negative number".to_owned() } else { length.to_string() };
            let limit = self.limit;
            nonsense(format!(
                "the server announces a reply of {length} bytes, and the limit (max_reply_bytes) is {limit}"
            ))
        })
    }
}

/// The error of bytes that no ZooKeeper sends.
pub(super) fn nonsense(why: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: usize = 8 * 1024 * 1024;

    /// Bytes arrive as the buffer has room for them; returns the largest buffer.
    fn arrive(frames: &mut Frames, mut bytes: &[u8], seen: &mut Vec<usize>) -> usize {
        let mut largest = 0;
        while !bytes.is_empty() {
            let room = frames.room();
            assert!(!room.is_empty(), "a reading client gets on");
            let taken = room.len().min(bytes.len());
            room[..taken].copy_from_slice(&bytes[..taken]);
            bytes = &bytes[taken..];
            frames.arrived(taken);
            largest = largest.max(frames.bytes.capacity());
            frames
                .take(|frame| {
                    seen.push(frame.len());
                    Ok(())
                })
                .expect("no frame is too long");
        }
        largest
    }

    fn announced(length: usize) -> Vec<u8> {
        frame::of(&vec![7; length])
    }

    #[test]
    fn a_buffer_is_as_large_as_the_frame_at_most_and_is_given_back() {
        let mut frames = Frames::new(LIMIT);
        let mut seen = Vec::new();
        let sizes = [0, 10, READ_BYTES - 4, READ_BYTES, 3_000_001, 5];
        let all: Vec<u8> = sizes.iter().flat_map(|size| announced(*size)).collect();
        let largest = arrive(&mut frames, &all, &mut seen);
        assert_eq!(seen, sizes);
        assert!(largest <= 3_000_005, "{largest} bytes for a frame of 3,000,001");
        assert_eq!(frames.bytes.len(), READ_BYTES, "an idle connection keeps little");
    }

    #[test]
    fn a_buffer_grows_with_what_has_arrived_and_not_with_what_is_announced() {
        let mut frames = Frames::new(LIMIT);
        let announced = &announced(LIMIT)[..200_000];
        let largest = arrive(&mut frames, announced, &mut Vec::new());
        assert!(largest <= 2 * announced.len(), "{largest} bytes for {}", announced.len());
    }

    #[test]
    fn a_frame_that_exceeds_the_limit_is_refused_as_soon_as_it_is_announced() {
        for (declared, says) in [(0x0fff_ffff, "268435455"), (-1, "a negative number")] {
            let mut frames = Frames::new(LIMIT);
            frames.room()[..4].copy_from_slice(&i32::to_be_bytes(declared));
            frames.arrived(4);
            let refused = frames.take(|_| Ok(())).expect_err("it is too long");
            assert!(refused.to_string().contains(says), "{refused}");
        }
    }
}
