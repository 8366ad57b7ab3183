//! Tests of links from both of their ends.

use super::*;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use zk_protocol::wire::frame;

/// How long a test waits for bytes that must not arrive.
const SILENCE: Duration = Duration::from_millis(100);

/// Two ends, and the line in between.
struct Ends {
    _network: Network,
    line: Line,
    address: SocketAddr,
    listener: TcpListener,
}

impl Ends {
    fn with(speech: Speech) -> Ends {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (network, line) = (Network::start().unwrap(), Line::default());
        let place = network.place().unwrap();
        let address = place.address();
        network.link(place, &listener.local_addr().unwrap().to_string(), &line, speech).unwrap();
        Ends { _network: network, line, address, listener }
    }

    fn connect(&self) -> (TcpStream, TcpStream) {
        let client = TcpStream::connect(self.address).unwrap();
        (client, self.listener.accept().unwrap().0)
    }

    fn knock(&self) -> TcpStream {
        TcpStream::connect(self.address).unwrap()
    }
}

fn hears(stream: &mut TcpStream, words: &[u8]) {
    stream.set_read_timeout(None).unwrap();
    let mut heard = vec![0; words.len()];
    stream.read_exact(&mut heard).unwrap();
    assert_eq!(heard, words);
}

fn hears_nothing(stream: &mut TcpStream) {
    stream.set_read_timeout(Some(SILENCE)).unwrap();
    let heard = stream.read(&mut [0; 16]);
    assert!(heard.as_ref().is_err_and(|e| e.kind() == ErrorKind::WouldBlock), "{heard:?}");
}

fn hears_the_end(stream: &mut TcpStream) {
    stream.set_read_timeout(None).unwrap();
    let heard = stream.read(&mut [0; 16]);
    assert!(matches!(heard, Ok(0) | Err(_)), "{heard:?}");
}

fn framed(words: &[i32]) -> Vec<u8> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    frame::of(&bytes)
}

#[test]
fn what_is_said_arrives_both_ways_and_so_does_the_end() {
    let ends = Ends::with(Speech::Bytes);
    let (mut client, mut server) = ends.connect();
    client.write_all(b"there").unwrap();
    hears(&mut server, b"there");
    server.write_all(b"back").unwrap();
    hears(&mut client, b"back");
    client.shutdown(Shutdown::Both).unwrap();
    hears_the_end(&mut server);
}

#[test]
fn what_is_held_up_arrives_when_the_line_is_healed() {
    let ends = Ends::with(Speech::Bytes);
    let (mut client, mut server) = ends.connect();
    ends.line.hold(Way::There);
    client.write_all(b"late").unwrap();
    server.write_all(b"in time").unwrap();
    hears(&mut client, b"in time");
    hears_nothing(&mut server);
    ends.line.heal();
    hears(&mut server, b"late");
    ends.line.hold(Way::Back);
    server.write_all(b"late, too").unwrap();
    server.shutdown(Shutdown::Write).unwrap();
    hears_nothing(&mut client);
    ends.line.heal();
    hears(&mut client, b"late, too");
    hears_the_end(&mut client);
}

#[test]
fn nobody_is_told_that_the_other_has_hung_up_while_the_line_is_held() {
    let ends = Ends::with(Speech::Bytes);
    let (client, mut server) = ends.connect();
    Way::BOTH.into_iter().for_each(|way| ends.line.hold(way));
    drop(client);
    hears_nothing(&mut server);
    ends.line.heal();
    hears_the_end(&mut server);
}

#[test]
fn who_comes_to_a_held_line_gets_no_answer_and_has_to_come_again() {
    let ends = Ends::with(Speech::Bytes);
    ends.line.hold(Way::There);
    let mut client = ends.knock();
    client.write_all(b"is anybody there").unwrap();
    hears_nothing(&mut client);
    ends.line.heal();
    hears_the_end(&mut client);
    let (mut client, mut server) = ends.connect();
    client.write_all(b"now").unwrap();
    hears(&mut server, b"now");
}

#[test]
fn a_cut_line_ends_what_there_is_and_lets_nobody_in_until_it_is_healed() {
    let ends = Ends::with(Speech::Bytes);
    let (mut client, mut server) = ends.connect();
    ends.line.cut();
    hears_the_end(&mut client);
    hears_the_end(&mut server);
    hears_the_end(&mut ends.knock());
    ends.line.heal();
    let (mut client, mut server) = ends.connect();
    ends.line.hang_up();
    hears_the_end(&mut client);
    hears_the_end(&mut server);
    let (mut client, mut server) = ends.connect();
    client.write_all(b"again").unwrap();
    hears(&mut server, b"again");
}

#[test]
fn a_member_that_listens_late_is_reached_and_a_client_is_sent_away_at_once() {
    for (speech, waits) in [(Speech::Bytes, true), (Speech::Client, false)] {
        let ends = Ends::with(speech);
        let at = ends.listener.local_addr().unwrap();
        let Ends { _network, address, listener, .. } = ends;
        drop(listener);
        let mut early = TcpStream::connect(address).unwrap();
        if waits {
            early.write_all(b"early").unwrap();
            hears_nothing(&mut early);
            hears(&mut TcpListener::bind(at).unwrap().accept().unwrap().0, b"early");
        } else {
            hears_the_end(&mut early);
        }
    }
}

/// A connected client, in the second epoch, so that half of a zxid looks like the number of an operation.
fn session(ends: &Ends) -> (TcpStream, TcpStream) {
    let (mut client, mut server) = ends.connect();
    let connect = framed(&[0, 2, 17]);
    client.write_all(&connect).unwrap();
    hears(&mut server, &connect);
    server.write_all(&connect).unwrap();
    hears(&mut client, &connect);
    (client, server)
}

fn lose(ends: &Ends, loss: Loss) -> Receiver<()> {
    let (tell, told) = channel();
    ends.line.lose_next(loss, move || tell.send(()).unwrap());
    told
}

const CREATE: i32 = 1;
const EXISTS: i32 = 3;

#[test]
fn a_reply_is_lost_when_the_write_has_reached_the_server_and_reads_are_not_lost() {
    let ends = Ends::with(Speech::Client);
    let lost = lose(&ends, Loss::Reply);
    let (mut client, mut server) = session(&ends);
    let (read, write) = (framed(&[1, EXISTS]), framed(&[2, CREATE]));
    client.write_all(&[&read[..], &write].concat()).unwrap();
    hears(&mut server, &[&read[..], &write].concat());
    let (first, second) = (framed(&[1, 0, 5, 0]), framed(&[2, 0, 6, 0]));
    // In pieces that end at any byte.
    server.write_all(&first[..7]).unwrap();
    assert!(lost.try_recv().is_err());
    server.write_all(&[&first[7..], &second].concat()).unwrap();
    hears(&mut client, &first);
    hears_the_end(&mut client);
    assert_eq!(lost.recv(), Ok(()));
    hears_the_end(&mut server);

    let (mut client, mut server) = session(&ends);
    client.write_all(&write).unwrap();
    hears(&mut server, &write);
    server.write_all(&second).unwrap();
    hears(&mut client, &second);
}

#[test]
fn a_lost_request_does_not_reach_the_server() {
    let ends = Ends::with(Speech::Client);
    let lost = lose(&ends, Loss::Request);
    let (mut client, mut server) = session(&ends);
    let (read, write) = (framed(&[1, EXISTS]), framed(&[2, CREATE]));
    client.write_all(&[&read[..], &write].concat()).unwrap();
    hears(&mut server, &read);
    hears_the_end(&mut server);
    assert_eq!(lost.recv(), Ok(()));
    hears_the_end(&mut client);
}

#[test]
fn what_is_to_be_lost_can_be_called_off() {
    let ends = Ends::with(Speech::Client);
    let lost = lose(&ends, Loss::Request);
    ends.line.lose_nothing();
    let (mut client, mut server) = session(&ends);
    let write = framed(&[1, CREATE]);
    client.write_all(&write).unwrap();
    hears(&mut server, &write);
    assert!(lost.recv().is_err(), "it is forgotten");
}

#[test]
fn each_connection_passes_what_was_made_for_it_which_sees_messages_and_may_end_it() {
    let ends = Ends::with(Speech::Client);
    let (tell, told) = channel();
    ends.line.pass(move || {
        let (tell, mut left) = (tell.clone(), 3);
        Box::new(move |way, message| {
            tell.send((way, message.clone())).unwrap();
            left -= 1;
            if left == 0 {
                message.truncate(5);
            }
            left > 0
        })
    });
    let connect = framed(&[0, 2, 17]);
    for _ in 0..2 {
        let (mut client, mut server) = session(&ends);
        let read = framed(&[1, EXISTS]);
        client.write_all(&read).unwrap();
        hears(&mut server, &read[..5]);
        hears_the_end(&mut client);
        let all = [(Way::There, &connect), (Way::Back, &connect), (Way::There, &read)];
        for (way, message) in all {
            assert_eq!(told.recv(), Ok((way, message.clone())));
        }
    }
}

#[test]
fn a_server_that_introduces_itself_is_called_back_by_a_link() {
    let call_back: SocketAddr = "127.0.0.1:40001".parse().unwrap();
    let ends = Ends::with(Speech::Votes(call_back));
    let (mut client, mut server) = ends.connect();
    let introduction = |address: &str| {
        let (version, number) = ((-65536i64).to_be_bytes(), 2i64.to_be_bytes());
        [&version[..], &number, &(address.len() as u32).to_be_bytes(), address.as_bytes()].concat()
    };
    client.write_all(&[&introduction("127.0.0.1:3888")[..], b"a vote"].concat()).unwrap();
    hears(&mut server, &[&introduction("127.0.0.1:40001")[..], b"a vote"].concat());

    let (mut client, mut server) = ends.connect();
    let words = b"something else that is long enough";
    client.write_all(words).unwrap();
    hears(&mut server, words);
}
