//! Methods that guards have in common. Each arm adds one group to a guard; the arguments are the guard, the field with its
//! [`Tenure`](super::tenure::Tenure) or claim, and the noun that the documentation uses for what is held.

macro_rules! guard_methods {
    // Loss of the hold: every guard.
    (held $guard:ident, $field:ident, $noun:literal) => {
        impl<Z: ZooKeeper> $guard<Z> {
            #[doc = concat!("Returns the path of the znode that stands for the ", $noun, ".")]
            pub fn path(&self) -> &str {
                self.$field.path()
            }

            #[doc = concat!("Returns the state of the ", $noun, ". Sends nothing: check it before every effect that is not fenced.")]
            pub fn state(&self) -> HoldState {
                self.$field.state()
            }

            #[doc = concat!("Resolves when the ", $noun, " is lost, or suspect under [`OnSuspect::Stop`](crate::OnSuspect::Stop): the holder must stop.")]
            ///
            /// The first call arms a watch on the holder's own znode (one request), which reports a deletion by another
            /// client.
            ///
            /// # Cancellation
            ///
            /// Cancel-safe: may be dropped and called again at any time.
            pub async fn lost(&self) -> Stop {
                self.$field.lost().await
            }

            #[doc = concat!("Resolves after [`Stop::Suspect`] when the ", $noun, " is confirmed to be held.")]
            ///
            /// # Errors
            ///
            /// The reason, when it is lost.
            pub async fn resumed(&self) -> Result<(), LostReason> {
                self.$field.resumed().await
            }
        }
    };
    // Work that ends with the hold.
    (run $guard:ident, $field:ident) => {
        impl<Z: ZooKeeper> $guard<Z> {
            /// Drives `work`, and drops it when the holder must stop. Requests that `work` has sent by then stay sent.
            ///
            /// # Errors
            ///
            /// The reason for the stop.
            pub fn run<T>(&self, work: impl Future<Output = T>) -> impl Future<Output = Result<T, Stop>> {
                self.$field.run(work)
            }
        }
    };
    // Writes in ZooKeeper that the hold fences.
    (fenced $guard:ident) => {
        impl<Z: ZooKeeper> $guard<Z> {
            /// Applies writes in ZooKeeper in one transaction, and only while this hold goes on.
            ///
            /// # Errors
            ///
            /// [`Error::is_removed`] when the hold was over: nothing was applied. [`Error::refused_operation`] with the
            /// index of the caller's operation that was refused. [`Error::is_outcome_unknown`] after a
            /// lost reply. [`Error::is_retryable_refusal`] when the server is overloaded: the
            /// transaction is sent once, and the caller may retry it.
            pub async fn transact(&self, ops: Vec<Op>) -> Result<Vec<OpResult>, Error> {
                self.tenure.transact(ops).await
            }

            /// Returns a check for a transaction of the caller: it holds exactly as long as this hold does.
            pub fn fence(&self) -> Op {
                self.tenure.fence()
            }
        }
    };
    // The same, idempotent.
    (once $guard:ident) => {
        impl<Z: ZooKeeper> $guard<Z> {
            /// Applies writes as [`transact`](Self::transact) does, and exactly once: after a lost reply it retries unless the
            /// transaction was applied. The version and the data of the holder's own znode are the receipt: a foreign write of
            /// just those data, while the reply is lost, is taken for it.
            ///
            /// # Errors
            ///
            /// As [`transact`](Self::transact); the outcome is unknown only when the session or the hold ended before it was
            /// found out, when another client wrote into that znode meanwhile and nothing tells in which order, or when an
            /// access list denied the read of it.
            pub async fn transact_once(&mut self, ops: Vec<Op>) -> Result<(), Error> {
                self.tenure.transact_once(ops).await
            }
        }
    };
    // Locks.
    (lock $guard:ident, $token:literal) => {
        guard_methods!(held $guard, tenure, "lock");
        guard_methods!(fenced $guard);

        impl<Z: ZooKeeper> $guard<Z> {
            #[doc = $token]
            pub fn token(&self) -> i64 {
                self.tenure.token()
            }

            /// Releases the lock, and waits until the release is certain.
            ///
            /// # Cancellation
            ///
            /// Dropping the future leaves the same delete to the background.
            ///
            /// # Errors
            ///
            /// Only what is unexpected for an own znode, such as [`Error::is_denied`].
            pub async fn release(self) -> Result<Released, Error> {
                self.tenure.release().await
            }
        }
    };
    // Locks of readers and writers.
    (shared $guard:ident) => {
        guard_methods!(
            lock $guard,
            "Returns the fencing token: the czxid of the znode with which this hold was won. A store is safe from late writes if \
             it refuses a reader whose token is smaller than the largest token of a writer that it has seen, and a writer whose \
             token is smaller than any."
        );
    };
    // Locks whose holders can be revoked.
    (revocable $guard:ident) => {
        guard_methods!(shared $guard);

        impl<Z: ZooKeeper> $guard<Z> {
            /// Resolves when the holder was asked to release. The lock stays held until it is released.
            ///
            /// # Cancellation
            ///
            /// Cancel-safe: may be dropped and called again at any time.
            ///
            /// # Errors
            ///
            /// The reason, when the hold is lost before.
            pub async fn revoked(&self) -> Result<(), LostReason> {
                self.tenure.revoked().await
            }

            /// Drives `work`, and drops it when the holder must stop; with [`RunUntil::Revoked`] also when the holder was
            /// asked to release. Requests that `work` has sent by then stay sent.
            ///
            /// # Errors
            ///
            /// The reason for the stop.
            pub fn run<T>(
                &self,
                work: impl Future<Output = T>,
            ) -> impl Future<Output = Result<T, Interrupt>> {
                use futures_util::{FutureExt, TryFutureExt};
                match self.run_until {
                    RunUntil::Revoked => self.tenure.run_until_revoked(work).left_future(),
                    RunUntil::Lost => self.tenure.run(work).map_err(Interrupt::Stop).right_future(),
                }
            }
        }
    };
    // Claims on names.
    (claim $guard:ident, $noun:literal) => {
        guard_methods!(held $guard, claimed, $noun);
        guard_methods!(run $guard, claimed);

        impl<Z: ZooKeeper> $guard<Z> {
            /// Returns the czxid of the znode, which grows from owner to owner.
            pub fn czxid(&self) -> i64 {
                self.claimed.czxid()
            }

            /// Replaces the data of the znode.
            ///
            /// # Cancellation
            ///
            /// After a drop the data may or may not be replaced, once, and not after the end of the session.
            ///
            /// # Errors
            ///
            #[doc = concat!("[`Error::is_removed`] when the ", $noun, " is lost; [`Error::is_bad_input`] for data that")]
            /// do not fit into a request; [`Error::is_session_over`]; [`Error::is_denied`].
            pub async fn set(&self, data: &[u8]) -> Result<(), Error> {
                self.claimed.set(data).await
            }
        }
    };
}

pub(crate) use guard_methods;
