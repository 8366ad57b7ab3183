//! Frames, byte by byte; those in hexadecimal digits come from a real server.

mod any_bytes;
mod replies;
mod requests;

use crate::message::Bytes;
use zk_protocol::wire::jute::{In, Out};

fn wire(write: impl FnOnce(&mut Out)) -> Vec<u8> {
    let mut out = Out::default();
    write(&mut out);
    out.done()
}

fn hex(frame: &[u8]) -> String {
    frame.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn request(op: i32, body: impl FnOnce(&mut Out)) -> Vec<u8> {
    wire(|out| body(out.int(7).int(op)))
}

fn open(out: &mut Out) -> &mut Out {
    out.int(1).int(31).text("world").text("anyone")
}

fn op(out: &mut Out, number: i32) -> &mut Out {
    out.int(number).bool(false).int(-1)
}

fn end(out: &mut Out) {
    out.int(-1).bool(true).int(-1);
}

fn bytes(text: &str) -> Bytes {
    text.as_bytes().into()
}

#[test]
fn characters_beyond_the_first_plane_are_written_as_java_writes_them() {
    assert_eq!(hex(&wire(|out| _ = out.text("/\u{1f600}"))), "000000072feda0bdedb880");
    assert_eq!(hex(&wire(|out| _ = out.text("/é€\u{1f600}"))), "0000000c2fc3a9e282aceda0bdedb880");
    let text = wire(|out| _ = out.buffer(Some(b"/\xc3\x28")));
    assert_eq!(In::new(&text).text().flatten().as_deref(), Some("/\u{fffd}("));
}
