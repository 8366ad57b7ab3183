//! A lock whose znodes bear no guid: when the reply to its create is lost, it simply creates again.
//!
//! The first znode may exist: then it stands in line, and nobody deletes it while the session lives. Everybody behind it
//! waits for a process that does not know that it is first (ZOOKEEPER-1262; zk-ruby#54).
//!
//! Caught by MX-9 (one znode an acquire) within 20 seeds with lost replies; the harm is MX-8 (progress).

use super::bend::{Bend, Bent};

/// The broken lock.
pub type NoGuid<Z> = Bent<Z, CreatesAgain>;

/// The wrong step.
#[derive(Clone)]
pub struct CreatesAgain;

impl Bend for CreatesAgain {
    const GUID: bool = false;
}
