//! A simulated ensemble: its servers are close to each other, and their speed depends on the seed.

use super::cluster::{Cluster, Link, MemberId, Micros, PipelineStage};
use super::scenario::Meta;
use crate::exchange::Arrival;
use crate::exchange::wire::{self, Hello};
use sim_zk::choose::{Chooser, Point, Rates, Seeded};
use sim_zk::message::Down;
use sim_zk::raw::Raw;
use sim_zk::wire::Codec;
use sim_zk::{Config, ConnId, Hold};

/// One-way latency on the fault-free network, in microseconds: members and clients are as far apart as network
/// namespaces of one machine.
const LATENCY: u64 = 150;
const LINK_LATENCY: u64 = 7;

/// The time that hosts take to set up a connection.
const HANDSHAKE: u64 = 60;

/// A simulated ensemble.
pub struct Simulated {
    raw: Raw,
    lines: Vec<ClientConnection>,
}

/// A client's connection.
struct ClientConnection {
    codec: Codec,
    phase: Phase,
}

/// The phase of a connection.
enum Phase {
    /// The hosts shake hands until then; the client's hello follows.
    Handshake { until: Micros, member: MemberId, hello: Hello },
    /// The server has the connection, or its host has refused it.
    Open { conn: ConnId, refused: bool },
    /// The client closed it before it reached the server.
    Gone,
}

/// Chooses like a seed, but on a good network: most packets and disks are quick, with occasional exceptions.
struct Near(Seeded);

impl Chooser for Near {
    fn choose(&mut self, point: Point, n: u32) -> u32 {
        // The least of that many draws counts. The numbers were found by experiment: with them, reads right behind
        // another client's write, and protected creates whose connection is cut, fail about as often as on a real
        // ensemble.
        let draws = match point {
            Point::Latency => 32,
            Point::Lag => 3,
            _ => 1,
        };
        let least = (0..draws).map(|_| self.0.choose(point, n)).min().unwrap_or(0);
        // 0 stands for the fault-free latency, which is a long one here.
        if point == Point::Latency { least.max(1) } else { least }
    }
}

impl Simulated {
    /// An ensemble with the suite's parameters, in which `seed` decides every race.
    pub fn new(seed: u64, meta: &Meta) -> Self {
        let config = Config {
            tick: meta.tick_ms * 1000,
            sync_limit: u64::from(meta.sync_limit),
            latency: LATENCY,
            link_latency: LINK_LATENCY,
            ..Config::default().with_servers(u8::try_from(meta.members).unwrap_or(9))
        };
        let mut chooser = Seeded::new(seed, Rates::NONE);
        // The phase of the tick at the beginning of a scenario is unknown.
        let phase = (u64::from(chooser.choose(Point::User, 1 << 16)) * config.tick * 2) >> 16;
        let mut raw = Raw::new(config, Near(chooser));
        while raw.advance(phase) {}
        Simulated { raw, lines: Vec::new() }
    }

    /// The first handshake in progress.
    fn next_handshake(&self) -> Option<(Micros, usize)> {
        let until = |(line, of): (usize, &ClientConnection)| match &of.phase {
            Phase::Handshake { until, .. } => Some((*until, line)),
            _ => None,
        };
        self.lines.iter().enumerate().filter_map(until).min()
    }

    /// Sends the client's hello after the handshake.
    fn say_hello(&mut self, line: usize) {
        let ClientConnection { codec, phase } = &mut self.lines[line];
        if let Phase::Handshake { member, hello, .. } = phase {
            let refused = !self.raw.world().is_running(id(*member));
            let up = codec.hello(&wire::hello(hello));
            *phase = Phase::Open { conn: self.raw.connect(id(*member), up), refused };
        }
    }
}

fn id(member: MemberId) -> u8 {
    u8::try_from(member.0).expect("an ensemble has at most nine members")
}

fn hold(link: Link) -> Hold {
    Hold::Link(id(link.from), id(link.to))
}

fn loss(link: Link) -> Hold {
    Hold::Loss(id(link.from), id(link.to))
}

fn stage(member: MemberId, stage: PipelineStage) -> Hold {
    match stage {
        PipelineStage::Disk => Hold::Disk(id(member)),
        PipelineStage::Apply => Hold::Apply(id(member)),
        PipelineStage::Commit => Hold::Commit(id(member)),
    }
}

impl Cluster for Simulated {
    /// An index into the connections.
    type Connection = usize;

    fn now(&self) -> Micros {
        self.raw.now()
    }

    fn advance(&mut self, limit: Micros) {
        let next = self.next_handshake().filter(|(until, _)| *until <= limit);
        let before = next.map_or(limit, |(until, _)| until);
        if !self.raw.advance(before)
            && let Some((_, line)) = next
        {
            self.say_hello(line);
        }
    }

    fn members(&self) -> usize {
        usize::from(self.raw.world().config().servers)
    }

    fn leader(&self) -> Option<MemberId> {
        self.raw.world().leader_of_quorum().map(|id| MemberId(usize::from(id)))
    }

    fn serving(&self) -> Vec<MemberId> {
        self.raw.world().following_quorum().into_iter().map(|id| MemberId(usize::from(id))).collect()
    }

    fn last_applied(&self, member: MemberId) -> Option<i64> {
        let world = self.raw.world();
        world.is_running(id(member)).then(|| world.applied(id(member)))
    }

    fn open(&mut self, member: MemberId, hello: &Hello) -> usize {
        let until = self.raw.now() + HANDSHAKE;
        let phase = Phase::Handshake { until, member, hello: hello.clone() };
        self.lines.push(ClientConnection { codec: Codec::default(), phase });
        self.lines.len() - 1
    }

    fn send(&mut self, connection: &usize, frame: Vec<u8>) {
        let ClientConnection { codec, phase } = &mut self.lines[*connection];
        if let Phase::Open { conn, .. } = phase {
            let packet = codec.request(&frame, self.raw.paths());
            self.raw.send(*conn, vec![packet]);
        }
    }

    fn receive(&mut self, connection: &usize) -> Arrival {
        let ClientConnection { codec, phase } = &mut self.lines[*connection];
        let Phase::Open { conn, refused } = phase else { return Arrival::Nothing };
        match self.raw.receive(*conn) {
            None => Arrival::Nothing,
            Some(Down::Fin) if *refused => Arrival::Refused,
            Some(down) => codec.frame(&down, self.raw.paths()).map_or(Arrival::Closed, Arrival::Frame),
        }
    }

    fn cut(&mut self, connection: &usize) {
        let phase = &mut self.lines[*connection].phase;
        if let Phase::Open { conn, .. } = phase {
            self.raw.cut(*conn, false);
        } else {
            *phase = Phase::Gone;
        }
    }

    fn hold(&mut self, link: Link) {
        self.raw.hold(hold(link));
    }

    fn release(&mut self, link: Link) {
        self.raw.release(hold(link));
    }

    fn lose(&mut self, link: Link) {
        self.raw.hold(loss(link));
    }

    fn heal(&mut self, link: Link) {
        self.raw.release(loss(link));
    }

    fn kill(&mut self, member: MemberId) {
        self.raw.kill(id(member));
    }

    fn start(&mut self, member: MemberId) {
        self.raw.start(id(member));
    }

    fn pause(&mut self, member: MemberId) {
        self.raw.hold(Hold::Server(id(member)));
    }

    fn resume(&mut self, member: MemberId) {
        self.raw.release(Hold::Server(id(member)));
    }

    fn stall(&mut self, member: MemberId, of: PipelineStage) {
        self.raw.hold(stage(member, of));
    }

    fn unstall(&mut self, member: MemberId, of: PipelineStage) {
        self.raw.release(stage(member, of));
    }
}
