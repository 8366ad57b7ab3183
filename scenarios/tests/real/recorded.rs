//! A session that is written down behaves as any other: the behaviour suite over the recording wrapper.
//!
//! Where no ZooKeeper is installed the test says so and passes, unless `ZK_REQUIRE_REAL=1` asks for it.

use crate::common::site::ClientLinks;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;
use zk_checker::history::{Header, Mode, Names, What};
use zk_checker::{RuleId, RuleSet, Verdict};
use zk_client::{Client, Options};
use zk_harness::journal::Journal;
use zk_real::recorded::Recorded;
use zk_real::recorder::{Recorder, Scribe};
use zk_suite::{self as suite, Site};

const SESSION: Options = Options::new(Duration::from_secs(2));

struct Real {
    ways: ClientLinks,
    tape: Arc<Recorder>,
    number: AtomicU64,
}

impl Site for Real {
    type Zk = Recorded<Client>;

    async fn open(&self) -> Recorded<Client> {
        let client = self.number.fetch_add(1, SeqCst) % 250;
        self.ways.open(|zk| Recorded::new(zk, Scribe::new(&self.tape, client as u16))).await
    }

    async fn cut(&self, zk: &Recorded<Client>) {
        self.ways.cut(zk).await;
    }

    async fn expire(&self, zk: &Recorded<Client>) {
        self.ways.expire(zk).await;
    }

    fn directory(&self) -> String {
        format!("/suite-{}", self.number.fetch_add(1, SeqCst))
    }
}

fn journal() -> Journal {
    let header = Header {
        format: 1,
        mode: Mode::Client,
        clients: Vec::new(),
        tick: 200_000,
        timeout: 2_000_000,
        election: 0,
        round_trip: 1000,
        settle: 250_000,
        sync_limit: zk_checker::history::SYNC_LIMIT,
        faults_recorded: false,
        pings_recorded: false,
        foreign_clients: false,
        first_number: 0,
        source: String::new(),
    };
    Journal::new(header, Names::default(), Vec::new())
}

#[test]
fn a_recorded_session_keeps_every_rule_of_the_suite() {
    let Some(server) = crate::common::server(Duration::from_millis(200)) else { return };
    let tape = Recorder::new(journal());
    let real = Real {
        ways: ClientLinks::new(server.address(), "", SESSION, None),
        tape: tape.clone(),
        number: AtomicU64::new(0),
    };
    let site = &*Box::leak(Box::new(real));
    let broken: Vec<&str> = crate::common::run(async {
        let mut broken = Vec::new();
        for (name, rule) in suite::CASES {
            eprintln!("{name}: {rule}");
            if tokio::spawn(suite::run(site, name)).await.is_err() {
                broken.push(*name);
            }
        }
        broken
    });
    assert!(broken.is_empty(), "rules that do not hold: {broken:?}");

    let (history, _) = tape.change(journal()).finish();
    let report = zk_checker::judge(&history, &RuleSet::only(&[RuleId::W]));
    assert_eq!(report.verdict(), Verdict::Pass, "{report}");
    let written = |of: fn(&What) -> bool| history.events.iter().filter(|event| of(&event.what)).count();
    assert!(written(|what| matches!(what, What::Notice { .. })) > 0);
    assert!(written(|what| matches!(what, What::Send { cleanup: true, .. })) > 0);
    assert!(written(|what| matches!(what, What::Made { .. })) > 0);
}
