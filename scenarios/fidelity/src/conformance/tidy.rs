//! Restores a server after a case: no sessions of the case, no nodes of it.

use super::play::Player;
use super::session::{Awaited, PATIENCE};
use super::target::{Greeting, Target, Trouble};
use crate::exchange::form::{Expect, Request};
use crate::exchange::reply::Terms;
use crate::exchange::wire::Hello;

/// The nodes that a server has from the beginning.
const RESERVED: [&str; 4] = ["/", "/zookeeper", "/zookeeper/config", "/zookeeper/quota"];

impl<T: Target> Player<T> {
    /// Closes the last case's sessions and deletes all nodes but the server's own. Returns the nodes that could not be
    /// deleted.
    ///
    /// # Errors
    ///
    /// The server does not answer.
    pub fn tidy(&mut self) -> Result<Vec<String>, Trouble> {
        let auths: Vec<Request> =
            self.sessions.values_mut().flat_map(|s| std::mem::take(&mut s.auths)).collect();
        self.close_sessions()?;
        let left = self.delete_below("/")?;
        if left.is_empty() || auths.is_empty() {
            return Ok(left);
        }
        // The identities of the case's sessions may have the permission.
        for auth in &auths {
            if auth.scheme.as_deref() == Some("digest") {
                self.ask(auth)?;
            }
        }
        self.delete_below("/")
    }

    /// Closes the control session. If it cannot be closed it expires.
    pub fn finish(mut self) {
        let close = Request { op: "close".to_owned(), ..Request::default() };
        let _ = self.control.ask(&mut self.target, &close, &Terms::default(), PATIENCE);
    }

    /// The first node that is not the server's own.
    ///
    /// # Errors
    ///
    /// The server does not answer.
    pub fn first_node(&mut self) -> Result<Option<String>, Trouble> {
        for parent in ["/", "/zookeeper", "/zookeeper/quota"] {
            let children = self.children(parent)?;
            if let Some(path) = children.into_iter().find(|path| !RESERVED.contains(&path.as_str())) {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    /// Closes sessions that would otherwise expire in the middle of another case.
    fn close_sessions(&mut self) -> Result<(), Trouble> {
        let close = Request { op: "close".to_owned(), ..Request::default() };
        let sessions = std::mem::take(&mut self.sessions).into_values();
        for mut session in sessions.chain(std::mem::take(&mut self.former)) {
            if session.over {
                continue;
            }
            // A connection may be blocked behind a request without a reply.
            if let Some(link) = session.link.take() {
                self.target.cut(link, false);
            }
            let hello = Hello {
                last_zxid: 0,
                timeout: session.timeout,
                session: session.id,
                password: session.password.clone(),
                readonly: false,
            };
            let Greeting::Welcome(link, welcome) = self.target.connect(&hello)? else { continue };
            if welcome.timeout > 0 {
                session.link = Some(link);
                session.ask(&mut self.target, &close, &Terms::default(), PATIENCE)?;
            }
        }
        Ok(())
    }

    /// Deletes the descendants of a node, and returns those that are left.
    fn delete_below(&mut self, parent: &str) -> Result<Vec<String>, Trouble> {
        let mut left = Vec::new();
        for path in self.children(parent)? {
            let below = self.delete_below(&path)?;
            if !below.is_empty() {
                left.extend(below);
                continue;
            }
            if RESERVED.contains(&path.as_str()) {
                continue;
            }
            let delete = Request { op: "delete".to_owned(), path: Some(path.clone()), ..Request::default() };
            let told = self.ask(&delete)?;
            // The server may have deleted it first.
            if !matches!(told.err.as_deref(), Some("OK" | "NoNode")) {
                left.push(path);
            }
        }
        Ok(left)
    }

    /// The paths of a node's children; empty if they may not be read, since deleting will report that.
    fn children(&mut self, parent: &str) -> Result<Vec<String>, Trouble> {
        let list =
            Request { op: "getChildren".to_owned(), path: Some(parent.to_owned()), ..Request::default() };
        let names = self.ask(&list)?.children.unwrap_or_default();
        let parent = parent.trim_end_matches('/');
        Ok(names.into_iter().map(|name| format!("{parent}/{name}")).collect())
    }

    fn ask(&mut self, step: &Request) -> Result<Expect, Trouble> {
        match self.control.ask(&mut self.target, step, &Terms::default(), PATIENCE)? {
            (Awaited::Reply(told), _) => Ok(*told),
            _ => Err(Trouble::ControlLost),
        }
    }

    /// Whether the server is unused, except for opening the control session.
    ///
    /// # Errors
    ///
    /// The server does not answer.
    pub fn is_pristine(&mut self) -> Result<bool, Trouble> {
        Ok(self.last_zxid()? == 1)
    }
}
