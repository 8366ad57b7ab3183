//! Conversion between the types of the trait and messages.

use super::SimWatch;
use super::reply::Reply;
use super::subject::{Answered, Subject};
use crate::message::{Answer, AskOp, Code, Content, Creation, Found, OpAnswer, Refusal};
use crate::paths::{PathId, Paths};
use std::mem::take;
use zk_recipes::zk::{CreateMode, Created, Data, Error, Listing, Op, OpResult, Stat, path};

/// Awaits a reply without a watch.
pub(super) async fn plain<T>(reply: Reply<T>) -> Result<T, Error> {
    Ok(reply.await?.0)
}

/// Awaits a reply with a watch.
pub(super) async fn watched<T>(reply: Reply<T>) -> Result<(T, SimWatch), Error> {
    let (value, watch) = reply.await?;
    Ok((value, watch.expect("the request armed a watch")))
}

/// Interns a path. The name of the operation is for the error.
pub(super) fn known(paths: &mut Paths, name: &'static str, text: &str) -> Result<PathId, Error> {
    let valid = path::validate(text).and_then(|()| path::validate_size(path::MAX_REQUEST_BYTES, text, b""));
    valid.map_err(|error| error.at(name, text))?;
    Ok(paths.intern(text))
}

/// Interns the prefix of a sequential name, which may end in a slash because a number follows.
pub(super) fn known_prefix(paths: &mut Paths, text: &str, mode: CreateMode) -> Result<PathId, Error> {
    if mode.is_sequential() {
        path::validate(&format!("{text}0")).map_err(|error| error.at("create", text))?;
        return Ok(paths.intern(text));
    }
    known(paths, "create", text)
}

/// Converts an operation of a transaction, and takes its data.
pub(super) fn known_op(paths: &mut Paths, op: &mut Op) -> Result<AskOp, Error> {
    let name = op.name();
    Ok(match op {
        Op::Check { path, version } => {
            AskOp::Check { path: known(paths, name, path)?, version: any(*version) }
        }
        Op::Create { path, data, mode } => {
            let path = known_prefix(paths, path, *mode)?;
            AskOp::Create(Creation::new(path, Some(take(data).into()), *mode))
        }
        Op::Delete { path, version } => {
            AskOp::Delete { path: known(paths, name, path)?, version: any(*version) }
        }
        Op::Set { path, data, version } => {
            let path = known(paths, name, path)?;
            AskOp::Set { path, data: Some(take(data).into()), version: any(*version) }
        }
    })
}

/// Returns the version as on the wire: -1 is any.
pub(super) fn any(version: Option<i32>) -> i32 {
    version.unwrap_or(-1)
}

pub(super) fn to_created(_: &Subject, paths: &Paths, answer: Answered) -> Result<Created, Error> {
    Ok(match answer? {
        Answer::Created { path, stat } => Created { path: paths.text(path).to_owned(), stat },
        other => unreachable!("a create is not answered with {other:?}"),
    })
}

pub(super) fn to_stat(_: &Subject, _: &Paths, answer: Answered) -> Result<Stat, Error> {
    Ok(match answer? {
        Answer::Stat(stat) => stat,
        other => unreachable!("a set is not answered with {other:?}"),
    })
}

/// Converts the reply to `exists`: a missing znode is an error on the wire.
pub(super) fn to_maybe_stat(_: &Subject, _: &Paths, answer: Answered) -> Result<Option<Stat>, Error> {
    match answer {
        Ok(Answer::Stat(stat)) => Ok(Some(stat)),
        Err(Refusal::All(Code::NoNode)) => Ok(None),
        Err(refusal) => Err(refusal.into()),
        Ok(other) => unreachable!("an exists is not answered with {other:?}"),
    }
}

pub(super) fn to_data(_: &Subject, _: &Paths, answer: Answered) -> Result<Data, Error> {
    Ok(match answer? {
        Answer::Data(data, stat) => to_value(&data, stat),
        other => unreachable!("a get is not answered with {other:?}"),
    })
}

pub(super) fn to_listing(_: &Subject, paths: &Paths, answer: Answered) -> Result<Listing, Error> {
    Ok(match answer? {
        Answer::Children(names, Some(stat)) => {
            Listing { names: names.into_iter().map(|name| paths.name(name).to_owned()).collect(), stat }
        }
        other => unreachable!("a listing is not answered with {other:?}"),
    })
}

pub(super) fn to_many(asked: &Subject, paths: &Paths, answer: Answered) -> Result<Vec<Option<Data>>, Error> {
    let value = |(index, found)| match found {
        Ok(Found::Data(data, stat)) => Ok(Some(to_value(&data, stat))),
        Err(Code::NoNode) => Ok(None),
        Err(code) => Err(asked.explain_operation(paths, index, code.into())),
        Ok(other) => unreachable!("a get is not answered with {other:?}"),
    };
    match answer? {
        Answer::Many(found) => found.into_iter().enumerate().map(value).collect(),
        other => unreachable!("a multiRead is not answered with {other:?}"),
    }
}

pub(super) fn to_results(asked: &Subject, paths: &Paths, answer: Answered) -> Result<Vec<OpResult>, Error> {
    Ok(match answer.map_err(|refusal| refused(asked, paths, refusal))? {
        Answer::Multi(results) => results
            .into_iter()
            .map(|result| match result {
                OpAnswer::Checked => OpResult::Checked,
                OpAnswer::Created(path) | OpAnswer::CreatedWith(_, path, _) => {
                    OpResult::Created(paths.text(path).to_owned())
                }
                OpAnswer::Deleted => OpResult::Deleted,
                OpAnswer::Set(stat) => OpResult::Set(stat),
            })
            .collect(),
        other => unreachable!("a multi is not answered with {other:?}"),
    })
}

fn refused(asked: &Subject, paths: &Paths, refusal: Refusal) -> Error {
    match refusal {
        Refusal::Multi { index, code, .. } => {
            let index = usize::from(index);
            Error::multi(index, asked.explain_operation(paths, index, code.into()))
        }
        refusal => refusal.into(),
    }
}

pub(super) fn to_nothing(_: &Subject, _: &Paths, answer: Answered) -> Result<(), Error> {
    Ok(answer.map(drop)?)
}

/// Converts data: the trait does not distinguish empty data from no data.
fn to_value(data: &Content, stat: Stat) -> Data {
    Data { data: data.as_deref().unwrap_or_default().to_vec(), stat }
}
