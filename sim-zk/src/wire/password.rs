//! Session passwords, which authenticate a client that resumes a session. They follow from the session number alone,
//! so every server can compute them, also after a restart (`ZooKeeperServer.generatePasswd`).

use crate::message::Password;
use zk_recipes::zk::SessionId;

/// `ZooKeeperServer.superSecret`.
const SECRET: i64 = 0xB341_5C00;

/// Returns the password of a session.
pub fn password(session: SessionId) -> Password {
    let mut random = JavaRandom::new(session.0 ^ SECRET);
    let mut password = Password::default();
    for four in password.chunks_mut(4) {
        four.copy_from_slice(&random.next_int().to_le_bytes());
    }
    password
}

/// Implements `java.util.Random`, whose documentation specifies the generator.
struct JavaRandom(u64);

impl JavaRandom {
    const MULTIPLIER: u64 = 0x5_DEEC_E66D;
    const MASK: u64 = (1 << 48) - 1;

    fn new(seed: i64) -> Self {
        JavaRandom((seed as u64 ^ Self::MULTIPLIER) & Self::MASK)
    }

    fn next_int(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(Self::MULTIPLIER).wrapping_add(0xB) & Self::MASK;
        (self.0 >> 16) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_those_of_a_real_server() {
        let told = |session| password(SessionId(session)).map(|byte| format!("{byte:02x}")).concat();
        assert_eq!(told(0x0100_00be_e4f6_0000), "08489d9df50ca48e266e5a2fc652217d");
        assert_eq!(told(0x0100_00be_e4f6_0001), "1b69979d955883d31bb1c15a9adb354a");
        assert_eq!(told(0x0100_00be_e4f6_0009), "b471689d95b57dfac5c8fbb53722dab2");
    }
}
