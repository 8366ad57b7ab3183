//! Events as words and back, from the table of events.
//!
//! A field is written in the form of its type ([`Field`]), or in the form that the table names:
//!
//! - `hex`, `decimal`, `seconds`: a number. `client`: a client's name. `accepted`: that word, or `rejected`.
//! - `flag`: the field's name if it is true. `before`: the verb, before the number of the operation.
//! - `key FORM`: the field's name, and then the value.
//! - `optional FORM`: nothing if the value is the default. `lenient FORM`: always written, optional when read.

use super::context::{Reader, Writer, path};
use super::seconds;
use super::tokens::{Read, Tokens};
use crate::digest::Digest;
use crate::history::{Conn, ObjectId, ReqId, Session, Sym, Victim, What, event_table, is_default};
use crate::named::Named;
use std::fmt::{self, Write};

/// A field written in the form of its type, with a blank before it.
pub(super) trait Field: Sized {
    /// Writes the words.
    fn put(self, writer: &mut Writer<'_>) -> fmt::Result;

    /// Reads them.
    fn get(reader: &mut Reader, tokens: &mut Tokens<'_>) -> Read<Self>;
}

impl<N: Named> Field for N {
    fn put(self, writer: &mut Writer<'_>) -> fmt::Result {
        write!(writer.out, " {}", self.name())
    }

    fn get(_: &mut Reader, tokens: &mut Tokens<'_>) -> Read<N> {
        tokens.named()
    }
}

impl Field for Session {
    fn put(self, writer: &mut Writer<'_>) -> fmt::Result {
        write!(writer.out, " s{}", self.0)
    }

    fn get(_: &mut Reader, tokens: &mut Tokens<'_>) -> Read<Session> {
        tokens.numbered("s", "a session").map(Session)
    }
}

impl Field for ReqId {
    fn put(self, writer: &mut Writer<'_>) -> fmt::Result {
        write!(writer.out, " r{}", self.0)
    }

    fn get(_: &mut Reader, tokens: &mut Tokens<'_>) -> Read<ReqId> {
        tokens.numbered("r", "a request's number").map(ReqId)
    }
}

impl Field for Conn {
    fn put(self, writer: &mut Writer<'_>) -> fmt::Result {
        if self.is_none() { Ok(()) } else { write!(writer.out, " conn {}", self.0) }
    }

    fn get(_: &mut Reader, tokens: &mut Tokens<'_>) -> Read<Conn> {
        if tokens.flag("conn") { tokens.decimal("a connection").map(Conn) } else { Ok(Conn(0)) }
    }
}

impl Field for Sym {
    fn put(self, writer: &mut Writer<'_>) -> fmt::Result {
        write!(writer.out, " {}", path(writer.history, self))
    }

    fn get(reader: &mut Reader, tokens: &mut Tokens<'_>) -> Read<Sym> {
        reader.sym(tokens)
    }
}

impl Field for ObjectId {
    fn put(self, writer: &mut Writer<'_>) -> fmt::Result {
        let objects = &writer.history.objects;
        match objects.get(usize::from(self.0)).map(|object| object.path) {
            Some(path) if objects.iter().filter(|other| other.path == path).count() == 1 => path.put(writer),
            _ => write!(writer.out, " object:{}", self.0),
        }
    }

    fn get(reader: &mut Reader, tokens: &mut Tokens<'_>) -> Read<ObjectId> {
        reader.object_id(tokens)
    }
}

impl Field for Victim {
    fn put(self, writer: &mut Writer<'_>) -> fmt::Result {
        write!(writer.out, " {}", writer.actors.victim(self))
    }

    fn get(reader: &mut Reader, tokens: &mut Tokens<'_>) -> Read<Victim> {
        let name = tokens.next("whom")?;
        reader.actors.victim_of(&name).ok_or_else(|| format!("{name:?} is no victim"))
    }
}

impl Field for Digest {
    fn put(self, writer: &mut Writer<'_>) -> fmt::Result {
        write!(writer.out, " {:#x} {:#x}", self.content, self.stat)
    }

    fn get(_: &mut Reader, tokens: &mut Tokens<'_>) -> Read<Digest> {
        Ok(Digest { content: tokens.hex()?, stat: tokens.hex()? })
    }
}

macro_rules! put {
    ($to:ident, $field:ident:) => { $field.put($to)? };
    ($to:ident, $field:ident: hex) => { write!($to.out, " {:#x}", $field)? };
    ($to:ident, $field:ident: decimal) => { write!($to.out, " {}", $field)? };
    ($to:ident, $field:ident: seconds) => { write!($to.out, " {}", seconds($field.into()))? };
    ($to:ident, $field:ident: client) => { write!($to.out, " {}", $to.actors.client($field))? };
    ($to:ident, $field:ident: accepted) => { $to.out.push_str(if $field { " accepted" } else { " rejected" }) };
    ($to:ident, $field:ident: flag) => { if $field { $to.out.push_str(concat!(" ", stringify!($field))) } };
    ($to:ident, $field:ident: before) => {{
        let _ = $field;
    }};
    ($to:ident, $field:ident: key $($form:ident)*) => {{
        $to.out.push_str(concat!(" ", stringify!($field)));
        put!($to, $field: $($form)*);
    }};
    ($to:ident, $field:ident: optional $($form:ident)*) => {
        if !is_default(&$field) { put!($to, $field: $($form)*); }
    };
    ($to:ident, $field:ident: lenient $($form:ident)*) => { put!($to, $field: $($form)*) };
}

macro_rules! get {
    ($from:ident, $tokens:ident, $field:ident:) => { Field::get($from, $tokens)? };
    ($from:ident, $tokens:ident, $field:ident: hex) => { $tokens.hex()? };
    ($from:ident, $tokens:ident, $field:ident: decimal) => { $tokens.decimal(stringify!($field))? };
    ($from:ident, $tokens:ident, $field:ident: seconds) => {
        $tokens.micros()?.try_into().map_err(|_| concat!("this ", stringify!($field), " is too long"))?
    };
    ($from:ident, $tokens:ident, $field:ident: client) => { $from.client($tokens)? };
    ($from:ident, $tokens:ident, $field:ident: accepted) => { $tokens.accepted()? };
    ($from:ident, $tokens:ident, $field:ident: flag) => { $tokens.flag(stringify!($field)) };
    ($from:ident, $tokens:ident, $field:ident: before) => { $from.verb.ok_or("a call stands as verb#number")? };
    ($from:ident, $tokens:ident, $field:ident: key $($form:ident)*) => {{
        $tokens.after(stringify!($field))?;
        get!($from, $tokens, $field: $($form)*)
    }};
    ($from:ident, $tokens:ident, $field:ident: optional key $($form:ident)*) => {
        if $tokens.flag(stringify!($field)) { get!($from, $tokens, $field: $($form)*) } else { Default::default() }
    };
    ($from:ident, $tokens:ident, $field:ident: optional) => {
        if $tokens.is_empty() { Default::default() } else { Field::get($from, $tokens)? }
    };
    ($from:ident, $tokens:ident, $field:ident: lenient $($form:ident)*) => {
        get!($from, $tokens, $field: optional $($form)*)
    };
}

macro_rules! define {
    ($(
        $(#[$meta:meta])*
        $kind:ident = $name:literal $({
            $($(#[$about:meta])* $field:ident: $type:ty $(=> $($form:ident)+)?),+ $(,)?
        })?,
    )+) => {
        /// Writes the event, with a blank before it.
        pub(super) fn put(what: What, writer: &mut Writer<'_>) -> fmt::Result {
            match what {
                $(What::$kind { $($($field,)+)? } => {
                    writer.out.push_str(concat!(" ", $name));
                    $($(put!(writer, $field: $($($form)+)?);)+)?
                })+
            }
            Ok(())
        }

        /// Reads an event: its name is `word`, and its fields follow.
        pub(super) fn get(word: &str, reader: &mut Reader, tokens: &mut Tokens<'_>) -> Read<What> {
            match word {
                $($name => Ok(What::$kind { $($($field: get!(reader, tokens, $field: $($($form)+)?),)+)? }),)+
                other => Err(format!("{other:?} is no event")),
            }
        }
    };
}

event_table!(define);
