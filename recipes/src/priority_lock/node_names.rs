//! Names of a priority lock's znodes: `<guid>-read-<ppppp>` and `<guid>-write-<ppppp>` for holders, the same with `-<n>`
//! for waiters.

use super::Priority;
use crate::parts::contenders::{Seniority, seniority};
use crate::parts::naming::{READ, Role, WRITE, numbered};
use crate::zk::Guid;

/// The infixes of readers and writers.
pub(super) const INFIXES: &[&str] = &["-read-", "-write-"];

const _: () = assert!(READ == 0 && WRITE == 1, "they stand in the order of the roles");

/// The number of digits of a priority.
const DIGITS: usize = 5;

/// The name of a waiter, parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ContenderName {
    pub role: Role,
    pub priority: Priority,
    pub number: i32,
}

impl ContenderName {
    /// The rank: lower goes first. The czxid counts only where numbers do not give the order.
    pub(super) fn rank(self, czxid: i64) -> (Priority, Seniority) {
        (self.priority, seniority(self.number, czxid))
    }

    pub(super) fn read(name: &str) -> Option<ContenderName> {
        numbered(name).into_iter().flatten().find_map(|(front, number)| {
            let (role, priority) = read_held(front.strip_suffix('-')?)?;
            Some(ContenderName { role, priority, number })
        })
    }
}

/// The name of a holder.
pub(super) fn held(guid: Guid, role: Role, priority: Priority) -> String {
    format!("{guid}{}{:05}", INFIXES[role], priority.0)
}

/// Parses the name of a holder.
pub(super) fn read_held(name: &str) -> Option<(Role, Priority)> {
    let (front, digits) = name.split_at_checked(name.len().checked_sub(DIGITS)?)?;
    let priority = priority(digits)?;
    let role = INFIXES.iter().position(|infix| front.ends_with(infix))?;
    // The readers' infix takes precedence, wherever it stands.
    let is_plain = role == READ || !front.contains(INFIXES[READ]);
    is_plain.then_some((role, priority))
}

fn priority(digits: &str) -> Option<Priority> {
    let is_whole = digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_whole.then(|| digits.parse().ok().map(Priority)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_it_was_written() {
        let guid = Guid(0x5f3a);
        for role in [READ, WRITE] {
            for priority in [0, 3, 65_535].map(Priority) {
                let name = held(guid, role, priority);
                assert_eq!(read_held(&name), Some((role, priority)), "{name}");
                for (tail, number) in [("-0000000007", 7), ("--2147483648", i32::MIN)] {
                    let standing = ContenderName { role, priority, number };
                    assert_eq!(ContenderName::read(&format!("{name}{tail}")), Some(standing));
                }
            }
        }
    }

    #[test]
    fn other_names_stand_for_nobody() {
        for foreign in [
            "config",
            "5f3a-read-",
            "5f3a-read-3",
            "5f3a-read-00003",
            "5f3a-read-00003-",
            "5f3a-read-00003-7",
            "5f3a-read-0000000007",
            "5f3a-read-99999-0000000007",
            "5f3a-read-0000x-0000000007",
            "5f3a-read-0000ä-0000000007",
            "5f3a-lock-00003-0000000007",
            "5f3a-read-x-write-00003-0000000007",
        ] {
            assert_eq!(ContenderName::read(foreign), None, "{foreign}");
        }
        for foreign in
            ["5f3a-read-", "5f3a-read-3", "5f3a-write-000003", "5f3a-write-99999", "5f3a-lock-00003"]
        {
            assert_eq!(read_held(foreign), None, "{foreign}");
        }
    }

    #[test]
    fn the_more_urgent_rank_first_and_then_those_who_came_first() {
        let rank = |name: &str, czxid| ContenderName::read(name).expect("it stands in line").rank(czxid);
        let order = [
            rank("a-read-00000-2147483646", 0),
            rank("a-read-00000-2147483647", 7),
            rank("a-write-00000--000000005", 9),
            rank("a-write-00003-0000000004", 0),
            rank("a-read-00003-0000000005", 0),
            rank("a-write-00010-0000000001", 0),
        ];
        assert!(order.is_sorted_by(|earlier, later| earlier < later));
    }
}
