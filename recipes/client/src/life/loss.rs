//! Why a connection is lost.

use std::io;
use std::time::Duration;

use super::super::failed::is_end;

pub(crate) struct Loss {
    /// The value of `error.type`.
    pub(crate) kind: &'static str,
    pub(crate) message: String,
    /// How many requests waited for their answers.
    pub(crate) in_flight: usize,
}

impl Loss {
    fn new(kind: &'static str, message: impl Into<String>) -> Loss {
        Loss { kind, message: message.into(), in_flight: 0 }
    }

    /// The socket failed, or what came was none of ZooKeeper's.
    pub(crate) fn of(error: &io::Error) -> Loss {
        if error.kind() == io::ErrorKind::InvalidData {
            return Loss::new("not_zookeeper", error.to_string());
        }
        match is_end(error) {
            true => Loss::new("closed_by_server", "the server closed the connection"),
            false => Loss::new("network", error.to_string()),
        }
    }

    pub(crate) fn silence(limit: Duration) -> Loss {
        Loss::new("silence", format!("no byte from the server for {limit:?}"))
    }

    /// The machine gave the connection up for an answer.
    pub(crate) fn answer() -> Loss {
        Loss::new(
            "unusable_answer",
            "an answer came out of turn, or says that this server does not serve the session",
        )
    }
}
