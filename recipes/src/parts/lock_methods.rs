//! Methods that locks have in common: the acquires of readers and writers, the list of contenders, evictions. The lock has the
//! fields `zk` and `contenders`.

macro_rules! lock_methods {
    // Acquires of readers and writers, over `acquire_as`, `try_acquire_as` and `guard` of the lock.
    (shared $lock:ident, $reader:ty, $writer:ty, $errors:literal) => {
        impl<Z: ZooKeeper> $lock<Z> {
            /// Waits until no writer is ahead.
            ///
            /// # Cancellation
            ///
            /// Dropping the future gives up: the znode is deleted in the background, even while the reply to its create is in
            /// flight, and the watch is removed. Nothing is sent before the first poll.
            ///
            /// An unpolled future blocks no other call, but its znode stays in the queue: conflicting contenders behind it
            /// wait for it, as for a holder. Drop it to give up.
            ///
            /// # When the connection is lost
            ///
            /// The place in the queue lasts as long as the session. After a lost reply the znode is looked for by its guid, and
            /// the create is retried only if there is none.
            ///
            /// # With a limit
            ///
            /// When it is over, the error is [`Error::is_timed_out`], and the clean-up is under way.
            ///
            /// # Errors
            ///
            /// [`Error::is_session_over`]; [`Error::is_removed`] when another client deleted our
            /// znode; [`Error::is_denied`]; with [`Parents::MustExist`] also [`Error::is_no_node`];
            /// [`Error::is_bad_input`] when a reconnect has made the session timeout too short for the margin.
            #[doc = $errors]
            pub fn read(&self) -> Call<Z, impl Work<Output = Result<Guard<Z, $reader>, Error>>> {
                Call::new(&self.zk, |until| {
                    $crate::observe::operation!(&self.zk, RECIPE, "read", &self.contenders.directory)
                        .of($crate::parts::select::within(&self.zk, until, self.hold_as(READ)))
                })
            }

            /// Waits until no contender is ahead.
            ///
            /// # Cancellation, When the connection is lost, With a limit, Errors
            ///
            /// As [`read`](Self::read).
            pub fn write(&self) -> Call<Z, impl Work<Output = Result<Guard<Z, $writer>, Error>>> {
                Call::new(&self.zk, |until| {
                    $crate::observe::operation!(&self.zk, RECIPE, "write", &self.contenders.directory)
                        .of($crate::parts::select::within(&self.zk, until, self.hold_as(WRITE)))
                })
            }

            async fn hold_as<M: Mode>(&self, role: Role) -> Result<Guard<Z, M>, Error> {
                Ok(self.guard(self.acquire_as(role).await?))
            }

            /// Takes the lock as a reader if no writer is ahead at the first look; `None` otherwise, and after a connection
            /// loss.
            ///
            /// # Cancellation, Errors
            ///
            /// As [`read`](Self::read), also when it gives up by itself; [`Error::is_retryable_refusal`] when an overloaded
            /// server has refused requests for a third of the session timeout: nothing is leaked.
            pub async fn try_read(&self) -> Result<Option<Guard<Z, $reader>>, Error> {
                let tenure =
                    $crate::observe::operation!(&self.zk, RECIPE, "try_read", &self.contenders.directory)
                        .attempt(self.try_acquire_as(READ))
                        .await?;
                Ok(tenure.map(|tenure| self.guard(tenure)))
            }

            /// Takes the lock as a writer if no contender is ahead at the first look; `None` otherwise, and after a connection
            /// loss.
            ///
            /// # Cancellation, Errors
            ///
            /// As [`try_read`](Self::try_read).
            pub async fn try_write(&self) -> Result<Option<Guard<Z, $writer>>, Error> {
                let tenure =
                    $crate::observe::operation!(&self.zk, RECIPE, "try_write", &self.contenders.directory)
                        .attempt(self.try_acquire_as(WRITE))
                        .await?;
                Ok(tenure.map(|tenure| self.guard(tenure)))
            }
        }
    };
    // The contenders of a queue.
    (list $lock:ident, $list:ident) => {
        impl<Z: ZooKeeper> $lock<Z> {
            #[doc = concat!("Returns the ", stringify!($list), " in order, holders first. The list may be stale.")]
            ///
            /// # Errors
            ///
            /// [`Error::is_transient`], [`Error::is_session_over`], [`Error::is_denied`].
            pub async fn $list(&self) -> Result<Vec<Contender>, Error> {
                self.contenders.contenders(&self.zk).await
            }
        }
    };
    // The same, and evictions.
    (evict $lock:ident, $list:ident) => {
        lock_methods!(list $lock, $list);

        impl<Z: ZooKeeper> $lock<Z> {
            /// Deletes the znode of exactly this contender: a holder is notified if it waits for that, a waiter's call fails.
            /// Returns `false` if the znode was already gone.
            ///
            /// # Errors
            ///
            #[doc = concat!("As [`", stringify!($list), "`](Self::", stringify!($list), "); after `ConnectionLoss` the outcome is unknown.")]
            pub async fn evict(&self, contender: &Contender) -> Result<bool, Error> {
                let operation = $crate::observe::operation!(&self.zk, RECIPE, "evict", &contender.path);
                match operation.of(self.zk.delete(&contender.path, None)).await {
                    Ok(()) => Ok(true),
                    Err(e) if e.is_no_node() => Ok(false),
                    Err(e) => Err(e),
                }
            }
        }
    };
}

pub(crate) use lock_methods;
