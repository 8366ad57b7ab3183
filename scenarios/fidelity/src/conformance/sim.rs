//! A simulated standalone server, on a fault-free network.

use super::configuration::{Configuration, TICK};
use super::target::{Greeting, ListOrder, Target, Trouble};
use crate::exchange::Arrival;
use crate::exchange::wire::{self, Hello};
use sim_zk::choose::Calm;
use sim_zk::message::Down;
use sim_zk::raw::Raw;
use sim_zk::wire::Codec;
use sim_zk::{Config, ConnId, Settings};
use std::time::Duration;

/// The only server.
const SERVER: u8 = 0;

/// The time limit for a server to reply to a hello.
const HELLO_LIMIT: Duration = Duration::from_secs(10);

/// A simulated server. Its time passes only during waits.
pub struct Simulated {
    raw: Raw,
}

impl Simulated {
    /// An unused server with that configuration.
    pub fn new(configuration: &Configuration) -> Self {
        let settings = Settings {
            extended_types: configuration.extended_types,
            super_digest: configuration.super_digest.map(Into::into),
            // The cases were recorded on a server that has the fix of ZOOKEEPER-4799.
            filter_events: true,
            ..Settings::default()
        };
        let config = Config {
            servers: 1,
            tick: micros(TICK),
            settings,
            // Negligibly short.
            latency: 10,
            reap_every: configuration.reap_every.map(micros),
            ..Config::default()
        };
        Simulated { raw: Raw::new(config, Calm) }
    }
}

/// A connection, and the state needed to encode and decode its frames.
#[derive(Debug)]
pub struct SimLink {
    connection: ConnId,
    codec: Codec,
}

impl Target for Simulated {
    type Link = SimLink;

    fn connect(&mut self, hello: &Hello) -> Result<Greeting<SimLink>, Trouble> {
        let mut codec = Codec::default();
        let hello = codec.hello(&wire::hello(hello));
        let mut link = SimLink { connection: self.raw.connect(SERVER, hello), codec };
        let arrival = self.receive(&mut link, HELLO_LIMIT);
        Greeting::of(arrival, link, "the simulation")
    }

    fn send(&mut self, link: &mut SimLink, frames: &[Vec<u8>]) {
        let paths = self.raw.paths();
        let packets = frames.iter().map(|frame| link.codec.request(frame, paths)).collect();
        self.raw.send(link.connection, packets);
    }

    fn receive(&mut self, link: &mut SimLink, within: Duration) -> Arrival {
        let end = self.raw.now() + micros(within);
        loop {
            match self.raw.receive(link.connection) {
                Some(Down::Fin) => return Arrival::Closed,
                Some(down) => {
                    let frame = link.codec.frame(&down, self.raw.paths());
                    return Arrival::Frame(frame.expect("everything but the end is a frame"));
                }
                None if self.raw.advance(end) => {}
                None => return Arrival::Nothing,
            }
        }
    }

    fn cut(&mut self, link: SimLink, reset: bool) {
        self.raw.cut(link.connection, reset);
    }

    fn wait(&mut self, by: Duration) {
        let end = self.raw.now() + micros(by);
        while self.raw.advance(end) {}
    }

    fn now(&self) -> Duration {
        Duration::from_micros(self.raw.now())
    }

    fn can_restart(&self) -> bool {
        true
    }

    fn restart(&mut self) -> Result<(), Trouble> {
        self.raw.restart(SERVER);
        Ok(())
    }

    fn order(&self) -> ListOrder {
        ListOrder::Java
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
