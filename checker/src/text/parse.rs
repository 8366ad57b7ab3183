//! Reading the text form.

use super::context::Reader;
use super::tokens::{Read, Tokens, micros, split};
use super::{event, header_times, kind_word, manner_flags};
use crate::actors::{self, Actors};
use crate::history::{
    Budget, Event, Header, History, Kind, Mode, Names, Object, OnSuspect, OpId, SYNC_LIMIT, Verb,
};
use crate::jsonl::ReadError;

/// Parses the output of [`write`](super::write), and shorter texts of the same grammar.
///
/// # Errors
///
/// If a line cannot be understood.
pub fn parse(text: &str) -> Result<History, ReadError> {
    let mut reader = Reader { history: empty(), actors: Actors::default(), verb: None, open_clients: true };
    for (at, line) in text.lines().enumerate() {
        reader.line(line).map_err(|why| ReadError::new(at + 1, why))?;
    }
    Ok(reader.history)
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
            pings_recorded: false,
            foreign_clients: false,
            first_number: 0,
            source: String::new(),
        },
        objects: Vec::new(),
        names: Names::default(),
        events: Vec::new(),
    }
}

impl Reader {
    fn line(&mut self, line: &str) -> Read<()> {
        let words = split(line)?;
        let Some(first) = words.first() else { return Ok(()) };
        if first.quoted {
            return Err("a line begins with a time, or with a word that declares something".to_owned());
        }
        let mut tokens = Tokens(&words[1..]);
        match first.text.as_str() {
            text if text.starts_with('#') => Ok(()),
            "run" => self.run(tokens),
            "names" => {
                for name in tokens.rest() {
                    self.history.names.intern(name);
                }
                Ok(())
            }
            word => {
                if let Some(kind) = Kind::ALL.iter().find(|kind| kind_word(**kind) == word) {
                    return self.object(*kind, tokens);
                }
                let at = micros(word)?;
                let event = self.event(at, &mut tokens)?;
                tokens.end()?;
                self.history.events.push(event);
                Ok(())
            }
        }
    }

    fn run(&mut self, mut tokens: Tokens<'_>) -> Read<()> {
        let header = &mut self.history.header;
        header.mode = tokens.named()?;
        while let Ok(key) = tokens.next("") {
            match key.as_str() {
                "format" => header.format = tokens.decimal("a format")?,
                "sync_limit" => header.sync_limit = tokens.decimal("ticks")?,
                "faults_recorded" => header.faults_recorded = true,
                "pings_recorded" => header.pings_recorded = true,
                "foreign_clients" => header.foreign_clients = true,
                "first_number" => header.first_number = tokens.decimal("children")?,
                "source" => header.source = tokens.next("a source")?,
                "clients" => {
                    header.clients = tokens.rest().map(str::to_owned).collect();
                    self.actors = Actors::of(header);
                    self.open_clients = false;
                }
                other => match header_times(header).into_iter().find(|(name, _)| *name == other) {
                    Some((_, time)) => *time = tokens.micros()?,
                    None => return Err(format!("{other:?} says nothing of a run")),
                },
            }
        }
        Ok(())
    }

    fn object(&mut self, kind: Kind, mut tokens: Tokens<'_>) -> Read<()> {
        let path = self.sym(&mut tokens)?;
        let mut object = Object::plain(kind, path);
        while let Ok(key) = tokens.next("") {
            match key.as_str() {
                "margin" => object.margin = tokens.micros()?,
                "fenced" => object.fenced = true,
                "size" => object.size = tokens.decimal("how many")?,
                "grace" => object.manner.grace = tokens.micros()?,
                "window" => object.manner.window = tokens.decimal("how many")?,
                "budget" => {
                    object.budget = Budget {
                        free_acquire: tokens.decimal("requests")?,
                        free_round_trips: tokens.decimal("round trips")?,
                        release: tokens.decimal("requests")?,
                        per_wake_up: tokens.decimal("requests")?,
                    }
                }
                word => match OnSuspect::from_name(word) {
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

    fn event(&mut self, at: u64, tokens: &mut Tokens<'_>) -> Read<Event> {
        let who = tokens.next("who did it")?;
        if self.open_clients && actors::is_plain(&who) && !self.actors.has(&who) {
            self.actors.add(&who);
            self.history.header.clients.push(who.clone());
        }
        let who = self.actors.who_of(&who).ok_or_else(|| format!("{who:?} is nobody"))?;
        let mut word = tokens.next("what happened")?;
        let mut op = OpId(0);
        self.verb = None;
        if let Some((before, number)) = word.split_once('#') {
            op = OpId(number.parse().map_err(|_| format!("{number:?} is no operation"))?);
            self.verb = Verb::from_name(before);
            word = tokens.next("what happened")?;
        }
        let what = event::get(&word, self, tokens)?;
        Ok(Event { at, op, who, what })
    }
}
