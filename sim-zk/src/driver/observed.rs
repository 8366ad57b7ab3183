//! Access to the observer of a simulation.

use super::shared::Core;
use std::any::Any;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::MutexGuard;

/// The observer as its type, and the lock on the simulation.
///
/// Compiled once for each type of observer, and not for each of the hundreds of accesses.
pub(super) struct Observed<'s, W> {
    core: MutexGuard<'s, Core>,
    is: PhantomData<W>,
}

impl<'s, W> Observed<'s, W> {
    pub(super) fn new(core: MutexGuard<'s, Core>) -> Self {
        Observed { core, is: PhantomData }
    }

    pub(super) fn now(&self) -> u64 {
        self.core.world.now()
    }
}

impl<W: 'static> Deref for Observed<'_, W> {
    type Target = W;

    fn deref(&self) -> &W {
        let observer: &dyn Any = &*self.core.observer;
        observer.downcast_ref().expect(OF_ITS_TYPE)
    }
}

impl<W: 'static> DerefMut for Observed<'_, W> {
    fn deref_mut(&mut self) -> &mut W {
        let observer: &mut dyn Any = &mut *self.core.observer;
        observer.downcast_mut().expect(OF_ITS_TYPE)
    }
}

const OF_ITS_TYPE: &str = "the observer is of the type it was given as";
