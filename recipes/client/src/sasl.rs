//! SASL authentication with the mechanism DIGEST-MD5 (RFC 2831), as `ZooKeeperSaslClient` does it.
//!
//! 1. Send an empty token. A server without SASL answers with none.
//! 2. Answer its challenge with a digest of both nonces and the password.
//! 3. Verify the digest in its reply, which needs the password.

use std::collections::BTreeMap;

use md5::{Digest, Md5};

use super::core::random;
use super::failed::Failed;
use super::options::Sasl;
use super::stream::{Stream, answer, send};
use zk_protocol::wire::jute::{In, Out};
use zk_protocol::wire::number;

/// What ZooKeeper calls itself: the service, and its name (`ZooKeeperSaslClient`).
const URI: &str = "zookeeper/zk-sasl-md5";

/// The only request in flight with its number; requests of the session have others.
const XID: i32 = 0;

pub(super) async fn prove(stream: &mut Box<dyn Stream>, sasl: &Sasl) -> Result<(), Failed> {
    let Some(challenge) = exchange(stream, b"").await? else { return Ok(()) };
    let nonce = format!("{:016x}{:016x}", random(), random());
    let unanswerable = || Failed::refused("the server's SASL challenge cannot be answered by DIGEST-MD5");
    let response = Response::to(&challenge, sasl, nonce).ok_or_else(unanswerable)?;
    let last = exchange(stream, response.token.as_bytes()).await?.unwrap_or_default();
    let knows = fields(&last).get("rspauth").is_some_and(|digest| *digest == response.expected);
    if knows { Ok(()) } else { Err(Failed::refused("the server does not know the password")) }
}

/// One token there, and one back.
async fn exchange(stream: &mut Box<dyn Stream>, token: &[u8]) -> Result<Option<Vec<u8>>, Failed> {
    let mut out = Out::default();
    out.int(XID).int(number::SASL).buffer(Some(token));
    send(stream, out.as_bytes()).await?;
    let body = answer(stream).await?;
    let unreadable = || Failed::not_zookeeper("the server's SASL answer is none of ZooKeeper's");
    let token = In::new(&body).buffer().ok_or_else(unreadable)?;
    Ok(token.map(<[u8]>::to_vec))
}

/// The response to a challenge, and the digest that the server must send.
struct Response {
    token: String,
    expected: String,
}

impl Response {
    /// `None` for a challenge that cannot be answered: without a nonce, or only with encryption.
    fn to(challenge: &[u8], sasl: &Sasl, own_nonce: String) -> Option<Response> {
        let fields = fields(challenge);
        let nonce = fields.get("nonce")?;
        if !fields.get("qop").is_none_or(|all| all.split(',').any(|one| one.trim() == "auth")) {
            return None;
        }
        let realm = fields.get("realm").map_or("", String::as_str);
        let mut secret = Md5::digest(format!("{}:{realm}:{}", sasl.user, sasl.password)).to_vec();
        secret.extend(format!(":{nonce}:{own_nonce}").bytes());
        let secret = hex(&Md5::digest(secret));
        let digest = |who: &str| {
            let about = hex(&Md5::digest(format!("{who}:{URI}")));
            hex(&Md5::digest(format!("{secret}:{nonce}:00000001:{own_nonce}:auth:{about}")))
        };
        let token = format!(
            "charset=utf-8,username=\"{}\",realm=\"{}\",nonce=\"{}\",nc=00000001,cnonce=\"{own_nonce}\",\
             digest-uri=\"{URI}\",maxbuf=65536,response={},qop=auth",
            quoted(&sasl.user),
            quoted(realm),
            quoted(nonce),
            digest("AUTHENTICATE"),
        );
        Some(Response { token, expected: digest("") })
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// As it stands between quotation marks.
fn quoted(text: &str) -> String {
    text.replace('\\', r"\\").replace('"', "\\\"")
}

/// `name=value,name="a value",…`
fn fields(text: &[u8]) -> BTreeMap<String, String> {
    let text = String::from_utf8_lossy(text);
    let (mut fields, mut rest) = (BTreeMap::new(), text.chars().peekable());
    while rest.peek().is_some() {
        let name: String = rest.by_ref().take_while(|c| *c != '=').collect();
        let mut value = String::new();
        let mut is_quoted = false;
        while let Some(c) = rest.next() {
            match c {
                '"' => is_quoted = !is_quoted,
                '\\' if is_quoted => value.extend(rest.next()),
                ',' if !is_quoted => break,
                c => value.push(c),
            }
        }
        fields.entry(name.trim().to_owned()).or_insert(value);
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 2831, section 4, with ZooKeeper's name for the service.
    #[test]
    fn a_challenge_is_answered_by_digests_of_it() {
        let challenge = br#"realm="elwood.innosoft.com",nonce="OA6MG9tEQGm2hh",qop="auth",algorithm=md5-sess,charset=utf-8"#;
        let sasl = Sasl::digest_md5("chris", "secret");
        let response = Response::to(challenge, &sasl, "OA6MHXh6VqTrRk".to_owned()).unwrap();
        let fields = fields(response.token.as_bytes());
        let of = |name: &str| fields[name].as_str();
        assert_eq!(of("username"), "chris");
        assert_eq!(of("realm"), "elwood.innosoft.com");
        assert_eq!((of("nonce"), of("cnonce"), of("nc")), ("OA6MG9tEQGm2hh", "OA6MHXh6VqTrRk", "00000001"));
        assert_eq!(of("response").len(), 32);
        assert_ne!(of("response"), response.expected);
    }

    #[test]
    fn what_is_quoted_may_hold_anything() {
        let all = fields(br#"a="x,\"y\"=",b=c, d = e"#);
        assert_eq!((all["a"].as_str(), all["b"].as_str(), all["d"].as_str()), ("x,\"y\"=", "c", " e"));
    }

    #[test]
    fn a_challenge_that_asks_for_encryption_is_not_answered() {
        let sasl = Sasl::digest_md5("a", "b");
        assert!(Response::to(br#"nonce="n",qop="auth-conf""#, &sasl, String::new()).is_none());
        assert!(Response::to(b"realm=x", &sasl, String::new()).is_none());
    }
}
