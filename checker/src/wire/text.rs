//! The report as plain text.

use super::report::{ClientReport, DirectoryReport, Left, QueueReport, WireReport};
use crate::shape::{and_alike, first_of_each};
use std::fmt;

/// The number of lines of a list in the text; the values have up to a hundred.
const SHOWN: usize = 12;

impl fmt::Display for WireReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "wire: {} events, {} clients", self.events, self.clients.len())?;
        for (finding, alike) in first_of_each(&self.findings, |one| (one.rule, one.shape.clone())) {
            write!(f, "\n{finding}")?;
            if alike > 0 {
                writeln!(f, "  {}", and_alike(finding.rule.name(), alike))?;
            }
        }
        let listed = self.findings.len() as u64;
        let all: u64 = self.found.values().sum();
        if all > listed {
            writeln!(f, "\n{} more findings are not listed", all - listed)?;
        }
        let head = |f: &mut fmt::Formatter<'_>, head: &str, is_empty: bool| {
            if is_empty { Ok(()) } else { writeln!(f, "\n{head}") }
        };
        head(f, "directories", self.directories.is_empty())?;
        self.directories.iter().try_for_each(|directory| directory.fmt(f))?;
        head(f, "queues", self.queues.is_empty())?;
        self.queues.iter().try_for_each(|queue| queue.fmt(f))?;
        head(f, "clients", self.clients.is_empty())?;
        self.clients.iter().try_for_each(|client| client.fmt(f))?;
        self.left.fmt(f)?;
        head(f, "faults", self.faults.is_empty())?;
        self.faults.iter().try_for_each(|(kind, count)| writeln!(f, "  {count} × {}", kind.name()))
    }
}

impl fmt::Display for DirectoryReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let naming: Vec<&str> = self.naming.iter().map(|naming| naming.name()).collect();
        writeln!(f, "  {}  {} ({})", self.path, self.kind.name(), naming.join(", "))?;
        writeln!(
            f,
            "    {} created: {} deleted by their owner, {} with their session, {} by others; {} exist",
            self.created,
            self.deleted_by_owner,
            self.deleted_with_session,
            self.deleted_by_others,
            self.standing
        )?;
        if self.written > 0 {
            writeln!(f, "    {} writes", self.written)?;
        }
        if self.herd.deletions > 0 {
            write!(f, "    {} deletions, {} notifications", self.herd.deletions, self.herd.notifications)?;
            if let Some(largest) = &self.herd.largest {
                write!(
                    f,
                    "; at most {} sessions, by {} ({:#x})",
                    largest.sessions, largest.path, largest.zxid
                )?;
            }
            writeln!(f)?;
        }
        if self.cost.contenders > 0 {
            writeln!(
                f,
                "    {} requests for {} ephemerals that are gone; at most {}, for {}",
                self.cost.requests,
                self.cost.contenders,
                self.cost.most,
                self.cost.most_path.as_deref().unwrap_or("none")
            )?;
        }
        for standing in self.contenders.iter().take(SHOWN) {
            write!(f, "    {}  s{}", standing.name, standing.session.0)?;
            if let Some(client) = &standing.client {
                write!(f, " ({client})")?;
            }
            if !standing.session_open {
                write!(f, ", whose session has ended")?;
            }
            if standing.waits_on_all {
                write!(f, ", waits on the directory")?;
            }
            if !standing.waits_on.is_empty() {
                write!(f, ", waits on {}", standing.waits_on.join(", "))?;
            }
            writeln!(f)?;
        }
        more(f, self.standing, SHOWN)
    }
}

impl fmt::Display for QueueReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "  {}  {} put, {} taken, {} left; {} read by two sessions or more before one took it",
            self.path, self.put, self.taken, self.left, self.claimed_twice
        )
    }
}

impl fmt::Display for ClientReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sessions: Vec<String> = self.sessions.iter().map(|session| format!("s{}", session.0)).collect();
        let requests: Vec<String> =
            self.requests.iter().map(|(kind, count)| format!("{count} {}", kind.name())).collect();
        let requests = if requests.is_empty() { "no requests".to_owned() } else { requests.join(", ") };
        writeln!(
            f,
            "  {}  {}",
            self.client,
            if sessions.is_empty() { "no session".to_owned() } else { sessions.join(" ") }
        )?;
        writeln!(f, "    {requests}")?;
        writeln!(
            f,
            "    {} reads answered, {} polls, {} replies lost, {} notifications",
            self.reads_answered, self.polls, self.replies_lost, self.notifications
        )
    }
}

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "\nleft: {} ephemeral or sequential znodes, {} armed watches",
            self.znodes, self.watches
        )?;
        let ended = |is_open: bool| if is_open { "" } else { ", whose session has ended" };
        for znode in self.znode_list.iter().take(SHOWN) {
            let kind = match (znode.ephemeral, znode.sequential) {
                (true, true) => "ephemeral, sequential",
                (true, false) => "ephemeral",
                (false, _) => "sequential",
            };
            writeln!(f, "  {}  {kind}, s{}{}", znode.path, znode.session.0, ended(znode.session_open))?;
        }
        more(f, self.znodes, SHOWN)?;
        for watch in self.watch_list.iter().take(SHOWN) {
            let (table, mode) = (watch.table.name(), watch.mode.name());
            writeln!(
                f,
                "  watch on {}  {table}, {mode}, s{}{}",
                watch.path,
                watch.session.0,
                ended(watch.session_open)
            )?;
        }
        more(f, self.watches, SHOWN)
    }
}

/// Writes the number of entries that are not shown.
fn more(f: &mut fmt::Formatter<'_>, all: u64, shown: usize) -> fmt::Result {
    match all.saturating_sub(shown as u64) {
        0 => Ok(()),
        more => writeln!(f, "    and {more} more"),
    }
}
