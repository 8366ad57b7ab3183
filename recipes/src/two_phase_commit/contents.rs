//! The text forms of transactions, votes and decisions.

use super::{Decision, Form, Transaction, Vote};
use crate::zk::{Error, ErrorKind};

/// The first line of every transaction.
const HEADING: &str = "two-phase commit";

/// The data of `<tx>`: heading, guid, form and sites, one a line, an empty line, and the payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Contents {
    pub guid: String,
    pub transaction: Transaction,
}

impl Form {
    const ALL: [Form; 4] = [
        Form::Decentralised { follow_votes: false },
        Form::Decentralised { follow_votes: true },
        Form::Coordinator,
        Form::SiteEphemerals,
    ];

    fn word(self) -> &'static str {
        match self {
            Form::Decentralised { follow_votes: false } => "decentralised",
            Form::Decentralised { follow_votes: true } => "decentralised, votes followed",
            Form::Coordinator => "coordinator",
            Form::SiteEphemerals => "coordinator, site ephemerals",
        }
    }
}

impl Vote {
    pub(super) fn word(self) -> &'static str {
        match self {
            Vote::Commit => "commit",
            Vote::Abort => "abort",
        }
    }

    /// Parses a site's vote: `None` if it is not cast.
    pub(super) fn read(data: &[u8]) -> Result<Option<Vote>, Error> {
        match data {
            b"" => Ok(None),
            b"commit" => Ok(Some(Vote::Commit)),
            b"abort" => Ok(Some(Vote::Abort)),
            _ => Err(ErrorKind::Mismatch("what stands in a site's znode is no vote".into()).into()),
        }
    }
}

impl Decision {
    pub(super) fn word(self) -> &'static str {
        match self {
            Decision::Commit => "commit",
            Decision::Abort => "abort",
        }
    }

    pub(super) fn read(data: &[u8]) -> Result<Decision, Error> {
        match data {
            b"commit" => Ok(Decision::Commit),
            b"abort" => Ok(Decision::Abort),
            _ => Err(ErrorKind::Mismatch("what stands on record is no decision".into()).into()),
        }
    }
}

impl Contents {
    pub(super) fn bytes(&self) -> Vec<u8> {
        let Transaction { sites, payload, form } = &self.transaction;
        let mut head = format!("{HEADING}\n{}\n{}\n", self.guid, form.word());
        for site in sites {
            head.push_str(site);
            head.push('\n');
        }
        head.push('\n');
        [head.as_bytes(), payload].concat()
    }

    /// Parses a transaction; `None` for other data.
    pub(super) fn parse(data: &[u8]) -> Option<Contents> {
        let at = data.windows(2).position(|pair| pair == b"\n\n")?;
        let mut lines = std::str::from_utf8(&data[..at]).ok()?.split('\n');
        (lines.next()? == HEADING).then_some(())?;
        let guid = lines.next()?.to_owned();
        let word = lines.next()?;
        let form = Form::ALL.into_iter().find(|form| form.word() == word)?;
        let sites: Vec<String> = lines.map(str::to_owned).collect();
        (!sites.is_empty()).then_some(())?;
        Some(Contents { guid, transaction: Transaction { sites, payload: data[at + 2..].to_vec(), form } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_read_as_they_were_written() {
        for form in Form::ALL {
            for payload in [&b""[..], b"\n\n", b"order 9\n\n\xff"] {
                let transaction =
                    Transaction { sites: vec!["a".into(), "b c".into()], payload: payload.to_vec(), form };
                let contents = Contents { guid: "5f3a".into(), transaction };
                assert_eq!(Contents::parse(&contents.bytes()), Some(contents));
            }
        }
    }

    #[test]
    fn what_no_begin_has_written_is_no_transaction() {
        let whole = "two-phase commit\n5f3a\ncoordinator\na\n\n";
        assert!(Contents::parse(whole.as_bytes()).is_some());
        for data in [
            "",
            "\n\n",
            "order 9",
            "two-phase commit\n5f3a\ncoordinator\na\n",
            "two-phase commit\n5f3a\ncoordinator\n\n",
            "two-phase commit\n5f3a\nnobody\na\n\n",
            "three-phase commit\n5f3a\ncoordinator\na\n\n",
        ] {
            assert_eq!(Contents::parse(data.as_bytes()), None, "{data:?}");
        }
    }
}
