//! Many sessions with ten ephemerals each, all in one directory, that all expire: the cost of one session must not depend
//! on how many there are.
//!
//! `cargo bench -p sim-zk --bench sessions`

#![allow(missing_docs, reason = "criterion's macros make public functions")]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use sim_zk::Config;
use sim_zk::choose::Calm;
use sim_zk::message::{Ask, CreateForm, Creation, Down, Tag, Up};
use sim_zk::raw::Raw;
use zk_recipes::zk::{CreateMode, SessionId};

const EPHEMERALS: usize = 10;

/// Opens the sessions, fills them, and lets the time pass until all of them have expired.
fn live_and_expire(sessions: usize) -> Raw {
    let config = Config::default();
    let mut raw = Raw::new(config, Calm);
    let hello = Up::Connect { session: SessionId(0), last_zxid: 0, timeout: 4_000_000, password: [0; 16] };
    let conns: Vec<_> = (0..sessions).map(|_| raw.connect(0, hello.clone())).collect();
    settle(&mut raw);
    let directory = raw.paths().intern("/directory");
    raw.send(conns[0], vec![create(0, Creation::new(directory, None, CreateMode::Persistent))]);
    settle(&mut raw);
    for (session, conn) in conns.iter().enumerate() {
        let creates = (0..EPHEMERALS).map(|number| {
            let path = raw.paths().intern(&format!("/directory/{session}-{number}"));
            let creation = Creation::new(path, None, CreateMode::Ephemeral);
            create(number as i32 + 1, Creation { form: CreateForm::Create, ..creation })
        });
        let creates = creates.collect();
        raw.send(*conn, creates);
    }
    settle(&mut raw);
    let made = raw.world().znodes().count();
    assert!(made >= sessions * EPHEMERALS, "all of them are there");
    let end = raw.now() + 10_000_000;
    while raw.advance(end) {}
    assert!(raw.world().znodes().count() < 10, "all of them are gone");
    assert!(conns.iter().all(|conn| closed(&mut raw, *conn)), "everybody was hung up on");
    raw
}

fn create(xid: i32, creation: Creation) -> Up {
    Up::Request { xid, ask: Ask::Create(Box::new(creation)), tag: Tag::default() }
}

/// A tenth of a second: what was sent arrives and is answered.
fn settle(raw: &mut Raw) {
    let end = raw.now() + 100_000;
    while raw.advance(end) {}
}

fn closed(raw: &mut Raw, conn: sim_zk::ConnId) -> bool {
    std::iter::from_fn(|| raw.receive(conn)).last() == Some(Down::Fin)
}

fn sessions(c: &mut Criterion) {
    let mut group = c.benchmark_group("sessions that live and expire, ten ephemerals each");
    group.sample_size(10);
    for sessions in [625, 1250, 2500, 5000, 10_000] {
        group.throughput(Throughput::Elements(sessions as u64));
        group.bench_with_input(BenchmarkId::from_parameter(sessions), &sessions, |b, sessions| {
            b.iter(|| live_and_expire(*sessions));
        });
    }
    group.finish();
}

criterion_group!(benches, sessions);
criterion_main!(benches);
