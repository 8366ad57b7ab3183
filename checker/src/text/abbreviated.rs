//! Shortened names for readers: each guid is cut to its first digits.

/// The number of digits of a guid.
const DIGITS: usize = 32;

/// The number of digits that are kept.
const LEFT: usize = 4;

/// A path or another text with every guid cut to its first four digits: `/lock/5f3a…-lock-0000000007`. A guid has 32
/// hexadecimal digits, or the same with dashes as Apache Curator writes them.
pub fn abbreviated(text: &str) -> String {
    let mut short = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        match guid(rest) {
            Some(length) => {
                short.push_str(&rest[..LEFT]);
                short.push('…');
                rest = &rest[length..];
            }
            None => {
                // A run of digits is taken as a whole: no guid begins in its middle.
                let run = rest.bytes().take_while(u8::is_ascii_hexdigit).count().max(first.len_utf8());
                short.push_str(&rest[..run]);
                rest = &rest[run..];
            }
        }
    }
    short
}

/// The length of the guid with which a text begins, if it begins with one.
fn guid(text: &str) -> Option<usize> {
    let digits = text.bytes().take_while(u8::is_ascii_hexdigit).count();
    if digits >= DIGITS {
        return Some(digits);
    }
    let parts = [8, 4, 4, 4, 12];
    let bytes = text.as_bytes();
    let mut at = 0;
    for (index, part) in parts.into_iter().enumerate() {
        if index > 0 {
            (bytes.get(at) == Some(&b'-')).then_some(())?;
            at += 1;
        }
        let run = bytes.get(at..at + part)?;
        run.iter().all(u8::is_ascii_hexdigit).then_some(())?;
        at += part;
    }
    (!bytes.get(at).is_some_and(u8::is_ascii_hexdigit)).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::abbreviated;

    #[test]
    fn a_guid_is_cut_and_nothing_else_is() {
        let hex = "0123456789abcdef0123456789abcdef";
        let short = |text: &str| abbreviated(&text.replace("GUID", hex));
        assert_eq!(short("/lock/GUID-lock-0000000007"), "/lock/0123…-lock-0000000007");
        assert_eq!(short("/a/GUID-read-1,/a/GUID-read-2"), "/a/0123…-read-1,/a/0123…-read-2");
        assert_eq!(short("/q/GUID__lock__0000000001"), "/q/0123…__lock__0000000001");
        let uuid = "/c/_c_01234567-89ab-cdef-0123-456789abcdef-lock-0000000000";
        assert_eq!(short(uuid), "/c/_c_0123…-lock-0000000000");
        for kept in ["/barrier", "deadbeef", "/lock/5f3a-lock-0000000007", "é-ü", "", "01234567-89ab-cdef"]
        {
            assert_eq!(short(kept), kept);
        }
    }
}
