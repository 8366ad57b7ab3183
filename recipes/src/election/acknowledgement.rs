//! The record of leadership: which candidate has begun to lead, under which token, and the leader's data.
//!
//! The first line has the candidate's name and its token; the leader's data follow.

/// A record of leadership.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Acknowledgement {
    /// The name of the candidate's znode.
    pub candidate: String,
    pub token: i64,
    pub data: Vec<u8>,
}

impl Acknowledgement {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = format!("{} {}\n", self.candidate, self.token).into_bytes();
        bytes.extend_from_slice(&self.data);
        bytes
    }

    /// Parses a record; `None` for data that no leader has written.
    pub(super) fn read(bytes: &[u8]) -> Option<Acknowledgement> {
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let (candidate, token) = std::str::from_utf8(&bytes[..end]).ok()?.split_once(' ')?;
        Some(Acknowledgement {
            candidate: candidate.to_owned(),
            token: token.parse().ok()?,
            data: bytes[end + 1..].to_vec(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written() {
        for data in [&b""[..], b"10.0.0.7:4711", b"\n\n", b"a b\nc", &[0xff, 0, 0x0a]] {
            let record = Acknowledgement {
                candidate: "5f3a-n_0000000007".into(),
                token: 0x1_0000_0003,
                data: data.to_vec(),
            };
            assert_eq!(Acknowledgement::read(&record.to_bytes()), Some(record));
        }
    }

    #[test]
    fn what_nobody_wrote_is_no_record() {
        for foreign in [&b""[..], b"\n", b"leader", b"5f3a-n_0000000007\n", b"a b\nc", b"a 7", b"\xff 7\n"] {
            assert_eq!(Acknowledgement::read(foreign), None, "{foreign:?}");
        }
    }
}
