//! ZooKeeper's path rules, checked before a request is sent.
//!
//! The server applies only part of the rules to some operations, and closes the connection on a request that is too long.
//! So this client checks first, as the Java client does (`PathUtils.validatePath`; `jute.maxbuffer`).

use super::{Error, ErrorKind, Op};

/// The longest request a server takes by default, header and path and data together (`jute.maxbuffer`), in bytes.
pub const MAX_REQUEST_BYTES: usize = 0xfffff;

/// The overhead of a create beside its path and its data: header, lengths, one access list entry, flags.
const CREATE_OVERHEAD_BYTES: usize = 64;

/// Checks a whole path: absolute, no empty, `.` or `..` component, no control character, nothing above U+FFFF.
///
/// # Errors
///
/// [`Error::is_bad_input`] with one sentence.
pub fn validate(path: &str) -> Result<(), Error> {
    let bad = |why: &str| Err(ErrorKind::BadInput(format!("path {path:?} {why}")).into());
    if path.len() > MAX_REQUEST_BYTES {
        // The sentence does not quote a megabyte.
        let bytes = path.len();
        return Err(ErrorKind::BadInput(format!(
            "a path of {bytes} bytes: a server takes {MAX_REQUEST_BYTES}"
        ))
        .into());
    }
    if path.is_empty() {
        return bad("is empty");
    }
    if !path.starts_with('/') {
        return bad("is not absolute: it must begin with '/'");
    }
    if path == "/" {
        return Ok(());
    }
    if path.ends_with('/') {
        return bad("ends in '/'");
    }
    for part in path[1..].split('/') {
        match part {
            "" => return bad("has an empty component"),
            "." | ".." => return bad("has a relative component"),
            _ => {}
        }
    }
    if path.bytes().all(|b| (0x20..0x7f).contains(&b)) {
        return Ok(());
    }
    match path.chars().find(|c| is_forbidden(*c)) {
        Some(c) => bad(&format!("has the character U+{:04X}, which ZooKeeper does not allow", c as u32)),
        None => Ok(()),
    }
}

/// Checks the directory of a recipe: a valid path that is neither the root nor below `/zookeeper`.
///
/// # Errors
///
/// [`Error::is_bad_input`] with one sentence.
pub fn validate_directory(path: &str) -> Result<(), Error> {
    validate(path)?;
    if path == "/" {
        return Err(ErrorKind::BadInput("a recipe needs a directory of its own, not the root".into()).into());
    }
    if path == "/zookeeper" || path.starts_with("/zookeeper/") {
        return Err(ErrorKind::BadInput(format!("path {path:?} lies in ZooKeeper's own directory")).into());
    }
    Ok(())
}

/// Checks that a create of `path` with `data` fits into one request of `most` bytes: see
/// [`ZooKeeper::max_request_bytes`](super::ZooKeeper::max_request_bytes).
///
/// # Errors
///
/// [`Error::is_bad_input`] with the sizes.
pub fn validate_size(most: usize, path: &str, data: &[u8]) -> Result<(), Error> {
    let bytes = path.len() + data.len() + CREATE_OVERHEAD_BYTES;
    if bytes > most {
        return Err(ErrorKind::BadInput(format!(
            "{} bytes of data for {path:?} make a request of {bytes} bytes; a server takes {most}",
            data.len()
        ))
        .into());
    }
    Ok(())
}

/// The assumed size of an operation of a transaction beside its path and data.
pub(crate) const OP_OVERHEAD_BYTES: usize = 64;

/// Checks that the operations of a transaction fit into one request of `most` bytes. `what` is the subject of the error, with its verb.
///
/// # Errors
///
/// [`Error::is_bad_input`] with the size.
pub fn validate_total(most: usize, ops: &[Op], what: impl FnOnce() -> String) -> Result<(), Error> {
    let size = |op: &Op| match op {
        Op::Create { path, data, .. } | Op::Set { path, data, .. } => path.len() + data.len(),
        Op::Delete { path, .. } | Op::Check { path, .. } => path.len(),
    };
    let bytes: usize = ops.iter().map(|op| size(op) + OP_OVERHEAD_BYTES).sum();
    if bytes > most {
        let what = what();
        return Err(
            ErrorKind::BadInput(format!("{what} a request of {bytes} bytes; a server takes {most}")).into()
        );
    }
    Ok(())
}

/// The path of the znode `name` below `directory`.
pub fn join(directory: &str, name: &str) -> String {
    let mut path = String::with_capacity(directory.len() + 1 + name.len());
    path.push_str(if directory == "/" { "" } else { directory });
    path.push('/');
    path.push_str(name);
    path
}

/// The parent of a path, and the name below it.
pub fn split(path: &str) -> (&str, &str) {
    match path.rfind('/') {
        Some(0) => ("/", &path[1..]),
        Some(at) => (&path[..at], &path[at + 1..]),
        None => ("/", path),
    }
}

fn is_forbidden(c: char) -> bool {
    matches!(c as u32, 0..=0x1f | 0x7f..=0x9f | 0xd800..=0xf8ff | 0xfff0..)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, expected: &str) {
        let found = match validate(path) {
            Ok(()) => "ok".to_owned(),
            Err(e) => e.to_string(),
        };
        assert_eq!(found, expected, "{path:?}");
    }

    #[test]
    fn paths_follow_the_rule_of_the_java_client() {
        check("/", "ok");
        check("/a/b", "ok");
        check("/a b/%/.../a..b/.a", "ok");
        check("/\u{a0}\u{f900}", "ok");
        check("", r#"bad input: path "" is empty"#);
        check("a", r#"bad input: path "a" is not absolute: it must begin with '/'"#);
        check("/a/", r#"bad input: path "/a/" ends in '/'"#);
        check("/a//b", r#"bad input: path "/a//b" has an empty component"#);
        check("/a/../b", r#"bad input: path "/a/../b" has a relative component"#);
        check(
            "/a\u{1}",
            r#"bad input: path "/a\u{1}" has the character U+0001, which ZooKeeper does not allow"#,
        );
        let long = "/a".repeat(MAX_REQUEST_BYTES);
        check(&long, "bad input: a path of 2097150 bytes: a server takes 1048575");
        check("/🔒", r#"bad input: path "/🔒" has the character U+1F512, which ZooKeeper does not allow"#);
    }

    #[test]
    fn a_recipe_keeps_out_of_the_root_and_of_zookeepers_own_directory() {
        assert!(validate_directory("/locks").is_ok());
        assert!(validate_directory("/").is_err());
        assert!(validate_directory("/zookeeper/locks").is_err());
        assert!(validate_directory("/zookeepers").is_ok());
    }

    #[test]
    fn a_transaction_may_be_as_large_as_a_server_takes() {
        let create = |bytes: usize| Op::Create {
            path: "/a".to_owned(),
            data: vec![0; bytes],
            mode: crate::zk::CreateMode::Persistent,
        };
        let room = MAX_REQUEST_BYTES - 2 * (OP_OVERHEAD_BYTES + "/a".len());
        let total =
            |bytes| validate_total(MAX_REQUEST_BYTES, &[create(0), create(bytes)], || "they make".to_owned());
        assert_eq!(total(room), Ok(()));
        assert!(
            total(room + 1).is_err_and(|e| e.to_string().contains("they make a request of 1048576 bytes"))
        );
    }

    #[test]
    fn a_path_splits_where_it_was_joined() {
        assert_eq!(split(&join("/a", "b")), ("/a", "b"));
        assert_eq!(split(&join("/", "b")), ("/", "b"));
    }
}
