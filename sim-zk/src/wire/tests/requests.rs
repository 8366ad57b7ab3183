//! Decoding of client frames.

use super::{bytes, end, op, open, request, wire};
use crate::acl::{Acl, AclEntry};
use crate::message::{Ask, AskOp, CreateForm, Creation, ReadOp, Up, Watching};
use crate::paths::{PathId, Paths};
use crate::wire::{Codec, MAX_FRAME_BYTES, password};
use zk_protocol::wire::jute::Out;
use zk_protocol::wire::number;
use zk_recipes::zk::SessionId;

/// Decodes a request with that body: returns it with the interned paths.
fn asked(op: i32, body: impl FnOnce(&mut Out)) -> (Ask, Paths) {
    let mut paths = Paths::default();
    match Codec::default().request(&request(op, body), &mut paths) {
        Up::Request { xid: 7, ask, .. } => (ask, paths),
        other => panic!("a request with the xid 7, not {other:?}"),
    }
}

/// Returns the only path of the request, which was interned last.
fn last(paths: &Paths) -> PathId {
    PathId(u32::try_from(paths.len() - 1).expect("there are few"))
}

#[test]
fn a_hello_names_a_session_and_what_was_seen() {
    let hello = |password: Option<&[u8]>, timeout: i32| {
        wire(|out| _ = out.int(0).long(5).int(timeout).long(0x99).buffer(password))
    };
    let right = password(SessionId(0x99));
    let wanted =
        |password, timeout| Up::Connect { session: SessionId(0x99), last_zxid: 5, timeout, password };
    assert_eq!(Codec::default().hello(&hello(Some(&right), 4000)), wanted(right, 4_000_000));
    for wrong in [None, Some(&right[..15]), Some(&[0; 17])] {
        let Up::Connect { password, timeout: 0, .. } = Codec::default().hello(&hello(wrong, -5)) else {
            panic!("it can be read");
        };
        assert_ne!(password, right);
    }
    assert_eq!(Codec::default().hello(&hello(Some(&right), 4000)[..43]), Up::Unreadable);
    assert_eq!(Codec::default().hello(&[]), Up::Unreadable);
}

#[test]
fn creates_keep_what_is_null_apart_from_what_is_empty() {
    let body = |out: &mut Out| _ = open(out.text("/x").buffer(None)).int(9);
    let (ask, paths) = asked(number::CREATE, body);
    let plain = Creation {
        form: CreateForm::Create,
        path: last(&paths),
        data: None,
        acl: Acl::Open,
        flags: 9,
        ttl: 0,
    };
    assert_eq!(paths.text(plain.path), "/x");
    assert_eq!(ask, Ask::Create(Box::new(plain.clone())));

    let entry = AclEntry { perms: 3, scheme: "digest".into(), id: "u:p".into() };
    let body = |out: &mut Out| {
        out.text("/x").buffer(Some(b"")).int(1).int(3).text("digest").text("u:p").int(5).long(258);
    };
    let (ask, _) = asked(number::CREATE_TTL, body);
    let (data, acl) = (Some(bytes("")), Acl::List([entry].into()));
    let wanted = Creation { form: CreateForm::Ttl, data, acl, flags: 5, ttl: 258, ..plain.clone() };
    assert_eq!(ask, Ask::Create(Box::new(wanted)));

    for none in [-1, 0, -7] {
        let (ask, _) = asked(number::CREATE_2, |out| _ = out.text("/x").buffer(None).int(none).int(9));
        let wanted = Creation { form: CreateForm::Create2, acl: Acl::List([].into()), ..plain.clone() };
        assert_eq!(ask, Ask::Create(Box::new(wanted)), "a list of {none} entries");
    }
}

#[test]
fn every_operation_is_understood() {
    let check = |op: i32, body: &dyn Fn(&mut Out), wanted: &dyn Fn(PathId) -> Ask| {
        let (ask, paths) = asked(op, body);
        assert_eq!(ask, wanted(last(&paths)));
    };
    let path: &dyn Fn(&mut Out) = &|out| _ = out.text("/x");
    let watched: &dyn Fn(&mut Out) = &|out| _ = out.text("/x").bool(true);
    let number: &dyn Fn(&mut Out) = &|out| _ = out.text("/x").int(3);
    let nothing: &dyn Fn(&mut Out) = &|_| {};
    check(number::DELETE, number, &|path| Ask::Delete { path, version: 3 });
    check(number::CHECK, number, &|path| Ask::Check { path, version: 3 });
    let set: &dyn Fn(&mut Out) = &|out| _ = out.text("/x").buffer(Some(b"d")).int(-1);
    check(number::SET_DATA, set, &|path| Ask::Set { path, data: Some(bytes("d")), version: -1 });
    let set_acl: &dyn Fn(&mut Out) = &|out| _ = open(out.text("/x")).int(2);
    check(number::SET_ACL, set_acl, &|path| Ask::SetAcl { path, acl: Acl::Open, version: 2 });
    check(number::EXISTS, watched, &|path| Ask::Exists { path, watch: true });
    check(number::GET_DATA, watched, &|path| Ask::Get { path, watch: true });
    check(number::GET_CHILDREN, watched, &|path| Ask::Children { path, watch: true, stat: false });
    check(number::GET_CHILDREN_2, watched, &|path| Ask::Children { path, watch: true, stat: true });
    check(number::GET_ACL, path, &|path| Ask::GetAcl { path });
    check(number::GET_ALL_CHILDREN_NUMBER, path, &|path| Ask::CountDescendants { path });
    check(number::GET_EPHEMERALS, path, &|_| Ask::Ephemerals { prefix: "/x".into() });
    check(number::SYNC, path, &|path| Ask::Sync { path });
    check(number::ADD_WATCH, number, &|path| Ask::AddWatch { path, mode: 3 });
    check(number::REMOVE_WATCHES, number, &|path| Ask::RemoveWatches { path, kind: 3 });
    check(number::CHECK_WATCHES, number, &|path| Ask::CheckWatches { path, kind: 3 });
    check(number::WHO_AM_I, nothing, &|_| Ask::WhoAmI);
    check(number::CLOSE_SESSION, nothing, &|_| Ask::CloseSession);
    check(77, nothing, &|_| Ask::Unknown(77));
    check(0, nothing, &|_| Ask::Unknown(0));
    let auth: &dyn Fn(&mut Out) = &|out| _ = out.int(0).text("digest").buffer(Some(b"u:p"));
    check(number::AUTH, auth, &|_| Ask::Auth { scheme: "digest".into(), auth: bytes("u:p") });
    let sasl: &dyn Fn(&mut Out) = &|out| _ = out.buffer(Some(b"token"));
    check(number::SASL, sasl, &|_| Ask::Sasl { token: bytes("token") });
    let reconfig: &dyn Fn(&mut Out) = &|out| _ = out.buffer(None).buffer(None).buffer(None).long(-1);
    check(number::RECONFIG, reconfig, &|_| Ask::Reconfig);
}

#[test]
fn a_ping_is_answered_by_its_own_xid_whatever_it_says() {
    let up = Codec::default().request(&request(number::PING, |_| {}), &mut Paths::default());
    assert_eq!(up, Up::Request { xid: -2, ask: Ask::Ping, tag: Default::default() });
}

#[test]
fn the_lists_of_set_watches() {
    let list = |out: &mut Out, paths: &[&str]| _ = out.list(paths, |out, path| _ = out.text(path));
    let (ask, mut paths) = asked(number::SET_WATCHES_2, |out| {
        out.long(4);
        for each in [&["/d", "/e"][..], &[], &["/c"], &["/p"], &["/r"]] {
            list(out, each);
        }
    });
    let mut all = |texts: &[&str]| texts.iter().map(|text| paths.intern(text)).collect::<Vec<_>>();
    let (data, child) = (all(&["/d", "/e"]), all(&["/c"]));
    let (persistent, recursive) = (all(&["/p"]), all(&["/r"]));
    let wanted = Watching { relative: 4, data, exist: Vec::new(), child, persistent, recursive };
    assert_eq!(ask, Ask::SetWatches(Box::new(wanted)));
    let three = |length: i32| asked(number::SET_WATCHES, |out| _ = out.long(4).int(length).int(0).int(0)).0;
    assert_eq!(three(-7), Ask::SetWatches(Box::new(Watching { relative: 4, ..Watching::default() })));
    assert_eq!(three(-1), Ask::Malformed(number::SET_WATCHES));
}

#[test]
fn the_operations_of_a_multi() {
    let (ask, paths) = asked(number::MULTI, |out| {
        op(out, number::CHECK).text("/x").int(1);
        op(out, number::DELETE).text("/x").int(2);
        op(out, number::SET_DATA).text("/x").buffer(None).int(3);
        op(out, number::GET_DATA).text("/x").bool(false);
        end(out);
    });
    let path = last(&paths);
    let set = AskOp::Set { path, data: None, version: 3 };
    let (check, delete) = (AskOp::Check { path, version: 1 }, AskOp::Delete { path, version: 2 });
    assert_eq!(ask, Ask::Multi(vec![check, delete, set, AskOp::Other(4)]));
    assert_eq!(asked(number::MULTI, end).0, Ask::Multi(Vec::new()));
    let unknown = |out: &mut Out| end(op(out, 77));
    assert_eq!(asked(number::MULTI, unknown).0, Ask::Malformed(number::MULTI));
}

#[test]
fn in_a_multi_the_flags_choose_the_kind_of_create() {
    let form = |number: i32, flags: i32| {
        let ask = asked(number::MULTI, |out| {
            open(op(out, number).text("/x").buffer(None)).int(flags);
            if number == number::CREATE_TTL {
                out.long(9);
            }
            end(out);
        });
        match ask.0 {
            Ask::Multi(ops) => match ops.as_slice() {
                [AskOp::Create(Creation { form, ttl, .. })] => Some((*form, *ttl)),
                other => panic!("{other:?} is not one create"),
            },
            _ => None,
        }
    };
    assert_eq!(form(number::CREATE_2, 3), Some((CreateForm::Create, 0)));
    assert_eq!(form(number::CREATE, 4), Some((CreateForm::Container, 0)));
    assert_eq!(form(number::CREATE_CONTAINER, 0), Some((CreateForm::Create, 0)));
    assert_eq!(form(number::CREATE_TTL, 0), Some((CreateForm::Create, 0)));
    assert_eq!(form(number::CREATE_TTL, 6), Some((CreateForm::Ttl, 9)));
    assert_eq!(form(number::CREATE, 5), None);
}

#[test]
fn the_operations_of_a_multi_read() {
    let (ask, paths) = asked(number::MULTI_READ, |out| {
        op(out, number::GET_CHILDREN).text("/x").bool(true);
        op(out, number::GET_DATA).text("/x").bool(true);
        end(out);
    });
    let path = last(&paths);
    assert_eq!(ask, Ask::MultiRead(vec![ReadOp::Children(path), ReadOp::Get(path)]));
    let delete = |out: &mut Out| end(op(out, number::DELETE).text("/x").int(-1));
    assert_eq!(asked(number::MULTI_READ, delete).0, Ask::Malformed(number::MULTI_READ));
}

#[test]
fn what_ends_early_or_says_nonsense_is_malformed() {
    let malformed = |op: i32, body: &dyn Fn(&mut Out)| {
        assert_eq!(asked(op, body).0, Ask::Malformed(op));
    };
    malformed(number::SYNC, &|_| {});
    malformed(number::GET_DATA, &|out| _ = out.int(900).bool(true));
    malformed(number::GET_DATA, &|out| _ = out.text("/x"));
    malformed(number::MULTI, &|out| _ = out.int(1));
    malformed(number::CREATE, &|out| _ = open(out.text("/x").int(-5)).int(0));
    malformed(number::CREATE_SESSION, &|_| {});
    // A list whose length exceeds any memory.
    malformed(number::SET_WATCHES, &|out| _ = out.long(0).int(i32::MAX));
    // Null paths, on which ZooKeeper fails.
    for op in [number::EXISTS, number::DELETE, number::CHECK_WATCHES, number::GET_ACL] {
        malformed(op, &|out| _ = out.buffer(None).int(1).int(1));
    }
    let (ask, paths) = asked(number::SET_DATA, |out| _ = out.buffer(None).buffer(None).int(1));
    assert!(
        matches!(ask, Ask::Set { path, .. } if paths.text(path).is_empty()),
        "it is a bad argument there"
    );
}

#[test]
fn some_frames_make_a_server_hang_up() {
    let unreadable = |frame: &[u8]| {
        let mut paths = Paths::default();
        assert_eq!(Codec::default().request(frame, &mut paths), Up::Unreadable);
        assert_eq!(paths.len(), Paths::default().len(), "it was not looked into");
    };
    unreadable(&[]);
    unreadable(&[0; 7]);
    unreadable(&request(number::AUTH, |out| _ = out.int(0)));
    let longest = request(number::SYNC, |out| _ = out.buffer(Some(&vec![b'x'; MAX_FRAME_BYTES - 12])));
    assert_eq!(longest.len(), MAX_FRAME_BYTES);
    assert!(matches!(Codec::default().request(&longest, &mut Paths::default()), Up::Request { .. }));
    unreadable(&[&longest[..], &[0]].concat());
}

#[test]
fn a_path_of_nothing_but_ancestors_does_not_fill_the_memory() {
    let deep = "/a".repeat(400_000);
    let (ask, paths) = asked(number::SYNC, |out| _ = out.text(&deep));
    assert_eq!(ask, Ask::Sync { path: last(&paths) });
    assert_eq!(paths.len(), Paths::default().len() + 1, "its ancestors are nobody's business yet");
}

#[test]
fn an_authentication_without_data_fails_as_digest_and_does_as_ip() {
    let scheme = |scheme: &str| match asked(number::AUTH, |out| _ = out.int(0).text(scheme).buffer(None)).0 {
        Ask::Auth { scheme, .. } => scheme.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(scheme("digest"), "");
    assert_eq!(scheme("ip"), "ip");
}
