//! The floor: the least requests of a lock over blocking sockets, pipelined, without a library. Nothing is recovered: a lost
//! connection is the end.

use super::shared::HandOvers;
use super::{Measured, Orders, Task};
use crate::clock::{micros, now, pause};
use anyhow::{Context, bail};
use std::io::{BufReader, Write};
use std::net::TcpStream;
use std::sync::Arc;
use zk_protocol::wire::jute::{In, Out};
use zk_protocol::wire::{frame, number};
use zk_recipes::zk::CreateMode;

/// The error of a znode that is not there.
const NO_NODE: i32 = -101;

/// Does the work of a row.
pub fn run(task: &Task) -> anyhow::Result<()> {
    match task.text("workload")? {
        "requests" => requests(task),
        "lock" => lock(task),
        "hand-over" => hand_over(task),
        other => bail!("there is no workload {other}"),
    }
}

/// A session on one socket.
pub struct Bare {
    from: BufReader<TcpStream>,
    to: TcpStream,
    out: Vec<u8>,
    xid: i32,
    notified: Vec<String>,
}

/// A reply: its xid, its error, its body.
struct Reply {
    xid: i32,
    error: i32,
    body: Vec<u8>,
}

impl Reply {
    fn done(self) -> anyhow::Result<Vec<u8>> {
        match self.error {
            0 => Ok(self.body),
            error => bail!("the server answers {error}"),
        }
    }
}

impl Bare {
    /// # Errors
    ///
    /// Those of the socket.
    pub fn open(address: &str) -> anyhow::Result<Bare> {
        let to = TcpStream::connect(address).with_context(|| format!("cannot connect to {address}"))?;
        to.set_nodelay(true)?;
        let from = BufReader::with_capacity(1 << 16, to.try_clone()?);
        let mut bare = Bare { from, to, out: Vec::new(), xid: 0, notified: Vec::new() };
        let mut connect = Out::default();
        connect.int(0).long(0).int(100_000).long(0).buffer(Some(&[0; 16])).bool(false);
        bare.out = frame::of(connect.as_bytes());
        bare.flush()?;
        frame::read(&mut bare.from)?;
        Ok(bare)
    }

    /// Adds a request to those that leave next; returns its xid.
    fn put(&mut self, operation: i32, write: impl FnOnce(&mut Out)) -> i32 {
        self.xid += 1;
        let mut out = Out::default();
        out.int(self.xid).int(operation);
        write(&mut out);
        self.out.extend(frame::of(out.as_bytes()));
        self.xid
    }

    fn flush(&mut self) -> anyhow::Result<()> {
        self.to.write_all(&self.out)?;
        self.out.clear();
        Ok(())
    }

    /// Reads the next reply; notifications before it are kept.
    fn answer(&mut self) -> anyhow::Result<Reply> {
        loop {
            if let Some(answer) = self.next()? {
                return Ok(answer);
            }
        }
    }

    fn next(&mut self) -> anyhow::Result<Option<Reply>> {
        let frame = frame::read(&mut self.from)?;
        let mut from = In::new(&frame);
        let (xid, _, error) = (from.int(), from.long(), from.int());
        let (xid, error) = (xid.context("a short reply")?, error.context("a short reply")?);
        match xid {
            number::NOTIFICATION_XID => {
                let (_, _, path) = (from.int(), from.int(), from.text().flatten());
                self.notified.push(path.context("a short notification")?.into_owned());
                Ok(None)
            }
            number::PING_XID => Ok(None),
            xid => Ok(Some(Reply { xid, error, body: from.rest().to_vec() })),
        }
    }

    fn until_notified(&mut self, path: &str) -> anyhow::Result<()> {
        while !self.notified.iter().any(|notified| notified == path) {
            self.next()?;
        }
        self.notified.retain(|notified| notified != path);
        Ok(())
    }

    fn create(&mut self, path: &str, mode: CreateMode) -> i32 {
        self.put(number::CREATE, |out| {
            out.text(path).buffer(Some(b"")).int(1).int(31).text("world").text("anyone");
            out.int(number::flags_of(mode));
        })
    }

    fn delete(&mut self, path: &str) -> i32 {
        self.put(number::DELETE, |out| _ = out.text(path).int(-1))
    }

    fn children(&mut self, path: &str) -> i32 {
        self.put(number::GET_CHILDREN, |out| _ = out.text(path).bool(false))
    }

    fn now(&mut self) -> anyhow::Result<Vec<u8>> {
        self.flush()?;
        self.answer()?.done()
    }

    /// Makes a persistent znode.
    ///
    /// # Errors
    ///
    /// Those of the socket and the server.
    pub fn make(&mut self, path: &str) -> anyhow::Result<()> {
        self.create(path, CreateMode::Persistent);
        self.now().map(drop)
    }

    /// The microseconds of a read.
    ///
    /// # Errors
    ///
    /// Those of the socket.
    pub fn round_trip(&mut self) -> anyhow::Result<f64> {
        let begun = now();
        self.put(number::EXISTS, |out| _ = out.text("/").bool(false));
        self.now()?;
        Ok(micros(begun, now()))
    }

    /// Makes and deletes so many znodes below a path, a hundred at a time: a server that has just started is slow.
    ///
    /// # Errors
    ///
    /// Those of the socket and the server.
    pub fn warm_up(&mut self, root: &str, count: usize) -> anyhow::Result<()> {
        const AT_ONCE: usize = 100;
        for _ in 0..count / AT_ONCE {
            for _ in 0..AT_ONCE {
                self.create(&format!("{root}/w-"), CreateMode::EphemeralSequential);
            }
            self.flush()?;
            let made: Vec<String> =
                (0..AT_ONCE).map(|_| path_in(&self.answer()?.done()?)).collect::<Result<_, _>>()?;
            for path in &made {
                self.delete(path);
            }
            self.flush()?;
            for _ in 0..AT_ONCE {
                self.answer()?.done()?;
            }
        }
        Ok(())
    }
}

fn path_in(body: &[u8]) -> anyhow::Result<String> {
    Ok(In::new(body).text().flatten().context("a reply without a path")?.into_owned())
}

fn names_in(body: &[u8]) -> anyhow::Result<Vec<String>> {
    let names = In::new(body).list(|item| item.text().flatten().map(|name| name.into_owned()));
    names.flatten().context("a reply without names")
}

fn requests(task: &Task) -> anyhow::Result<()> {
    let mut bare = Bare::open(task.text("connect")?)?;
    let root = task.text("root")?;
    bare.make(root)?;
    let prefix = format!("{root}/n-");
    let mut cycles = |count: usize| -> anyhow::Result<()> {
        for _ in 0..count {
            bare.create(&prefix, CreateMode::EphemeralSequential);
            let path = path_in(&bare.now()?)?;
            bare.children(root);
            bare.now()?;
            bare.delete(&path);
            bare.now()?;
        }
        Ok(())
    };
    cycles(task.number("warm")?)?;
    let mut orders = Orders;
    while let Some(ops) = orders.next() {
        let begun = now();
        cycles(ops)?;
        orders.report(Measured::between(ops, begun, now()));
    }
    Ok(())
}

/// Create and list in one round trip, delete in another.
fn lock(task: &Task) -> anyhow::Result<()> {
    let mut bare = Bare::open(task.text("connect")?)?;
    let root = task.text("root")?;
    bare.make(root)?;
    let prefix = format!("{root}/n-");
    let mut cycles = |count: usize| -> anyhow::Result<_> {
        let (mut acquires, mut whole) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for _ in 0..count {
            let begun = now();
            bare.create(&prefix, CreateMode::EphemeralSequential);
            bare.children(root);
            bare.flush()?;
            let path = path_in(&bare.answer()?.done()?)?;
            if names_in(&bare.answer()?.done()?)?.len() != 1 {
                bail!("the lock is not free");
            }
            acquires.push(micros(begun, now()));
            bare.delete(&path);
            bare.now()?;
            whole.push(micros(begun, now()));
        }
        Ok((acquires, whole))
    };
    cycles(task.number("warm")?)?;
    let mut orders = Orders;
    while let Some(ops) = orders.next() {
        let begun = now();
        let (acquires, whole) = cycles(ops)?;
        orders.report(Measured::between(ops, begun, now()).with("acquire", acquires).with("whole", whole));
    }
    Ok(())
}

fn hand_over(task: &Task) -> anyhow::Result<()> {
    let (clients, hold) = (task.number("clients")?, task.millis("hold_ms"));
    let root = task.text("root")?;
    let mut sessions: Vec<Bare> =
        (0..clients).map(|_| Bare::open(task.text("connect")?)).collect::<Result<_, _>>()?;
    sessions[0].make(root)?;
    let hand_overs = Arc::<HandOvers>::default();
    let mut contend = |each: usize| -> anyhow::Result<()> {
        std::thread::scope(|scope| {
            let threads: Vec<_> = sessions
                .iter_mut()
                .map(|bare| {
                    let hand_overs = hand_overs.clone();
                    scope.spawn(move || contender(bare, root, each, hold, &hand_overs))
                })
                .collect();
            threads.into_iter().try_for_each(|thread| match thread.join() {
                Ok(done) => done,
                Err(_) => bail!("a contender has panicked"),
            })
        })
    };
    contend(task.number("warm")?.div_ceil(clients))?;
    hand_overs.take(0);
    let mut orders = Orders;
    while let Some(ops) = orders.next() {
        contend(ops.div_ceil(clients))?;
        orders.report(hand_overs.take(ops.div_ceil(clients) * clients));
    }
    Ok(())
}

fn contender(
    bare: &mut Bare,
    root: &str,
    each: usize,
    hold: std::time::Duration,
    hand_overs: &HandOvers,
) -> anyhow::Result<()> {
    for _ in 0..each {
        bare.create(&format!("{root}/n-"), CreateMode::EphemeralSequential);
        bare.children(root);
        bare.flush()?;
        let own = path_in(&bare.answer()?.done()?)?;
        let mut listed = names_in(&bare.answer()?.done()?)?;
        loop {
            listed.sort_unstable();
            let place = listed.iter().position(|name| own.ends_with(name.as_str()));
            let Some(ahead) = place.context("the own znode is not listed")?.checked_sub(1) else { break };
            let path = format!("{root}/{}", listed[ahead]);
            let xid = bare.put(number::GET_DATA, |out| _ = out.text(&path).bool(true));
            bare.flush()?;
            let answer = bare.answer()?;
            if answer.xid != xid {
                bail!("a reply to something else");
            }
            if answer.error != NO_NODE {
                answer.done()?;
                bare.until_notified(&path)?;
            }
            bare.children(root);
            listed = names_in(&bare.now()?)?;
        }
        hand_overs.entered();
        if !hold.is_zero() {
            pause(hold);
        }
        hand_overs.leaving();
        bare.delete(&own);
        bare.now()?;
    }
    Ok(())
}
