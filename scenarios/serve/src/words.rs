//! Four-letter words: the answers of a member, in the form of Apache ZooKeeper 3.8.

use crate::clients::text_of;
use crate::connection::Connection;
use crate::figures::Figures;
use sim_zk::raw::Raw;
use sim_zk::world::World;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::SocketAddr;
use zk_recipes::zk::SessionId;

/// The simulated version.
const VERSION: &str = "3.8.0-simulated";

/// The initial trace mask of a server (`ZooTrace`).
const TRACED: u32 = 306;

/// The data of a member for its answers.
pub(crate) struct MemberFacts<'a> {
    pub server: u8,
    pub raw: &'a Raw,
    /// Its connections, each with the time at which it is closed if it stays silent, in microseconds.
    pub connections: Vec<(&'a Connection, u64)>,
    pub figures: &'a Figures,
    pub address: Option<SocketAddr>,
}

impl MemberFacts<'_> {
    /// The answer to a word.
    pub fn answer(&self, word: [u8; 4]) -> String {
        let world = self.raw.world();
        let serves = world.following_quorum().contains(&self.server);
        match &word {
            b"ruok" => return if world.is_running(self.server) { "imok".to_owned() } else { String::new() },
            b"envi" => return format!("Environment:\nzookeeper.version={VERSION}\n"),
            // `IsroCommand` does not check first whether the server is running.
            b"isro" => return if serves { "rw" } else { "null" }.to_owned(),
            b"gtmk" => return TRACED.to_string(),
            // They need more bytes, or print digests that are not kept.
            b"stmk" | b"hash" => return String::new(),
            _ if !serves => return "This ZooKeeper instance is not currently serving requests\n".to_owned(),
            _ => {}
        }
        match &word {
            b"conf" => self.conf(),
            b"cons" => format!("{}\n", self.clients(Connection::line)),
            b"crst" => "Connection stats reset.\n".to_owned(),
            // There is no disk.
            b"dirs" => "datadir_size: 0\nlogdir_size: 0\n".to_owned(),
            b"dump" => self.dump(),
            b"mntr" => self.mntr(),
            b"srst" => "Server stats reset.\n".to_owned(),
            b"wchc" => self.watches_by_session(),
            b"wchp" => self.watches_by_path(),
            b"wchs" => self.watches(),
            b"stat" => self.srvr(&format!("Clients:\n{}\n", self.clients(Connection::brief_line))),
            _ => self.srvr(""),
        }
    }

    fn clients(&self, line: impl Fn(&Connection, &Raw) -> String) -> String {
        self.connections.iter().map(|(connection, _)| line(connection, self.raw)).collect()
    }

    fn outstanding(&self) -> usize {
        self.connections.iter().map(|(connection, _)| connection.in_flight.len()).sum()
    }

    fn srvr(&self, clients: &str) -> String {
        let (world, figures) = (self.raw.world(), self.figures);
        let latencies = &figures.latencies;
        let mode = mode(self.server, world);
        // Proposals are not serialised into a buffer.
        let proposals = if mode == "leader" { "Proposal sizes last/min/max: -1/-1/-1\n" } else { "" };
        format!(
            "Zookeeper version: {VERSION}\n{clients}Latency min/avg/max: {}/{}/{}\nReceived: {}\nSent: {}\n\
             Connections: {}\nOutstanding: {}\nZxid: {:#x}\nMode: {mode}\nNode count: {}\n{proposals}",
            latencies.min(),
            latencies.average(),
            latencies.max,
            figures.received,
            figures.sent,
            self.connections.len(),
            self.outstanding(),
            world.applied(self.server),
            self.node_count(),
        )
    }

    /// The number of znodes. The root counts twice, since it has two names.
    fn node_count(&self) -> usize {
        self.raw.world().znodes_of(self.server).count() + 1
    }

    fn mntr(&self) -> String {
        let (world, figures) = (self.raw.world(), self.figures);
        let znodes = || world.znodes_of(self.server);
        let (last, shortest, longest) = figures
            .sizes
            .map_or((-1, -1, -1), |(last, shortest, longest)| (last as i64, shortest as i64, longest as i64));
        let mut told = String::new();
        let mut tell = |name: &str, figure: &dyn std::fmt::Display| _ = writeln!(told, "zk_{name}\t{figure}");
        tell("version", &VERSION);
        tell("server_state", &mode(self.server, world));
        tell("ephemerals_count", &znodes().filter(|(_, owner, _)| owner.0 > 0).count());
        tell("num_alive_connections", &self.connections.len());
        tell("avg_latency", &figures.latencies.average());
        tell("outstanding_requests", &self.outstanding());
        tell("znode_count", &self.node_count());
        tell("global_sessions", &world.open_sessions(self.server).count());
        tell("last_client_response_size", &last);
        tell("packets_sent", &figures.sent);
        tell("packets_received", &figures.received);
        tell("max_client_response_size", &longest);
        tell("connection_drop_probability", &"0.0");
        tell("watch_count", &world.watch_count(self.server));
        tell("min_latency", &figures.latencies.min());
        tell("approximate_data_size", &znodes().map(|(path, _, data)| path.len() + data).sum::<usize>());
        tell("local_sessions", &0);
        tell("uptime", &(self.raw.now() / 1000));
        tell("max_latency", &figures.latencies.max);
        tell("min_client_response_size", &shortest);
        if world.leader_of_quorum() == Some(self.server) && world.config().servers > 1 {
            let followers = world.following_quorum().len().saturating_sub(1);
            tell("learners", &followers);
            tell("synced_followers", &followers);
            tell("pending_syncs", &0);
        }
        told
    }

    fn conf(&self) -> String {
        let config = self.raw.world().config();
        let tick = config.tick / 1000;
        let port = self.address.map_or(0, |address| address.port());
        let is_alone = config.servers == 1;
        let number = if is_alone { 0 } else { self.server + 1 };
        let mut told = format!(
            "clientPort={port}\nsecureClientPort=-1\ndataDir=\ndataDirSize=0\ndataLogDir=\ndataLogSize=0\ntickTime={tick}\n\
             maxClientCnxns=0\nminSessionTimeout={}\nmaxSessionTimeout={}\nclientPortListenBacklog=-1\nserverId={number}\n",
            2 * tick,
            20 * tick,
        );
        if let Some(members) = config.settings.members.as_deref().filter(|_| !is_alone) {
            let index = u16::from(self.server);
            let (quorum, election) = (crate::QUORUM_PORT + index, crate::ELECTION_PORT + index);
            let _ = write!(
                told,
                "initLimit=10\nsyncLimit={}\nelectionAlg=3\nelectionPort={election}\nquorumPort={quorum}\npeerType=0\n\
                 membership: \n{members}",
                config.sync_limit,
            );
        }
        told
    }

    // ── sessions ──

    fn dump(&self) -> String {
        let world = self.raw.world();
        let mut told = "SessionTracker dump:\n".to_owned();
        match world.deadlines(self.server) {
            Some(deadlines) => {
                let lines = deadlines.map(|(due, session)| (due, text_of(session)));
                told += &self.sets("Session", lines);
            }
            None => {
                let sessions: BTreeMap<SessionId, u64> = world.open_sessions(self.server).collect();
                let _ = writeln!(told, "Global Sessions({}):", sessions.len());
                for (session, timeout) in sessions {
                    let _ = writeln!(told, "{}\t{}ms", text_of(session), timeout / 1000);
                }
            }
        }
        let mut owned: BTreeMap<SessionId, Vec<&str>> = BTreeMap::new();
        for (path, owner, _) in world.znodes_of(self.server).filter(|(_, owner, _)| owner.0 > 0) {
            owned.entry(owner).or_default().push(path);
        }
        let _ = writeln!(told, "ephemeral nodes dump:\nSessions with Ephemerals ({}):", owned.len());
        for (session, paths) in owned {
            let _ = writeln!(told, "{}:", text_of(session));
            tell_all(&mut told, paths);
        }
        told += "Connections dump:\n";
        let lines =
            self.connections.iter().map(|(connection, due)| (*due, connection.address_line(self.raw)));
        told + &self.sets("Connections", lines)
    }

    /// Groups expiring entries by their time.
    fn sets(&self, what: &str, all: impl Iterator<Item = (u64, String)>) -> String {
        let mut sets: BTreeMap<u64, Vec<String>> = BTreeMap::new();
        for (due, line) in all {
            sets.entry(due).or_default().push(line);
        }
        let count: usize = sets.values().map(Vec::len).sum();
        let mut told = format!("{what} Sets ({})/({count}):\n", sets.len());
        for (due, lines) in sets {
            let at = self.raw.world().config().wall_clock_ms + (due / 1000) as i64;
            let _ = writeln!(told, "{} expire at {}:", lines.len(), date(at));
            tell_all(&mut told, &lines);
        }
        told
    }

    // ── watches ──

    /// The totals of watches. As in `WatchManager`, connections whose watches have fired still count, and watches on
    /// children never do.
    fn watches(&self) -> String {
        let all: Vec<Vec<&str>> =
            self.raw.world().watchers(self.server).map(|(_, paths)| paths.collect()).collect();
        let mut paths = all.concat();
        let total = paths.len();
        paths.sort_unstable();
        paths.dedup();
        format!("{} connections watching {} paths\nTotal watches:{total}\n", all.len(), paths.len())
    }

    fn watches_by_session(&self) -> String {
        let mut told = String::new();
        for (session, paths) in self.raw.world().watchers(self.server) {
            let _ = writeln!(told, "{}", text_of(session));
            tell_all(&mut told, paths);
        }
        told + "\n"
    }

    fn watches_by_path(&self) -> String {
        let mut by_path: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (session, paths) in self.raw.world().watchers(self.server) {
            for path in paths {
                by_path.entry(path).or_default().push(text_of(session));
            }
        }
        let mut told = String::new();
        for (path, sessions) in by_path {
            let _ = writeln!(told, "{path}");
            tell_all(&mut told, sessions);
        }
        told + "\n"
    }
}

fn tell_all(told: &mut String, lines: impl IntoIterator<Item = impl std::fmt::Display>) {
    for line in lines {
        let _ = writeln!(told, "\t{line}");
    }
}

fn mode(server: u8, world: &World) -> &'static str {
    match (world.config().servers, world.leader_of_quorum()) {
        (1, _) => "standalone",
        (_, Some(leader)) if leader == server => "leader",
        _ => "follower",
    }
}

/// A time in milliseconds since 1970, as `java.util.Date` prints it.
fn date(ms: i64) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (days, seconds) = (ms.div_euclid(86_400_000), ms.rem_euclid(86_400_000) / 1000);
    // Years from March on, in eras of 400 years: the leap day is the last of a year.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let of_years = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * of_years + of_years / 4 - of_years / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = (from_march + 2) % 12;
    let year = of_years + era * 400 + i64::from(month < 2);
    let (weekday, name) = (DAYS[days.rem_euclid(7) as usize], MONTHS[month as usize]);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{weekday} {name} {day:02} {hour:02}:{minute:02}:{second:02} UTC {year}")
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn dates_are_printed_as_java_prints_them() {
        assert_eq!(date(0), "Thu Jan 01 00:00:00 UTC 1970");
        assert_eq!(date(951_782_400_000), "Tue Feb 29 00:00:00 UTC 2000");
        assert_eq!(date(1_795_945_520_123), "Sun Nov 29 09:45:20 UTC 2026");
    }
}
