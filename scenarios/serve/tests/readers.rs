//! Clients that ask for much, read slowly, or send in part: they are answered, others are answered beside them, and the ensemble takes
//! little memory and gives it back.
//!
//! The allocator counts, so one test runs at a time.

use peak_alloc::PeakAlloc;
use std::io::{BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use zk_protocol::wire::jute::{In, Out};
use zk_protocol::wire::{frame, number};
use zk_serve::{Options, Server};

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

const MB: usize = 1 << 20;

/// The length of the large znode.
const LARGE: usize = 1_000_000;

/// An ensemble whose memory is counted.
struct Counted {
    server: Server,
    before: usize,
    _alone: MutexGuard<'static, ()>,
}

impl Counted {
    fn new() -> Counted {
        Counted::of(&Options::default())
    }

    fn of(options: &Options) -> Counted {
        let alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let server = Server::start(options).unwrap();
        Counted { server, before: 0, _alone: alone }
    }

    fn client(&self) -> Client {
        Client::connect(self.server.addresses()[0])
    }

    /// Counts from now on.
    fn begin(&mut self) {
        self.before = HEAP.current_usage();
        HEAP.reset_peak_usage();
    }

    #[track_caller]
    fn peaks_below(&self, megabytes: usize) {
        let peak = HEAP.peak_usage().saturating_sub(self.before);
        assert!(peak < megabytes * MB, "{} MB at the peak", peak / MB);
    }

    /// What was taken is given back, but for the history: 32 bytes an event.
    #[track_caller]
    fn gives_back_all_but(&self, megabytes: usize) {
        let kept = HEAP.current_usage().saturating_sub(self.before);
        assert!(kept < megabytes * MB, "{} MB are kept", kept / MB);
    }
}

/// A session without a library.
struct Client {
    stream: TcpStream,
    read: BufReader<TcpStream>,
    xid: i32,
}

impl Client {
    fn connect(address: SocketAddr) -> Client {
        let mut client = Client::unconnected(address);
        client.send(Out::default().int(0).long(0).int(30_000).long(0).buffer(Some(&[0; 16])).bool(false));
        assert!(client.frame().is_some());
        client
    }

    fn unconnected(address: SocketAddr) -> Client {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        let read = BufReader::with_capacity(64 << 10, stream.try_clone().unwrap());
        Client { stream, read, xid: 0 }
    }

    fn send(&mut self, body: &Out) {
        self.stream.write_all(&frame::of(body.as_bytes())).unwrap();
    }

    /// The next frame; `None` at the end of the stream.
    fn frame(&mut self) -> Option<Vec<u8>> {
        frame::read(&mut self.read).ok()
    }

    /// Asks, and waits for the answer without an error: its length.
    #[track_caller]
    fn ask(&mut self, op: i32, body: &Out) -> usize {
        self.xid += 1;
        let frame = request(self.xid, op, body);
        self.stream.write_all(&frame).unwrap();
        self.expect_answer(self.xid)
    }

    #[track_caller]
    fn expect_answer(&mut self, xid: i32) -> usize {
        let frame = self.frame().expect("the connection stands");
        let mut header = In::new(&frame);
        assert_eq!((header.int(), header.long().is_some(), header.int()), (Some(xid), true, Some(0)));
        frame.len()
    }

    fn create(&mut self, path: &str, length: usize) {
        let mut body = Out::default();
        body.text(path).buffer(Some(&vec![7; length])).int(1).int(31).text("world").text("anyone").int(0);
        self.ask(number::CREATE, &body);
    }
}

fn request(xid: i32, op: i32, body: &Out) -> Vec<u8> {
    frame::of(&[Out::default().int(xid).int(op).as_bytes(), body.as_bytes()].concat())
}

fn path(path: &str) -> Out {
    let mut out = Out::default();
    out.text(path).bool(false);
    out
}

/// The requests with the numbers from 1 on, in one piece.
fn requests(count: i32, op: i32, body: &Out) -> Vec<u8> {
    (1..=count).flat_map(|xid| request(xid, op, body)).collect()
}

#[test]
fn a_client_that_pipelines_large_reads_gets_all_answers_in_order_and_others_are_answered_between_them() {
    // More than one read of the socket takes.
    const READS: i32 = 4000;
    const LENGTH: usize = 300_000;
    let mut counted = Counted::new();
    let (mut greedy, mut other) = (counted.client(), counted.client());
    other.create("/large", LENGTH);
    counted.begin();
    let answered = AtomicUsize::new(0);
    let mut passed = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            greedy.stream.write_all(&requests(READS, number::GET_DATA, &path("/large"))).unwrap();
            for xid in 1..=READS {
                assert!(greedy.expect_answer(xid) > LENGTH);
                answered.store(xid as usize, Ordering::SeqCst);
            }
        });
        while answered.load(Ordering::SeqCst) < READS as usize {
            let before = answered.load(Ordering::SeqCst);
            other.ask(number::EXISTS, &path("/large"));
            passed.push(answered.load(Ordering::SeqCst) - before);
        }
    });
    passed.sort_unstable();
    assert!(passed.len() > 20, "the other client was answered {} times beside {READS} answers", passed.len());
    assert!(passed[passed.len() / 2] <= 30, "{passed:?} answers passed it");
    counted.peaks_below(32);
    drop((greedy, other));
    counted.gives_back_all_but(8);
    counted.server.check().unwrap();
}

#[test]
fn many_clients_that_do_not_read_take_little_memory_and_are_answered_once_they_read() {
    const READS: i32 = 20;
    let mut counted = Counted::new();
    let mut other = counted.client();
    other.create("/large", LARGE);
    let mut slow: Vec<Client> = (0..100).map(|_| counted.client()).collect();
    counted.begin();
    for client in &mut slow {
        client.stream.write_all(&requests(READS, number::GET_DATA, &path("/large"))).unwrap();
    }
    for _ in 0..20 {
        other.ask(number::EXISTS, &path("/large"));
        assert!(other.ask(number::GET_DATA, &path("/large")) > LARGE);
    }
    counted.peaks_below(32);
    for client in &mut slow {
        for xid in 1..=READS {
            assert!(client.expect_answer(xid) > LARGE);
        }
    }
    counted.peaks_below(32);
}

#[test]
fn long_lists_that_nobody_reads_take_no_more_memory_than_there_is_and_readers_go_on() {
    const CHILDREN: i32 = 5000;
    let mut counted = Counted::new();
    let mut other = counted.client();
    other.create("/long", 0);
    for number in 0..CHILDREN {
        other.create(&format!("/long/{}-{number:06}", "n".repeat(150)), 0);
    }
    let mut slow: Vec<Client> = (0..100).map(|_| counted.client()).collect();
    counted.begin();
    for client in &mut slow {
        client.stream.write_all(&requests(10, number::GET_CHILDREN, &path("/long"))).unwrap();
    }
    for _ in 0..10 {
        other.ask(number::EXISTS, &path("/long"));
    }
    // It waits for memory, until those are cut off that rest with it.
    assert!(other.ask(number::GET_CHILDREN, &path("/long")) > 150 * CHILDREN as usize);
    counted.peaks_below(100);
}

#[test]
fn frames_that_never_end_take_bounded_memory_and_hinder_others_for_moments_only() {
    let mut counted = Counted::new();
    let mut other = counted.client();
    let mut halves: Vec<Client> = (0..60).map(|_| counted.client()).collect();
    counted.begin();
    let mut body = Out::default();
    body.text("/half").buffer(Some(&vec![7; LARGE]));
    let frame = request(1, number::CREATE, &body);
    std::thread::scope(|scope| {
        for client in &mut halves {
            // Those for which there is no room wait here, until they are cut off.
            scope.spawn(|| _ = client.stream.write_all(&frame[..frame.len() - 1]));
        }
        for _ in 0..10 {
            other.ask(number::EXISTS, &path("/"));
        }
        other.create("/whole", LARGE);
    });
    counted.peaks_below(80);
}

#[test]
fn a_znode_that_is_gone_costs_nothing_and_neither_does_a_path_that_was_only_asked_for() {
    const NAMES: i32 = 20_000;
    // The history is not what is counted.
    let mut counted = Counted::of(&Options { most_events: 100, ..Options::default() });
    let mut client = counted.client();
    client.create("/names", 0);
    counted.begin();
    let mut sequence = 0;
    for _ in 0..6 {
        let mut frames = Vec::new();
        for at in 0..NAMES {
            let (mut create, mut delete) = (Out::default(), Out::default());
            create.text("/names/n-").buffer(None).int(1).int(31).text("world").text("anyone").int(2);
            delete.text(&format!("/names/n-{sequence:010}")).int(-1);
            sequence += 1;
            frames.extend(request(2 * at, number::CREATE, &create));
            frames.extend(request(2 * at + 1, number::DELETE, &delete));
        }
        std::thread::scope(|scope| {
            let mut stream = client.stream.try_clone().unwrap();
            scope.spawn(move || stream.write_all(&frames).unwrap());
            for xid in 0..2 * NAMES {
                client.expect_answer(xid);
            }
        });
    }
    // The judge remembers the names of the last 262,144 events, some 7 MB here; all of them would be 17.
    counted.gives_back_all_but(9);
}

#[test]
fn large_writes_are_not_kept_by_the_log_of_a_server() {
    let mut counted = Counted::new();
    let mut client = counted.client();
    client.create("/large", LARGE);
    counted.begin();
    for _ in 0..60 {
        client.ask(number::SET_DATA, Out::default().text("/large").buffer(Some(&vec![8; LARGE])).int(-1));
    }
    counted.peaks_below(24);
}

#[test]
fn one_transaction_that_tells_everybody_takes_little_memory_and_gives_it_back() {
    const ZNODES: i32 = 2000;
    let mut counted = Counted::of(&Options { most_events: 100, ..Options::default() });
    let mut writer = counted.client();
    let mut watchers: Vec<Client> = (0..20).map(|_| counted.client()).collect();
    let path = |at: i32| format!("/watched-{at}");
    let exists: Vec<u8> = (1..=ZNODES)
        .flat_map(|at| request(at, number::EXISTS, Out::default().text(&path(at)).bool(true)))
        .collect();
    for watcher in &mut watchers {
        watcher.stream.write_all(&exists).unwrap();
        (1..=ZNODES).for_each(|_| assert!(watcher.frame().is_some()));
    }
    counted.begin();
    let mut multi = Out::default();
    for at in 1..=ZNODES {
        multi.int(number::CREATE).bool(false).int(-1);
        multi.text(&path(at)).buffer(None).int(1).int(31).text("world").text("anyone").int(0);
    }
    writer.ask(number::MULTI, multi.int(-1).bool(true).int(-1));
    for watcher in &mut watchers {
        (1..=ZNODES).for_each(|_| assert!(watcher.frame().is_some()));
    }
    writer.ask(number::EXISTS, Out::default().text("/").bool(false));
    counted.peaks_below(48);
    counted.gives_back_all_but(6);
}
