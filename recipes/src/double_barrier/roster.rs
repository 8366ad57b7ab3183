//! Rosters: the names of members, in the same order for all participants.

use crate::parts::naming::Marks;
use crate::zk::path;

/// Names of members: `<guid>-member-<n>`, with `<id>~` in front if they have an id.
pub(super) const MEMBER: Marks = Marks::standard(&["-member-"]);

/// The length of a guid in a name.
const GUID: usize = 32;

/// Members in the order of joining. Worn numbers may be equal, then names decide: all participants need the same order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Roster(Vec<String>);

impl Roster {
    /// The members among some names.
    pub(super) fn of(names: Vec<String>) -> Roster {
        let numbered = |name: String| Some((MEMBER.number(&name)?, name));
        let mut members: Vec<(i32, String)> = names.into_iter().filter_map(numbered).collect();
        members.sort_unstable();
        Roster(members.into_iter().map(|(_, name)| name).collect())
    }

    /// The members by name, the lowest first.
    pub(super) fn names(&self) -> &[String] {
        &self.0
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|other| other == name)
    }

    /// The member with this guid.
    pub(super) fn of_guid(&self, guid: &str) -> Option<&String> {
        self.0.iter().find(|name| name.contains(guid))
    }

    /// Removes one member.
    pub(super) fn without(mut self, name: &str) -> Roster {
        self.0.retain(|other| other != name);
        self
    }

    /// Keeps the members that are also in the other roster.
    pub(super) fn among(mut self, others: &Roster) -> Roster {
        let place = |name: &str| MEMBER.number(name);
        // Both rosters are in the same order.
        let mut others = others.0.iter().map(|name| (place(name), name)).peekable();
        self.0.retain(|name| {
            let own = (place(name), name);
            while others.next_if(|other| *other < own).is_some() {}
            others.peek() == Some(&own)
        });
        self
    }

    /// The identities, each once, in the order of names.
    pub(super) fn ids(&self) -> Vec<&str> {
        let mut ids: Vec<&str> = self.0.iter().map(|name| id(name)).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// The record of an opening, with the opener's guid.
    pub(super) fn record(&self, opener: &str) -> Vec<u8> {
        let mut lines = vec![opener];
        lines.extend(self.0.iter().map(String::as_str));
        lines.join("\n").into_bytes()
    }

    /// Parses a record: the opener's guid and the roster.
    pub(super) fn read(data: &[u8]) -> Option<(String, Roster)> {
        let mut lines = std::str::from_utf8(data).ok()?.lines();
        let opener = lines.next().filter(|guid| guid.len() == GUID)?.to_owned();
        let roster = Roster::of(lines.map(str::to_owned).collect());
        (!roster.0.is_empty()).then_some((opener, roster))
    }
}

/// The identity of a member: its id, or its guid without one.
fn id(name: &str) -> &str {
    let Some(end) = name.rfind(MEMBER.infixes[0]) else { return name };
    let front = &name[..end];
    match front.len().checked_sub(GUID).and_then(|at| front.split_at_checked(at)) {
        Some((id, guid)) if !id.is_empty() => id.strip_suffix('~').unwrap_or(guid),
        _ => front,
    }
}

/// The last part of a path.
pub(super) fn name_of(own: &str) -> &str {
    path::split(own).1
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "0123456789abcdef0123456789abcdef-member-0000000002";
    const B: &str = "b~1123456789abcdef0123456789abcdef-member-0000000001";
    const B2: &str = "b~2123456789abcdef0123456789abcdef-member-0000000010";

    fn roster(names: &[&str]) -> Roster {
        Roster::of(names.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn members_stand_in_the_order_of_joining_and_others_do_not_count() {
        let all = roster(&[B2, A, "ready", "x-member-7", B]);
        assert_eq!(all.names(), [B, A, B2]);
        assert!(all.has(A) && !all.clone().without(A).has(A));
    }

    #[test]
    fn a_list_is_narrowed_to_those_of_a_roster() {
        let other = "3123456789abcdef0123456789abcdef-member-0000000002";
        assert_eq!(roster(&[B2, A, other]).among(&roster(&[A, B, B2])).names(), [A, B2]);
        assert_eq!(roster(&[B, other]).among(&roster(&[A, B2])).names(), [""; 0]);
    }

    #[test]
    fn one_id_is_one_participant() {
        assert_eq!(roster(&[B2, A, B]).ids(), ["0123456789abcdef0123456789abcdef", "b"]);
        let odd = "x~y-member-0000000001~1123456789abcdef0123456789abcdef-member-0000000001";
        assert_eq!(roster(&[odd]).ids(), ["x~y-member-0000000001"]);
    }

    #[test]
    fn a_record_reads_back_and_nothing_else_does() {
        let all = roster(&[A, B]);
        let guid = "0123456789abcdef0123456789abcdef".to_owned();
        assert_eq!(Roster::read(&all.record(&guid)), Some((guid, all)));
        for other in [&b""[..], b"x", b"\xff", b"0123456789abcdef0123456789abcdef", b"\n\n"] {
            assert_eq!(Roster::read(other), None);
        }
    }
}
