//! Mutants with wrong steps in holding or releasing.

use super::copy::Mutation;
use super::{WORKLOAD, run};
use crate::prelude::*;

/// A lock whose release forgets the znode after a delete that failed with a connection loss: the znode stays among the
/// contenders as long as the session lives (CURATOR-678, CURATOR-202).
pub(super) static FORGETS_FAILED_DELETE: Workload = WORKLOAD.mutant(
    "lock-forgets-failed-delete",
    "a release ends although its delete failed",
    Caught::by(Mx12).harm(&[Mx8]).seen("CURATOR-678, CURATOR-202"),
    &[Fault::RequestLost],
    |_| Plan::calm().with(&[Fault::RequestLost], 0.05),
    |task| run(task, &Mutation { tries_until_certain: false, ..Mutation::RIGHT }),
);

/// A lock whose holders continue when their connection is lost or their session ends (CURATOR-206; libkv#156).
///
/// A holder that was paused for longer than its session lives has to stop at once when it resumes.
pub(super) static HOLDS_ON: Workload = WORKLOAD.mutant(
    "lock-holds-on",
    "a holder ignores the loss of its connection and its session",
    Caught::by(Mx14).harm(&[Mx2]).seen("CURATOR-206, libkv#156"),
    &[Fault::ClientPause],
    |_| Plan::calm().with(&[Fault::ClientPause], 0.1),
    |task| run(task, &Mutation { stops: false, ..Mutation::RIGHT }),
);

/// A lock whose fencing token is the number at the end of the name, which restarts at 0 with its directory, and ends at
/// 2147483647 (zk-ruby#34; ZOOKEEPER-4372).
///
/// The harm shows when the directory is recreated.
pub(super) static NUMBER_AS_TOKEN: Workload = WORKLOAD.mutant(
    "lock-number-as-token",
    "the sequence number is used as the fencing token",
    Caught::by(Mx5).within(1).seen("zk-ruby#34"),
    &[],
    |_| Plan::calm(),
    |task| run(task, &NUMBER_IS_TOKEN),
);

static NUMBER_IS_TOKEN: Mutation = Mutation { number_is_token: true, ..Mutation::RIGHT };

/// The same on real servers.
pub(super) static NUMBER_AS_TOKEN_REAL: RealWorkload =
    RealWorkload::new(&NUMBER_AS_TOKEN, |task| run(task, &NUMBER_IS_TOKEN), &[]);

/// A lock whose guard can be cloned, and which the first dropped clone releases: here each write has its own clone, and
/// the holder continues with the original (zookeeper-client 0.11.1).
///
/// The mutant needs no faults: they exercise the rule with the right lock.
pub(super) static CLONED_GUARD: Workload = WORKLOAD.mutant(
    "lock-cloned-guard",
    "a lock whose guard can be cloned: the first dropped clone releases it",
    Caught::by(Mx14).within(1).harm(&[Mx3]).breaks(Promise::Exclusion).seen("zookeeper-client 0.11.1"),
    &[Fault::ClientPause],
    |_| Plan::calm().with(&[Fault::ClientPause], 0.03),
    |task| run(task, &Mutation { drops_a_clone: true, ..Mutation::RIGHT }),
);
