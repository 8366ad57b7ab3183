//! Clean-up duties, on the runtime in which the handle was opened.

use std::sync::Arc;

use super::Client;
use super::session::Session;
use zk_recipes::zk::duty::{Armed, Discharge, Duty, DutyId, discharge};

/// Arms a duty of this handle.
pub(super) fn arm(client: &Client, duty: Duty) -> Armed {
    let id = {
        let mut core = client.session.shared.lock();
        core.next_duty += 1;
        core.next_duty
    };
    Armed::new(id, duty, client.session.clone())
}

impl Discharge for Session {
    fn start(self: Arc<Self>, _: DutyId, duty: Duty) {
        let client = Client { session: self };
        let begun = Begun::count(client.clone());
        // The first request is sent here; the task only waits for replies.
        let work = discharge(&client, duty);
        client.session.runtime.spawn(async move {
            work.await;
            drop(begun);
        });
    }

    fn done(&self, _: DutyId) {}
}

/// Counts a duty while this value lives, also if its task is dropped with its runtime.
struct Begun(Client);

impl Begun {
    fn count(client: Client) -> Self {
        client.session.shared.lock().duties += 1;
        Begun(client)
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        self.0.session.shared.duty_done();
    }
}
