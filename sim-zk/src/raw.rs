//! A world driven by hand: raw connections, packet by packet, and faults by name. It serves recorded cases,
//! scenarios, and programs that put a socket in front of a simulated server.

use crate::choose::Chooser;
use crate::config::Config;
use crate::fault::{Fault, Victim};
use crate::message::{ConnId, Down, Up};
use crate::observer::Observer;
use crate::paths::{Paths, UsedPaths};
use crate::world::{Context, Effect, Hold, World};
use std::collections::BTreeSet;

/// A world without simulated clients, driven packet by packet.
pub struct Raw {
    world: World,
    chooser: Box<dyn Chooser>,
    observer: Box<dyn Observer>,
    effects: Vec<Effect>,
    /// The present holds.
    held: BTreeSet<Hold>,
}

impl Raw {
    /// Creates a world without clients.
    pub fn new(config: Config, chooser: impl Chooser + 'static) -> Self {
        Raw::watched(config, chooser, ())
    }

    /// Creates a world without clients, with an observer.
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
        // No client code waits for results.
        self.effects.clear();
        result
    }

    /// Returns the world.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Returns the time, in microseconds since the start.
    pub fn now(&self) -> u64 {
        self.world.now()
    }

    /// Returns the paths of the world.
    pub fn paths(&mut self) -> &mut Paths {
        self.world.paths_mut()
    }

    /// Returns whether the world has many paths, most of them possibly unused, and nothing in flight: time to
    /// [`forget_paths`](Self::forget_paths).
    pub fn may_forget_paths(&self) -> bool {
        self.world.may_forget()
    }

    /// Forgets all paths except those in `used` and those that the servers use. The observer learns the forgotten
    /// numbers, which other paths get.
    pub fn forget_paths(&mut self, used: UsedPaths) {
        self.with(|world, context| world.forget_paths(used, context));
    }

    /// Opens a connection to a server and sends its first packet.
    pub fn connect(&mut self, server: u8, hello: Up) -> ConnId {
        self.with(|world, context| {
            let conn = world.open_conn(None, server);
            world.send_by_hand(conn, vec![hello], context);
            conn
        })
    }

    /// Sends packets in one piece, unless the connection is closed.
    pub fn send(&mut self, conn: ConnId, packets: Vec<Up>) {
        self.with(|world, context| world.send_by_hand(conn, packets, context));
    }

    /// Returns the next received packet; [`Down::Fin`] is the end of the stream.
    pub fn receive(&mut self, conn: ConnId) -> Option<Down> {
        self.world.take_arrived(conn)
    }

    /// Returns the first connection with a packet to [`receive`](Self::receive).
    pub fn first_arrival(&self) -> Option<ConnId> {
        self.world.first_arrival()
    }

    /// Returns the time of the next event, if there is one.
    pub fn due(&mut self) -> Option<u64> {
        self.world.next_step().map(|(at, _)| at)
    }

    /// Cuts a connection. With a reset, packets in flight are lost.
    pub fn cut(&mut self, conn: ConnId, reset: bool) {
        self.with(|world, context| world.cut_by_hand(conn, reset, context));
    }

    /// Performs the next event if it is due by `limit`; otherwise advances the time to `limit` and returns false.
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

    /// Starts a hold.
    pub fn hold(&mut self, hold: Hold) {
        if self.held.insert(hold) {
            self.world.hold(hold);
        }
    }

    /// Ends a hold, if it is in effect.
    pub fn release(&mut self, hold: Hold) {
        if self.held.remove(&hold) {
            self.with(|world, context| world.let_go(hold, context));
        }
    }

    /// Injects a fault into a server or a server link now, for `lasts` microseconds. The observer sees it.
    pub fn inject(&mut self, fault: Fault, victim: Victim, lasts: u64) {
        self.with(|world, context| world.inflict_on_servers(fault, victim, lasts, context));
    }

    /// Ends all lasting faults that satisfy `which` early, and returns their number.
    pub fn mend(&mut self, which: impl Fn(Fault, Victim) -> bool) -> usize {
        self.with(|world, context| world.mend_early(which, context))
    }

    /// Draws no faults from now on. Lasting faults continue.
    pub fn calm(&mut self) {
        self.world.draw_no_faults();
    }

    /// Crashes a server.
    pub fn kill(&mut self, server: u8) {
        self.with(|world, context| world.kill(server, context));
    }

    /// Starts a crashed server.
    pub fn start(&mut self, server: u8) {
        self.with(|world, context| world.start(server, context));
    }

    /// Crashes a server and starts it again on the same data.
    pub fn restart(&mut self, server: u8) {
        self.kill(server);
        self.start(server);
    }
}
