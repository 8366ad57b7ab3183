//! The authentication scheme `digest`: a user name, and the SHA-1 of name and password in base 64.
//!
//! SHA-1 is broken as a signature; here it only has to match ZooKeeper.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha1::{Digest, Sha1};

/// Returns `user:base64(sha1("user:password"))` (`DigestAuthenticationProvider.generateDigest`).
pub(super) fn of(user_and_password: &str) -> String {
    let user = user_and_password.split(':').next().unwrap_or_default();
    format!("{user}:{}", STANDARD.encode(Sha1::digest(user_and_password)))
}

/// Returns whether an id has two parts, as `String.split` counts them: trailing empty parts do not count.
pub(super) fn is_valid(id: &str) -> bool {
    id.trim_end_matches(':').matches(':').count() == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_zookeepers() {
        assert_eq!(of("super:admin"), "super:xQJmxLMiHGwaqBvst5y6rkB6HQs=");
        assert_eq!(of("u1:p1"), "u1:fpT/y03U+EjItKZOSLGvjnJlyng=");
        assert_eq!(of("alone").split_once(':').map(|(user, _)| user), Some("alone"));
    }

    #[test]
    fn a_digest_of_any_length_is_padded_to_whole_blocks() {
        // FIPS 180-2, appendix A.2: 56 bytes, so that the length does not fit into the first block.
        let message = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        assert_eq!(of(message), format!("{message}:hJg+RBw70m66rkqh+VEp5eVGcPE="));
        assert_eq!(of(""), ":2jmj7l5rSw0yVb/vlWAYkK/YBwk=");
    }

    #[test]
    fn an_id_has_two_parts() {
        for valid in ["x:y", ":y", "x:y:", "x:y::"] {
            assert!(is_valid(valid), "{valid}");
        }
        for invalid in ["", ":", "x", "x:", "x:y:z", "::y"] {
            assert!(!is_valid(invalid), "{invalid}");
        }
    }
}
