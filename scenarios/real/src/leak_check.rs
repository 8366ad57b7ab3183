//! Leak check: memory of this process, tasks, watches and znodes must not grow.

use crate::nemesis::{Owned, on};
use crate::process::Process;
use crate::time::sleep;
use std::time::Duration;

/// The time limit for a library to report dropped watches to the servers.
const DROPPED_WITHIN: Duration = Duration::from_secs(10);

/// The interval at which servers are polled meanwhile.
const ASK: Duration = Duration::from_millis(50);

/// The remains when the clients of a run are done, while their sessions are open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// Watches on all servers; unknown for servers that are not our own.
    pub watches: Option<u64>,
    /// Tasks of all clients: those of their sessions.
    pub tasks: usize,
}

impl Left {
    /// The larger value of each field.
    pub fn or_more(self, other: Left) -> Left {
        Left { watches: self.watches.max(other.watches), tasks: self.tasks.max(other.tasks) }
    }
}

/// Counts the remains.
pub(super) async fn left(servers: Option<&Owned>, processes: &[Process]) -> Left {
    let mut watches = None;
    for _ in 0..DROPPED_WITHIN.as_millis() / ASK.as_millis() {
        let Some(servers) = servers else { break };
        watches = on(servers, |ensemble| Ok(ensemble.figure("zk_watch_count"))).await.ok().flatten();
        if watches == Some(0) {
            break;
        }
        sleep(ASK).await;
    }
    Left { watches, tasks: processes.iter().map(Process::tasks).sum() }
}

/// The memory of this process that is in use, in KiB, if the system reports it.
pub fn resident_kib() -> Option<u64> {
    resident_in(&std::fs::read_to_string("/proc/self/status").ok()?)
}

fn resident_in(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// The memory in use at the beginning of a long run, after a tenth of it, and at its end, which should equal that after
/// a tenth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// At the begin.
    pub start_kib: Option<u64>,
    /// After a tenth.
    pub tenth_kib: Option<u64>,
    /// At the end.
    pub end_kib: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_in_use_is_read_from_what_the_system_tells() {
        assert_eq!(resident_in("Name:\tx\nVmHWM:\t  99 kB\nVmRSS:\t    5120 kB\nThreads:\t1\n"), Some(5120));
        assert_eq!(resident_in("Name:\tx\n"), None);
    }
}
