//! Writing the text form.

use super::context::{Writer, path, quoted};
use super::{event, header_times, kind_word, manner_flags, seconds};
use crate::actors::Actors;
use crate::history::{Budget, Event, History, Names, Object, OpId, SYNC_LIMIT, Sym, What};
use std::collections::BTreeMap;
use std::fmt::{self, Write};

/// Writes a history as text.
pub fn write(history: &History) -> String {
    let actors = Actors::of(&history.header);
    let mut writer = Writer { history, actors, verbs: BTreeMap::new(), out: String::new() };
    writer.all().expect("writing to a String cannot fail");
    writer.out
}

impl Writer<'_> {
    fn all(&mut self) -> fmt::Result {
        let history = self.history;
        self.header()?;
        if !interns_alike(history) {
            self.out.push_str("names");
            history.names.iter().try_for_each(|name| write!(self.out, " {}", quoted(name)))?;
            self.out.push('\n');
        }
        history.objects.iter().try_for_each(|object| self.object(object))?;
        history.events.iter().try_for_each(|event| self.event(event))
    }

    fn header(&mut self) -> fmt::Result {
        let header = &self.history.header;
        let out = &mut self.out;
        write!(out, "run {}", header.mode.name())?;
        if header.format != 1 {
            write!(out, " format {}", header.format)?;
        }
        for (name, micros) in header_times(&mut header.clone()) {
            write!(out, " {name} {}", seconds(*micros))?;
        }
        if header.sync_limit != SYNC_LIMIT {
            write!(out, " sync_limit {}", header.sync_limit)?;
        }
        if header.faults_recorded {
            out.push_str(" faults_recorded");
        }
        if header.pings_recorded {
            out.push_str(" pings_recorded");
        }
        if header.first_number != 0 {
            write!(out, " first_number {}", header.first_number)?;
        }
        if header.foreign_clients {
            out.push_str(" foreign_clients");
        }
        if !header.source.is_empty() {
            write!(out, " source {}", quoted(&header.source))?;
        }
        out.push_str(" clients");
        header.clients.iter().try_for_each(|client| write!(out, " {}", quoted(client)))?;
        writeln!(out)
    }

    fn object(&mut self, object: &Object) -> fmt::Result {
        let Budget { free_acquire, free_round_trips, release, per_wake_up } = object.budget;
        let out = &mut self.out;
        write!(
            out,
            "{} {} {} margin {}{} budget {free_acquire} {free_round_trips} {release} {per_wake_up}",
            kind_word(object.kind),
            path(self.history, object.path),
            object.on_suspect.name(),
            seconds(object.margin),
            if object.fenced { " fenced" } else { "" },
        )?;
        if object.size != 0 {
            write!(out, " size {}", object.size)?;
        }
        if object.manner.grace != 0 {
            write!(out, " grace {}", seconds(object.manner.grace))?;
        }
        if object.manner.window != 0 {
            write!(out, " window {}", object.manner.window)?;
        }
        for (word, _) in manner_flags(&mut object.manner.clone()).into_iter().filter(|(_, flag)| **flag) {
            write!(out, " {word}")?;
        }
        writeln!(out)
    }

    fn event(&mut self, event: &Event) -> fmt::Result {
        write!(self.out, "{} {}", seconds(event.at), self.actors.who(event.who))?;
        if let What::Call { verb, .. } = event.what {
            self.verbs.insert(event.op, verb);
        }
        if event.op != OpId(0) || matches!(event.what, What::Call { .. }) {
            let verb = self.verbs.get(&event.op).map_or("", |verb| verb.name());
            write!(self.out, " {verb}#{}", event.op.0)?;
        }
        event::put(event.what, self)?;
        writeln!(self.out)
    }
}

/// Whether reading the text of a history gives the same symbols without the table of names.
fn interns_alike(history: &History) -> bool {
    let mut seen = Names::default();
    let mut alike = true;
    let mut meet = |sym: Sym| match history.names.get(sym) {
        Some(text) => alike &= seen.intern(text) == sym,
        None => alike = false,
    };
    history.objects.iter().for_each(|object| meet(object.path));
    history.events.iter().filter_map(|event| event.what.sym()).for_each(meet);
    alike && seen.end() == history.names.end()
}
