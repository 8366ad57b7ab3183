//! A world driven by hand: raw connections, packet by packet, and faults by name. For recorded cases and scenarios, and for
//! whoever puts a server's socket in front of a world.

use crate::choose::Chooser;
use crate::config::Config;
use crate::message::{ConnId, Down, Up};
use crate::observer::Observer;
use crate::paths::Paths;
use crate::world::{Context, Effect, Hold, World};
use std::collections::BTreeSet;

/// A world driven by hand.
pub struct Raw {
    world: World,
    chooser: Box<dyn Chooser>,
    observer: Box<dyn Observer>,
    effects: Vec<Effect>,
    /// What is held up at present.
    held: BTreeSet<Hold>,
}

impl Raw {
    /// A world without clients.
    pub fn new(config: Config, chooser: impl Chooser + 'static) -> Self {
        Raw::watched(config, chooser, ())
    }

    /// The same, watched by a observer.
    pub fn watched(
        config: Config,
        chooser: impl Chooser + 'static,
        observer: impl Observer + 'static,
    ) -> Self {
        let (chooser, observer) = (Box::new(chooser), Box::new(observer));
        Raw { world: World::new(config), chooser, observer, effects: Vec::new(), held: BTreeSet::new() }
    }

    fn with<R>(&mut self, act: impl FnOnce(&mut World, &mut Context<'_>) -> R) -> R {
        let context = &mut Context {
            chooser: &mut *self.chooser,
            observer: &mut *self.observer,
            effects: &mut self.effects,
        };
        let result = act(&mut self.world, context);
        // There is nobody to be told.
        self.effects.clear();
        result
    }

    /// The world as it is.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Microseconds since the start.
    pub fn now(&self) -> u64 {
        self.world.now()
    }

    /// The paths of the world.
    pub fn paths(&mut self) -> &mut Paths {
        self.world.paths_mut()
    }

    /// Opens a connection with a server and sends the first packet on it.
    pub fn connect(&mut self, server: u8, hello: Up) -> ConnId {
        self.with(|world, context| {
            let conn = world.open_conn(None, server);
            world.send_by_hand(conn, vec![hello], context);
            conn
        })
    }

    /// Sends packets in one piece. If the connection is gone nothing is sent.
    pub fn send(&mut self, conn: ConnId, packets: Vec<Up>) {
        self.with(|world, context| world.send_by_hand(conn, packets, context));
    }

    /// What has arrived, in order; [`Down::Fin`] is the end.
    pub fn receive(&mut self, conn: ConnId) -> Option<Down> {
        self.world.take_arrived(conn)
    }

    /// Cuts a connection. With a reset, what has not arrived never does.
    pub fn cut(&mut self, conn: ConnId, reset: bool) {
        self.with(|world, context| world.cut_by_hand(conn, reset, context));
    }

    /// Does the next thing if it is due by `limit`; else lets the time pass until then, and says no.
    pub fn advance(&mut self, limit: u64) -> bool {
        self.with(|world, context| match world.next_step() {
            Some((at, step)) if at <= limit => {
                world.perform(at, step, context);
                true
            }
            _ => {
                world.pass_to(limit);
                false
            }
        })
    }

    /// Holds something up until it is released.
    pub fn hold(&mut self, hold: Hold) {
        if self.held.insert(hold) {
            self.world.hold(hold);
        }
    }

    /// Releases what was held up, if it was.
    pub fn release(&mut self, hold: Hold) {
        if self.held.remove(&hold) {
            self.with(|world, context| world.let_go(hold, context));
        }
    }

    /// Kills a server's process.
    pub fn kill(&mut self, server: u8) {
        self.with(|world, context| world.kill(server, context));
    }

    /// Starts a killed server.
    pub fn start(&mut self, server: u8) {
        self.with(|world, context| world.start(server, context));
    }

    /// Stops a server and starts it again on the same data.
    pub fn restart(&mut self, server: u8) {
        self.kill(server);
        self.start(server);
    }
}
