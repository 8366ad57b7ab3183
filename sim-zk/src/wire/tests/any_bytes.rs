//! Arbitrary bytes: every frame is decoded, or refused as malformed.

use super::{end, hex, op, open, request, wire};
use crate::message::{Ask, Up};
use crate::paths::Paths;
use crate::wire::Codec;
use proptest::prelude::*;
use zk_protocol::wire::jute::Out;
use zk_protocol::wire::number;

/// Valid frames of the operations with the longest bodies.
fn sensible() -> impl Strategy<Value = Vec<u8>> {
    let creation = |out: &mut Out| _ = open(out.text("/x/y").buffer(Some(b"data"))).int(5).long(7);
    let watches = |out: &mut Out| {
        out.long(3);
        for _ in 0..5 {
            out.list(&["/a", "/b/c"], |out, path| _ = out.text(path));
        }
    };
    let multi = move |out: &mut Out| {
        creation(op(out, number::CREATE_TTL));
        op(out, number::SET_DATA).text("/x").buffer(Some(b"d")).int(3);
        end(out);
    };
    prop::sample::select(vec![
        request(number::CREATE_TTL, creation),
        request(number::SET_WATCHES_2, watches),
        request(number::MULTI, multi),
        request(number::AUTH, |out| _ = out.int(0).text("digest").text("u:p")),
    ])
}

/// Decodes a frame, as the first of a connection and as a later one.
fn taken(frame: &[u8]) -> (Up, Up) {
    let mut codec = Codec::default();
    (codec.hello(frame), codec.request(frame, &mut Paths::default()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_understood_or_told_as_nonsense(
        op in prop::sample::select((-12..23).chain(99..109).collect::<Vec<i32>>()),
        rest in prop::collection::vec(prop_oneof![Just(0u8), Just(255), any::<u8>()], 0..80),
    ) {
        let frame = wire(|out| _ = out.int(7).int(op));
        taken(&[&frame[..], &rest].concat());
        taken(&rest);
    }

    #[test]
    fn a_frame_that_is_cut_short_is_nonsense(frame in sensible(), cut in any::<prop::sample::Index>()) {
        let cut = cut.index(frame.len());
        let nonsense = match taken(&frame[..cut]).1 {
            Up::Unreadable => true,
            Up::Request { ask, .. } => matches!(ask, Ask::Malformed(_)),
            _ => false,
        };
        prop_assert!(nonsense, "the first {cut} bytes of {}", hex(&frame));
    }

    #[test]
    fn a_frame_with_a_wrong_byte_is_understood_or_nonsense(
        frame in sensible(), at in any::<prop::sample::Index>(), byte in any::<u8>(),
    ) {
        let mut frame = frame;
        let at = at.index(frame.len());
        frame[at] = byte;
        taken(&frame);
    }
}
