//! Frames, byte by byte.

use super::form::{Expect, Request};
use super::reply::{self, Header, Terms};
use super::wire::{self, Hello};

/// The bytes of a request after its xid, in hexadecimal digits.
fn sent(step: &str) -> String {
    let step: Request = serde_json::from_str(step).expect("it is a step");
    let frame = wire::request(&step, 7, 100).expect("it can be sent");
    frame[4..].iter().map(|byte| format!("{byte:02x}")).collect()
}

fn refused(step: &str) -> String {
    let step: Request = serde_json::from_str(step).expect("it is a step");
    wire::request(&step, 7, 100).expect_err("it cannot be sent")
}

/// The decoded reply with these parts.
fn told(op: &str, body: &[&[u8]]) -> Expect {
    let header = Header { xid: 7, zxid: 103, err: 0 };
    let labels = [(0x55, "a".to_owned())].into();
    reply::reply(op, header, &body.concat(), &Terms { z0: 100, labels }).expect("it is a reply")
}

/// All permissions for everyone.
const OPEN: &str = "000000010000001f00000005776f726c6400000006616e796f6e65";

#[test]
fn a_create_has_path_data_acl_and_mode() {
    let wanted = format!("00000001{}{}{}{}", "000000022f78", "0000000164", OPEN, "00000003");
    assert_eq!(
        sent(r#"{"op": "create", "path": "/x", "data": "d", "mode": "ephemeral_sequential"}"#),
        wanted
    );
    let wanted = format!("00000001{}{}{}{}", "000000022f78", "ffffffff", "ffffffff", "00000009");
    assert_eq!(
        sent(r#"{"op": "create", "path": "/x", "nulldata": true, "nullacl": true, "flags": 9}"#),
        wanted
    );
    let wanted = format!("00000015{}{}{}{}", "000000022f78", "00000000", OPEN, "000000050000000000000102");
    assert_eq!(sent(r#"{"op": "createTTL", "path": "/x", "ttl": 258}"#), wanted);
}

#[test]
fn permissions_are_letters_or_a_number() {
    let set = |acl: &str| format!(r#"{{"op": "setACL", "path": "/x", "acl": {acl}}}"#);
    let wanted = "00000007000000022f78000000010000001300000001730000000169ffffffff";
    assert_eq!(sent(&set(r#"[["rwa", "s", "i"]]"#)), wanted);
    assert_eq!(sent(&set(r#"[[19, "s", "i"]]"#)), wanted);
    assert_eq!(refused(&set(r#"[["rx", "s", "i"]]"#)), "there is no permission 'x'");
}

#[test]
fn set_watches_count_from_the_beginning_of_the_case() {
    let step =
        r#"{"op": "setWatches2", "relative": 4, "data": ["/d"], "child": ["/c"], "recursive": ["/r"]}"#;
    let none = "00000000";
    let one = |letter: &str| format!("00000001000000022f{letter}");
    let wanted = ["00000069", "0000000000000068", &one("64"), none, &one("63"), none, &one("72")].concat();
    assert_eq!(sent(step), wanted);
}

#[test]
fn a_multi_ends_with_an_empty_header() {
    let step = r#"{"op": "multi", "ops": [{"op": "check", "path": "/x", "version": 1}]}"#;
    let wanted =
        ["0000000e", "0000000d00ffffffff", "000000022f78", "00000001", "ffffffff01ffffffff"].concat();
    assert_eq!(sent(step), wanted);
}

#[test]
fn pings_and_authentications_have_xids_of_their_own() {
    let step = |op: &str| Request { op: op.to_owned(), scheme: Some("s".to_owned()), ..Request::default() };
    assert_eq!(wire::request(&step("ping"), 7, 0), Ok(wire::ping()));
    assert_eq!(wire::request(&step("auth"), 7, 0).unwrap()[..8], [255, 255, 255, 252, 0, 0, 0, 100]);
    assert_eq!(wire::request(&step("close"), 7, 0).unwrap(), [0, 0, 0, 7, 255, 255, 255, 245]);
}

#[test]
fn what_is_missing_or_unknown_is_said() {
    assert_eq!(refused(r#"{"op": "exists"}"#), "`path` is missing");
    assert_eq!(refused(r#"{"op": "exsits"}"#), r#"there is no operation "exsits""#);
    assert_eq!(
        refused(r#"{"op": "create", "path": "/x", "mode": "eternal"}"#),
        r#"there is no mode "eternal""#
    );
    let large = r#"{"op": "setData", "path": "/x", "size": 99999999999999}"#;
    assert_eq!(refused(large), "`size` is more than 16777216");
    assert_eq!(refused(r#"{"op": "multi", "ops": [{"op": "delete"}]}"#), "`path` is missing");
}

#[test]
fn a_hello_and_its_welcome() {
    let hello = Hello { last_zxid: 1, timeout: 2, session: 3, password: vec![9; 16], readonly: true };
    let frame = wire::hello(&hello);
    assert_eq!(frame.len(), 4 + 8 + 4 + 8 + 4 + 16 + 1);
    assert_eq!(frame[4..16], [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2]);
    let said = [&[0, 0, 0, 0, 0, 0, 19, 136][..], &3i64.to_be_bytes(), &[0, 0, 0, 2, 8, 8, 0]].concat();
    let welcome = reply::welcome(&said).unwrap();
    assert_eq!((welcome.timeout, welcome.session, welcome.password), (5000, 3, vec![8, 8]));
    assert!(reply::welcome(&said[..15]).is_err());
}

/// A stat created at 50, changed at 102 and owned by session 0x55.
fn stat() -> Vec<u8> {
    let longs = |values: &[i64]| values.iter().flat_map(|v| v.to_be_bytes()).collect::<Vec<u8>>();
    let ints = |values: &[i32]| values.iter().flat_map(|v| v.to_be_bytes()).collect::<Vec<u8>>();
    [longs(&[50, 102, 1, 2]), ints(&[3, 4, 5]), longs(&[0x55]), ints(&[6, 7]), longs(&[0])].concat()
}

const STAT: &str = r#"{"version": 3, "cversion": 4, "aversion": 5, "dataLength": 6, "numChildren": 7,
    "czxid": "pre", "mzxid": 2, "pzxid": "zero", "ephemeralOwner": "a"}"#;

fn expect(text: &str) -> Expect {
    serde_json::from_str(text).expect("it is an expectation")
}

#[test]
fn replies_are_told_as_expectations() {
    let wanted = format!(r#"{{"err": "OK", "zxid": 3, "data": null, "stat": {STAT}}}"#);
    assert_eq!(told("getData", &[&[255; 4], &stat()]), expect(&wanted));
    let wanted = r#"{"err": "OK", "zxid": 3, "children": ["a", "b"], "order": ["b", "a"]}"#;
    assert_eq!(told("getChildren", &[&[0, 0, 0, 2, 0, 0, 0, 1, b'b', 0, 0, 0, 1, b'a']]), expect(wanted));
    let wanted = format!(r#"{{"err": "OK", "zxid": 3, "acl": [["cdrwa", "s", ""]], "stat": {STAT}}}"#);
    let acl = [0, 0, 0, 1, 0, 0, 0, 31, 0, 0, 0, 1, b's', 0, 0, 0, 0];
    assert_eq!(told("getACL", &[&acl, &stat()]), expect(&wanted));
}

#[test]
fn the_results_of_a_multi() {
    let header = |op: i32, done: bool| [&op.to_be_bytes()[..], &[u8::from(done)], &[255; 4]].concat();
    let body: [&[u8]; 7] = [
        &header(1, false),
        &[0, 0, 0, 2, b'/', b'x'],
        &header(5, false),
        &stat(),
        &header(-1, false),
        &(-101i32).to_be_bytes(),
        &header(-1, true),
    ];
    let results = format!(r#"[{{"create": "/x"}}, {{"setData": {STAT}}}, {{"error": "NoNode"}}]"#);
    let wanted = format!(r#"{{"err": "OK", "zxid": 3, "results": {results}}}"#);
    assert_eq!(told("multi", &body), expect(&wanted));
}

#[test]
fn a_header_without_a_zxid_stays_without() {
    let terms = Terms { z0: 100, ..Terms::default() };
    assert_eq!([terms.zxid(-1), terms.zxid(0), terms.zxid(100), terms.zxid(101)], [-1, 0, 0, 1]);
}

#[test]
fn a_notification_names_its_state_if_that_is_not_the_usual_one() {
    let body =
        |state: i32| [&2i32.to_be_bytes()[..], &state.to_be_bytes(), &[0, 0, 0, 2, b'/', b'x']].concat();
    assert_eq!(reply::notice(&body(3)).unwrap(), ["NodeDeleted", "/x"]);
    assert_eq!(reply::notice(&body(0)).unwrap(), ["NodeDeleted", "/x", "Disconnected"]);
    assert!(reply::notice(&body(3)[..9]).is_err());
}
