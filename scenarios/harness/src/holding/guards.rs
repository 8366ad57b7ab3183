//! Implements [`Held`] for the guards of the library's recipes by their methods of the same names.

use super::Held;
use std::future::Future;
use zk_recipes::guard::Mode;
use zk_recipes::zk::{Error, ZooKeeper};
use zk_recipes::{Guard, Released, Stop, Term};

impl<Z: ZooKeeper, M: Mode> Held for Guard<Z, M> {
    fn token(&self) -> i64 {
        Guard::token(self)
    }

    fn lost(&self) -> impl Future<Output = Stop> + Send {
        Guard::lost(self)
    }

    fn release(self) -> impl Future<Output = Result<Released, Error>> + Send {
        Guard::release(self)
    }
}

impl<Z: ZooKeeper> Held for Term<Z> {
    fn token(&self) -> i64 {
        Term::token(self)
    }

    fn lost(&self) -> impl Future<Output = Stop> + Send {
        Term::lost(self)
    }

    fn release(self) -> impl Future<Output = Result<Released, Error>> + Send {
        self.resign()
    }
}
