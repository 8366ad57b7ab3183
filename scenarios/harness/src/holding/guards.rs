//! The guards of the library's recipes as something held, by their methods of the same names.

use super::Held;
use std::future::Future;
use zk_recipes::zk::{Error, ZooKeeper};
use zk_recipes::{
    LockGuard, PriorityRead, PriorityWrite, ReadGuard, Released, RevocableRead, RevocableWrite, Stop, Term,
    WriteGuard,
};

macro_rules! held {
    ($guard:ident, $token:ident, $release:ident) => {
        impl<Z: ZooKeeper> Held for $guard<Z> {
            fn token(&self) -> i64 {
                $guard::$token(self)
            }

            fn lost(&self) -> impl Future<Output = Stop> + Send {
                $guard::lost(self)
            }

            fn release(self) -> impl Future<Output = Result<Released, Error>> + Send {
                $guard::$release(self)
            }
        }
    };
}

held!(LockGuard, token, release);
held!(ReadGuard, token, release);
held!(WriteGuard, token, release);
held!(RevocableRead, token, release);
held!(RevocableWrite, token, release);
held!(PriorityRead, token, release);
held!(PriorityWrite, token, release);
held!(Term, epoch, resign);
