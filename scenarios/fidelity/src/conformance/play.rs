//! Plays one case and records what it observes, in the form of an expectation.
//!
//! 1. Settle: a control session of our own observes the case; the zxid that it sees is the case's beginning.
//! 2. Step: one after the other.
//! 3. Look around: after each step the other sessions are pinged, and their notifications are read.
//! 4. Tidy: close the case's sessions, delete its nodes.

use super::case::Case;
use super::session::{Awaited, CaseSession, PATIENCE};
use super::target::{Greeting, ListOrder, Target, Trouble};
use crate::exchange::Arrival;
use crate::exchange::form::{Expect, Item, LastZxid, Notice, Request};
use crate::exchange::reply::{self, Terms};
use crate::exchange::wire::{self, Hello, Welcome};
use std::collections::BTreeMap;
use std::time::Duration;

/// The time limit of a reply, unless the case has another.
const REPLY_LIMIT: Duration = Duration::from_secs(10);

/// How often sessions are pinged while a case waits: the shortest timeout is a second.
const PING_EVERY: Duration = Duration::from_millis(150);

/// The timeout that the control session asks for, in ms.
const CONTROL_TIMEOUT: i32 = 30_000;

/// Plays cases against a target, one after the other.
pub struct Player<T: Target> {
    pub(super) target: T,
    pub(super) control: CaseSession<T::Link>,
    pub(super) sessions: BTreeMap<String, CaseSession<T::Link>>,
    /// Sessions whose label now belongs to another one.
    pub(super) former: Vec<CaseSession<T::Link>>,
    pub(super) terms: Terms,
}

impl<T: Target> Player<T> {
    /// Opens the control session.
    ///
    /// # Errors
    ///
    /// There is no server, or it opens no session.
    pub fn new(mut target: T) -> Result<Self, Trouble> {
        let hello = Hello {
            last_zxid: 0,
            timeout: CONTROL_TIMEOUT,
            session: 0,
            password: vec![0; 16],
            readonly: false,
        };
        let Greeting::Welcome(link, welcome) = target.connect(&hello)? else {
            return Err(Trouble::ControlLost);
        };
        let control = session(link, welcome, CONTROL_TIMEOUT);
        Ok(Player { target, control, sessions: BTreeMap::new(), former: Vec::new(), terms: Terms::default() })
    }

    /// Whether the target can be stopped and started again.
    pub fn can_restart(&self) -> bool {
        self.target.can_restart()
    }

    /// The order of the target where servers are free.
    pub fn order(&self) -> ListOrder {
        self.target.order()
    }

    /// Plays a case and returns the result of each step, up to the first at which the server sent a malformed reply.
    ///
    /// # Errors
    ///
    /// The case could not be played to its end.
    pub fn play(&mut self, case: &Case) -> Result<Vec<Expect>, Trouble> {
        self.terms = Terms { z0: self.last_zxid()?, ..Terms::default() };
        let mut observed = Vec::new();
        for step in &case.steps {
            match self.step(step) {
                // A malformed reply is a result, but later steps mean nothing.
                Err(Trouble::Garbled(nonsense)) => {
                    observed.push(Expect { err: Some(nonsense.to_string()), ..Expect::default() });
                    break;
                }
                told => observed.push(told?),
            }
        }
        Ok(observed)
    }

    fn step(&mut self, step: &Request) -> Result<Expect, Trouble> {
        let label = step.session.as_deref().unwrap_or_default();
        let mut told = match step.op.as_str() {
            "connect" => self.connect(label, step)?,
            "reconnect" => self.reconnect(label, step)?,
            "wait" => return self.wait(Duration::from_millis(step.ms.unwrap_or(0))),
            "zxid" => Expect { zxid: Some(self.last_zxid()? - self.terms.z0), ..Expect::default() },
            "restart_server" => self.restart()?,
            "drop" => {
                if let Some(link) = self.session(label).link.take() {
                    self.target.cut(link, step.rst);
                }
                Expect::default()
            }
            "quiet" | "unquiet" => {
                self.session(label).quiet = step.op == "quiet";
                Expect::default()
            }
            "poll" => self.poll(label, Duration::from_millis(step.ms.unwrap_or(0)))?,
            "pipeline" => self.pipeline(label, step)?,
            _ => self.operation(label, step)?,
        };
        self.look_around(label, &mut told)?;
        Ok(told)
    }

    fn session(&mut self, label: &str) -> &mut CaseSession<T::Link> {
        self.sessions
            .get_mut(label)
            .expect("sessions are opened before they act: that was looked at when the case was read")
    }

    /// The last zxid of the server, as the control session sees it.
    pub(super) fn last_zxid(&mut self) -> Result<i64, Trouble> {
        let ping = Request { op: "ping".to_owned(), ..Request::default() };
        match self.control.ask(&mut self.target, &ping, &Terms::default(), PATIENCE)? {
            (Awaited::Reply(told), _) => Ok(told.zxid.unwrap_or(0)),
            _ => Err(Trouble::ControlLost),
        }
    }

    fn connect(&mut self, label: &str, step: &Request) -> Result<Expect, Trouble> {
        let hello = Hello {
            last_zxid: self.claimed(step, 0),
            timeout: step.timeout.unwrap_or(0),
            session: 0,
            password: vec![0; 16],
            readonly: step.readonly,
        };
        match self.target.connect(&hello)? {
            Greeting::Refused => {
                // Later steps can still name it; it has no connection, so there is nothing to close.
                let none = Welcome { timeout: 0, session: 0, password: vec![0; 16], readonly: false };
                let refused = CaseSession { link: None, over: true, ..blank(none, hello.timeout) };
                self.sessions.entry(label.to_owned()).or_insert(refused);
                Ok(Expect { refused: true, ..Expect::default() })
            }
            Greeting::Welcome(link, welcome) => {
                let told = Expect {
                    connected: true,
                    timeout: Some(welcome.timeout),
                    readonly: Some(welcome.readonly),
                    ..Expect::default()
                };
                self.terms.labels.insert(welcome.session, label.to_owned());
                self.former
                    .extend(self.sessions.insert(label.to_owned(), session(link, welcome, hello.timeout)));
                Ok(told)
            }
        }
    }

    fn reconnect(&mut self, label: &str, step: &Request) -> Result<Expect, Trouble> {
        let seen = self.session(label).seen;
        let last_zxid = self.claimed(step, seen);
        let old = self.session(label);
        let bad = step.passwd.as_deref() == Some("bad");
        let hello = Hello {
            last_zxid,
            timeout: step.timeout.unwrap_or(old.timeout),
            session: old.id,
            password: if bad { vec![1; 16] } else { old.password.clone() },
            readonly: step.readonly,
        };
        let (link, welcome) = match self.target.connect(&hello)? {
            Greeting::Refused => return Ok(Expect { refused: true, ..Expect::default() }),
            Greeting::Welcome(link, welcome) => (link, welcome),
        };
        let old_closed = self.old_is_closed(label)?;
        let (target, session) =
            (&mut self.target, self.sessions.get_mut(label).expect("it was just looked at"));
        if welcome.timeout <= 0 {
            target.cut(link, false);
            session.over |= !bad;
            let passwd_zero = welcome.password.iter().all(|byte| *byte == 0);
            let session_zero = welcome.session == 0;
            return Ok(Expect { expired: true, session_zero, passwd_zero, old_closed, ..Expect::default() });
        }
        let same_session = welcome.session == session.id;
        session.timeout = hello.timeout;
        session.link = Some(link);
        Ok(Expect {
            connected: true,
            timeout: Some(welcome.timeout),
            same_session,
            old_closed,
            ..Expect::default()
        })
    }

    /// Whether the server closes the session's previous connection before this one, if there is one.
    fn old_is_closed(&mut self, label: &str) -> Result<bool, Trouble> {
        let session = self.sessions.get_mut(label).expect("it was just looked at");
        if session.link.is_none() {
            return Ok(false);
        }
        session.listen(&mut self.target, PATIENCE)?;
        Ok(match session.link.take() {
            None => true,
            Some(link) => {
                self.target.cut(link, false);
                false
            }
        })
    }

    /// The last zxid that a client claims to have seen; 0 if the case does not say.
    fn claimed(&self, step: &Request, seen: i64) -> i64 {
        match &step.last_zxid {
            None => 0,
            Some(LastZxid::Relative(by)) => self.terms.z0.saturating_add(*by),
            Some(LastZxid::Word(_)) => seen,
        }
    }

    fn operation(&mut self, label: &str, step: &Request) -> Result<Expect, Trouble> {
        let within = step.timeout_ms.map_or(REPLY_LIMIT, Duration::from_millis);
        let (target, session) = (&mut self.target, self.sessions.get_mut(label).expect("it was opened"));
        if session.link.is_none() {
            return Ok(Expect { disconnected: Some(true.into()), ..Expect::default() });
        }
        if step.op == "auth" {
            session.auths.push(step.clone());
        }
        let (heard, before) = session.ask(target, step, &self.terms, within)?;
        let mut told = match heard {
            Awaited::Reply(told) => *told,
            Awaited::Nothing => return Ok(Expect { no_reply: true, before, ..Expect::default() }),
            Awaited::Closed => return Ok(Expect { closed: true, before, ..Expect::default() }),
        };
        told.before = before;
        let close = step.op == "close" || step.op == "closeSession";
        if close || step.then_closed {
            told.after = session.listen(target, PATIENCE)?;
            session.over |= close;
        } else {
            told.after = session.barrier(target)?;
        }
        told.closed = session.link.is_none();
        Ok(told)
    }

    fn poll(&mut self, label: &str, within: Duration) -> Result<Expect, Trouble> {
        let (target, session) = (&mut self.target, self.sessions.get_mut(label).expect("it was opened"));
        if session.link.is_none() {
            return Ok(Expect { disconnected: Some(true.into()), ..Expect::default() });
        }
        let after = session.listen(target, within)?;
        Ok(Expect { after, closed: session.link.is_none(), ..Expect::default() })
    }

    fn pipeline(&mut self, label: &str, step: &Request) -> Result<Expect, Trouble> {
        let (target, session) = (&mut self.target, self.sessions.get_mut(label).expect("it was opened"));
        let Some(mut link) = session.link.take() else {
            return Ok(Expect { disconnected: Some(true.into()), ..Expect::default() });
        };
        let mut waiting = BTreeMap::new();
        let mut frames = Vec::new();
        for (i, op) in step.ops.iter().enumerate() {
            let own = session.next_xid();
            waiting.insert(wire::xid(op, own), i);
            frames.push(wire::request(op, own, self.terms.z0).expect("it was tried when the case was read"));
        }
        target.send(&mut link, &frames);
        if step.noread {
            target.cut(link, step.rst);
            return Ok(Expect::default());
        }
        let within =
            step.timeout.and_then(|ms| u64::try_from(ms).ok()).map_or(REPLY_LIMIT, Duration::from_millis);
        let end = target.now() + within;
        let mut stream = Vec::new();
        let mut closed = false;
        while !waiting.is_empty() && !closed {
            let frame = match target.receive(&mut link, end.saturating_sub(target.now())) {
                Arrival::Nothing => break,
                Arrival::Closed | Arrival::Refused => {
                    closed = true;
                    continue;
                }
                Arrival::Frame(frame) => frame,
            };
            let (header, body) = reply::header(&frame)?;
            if header.xid == wire::NOTICE {
                stream.push(Item::Event(reply::notice(body)?));
            } else if let Some(i) = waiting.remove(&header.xid) {
                let told = reply::reply(&step.ops[i].op, header, body, &self.terms)?;
                session.seen = session.seen.max(header.zxid);
                stream.push(Item::Reply(Box::new(Expect { i: Some(i), ..told })));
            }
        }
        let mut told = Expect { stream: Some(stream), closed, ..Expect::default() };
        if !waiting.is_empty() {
            let mut missing: Vec<usize> = waiting.into_values().collect();
            missing.sort_unstable();
            told.missing = Some(missing);
        }
        if !closed {
            session.link = Some(link);
            told.after = session.barrier(target)?;
            told.closed = session.link.is_none();
        }
        Ok(told)
    }

    fn wait(&mut self, by: Duration) -> Result<Expect, Trouble> {
        let end = self.target.now() + by;
        let mut told = Expect::default();
        loop {
            self.look_around("", &mut told)?;
            let left = end.saturating_sub(self.target.now());
            if left.is_zero() {
                return Ok(told);
            }
            self.target.wait(left.min(PING_EVERY));
        }
    }

    fn restart(&mut self) -> Result<Expect, Trouble> {
        for session in self.sessions.values_mut() {
            session.link = None;
        }
        self.control.link = None;
        self.target.restart()?;
        let control = &mut self.control;
        let hello = Hello {
            last_zxid: 0,
            timeout: CONTROL_TIMEOUT,
            session: control.id,
            password: control.password.clone(),
            readonly: false,
        };
        match self.target.connect(&hello)? {
            Greeting::Welcome(link, welcome) if welcome.timeout > 0 => control.link = Some(link),
            _ => return Err(Trouble::ControlLost),
        }
        Ok(Expect { restarted: true, ..Expect::default() })
    }

    /// Reads the notifications of every other session by a ping, which also keeps it alive.
    fn look_around(&mut self, acting: &str, told: &mut Expect) -> Result<(), Trouble> {
        self.last_zxid()?;
        let mut gone = Vec::new();
        for (label, session) in &mut self.sessions {
            if label == acting || session.quiet || session.link.is_none() {
                continue;
            }
            let notices: Vec<Notice> = session.barrier(&mut self.target)?;
            if !notices.is_empty() {
                told.events.entry(label.clone()).or_default().extend(notices);
            }
            if session.link.is_none() {
                gone.push(label.clone());
            }
        }
        if !gone.is_empty() {
            told.disconnected = Some(gone.into());
        }
        Ok(())
    }
}

fn session<L>(link: L, welcome: Welcome, timeout: i32) -> CaseSession<L> {
    CaseSession { link: Some(link), ..blank(welcome, timeout) }
}

fn blank<L>(welcome: Welcome, timeout: i32) -> CaseSession<L> {
    CaseSession {
        id: welcome.session,
        password: welcome.password,
        timeout,
        link: None,
        seen: 0,
        quiet: false,
        over: false,
        auths: Vec::new(),
        last_xid: 0,
    }
}
