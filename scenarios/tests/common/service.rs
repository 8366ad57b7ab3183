//! The example `service` as three processes, and the troubles that they have to outlast.
//!
//! 1. *Begin*: an ensemble, and three processes that share a file of jobs. What they print and log goes to one transcript, to which
//!    everything is appended by one write a line: its order is that of the events.
//! 2. *Trouble*: a process or the servers are hurt. The test notes in the transcript what it has done to a process.
//! 3. *Recovery*: within a bound one process leads, and new jobs are put and done.
//! 4. *End*: every job whose put was confirmed is done. All processes end at SIGINT, with status 0.
//! 5. *Verdict* over the transcript and the file of jobs: see [`Transcript::wrong`] and [`Trial::wrong_lines`].
//!
//! What the processes log is what the table of `recipes/README.md` says.
//!
//! Dropping a trial kills its processes and removes its files.

use super::command::signal;
use super::transcript::{EMPTIES, Transcript};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub const NAMES: [&str; 3] = ["ann", "ben", "cat"];

/// How the servers of a service are hurt. All calls return when it is done; those that start servers, when they serve.
pub trait Servers {
    fn connect_string(&self) -> String;

    fn count(&self) -> usize;

    /// Ends a server's process and starts it again.
    fn restart(&mut self, server: usize);

    fn stop_all(&mut self);

    fn start_all(&mut self);

    /// Starts servers without data at the same addresses, after [`stop_all`](Self::stop_all).
    fn start_empty(&mut self);
}

/// A service under test.
pub struct Trial<S> {
    /// Taken at the end.
    servers: Option<S>,
    timeout: Duration,
    program: std::path::PathBuf,
    folder: TempDir,
    processes: BTreeMap<&'static str, Child>,
}

impl<S> Drop for Trial<S> {
    fn drop(&mut self) {
        for process in self.processes.values_mut() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "processes and servers live in real time")]
fn now() -> Instant {
    Instant::now()
}

impl<S: Servers> Trial<S> {
    /// Step 1. Returns when jobs are done.
    pub fn begin(program: &Path, servers: S, timeout: Duration) -> Trial<S> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut trial = Trial {
            servers: Some(servers),
            timeout,
            program: program.to_owned(),
            folder,
            processes: BTreeMap::new(),
        };
        NAMES.iter().for_each(|name| trial.start(name));
        trial.recovers(0, now(), Duration::from_secs(20));
        trial
    }

    fn servers(&mut self) -> &mut S {
        self.servers.as_mut().expect("the trial has not ended")
    }

    fn start(&mut self, name: &'static str) {
        let transcript =
            File::options().create(true).append(true).open(self.folder.path().join("transcript"));
        let transcript = transcript.expect("the folder is there");
        let process = Command::new(&self.program)
            .args([&self.servers().connect_string(), name])
            .arg(self.folder.path().join("jobs"))
            .env("ZK_SESSION_TIMEOUT_MS", self.timeout.as_millis().to_string())
            .stdout(transcript.try_clone().expect("it is open"))
            .stderr(transcript)
            .spawn()
            .expect("the example is built");
        self.processes.insert(name, process);
    }

    /// Notes in the transcript what was done to a process, or to the servers. Returns the number of lines so far.
    fn notes(&self, what: &str) -> usize {
        let transcript = File::options().append(true).open(self.folder.path().join("transcript"));
        transcript
            .and_then(|mut file| file.write_all(format!("test {what}\n").as_bytes()))
            .expect("it is there");
        self.transcript().lines().len()
    }

    fn transcript(&self) -> Transcript {
        let text = std::fs::read_to_string(self.folder.path().join("transcript"));
        Transcript::new(&text.unwrap_or_default())
    }

    /// The complete lines in the file of jobs: the job, who did it, and the token.
    fn jobs(&self) -> Vec<(String, String, i64)> {
        let text = std::fs::read_to_string(self.folder.path().join("jobs")).unwrap_or_default();
        let parse = |line: &str| {
            let (job, rest) = line.split_once(" by ")?;
            let (name, token) = rest.split_once(" under token 0x")?;
            Some((job.to_owned(), name.to_owned(), i64::from_str_radix(token, 16).ok()?))
        };
        text.lines().map(|line| parse(line).unwrap_or_else(|| panic!("no line is torn: {line:?}"))).collect()
    }

    /// Waits for a condition. Returns after which time it held.
    ///
    /// # Panics
    ///
    /// With the transcript, if it does not hold within the bound.
    #[track_caller]
    fn until(&self, what: &str, bound: Duration, holds: impl Fn(&Transcript) -> bool) -> Duration {
        self.until_since(now(), what, bound, holds)
    }

    /// The same, of a bound that has begun before.
    #[track_caller]
    fn until_since(
        &self,
        begun: Instant,
        what: &str,
        bound: Duration,
        holds: impl Fn(&Transcript) -> bool,
    ) -> Duration {
        while !holds(&self.transcript()) {
            assert!(begun.elapsed() < bound, "not within {bound:?}: {what}\n{}", self.story());
            #[expect(clippy::disallowed_methods, reason = "nobody tells what other processes print")]
            std::thread::sleep(Duration::from_millis(10));
        }
        begun.elapsed()
    }

    fn story(&self) -> String {
        let file = self.jobs().iter().fold(String::new(), |mut text, line| {
            let _ = writeln!(text, "{line:?}");
            text
        });
        format!("{}\nthe file of jobs:\n{file}", self.transcript())
    }

    fn leader(&self) -> &'static str {
        let leader = self.transcript().leader().expect("one leads").to_owned();
        NAMES.into_iter().find(|name| *name == leader).expect("it is one of three")
    }

    /// Step 3: a process leads, within that time since the trouble, and three jobs are done that it puts after that line. Returns
    /// the time to the leader.
    #[track_caller]
    fn recovers(&self, after: usize, since: Instant, bound: Duration) -> Duration {
        let took = self.until_since(since, "a process leads", bound, |told| told.leads_after(after));
        self.until("new jobs are done", bound, |told| told.new_jobs_done(after) >= 3);
        took
    }

    /// Waits until a process has told these things, in this order.
    #[track_caller]
    fn tells(&self, name: &str, after: usize, bound: Duration, story: &[&str]) {
        let what = format!("{name} tells {story:?}");
        self.until(&what, bound, |told| told.missing(name, after, story).is_none());
    }

    /// Waits until a process has logged what the page says.
    #[track_caller]
    fn logs(&self, name: &str, after: usize, bound: Duration, trouble: &str, process: &str) {
        page(trouble, process).iter().for_each(|story| self.tells(name, after, bound, story));
    }

    /// Sends SIGINT.
    fn interrupt(&mut self, name: &'static str) {
        let process = self.processes.get_mut(name).expect("it runs");
        signal("INT", process.id());
    }

    /// Waits for the end of an interrupted process, whose status must be 0.
    #[track_caller]
    fn ended(&mut self, name: &'static str) {
        self.until(&format!("{name} ends"), Duration::from_secs(10), |told| {
            told.missing(name, 0, &["has shut down"]).is_none()
        });
        let mut process = self.processes.remove(name).expect("it ran");
        let status = process.wait().expect("it is a child");
        assert!(status.success(), "{name}: {status}\n{}", self.story());
    }

    /// Steps 4 and 5. `emptied`: how many lines the file had when the servers lost their data. Returns the servers.
    #[track_caller]
    fn ends_well(mut self, emptied: Option<usize>) -> S {
        self.until("every job is done", self.timeout * 4, |told| told.jobs_left().is_empty());
        let names: Vec<_> = self.processes.keys().copied().collect();
        names.iter().for_each(|name| self.interrupt(name));
        names.iter().for_each(|name| self.ended(name));
        let mut wrong = self.transcript().wrong();
        let lines = self.jobs();
        let (before, after) = lines.split_at(emptied.unwrap_or(0));
        wrong.extend(self.wrong_lines(before));
        wrong.extend(self.wrong_lines(after));
        assert!(wrong.is_empty(), "{}\n{}", wrong.join("\n"), self.story());
        self.servers.take().expect("the trial ends once")
    }

    /// What is wrong with lines of the file of jobs, all written while the servers had the same data.
    ///
    /// * A job stands there twice only if the process that wrote it first had trouble before it confirmed it: before its next job
    ///   it died, was stopped, or had to stop its work (`Delivery::AtLeastOnce`).
    /// * Tokens grow. A process that was stopped by SIGSTOP may have been between the look at its hold and the write, and
    ///   then writes one line under its old token when it goes on: only a store that checks tokens can refuse that.
    fn wrong_lines(&self, lines: &[(String, String, i64)]) -> Vec<String> {
        let (told, mut wrong, mut last) = (self.transcript(), Vec::new(), 0);
        for (at, (job, name, token)) in lines.iter().enumerate() {
            let is_repeated = lines[at + 1..].iter().any(|(other, ..)| other == job);
            if is_repeated && !told.had_trouble_after(name, job) {
                wrong
                    .push(format!("{job} is done again, and {name} had no trouble when it was done with it"));
            }
            if *token <= last && !told.is_first_after_stop(name, job) {
                wrong.push(format!("{name} writes {job} under {token:#x} after a line under {last:#x}"));
            }
            last = last.max(*token);
        }
        wrong
    }
}

/// What a process logs, by the page: the events of its session, and the steps of its calls. Two tasks log these, so only each
/// has an order.
fn page(trouble: &str, process: &str) -> [Vec<&'static str>; 2] {
    const PAGE: &str = include_str!("../../../recipes/README.md");
    let mut under = "";
    for line in PAGE.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let &[_, first, who, session, calls, _] = &cells[..] else { continue };
        under = if first.is_empty() { under } else { first };
        if under == trouble && who == process {
            return [session, calls].map(|cell| cell.split('`').skip(1).step_by(2).collect());
        }
    }
    panic!("recipes/README.md has no row of `{process}` for `{trouble}`");
}

/// The leader's process is killed.
pub fn leader_is_killed<S: Servers>(mut trial: Trial<S>) -> S {
    const TROUBLE: &str = "the leader is killed";
    let leader = trial.leader();
    let mut process = trial.processes.remove(leader).expect("it runs");
    let begun = now();
    process.kill().expect("it is a child");
    process.wait().expect("it is a child");
    let at = trial.notes(&format!("killed {leader}"));
    // Its session ends at the first tick behind its timeout; the rest is for a busy machine.
    let bound = trial.timeout * 3;
    let took = trial.recovers(at, begun, bound);
    report(TROUBLE, took, bound);
    let next = trial.leader();
    trial.logs(next, at, bound, TROUBLE, "the next leader, at the end of that session");
    // As a manager of processes would.
    trial.start(leader);
    trial.logs(leader, at, bound, TROUBLE, "the killed one, started again");
    trial.tells(leader, at, bound, &["has done"]);
    trial.ends_well(None)
}

/// The leader's process is stopped for longer than its session lasts, and goes on.
pub fn leader_is_stopped<S: Servers>(trial: Trial<S>) -> S {
    const TROUBLE: &str = "the leader is stopped for longer than its session lasts";
    let leader = trial.leader();
    let (process, begun) = (trial.processes[leader].id(), now());
    signal("STOP", process);
    let at = trial.notes(&format!("stopped {leader}"));
    let bound = trial.timeout * 3;
    let took = trial.recovers(at, begun, bound);
    report(TROUBLE, took, bound);
    let again = trial.notes(&format!("continued {leader}"));
    signal("CONT", process);
    trial.logs(leader, again, bound, TROUBLE, "the stopped one, when it goes on");
    trial.tells(leader, again, bound, &["work begins call=jobs number=2", "has done"]);
    trial.ends_well(None)
}

/// All servers restart, one after the other.
pub fn servers_restart_in_turn<S: Servers>(mut trial: Trial<S>) -> S {
    const TROUBLE: &str = "all servers restart in turn";
    let at = trial.notes("restarts the servers");
    (0..trial.servers().count()).for_each(|server| trial.servers().restart(server));
    let begun = now();
    let back = trial.notes("has restarted the servers");
    let bound = trial.timeout;
    let took = trial.recovers(back, begun, bound);
    report(TROUBLE, took, bound);
    for name in NAMES {
        trial.logs(name, at, bound, TROUBLE, "each; no session ends");
        assert!(trial.transcript().missing(name, at, &["session began"]).is_some(), "{}", trial.story());
    }
    trial.ends_well(None)
}

/// All servers are away for three session timeouts, and come back with their data.
pub fn servers_are_away<S: Servers>(mut trial: Trial<S>) -> S {
    const TROUBLE: &str = "all servers are away for longer than a session lasts";
    let leader = trial.leader();
    let at = trial.notes("stops the servers");
    trial.servers().stop_all();
    let (begun, away) = (now(), trial.timeout * 3);
    trial.until("the outage is over", away * 2, |_| begun.elapsed() >= away);
    trial.logs(leader, at, away, TROUBLE, "the leader");
    assert_eq!(trial.transcript().leader(), None, "{}", trial.story());
    let back = trial.notes("starts the servers");
    trial.servers().start_all();
    let begun = now();
    // Between two attempts there are pauses of seconds.
    let bound = Duration::from_secs(20);
    let took = trial.recovers(back, begun, bound);
    report(TROUBLE, took, bound);
    trial.ends_well(None)
}

/// All servers lose their data.
pub fn servers_come_back_empty<S: Servers>(mut trial: Trial<S>) -> S {
    const TROUBLE: &str = "all servers come back without data";
    let at = trial.notes("stops the servers");
    trial.servers().stop_all();
    for name in NAMES {
        trial.tells(name, at, trial.timeout, &["work stopped call=jobs number=1"]);
    }
    let lines = trial.jobs().len();
    let back = trial.notes(EMPTIES);
    trial.servers().start_empty();
    let (begun, bound) = (now(), Duration::from_secs(20));
    let took = trial.recovers(back, begun, bound);
    report(TROUBLE, took, bound);
    for name in NAMES {
        trial.logs(name, at, bound, TROUBLE, "each");
    }
    trial.ends_well(Some(lines))
}

/// The leader is asked to end. The next one does not wait for the end of a session.
pub fn leader_is_interrupted<S: Servers>(mut trial: Trial<S>) -> S {
    const TROUBLE: &str = "the leader is interrupted";
    let leader = trial.leader();
    let at = trial.notes("interrupts the leader");
    let begun = now();
    trial.interrupt(leader);
    // A session ends no earlier than a timeout after its last ping, and pings leave at every third of it.
    let bound = trial.timeout / 2;
    let took = trial.until_since(begun, "another process leads", bound, |told| {
        told.leads_after(at) && told.leader().is_some_and(|next| next != leader)
    });
    report(TROUBLE, took, bound);
    trial.ended(leader);
    trial.logs(leader, at, bound, TROUBLE, "the leader");
    trial.tells(leader, at, bound, &["work stopped call=jobs number=1 why=shutdown", "has shut down"]);
    trial.recovers(at, now(), bound);
    let next = trial.leader();
    trial.logs(next, at, bound, TROUBLE, "the next leader, at once");
    trial.ends_well(None)
}

fn report(trouble: &str, took: Duration, bound: Duration) {
    println!("{trouble}: a process leads after {took:.2?} (bound {bound:?})");
}
