//! The result of a read as two short hashes: one of the data or the names, one of the stat.
//!
//! The recorder digests the server's answer; the checker computes the same from the transactions. Times are left out of
//! the stat, since they come from wall clocks.

use crate::ids::Session;
use serde::{Deserialize, Serialize};

/// The digest of a read's result. A part is zero if and only if the server did not return it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Digest {
    /// Of the data, or of the names of the children.
    pub content: u32,
    /// Of the stat.
    pub stat: u32,
}

impl Digest {
    /// Of a stat alone.
    pub fn of_stat(stat: &Stat) -> Digest {
        Digest { content: 0, stat: stat.digest() }
    }

    /// Of data, by [`data`], and their stat.
    pub fn of_data(data: u64, stat: &Stat) -> Digest {
        Digest { content: fold(data ^ DATA), stat: stat.digest() }
    }

    /// Of a list, by the sum of [`name`] over its names, and of the stat if there is one.
    pub fn of_names(names: u64, stat: Option<&Stat>) -> Digest {
        Digest { content: fold(names ^ NAMES), stat: stat.map_or(0, Stat::digest) }
    }
}

/// A stat without its times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the fields are those of ZooKeeper's Stat")]
pub struct Stat {
    pub czxid: u64,
    pub mzxid: u64,
    pub pzxid: u64,
    pub version: i32,
    pub cversion: i32,
    pub aversion: i32,
    /// The session's number in the history; zero for containers too.
    pub owner: Session,
    pub data_length: i32,
    pub num_children: i32,
}

impl Stat {
    fn digest(&self) -> u32 {
        let pair = |a: i32, b: i32| u64::from(a as u32) << 32 | u64::from(b as u32);
        let words = [
            self.czxid,
            self.mzxid,
            self.pzxid,
            pair(self.version, self.cversion),
            pair(self.aversion, self.data_length),
            pair(self.num_children, i32::from(self.owner.0)),
        ];
        fold(words.into_iter().fold(STAT, mix))
    }
}

/// The digest of data. The digest of absent data is zero, and differs from that of empty data.
pub fn data(content: Option<&[u8]>) -> u64 {
    content.map_or(0, |bytes| of_bytes(DATA, bytes) | 1)
}

/// The digest of one name in a list. The order of a list does not matter: the digests of its names are added, wrapping.
pub fn name(name: &str) -> u64 {
    of_bytes(NAMES, name.as_bytes())
}

const DATA: u64 = 0x9e37_79b9_7f4a_7c15;
const NAMES: u64 = 0xc2b2_ae3d_27d4_eb4f;
const STAT: u64 = 0x1656_67b1_9e37_79f9;

fn of_bytes(seed: u64, bytes: &[u8]) -> u64 {
    let mut hash = mix(seed, bytes.len() as u64);
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash = mix(hash, u64::from_le_bytes(word));
    }
    hash
}

fn mix(hash: u64, word: u64) -> u64 {
    let mixed = (hash ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd);
    (mixed ^ (mixed >> 32)).wrapping_mul(0xc4ce_b9fe_1a85_ec53).rotate_left(27)
}

/// Half the hash, and never zero.
fn fold(hash: u64) -> u32 {
    let hash = mix(hash, 0);
    ((hash >> 32) as u32 ^ hash as u32).max(1)
}
