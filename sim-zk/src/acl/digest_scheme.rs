//! The authentication scheme `digest`: a user name, and the SHA-1 of name and password in base 64.
//!
//! SHA-1 is broken as a signature; here it only has to match ZooKeeper.

/// Returns `user:base64(sha1("user:password"))` (`DigestAuthenticationProvider.generateDigest`).
pub(super) fn of(user_and_password: &str) -> String {
    let user = user_and_password.split(':').next().unwrap_or_default();
    format!("{user}:{}", base64(&sha1(user_and_password.as_bytes())))
}

/// Returns whether an id has two parts, as `String.split` counts them: trailing empty parts do not count.
pub(super) fn is_valid(id: &str) -> bool {
    id.trim_end_matches(':').matches(':').count() == 1
}

fn sha1(message: &[u8]) -> [u8; 20] {
    let mut padded = message.to_vec();
    padded.push(0x80);
    padded.resize(padded.len().next_multiple_of(64), 0);
    if padded.len() - message.len() < 9 {
        padded.resize(padded.len() + 64, 0);
    }
    let end = padded.len() - 8;
    padded[end..].copy_from_slice(&(message.len() as u64 * 8).to_be_bytes());

    let mut state: [u32; 5] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
    for block in padded.chunks_exact(64) {
        let mixed = compress(state, block);
        for (word, mixed) in state.iter_mut().zip(mixed) {
            *word = word.wrapping_add(mixed);
        }
    }
    let mut digest = [0; 20];
    for (bytes, word) in digest.chunks_exact_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    digest
}

/// Performs the eighty rounds over one block (FIPS 180-4, 6.1.2).
fn compress([mut a, mut b, mut c, mut d, mut e]: [u32; 5], block: &[u8]) -> [u32; 5] {
    let mut words = [0u32; 80];
    for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
        *word = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    for t in 16..80 {
        words[t] = (words[t - 3] ^ words[t - 8] ^ words[t - 14] ^ words[t - 16]).rotate_left(1);
    }
    for (t, word) in words.into_iter().enumerate() {
        let (f, k) = match t {
            0..20 => ((b & c) | (!b & d), 0x5a82_7999),
            20..40 => (b ^ c ^ d, 0x6ed9_eba1),
            40..60 => ((b & c) | (b & d) | (c & d), 0x8f1b_bcdc),
            _ => (b ^ c ^ d, 0xca62_c1d6),
        };
        let next = [a.rotate_left(5), f, e, k, word].into_iter().fold(0, u32::wrapping_add);
        (a, b, c, d, e) = (next, a, b.rotate_left(30), c, d);
    }
    [a, b, c, d, e]
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group =
            chunk.iter().fold(0u32, |group, byte| group << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for digit in 0..4 {
            let value = group >> (18 - 6 * digit) & 63;
            text.push(if digit <= chunk.len() { char::from(DIGITS[value as usize]) } else { '=' });
        }
    }
    text
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
        let message = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        assert_eq!(base64(&sha1(message)), "hJg+RBw70m66rkqh+VEp5eVGcPE=");
        assert_eq!(base64(&sha1(b"")), "2jmj7l5rSw0yVb/vlWAYkK/YBwk=");
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
