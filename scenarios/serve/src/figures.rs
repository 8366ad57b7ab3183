//! Statistics of the requests of a server, for its four-letter words (`ServerStats`, `ServerCnxn`).

use sim_zk::observer::Kind;

/// The latencies of requests, in milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Latencies {
    pub last: u64,
    pub max: u64,
    min: Option<u64>,
    total: u64,
    count: u64,
}

impl Latencies {
    fn add(&mut self, took: u64) {
        self.last = took;
        self.max = self.max.max(took);
        self.min = Some(self.min.map_or(took, |min| min.min(took)));
        self.total += took;
        self.count += 1;
    }

    /// The minimum; 0 without requests.
    pub fn min(&self) -> u64 {
        self.min.unwrap_or_default()
    }

    /// The average rounded down, as printed for a connection.
    pub fn whole_average(&self) -> u64 {
        self.total.checked_div(self.count).unwrap_or_default()
    }

    /// The average with one to four decimals, as printed for a server (`AvgMinMaxCounter`).
    pub fn average(&self) -> String {
        let average = if self.count == 0 { 0.0 } else { self.total as f64 / self.count as f64 };
        format!("{:?}", (average * 10_000.0).round() / 10_000.0)
    }
}

/// The statistics of a connection or of a server.
#[derive(Clone, Debug)]
pub(crate) struct Figures {
    pub received: u64,
    pub sent: u64,
    pub latencies: Latencies,
    /// The last answered request, as four letters.
    pub last_op: &'static str,
    pub last_xid: Option<i32>,
    pub last_zxid: i64,
    /// The time of that answer, in milliseconds.
    pub last_at: u64,
    /// The lengths of the last, the shortest and the longest answer.
    pub sizes: Option<(usize, usize, usize)>,
}

impl Default for Figures {
    /// The initial statistics, also after `srst` or `crst`.
    fn default() -> Self {
        Figures {
            received: 0,
            sent: 0,
            latencies: Latencies::default(),
            last_op: "NA",
            last_xid: None,
            last_zxid: -1,
            last_at: 0,
            sizes: None,
        }
    }
}

impl Figures {
    /// Records that a request was answered after that many microseconds.
    pub fn answered(&mut self, op: &'static str, xid: i32, zxid: i64, took: u64, now: u64) {
        self.latencies.add(took / 1000);
        // The negative xids of a library's own requests do not count.
        self.last_xid = if xid >= 0 { Some(xid) } else { self.last_xid };
        (self.last_op, self.last_zxid, self.last_at) = (op, zxid, now / 1000);
    }

    /// Records the length of an answer.
    pub fn made(&mut self, length: usize) {
        let (_, shortest, longest) = self.sizes.unwrap_or((length, length, length));
        self.sizes = Some((length, shortest.min(length), longest.max(length)));
    }
}

/// A request as four letters (`FinalRequestProcessor`).
pub(crate) fn letters(kind: Kind) -> &'static str {
    match kind {
        Kind::Create => "CREA",
        Kind::Delete => "DELE",
        Kind::Exists => "EXIS",
        Kind::Get => "GETD",
        Kind::Set => "SETD",
        Kind::GetAcl => "GETA",
        Kind::SetAcl => "SETA",
        Kind::Children => "GETC",
        Kind::Multi => "MULT",
        Kind::MultiRead => "MLTR",
        Kind::Sync => "SYNC",
        Kind::AddWatch => "ADDW",
        Kind::RemoveWatches => "REMW",
        Kind::SetWatches => "SETW",
        Kind::Ping => "PING",
        Kind::Connect => "SESS",
        Kind::CloseSession => "CLOS",
        _ => "NA",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_average_has_as_many_digits_as_java_prints() {
        let mut latencies = Latencies::default();
        assert_eq!(latencies.average(), "0.0");
        for took in [1, 2, 2] {
            latencies.add(took);
        }
        assert_eq!((latencies.average(), latencies.whole_average()), ("1.6667".to_owned(), 1));
        assert_eq!((latencies.min(), latencies.max, latencies.last), (1, 2, 2));
    }
}
