use super::*;

fn entry(perms: i32, scheme: &str, id: &str) -> AclEntry {
    AclEntry { perms, scheme: scheme.into(), id: id.into() }
}

fn list(entries: &[AclEntry]) -> Acl {
    Acl::List(entries.into())
}

fn digest(id: &str) -> Identity {
    Identity { scheme: "digest".into(), id: id.into() }
}

#[test]
fn an_entry_lets_in_whom_it_names_for_what_it_grants() {
    let acl = list(&[entry(perms::READ, "world", "anyone"), entry(perms::WRITE, "digest", "u:x")]);
    assert!(acl.allows(perms::READ, &[]));
    assert!(!acl.allows(perms::WRITE, &[digest("v:x")]));
    assert!(acl.allows(perms::WRITE, &[digest("u:x")]));
    assert!(acl.allows(perms::READ | perms::ADMIN, &[]), "any of them is enough");
    assert!(acl.allows(perms::ADMIN, &[Identity { scheme: "super".into(), id: "".into() }]));
}

#[test]
fn addresses_match_by_their_first_bits() {
    let ids = [Identity::of_address("10.1.2.3")];
    for (expr, matches) in [
        ("10.1.2.3", true),
        ("10.1.2.4", false),
        ("10.1.0.0/16", true),
        ("10.1.3.0/24", false),
        ("10.1.2.0/30", true),
        ("0.0.0.0/0", true),
    ] {
        assert_eq!(list(&[entry(perms::READ, "ip", expr)]).allows(perms::READ, &ids), matches, "{expr}");
    }
}

#[test]
fn ill_formed_entries_make_the_list_invalid() {
    for (scheme, id) in [
        ("world", "me"),
        ("digest", "x"),
        ("digest", "x:y:z"),
        ("ip", "10.0.0"),
        ("ip", "10.0.0.256"),
        ("ip", "10.0.0.0/33"),
        ("ip", "10.0.0.0/"),
        ("ip", "localhost"),
        ("ip", "1.2.3.4.5"),
        ("auth", ""),
        ("super", ""),
        ("sasl", "x"),
        ("", ""),
    ] {
        let acl = list(&[entry(perms::ALL, "world", "anyone"), entry(perms::ALL, scheme, id)]);
        assert_eq!(acl.fixed_up(&[Identity::of_address("1.1.1.1")]), Err(Code::InvalidAcl), "{scheme}:{id}");
    }
    assert_eq!(list(&[]).fixed_up(&[]), Err(Code::InvalidAcl), "an empty list, too");
}

#[test]
fn auth_stands_for_every_digest_of_the_connection_and_duplicates_go() {
    let ids = [digest("u:1"), Identity::of_address("1.1.1.1"), digest("v:2")];
    let given = list(&[entry(1, "auth", "x"), entry(2, "ip", "1.2.3.4/8"), entry(1, "auth", "x")]);
    let fixed = [entry(1, "digest", "u:1"), entry(1, "digest", "v:2"), entry(2, "ip", "1.2.3.4/8")];
    assert_eq!(given.fixed_up(&ids), Ok(list(&fixed)));
}

#[test]
fn everything_to_everybody_is_the_open_list() {
    let open = entry(perms::ALL, "world", "anyone");
    assert_eq!(list(&[open.clone(), open]).fixed_up(&[]), Ok(Acl::Open));
}

#[test]
fn identities_come_in_the_order_of_javas_table_and_once() {
    let mut ids = vec![Identity::of_address("127.0.0.1")];
    for auth in ["u1:p1", "u2:p2", "u1:p1"] {
        for id in Identity::proven("digest", auth.as_bytes(), "", None).expect("a digest is never refused") {
            add_identity(&mut ids, id);
        }
    }
    let users: Vec<Arc<str>> = ids.iter().filter(|id| &*id.scheme == "digest").map(Identity::user).collect();
    assert_eq!(users, ["u2".into(), "u1".into()], "recorded from a real server");
    assert_eq!(ids.len(), 3);
}

#[test]
fn the_configured_digest_makes_super() {
    let of = |digest| Identity::proven("digest", b"super:admin", "", digest).expect("a digest").len();
    assert_eq!(of(Some("super:xQJmxLMiHGwaqBvst5y6rkB6HQs=")), 2);
    assert_eq!(of(None), 1);
    assert_eq!(Identity::proven("sasl", b"", "", None), Err(Code::AuthFailed));
}

#[test]
fn a_mask_hides_digests_only() {
    let given = list(&[entry(1, "digest", "u:secret"), entry(1, "ip", "1.1.1.1")]);
    assert_eq!(given.masked(), list(&[entry(1, "digest", "u:x"), entry(1, "ip", "1.1.1.1")]));
}
