//! What an error answers to the questions that callers ask of it.

use zk_recipes::zk::{Code, CreateMode, Error, ErrorKind, Over};

/// A question, with the name that it has in the table below.
type Question = (&'static str, fn(&Error) -> bool);

const QUESTIONS: [Question; 13] = [
    ("outcome unknown", Error::is_outcome_unknown),
    ("retryable refusal", Error::is_retryable_refusal),
    ("transient", Error::is_transient),
    ("session over", Error::is_session_over),
    ("auth failed", Error::is_auth_failed),
    ("bad input", Error::is_bad_input),
    ("timed out", Error::is_timed_out),
    ("removed", Error::is_removed),
    ("mismatch", Error::is_mismatch),
    ("taken", Error::is_taken),
    ("conflict", Error::is_conflict),
    ("revoked", Error::is_revoked),
    ("denied", Error::is_denied),
];

#[test]
fn each_question_is_answered_yes_by_its_errors_alone() {
    let text = || "text".to_owned();
    let of = |cause: Error| ErrorKind::Multi { index: 1, cause: Box::new(cause) }.into();
    let table: Vec<(Error, &[&str])> = vec![
        (ErrorKind::NoNode.into(), &[]),
        (ErrorKind::NodeExists.into(), &[]),
        (ErrorKind::BadVersion.into(), &[]),
        (ErrorKind::NotEmpty.into(), &[]),
        (ErrorKind::NoChildrenForEphemerals.into(), &[]),
        (ErrorKind::NoAuth.into(), &["denied"]),
        (ErrorKind::InvalidAcl.into(), &["denied"]),
        (ErrorKind::Unimplemented.into(), &[]),
        (ErrorKind::Refused(Code::ThrottledOp).into(), &["retryable refusal", "transient"]),
        (ErrorKind::Refused(Code::QuotaExceeded).into(), &[]),
        (ErrorKind::Unreachable.into(), &[]),
        (ErrorKind::ConnectionLoss.into(), &["outcome unknown", "transient"]),
        (ErrorKind::SessionOver(Over::Expired).into(), &["outcome unknown", "session over"]),
        (ErrorKind::SessionOver(Over::Closed).into(), &["outcome unknown", "session over"]),
        (
            ErrorKind::SessionOver(Over::AuthFailed).into(),
            &["outcome unknown", "session over", "auth failed"],
        ),
        (ErrorKind::BadInput(text()).into(), &["bad input"]),
        (of(ErrorKind::NoNode.into()), &[]),
        (of(ErrorKind::NoAuth.into()), &["denied"]),
        (of(ErrorKind::Refused(Code::ThrottledOp).into()), &["retryable refusal", "transient"]),
        (ErrorKind::TimedOut.into(), &["timed out"]),
        (ErrorKind::Removed(text()).into(), &["removed"]),
        (ErrorKind::Unexpected(text()).into(), &["outcome unknown"]),
        (ErrorKind::Mismatch(text()).into(), &["mismatch"]),
        (ErrorKind::Taken(text()).into(), &["taken"]),
        (ErrorKind::Conflict.into(), &["conflict"]),
        (ErrorKind::Revoked.into(), &["revoked"]),
        (ErrorKind::ClaimLost.into(), &[]),
        (ErrorKind::Exhausted(text()).into(), &[]),
    ];
    for (error, expected) in table {
        let asked = QUESTIONS.iter().filter(|(_, ask)| ask(&error));
        let answered: Vec<&str> = asked.map(|(question, _)| *question).collect();
        assert_eq!(answered, expected, "{error:?}");
    }
}

#[test]
fn only_ephemerals_end_with_their_session() {
    let ends = |mode: CreateMode| mode.is_ephemeral();
    assert!(ends(CreateMode::Ephemeral) && ends(CreateMode::EphemeralSequential));
    let stay = [CreateMode::Persistent, CreateMode::PersistentSequential, CreateMode::Container];
    assert!(!stay.into_iter().any(ends));
}
