//! The lines that drivers write; the first word of each names the client.

/// A line of a driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// It is connected, and waits for `go`.
    Ready,
    /// The id of its new session.
    Session(String),
    /// No operation is pending, and it begins none.
    Resting,
    /// It has reported what it sees.
    Audited,
    /// An error that the library gave.
    Trouble(String),
    /// A report: event, kind, object and item.
    Report(DriverReport),
}

/// A report of a driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverReport {
    /// What happened.
    pub event: String,
    /// The words after the event, as the history records them.
    pub rest: String,
}

/// Parses a line into the client and its message.
///
/// # Errors
///
/// One sentence, if the line cannot be parsed.
pub fn read(line: &str) -> Result<(&str, Said), String> {
    let wrong = || format!("{line:?} is not a line of a driver");
    let (client, rest) = line.trim().split_once(' ').ok_or_else(wrong)?;
    let (word, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let said = match (word, rest) {
        ("ready", "") => Said::Ready,
        ("resting", "") => Said::Resting,
        ("audited", "") => Said::Audited,
        ("session", id) if id.starts_with("0x") => Said::Session(id.to_owned()),
        ("trouble", text) => Said::Trouble(text.to_owned()),
        ("session" | "ready" | "resting" | "audited" | "", _) | (_, "") => return Err(wrong()),
        (event, rest) => Said::Report(DriverReport { event: event.to_owned(), rest: rest.to_owned() }),
    };
    Ok((client, said))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read() {
        assert_eq!(read("a ready"), Ok(("a", Said::Ready)));
        assert_eq!(read("b session 0x12"), Ok(("b", Said::Session("0x12".to_owned()))));
        let told = DriverReport { event: "acquired".to_owned(), rest: "lock /l".to_owned() };
        assert_eq!(read("c acquired lock /l\n"), Ok(("c", Said::Report(told))));
        assert_eq!(read("c trouble no such node"), Ok(("c", Said::Trouble("no such node".to_owned()))));
        for wrong in ["", "a", "a acquired", "a ready now", "a session 12"] {
            assert!(read(wrong).is_err(), "{wrong:?}");
        }
    }
}
