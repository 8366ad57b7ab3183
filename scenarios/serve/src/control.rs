//! The control of an ensemble: in the same process, and over HTTP.

use crate::command::{ACTIONS, Command, QUESTIONS, Refused, Report};
use crate::recorder::{Listener, Recorder};
use crate::verdict::Judged;
use mio::Waker;
use serde_json::{Map, Value, json};
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;
use std::time::Duration;
use tiny_http::{Header, Method, Request, Response, Server};
use zk_checker::history::History;

/// The result of a command.
pub(crate) type CommandResult = Result<Value, Refused>;

/// How long the end of the ensemble waits for answers that are being written. It does not wait longer for a client that
/// reads none.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// How long an undecided verdict is awaited, and how often it is checked.
const DECIDES: Duration = Duration::from_secs(4);
const LOOKS_EVERY: Duration = Duration::from_millis(100);

/// The longest body of a request, in bytes.
const LONGEST_BODY: u64 = 1 << 20;

/// A command to the loop, and the receiver of its answer.
pub(crate) struct Order {
    pub command: Command,
    pub answer: Option<Sender<CommandResult>>,
}

/// The control of a running ensemble. Clones control the same one.
#[derive(Clone)]
pub struct Control {
    orders: Sender<Order>,
    waker: Arc<Waker>,
    recorder: Recorder,
}

impl Control {
    pub(crate) fn new(orders: Sender<Order>, waker: Arc<Waker>, recorder: Recorder) -> Self {
        Control { orders, waker, recorder }
    }

    /// Carries out a command, and waits for its effect.
    ///
    /// # Errors
    ///
    /// If the command is invalid, or the ensemble no longer runs (503).
    pub fn perform(&self, command: Command) -> Result<Value, Refused> {
        let gone = || Refused::new(503, "the ensemble has stopped");
        let (answer, answers) = mpsc::channel();
        self.orders.send(Order { command, answer: Some(answer) }).map_err(|_| gone())?;
        self.waker.wake().map_err(|_| gone())?;
        answers.recv().map_err(|_| gone())?
    }

    /// Records a report given as a line of text, as [`command::Report::from_line`](crate::command::Report::from_line)
    /// reads it, and waits until it is in the history.
    ///
    /// # Errors
    ///
    /// As for [`perform`](Self::perform).
    pub fn report(&self, line: &str) -> Result<(), Refused> {
        self.perform(Command::Report(Report::from_line(line)?)).map(drop)
    }

    /// The events so far, as far as they are kept.
    pub fn history(&self) -> History {
        self.look();
        self.recorder.kept().history
    }

    /// Writes the history so far as JSON lines. If some events are not kept, the file is marked as cut short, so that
    /// no reader takes it for the whole.
    ///
    /// # Errors
    ///
    /// Errors of `out`.
    pub fn write_history(&self, out: &mut impl Write) -> io::Result<()> {
        self.look();
        let kept = self.recorder.kept();
        if kept.is_cut {
            zk_checker::jsonl::write_short(&kept.history, out)
        } else {
            zk_checker::jsonl::write(&kept.history, out)
        }
    }

    /// The verdict so far. [Undecided](Judged::undecided) promises count neither as kept nor as broken.
    pub fn verdict(&self) -> Judged {
        self.look();
        self.recorder.verdict(false)
    }

    /// The final verdict, after waiting for promises that the passing of time alone can break, such as a session expiry
    /// that its client ignores. Usually there is no wait, and it never exceeds a few seconds. Promises that are still
    /// undecided then are excused, since their clients have not learned of the end of their sessions.
    pub fn decided(&self) -> Judged {
        for _ in 0..DECIDES.as_millis() / LOOKS_EVERY.as_millis() {
            let runs = self.look();
            if !runs || self.recorder.verdict(false).undecided().is_empty() {
                break;
            }
            pause(LOOKS_EVERY);
        }
        self.recorder.verdict(true)
    }

    /// Lets the loop catch up with the clock. Returns whether it still runs; after its end the time does not advance.
    fn look(&self) -> bool {
        self.perform(Command::Look {}).is_ok()
    }

    /// Passes each sentence about abandoned work to a listener.
    pub(crate) fn on_given_up(&self, listener: Listener) {
        self.recorder.on_given_up(listener);
    }
}

#[expect(clippy::disallowed_methods, reason = "the ensemble lives in real time")]
fn pause(time: Duration) {
    std::thread::sleep(time);
}

/// The control API over HTTP. Each request has its own thread, since an answer may wait for an election that only
/// another request makes possible. Dropping it ends it.
pub(crate) struct Http {
    server: Arc<Server>,
    thread: Option<JoinHandle<()>>,
    /// Disconnects when no request is being answered.
    answered: Receiver<()>,
}

impl Http {
    pub fn listen(address: SocketAddr, control: Control) -> io::Result<Http> {
        let server = Arc::new(Server::http(address).map_err(io::Error::other)?);
        let serving = server.clone();
        let (answering, answered) = mpsc::channel();
        let serve = move || {
            for request in serving.incoming_requests() {
                answer_beside(request, control.clone(), answering.clone());
            }
        };
        let thread = std::thread::Builder::new().name("zk-serve-control".to_owned()).spawn(serve)?;
        Ok(Http { server, thread: Some(thread), answered })
    }

    pub fn address(&self) -> Option<SocketAddr> {
        self.server.server_addr().to_ip()
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        self.server.unblock();
        if let Some(thread) = self.thread.take() {
            // A panicking thread has printed its message.
            let _ = thread.join();
        }
        // Returns when the last request is answered; nothing is ever sent.
        let _ = self.answered.recv_timeout(LAST_ANSWERS);
    }
}

/// Answers a request on its own thread. `answering` is dropped with the answer.
fn answer_beside(request: Request, control: Control, answering: Sender<()>) {
    let beside = move || {
        answer(request, &control);
        drop(answering);
    };
    // Without a thread the request is dropped, which answers it with status 500.
    let _ = std::thread::Builder::new().name("zk-serve-answer".to_owned()).spawn(beside);
}

/// The body of an answer, with its type.
enum Body {
    Json(Value),
    Lines(Vec<u8>),
}

fn answer(mut request: Request, control: &Control) {
    let (status, body) = match carry_out(&mut request, control) {
        Ok(body) => (200, body),
        Err(refused) => (refused.status, Body::Json(refused.body())),
    };
    let (kind, bytes) = match body {
        Body::Json(value) => ("application/json", format!("{value}\n").into_bytes()),
        Body::Lines(bytes) => ("application/x-ndjson", bytes),
    };
    let header = Header::from_bytes("Content-Type", kind).expect("a plain header");
    // The client may have disconnected.
    let _ = request.respond(Response::from_data(bytes).with_status_code(status).with_header(header));
}

fn carry_out(request: &mut Request, control: &Control) -> Result<Body, Refused> {
    let url = request.url().to_owned();
    let (path, query) = url.split_once('?').unwrap_or((&url, ""));
    let verb = path.trim_start_matches('/');
    let asks = QUESTIONS.contains(&verb);
    match request.method() {
        Method::Get if asks => {}
        Method::Post if !asks => {}
        _ if asks => return Err(Refused::new(405, format!("{verb} is a question: GET it"))),
        Method::Get if verb.is_empty() => {
            return Ok(Body::Json(json!({ "questions": QUESTIONS, "verbs": ACTIONS })));
        }
        // The refusal of an unknown verb lists all verbs.
        _ if !ACTIONS.contains(&verb) => return Err(Command::unknown(verb)),
        _ => return Err(Refused::new(405, format!("{verb} does something: POST it"))),
    }
    match verb {
        "history" => {
            let mut lines = Vec::new();
            control
                .write_history(&mut lines)
                .map_err(|why| Refused::new(500, format!("the history cannot be written: {why}")))?;
            return Ok(Body::Lines(lines));
        }
        "verdict" => {
            let judged = match from_query(query)["wait"].as_str() {
                Some("true") => control.decided(),
                None | Some("false") => control.verdict(),
                Some(other) => {
                    return Err(Refused::new(400, format!("verdict: {other:?} is neither true nor false")));
                }
            };
            return Ok(Body::Json(judged.answer()));
        }
        _ => {}
    }
    let fields = if asks { from_query(query) } else { from_body(request)? };
    if verb == "report"
        && let Value::String(lines) = &fields
    {
        for report in reports_of(lines) {
            control.perform(report?)?;
        }
        return Ok(Body::Json(json!({})));
    }
    Ok(Body::Json(control.perform(Command::read(verb, fields)?)?))
}

/// The fields of a question in a URL.
pub(crate) fn from_query(query: &str) -> Value {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    Value::Object(pairs.map(|(key, value)| (key.to_owned(), unescaped(value).into())).collect::<Map<_, _>>())
}

/// Decodes the escapes in a value of a URL.
fn unescaped(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match (first, hex.and_then(|digits| u8::from_str_radix(digits, 16).ok())) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            (byte, _) => {
                bytes.push(*byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads the body of a request.
fn from_body(request: &mut Request) -> Result<Value, Refused> {
    let mut body = String::new();
    let read = request.as_reader().take(LONGEST_BODY + 1).read_to_string(&mut body);
    read.map_err(|why| Refused::new(400, format!("the body cannot be read: {why}")))?;
    if body.len() as u64 > LONGEST_BODY {
        return Err(Refused::new(413, format!("a body has at most {LONGEST_BODY} bytes")));
    }
    fields_of(body)
}

/// The fields of a verb; a body that is no JSON is one text.
pub(crate) fn fields_of(body: String) -> Result<Value, Refused> {
    let text = body.trim();
    if text.is_empty() {
        return Ok(json!({}));
    }
    if !text.starts_with(['{', '[', '"']) {
        return Ok(Value::String(body));
    }
    serde_json::from_str(text).map_err(|why| Refused::new(400, format!("the body is not JSON: {why}")))
}

/// The reports of a body, one per line.
pub(crate) fn reports_of(lines: &str) -> impl Iterator<Item = Result<Command, Refused>> {
    let lines = lines.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| Report::from_line(line).map(Command::Report))
}
