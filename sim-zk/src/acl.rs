//! Access control lists: permission checks, and the identities of a connection.
//!
//! The rules are those of `ZooKeeperServer.checkACL`, `PrepRequestProcessor.fixupACL` and the authentication
//! providers of the schemes `digest` and `ip`.

mod digest_scheme;

use crate::paths::{java_hash, spread};
use std::sync::Arc;
use zk_recipes::zk::Code;

/// Permission bits.
#[allow(missing_docs, reason = "each is ZooKeeper's permission of that name")]
pub mod perms {
    pub const READ: i32 = 1;
    pub const WRITE: i32 = 2;
    pub const CREATE: i32 = 4;
    pub const DELETE: i32 = 8;
    pub const ADMIN: i32 = 16;
    pub const ALL: i32 = 31;
}

/// One entry of an access list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AclEntry {
    /// The bits of [`perms`].
    pub perms: i32,
    /// `world`, `digest`, `ip`, `auth`, ….
    pub scheme: Arc<str>,
    /// The identity, in the notation of the scheme.
    pub id: Arc<str>,
}

/// An access list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Acl {
    /// All permissions for all clients: `world:anyone:cdrwa`.
    #[default]
    Open,
    /// Explicit entries, in order.
    List(Arc<[AclEntry]>),
}

/// One identity of a connection: a scheme and an id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    /// `ip`, `digest`, `super`.
    pub scheme: Arc<str>,
    /// The user name with its digest, or the address.
    pub id: Arc<str>,
}

impl Acl {
    /// Returns the entries.
    pub fn entries(&self) -> Vec<AclEntry> {
        match self {
            Acl::Open => vec![AclEntry { perms: perms::ALL, scheme: "world".into(), id: "anyone".into() }],
            Acl::List(entries) => entries.to_vec(),
        }
    }

    /// Returns whether a connection with these identities holds any of the permissions `wanted`.
    pub(crate) fn allows(&self, wanted: i32, ids: &[Identity]) -> bool {
        let Acl::List(entries) = self else { return true };
        let grants = |entry: &AclEntry| {
            entry.perms & wanted != 0 && (entry.is_world() || ids.iter().any(|id| id.matches(entry)))
        };
        entries.is_empty() || ids.iter().any(|id| &*id.scheme == "super") || entries.iter().any(grants)
    }

    /// Returns the list as it is stored for a client with these identities: without duplicates, and with each `auth`
    /// entry replaced by the identities of that client.
    pub(crate) fn fixed_up(&self, ids: &[Identity]) -> Result<Acl, Code> {
        let Acl::List(given) = self else { return Ok(Acl::Open) };
        let mut fixed: Vec<AclEntry> = Vec::with_capacity(given.len());
        for (index, entry) in given.iter().enumerate() {
            if given[..index].contains(entry) {
                continue;
            }
            match &*entry.scheme {
                "auth" => {
                    let before = fixed.len();
                    // Only `digest` authenticates a user among the supported schemes; an address does not.
                    let proven = ids.iter().filter(|id| &*id.scheme == "digest");
                    fixed.extend(proven.map(|id| AclEntry {
                        perms: entry.perms,
                        scheme: id.scheme.clone(),
                        id: id.id.clone(),
                    }));
                    if fixed.len() == before {
                        return Err(Code::InvalidAcl);
                    }
                }
                "world" if entry.is_world() => fixed.push(entry.clone()),
                "digest" if digest_scheme::is_valid(&entry.id) => fixed.push(entry.clone()),
                "ip" if Network::of(&entry.id).is_some() => fixed.push(entry.clone()),
                _ => return Err(Code::InvalidAcl),
            }
        }
        match &*fixed {
            [] => Err(Code::InvalidAcl),
            [only] if only.is_world() && only.perms == perms::ALL => Ok(Acl::Open),
            _ => Ok(Acl::List(fixed.into())),
        }
    }

    /// Returns the list as shown to a client without ADMIN: password digests are masked.
    pub(crate) fn masked(&self) -> Acl {
        let Acl::List(entries) = self else { return Acl::Open };
        let mask = |entry: &AclEntry| match entry.id.split_once(':') {
            Some((user, _)) if &*entry.scheme == "digest" => {
                AclEntry { id: format!("{user}:x").into(), ..entry.clone() }
            }
            _ => entry.clone(),
        };
        Acl::List(entries.iter().map(mask).collect())
    }
}

impl AclEntry {
    fn is_world(&self) -> bool {
        &*self.scheme == "world" && &*self.id == "anyone"
    }
}

impl Identity {
    /// Returns the identity that every connection has: its address.
    pub(crate) fn of_address(address: &str) -> Self {
        Identity { scheme: "ip".into(), id: address.into() }
    }

    /// Returns the identities that an `addauth` proves: the digest of name and password, and `super` if that digest
    /// is the configured one. `digest` accepts any credentials; an unknown scheme is refused.
    pub(crate) fn proven(
        scheme: &str,
        auth: &[u8],
        address: &str,
        super_digest: Option<&str>,
    ) -> Result<Vec<Identity>, Code> {
        match scheme {
            "digest" => {
                let id = digest_scheme::of(&String::from_utf8_lossy(auth));
                let is_super = super_digest == Some(&*id);
                let mut proven = vec![Identity { scheme: "digest".into(), id: id.into() }];
                if is_super {
                    proven.push(Identity { scheme: "super".into(), id: "".into() });
                }
                Ok(proven)
            }
            "ip" => Ok(vec![Identity::of_address(address)]),
            _ => Err(Code::AuthFailed),
        }
    }

    /// Returns the user without the credentials, as `whoAmI` reports it.
    pub(crate) fn user(&self) -> Arc<str> {
        match &*self.scheme {
            "digest" => self.id.split(':').next().unwrap_or_default().into(),
            "ip" => self.id.clone(),
            _ => "".into(),
        }
    }

    fn matches(&self, entry: &AclEntry) -> bool {
        self.scheme == entry.scheme
            && match &*self.scheme {
                "digest" => self.id == entry.id,
                "ip" => Network::of(&entry.id).is_some_and(|network| network.holds(&self.id)),
                _ => false,
            }
    }

    /// Returns the bucket of `Id.hashCode` in a Java hash table.
    fn bucket(&self, buckets: u32) -> u32 {
        let hash = [&self.scheme, &self.id]
            .iter()
            .fold(17u32, |hash, field| hash.wrapping_mul(37).wrapping_add(java_hash(field)));
        spread(hash) & (buckets - 1)
    }
}

/// Adds an identity unless it is present, at its position in the iteration order of a Java `ConcurrentHashMap`, which
/// `whoAmI` and the expansion of `auth` follow.
pub(crate) fn add_identity(ids: &mut Vec<Identity>, id: Identity) {
    if ids.contains(&id) {
        return;
    }
    ids.push(id);
    let mut buckets = 16;
    while ids.len() >= buckets as usize * 3 / 4 {
        buckets *= 2;
    }
    ids.sort_by_key(|id| id.bucket(buckets));
}

/// A range of addresses with a common prefix of `bits` bits.
struct Network {
    address: u32,
    bits: u32,
}

impl Network {
    fn of(text: &str) -> Option<Self> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, u32::try_from(bits.parse::<i32>().ok()?).ok()?),
            None => (text, 32),
        };
        (bits <= 32).then_some(Network { address: v4(address)?, bits })
    }

    fn holds(&self, address: &str) -> bool {
        let differ = |address: u32| u64::from(address ^ self.address) >> (32 - self.bits);
        v4(address).is_some_and(|address| differ(address) == 0)
    }
}

/// Parses an IPv4 address as `Integer.parseInt` does, so a sign is accepted.
fn v4(text: &str) -> Option<u32> {
    let mut address = 0;
    let mut parts = 0;
    for part in text.split('.') {
        let byte = u8::try_from(part.parse::<i32>().ok()?).ok()?;
        address = address << 8 | u64::from(byte);
        parts += 1;
        if parts > 4 {
            return None;
        }
    }
    (parts == 4).then_some(address as u32)
}

#[cfg(test)]
mod tests;
