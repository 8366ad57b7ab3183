//! A history as JSON lines: the header, the names, the objects, the events, and a last line that proves that nothing is
//! missing.
//!
//! Paths and actors stand there as texts. The last line holds the number of events and a hash of all bytes before it;
//! a file without it was cut off, one that it does not fit was damaged, and neither is ever judged Pass.

use crate::actors::Actors;
use crate::history::{Event, Header, History, Names, Object, OpId, Sym, What};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;
use std::io::{self, BufRead, Write};

/// A history that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// As far as it goes.
    pub history: History,
    /// Why it is not whole, if it is not: no last line, or one that does not fit what stands before it.
    pub cut: Option<Cut>,
}

/// Why a stored history is not whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cut {
    /// There is no last line: what is there did happen, and what followed is missing.
    Short,
    /// The last line does not fit: what is there may be anything.
    Damaged(String),
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cut::Short => f.write_str("the last line is missing"),
            Cut::Damaged(why) => f.write_str(why),
        }
    }
}

/// Why a history cannot be read: one sentence, with the number of the line.
#[derive(Debug)]
pub struct ReadError {
    line: usize,
    why: String,
}

impl ReadError {
    pub(crate) fn new(line: usize, why: impl Into<String>) -> ReadError {
        ReadError { line, why: why.into() }
    }

    /// The line, from 1.
    pub fn line(&self) -> usize {
        self.line
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

impl std::error::Error for ReadError {}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Header(Header),
    Names(Vec<String>),
    Object(Value),
    End { count: usize, hash: String },
}

/// Writes a history.
pub fn write(history: &History, out: &mut impl Write) -> io::Result<()> {
    let mut out = Hashing { out, hash: Hash::default() };
    out.line(&Line::Header(history.header.clone()))?;
    out.line(&Line::Names(history.names.iter().map(str::to_owned).collect()))?;
    for object in &history.objects {
        let mut value = serde_json::to_value(object)?;
        if let Value::Object(fields) = &mut value {
            name_path(fields, &history.names);
        }
        out.line(&Line::Object(value))?;
    }
    let actors = Actors::of(&history.header);
    for event in &history.events {
        out.line(&event_to_json(event, &actors, &history.names)?)?;
    }
    let hash = out.hash.text();
    out.line(&Line::End { count: history.events.len(), hash })
}

/// Reads a history.
///
/// # Errors
///
/// If a line cannot be understood, or does not stand where it may. A missing or wrong last line is no error: see
/// [`Stored::cut`].
pub fn read(mut input: impl BufRead) -> Result<Stored, ReadError> {
    let mut text = String::new();
    let mut hash = Hash::default();
    let mut number = 0;
    let mut history: Option<History> = None;
    let mut actors = Actors::default();
    let mut cut = Some(Cut::Short);
    let mut ended = false;
    loop {
        text.clear();
        let read = input.read_line(&mut text).map_err(|e| ReadError::new(number + 1, e.to_string()))?;
        if read == 0 {
            break;
        }
        number += 1;
        let fail = |why: String| ReadError::new(number, why);
        if ended {
            return Err(fail("nothing may follow the last line".to_owned()));
        }
        let value: Value = match serde_json::from_str(&text) {
            Ok(value) => value,
            // Half a line at the very end is where the writer was stopped.
            Err(_) if !text.ends_with('\n') && history.is_some() => break,
            Err(e) => return Err(fail(format!("this is no JSON: {e}"))),
        };
        let Value::Object(mut fields) = value else { return Err(fail("a line is a JSON object".to_owned())) };
        if fields.contains_key("what") {
            let history =
                history.as_mut().ok_or_else(|| fail("an event stands before the header".to_owned()))?;
            let event = event_from_json(fields, &actors, &mut history.names).map_err(fail)?;
            if history.events.last().is_some_and(|last| last.at > event.at) {
                return Err(fail("this event is earlier than the one before".to_owned()));
            }
            history.events.push(event);
        } else {
            if fields.len() != 1 {
                return Err(fail("a line is an event, or has one key".to_owned()));
            }
            if let Some(Value::Object(object)) = fields.get_mut("object") {
                let history =
                    history.as_mut().ok_or_else(|| fail("an object stands before the header".to_owned()))?;
                intern_path(object, &mut history.names).map_err(fail)?;
            }
            match serde_json::from_value(Value::Object(fields)).map_err(|e| fail(e.to_string()))? {
                Line::Header(header) => {
                    if history.is_some() {
                        return Err(fail("a second header".to_owned()));
                    }
                    if header.format != 1 {
                        return Err(fail(format!("format {} is not known", header.format)));
                    }
                    actors = Actors::of(&header);
                    history =
                        Some(History { header, objects: vec![], names: Names::default(), events: vec![] });
                }
                line => {
                    let history =
                        history.as_mut().ok_or_else(|| fail("the first line is the header".to_owned()))?;
                    match line {
                        Line::End { count, hash: told } => {
                            ended = true;
                            cut = match () {
                                () if count != history.events.len() => Some(Cut::Damaged(format!(
                                    "the last line tells of {count} events, there are {}",
                                    history.events.len()
                                ))),
                                () if told != hash.text() => {
                                    Some(Cut::Damaged("the hash of the last line does not fit".to_owned()))
                                }
                                () => None,
                            };
                        }
                        _ if !history.events.is_empty() => {
                            return Err(fail("only events and the last line may follow an event".to_owned()));
                        }
                        Line::Names(names) => names.iter().for_each(|name| {
                            history.names.intern(name);
                        }),
                        Line::Object(value) => {
                            let object: Object =
                                serde_json::from_value(value).map_err(|e| fail(e.to_string()))?;
                            history.objects.push(object);
                        }
                        Line::Header(_) => unreachable!("headers are handled above"),
                    }
                }
            }
        }
        hash.add(text.as_bytes());
    }
    match history {
        Some(history) => Ok(Stored { history, cut }),
        None => Err(ReadError::new(number.max(1), "there is no header")),
    }
}

fn event_to_json(event: &Event, actors: &Actors, names: &Names) -> io::Result<Value> {
    let mut fields = Map::new();
    fields.insert("at".to_owned(), event.at.into());
    fields.insert("who".to_owned(), actors.who(event.who).into());
    if event.op != OpId(0) {
        fields.insert("op".to_owned(), event.op.0.into());
    }
    if let Value::Object(mut what) = serde_json::to_value(event.what)? {
        name_path(&mut what, names);
        fields.append(&mut what);
    }
    Ok(Value::Object(fields))
}

fn event_from_json(
    mut fields: Map<String, Value>,
    actors: &Actors,
    names: &mut Names,
) -> Result<Event, String> {
    let at = fields.remove("at").and_then(|at| at.as_u64()).ok_or("an event has a time")?;
    let op = match fields.remove("op") {
        None => 0,
        Some(op) => op.as_u64().and_then(|op| u32::try_from(op).ok()).ok_or("an operation is a number")?,
    };
    let who = fields.remove("who");
    let who = who.as_ref().and_then(Value::as_str).ok_or("an event says who did it")?;
    let who = actors.who_of(who).ok_or_else(|| format!("{who:?} is nobody"))?;
    intern_path(&mut fields, names)?;
    let what: What = serde_json::from_value(Value::Object(fields)).map_err(|e| e.to_string())?;
    Ok(Event { at, op: OpId(op), who, what })
}

/// The fields of an event or an object that stand as texts.
const TEXTS: [&str; 2] = ["path", "text"];

fn name_path(fields: &mut Map<String, Value>, names: &Names) {
    for field in TEXTS {
        let Some(path) = fields.get_mut(field) else { continue };
        let sym = path.as_u64().and_then(|sym| u32::try_from(sym).ok()).map(Sym);
        if let Some(text) = sym.and_then(|sym| names.get(sym)) {
            *path = text.into();
        }
    }
}

fn intern_path(fields: &mut Map<String, Value>, names: &mut Names) -> Result<(), String> {
    for field in TEXTS {
        if let Some(path) = fields.get_mut(field) {
            let text = path.as_str().ok_or_else(|| format!("a {field} is a text"))?;
            *path = names.intern(text).0.into();
        }
    }
    Ok(())
}

struct Hashing<'a, W> {
    out: &'a mut W,
    hash: Hash,
}

impl<W: Write> Hashing<'_, W> {
    fn line(&mut self, line: &impl Serialize) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.hash.add(&text);
        self.out.write_all(&text)
    }
}

/// FNV-1a with 128 bits: enough to see that a file was cut or edited by accident.
struct Hash(u128);

impl Default for Hash {
    fn default() -> Hash {
        Hash(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Hash {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u128::from(*byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    }

    fn text(&self) -> String {
        format!("{:032x}", self.0)
    }
}
