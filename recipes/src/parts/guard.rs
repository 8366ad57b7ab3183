//! What the guards of shared and revocable locks have in common: each of these is a method of all of them.

/// Methods over a field `hold`.
macro_rules! guard_methods {
    ($guard:ident) => {
        impl<Z: ZooKeeper> $guard<Z> {
            /// The fencing token: the czxid of the znode with which this hold was won. A store that refuses a reader with
            /// a token smaller than the largest writer's it has seen, and a writer with one smaller than any, is safe from
            /// late ones.
            pub fn token(&self) -> i64 {
                self.tenure.token()
            }

            /// The znode that stands for this hold.
            pub fn path(&self) -> &str {
                self.tenure.path()
            }

            /// How the hold stands now. Local and cheap: ask before every effect that is not fenced.
            pub fn state(&self) -> HoldState {
                self.tenure.state()
            }

            /// Resolves when the holder must stop, by its policy.
            ///
            /// # Cancellation
            ///
            /// May be dropped and called again at any time.
            pub async fn lost(&self) -> Stop {
                self.tenure.lost().await
            }

            /// After [`Stop::Suspect`]: resolves when the lock is known to be held still.
            ///
            /// # Errors
            ///
            /// The reason, when it is lost.
            pub async fn resumed(&self) -> Result<(), LostReason> {
                self.tenure.resumed().await
            }

            /// Writes in ZooKeeper that are applied only while this hold goes on, in one transaction.
            ///
            /// # Errors
            ///
            /// [`is_removed`](Error::is_removed) when the hold was over: nothing was applied. [`Error::Multi`] with the
            /// index of the caller's operation that was refused. [`is_outcome_unknown`](Error::is_outcome_unknown) after
            /// a lost reply. [`is_retryable_refusal`](Error::is_retryable_refusal) when the server is overloaded: it is
            /// sent once, and the caller may send it again.
            pub async fn transact(&self, ops: Vec<Op>) -> Result<Vec<OpResult>, Error> {
                self.tenure.transact(ops).await
            }

            /// A check for a transaction of one's own: it holds exactly as long as this hold does.
            pub fn fence(&self) -> Op {
                self.tenure.fence()
            }

            /// Gives the lock back, and waits until that is certain.
            ///
            /// # Cancellation
            ///
            /// Dropping the future leaves the same delete to the background.
            ///
            /// # Errors
            ///
            /// Only what nobody expects of one's own znode, such as [`is_denied`](Error::is_denied).
            pub async fn release(self) -> Result<Released, Error> {
                self.tenure.release().await
            }
        }
    };
    (revocable $guard:ident) => {
        impl<Z: ZooKeeper> $guard<Z> {
            /// Resolves when the holder was asked to go. It holds on until it releases.
            ///
            /// # Cancellation
            ///
            /// May be dropped and called again at any time.
            ///
            /// # Errors
            ///
            /// The reason, when the hold is lost before.
            pub async fn revoked(&self) -> Result<(), LostReason> {
                self.tenure.revoked().await
            }

            /// Drives `work`, and drops it when the holder must stop, and with [`RunUntil::Revoked`] also when it was
            /// asked to go. What it has sent by then stays sent.
            ///
            /// # Errors
            ///
            /// Why it was dropped.
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
}

pub(crate) use guard_methods;
