//! Access lists: who may do what with a znode, and who a connection is.
//!
//! As `ZooKeeperServer.checkACL`, `PrepRequestProcessor.fixupACL` and the providers of the schemes `digest` and `ip`.

mod digest_scheme;

use crate::paths::{java_hash, spread};
use std::sync::Arc;
use zk_recipes::zk::Code;

/// The bits of permissions.
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
    /// Who, as the scheme names them.
    pub id: Arc<str>,
}

/// An access list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Acl {
    /// Everything to everybody: `world:anyone:cdrwa`.
    #[default]
    Open,
    /// Entries, in their order.
    List(Arc<[AclEntry]>),
}

/// One identity of a connection: a scheme and an id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    /// `ip`, `digest`, `super`.
    pub scheme: Arc<str>,
    /// Who.
    pub id: Arc<str>,
}

impl Acl {
    /// Its entries.
    pub fn entries(&self) -> Vec<AclEntry> {
        match self {
            Acl::Open => vec![AclEntry { perms: perms::ALL, scheme: "world".into(), id: "anyone".into() }],
            Acl::List(entries) => entries.to_vec(),
        }
    }

    /// Whether somebody with these identities may do any of `wanted`.
    pub(crate) fn allows(&self, wanted: i32, ids: &[Identity]) -> bool {
        let Acl::List(entries) = self else { return true };
        let grants = |entry: &AclEntry| {
            entry.perms & wanted != 0 && (entry.is_world() || ids.iter().any(|id| id.matches(entry)))
        };
        entries.is_empty() || ids.iter().any(|id| &*id.scheme == "super") || entries.iter().any(grants)
    }

    /// The list as a znode gets it from somebody with these identities: without duplicates, and with `auth` replaced
    /// by whoever asks.
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
                    // Of the schemes that there are, only `digest` says who somebody is; an address does not.
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

    /// The list as it is shown to somebody without ADMIN: passwords' digests are not for them.
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
    /// The identity that every connection has: the address that it comes from.
    pub(crate) fn of_address(address: &str) -> Self {
        Identity { scheme: "ip".into(), id: address.into() }
    }

    /// The identities that an `addauth` proves: a digest of the name and the password, and `super` if it is the
    /// configured one. A digest is never refused; a scheme that there is none of is.
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

    /// Who it is, without what proves it: what `whoAmI` tells.
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

    /// `Id.hashCode`, spread as Java's hash tables do.
    fn bucket(&self, buckets: u32) -> u32 {
        let hash = [&self.scheme, &self.id]
            .iter()
            .fold(17u32, |hash, field| hash.wrapping_mul(37).wrapping_add(java_hash(field)));
        spread(hash) & (buckets - 1)
    }
}

/// Adds an identity, unless it is there already, where a Java `ConcurrentHashMap` lists it: that is the order of
/// `whoAmI`, and of what `auth` stands for.
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

/// Addresses that an `ip` entry stands for: those that agree in the first bits.
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

/// An IPv4 address: four numbers as `Integer.parseInt` reads them, so a sign is allowed.
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
