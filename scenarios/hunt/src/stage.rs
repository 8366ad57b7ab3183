//! One try while it runs: the ensemble, the processes of its clients, and the remaining steps of the plan.

use crate::clock::now;
use crate::deletes::delete_all;
use crate::held::Held;
use crate::lines::{self, DriverReport, Said};
use crate::plan::{Action, BEGINS, ENDS, Plan, SERVERS, Step, When};
use crate::process::{Pipe, Process, Setting};
use crate::program::CLIENTS;
use anyhow::bail;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, PipeReader};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};
use zk_serve::command::{Command, Refused};
use zk_serve::{Options, Server, parse_duration};

/// The length of a tick of the ensemble.
const TICK: Duration = Duration::from_millis(200);

/// How long the loop waits at most before it checks the processes, and what is held.
const GLANCE: Duration = Duration::from_millis(100);
const LASTING_GLANCE: Duration = Duration::from_millis(20);

/// How long the last lines of a process that has ended may take through the pipe.
const LAST_LINES: Duration = Duration::from_millis(100);

/// The verbs that reply only after they took effect.
const SLOW: [&str; 6] = ["expire", "start", "restart", "resume", "elect", "heal"];

/// A client, with its current process.
pub(crate) struct Client {
    process: Option<Process>,
    session: Option<String>,
    /// The number of sessions so far.
    sessions: u32,
    is_ready: bool,
    pub is_resting: bool,
    pub is_audited: bool,
    /// Another process will start in its place.
    comes_again: bool,
    is_stopped: bool,
    /// Its input has ended; another process starts after this time behind the end of the process, if any.
    ends: Option<Option<Duration>>,
}

impl Client {
    /// Whether the client has no process and none will start.
    pub fn is_gone(&self) -> bool {
        self.process.is_none() && !self.comes_again
    }

    fn is_settled(&self) -> bool {
        self.is_gone() || self.is_resting
    }

    /// Whether it is connected for the first time, and not stopped or told to end since.
    fn is_working(&self) -> bool {
        self.process.is_some() && self.is_ready && !self.is_stopped && self.ends.is_none()
    }
}

/// Reports and commands that the history does not contain.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes {
    /// Errors of libraries, and processes that ended by themselves.
    pub troubles: Vec<String>,
    /// Lines and commands that could not be parsed or carried out.
    pub refused: Vec<String>,
    /// The steps of the plan that were carried out.
    pub struck: Vec<Step>,
}

enum Incoming {
    Line(String),
    Answered { verb: String, answer: Result<Value, Refused> },
    Deleted(anyhow::Result<()>),
}

enum Due {
    Strike(Step),
    Continue(String),
    Start(String),
    /// The process of this client has ended as it was told to, and another one starts after that time.
    Gone(&'static str, Option<Duration>),
}

/// A step that waits for its report.
struct Waiting {
    step: Step,
    seen: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Prepares,
    Goes,
    Rests,
}

/// A try.
pub(crate) struct Stage<'a> {
    pub clients: BTreeMap<&'static str, Client>,
    pub server: Server,
    pub notes: Notes,
    pub is_healed: bool,
    setting: Setting<'a>,
    pipe: Pipe,
    heard: Receiver<Incoming>,
    hears: Sender<Incoming>,
    due: BTreeMap<(Instant, u32), Due>,
    scheduled: u32,
    waiting: Vec<Waiting>,
    phase: Phase,
    /// When the effects of the last executed step are over.
    pub over: Instant,
    held: Held,
    stop: &'a AtomicBool,
}

impl<'a> Stage<'a> {
    /// Starts an ensemble and the processes of all clients.
    pub fn start(
        source: String,
        setting: impl FnOnce(String) -> anyhow::Result<Setting<'a>>,
        stop: &'a AtomicBool,
    ) -> anyhow::Result<Stage<'a>> {
        let options = Options { servers: SERVERS, tick: TICK, source, ..Options::default() };
        let server = Server::start(&options)?;
        let setting = setting(server.connect_string())?;
        let (reader, pipe) = Pipe::new()?;
        let (hears, heard) = mpsc::channel();
        let to = hears.clone();
        std::thread::Builder::new()
            .name("zk-hunt-lines".to_owned())
            .spawn(move || read_lines(reader, &to))?;
        let mut stage = Stage {
            clients: BTreeMap::new(),
            server,
            notes: Notes::default(),
            is_healed: false,
            setting,
            pipe,
            heard,
            hears,
            due: BTreeMap::new(),
            scheduled: 0,
            waiting: Vec::new(),
            phase: Phase::Prepares,
            over: now(),
            held: Held::default(),
            stop,
        };
        for name in &CLIENTS[..stage.setting.scenario.clients] {
            let process = Process::start(&stage.setting, name, &stage.pipe)?;
            let client = Client {
                process: Some(process),
                session: None,
                sessions: 0,
                is_ready: false,
                is_resting: false,
                is_audited: false,
                comes_again: false,
                is_stopped: false,
                ends: None,
            };
            stage.clients.insert(name, client);
        }
        Ok(stage)
    }

    /// Whether all clients are connected.
    pub fn is_ready(&self) -> bool {
        self.clients.values().all(|client| client.is_ready)
    }

    /// Whether every client has come to rest, or is gone.
    pub fn is_settled(&self) -> bool {
        self.clients.values().all(Client::is_settled)
    }

    /// Whether every step was carried out.
    pub fn has_struck(&self) -> bool {
        self.waiting.is_empty() && !self.due.values().any(|due| matches!(due, Due::Strike(_)))
    }

    /// Starts the clients and the plan.
    pub fn go(&mut self, plan: &Plan) {
        self.phase = Phase::Goes;
        let begin = now();
        for step in &plan.steps {
            match step.when {
                When::At(at) => self.schedule(begin + at, Due::Strike(step.clone())),
                When::On { .. } => self.waiting.push(Waiting { step: step.clone(), seen: 0 }),
            }
        }
        self.say("go");
    }

    /// Ends all faults; no further step is carried out.
    pub fn heal(&mut self) {
        self.waiting.clear();
        let due = std::mem::take(&mut self.due);
        // Resumes processes that a step has stopped.
        for due in due.into_values() {
            match due {
                Due::Strike(_) => {}
                Due::Gone(name, again) => {
                    self.carry_out(Due::Gone(name, None));
                    if again.is_some() {
                        self.carry_out(Due::Start(name.to_owned()));
                    }
                }
                Due::Continue(_) | Due::Start(_) => self.carry_out(due),
            }
        }
        self.control("heal", Map::new());
    }

    /// The number of faults that wait for a request that fits.
    pub fn waiting_faults(&self) -> usize {
        let status = self.server.control().perform(Command::Status {}).unwrap_or_default();
        status.get("waiting").and_then(Value::as_array).map_or(0, Vec::len)
    }

    /// Asks the clients to begin no further rounds.
    pub fn rest(&mut self) {
        self.phase = Phase::Rests;
        self.say("rest");
    }

    /// Records that everything is quiet: any client that still waits waits for ever.
    pub fn quiesce(&mut self) {
        self.control("quiesce", Map::new());
    }

    /// Sends a word to all clients.
    pub fn say(&mut self, word: &str) {
        self.clients.values_mut().filter_map(|client| client.process.as_mut()).for_each(|one| one.say(word));
    }

    /// Asks all clients to end, and waits for them until the given time.
    pub fn end(&mut self, until: Instant) -> anyhow::Result<()> {
        self.clients.values_mut().filter_map(|client| client.process.as_mut()).for_each(Process::end);
        self.go_on(until, |stage| stage.clients.values().all(|client| client.process.is_none()))?;
        Ok(())
    }

    /// Runs until that time, or until the condition holds. Returns whether it holds.
    ///
    /// # Errors
    ///
    /// The user has interrupted.
    pub fn go_on(&mut self, until: Instant, is_done: impl Fn(&Self) -> bool) -> anyhow::Result<bool> {
        loop {
            if self.stop.load(Ordering::Relaxed) {
                bail!("interrupted");
            }
            while let Some(entry) = self.due.first_entry().filter(|entry| entry.key().0 <= now()) {
                let due = entry.remove();
                self.carry_out(due);
            }
            self.look_for_ends();
            self.look_for_holds();
            if is_done(self) {
                return Ok(true);
            }
            let at = now();
            if at >= until {
                return Ok(false);
            }
            let next = self.due.first_key_value().map_or(until, |((due, _), _)| until.min(*due));
            match self.heard.recv_timeout(next.saturating_duration_since(at).min(self.glance())) {
                Ok(Incoming::Line(line)) => self.hear(&line),
                Ok(Incoming::Answered { verb, answer }) => {
                    self.is_healed |= verb == "heal";
                    self.note(&verb, answer);
                }
                Ok(Incoming::Deleted(Err(why))) => self.notes.refused.push(format!("delete: {why:#}")),
                Ok(Incoming::Deleted(Ok(()))) => {}
                // Unreachable: this value owns a sender as well.
                Err(_) => {}
            }
        }
    }

    /// Records processes that have ended by themselves.
    fn look_for_ends(&mut self) {
        let mut ended = Vec::new();
        for (name, client) in &mut self.clients {
            if client.process.as_mut().is_some_and(Process::has_ended) {
                client.process = None;
                match client.ends.take() {
                    Some(again) => ended.push((*name, again)),
                    None if self.phase < Phase::Rests || !client.is_audited => {
                        self.notes.troubles.push(format!("{name}: its process has ended by itself"));
                    }
                    None => {}
                }
            }
        }
        for (name, again) in ended {
            self.schedule(now() + LAST_LINES, Due::Gone(name, again));
        }
    }

    fn glance(&self) -> Duration {
        if self.setting.scenario.lasting { LASTING_GLANCE } else { GLANCE }
    }

    /// Notes whose hold is missing, from the first fault until the clients rest.
    fn look_for_holds(&mut self) {
        let scenario = self.setting.scenario;
        if !scenario.lasting || self.phase != Phase::Goes || self.notes.struck.is_empty() {
            return;
        }
        let mut working =
            self.clients.iter().filter(|(_, client)| client.is_working()).map(|(name, _)| *name);
        let missing: BTreeSet<&str> = if scenario.kind == "group" {
            // A member cannot see that its znode is gone; the servers can.
            let there = self.names_below(&scenario.object);
            working.filter(|name| !there.contains(*name)).collect()
        } else if working.any(|name| self.held.is_held_by(name)) {
            BTreeSet::new()
        } else {
            BTreeSet::from([""])
        };
        self.held.look(now(), &missing);
    }

    /// The names of the znodes below a path.
    fn names_below(&self, path: &str) -> BTreeSet<String> {
        let answer = self.server.control().perform(Command::Tree { path: Some(path.to_owned()) });
        let answer = answer.unwrap_or_default();
        let znodes = answer.get("znodes").and_then(Value::as_array).into_iter().flatten();
        let paths = znodes.filter_map(|znode| znode.get("path")?.as_str());
        paths.filter_map(|of| Some(of.strip_prefix(path)?.strip_prefix('/')?.to_owned())).collect()
    }

    /// Whether each process that starts in the place of another one is connected.
    pub fn is_complete(&self) -> bool {
        self.clients.values().all(|client| {
            let starts = client.comes_again || client.process.is_some() && !client.is_ready;
            client.ends.is_some() || !starts
        })
    }

    /// Whether all that is held for as long as clients work was there at the last look, and for so long before.
    pub fn is_held(&self, since: Duration) -> bool {
        self.held.is_complete(since)
    }

    /// The longest time in which a hold was missing.
    pub fn longest_without(&self) -> Duration {
        self.held.longest(now())
    }

    fn schedule(&mut self, at: Instant, due: Due) {
        self.scheduled += 1;
        self.due.insert((at, self.scheduled), due);
    }

    fn carry_out(&mut self, due: Due) {
        match due {
            Due::Strike(step) => self.strike(step),
            Due::Continue(name) => {
                self.tell(&name, "running");
                if let Some(client) = self.clients.get_mut(name.as_str()) {
                    client.is_stopped = false;
                }
                if let Some(process) = self.process(&name) {
                    process.pause(false);
                }
            }
            Due::Gone(name, again) => {
                self.held.ends(name);
                self.tell(name, "gone");
                if let Some(again) = again {
                    self.schedule(now() + again, Due::Start(name.to_owned()));
                }
            }
            Due::Start(name) => {
                let Some((name, client)) = self.clients.iter_mut().find(|(key, _)| ***key == *name) else {
                    return;
                };
                client.comes_again = false;
                client.is_ready = false;
                match Process::start(&self.setting, name, &self.pipe) {
                    Ok(process) => client.process = Some(process),
                    Err(why) => self.notes.troubles.push(format!("{name}: {why:#}")),
                }
            }
        }
    }

    fn process(&mut self, name: &str) -> Option<&mut Process> {
        self.clients.get_mut(name)?.process.as_mut()
    }

    fn strike(&mut self, step: Step) {
        let at = now();
        let mut lasts = Duration::ZERO;
        match step.action.clone() {
            Action::Control { verb, mut fields } => {
                if let Some(Value::String(length)) = fields.get("for") {
                    lasts = parse_duration(length).unwrap_or_default();
                }
                if let Some(Value::String(client)) = fields.get_mut("client") {
                    let current =
                        self.clients.get(client.as_str()).and_then(|of| name_of(client, of.sessions));
                    let Some(current) = current else {
                        self.notes.refused.push(format!("{step}: {client} has no session"));
                        return;
                    };
                    *client = current;
                }
                self.control(&verb, fields);
            }
            Action::StopProcess { client, lasts: length } => {
                lasts = length;
                if let Some(process) = self.process(&client) {
                    process.pause(true);
                    if let Some(of) = self.clients.get_mut(client.as_str()) {
                        of.is_stopped = true;
                    }
                    self.tell(&client, "stopped");
                    self.schedule(at + length, Due::Continue(client));
                }
            }
            Action::KillProcess { client, again } => {
                lasts = again.unwrap_or_default();
                if let Some((name, of)) = self.clients.iter_mut().find(|(key, _)| ***key == *client) {
                    // The process dies here.
                    of.process = None;
                    of.comes_again = again.is_some();
                    self.held.ends(name);
                    self.tell(&client, "gone");
                }
                if let Some(again) = again {
                    self.schedule(at + again, Due::Start(client));
                }
            }
            Action::EndProcess { client, again } => {
                lasts = again.unwrap_or_default();
                if let Some(of) = self.clients.get_mut(client.as_str())
                    && let Some(process) = &mut of.process
                {
                    process.end();
                    of.comes_again = again.is_some();
                    of.ends = Some(again);
                }
            }
            Action::Delete { path } => {
                let (connect_string, hears) = (self.server.connect_string(), self.hears.clone());
                // The receiver may be gone.
                let beside = move || _ = hears.send(Incoming::Deleted(delete_all(&connect_string, &path)));
                if let Err(why) = std::thread::Builder::new().name("zk-hunt-delete".to_owned()).spawn(beside)
                {
                    self.notes.refused.push(format!("no thread can be started: {why}"));
                }
            }
        }
        self.over = self.over.max(at + lasts);
        self.notes.struck.push(step);
    }

    /// Records the state of a client's process. A dead process believes nothing any more, and its calls never return.
    fn tell(&mut self, client: &str, state: &str) {
        let sessions = self.clients.get(client).map_or(0, |of| of.sessions);
        if let Some(called) = name_of(client, sessions) {
            let fields = [("client".to_owned(), called.into()), ("state".to_owned(), state.into())];
            self.control("process", fields.into_iter().collect());
        }
    }

    /// Carries out a verb; a slow verb runs on a thread of its own.
    fn control(&mut self, verb: &str, fields: Map<String, Value>) {
        let command = match Command::read(verb, Value::Object(fields)) {
            Ok(command) => command,
            Err(refused) => return self.note(verb, Err(refused)),
        };
        if !SLOW.contains(&verb) {
            let answer = self.server.control().perform(command);
            return self.note(verb, answer);
        }
        let (control, hears, verb) = (self.server.control().clone(), self.hears.clone(), verb.to_owned());
        // The thread ends with the ensemble at the latest.
        let beside = move || {
            let answer = control.perform(command);
            // The receiver may be gone.
            let _ = hears.send(Incoming::Answered { verb, answer });
        };
        if let Err(why) = std::thread::Builder::new().name("zk-hunt-control".to_owned()).spawn(beside) {
            self.notes.refused.push(format!("no thread can be started: {why}"));
        }
    }

    fn note(&mut self, verb: &str, answer: Result<Value, Refused>) {
        if let Err(refused) = answer {
            self.notes.refused.push(format!("{verb}: {refused}"));
        }
    }

    fn hear(&mut self, line: &str) {
        let (name, said) = match lines::read(line) {
            Ok(read) => read,
            Err(why) => return self.notes.refused.push(why),
        };
        let Some((name, client)) = self.clients.iter_mut().find(|(key, _)| **key == name) else {
            return self.notes.refused.push(format!("{line:?}: there is no such client"));
        };
        let name = *name;
        match said {
            Said::Ready => {
                client.is_ready = true;
                if let Some(process) = &mut client.process {
                    let words: &[&str] = match self.phase {
                        Phase::Prepares => &[],
                        Phase::Goes => &["go"],
                        Phase::Rests => &["go", "rest"],
                    };
                    words.iter().for_each(|word| process.say(word));
                }
            }
            Said::Session(id) => self.opens(name, id),
            Said::Resting => client.is_resting = true,
            Said::Audited => client.is_audited = true,
            Said::Trouble(text) => self.notes.troubles.push(format!("{name}: {text}")),
            Said::Report(told) => self.report(name, &told),
        }
    }

    /// Records a new session: the first has the client's name, each further one a number.
    fn opens(&mut self, name: &'static str, id: String) {
        let Some(client) = self.clients.get_mut(name) else { return };
        if client.session.as_ref() == Some(&id) {
            return;
        }
        client.session = Some(id.clone());
        client.sessions += 1;
        let called = name_of(name, client.sessions);
        let fields = json!({ "client": id, "name": called });
        let answer = Command::read("name", fields).and_then(|command| self.server.control().perform(command));
        self.note("name", answer);
    }

    fn report(&mut self, name: &str, told: &DriverReport) {
        let sessions = self.clients.get(name).map_or(0, |client| client.sessions);
        let Some(called) = name_of(name, sessions) else {
            return self.notes.refused.push(format!("{name} {}: it has reported no session", told.event));
        };
        if let Err(refused) = self.server.control().report(&format!("{called} {} {}", told.event, told.rest))
        {
            self.notes.refused.push(format!("{name} {} {}: {refused}", told.event, told.rest));
        }
        if let Some((name, _)) = self.clients.get_key_value(name) {
            if BEGINS.contains(&told.event.as_str()) {
                self.held.begins(name);
            } else if ENDS.contains(&told.event.as_str()) {
                self.held.ends(name);
            }
        }
        let mut struck = Vec::new();
        self.waiting.retain_mut(|waiting| {
            let When::On { nth, after, .. } = &waiting.step.when else { return false };
            let fits = waiting.step.when.fits(name, &told.event);
            waiting.seen += u32::from(fits);
            let strikes = fits && waiting.seen == *nth;
            if strikes {
                let action = waiting.step.action.about(name);
                struck.push((*after, Step { when: waiting.step.when.clone(), action }));
            }
            !strikes
        });
        for (after, step) in struck {
            if after.is_zero() { self.strike(step) } else { self.schedule(now() + after, Due::Strike(step)) }
        }
    }
}

/// The name of a client's session: `a`, `a~2`, `a~3`.
fn name_of(client: &str, sessions: u32) -> Option<String> {
    match sessions {
        0 => None,
        1 => Some(client.to_owned()),
        _ => Some(format!("{client}~{sessions}")),
    }
}

/// Reads lines until every process has ended.
fn read_lines(reader: PipeReader, to: &Sender<Incoming>) {
    for line in BufReader::new(reader).split(b'\n') {
        let Ok(line) = line else { return };
        let line = String::from_utf8_lossy(&line).trim().to_owned();
        if !line.is_empty() && to.send(Incoming::Line(line)).is_err() {
            return;
        }
    }
}
