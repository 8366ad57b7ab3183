//! Methods that holds have in common. Each arm adds one group to the `impl` of a guard; the arguments are the field with
//! its [`Tenure`](super::tenure::Tenure) or claim, and the noun that the documentation uses for what is held.

macro_rules! hold_methods {
    // Loss of the hold: every guard.
    (held $field:ident, $noun:literal) => {
        #[doc = concat!("Returns the handle of the session in which the ", $noun, " is held, for other recipes beside it.")]
        pub fn zk(&self) -> &Z {
            self.$field.zk()
        }

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
    };
    // Work that ends with the hold.
    (run $field:ident) => {
        /// Drives `work`, and drops it when the holder must stop. Requests that `work` has sent by then stay sent.
        ///
        /// # Errors
        ///
        /// The reason for the stop.
        pub fn run<T>(&self, work: impl Future<Output = T>) -> impl Future<Output = Result<T, Stop>> {
            self.$field.run(work)
        }
    };
    // Writes in ZooKeeper that the hold fences.
    (fenced) => {
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
    };
    // The same, idempotent.
    (once) => {
        /// Applies writes as [`transact`](Self::transact) does, and exactly once: after a lost reply it retries unless the
        /// transaction was applied. The version and the data of the holder's own znode are the receipt: a foreign write of
        /// just those data, while the reply is lost, is taken for it. Calls on one guard are applied one after the other.
        ///
        /// # Errors
        ///
        /// As [`transact`](Self::transact); the outcome is unknown only when the session or the hold ended before it was
        /// found out, when another client wrote into that znode meanwhile and nothing tells in which order, or when an
        /// access list denied the read of it.
        pub async fn transact_once(&self, ops: Vec<Op>) -> Result<(), Error> {
            self.tenure.transact_once(ops).await
        }
    };
    // Claims on names.
    (claim $noun:literal) => {
        hold_methods!(held claimed, $noun);
        hold_methods!(run claimed);

        /// Returns the fencing token: the czxid of the znode, which grows from owner to owner.
        pub fn token(&self) -> i64 {
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
    };
}

pub(crate) use hold_methods;
