//! Encoding of server packets.

use super::{bytes, hex, request, wire};
use crate::acl::{Acl, AclEntry};
use crate::message::{Answer, Code, CreateForm, Down, Found, OpAnswer, Refusal};
use crate::paths::Paths;
use crate::wire::{Codec, password};
use zk_protocol::wire::number;
use zk_recipes::zk::{EventKind, SessionId, Stat};

#[test]
fn a_welcome_says_whether_it_only_reads_to_those_who_know_what_that_is() {
    let said = |hello_ends_with: &[u8]| {
        let mut codec = Codec::default();
        let hello = wire(|out| _ = out.int(0).long(0).int(9).long(0).buffer(Some(&[0; 16])));
        codec.hello(&[&hello, hello_ends_with].concat());
        let session = SessionId(0x0100_00be_e4f6_0000);
        let down = Down::Connected { session, timeout: 10_000_000, password: password(session) };
        hex(&codec.frame(&down, &Paths::default()).expect("it is a frame"))
    };
    let wanted = "0000000000002710010000bee4f600000000001008489d9df50ca48e266e5a2fc652217d";
    assert_eq!(said(&[0]), format!("{wanted}00"));
    assert_eq!(said(&[]), wanted);
}

/// Returns what follows the header of a reply with that result, in hexadecimal digits.
fn replied(result: Result<Answer, Refusal>, paths: &Paths) -> String {
    let down = Down::Reply { xid: 7, zxid: 2, result };
    let frame = Codec::default().frame(&down, paths).expect("a reply is a frame");
    let header = "000000070000000000000002";
    hex(&frame).strip_prefix(header).expect("every reply begins with xid and zxid").to_owned()
}

const STAT: &str = "0000000000000011000000000000001200000000000000010000000000000002\
                    000000030000000400000005000000000000000600000007000000080000000000000009";

fn stat() -> Stat {
    Stat {
        czxid: 0x11,
        mzxid: 0x12,
        ctime: 1,
        mtime: 2,
        version: 3,
        cversion: 4,
        aversion: 5,
        ephemeral_owner: SessionId(6),
        data_length: 7,
        num_children: 8,
        pzxid: 9,
    }
}

#[test]
fn replies_have_the_body_of_their_operation() {
    let mut paths = Paths::default();
    let (a, b) = (paths.intern("/x/a"), paths.intern("/x/b"));
    let check = |answer: Answer, wanted: String| {
        assert_eq!(replied(Ok(answer), &paths), "00000000".to_owned() + &wanted)
    };
    let path = "000000042f782f61";
    check(Answer::Path(a), path.into());
    check(Answer::Created { path: a, stat: stat() }, format!("{path}{STAT}"));
    check(Answer::Stat(stat()), STAT.into());
    check(Answer::Data(Some(bytes("d")), stat()), format!("0000000164{STAT}"));
    check(Answer::Data(Some(bytes("")), stat()), format!("00000000{STAT}"));
    check(Answer::Data(None, stat()), format!("ffffffff{STAT}"));
    let names = "0000000200000001620000000161";
    check(Answer::Children(vec![b, a], None), names.into());
    check(Answer::Children(vec![b, a], Some(stat())), format!("{names}{STAT}"));
    check(Answer::Ephemerals(vec![a]), format!("00000001{path}"));
    check(Answer::Number(5), "00000005".into());
    let everybody = "000000010000001f00000005776f726c6400000006616e796f6e65";
    check(Answer::Acl(Acl::Open, stat()), format!("{everybody}{STAT}"));
    let entry = AclEntry { perms: 1, scheme: "s".into(), id: "".into() };
    check(
        Answer::Acl(Acl::List([entry].into()), stat()),
        format!("0000000100000001000000017300000000{STAT}"),
    );
    let who = ("ip".into(), "127.0.0.1".into());
    check(Answer::Clients(vec![who]), "00000001000000026970000000093132372e302e302e31".into());
    check(Answer::NoToken, "ffffffff".into());
    check(Answer::Nothing, String::new());
}

#[test]
fn a_refusal_has_no_body() {
    let paths = Paths::default();
    assert_eq!(replied(Err(Code::NoNode.into()), &paths), "ffffff9b");
    let down = Down::Reply { xid: 7, zxid: -1, result: Err(Code::Unimplemented.into()) };
    let frame = Codec::default().frame(&down, &paths).expect("a reply is a frame");
    assert_eq!(hex(&frame), "00000007fffffffffffffffffffffffa");
}

#[test]
fn the_results_of_a_multi_have_headers_of_their_own() {
    let mut paths = Paths::default();
    let x = paths.intern("/x");
    let results = vec![
        OpAnswer::Checked,
        OpAnswer::Created(x),
        OpAnswer::CreatedWith(CreateForm::Container, x, stat()),
        OpAnswer::Deleted,
        OpAnswer::Set(stat()),
    ];
    let header = |op: &str| format!("{op}0000000000");
    let path = "000000022f78";
    let wanted = [
        "00000000",
        &header("0000000d"),
        &header("00000001"),
        path,
        &header("0000000f"),
        path,
        STAT,
        &header("00000002"),
        &header("00000005"),
        STAT,
        "ffffffff01ffffffff",
    ];
    assert_eq!(replied(Ok(Answer::Multi(results)), &paths), wanted.concat());
    assert_eq!(replied(Ok(Answer::Multi(Vec::new())), &paths), "00000000ffffffff01ffffffff");
}

#[test]
fn a_multi_that_failed_is_answered_ok_with_an_error_for_each_operation() {
    let refusal = Refusal::Multi { index: 1, of: 4, code: Code::NoNode };
    let error = |code: &str| format!("ffffffff00{code}{code}");
    let (before, failed, later) = (error("00000000"), error("ffffff9b"), error("fffffffe"));
    let wanted = format!("00000000{before}{failed}{later}{later}ffffffff01ffffffff");
    assert_eq!(replied(Err(refusal), &Paths::default()), wanted);
}

#[test]
fn a_multi_read_tells_of_each_operation_for_itself() {
    let mut paths = Paths::default();
    let child = paths.intern("/x/a");
    let results = vec![Ok(Found::Data(None, stat())), Err(Code::NoNode), Ok(Found::Children(vec![child]))];
    let wanted = [
        "00000000",
        "000000040000000000ffffffff",
        STAT,
        "ffffffff00ffffff9bffffff9b",
        "0000000800000000000000000100000001",
        "61",
        "ffffffff01ffffffff",
    ];
    assert_eq!(replied(Ok(Answer::Many(results)), &paths), wanted.concat());
}

#[test]
fn add_watch_is_answered_by_an_error_that_is_none() {
    let mut paths = Paths::default();
    let mut codec = Codec::default();
    codec.request(&request(number::ADD_WATCH, |out| _ = out.text("/a").int(0)), &mut paths);
    let down = |xid| Down::Reply { xid, zxid: 2, result: Ok(Answer::Nothing) };
    let mut said = |xid| hex(&codec.frame(&down(xid), &paths).expect("a reply is a frame"));
    assert_eq!(said(6), "00000006000000000000000200000000");
    assert_eq!(said(7), "0000000700000000000000020000000000000000");
    assert_eq!(said(7), "00000007000000000000000200000000");
}

#[test]
fn a_notification_names_the_event_and_the_path() {
    let mut paths = Paths::default();
    let path = paths.intern("/x");
    let said = |kind| Codec::default().frame(&Down::Notify { kind, path }, &paths).expect("it is a frame");
    let wanted = |kind: &str| format!("ffffffffffffffffffffffff00000000{kind}00000003000000022f78");
    assert_eq!(hex(&said(EventKind::NodeCreated)), wanted("00000001"));
    assert_eq!(hex(&said(EventKind::NodeDeleted)), wanted("00000002"));
    assert_eq!(hex(&said(EventKind::NodeDataChanged)), wanted("00000003"));
    assert_eq!(hex(&said(EventKind::NodeChildrenChanged)), wanted("00000004"));
    assert_eq!(Codec::default().frame(&Down::Fin, &paths), None);
}
