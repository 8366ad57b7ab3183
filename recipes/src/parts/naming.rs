//! Names of contenders' znodes: a guid, by which an attempt finds its own znode after a lost reply, an infix that says what
//! it asks for, and the server's sequence number.

use crate::zk::Guid;

/// Naming scheme of locks. All clients of a directory must agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Naming {
    /// `<guid>-lock-<n>`; readers and writers `<guid>-read-<n>` and `<guid>-write-<n>`.
    #[default]
    Standard,
    /// `_c_<uuid>-lock-<n>`, `_c_<uuid>-__READ__<n>` and `_c_<uuid>-__WRIT__<n>`, as Apache Curator names them.
    Curator,
    /// `<guid>__lock__<n>`, readers `<guid>__rlock__<n>`, writers as locks, as Kazoo names them.
    Kazoo,
}

impl Naming {
    /// Infix of an exclusive lock.
    pub(crate) fn lock(self) -> Marks {
        let infixes = match self {
            Naming::Standard | Naming::Curator => &["-lock-"][..],
            Naming::Kazoo => &["__lock__"],
        };
        Marks { style: self.style(), infixes }
    }

    /// Infixes of a shared lock: [`READ`], then [`WRITE`].
    pub(crate) fn shared(self) -> Marks {
        let infixes = match self {
            Naming::Standard => &["-read-", "-write-"][..],
            Naming::Curator => &["-__READ__", "-__WRIT__"],
            Naming::Kazoo => &["__rlock__", "__lock__"],
        };
        Marks { style: self.style(), infixes }
    }

    /// The revocation word, which is written into a contender's znode to ask it to release. Kazoo has none.
    pub(crate) fn word(self) -> Option<&'static str> {
        match self {
            Naming::Standard => Some("unlock"),
            Naming::Curator => Some("__REVOKE__"),
            Naming::Kazoo => None,
        }
    }

    fn style(self) -> GuidStyle {
        match self {
            Naming::Standard | Naming::Kazoo => GuidStyle::Hex,
            Naming::Curator => GuidStyle::Curator,
        }
    }
}

/// A priority: the smaller number goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Priority(pub u16);

/// What a contender asks for: the index of its infix in [`Marks`].
pub(crate) type Role = usize;

/// The role of readers in a shared lock.
pub(crate) const READ: Role = 0;

/// The role of writers in a shared lock.
pub(crate) const WRITE: Role = 1;

/// Notation of guids in names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GuidStyle {
    /// 32 hexadecimal digits.
    Hex,
    /// `_c_`, then the digits with dashes.
    Curator,
}

/// Infixes by which a recipe recognises its contenders. Every other child of the directory is ignored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marks {
    pub style: GuidStyle,
    /// One for each role. No infix may be a suffix of another.
    pub infixes: &'static [&'static str],
}

impl Marks {
    /// Marks with guids in hexadecimal notation.
    pub(crate) const fn standard(infixes: &'static [&'static str]) -> Marks {
        Marks { style: GuidStyle::Hex, infixes }
    }

    /// The name without its sequence number.
    pub(crate) fn prefix(self, guid: Guid, role: Role) -> String {
        format!("{}{}", self.guid(guid), self.infixes[role])
    }

    /// The guid in the notation of these names.
    pub(crate) fn guid(self, guid: Guid) -> String {
        let hex = guid.to_string();
        match self.style {
            GuidStyle::Hex => hex,
            GuidStyle::Curator => {
                format!("_c_{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
            }
        }
    }

    /// Parses role and number of a contender; `None` for every other child of the directory.
    pub(crate) fn read(self, name: &str) -> Option<(Role, i32)> {
        // A list may have 100,000 names, so each is parsed from its end, without a search.
        let role = |front: &str| self.infixes.iter().position(|infix| front.ends_with(infix));
        numbered(name).into_iter().flatten().find_map(|(front, number)| Some((role(front)?, number)))
    }

    /// Parses the number of a contender.
    pub(crate) fn number(self, name: &str) -> Option<i32> {
        self.read(name).map(|(_, number)| number)
    }
}

/// Parses a sequence number as the server formats it with `%010d`: ten digits, or a minus sign and nine or ten.
pub(crate) fn number(text: &str) -> Option<i32> {
    numbered(text).into_iter().flatten().find_map(|(front, number)| front.is_empty().then_some(number))
}

/// Splits a name in front of its sequence number. There are two ways if a minus sign may belong to the number or to the
/// name.
pub(crate) fn numbered(name: &str) -> [Option<(&str, i32)>; 2] {
    const DIGITS: usize = 10;
    let bytes = name.as_bytes();
    let Some(at) = bytes.len().checked_sub(DIGITS) else { return [None; 2] };
    // A digit or a sign begins a character, so the slice is valid.
    let parted = |at: usize, number: i64| Some((&name[..at], i32::try_from(number).ok()?));
    match &bytes[at..] {
        [b'-', digits @ ..] => [value(digits).and_then(|value| parted(at, -value)), None],
        digits => match value(digits) {
            Some(value) if bytes[..at].ends_with(b"-") => [parted(at, value), parted(at - 1, -value)],
            Some(value) => [parted(at, value), None],
            None => [None; 2],
        },
    }
}

/// The value of at most ten digits.
fn value(digits: &[u8]) -> Option<i64> {
    let mut value = 0;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        value = 10 * value + i64::from(digit - b'0');
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_number_behind_the_infix_makes_a_contender() {
        let number = |name| Naming::Standard.lock().number(name);
        assert_eq!(number("5f3a-lock-0000000007"), Some(7));
        assert_eq!(number("_c_5f3a-lock-2147483647"), Some(i32::MAX), "Curator's lock is seen");
        assert_eq!(number("5f3a-lock--2147483648"), Some(i32::MIN));
        assert_eq!(number("5f3a-lock--000000001"), Some(-1));
        for foreign in
            ["config", "5f3a-lock-", "5f3a-lock-7", "5f3a-lock-00000000070", "5f3a-lock-000000000x"]
        {
            assert_eq!(number(foreign), None, "{foreign}");
        }
        assert_eq!(Naming::Kazoo.lock().number("5f3a__lock__0000000007"), Some(7));
        assert_eq!(Naming::Kazoo.lock().number("5f3a-lock-0000000007"), None);
    }

    /// The rule in words: behind the last infix stands a whole number.
    fn by_search(marks: Marks, name: &str) -> Option<(Role, i32)> {
        marks.infixes.iter().enumerate().find_map(|(role, infix)| {
            let text = &name[name.rfind(infix)? + infix.len()..];
            let digits = text.strip_prefix('-').unwrap_or(text);
            let lengths = if digits.len() == text.len() { 10..=10 } else { 9..=10 };
            let whole = lengths.contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
            Some((role, whole.then(|| text.parse().ok())??))
        })
    }

    #[test]
    fn a_name_read_from_its_end_says_what_a_search_would() {
        let infixes = ["", "-", "-lock-", "__lock__", "__rlock__", "-read-", "-write-", "-__WRIT__", "lock-"];
        let numbers = [
            "0000000007",
            "2147483647",
            "2147483648",
            "9999999999",
            "-000000001",
            "-0000000001",
            "-2147483648",
            "-2147483649",
            "000000007",
            "00000000070",
            "--000000007",
            "000000000x",
            "-\u{e9}0000000",
        ];
        for front in ["", "5f3a", "\u{e9}", "5f3a-lock-0000000001"] {
            for infix in infixes.iter().flat_map(|one| infixes.map(|other| format!("{one}{other}"))) {
                for number in numbers {
                    let name = format!("{front}{infix}{number}");
                    for naming in [Naming::Standard, Naming::Curator, Naming::Kazoo] {
                        for marks in [naming.lock(), naming.shared()] {
                            assert_eq!(marks.read(&name), by_search(marks, &name), "{name:?} of {marks:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn readers_and_writers_are_told_apart() {
        let read = |naming: Naming, name| naming.shared().read(name);
        assert_eq!(read(Naming::Standard, "5f3a-read-0000000007"), Some((READ, 7)));
        assert_eq!(read(Naming::Standard, "5f3a-write-0000000007"), Some((WRITE, 7)));
        assert_eq!(read(Naming::Standard, "5f3a-lock-0000000007"), None);
        assert_eq!(read(Naming::Curator, "_c_5f3a-__READ__0000000007"), Some((READ, 7)));
        assert_eq!(read(Naming::Curator, "_c_5f3a-__WRIT__0000000007"), Some((WRITE, 7)));
        assert_eq!(read(Naming::Kazoo, "5f3a__rlock__0000000007"), Some((READ, 7)));
        assert_eq!(read(Naming::Kazoo, "5f3a__lock__0000000007"), Some((WRITE, 7)));
    }

    #[test]
    fn curators_prefix_has_a_uuid_with_dashes() {
        let guid = Guid(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef);
        let prefix = |naming: Naming| naming.lock().prefix(guid, 0);
        assert_eq!(prefix(Naming::Curator), "_c_01234567-89ab-cdef-0123-456789abcdef-lock-");
        assert_eq!(prefix(Naming::Standard), "0123456789abcdef0123456789abcdef-lock-");
    }
}
