//! The written form of a fault: its name, and the affected links or members.

use crate::ensemble::step::{Fault, LinkFault, Links, MemberFault};
use serde::Deserialize;

/// One or several.
#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

impl<T> From<OneOrMany<T>> for Vec<T> {
    fn from(them: OneOrMany<T>) -> Self {
        match them {
            OneOrMany::One(one) => vec![one],
            OneOrMany::Many(many) => many,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenFault {
    fault: String,
    m: Option<OneOrMany<String>>,
    frm: Option<OneOrMany<String>>,
    to: Option<OneOrMany<String>>,
    a: Option<OneOrMany<String>>,
    b: Option<OneOrMany<String>>,
}

/// Determines the affected links or members.
///
/// # Errors
///
/// There is no such fault, or it affects something else.
pub(super) fn fault(it: WrittenFault) -> Result<Fault, String> {
    let link = match it.fault.as_str() {
        "hold" => LinkFault::Hold,
        "release" => LinkFault::Release,
        "drop" | "cut" => LinkFault::Lose,
        "heal" => LinkFault::Heal,
        _ => return member_fault(it),
    };
    let may_be_all = matches!(link, LinkFault::Release | LinkFault::Heal);
    let links = match it {
        WrittenFault { m: None, frm: Some(from), to: Some(to), a: None, b: None, fault }
            if fault != "cut" =>
        {
            Links::Between(from.into(), to.into())
        }
        WrittenFault { m: None, frm: None, to: None, a: Some(a), b: Some(b), .. } => {
            Links::BothWays(a.into(), b.into())
        }
        WrittenFault { m: None, frm: None, to: None, a: None, b: None, .. } if may_be_all => Links::All,
        _ => return Err("a link is `frm` and `to`, or `a` and `b` for both ways".to_owned()),
    };
    Ok(Fault::Link(link, links))
}

fn member_fault(mut it: WrittenFault) -> Result<Fault, String> {
    let fault = match it.fault.as_str() {
        "kill" => MemberFault::Kill,
        "start" => MemberFault::Start,
        "pause" => MemberFault::Pause,
        "resume" => MemberFault::Resume,
        "disk_stop" => MemberFault::DiskStop,
        "disk_resume" => MemberFault::DiskResume,
        "apply_stop" => MemberFault::ApplyStop,
        "apply_resume" => MemberFault::ApplyResume,
        "commit_stop" => MemberFault::CommitStop,
        "commit_resume" => MemberFault::CommitResume,
        name => return Err(format!("there is no fault {name:?}")),
    };
    if matches!(fault, MemberFault::CommitStop | MemberFault::CommitResume) {
        // Only the leader has this stage.
        it.m.get_or_insert(OneOrMany::One("L".to_owned()));
    }
    match it {
        WrittenFault { m: Some(members), frm: None, to: None, a: None, b: None, .. } => {
            Ok(Fault::MemberId(fault, members.into()))
        }
        _ => Err("it has members, `m`, and nothing else".to_owned()),
    }
}
