//! What a server takes: requests that grow with use, with a chroot, and with what a caller gives.

use super::*;
use crate::core::Shared;
use crate::link::begin;
use crate::options::Options;
use std::time::Duration;
use zk_protocol::session::{Incoming, Slots};
use zk_recipes::zk::SessionId;

const TIMEOUT: Duration = Duration::from_secs(30);

/// A session below that chroot which has watches on these paths, and reconnects. Returns the requests that it sends by itself.
fn registered_again(root: &str, watches: impl Iterator<Item = String>) -> Vec<Vec<u8>> {
    let shared = Shared::new(TIMEOUT, 1, Root::new(root), usize::MAX);
    connects(&shared, 1);
    for (path, xid) in watches.zip(1..) {
        let request = shared.root.exists(&path, true).expect("the request is one that a server takes");
        shared.send(request, Some(Slots::take));
        let absent = Err(Code::NoNode.number());
        shared.receive(1, Incoming::Reply { xid, zxid: 7, result: absent });
    }
    shared.receive(1, Incoming::Fin);
    shared.act(|core, now, _| core.machine.retry_at(now));
    connects(&shared, 2);
    let mut sent = std::mem::take(&mut shared.lock().frames);
    std::iter::from_fn(|| frame::take(&mut sent).expect("a client knows its lengths")).collect()
}

fn connects(shared: &Shared, conn: u32) {
    shared.act(|core, now, out| core.machine.timer(now, out));
    assert_eq!(begin(shared), conn);
    let timeout = 30_000_000;
    shared.receive(conn, Incoming::Connected { session: SessionId(5), timeout, password: [0; 16] });
}

/// The number of paths in a request that registers watches again.
fn paths_in(request: &[u8]) -> usize {
    let mut from = In::new(&request[HEADER_BYTES + 8..]);
    let mut list = || from.list(|from| from.text()?.map(drop)).flatten().map_or(0, |all| all.len());
    (0..3).map(|_| list()).sum()
}

#[test]
fn watches_on_short_paths_below_a_long_chroot_are_registered_again_in_requests_that_a_server_takes() {
    const WATCHES: usize = 12_000;
    for root in [String::new(), format!("/{}", "x".repeat(119)), format!("/{}", "ü".repeat(200))] {
        let requests = registered_again(&root, (0..WATCHES).map(|n| format!("/{n}")));
        let (most, bytes) = (requests.iter().map(Vec::len).max(), root.len());
        assert!(most.is_some_and(|most| most <= 130 * 1024), "{most:?} bytes with a chroot of {bytes}");
        assert_eq!(requests.iter().map(|request| paths_in(request)).sum::<usize>(), WATCHES);
    }
}

/// The longest path that a session watches is one that it can register again.
#[test]
fn a_watch_that_could_not_be_registered_again_is_not_armed() {
    for root in [String::new(), format!("/{}", "x".repeat(500))] {
        let longest = path::MAX_REQUEST_BYTES - REWATCH_BYTES - LENGTH_BYTES - root.len();
        let fits = format!("/{}", "p".repeat(longest - 1));
        let requests = registered_again(&root, std::iter::once(fits));
        assert_eq!(requests.len(), 1);
        assert!(requests[0].len() <= path::MAX_REQUEST_BYTES, "{}", requests[0].len());
        let long = format!("/{}", "p".repeat(longest));
        let root = Root::new(&root);
        let armed = [
            root.exists(&long, true),
            root.get(&long, true),
            root.children(&long, true),
            root.watch_tree(&long),
        ];
        assert!(armed.iter().all(|armed| armed.as_ref().is_err_and(Error::is_bad_input)));
        assert!(root.get(&long, false).is_ok(), "without a watch it is read");
    }
}

#[test]
fn a_read_of_many_znodes_is_split_before_the_path_that_does_not_fit() {
    let root = Root::new("/app");
    let long = |letter: &str| format!("/{}", letter.repeat(600_000));
    let paths = ["/a".to_owned(), long("b"), "/c".to_owned(), long("d"), long("e")];
    let requests = root.get_many(&paths).expect("each of them can be read");
    assert!(requests.iter().all(|request| request.body.len() + HEADER_BYTES <= path::MAX_REQUEST_BYTES));
    assert!(requests.len() <= paths.len());
    assert_eq!(root.get_many(&[]).map(|requests| requests.len()), Ok(1));
}

#[test]
fn credentials_that_no_server_takes_are_refused_before_they_are_sent() {
    let with = |bytes: usize| Options::new(TIMEOUT).with_auth("digest", vec![b'x'; bytes]).can_work(&[]);
    let most = path::MAX_REQUEST_BYTES - 20 - "digest".len();
    assert!(with(most).is_ok());
    let Err(refused) = with(most + 1) else { panic!("a server would hang up") };
    assert!(refused.is_bad_input() && !refused.to_string().contains("xxx"), "{refused}");
}

#[test]
fn what_a_handle_adds_to_an_operation_is_counted() {
    let listed = Acl::of(&[("world", "anyone", "r"), ("digest", "ann:hash", "cdrwa")]).expect("it is a list");
    for (root, acl) in [("", Acl::anyone()), ("/app", Acl::creator()), ("/app/über", listed)] {
        let bytes = |root: &Root, acl: &Acl| {
            let create = root.create("/queue/item", b"", CreateMode::Persistent, acl);
            create.expect("it is small").body.len()
        };
        let counted = Root::new(root).added_bytes() + acl.added_bytes();
        let added = bytes(&Root::new(root), &acl).saturating_sub(bytes(&Root::default(), &Acl::anyone()));
        assert!(added <= counted, "{added} bytes more, {counted} counted");
    }
}
