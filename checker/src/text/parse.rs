//! Reading the text form.

use super::manner_flags;
use crate::digest::Digest;
use crate::history::{
    Budget, Conn, Event, Header, History, Kind, Mode, Names, Object, ObjectId, OnSuspect, OpId, ReqId,
    SYNC_LIMIT, Session, Sym, Victim, WatchMode, What,
};
use crate::jsonl::ReadError;
use crate::parties::{self, Parties};
use crate::words::Word;

/// Reads what [`write`](super::write) writes, and shorter texts of the same grammar.
///
/// # Errors
///
/// If a line cannot be understood.
pub fn parse(text: &str) -> Result<History, ReadError> {
    let mut reader = Reader { history: empty(), parties: Parties::default(), open_clients: true };
    for (at, line) in text.lines().enumerate() {
        reader.line(line).map_err(|why| ReadError::new(at + 1, why))?;
    }
    Ok(reader.history)
}

/// Whether reading the text of a history gives the same symbols without being told the table of names.
pub(super) fn interns_alike(history: &History) -> bool {
    let mut seen = Names::default();
    let mut alike = true;
    let mut meet = |sym: Sym| match history.names.get(sym) {
        Some(text) => alike &= seen.intern(text) == sym,
        None => alike = false,
    };
    history.objects.iter().for_each(|object| meet(object.path));
    history.events.iter().filter_map(|event| event.what.sym()).for_each(meet);
    alike && seen.iter().len() == history.names.iter().len()
}

fn empty() -> History {
    History {
        header: Header {
            format: 1,
            mode: Mode::Sim,
            clients: Vec::new(),
            tick: 500_000,
            timeout: 4_000_000,
            election: 0,
            round_trip: 2_000,
            settle: 1_000,
            sync_limit: SYNC_LIMIT,
            faults_recorded: false,
            source: String::new(),
        },
        objects: Vec::new(),
        names: Names::default(),
        events: Vec::new(),
    }
}

struct Reader {
    history: History,
    parties: Parties,
    /// Whether clients are numbered as they come.
    open_clients: bool,
}

type Read<T> = Result<T, String>;

impl Reader {
    fn line(&mut self, line: &str) -> Read<()> {
        let words = split(line)?;
        let Some(first) = words.first() else { return Ok(()) };
        if first.quoted {
            return Err("a line begins with a time, or with a word that declares something".to_owned());
        }
        let mut rest = Words { words: &words[1..] };
        match first.text.as_str() {
            text if text.starts_with('#') => Ok(()),
            "run" => self.run(rest),
            "names" => {
                for name in rest.words {
                    self.history.names.intern(&name.text);
                }
                Ok(())
            }
            word if Kind::of(word).is_some() => self.object(word, rest),
            time => {
                let at = micros(time)?;
                let event = self.event(at, &mut rest)?;
                rest.end()?;
                self.history.events.push(event);
                Ok(())
            }
        }
    }

    fn run(&mut self, mut rest: Words<'_>) -> Read<()> {
        let header = &mut self.history.header;
        header.mode = rest.word("sim or client")?;
        while let Some(key) = rest.maybe() {
            match key.as_str() {
                "format" => header.format = rest.number("a format")?,
                "tick" => header.tick = rest.micros()?,
                "timeout" => header.timeout = rest.micros()?,
                "election" => header.election = rest.micros()?,
                "round_trip" => header.round_trip = rest.micros()?,
                "settle" => header.settle = rest.micros()?,
                "sync_limit" => header.sync_limit = rest.number("ticks")?,
                "faults_recorded" => header.faults_recorded = true,
                "source" => header.source = rest.next("a source")?,
                "clients" => {
                    header.clients = rest.words.iter().map(|word| word.text.clone()).collect();
                    self.parties = Parties::of(header);
                    self.open_clients = false;
                    rest.words = &[];
                }
                other => return Err(format!("{other:?} says nothing of a run")),
            }
        }
        Ok(())
    }

    fn object(&mut self, kind: &str, mut rest: Words<'_>) -> Read<()> {
        let kind = Kind::of(kind).ok_or("an object is of a kind")?;
        let path = self.path(&mut rest)?;
        let mut object = Object::plain(kind, path);
        while let Some(key) = rest.maybe() {
            match key.as_str() {
                "margin" => object.margin = rest.micros()?,
                "fenced" => object.fenced = true,
                "size" => object.size = rest.number("how many")?,
                "grace" => object.manner.grace = rest.micros()?,
                "budget" => {
                    object.budget = Budget {
                        free_acquire: rest.number("requests")?,
                        free_round_trips: rest.number("round trips")?,
                        release: rest.number("requests")?,
                        per_wake_up: rest.number("requests")?,
                    }
                }
                word => match OnSuspect::of(word) {
                    Some(policy) => object.on_suspect = policy,
                    None => {
                        match manner_flags(&mut object.manner).into_iter().find(|(flag, _)| *flag == word) {
                            Some((_, flag)) => *flag = true,
                            None => return Err(format!("{word:?} says nothing of an object")),
                        }
                    }
                },
            }
        }
        self.history.objects.push(object);
        Ok(())
    }

    fn event(&mut self, at: u64, rest: &mut Words<'_>) -> Read<Event> {
        let who = rest.next("who did it")?;
        if self.open_clients && parties::is_plain(&who) && !self.parties.has(&who) {
            self.parties.add(&who);
            self.history.header.clients.push(who.clone());
        }
        let who = self.parties.who_of(&who).ok_or_else(|| format!("{who:?} is nobody"))?;
        let mut word = rest.next("what happened")?;
        let mut op = OpId(0);
        let mut verb = None;
        if let Some((before, number)) = word.split_once('#') {
            op = OpId(number.parse().map_err(|_| format!("{number:?} is no operation"))?);
            verb = Word::of(before);
            word = rest.next("what happened")?;
        }
        let what = match word.as_str() {
            "call" => What::Call {
                object: self.object_id(rest)?,
                verb: verb.ok_or("a call stands as verb#number")?,
                limit: match rest.flag("limit") {
                    true => u32::try_from(rest.micros()?).map_err(|_| "this limit is too long")?,
                    false => 0,
                },
            },
            "return" => What::Return { outcome: rest.word("an outcome")? },
            "believe" => What::Believe {
                object: self.object_id(rest)?,
                session: rest.session()?,
                token: rest.after("token")?.hex()?,
            },
            "unbelieve" => What::Unbelieve { why: rest.word("why")? },
            "resource" => What::Resource {
                object: self.object_id(rest)?,
                token: rest.after("token")?.hex()?,
                accepted: match rest.next("accepted or rejected")?.as_str() {
                    "accepted" => true,
                    "rejected" => false,
                    other => return Err(format!("{other:?} is neither accepted nor rejected")),
                },
            },
            "given" => What::Given { text: self.path(rest)?, number: rest.hex()? },
            "observed" => What::Observed {
                object: self.object_id(rest)?,
                seen: rest.word("something that is seen")?,
                text: self.path(rest)?,
                number: rest.hex()?,
            },
            "sleep" => What::Sleep { until: rest.after("until")?.micros()?, deadline: rest.flag("deadline") },
            "send" => {
                let (req, kind) = (rest.request()?, rest.word("a request")?);
                let path = self.path(rest)?;
                What::Send { req, kind, path, watch: rest.flag("watch"), cleanup: rest.flag("cleanup") }
            }
            "expects" => What::Expects {
                version: rest.next("a version")?.parse().map_err(|_| "a version is a number")?,
            },
            "reply" => What::Reply {
                req: rest.request()?,
                code: rest.word("a code")?,
                zxid: rest.hex()?,
                conn: rest.conn()?,
            },
            "made" => What::Made { path: self.path(rest)?, czxid: rest.hex()? },
            "lost" => What::Lost { req: rest.request()? },
            "notice" => What::Notice {
                session: rest.session()?,
                kind: rest.word("a notification")?,
                path: self.path(rest)?,
                conn: rest.conn()?,
            },
            "state" => What::State {
                session: rest.session()?,
                state: rest.word("a state")?,
                conn: rest.conn()?,
                server: match rest.flag("server") {
                    true => rest.small("a server")?,
                    false => 0,
                },
            },
            "txn" => What::Txn {
                zxid: rest.hex()?,
                session: rest.session()?,
                kind: rest.word("a request")?,
                code: rest.word("a code")?,
            },
            "created" => What::Created { zxid: rest.hex()?, path: self.path(rest)?, owner: rest.session()? },
            "deleted" => {
                What::Deleted { zxid: rest.hex()?, path: self.path(rest)?, by: rest.after("by")?.session()? }
            }
            "written" => What::Written { zxid: rest.hex()?, path: self.path(rest)? },
            "restricted" => What::Restricted { zxid: rest.hex()?, path: self.path(rest)? },
            "data" => What::Data { length: rest.number("bytes")?, digest: rest.hex()? },
            "applied" => What::Applied { zxid: rest.hex()? },
            "served" => What::Served { req: rest.request()?, zxid: rest.hex()?, conn: rest.conn()? },
            "found" => What::Found {
                read: rest.word("a read")?,
                code: rest.word("a code")?,
                path: self.path(rest)?,
                digest: Digest { content: rest.half()?, stat: rest.half()? },
            },
            "barrier" => What::Barrier { session: rest.session()?, req: rest.request()?, zxid: rest.hex()? },
            "arm" => What::Arm {
                session: rest.session()?,
                table: rest.word("a table")?,
                path: self.path(rest)?,
                conn: rest.conn()?,
                mode: match rest.words.is_empty() {
                    true => WatchMode::OneShot,
                    false => rest.word("a mode of watches")?,
                },
            },
            "fire" => What::Fire {
                session: rest.session()?,
                kind: rest.word("a notification")?,
                path: self.path(rest)?,
                zxid: rest.half()?,
                conn: rest.conn()?,
            },
            "disarm" => What::Disarm {
                session: rest.session()?,
                table: rest.word("a table")?,
                path: self.path(rest)?,
                conn: rest.conn()?,
            },
            "attached" => What::Attached { session: rest.session()?, conn: rest.conn()? },
            "turned_away" => What::TurnedAway { session: rest.session()?, seen: rest.hex()? },
            "moved" => What::Moved { session: rest.session()?, zxid: rest.hex()? },
            "elected" => What::Elected { epoch: rest.number("an epoch")? },
            "serving" => What::Serving,
            "ceased" => What::Ceased,
            "opened" => What::Opened {
                session: rest.session()?,
                timeout: rest.after("timeout")?.number("milliseconds")?,
                zxid: rest.hex()?,
            },
            "marked" => What::Marked { session: rest.session()?, heard: rest.after("heard")?.micros()? },
            "ended" => What::Ended { session: rest.session()?, zxid: rest.hex()? },
            "fault" => What::Fault {
                kind: rest.word("a fault")?,
                victim: self.victim(rest)?,
                lasts: match rest.flag("lasts") {
                    true => rest.micros()?,
                    false => 0,
                },
            },
            "mended" => What::Mended { kind: rest.word("a fault")?, victim: self.victim(rest)? },
            "crash" => What::Crash { client: self.client(rest)? },
            "start" => What::Start { client: self.client(rest)? },
            "heal" => What::Heal,
            "quiesce" => What::Quiesce,
            "stopped" => What::Stopped,
            "left" => {
                What::Left { object: self.object_id(rest)?, path: self.path(rest)?, owner: rest.session()? }
            }
            other => return Err(format!("{other:?} is no event")),
        };
        Ok(Event { at, op, who, what })
    }

    fn path(&mut self, rest: &mut Words<'_>) -> Read<Sym> {
        let word = rest.take("a path")?;
        if let (false, Some(number)) = (word.quoted, word.text.strip_prefix("sym:")) {
            return number.parse().map(Sym).map_err(|_| format!("{number:?} is no symbol"));
        }
        Ok(self.history.names.intern(&word.text))
    }

    fn object_id(&mut self, rest: &mut Words<'_>) -> Read<ObjectId> {
        let word = rest.take("an object")?;
        if let (false, Some(number)) = (word.quoted, word.text.strip_prefix("object:")) {
            return number.parse().map(ObjectId).map_err(|_| format!("{number:?} is no object"));
        }
        let History { objects, names, .. } = &self.history;
        let at = objects.iter().position(|object| names.get(object.path) == Some(&word.text));
        let at = at.and_then(|at| u16::try_from(at).ok());
        at.map(ObjectId).ok_or_else(|| format!("{:?} is not declared", word.text))
    }

    fn client(&mut self, rest: &mut Words<'_>) -> Read<u16> {
        let name = rest.next("a client")?;
        self.parties.client_of(&name).ok_or_else(|| format!("{name:?} is no client"))
    }

    fn victim(&mut self, rest: &mut Words<'_>) -> Read<Victim> {
        let name = rest.next("whom")?;
        self.parties.victim_of(&name).ok_or_else(|| format!("{name:?} is no victim"))
    }
}

struct Token {
    text: String,
    quoted: bool,
}

struct Words<'a> {
    words: &'a [Token],
}

impl<'a> Words<'a> {
    fn take(&mut self, wanted: &str) -> Read<&'a Token> {
        let (first, rest) = self.words.split_first().ok_or_else(|| format!("{wanted} is missing"))?;
        self.words = rest;
        Ok(first)
    }

    fn next(&mut self, wanted: &str) -> Read<String> {
        self.take(wanted).map(|token| token.text.clone())
    }

    fn maybe(&mut self) -> Option<String> {
        self.next("").ok()
    }

    fn flag(&mut self, flag: &str) -> bool {
        let is = self.words.first().is_some_and(|word| word.text == flag);
        if is {
            self.words = &self.words[1..];
        }
        is
    }

    fn after(&mut self, key: &str) -> Read<&mut Self> {
        if self.flag(key) { Ok(self) } else { Err(format!("{key:?} is missing")) }
    }

    fn word<W: Word>(&mut self, wanted: &str) -> Read<W> {
        let word = self.next(wanted)?;
        W::of(&word).ok_or_else(|| format!("{word:?} is not {wanted}"))
    }

    fn number(&mut self, wanted: &str) -> Read<u32> {
        let word = self.next(wanted)?;
        word.parse().map_err(|_| format!("{word:?} is not a number of {wanted}"))
    }

    fn hex(&mut self) -> Read<u64> {
        let word = self.next("a number")?;
        let read = match word.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => word.parse(),
        };
        read.map_err(|_| format!("{word:?} is no number"))
    }

    /// A number of 32 bits.
    fn half(&mut self) -> Read<u32> {
        u32::try_from(self.hex()?).map_err(|_| "this number is too large".to_owned())
    }

    fn small<T: std::str::FromStr>(&mut self, wanted: &str) -> Read<T> {
        let word = self.next(wanted)?;
        word.parse().map_err(|_| format!("{word:?} is not the number of {wanted}"))
    }

    fn conn(&mut self) -> Read<Conn> {
        if self.flag("conn") { self.small("a connection").map(Conn) } else { Ok(Conn(0)) }
    }

    fn session(&mut self) -> Read<Session> {
        let word = self.next("a session")?;
        let number = word.strip_prefix('s').and_then(|number| number.parse().ok());
        number.map(Session).ok_or_else(|| format!("{word:?} is no session"))
    }

    fn request(&mut self) -> Read<ReqId> {
        let word = self.next("a request's number")?;
        let number = word.strip_prefix('r').and_then(|number| number.parse().ok());
        number.map(ReqId).ok_or_else(|| format!("{word:?} is no request's number"))
    }

    fn micros(&mut self) -> Read<u64> {
        micros(&self.next("a time")?)
    }

    fn end(&self) -> Read<()> {
        match self.words.first() {
            None => Ok(()),
            Some(word) => Err(format!("{:?} is too much", word.text)),
        }
    }
}

/// Microseconds of a number of seconds with at most six places.
fn micros(word: &str) -> Read<u64> {
    let fail = || format!("{word:?} is no time in seconds");
    let (whole, part) = word.split_once('.').unwrap_or((word, ""));
    if part.len() > 6
        || !part.bytes().all(|b| b.is_ascii_digit())
        || !whole.bytes().all(|b| b.is_ascii_digit())
    {
        return Err(fail());
    }
    let part = format!("{part:0<6}").parse::<u64>().map_err(|_| fail())?;
    let whole = whole.parse::<u64>().map_err(|_| fail())?;
    whole.checked_mul(1_000_000).and_then(|micros| micros.checked_add(part)).ok_or_else(fail)
}

/// The words of a line; those in quotes are JSON texts.
fn split(line: &str) -> Read<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        if rest.starts_with('"') {
            let mut texts = serde_json::Deserializer::from_str(rest).into_iter::<String>();
            match texts.next() {
                Some(Ok(text)) => tokens.push(Token { text, quoted: true }),
                _ => return Err("a quoted word has no end".to_owned()),
            }
            rest = &rest[texts.byte_offset()..];
        } else {
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            tokens.push(Token { text: rest[..end].to_owned(), quoted: false });
            rest = &rest[end..];
        }
        rest = rest.trim_start();
    }
    Ok(tokens)
}
