//! A history as text for eyes: one event a line, and it parses back exactly.
//!
//! ```text
//! run sim timeout 4 settle 0.001 clients a b
//! lock /lock stop margin 0.4 fenced
//! 0.000 a acquire#1 call /lock
//! 0.002 server:0 #1 created 0x3 /lock/x-0000000000 s1
//! 0.004 a #1 believe /lock s1 token 0x3
//! ```
//!
//! An event is: seconds since the start, who, the operation if there is one, what, and the fields of that. The word
//! before a `#` is for the eye, except in `call`. A word with blanks stands in quotes, as in JSON. In the first lines
//! everything has a default, and clients may also be left out: then they are numbered as they come.

mod parse;

use crate::digest::Digest;
use crate::history::{Budget, Conn, Event, History, Manner, OpId, SYNC_LIMIT, Session, Sym, Verb, What};
use crate::parties::Parties;
use crate::words::Word;
use std::collections::BTreeMap;
use std::fmt::{self, Write};

pub use parse::parse;

/// The text of a history.
pub fn write(history: &History) -> String {
    let mut out = String::new();
    write_to(history, &mut out).expect("writing to a String cannot fail");
    out
}

fn write_to(history: &History, out: &mut String) -> fmt::Result {
    let header = &history.header;
    write!(out, "run {}", header.mode.word())?;
    if header.format != 1 {
        write!(out, " format {}", header.format)?;
    }
    for (name, micros) in [
        ("tick", header.tick),
        ("timeout", header.timeout),
        ("election", header.election),
        ("round_trip", header.round_trip),
        ("settle", header.settle),
    ] {
        write!(out, " {name} {}", seconds(micros))?;
    }
    if header.sync_limit != SYNC_LIMIT {
        write!(out, " sync_limit {}", header.sync_limit)?;
    }
    if header.faults_recorded {
        write!(out, " faults_recorded")?;
    }
    if !header.source.is_empty() {
        write!(out, " source {}", quoted(&header.source))?;
    }
    write!(out, " clients")?;
    for client in &header.clients {
        write!(out, " {}", quoted(client))?;
    }
    writeln!(out)?;
    if !parse::interns_alike(history) {
        write!(out, "names")?;
        for name in history.names.iter() {
            write!(out, " {}", quoted(name))?;
        }
        writeln!(out)?;
    }
    for object in &history.objects {
        let Budget { free_acquire, free_round_trips, release, per_wake_up } = object.budget;
        write!(
            out,
            "{} {} {} margin {}{} budget {free_acquire} {free_round_trips} {release} {per_wake_up}",
            object.kind.word(),
            path(history, object.path),
            object.on_suspect.word(),
            seconds(object.margin),
            if object.fenced { " fenced" } else { "" },
        )?;
        if object.size != 0 {
            write!(out, " size {}", object.size)?;
        }
        if object.manner.grace != 0 {
            write!(out, " grace {}", seconds(object.manner.grace))?;
        }
        let mut manner = object.manner;
        for (word, flag) in manner_flags(&mut manner) {
            if *flag {
                write!(out, " {word}")?;
            }
        }
        writeln!(out)?;
    }
    let parties = Parties::of(&history.header);
    let mut verbs = BTreeMap::new();
    for event in &history.events {
        write_event(history, &parties, event, &mut verbs, out)?;
        writeln!(out)?;
    }
    Ok(())
}

/// The line of one event. The words before `#` come from the calls in `verbs`, which grows.
fn write_event(
    history: &History,
    parties: &Parties,
    event: &Event,
    verbs: &mut BTreeMap<OpId, Verb>,
    out: &mut String,
) -> fmt::Result {
    write!(out, "{} {}", seconds(event.at), parties.who(event.who))?;
    if let What::Call { verb, .. } = event.what {
        verbs.insert(event.op, verb);
        write!(out, " {}#{}", verb.word(), event.op.0)?;
    } else if event.op != OpId(0) {
        let verb = verbs.get(&event.op);
        write!(out, " {}#{}", verb.map_or("", |verb| verb.word()), event.op.0)?;
    }
    let object = |id: crate::history::ObjectId| match history.objects.get(usize::from(id.0)) {
        Some(object) if history.objects.iter().filter(|other| other.path == object.path).count() == 1 => {
            path(history, object.path)
        }
        _ => format!("object:{}", id.0),
    };
    let path = |sym| path(history, sym);
    let client = |number| parties.client(number);
    match event.what {
        What::Call { object: id, verb: _, limit } => {
            write!(out, " call {}", object(id))?;
            if limit != 0 {
                write!(out, " limit {}", seconds(limit.into()))?;
            }
            Ok(())
        }
        What::Return { outcome } => write!(out, " return {}", outcome.word()),
        What::Believe { object: id, session, token } => {
            write!(out, " believe {} {} token {token:#x}", object(id), name(session))
        }
        What::Unbelieve { why } => write!(out, " unbelieve {}", why.word()),
        What::Resource { object: id, token, accepted } => {
            let accepted = if accepted { "accepted" } else { "rejected" };
            write!(out, " resource {} token {token:#x} {accepted}", object(id))
        }
        What::Given { text, number } => write!(out, " given {} {number:#x}", path(text)),
        What::Observed { object: id, seen, text, number } => {
            write!(out, " observed {} {} {} {number:#x}", object(id), seen.word(), path(text))
        }
        What::Sleep { until, deadline } => {
            write!(out, " sleep until {}{}", seconds(until), if deadline { " deadline" } else { "" })
        }
        What::Send { req, kind, watch, cleanup, path: on } => {
            write!(out, " send r{} {} {}", req.0, kind.word(), path(on))?;
            write!(out, "{}{}", if watch { " watch" } else { "" }, if cleanup { " cleanup" } else { "" })
        }
        What::Expects { version } => write!(out, " expects {version}"),
        What::Reply { req, code, zxid, conn } => {
            write!(out, " reply r{} {} {zxid:#x}{}", req.0, code.word(), on_conn(conn))
        }
        What::Made { path: at, czxid } => write!(out, " made {} {czxid:#x}", path(at)),
        What::Lost { req } => write!(out, " lost r{}", req.0),
        What::Notice { session, kind, path: on, conn } => {
            write!(out, " notice {} {} {}{}", name(session), kind.word(), path(on), on_conn(conn))
        }
        What::State { session, state, conn, server } => {
            write!(out, " state {} {}{}", name(session), state.word(), on_conn(conn))?;
            if server == 0 { Ok(()) } else { write!(out, " server {server}") }
        }
        What::Txn { zxid, session, kind, code } => {
            write!(out, " txn {zxid:#x} {} {} {}", name(session), kind.word(), code.word())
        }
        What::Created { zxid, path: at, owner } => {
            write!(out, " created {zxid:#x} {} {}", path(at), name(owner))
        }
        What::Deleted { zxid, path: at, by } => {
            write!(out, " deleted {zxid:#x} {} by {}", path(at), name(by))
        }
        What::Written { zxid, path: at } => write!(out, " written {zxid:#x} {}", path(at)),
        What::Restricted { zxid, path: at } => write!(out, " restricted {zxid:#x} {}", path(at)),
        What::Data { length, digest } => write!(out, " data {length} {digest:#x}"),
        What::Applied { zxid } => write!(out, " applied {zxid:#x}"),
        What::Served { req, conn, zxid } => write!(out, " served r{} {zxid:#x}{}", req.0, on_conn(conn)),
        What::Found { read, code, path: at, digest: Digest { content, stat } } => {
            write!(out, " found {} {} {} {content:#x} {stat:#x}", read.word(), code.word(), path(at))
        }
        What::Barrier { session, req, zxid } => {
            write!(out, " barrier {} r{} {zxid:#x}", name(session), req.0)
        }
        What::Arm { session, table, path: on, conn, mode } => {
            write!(out, " arm {} {} {}{}", name(session), table.word(), path(on), on_conn(conn))?;
            if mode.is_one_shot() { Ok(()) } else { write!(out, " {}", mode.word()) }
        }
        What::Fire { session, kind, path: on, zxid, conn } => {
            write!(out, " fire {} {} {} {zxid:#x}{}", name(session), kind.word(), path(on), on_conn(conn))
        }
        What::Disarm { session, table, path: on, conn } => {
            write!(out, " disarm {} {} {}{}", name(session), table.word(), path(on), on_conn(conn))
        }
        What::Attached { session, conn } => write!(out, " attached {}{}", name(session), on_conn(conn)),
        What::TurnedAway { session, seen } => write!(out, " turned_away {} {seen:#x}", name(session)),
        What::Moved { session, zxid } => write!(out, " moved {} {zxid:#x}", name(session)),
        What::Elected { epoch } => write!(out, " elected {epoch}"),
        What::Serving => write!(out, " serving"),
        What::Ceased => write!(out, " ceased"),
        What::Opened { session, timeout, zxid } => {
            write!(out, " opened {} timeout {timeout} {zxid:#x}", name(session))
        }
        What::Marked { session, heard } => write!(out, " marked {} heard {}", name(session), seconds(heard)),
        What::Ended { session, zxid } => write!(out, " ended {} {zxid:#x}", name(session)),
        What::Fault { kind, victim, lasts } => {
            let whom = parties.victim(victim);
            write!(out, " fault {} {whom} lasts {}", kind.word(), seconds(lasts))
        }
        What::Mended { kind, victim } => {
            write!(out, " mended {} {}", kind.word(), parties.victim(victim))
        }
        What::Crash { client: whom } => write!(out, " crash {}", client(whom)),
        What::Start { client: whom } => write!(out, " start {}", client(whom)),
        What::Heal => write!(out, " heal"),
        What::Quiesce => write!(out, " quiesce"),
        What::Stopped => write!(out, " stopped"),
        What::Left { object: id, path: at, owner } => {
            write!(out, " left {} {} {}", object(id), path(at), name(owner))
        }
    }
}

/// The manners that are a word each.
fn manner_flags(manner: &mut Manner) -> [(&'static str, &mut bool); 7] {
    [
        ("at_least_once", &mut manner.at_least_once),
        ("strict", &mut manner.strict),
        ("textbook", &mut manner.textbook),
        ("chain", &mut manner.chain),
        ("once", &mut manner.once),
        ("coordinated", &mut manner.coordinated),
        ("forced", &mut manner.forced),
    ]
}

/// Seconds with at least three places, exact to the microsecond.
pub(crate) fn seconds(micros: u64) -> String {
    let (whole, part) = (micros / 1_000_000, micros % 1_000_000);
    if part % 1000 == 0 { format!("{whole}.{:03}", part / 1000) } else { format!("{whole}.{part:06}") }
}

fn name(session: Session) -> String {
    format!("s{}", session.0)
}

/// The connection, where it is known.
fn on_conn(conn: Conn) -> String {
    if conn.is_none() { String::new() } else { format!(" conn {}", conn.0) }
}

fn path(history: &History, sym: Sym) -> String {
    match history.names.get(sym) {
        // What looks like the number of an object or a symbol stands in quotes.
        Some(text) if text.starts_with('/') => quoted(text),
        Some(text) => json(text),
        None => format!("sym:{}", sym.0),
    }
}

/// The text, in quotes if it could be taken for something else.
fn quoted(text: &str) -> String {
    let plain = !text.is_empty()
        && !text.starts_with('#')
        && text.chars().all(|c| !c.is_whitespace() && !c.is_control() && c != '"' && c != '\\');
    if plain { text.to_owned() } else { json(text) }
}

fn json(text: &str) -> String {
    serde_json::to_string(text).expect("a text is JSON")
}
