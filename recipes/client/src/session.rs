//! A session's life: opened, shared by all clones of a handle, closed with the last of them.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::Stream;
use futures_util::future::{Either, select};
use futures_util::stream::unfold;
use tokio::runtime::Handle;

use super::acl::Acl;
use super::address;
use super::alarms::{Alarm, Alarms};
use super::clock::instant_in;
use super::core::{Missed, Shared, shuffle};
use super::handshake::Handshake;
use super::life::{self, Outage};
use super::link;
use super::options::Options;
use super::request::Ask;
use zk_protocol::session::Failure;
use zk_recipes::zk::{Error, ErrorKind, Over, Status, Time};

/// The session that all clones of a handle and their futures share. It closes with the last reference.
pub(super) struct Session {
    pub(super) shared: Arc<Shared>,
    pub(super) acl: Acl,
    pub(super) runtime: Handle,
    alarms: Arc<Alarms>,
}

impl Session {
    pub(super) async fn open(
        connect_string: &str,
        options: &Options,
        outage: &Outage,
    ) -> Result<Arc<Session>, Error> {
        let runtime = Handle::try_current()
            .map_err(|_| ErrorKind::BadInput("a session is opened within a tokio runtime".to_owned()))?;
        let (mut servers, root) = address::parse(connect_string)?;
        shuffle(&mut servers);
        let (count, limits) = (servers.len(), options.limits());
        let handshake = Handshake::new(servers, options)?;
        has_drivers()?;
        let root = root.taking(options.max_request_bytes);
        let shared = Arc::new(Shared::new(options.session_timeout, count, root, options.max_ephemeral_bytes));
        runtime.spawn(link::drive(shared.clone(), handshake, limits, outage));
        // From here on the session ends with this value, even if the future is dropped.
        let session = Arc::new(Session::new(shared, options.acl.clone(), runtime));
        let until = session.shared.clock.now() + limits.connect_timeout;
        match session.before(until, session.connected()).await {
            Some(Ok(())) => return Ok(session),
            Some(Err(why)) if !session.shared.attempts().are_hopeless => return Err(why),
            _ => {}
        }
        let causes = session.shared.attempts().causes(limits.connect_timeout);
        life::not_opened(&causes, limits.connect_timeout, outage);
        session.shared.end(Over::Closed);
        Err(Error::unreachable(causes))
    }

    /// The status, and each later one; statuses in quick succession may be seen as one step. Does not keep the session open.
    pub(super) fn states(&self) -> impl Stream<Item = Status> + Send + Unpin + use<> {
        Box::pin(unfold((self.shared.clone(), None::<Status>), |(shared, seen)| async move {
            let status = match seen {
                None => shared.status(),
                Some(seen) if seen.over().is_some() => return None,
                Some(seen) => shared.changed(seen).await,
            };
            Some((status, (shared, Some(status))))
        }))
    }

    pub(super) fn new(shared: Arc<Shared>, acl: Acl, runtime: Handle) -> Session {
        let alarms = Alarms::new(shared.clock);
        Session { shared, acl, runtime, alarms }
    }

    /// The first connection.
    async fn connected(&self) -> Result<(), Error> {
        let mut status = self.shared.status();
        while status.connection == 0 {
            if let Some(why) = status.over() {
                return Err(why);
            }
            status = self.changed(status).await;
        }
        Ok(())
    }

    pub(super) fn changed(&self, seen: Status) -> impl Future<Output = Status> + Send + use<> {
        self.shared.changed(seen)
    }

    pub(super) fn sleep_until(&self, until: Time) -> Alarm {
        Alarm::new(&self.alarms, &self.runtime, until)
    }

    /// 1. Wait for duties. 2. Close the session: nothing is sent afterwards. 3. Wait for the reply.
    pub(super) async fn close(&self, limit: Duration) -> Result<(), Error> {
        let until = self.shared.clock.now() + limit;
        let _ = self.before(until, self.shared.idle()).await;
        let Some(ticket) = self.say_close() else { return Err(ErrorKind::ConnectionLoss.into()) };
        let answered = self.before(until, poll_fn(|context| self.poll_closed(ticket, context))).await;
        if answered.is_none() {
            self.shared.lock().slots.forget(ticket, (), None);
        }
        // Another clone may be closing it.
        if self.before(until, self.over()).await.is_none() {
            self.shared.end(Over::Closed);
            return Err(ErrorKind::ConnectionLoss.into());
        }
        answered.unwrap_or(Err(ErrorKind::ConnectionLoss.into()))
    }

    async fn over(&self) {
        let mut status = self.shared.status();
        while status.over().is_none() {
            status = self.changed(status).await;
        }
    }

    /// `None` without a connection: the session is over on this side, and expires.
    fn say_close(&self) -> Option<u32> {
        self.shared.act(|core, now, out| {
            if core.machine.close_unconnected(out) {
                core.wake_link();
                return None;
            }
            // What was called before is applied.
            core.send_held(None, now, out);
            let ticket = core.slots.take();
            core.machine.ask(now, Ask::Close, (), Some(ticket), None, out);
            Some(ticket)
        })
    }

    /// Ready when the session is over; returns whether the ensemble confirmed it.
    fn poll_closed(
        &self,
        ticket: u32,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Result<(), Error>> {
        self.shared.lock().slots.poll_answer(ticket, context).map(|result| match result {
            // Closing a session that is over, or that another clone is closing, is no error.
            Ok(_) | Err(Missed::Failed(Failure::Over(_))) => Ok(()),
            Err(Missed::Failed(Failure::Refused(error))) => Err(Error::from_code_number(error)),
            Err(Missed::Failed(Failure::ConnectionLoss) | Missed::Full { .. }) => {
                Err(ErrorKind::ConnectionLoss.into())
            }
        })
    }

    async fn before<T>(&self, until: Time, work: impl Future<Output = T>) -> Option<T> {
        match select(pin!(work), pin!(self.sleep_until(until))).await {
            Either::Left((done, _)) => Some(done),
            Either::Right(_) => None,
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // No caller waits for the reply; the task continues until it comes, or the connection is lost.
        self.shared.act(|core, now, out| {
            if core.machine.close_unconnected(out) {
                core.hang_up = true;
            } else {
                core.send_held(None, now, out);
                let ticket = core.slots.take();
                core.slots.forget(ticket, (), None);
                core.machine.ask(now, Ask::Close, (), Some(ticket), None, out);
            }
            core.wake_link();
        });
    }
}

/// Whether the runtime drives sockets and timers.
///
/// # Errors
///
/// [`Error::is_bad_input`] if it does not. There is no way to ask a runtime: what it would otherwise panic about in a task of the
/// session, it panics about here, where that is caught.
fn has_drivers() -> Result<(), Error> {
    let lacks = |what: &str| {
        ErrorKind::BadInput(format!("the tokio runtime has no {what}: build it with enable_all()")).into()
    };
    std::panic::catch_unwind(|| drop(tokio::time::sleep_until(instant_in(Duration::ZERO))))
        .map_err(|_| lacks("timer"))?;
    let socket = std::panic::catch_unwind(|| {
        let socket = std::net::UdpSocket::bind((std::net::Ipv4Addr::LOCALHOST, 0))?;
        socket.set_nonblocking(true)?;
        tokio::net::UdpSocket::from_std(socket).map(drop)
    });
    // A machine without loopback is another matter.
    socket.map(drop).map_err(|_| lacks("I/O"))
}
