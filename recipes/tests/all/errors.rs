//! What an error answers to the questions that callers ask of it.

use zk_recipes::zk::{Code, CreateMode, Error, Over};

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
    let of = |cause: Error| Error::Multi { index: 1, cause: Box::new(cause) };
    let table: Vec<(Error, &[&str])> = vec![
        (Error::NoNode, &[]),
        (Error::NodeExists, &[]),
        (Error::BadVersion, &[]),
        (Error::NotEmpty, &[]),
        (Error::NoChildrenForEphemerals, &[]),
        (Error::NoAuth, &["denied"]),
        (Error::InvalidAcl, &["denied"]),
        (Error::Unimplemented, &[]),
        (Error::Refused(Code::ThrottledOp), &["retryable refusal", "transient"]),
        (Error::Refused(Code::QuotaExceeded), &[]),
        (Error::Unreachable, &[]),
        (Error::ConnectionLoss, &["outcome unknown", "transient"]),
        (Error::SessionOver(Over::Expired), &["outcome unknown", "session over"]),
        (Error::SessionOver(Over::Closed), &["outcome unknown", "session over"]),
        (Error::SessionOver(Over::AuthFailed), &["outcome unknown", "session over", "auth failed"]),
        (Error::BadInput(text()), &["bad input"]),
        (of(Error::NoNode), &[]),
        (of(Error::NoAuth), &["denied"]),
        (of(Error::Refused(Code::ThrottledOp)), &["retryable refusal", "transient"]),
        (Error::TimedOut, &["timed out"]),
        (Error::Removed(text()), &["removed"]),
        (Error::Unexpected(text()), &["outcome unknown"]),
        (Error::Mismatch(text()), &["mismatch"]),
        (Error::Taken(text()), &["taken"]),
        (Error::Conflict, &["conflict"]),
        (Error::Revoked, &["revoked"]),
        (Error::ClaimLost, &[]),
        (Error::Exhausted(text()), &[]),
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
