//! Stored histories that were cut off, edited or shuffled: an error that names the line, or Unknown. Never a verdict
//! about recipes, and never a panic.

use crate::common::*;

use zk_checker::{RuleSet, Verdict, jsonl, judge_stored};

fn stored(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    jsonl::write(&history(text), &mut out).expect("writing to memory cannot fail");
    out
}

/// A history without a breach, and one with a breach.
fn both() -> [Vec<u8>; 2] {
    let hasty = [HEAD, A_HOLDS, B_WAITS, "0.015 b #2 believe /lock s2 token 0x4\n"].concat();
    [stored(&calm()), stored(&hasty)]
}

fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

/// The result of reading and judging: a verdict, or an error with the line.
fn outcome(bytes: &[u8]) -> Result<Verdict, String> {
    let stored = jsonl::read(bytes).map_err(|e| {
        assert!(e.line() >= 1 && e.line() <= lines(bytes).len() + 1, "{e}");
        e.to_string()
    })?;
    let report = judge_stored(&stored, &RuleSet::all());
    assert_eq!(stored.cut.is_none(), report.unknown.is_none(), "{report}");
    Ok(report.verdict())
}

/// The judge reports the damage, and nothing else.
#[track_caller]
fn proves_nothing(bytes: &[u8], what: &str) {
    match outcome(bytes) {
        Ok(verdict) => assert_eq!(verdict, Verdict::Unknown, "{what}"),
        Err(sentence) => {
            assert!(sentence.starts_with("line "), "{what}: {sentence}");
            assert!(!sentence.contains('\n'), "{what}: {sentence}");
        }
    }
}

#[test]
fn whole_files_are_judged() {
    assert_eq!(both().map(|bytes| outcome(&bytes)), [Ok(Verdict::Pass), Ok(Verdict::Fail)]);
}

#[test]
fn cut_anywhere_it_is_never_passed() {
    let [right, wrong] = both();
    // Only the end of the last line is missing.
    let whole = right.len() - 1;
    for kept in 0..whole {
        proves_nothing(&right[..kept], &format!("the first {kept} bytes"));
    }
    // A finding in the existing part is valid.
    let last = lines(&wrong).last().map_or(0, |line| line.len());
    assert_eq!(outcome(&wrong[..wrong.len() - last]), Ok(Verdict::Fail));
    for kept in 0..wrong.len() - 1 {
        assert_ne!(outcome(&wrong[..kept]), Ok(Verdict::Pass), "the first {kept} bytes");
    }
}

#[test]
fn one_bit_is_enough() {
    for bytes in both() {
        // Without the end of its last line it is cut off.
        for at in 0..bytes.len() - 1 {
            // One bit of each byte, another one for its neighbour; all of them in the last line.
            let last = at + 90 > bytes.len();
            for bit in (0..8).filter(|bit| last || *bit == at % 8) {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                proves_nothing(&damaged, &format!("bit {bit} of byte {at}"));
            }
        }
    }
}

#[test]
fn lines_that_changed_places() {
    for bytes in both() {
        let lines = lines(&bytes);
        for one in 0..lines.len() {
            for other in one + 1..lines.len() {
                let mut shuffled = lines.clone();
                shuffled.swap(one, other);
                if shuffled != lines {
                    proves_nothing(&shuffled.concat(), &format!("lines {one} and {other}"));
                }
            }
        }
    }
}

#[test]
fn lines_that_are_missing_or_there_twice() {
    for bytes in both() {
        let lines = lines(&bytes);
        for at in 0..lines.len() {
            let mut twice = lines.clone();
            twice.insert(at, lines[at]);
            proves_nothing(&twice.concat(), &format!("line {at} twice"));
            let mut missing = lines.clone();
            missing.remove(at);
            // Without its last line it is cut off: the existing events are valid.
            if at + 1 < lines.len() {
                proves_nothing(&missing.concat(), &format!("without line {at}"));
            }
        }
    }
}

#[test]
fn a_last_line_that_does_not_fit() {
    for bytes in both() {
        let text = String::from_utf8(bytes).expect("JSON is UTF-8");
        let (rest, end) = text.trim_end().rsplit_once('\n').expect("several lines");
        let count = rest.lines().filter(|line| line.contains("\"what\"")).count();
        let right = format!("\"count\":{count}");
        for (from, to) in [
            (right.as_str(), format!("\"count\":{}", count + 1)),
            (right.as_str(), format!("\"count\":{}", count - 1)),
            (right.as_str(), "\"count\":0".to_owned()),
            (right.as_str(), "\"count\":-1".to_owned()),
            (right.as_str(), "\"count\":18446744073709551616".to_owned()),
            (right.as_str(), "\"count\":null".to_owned()),
            ("\"hash\":\"", "\"hash\":\"0".to_owned()),
            ("\"hash\":\"", "\"hash\":\"\",\"was\":\"".to_owned()),
        ] {
            let edited = format!("{rest}\n{}\n", edit(end, from, &to));
            proves_nothing(edited.as_bytes(), &to);
        }
        // The last line of another file.
        let other = if text.contains("0.015") { "" } else { "{\"end\":{\"count\":0,\"hash\":\"\"}}" };
        proves_nothing(format!("{rest}\n{other}\n").as_bytes(), "the last line of another file");
        // Line ends as written by some editors.
        proves_nothing(text.replace('\n', "\r\n").as_bytes(), "other line ends");
        proves_nothing(format!("{text}\n").as_bytes(), "an empty line");
    }
}

#[test]
fn what_is_no_history_at_all() {
    let deep = "[".repeat(100_000);
    for text in ["", "\n", "{", "{}", "[]", "null", "0", "\u{feff}", "run sim", &deep] {
        let sentence = outcome(text.as_bytes()).expect_err("there is no header");
        assert!(sentence.starts_with("line 1: "), "{sentence}");
    }
    let sentence = outcome(b"\xff\xfe\n").expect_err("this is no text");
    assert!(sentence.starts_with("line 1: "), "{sentence}");
}

#[test]
fn numbers_that_no_history_has() {
    let [right, _] = both();
    let text = String::from_utf8(right).expect("JSON is UTF-8");
    let large = ["65535", "65536", "4294967295", "4294967296", "18446744073709551615", "-1", "1e99", "\"\""];
    for field in ["at", "op", "req", "session", "object", "zxid", "czxid", "conn", "token", "path"] {
        let key = format!("\"{field}\":");
        let Some((before, after)) = text.split_once(&key) else { continue };
        let end = after.find([',', '}']).expect("a value ends");
        for number in large {
            let edited = format!("{before}{key}{number}{}", &after[end..]);
            proves_nothing(edited.as_bytes(), &format!("{field} {number}"));
        }
    }
}
