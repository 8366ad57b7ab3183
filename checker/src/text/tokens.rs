//! The words of a line of text, with the numbers and names that they stand for.

use crate::named::Named;
use std::str::FromStr;

/// A parsed value, or the parse error.
pub(super) type Read<T> = Result<T, String>;

/// A word of a line.
pub(super) struct Token {
    pub(super) text: String,
    pub(super) quoted: bool,
}

/// The rest of a line.
pub(super) struct Tokens<'a>(pub(super) &'a [Token]);

impl<'a> Tokens<'a> {
    pub(super) fn take(&mut self, wanted: &str) -> Read<&'a Token> {
        let (first, rest) = self.0.split_first().ok_or_else(|| format!("{wanted} is missing"))?;
        self.0 = rest;
        Ok(first)
    }

    pub(super) fn next(&mut self, wanted: &str) -> Read<String> {
        self.take(wanted).map(|token| token.text.clone())
    }

    /// The texts of all that is left.
    pub(super) fn rest(&mut self) -> impl Iterator<Item = &'a str> {
        std::mem::take(&mut self.0).iter().map(|token| token.text.as_str())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the next word is this one; if so, consumes it.
    pub(super) fn flag(&mut self, flag: &str) -> bool {
        let is = self.0.first().is_some_and(|token| token.text == flag);
        if is {
            self.0 = &self.0[1..];
        }
        is
    }

    /// Reads a required word.
    pub(super) fn after(&mut self, key: &str) -> Read<()> {
        if self.flag(key) { Ok(()) } else { Err(format!("{key:?} is missing")) }
    }

    pub(super) fn named<N: Named>(&mut self) -> Read<N> {
        let word = self.next(N::WANTED)?;
        N::from_name(&word).ok_or_else(|| format!("{word:?} is not {}", N::WANTED))
    }

    pub(super) fn accepted(&mut self) -> Read<bool> {
        match self.next("accepted or rejected")?.as_str() {
            "accepted" => Ok(true),
            "rejected" => Ok(false),
            other => Err(format!("{other:?} is neither accepted nor rejected")),
        }
    }

    pub(super) fn decimal<T: FromStr>(&mut self, wanted: &str) -> Read<T> {
        let word = self.next(wanted)?;
        word.parse().map_err(|_| format!("{word:?} is not a number of {wanted}"))
    }

    /// A number behind a letter.
    pub(super) fn numbered<T: FromStr>(&mut self, letter: &str, wanted: &str) -> Read<T> {
        let word = self.next(wanted)?;
        let number = word.strip_prefix(letter).and_then(|number| number.parse().ok());
        number.ok_or_else(|| format!("{word:?} is no {}", wanted.trim_start_matches("a ")))
    }

    /// A number with `0x` before it, or a decimal one.
    pub(super) fn hex<T: TryFrom<u64>>(&mut self) -> Read<T> {
        let word = self.next("a number")?;
        let read = match word.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => word.parse(),
        };
        let number = read.map_err(|_| format!("{word:?} is no number"))?;
        number.try_into().map_err(|_| "this number is too large".to_owned())
    }

    pub(super) fn micros(&mut self) -> Read<u64> {
        micros(&self.next("a time")?)
    }

    pub(super) fn end(&self) -> Read<()> {
        match self.0.first() {
            None => Ok(()),
            Some(token) => Err(format!("{:?} is too much", token.text)),
        }
    }
}

/// Microseconds of a number of seconds with at most six places.
pub(super) fn micros(word: &str) -> Read<u64> {
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
pub(super) fn split(line: &str) -> Read<Vec<Token>> {
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
