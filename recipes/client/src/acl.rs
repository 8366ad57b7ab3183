//! Access lists of the znodes that a handle creates.

use zk_protocol::wire::jute::Out;
use zk_recipes::zk::{Error, ErrorKind};

/// The access list of every znode that a handle creates.
///
/// A recipe reads, writes, creates and deletes its own znodes and those of its other users: all of them need `cdrw`. A
/// missing permission shows as [`Error::is_denied`].
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Acl(Rights);

#[derive(Clone, Debug, PartialEq, Eq, Default)]
enum Rights {
    #[default]
    Anyone,
    Creator,
    Listed(Vec<Entry>),
}

/// An entry: permissions, scheme, id.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry(i32, String, String);

/// The letters of ZooKeeper's command line, in the order in which it writes them.
const LETTERS: [(char, i32); 5] = [('c', 4), ('d', 8), ('r', 1), ('w', 2), ('a', 16)];

/// All permissions.
const ALL: i32 = 31;

impl Acl {
    /// All permissions for every client, authenticated or not: `world:anyone:cdrwa`.
    pub const fn anyone() -> Acl {
        Acl(Rights::Anyone)
    }

    /// All permissions for clients with the creator's credentials, none for others: `auth::cdrwa`. Without credentials a
    /// create fails with [`Error::is_denied`].
    pub const fn creator() -> Acl {
        Acl(Rights::Creator)
    }

    /// Entries as ZooKeeper's command line has them: scheme, id, and letters of `cdrwa` (create, delete, read, write,
    /// admin).
    ///
    /// ```
    /// use zk_client::Acl;
    ///
    /// let acl = Acl::of(&[("sasl", "printer", "cdrwa"), ("world", "anyone", "r")])?;
    /// # assert_ne!(acl, Acl::anyone());
    /// # Ok::<(), zk_recipes::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::is_bad_input`]: no entry, an entry without scheme or permission, or an unknown letter. Only
    /// the server validates schemes and ids, and refuses the first create ([`Error::is_denied`]).
    pub fn of(entries: &[(&str, &str, &str)]) -> Result<Acl, Error> {
        if entries.is_empty() {
            return Err(ErrorKind::BadInput(
                "an access list needs an entry, or nobody could do anything".to_owned(),
            )
            .into());
        }
        let listed: Result<_, Error> =
            entries.iter().map(|(scheme, id, letters)| entry(scheme, id, letters)).collect();
        Ok(Acl(Rights::Listed(listed?)))
    }

    /// The bytes by which the list is longer than that of [`anyone`](Self::anyone).
    pub(super) fn added_bytes(&self) -> usize {
        let bytes = |acl: &Acl| {
            let mut out = Out::default();
            acl.write(&mut out);
            out.len()
        };
        bytes(self).saturating_sub(bytes(&Acl::anyone()))
    }

    pub(super) fn write(&self, out: &mut Out) {
        let mut one = |scheme: &str, id: &str| _ = out.int(1).int(ALL).text(scheme).text(id);
        match &self.0 {
            Rights::Anyone => one("world", "anyone"),
            Rights::Creator => one("auth", ""),
            Rights::Listed(entries) => {
                out.list(entries, |out, Entry(perms, scheme, id)| _ = out.int(*perms).text(scheme).text(id));
            }
        }
    }
}

fn entry(scheme: &str, id: &str, letters: &str) -> Result<Entry, Error> {
    let bad = |why: String| {
        Err(ErrorKind::BadInput(format!("access list entry {scheme}:{id}:{letters} {why}")).into())
    };
    if scheme.is_empty() {
        return bad("has no scheme, such as world, auth, digest, sasl, x509 or ip".to_owned());
    }
    if letters.is_empty() {
        return bad("has no permission: letters of cdrwa".to_owned());
    }
    let mut permissions = 0;
    for letter in letters.chars() {
        match LETTERS.iter().find(|(known, _)| *known == letter) {
            Some((_, more)) => permissions |= more,
            None => return bad(format!("has the permission {letter:?}: there are c, d, r, w and a")),
        }
    }
    Ok(Entry(permissions, scheme.to_owned(), id.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_permissions() {
        let acl = Acl::of(&[("digest", "ann:hash", "cdrwa"), ("world", "anyone", "r")]).unwrap();
        let mut out = Out::default();
        acl.write(&mut out);
        let mut expected = Out::default();
        expected.int(2).int(31).text("digest").text("ann:hash").int(1).text("world").text("anyone");
        assert_eq!(out.done(), expected.done());
    }

    #[test]
    fn what_is_no_list_is_refused_in_one_sentence() {
        let refused = |entries: &[(&str, &str, &str)]| Acl::of(entries).unwrap_err().to_string();
        assert!(refused(&[]).contains("needs an entry"));
        assert!(refused(&[("", "ann", "r")]).contains("has no scheme"));
        assert!(refused(&[("sasl", "ann", "")]).contains("has no permission"));
        let told = refused(&[("world", "anyone", "r"), ("sasl", "ann", "rx")]);
        assert_eq!(
            told,
            "bad input: access list entry sasl:ann:rx has the permission 'x': there are c, d, r, w and a"
        );
    }
}
