//! A history as JSON lines: the header, the names, the objects, the events, and a last line that proves completeness.
//!
//! Paths and actors are written as texts. The last line holds the number of events and a hash of all bytes before it. A
//! file without a last line was cut off; a file that does not match its last line was damaged. Neither is ever judged
//! Pass.

use crate::actors::Actors;
use crate::history::{Event, Header, History, Names, OpId, Sym, What};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;
use std::io::{self, BufRead, Write};

/// A history read from JSON lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The history, as far as it was read.
    pub history: History,
    /// The reason why the history is not complete, if it is not: the last line is missing or does not match.
    pub cut: Option<Cut>,
}

/// The reason why a stored history is not complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The last line is missing: the events are valid, and later ones are missing.
    Short,
    /// The last line does not match: the events may be wrong.
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

/// The reason why a history cannot be read: one sentence, with the number of the line.
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
enum Record {
    Header(Header),
    Names(Vec<String>),
    Object(Value),
    End { count: usize, hash: String },
}

/// Writes a history.
pub fn write(history: &History, out: &mut impl Write) -> io::Result<()> {
    let mut out = Hashing { out, hash: Hash::default() };
    write_events(history, &mut out)?;
    let hash = out.hash.text();
    out.line(&Record::End { count: history.events.len(), hash })
}

/// Writes a history that ends too early: [`read`] finds it [cut short](Cut::Short), and no verdict on it is Pass.
pub fn write_short(history: &History, out: &mut impl Write) -> io::Result<()> {
    write_events(history, &mut Hashing { out, hash: Hash::default() })
}

fn write_events<W: Write>(history: &History, out: &mut Hashing<'_, W>) -> io::Result<()> {
    out.line(&Record::Header(history.header.clone()))?;
    out.line(&Record::Names(history.names.iter().map(str::to_owned).collect()))?;
    for object in &history.objects {
        let mut value = serde_json::to_value(object)?;
        if let Value::Object(fields) = &mut value {
            name_path(fields, &history.names);
        }
        out.line(&Record::Object(value))?;
    }
    let actors = Actors::of(&history.header);
    for event in &history.events {
        out.line(&event_to_json(event, &actors, &history.names)?)?;
    }
    Ok(())
}

/// Reads a history.
///
/// # Errors
///
/// If a line cannot be understood, or is out of place. A missing or wrong last line is no error: see [`Stored::cut`].
pub fn read(mut input: impl BufRead) -> Result<Stored, ReadError> {
    let mut text = String::new();
    let mut reader = Reader::default();
    for number in 1.. {
        text.clear();
        let read = input.read_line(&mut text).map_err(|e| ReadError::new(number, e.to_string()))?;
        if read == 0 || reader.line(&text).map_err(|why| ReadError::new(number, why))? {
            let cut = match reader.end {
                LastLine::Missing => Some(Cut::Short),
                LastLine::Matches => None,
                LastLine::Differs(why) => Some(Cut::Damaged(why)),
            };
            let missing = || ReadError::new((number - 1).max(1), "there is no header");
            return reader.history.map(|history| Stored { history, cut }).ok_or_else(missing);
        }
    }
    unreachable!("a file has an end")
}

/// The last line, which says how many events there are.
#[derive(Default, PartialEq, Eq)]
enum LastLine {
    #[default]
    Missing,
    Matches,
    Differs(String),
}

/// The part that was read so far.
#[derive(Default)]
struct Reader {
    history: Option<History>,
    actors: Actors,
    hash: Hash,
    end: LastLine,
}

impl Reader {
    /// Reads a line. Returns whether it is an incomplete line at the end, where the writer was stopped.
    fn line(&mut self, text: &str) -> Result<bool, String> {
        if self.end != LastLine::Missing {
            return Err("nothing may follow the last line".to_owned());
        }
        let mut fields = match serde_json::from_str(text) {
            Ok(Value::Object(fields)) => fields,
            Ok(_) => return Err("a line is a JSON object".to_owned()),
            Err(_) if !text.ends_with('\n') && self.history.is_some() => return Ok(true),
            Err(e) => return Err(format!("this is no JSON: {e}")),
        };
        if fields.contains_key("what") {
            let history = self.history.as_mut().ok_or("an event stands before the header")?;
            let event = event_from_json(fields, &self.actors, &mut history.names)?;
            if history.events.last().is_some_and(|last| last.at > event.at) {
                return Err("this event is earlier than the one before".to_owned());
            }
            history.events.push(event);
        } else {
            if fields.len() != 1 {
                return Err("a line is an event, or has one key".to_owned());
            }
            if let Some(Value::Object(object)) = fields.get_mut("object") {
                let history = self.history.as_mut().ok_or("an object stands before the header")?;
                intern_path(object, &mut history.names)?;
            }
            self.record(serde_json::from_value(Value::Object(fields)).map_err(|e| e.to_string())?)?;
        }
        self.hash.add(text.as_bytes());
        Ok(false)
    }

    fn record(&mut self, record: Record) -> Result<(), String> {
        let Some(history) = &mut self.history else {
            let Record::Header(header) = record else {
                return Err("the first line is the header".to_owned());
            };
            if header.format != 1 {
                return Err(format!("format {} is not known", header.format));
            }
            self.actors = Actors::of(&header);
            self.history = Some(History { header, objects: vec![], names: Names::default(), events: vec![] });
            return Ok(());
        };
        let events = history.events.len();
        match record {
            Record::Header(_) => return Err("a second header".to_owned()),
            Record::End { count, .. } if count != events => {
                self.end =
                    LastLine::Differs(format!("the last line tells of {count} events, there are {events}"));
            }
            Record::End { hash, .. } => {
                self.end = if hash == self.hash.text() {
                    LastLine::Matches
                } else {
                    LastLine::Differs("the hash of the last line does not fit".to_owned())
                };
            }
            _ if events > 0 => return Err("only events and the last line may follow an event".to_owned()),
            Record::Names(names) => names.iter().for_each(|name| {
                history.names.intern(name);
            }),
            Record::Object(value) => {
                history.objects.push(serde_json::from_value(value).map_err(|e| e.to_string())?);
            }
        }
        Ok(())
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

/// The fields that JSON holds as texts.
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

/// A hash that detects accidental cuts and edits: FNV-1a with 128 bits.
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
