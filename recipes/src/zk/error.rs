//! The error type. Callers use its methods instead of matching kinds.
//!
//! An error is a [kind](ErrorKind), and what it happened to: the operation, the path, the error below. A request that
//! succeeds allocates nothing for it.

mod kind;
mod questions;

use std::fmt;
use std::sync::Arc;

use super::{ConnectFailure, Unreachable};

pub use kind::{ErrorKind, Over};

/// An error below this one.
type Source = Arc<dyn std::error::Error + Send + Sync>;

/// The reason why a request or a recipe failed, and the operation and the path that it failed on.
///
/// A write has three outcomes: applied, refused, or *unknown*. Unknown never means refused:
/// [`is_outcome_unknown`](Self::is_outcome_unknown) tells.
///
/// Two errors are equal if their kinds are, whatever they happened to; an error can be compared with a kind.
///
/// ```
/// use zk_recipes::zk::{Error, ErrorKind};
///
/// let error = Error::from(ErrorKind::NoNode).at("getData", "/a/b");
/// assert!(error.is_no_node());
/// assert_eq!(error, ErrorKind::NoNode);
/// assert_eq!((error.operation(), error.path()), (Some("getData"), Some("/a/b")));
/// assert_eq!(error.to_string(), "no such znode: getData /a/b");
/// ```
#[derive(Clone)]
pub struct Error {
    pub(crate) kind: ErrorKind,
    /// None where nothing is known: the error fits into a register's worth of words, and is cheap to hand on.
    about: Option<Box<About>>,
}

/// What an error happened to.
#[derive(Clone, Debug, Default)]
struct About {
    operation: Option<&'static str>,
    path: Option<String>,
    source: Option<Source>,
}

impl Error {
    /// The error of a transaction whose operation `index` was refused, for implementations of
    /// [`ZooKeeper::multi`](super::ZooKeeper::multi).
    ///
    /// A server checks the session for every operation (`PrepRequestProcessor.pRequest2Txn`), and reports its expiry as the
    /// refusal of the first one. That is an error of the session, not of the operation.
    #[must_use]
    pub fn multi(index: usize, cause: impl Into<Error>) -> Error {
        let cause = cause.into();
        match cause.kind {
            ErrorKind::SessionOver(_) | ErrorKind::ConnectionLoss => cause,
            _ => ErrorKind::Multi { index, cause: Box::new(cause) }.into(),
        }
    }

    /// Adds the operation and the path that the error happened to, unless they are known: the innermost request is the one
    /// that failed. For implementations of [`ZooKeeper`](super::ZooKeeper).
    ///
    /// The operation has ZooKeeper's name or that of the trait's method, the path is the caller's, without a chroot.
    #[must_use]
    pub fn at(mut self, operation: &'static str, path: impl Into<String>) -> Error {
        if self.operation().is_none() {
            self = self.during(operation);
            self.about.get_or_insert_default().path = Some(path.into());
        }
        self
    }

    /// As [`at`](Self::at), of an operation that names no path.
    #[must_use]
    pub fn during(mut self, operation: &'static str) -> Error {
        if self.operation().is_none() {
            self.about.get_or_insert_default().operation = Some(operation);
        }
        self
    }

    /// Adds the error below this one.
    #[must_use]
    pub fn caused_by(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Error {
        self.about.get_or_insert_default().source = Some(Arc::new(source));
        self
    }

    /// The error of a session that no server accepted, for implementations of [`ZooKeeper`](super::ZooKeeper). Its source is
    /// the most recent cause.
    #[must_use]
    pub fn unreachable(causes: Unreachable) -> Error {
        Error::from(ErrorKind::Unreachable).caused_by(causes)
    }

    /// Why no server could be used, when [`is_unreachable`](Self::is_unreachable): the latest failure with each server, the
    /// most recent one last. Empty for any other error.
    #[must_use]
    pub fn connect_failures(&self) -> &[ConnectFailure] {
        self.causes().map_or(&[], Unreachable::failures)
    }

    fn causes(&self) -> Option<&Unreachable> {
        self.about.as_ref()?.source.as_ref()?.downcast_ref()
    }

    /// What went wrong, for code that hands on every kind. The methods `is_…` answer what callers ask.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// [`kind`](Self::kind), without the rest of the error: for an implementation that adds its own.
    #[must_use]
    pub fn into_kind(self) -> ErrorKind {
        self.kind
    }

    /// The operation that failed, by ZooKeeper's name of the request or by that of the recipe's method: `getData`, `acquire`.
    /// Of a refused transaction, the refused operation's.
    #[must_use]
    pub fn operation(&self) -> Option<&'static str> {
        match self.refused_operation() {
            Some((_, refused)) => refused.operation(),
            None => self.about.as_ref()?.operation,
        }
    }

    /// The path that the operation was to read or write, as the caller named it: without the chroot. Of a refused
    /// transaction the refused operation's; of a transaction that failed as a whole, and of a read of many znodes, the first
    /// one.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        match self.refused_operation() {
            Some((_, refused)) => refused.path(),
            None => self.about.as_ref()?.path.as_deref(),
        }
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Error {
        Error { kind, about: None }
    }
}

impl PartialEq for Error {
    fn eq(&self, other: &Error) -> bool {
        self.kind == other.kind
    }
}

impl Eq for Error {}

impl PartialEq<ErrorKind> for Error {
    fn eq(&self, other: &ErrorKind) -> bool {
        self.kind == *other
    }
}

impl PartialEq<Error> for ErrorKind {
    fn eq(&self, other: &Error) -> bool {
        *self == other.kind
    }
}

/// The kind's sentence, the causes by server, the operation and the path.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind.to_string();
        f.write_str(&kind)?;
        if let Some(causes) = self.causes() {
            write!(f, ": {causes}")?;
        }
        let Some(about) = &self.about else { return Ok(()) };
        match (about.operation, &about.path) {
            // What names the path already does not need it twice.
            (Some(operation), Some(path)) if kind.contains(&**path) => write!(f, ": {operation}"),
            (Some(operation), Some(path)) => write!(f, ": {operation} {}", Shortened(path)),
            (Some(operation), None) => write!(f, ": {operation}"),
            (None, _) => Ok(()),
        }
    }
}

/// A path in a sentence: the end of a very long one is left out.
struct Shortened<'a>(&'a str);

impl Shortened<'_> {
    const MAX_BYTES: usize = 1024;
}

impl fmt::Display for Shortened<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self.0.floor_char_boundary(Self::MAX_BYTES);
        f.write_str(&self.0[..end])?;
        if end < self.0.len() { write!(f, "... ({} bytes)", self.0.len()) } else { Ok(()) }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(about) = &self.about else { return write!(f, "Error({:?})", self.kind) };
        let About { operation, path, source } = &**about;
        let mut out = f.debug_struct("Error");
        out.field("kind", &self.kind).field("operation", operation).field("path", path);
        source.iter().for_each(|source| _ = out.field("source", source));
        out.finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        if let ErrorKind::Multi { cause, .. } = &self.kind {
            return Some(cause);
        }
        if let Some(causes) = self.causes() {
            return Some(causes.last()?);
        }
        Some(&**self.about.as_ref()?.source.as_ref()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error as _;

    #[test]
    fn no_operation_is_refused_for_the_sessions_sake() {
        let expired = Error::multi(0, ErrorKind::SessionOver(Over::Expired));
        assert!(expired.is_session_over() && expired.is_outcome_unknown(), "{expired}");
        assert!(Error::multi(1, ErrorKind::ConnectionLoss).is_outcome_unknown());
        let refused = Error::multi(2, ErrorKind::BadVersion);
        assert_eq!(refused.refused_operation(), Some((2, &ErrorKind::BadVersion.into())));
        assert!(!refused.is_outcome_unknown());
    }

    #[test]
    fn an_error_says_what_it_happened_to() {
        let shown = |error: Error| error.to_string();
        assert_eq!(shown(ErrorKind::NoAuth.into()), "access denied");
        assert_eq!(shown(Error::from(ErrorKind::NoAuth).at("create", "/a")), "access denied: create /a");
        let taken = Error::from(ErrorKind::Taken("/a".to_owned())).at("join", "/a");
        assert_eq!(shown(taken), "/a belongs to somebody else: join");
        let inner = Error::from(ErrorKind::NoNode).at("delete", "/a/b");
        assert_eq!(shown(inner.clone().at("acquire", "/a")), "no such znode: delete /a/b");
        let multi = Error::multi(2, inner).at("multi", "/c");
        assert_eq!((multi.operation(), multi.path()), (Some("delete"), Some("/a/b")));
        assert_eq!(
            multi.to_string(),
            "operation 2 of the transaction was refused: no such znode: delete /a/b"
        );
    }

    #[test]
    fn an_error_has_the_one_below_as_its_source() {
        let io = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
        let error = Error::from(ErrorKind::Unreachable).caused_by(io);
        assert_eq!(error.source().map(ToString::to_string).as_deref(), Some("connection refused"));
        let multi = Error::multi(1, ErrorKind::NotEmpty);
        assert_eq!(multi.source().map(ToString::to_string).as_deref(), Some("the znode has children"));
        assert!(Error::from(ErrorKind::Late).source().is_none());
    }

    #[test]
    fn errors_are_equal_by_their_kinds() {
        let here = Error::from(ErrorKind::NoNode).at("getData", "/here");
        assert_eq!(here, Error::from(ErrorKind::NoNode).at("delete", "/there"));
        assert_eq!(here, ErrorKind::NoNode);
        assert_eq!(ErrorKind::NoNode, here);
        assert_ne!(here, ErrorKind::NodeExists);
    }
}
