//! The black-box monitors on a million operations: lock, FIFO queue, priority queue, register; 10, 30 and 1,000 clients at
//! once; passing, and with a breach at a tenth, at half and at nine tenths. All findings are collected.
//!
//! `cargo bench -p zk-checker --bench black_box`

#![allow(missing_docs, reason = "criterion's macros make public functions")]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::collections::{BTreeSet, VecDeque};
use std::hint::black_box;
use std::time::Duration;
use zk_checker::Verdict;
use zk_checker::monitor::{
    Fifo, Holds, Locking, Monitor, MostUrgent, Number, Operations, Queue, Register, Urgent, Variable,
};

const OPERATIONS: usize = 1_000_000;

/// A stream of draws: splitmix64, with the same start each time.
struct Draws(u64);

impl Draws {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }
}

/// A working object.
trait Object {
    type Action: Copy;

    /// The next call.
    fn ask(&mut self, draws: &mut Draws) -> Self::Action;

    /// The call takes effect.
    fn answer(&mut self, asked: Self::Action) -> Self::Action;

    /// The call takes effect wrongly; none if its kind cannot.
    fn wrong_answer(&mut self, asked: Self::Action) -> Option<Self::Action>;
}

/// Clients take turns at random. The call of each takes effect at one of its turns, and returns at a later one. The
/// breach comes after so many operations.
fn history<O: Object>(mut object: O, clients: usize, breach: Option<usize>) -> Operations<O::Action> {
    #[derive(Clone, Copy)]
    enum At<A> {
        Rest,
        Asks(Number, A),
        Knows(Number, A),
    }
    let (mut draws, mut history, mut due) = (Draws(clients as u64), Operations::new(), breach);
    let mut clients = vec![At::Rest; clients];
    while history.len() < OPERATIONS {
        let client = draws.below(clients.len());
        clients[client] = match clients[client] {
            At::Rest => {
                let asked = object.ask(&mut draws);
                At::Asks(history.call(client as u32, asked), asked)
            }
            At::Asks(number, asked) => {
                let is_due = due.is_some_and(|due| due <= history.len());
                let wrong = if is_due { object.wrong_answer(asked) } else { None };
                due = due.filter(|_| wrong.is_none());
                At::Knows(number, wrong.unwrap_or_else(|| object.answer(asked)))
            }
            At::Knows(number, answer) => {
                history.done_with(number, answer);
                At::Rest
            }
        };
    }
    assert!(due.is_none(), "the breach has happened");
    // Open takes of a priority queue would leave the verdict open.
    for client in clients {
        match client {
            At::Rest => {}
            At::Asks(number, asked) => history.done_with(number, object.answer(asked)),
            At::Knows(number, answer) => history.done_with(number, answer),
        }
    }
    history
}

/// The number of items that are put before the first take.
const STOCK: u32 = 10_000;

/// Puts and takes, mixed at random.
#[derive(Default)]
struct Line {
    items: VecDeque<u32>,
    made: u32,
}

impl Object for Line {
    type Action = Queue;

    fn ask(&mut self, draws: &mut Draws) -> Queue {
        if self.made > STOCK && draws.below(2) == 0 {
            return Queue::Take(None);
        }
        self.made += 1;
        Queue::Put(self.made)
    }

    fn answer(&mut self, asked: Queue) -> Queue {
        match asked {
            Queue::Put(item) => {
                self.items.push_back(item);
                asked
            }
            Queue::Take(_) => Queue::Take(self.items.pop_front()),
        }
    }

    /// The last item comes first.
    fn wrong_answer(&mut self, asked: Queue) -> Option<Queue> {
        matches!(asked, Queue::Take(_)).then(|| Queue::Take(self.items.pop_back()))
    }
}

/// The same by urgency, which is random.
#[derive(Default)]
struct Heap {
    items: BTreeSet<(u32, u32)>,
    made: u32,
}

impl Object for Heap {
    type Action = Urgent;

    fn ask(&mut self, draws: &mut Draws) -> Urgent {
        if self.made > STOCK && draws.below(2) == 0 {
            return Urgent::Take(None);
        }
        self.made += 1;
        Urgent::Put { item: self.made, urgency: draws.below(1 << 20) as u32 }
    }

    fn answer(&mut self, asked: Urgent) -> Urgent {
        match asked {
            Urgent::Put { item, urgency } => {
                self.items.insert((urgency, item));
                asked
            }
            Urgent::Take(_) => Urgent::Take(self.items.pop_first().map(|(_, item)| item)),
        }
    }

    /// The least urgent item comes first.
    fn wrong_answer(&mut self, asked: Urgent) -> Option<Urgent> {
        let is_take = matches!(asked, Urgent::Take(_));
        is_take.then(|| Urgent::Take(self.items.pop_last().map(|(_, item)| item)))
    }
}

/// Reads, and occasional writes.
#[derive(Default)]
struct Cell {
    value: Option<u32>,
    made: u32,
}

impl Object for Cell {
    type Action = Register;

    fn ask(&mut self, draws: &mut Draws) -> Register {
        if draws.below(4) > 0 {
            return Register::Read(None);
        }
        self.made += 1;
        Register::Write(self.made)
    }

    fn answer(&mut self, asked: Register) -> Register {
        match asked {
            Register::Write(value) => {
                self.value = Some(value);
                asked
            }
            Register::Read(_) => Register::Read(self.value),
        }
    }

    /// The initial value.
    fn wrong_answer(&mut self, asked: Register) -> Option<Register> {
        matches!(asked, Register::Read(_)).then_some(Register::Read(None))
    }
}

/// Clients that acquire and release a lock; waiters are granted it in turn. The breach is a grant while it is held.
fn lock(clients: usize, breach: Option<usize>) -> Operations<Locking> {
    let (mut draws, mut history, mut due) = (Draws(clients as u64), Operations::new(), breach);
    let mut rest: Vec<u32> = (0..clients as u32).collect();
    let mut waiting: VecDeque<(u32, Number)> = VecDeque::new();
    while history.len() < OPERATIONS {
        // All but a few clients wait.
        while waiting.len() < clients.div_ceil(2) || rest.len() > 4 && draws.below(2) == 0 {
            let client = rest.swap_remove(draws.below(rest.len()));
            waiting.push_back((client, history.call(client, Locking::EXCLUSIVE)));
        }
        let mut holders = vec![waiting.pop_front().expect("somebody waits")];
        if due.is_some_and(|due| due <= history.len()) {
            due = None;
            holders.push(waiting.pop_front().expect("somebody waits"));
        }
        for (_, acquire) in &holders {
            history.done(*acquire);
        }
        for (client, _) in holders {
            let release = history.call(client, Locking::Release);
            history.done(release);
            rest.push(client);
        }
    }
    history
}

fn bench<M: Monitor>(
    c: &mut Criterion,
    name: &str,
    monitor: &M,
    make: impl Fn(usize, Option<usize>) -> Operations<M::Action>,
) {
    let mut group = c.benchmark_group(name);
    group.sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(2));
    group.throughput(Throughput::Elements(OPERATIONS as u64));
    let mut run = |what: String, history: &Operations<M::Action>, verdict| {
        assert_eq!(monitor.judge(history).verdict, verdict, "{name}, {what}");
        group.bench_with_input(BenchmarkId::from_parameter(&what), history, |b, history| {
            b.iter(|| monitor.judge(black_box(history)));
        });
    };
    for clients in [10, 30, 1000] {
        run(format!("{clients} clients"), &make(clients, None), Verdict::Pass);
    }
    for percent in [10, 50, 90] {
        let history = make(1000, Some(OPERATIONS / 100 * percent));
        run(format!("1000 clients, breach at {percent} %"), &history, Verdict::Fail);
    }
    let history = make(1000, None);
    let judged = monitor.judge(&history);
    group.bench_function("1000 clients, the certificate", |b| {
        b.iter(|| monitor.certify(black_box(&history), &judged));
    });
    group.finish();
}

fn black_boxes(c: &mut Criterion) {
    bench(c, "lock", &Holds::LOCK, lock);
    bench(c, "FIFO queue", &Fifo, |clients, breach| history(Line::default(), clients, breach));
    bench(c, "priority queue", &MostUrgent, |clients, breach| history(Heap::default(), clients, breach));
    bench(c, "register", &Variable, |clients, breach| history(Cell::default(), clients, breach));
}

criterion_group!(benches, black_boxes);
criterion_main!(benches);
