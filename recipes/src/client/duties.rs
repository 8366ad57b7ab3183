//! Clean-up duties, on the runtime in which the handle was opened.

use std::sync::Arc;

use super::Client;
use crate::zk::duty::{Armed, Discharge, Duty, DutyId, discharge};

/// Arms a duty of this handle.
pub(super) fn arm(client: &Client, duty: Duty) -> Armed {
    let id = {
        let mut core = client.session.shared.lock();
        core.next_duty += 1;
        core.next_duty
    };
    Armed::new(id, duty, Arc::new(Discharger(client.clone())))
}

struct Discharger(Client);

impl Discharge for Discharger {
    fn start(&self, _: DutyId, duty: Duty) {
        let begun = Begun::count(self.0.clone());
        // The first request is sent here; the task only waits for replies.
        let work = discharge(&self.0, duty);
        self.0.session.runtime.spawn(async move {
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
