//! The connections of a scenario's sessions: open, move, cut, listen.

use super::answer;
use super::client_link::{ClientLink, Greeting};
use super::cluster::{Cluster, Micros};
use super::expected::StepResult;
use super::play::{LISTEN, PATIENCE, POLL, Player, Stuck};
use super::step::{Connect, Listen};
use crate::exchange::reply::Garbled;
use crate::exchange::wire::Hello;

impl<C: Cluster> Player<'_, C> {
    /// Connects a session, or moves it.
    pub(super) fn connect(&mut self, connect: &Connect, keep_old: bool) -> Result<StepResult, Stuck> {
        let label = &connect.session;
        let session = self.session(label);
        session.timeout = connect.timeout.unwrap_or(session.timeout);
        if keep_old {
            session.old = session.current.take();
        }
        session.uses_old = false;
        let give_up = connect.retry.map(|ticks| self.in_ticks(ticks));
        // If the last attempt times out, the result of the one before is reported.
        let mut before = None;
        loop {
            let mut end = self.in_ticks(connect.wait.unwrap_or(PATIENCE));
            if let Some(give_up) = give_up {
                end = end.min(give_up);
            }
            let told = self.open(label, &connect.member, end)?;
            if matches!(told, "ok" | "expired") {
                return Ok(StepResult::text(told));
            }
            before = Some(told).filter(|told| *told != "timeout").or(before);
            if give_up.is_none_or(|end| self.cluster.now() >= end) {
                return Ok(StepResult::text(before.unwrap_or("timeout")));
            }
            self.wait_until(self.in_ticks(POLL));
        }
    }

    /// Opens a connection in place of the session's current one, and awaits a reply.
    pub(super) fn open(&mut self, label: &str, role: &str, end: Micros) -> Result<&'static str, Stuck> {
        let session = self.session(label);
        for line in [session.current.take(), session.opening.take()].into_iter().flatten() {
            self.lines[line].cut(&mut self.cluster)?;
        }
        let Some(member) = self.member(role) else { return Ok("refused") };
        let last_zxid = self.seen(label)?;
        let session = self.session(label);
        let (id, timeout) = (session.id, session.timeout);
        let password = if id == 0 { vec![0; 16] } else { session.password.clone() };
        let timeout = (timeout * self.meta.tick_ms as f64).round() as i32;
        let hello = Hello { last_zxid, timeout, session: id, password, readonly: false };
        let connection = self.cluster.open(member, &hello);
        self.lines.push(ClientLink::new(connection, label));
        let line = self.lines.len() - 1;
        self.session(label).opening = Some(line);
        self.greeting(label, line, end)
    }

    /// Awaits the reply to a hello.
    fn greeting(&mut self, label: &str, line: usize, end: Micros) -> Result<&'static str, Stuck> {
        let answered =
            |line: &mut ClientLink<_>| (line.greeting != Greeting::Awaited).then(|| line.greeting.clone());
        let Some(greeting) = self.listen(line, end, answered)? else { return Ok("timeout") };
        let session = self.session(label);
        session.opening = None;
        match greeting {
            Greeting::Welcome(welcome) if welcome.timeout > 0 => {
                session.id = welcome.session;
                session.password = welcome.password;
                session.current = Some(line);
                Ok("ok")
            }
            Greeting::Welcome(_) => {
                self.lines[line].cut(&mut self.cluster)?;
                Ok("expired")
            }
            Greeting::Refused => Ok("refused"),
            _ => Ok("closed"),
        }
    }

    /// Continues to await the reply to a hello; returns at once if it has already arrived.
    pub(super) fn finish_connect(&mut self, listen: &Listen) -> Result<StepResult, Stuck> {
        let label = &listen.session;
        let Some(line) = self.session(label).opening else { return Ok(StepResult::text("closed")) };
        let end = self.in_ticks(listen.within.unwrap_or(PATIENCE));
        self.greeting(label, line, end).map(StepResult::text)
    }

    /// Cuts the connection that the session uses, and the one that it is opening.
    pub(super) fn drop_connections(&mut self, label: &str) -> Result<(), Stuck> {
        let session = self.session(label);
        let used = session.line();
        let opening = session.opening.take();
        for line in used.into_iter().chain(opening) {
            self.lines[line].cut(&mut self.cluster)?;
        }
        Ok(())
    }

    /// The zxid of a session's last reply, on any connection.
    pub(super) fn seen(&mut self, label: &str) -> Result<i64, Garbled> {
        let mut seen = 0;
        for line in self.lines.iter_mut().filter(|line| line.session == label) {
            line.take_in(&mut self.cluster)?;
            seen = seen.max(line.seen);
        }
        Ok(seen)
    }

    /// The first notification that was not reported yet.
    pub(super) fn event(&mut self, listen: &Listen) -> Result<StepResult, Stuck> {
        let Some(line) = self.session(&listen.session).line() else { return Ok(StepResult::text("CLOSED")) };
        let end = self.in_ticks(listen.within.unwrap_or(PATIENCE));
        let told = self.listen(line, end, |line| match line.notices.pop_front() {
            Some(notice) => Some(answer::event(&notice)),
            None => line.is_over.then(|| "CLOSED".to_owned()),
        })?;
        Ok(StepResult::Text(told.unwrap_or_else(|| "TIMEOUT".to_owned())))
    }

    /// All notifications that were not reported yet, including those in flight.
    pub(super) fn events(&mut self, listen: &Listen) -> Result<StepResult, Stuck> {
        let Some(line) = self.session(&listen.session).line() else { return Ok(StepResult::text("CLOSED")) };
        self.hear_out(line, listen)?;
        let notices: Vec<_> = self.lines[line].notices.drain(..).collect();
        Ok(StepResult::Text(answer::events(&notices)))
    }

    /// The unread frames on the connection that the session had before it moved.
    pub(super) fn old_frames(&mut self, listen: &Listen) -> Result<StepResult, Stuck> {
        let Some(line) = self.session(&listen.session).old else { return Ok(StepResult::text("CLOSED")) };
        self.hear_out(line, listen)?;
        Ok(StepResult::Frames(self.lines[line].left()))
    }

    fn hear_out(&mut self, line: usize, listen: &Listen) -> Result<(), Stuck> {
        let end = self.in_ticks(listen.within.unwrap_or(LISTEN));
        self.listen(line, end, |line| line.is_over.then_some(()))?;
        Ok(())
    }
}
