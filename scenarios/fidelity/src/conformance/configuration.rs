//! The configurations of servers that cases name.

use super::target::Trouble;
use std::time::Duration;

/// The tick of our servers: session timeouts are between one and ten seconds.
pub(super) const TICK: Duration = Duration::from_millis(500);

/// A configuration that cases name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// Its name.
    pub name: &'static str,
    /// Whether znodes with a time to live are enabled.
    pub extended_types: bool,
    /// The superuser, as `user:digest`.
    pub super_digest: Option<&'static str>,
    /// How often empty containers and expired znodes are deleted. Never during a case, unless it tests that.
    pub reap_every: Option<Duration>,
}

/// The default configuration of a server.
const DEFAULT: Configuration =
    Configuration { name: "default", extended_types: false, super_digest: None, reap_every: None };

const CONFIGURATIONS: [Configuration; 4] = [
    DEFAULT,
    Configuration { name: "ext", extended_types: true, ..DEFAULT },
    Configuration {
        name: "ext-reap",
        extended_types: true,
        reap_every: Some(Duration::from_millis(300)),
        ..DEFAULT
    },
    // The user `super` with the password `admin`.
    Configuration { name: "super", super_digest: Some("super:xQJmxLMiHGwaqBvst5y6rkB6HQs="), ..DEFAULT },
];

/// The names of the configurations.
pub fn configurations() -> impl Iterator<Item = &'static str> {
    CONFIGURATIONS.iter().map(|configuration| configuration.name)
}

impl Configuration {
    /// The configuration of that name.
    ///
    /// # Errors
    ///
    /// There is no such configuration.
    pub fn named(name: &str) -> Result<&'static Configuration, Trouble> {
        CONFIGURATIONS.iter().find(|configuration| configuration.name == name).ok_or_else(|| {
            let names: Vec<&str> = configurations().collect();
            Trouble::NoConfiguration(name.to_owned(), names.join(", "))
        })
    }

    /// The Java system properties that set it.
    pub(super) fn properties(&self) -> Vec<String> {
        let reap_every = self.reap_every.map_or(100_000_000, |every| every.as_millis());
        let mut properties = vec![
            format!("znode.container.checkIntervalMs={reap_every}"),
            "znode.container.maxPerMinute=60000".to_owned(),
        ];
        if self.extended_types {
            properties.push("zookeeper.extendedTypesEnabled=true".to_owned());
        }
        if let Some(digest) = self.super_digest {
            properties.push(format!("zookeeper.DigestAuthenticationProvider.superDigest={digest}"));
        }
        properties
    }
}
