//! Who may do what with the znodes that a handle creates.

use zookeeper_client as lib;

use crate::zk::Error;

/// The access list that every znode bears which a handle creates.
///
/// A recipe reads, writes, creates and deletes what it has created itself, and the znodes of its other users as well:
/// all of them need `cdrw`, whoever else is let in. What is missing shows as [`Error::is_denied`].
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Acl(Rights);

#[derive(Clone, Debug, PartialEq, Eq, Default)]
enum Rights {
    #[default]
    Anyone,
    Creator,
    Listed(Vec<lib::Acl>),
}

/// The letters of ZooKeeper's command line, in the order in which it writes them.
const LETTERS: [(char, lib::Permission); 5] = [
    ('c', lib::Permission::CREATE),
    ('d', lib::Permission::DELETE),
    ('r', lib::Permission::READ),
    ('w', lib::Permission::WRITE),
    ('a', lib::Permission::ADMIN),
];

impl Acl {
    /// Everybody may do everything, known or not: `world:anyone:cdrwa`.
    pub const fn anyone() -> Acl {
        Acl(Rights::Anyone)
    }

    /// Whoever has the credentials of the creator may do everything, and nobody else anything: `auth::cdrwa`. A handle
    /// without credentials that creates such a znode is told [`Error::InvalidAcl`].
    pub const fn creator() -> Acl {
        Acl(Rights::Creator)
    }

    /// Entries as ZooKeeper's command line has them: scheme, id, and letters of `cdrwa` (create, delete, read, write,
    /// admin).
    ///
    /// ```
    /// use zk_recipes::client::Acl;
    ///
    /// let acl = Acl::of(&[("sasl", "printer", "cdrwa"), ("world", "anyone", "r")])?;
    /// # assert_ne!(acl, Acl::anyone());
    /// # Ok::<(), zk_recipes::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`is_bad_input`](Error::is_bad_input): there is no entry, one without a scheme or without a permission, or another
    /// letter. Whether the schemes and ids are good only the server knows, and says so ([`Error::InvalidAcl`]) at the
    /// first create.
    pub fn of(entries: &[(&str, &str, &str)]) -> Result<Acl, Error> {
        if entries.is_empty() {
            return Err(Error::BadInput(
                "an access list needs an entry, or nobody could do anything".to_owned(),
            ));
        }
        let listed: Result<_, Error> =
            entries.iter().map(|(scheme, id, letters)| entry(scheme, id, letters)).collect();
        Ok(Acl(Rights::Listed(listed?)))
    }

    pub(super) fn entries(&self) -> lib::Acls<'_> {
        match &self.0 {
            Rights::Anyone => lib::Acls::anyone_all(),
            Rights::Creator => lib::Acls::creator_all(),
            Rights::Listed(entries) => lib::Acls::new(entries),
        }
    }

    /// By how much a request to create grows with this list, which is reckoned with one short entry.
    pub(super) fn extra_bytes(&self) -> usize {
        match &self.0 {
            Rights::Anyone | Rights::Creator => 0,
            // A number for the permissions and one for each length.
            Rights::Listed(entries) => entries.iter().map(|e| 12 + e.scheme().len() + e.id().len()).sum(),
        }
    }
}

fn entry(scheme: &str, id: &str, letters: &str) -> Result<lib::Acl, Error> {
    let bad = |why: String| Err(Error::BadInput(format!("access list entry {scheme}:{id}:{letters} {why}")));
    if scheme.is_empty() {
        return bad("has no scheme, such as world, auth, digest, sasl, x509 or ip".to_owned());
    }
    if letters.is_empty() {
        return bad("has no permission: letters of cdrwa".to_owned());
    }
    let mut permission = lib::Permission::NONE;
    for letter in letters.chars() {
        match LETTERS.iter().find(|(known, _)| *known == letter) {
            Some((_, more)) => permission = permission | *more,
            None => return bad(format!("has the permission {letter:?}: there are c, d, r, w and a")),
        }
    }
    Ok(lib::Acl::new(permission, lib::AuthId::new(scheme, id)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_permissions() {
        let acl = Acl::of(&[("digest", "ann:hash", "cdrwa"), ("world", "anyone", "r")]).unwrap();
        let told: Vec<String> =
            acl.entries().iter().map(|e| format!("{}:{}:{}", e.scheme(), e.id(), e.permission())).collect();
        assert_eq!(told, ["digest:ann:hash:ALL", "world:anyone:READ"]);
        assert_eq!(acl.extra_bytes(), 24 + 6 + 8 + 5 + 6);
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
