//! The clients' operations on one object: calls and returns, in one order.

/// The position of a return that has not come.
pub const PENDING: u32 = u32::MAX;

/// Names an operation of a history, in the order of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Number(pub u32);

impl Number {
    pub(super) const NONE: Number = Number(u32::MAX);

    pub(super) fn at(self) -> usize {
        self.0 as usize
    }
}

/// One operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation<A> {
    /// The process that called it. Only holds use this: the process that acquired a hold releases it.
    pub process: u32,
    /// The request, and the answer once it has returned.
    pub action: A,
    /// The position of the call.
    pub called: u32,
    /// The position of the return, or [`PENDING`].
    pub returned: u32,
}

impl<A> Operation<A> {
    /// Whether it has returned.
    pub fn is_done(&self) -> bool {
        self.returned != PENDING && !self.is_refused()
    }

    /// Whether its effect is uncertain.
    pub fn is_pending(&self) -> bool {
        self.returned == PENDING
    }

    /// Whether it certainly has no effect.
    pub fn is_refused(&self) -> bool {
        self.returned == self.called
    }
}

/// An entry at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// An operation was called.
    Call(Number),
    /// It returned.
    Return(Number),
    /// The call or the return of a refused operation.
    Nothing,
}

/// The operations of one object, in the order of their calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operations<A> {
    list: Vec<Operation<A>>,
    /// By position: twice the operation's number, plus one for a return.
    steps: Vec<u32>,
}

const NOTHING: u32 = u32::MAX;

impl<A: Copy> Operations<A> {
    /// No operation.
    pub fn new() -> Operations<A> {
        Operations { list: Vec::new(), steps: Vec::new() }
    }

    /// A process calls an operation.
    pub fn call(&mut self, process: u32, action: A) -> Number {
        let number = Number(self.list.len() as u32);
        let called = self.steps.len() as u32;
        assert!(called < NOTHING / 2, "a history has at most 2^31 steps");
        self.list.push(Operation { process, action, called, returned: PENDING });
        self.steps.push(number.0 << 1);
        number
    }

    /// The operation was done.
    ///
    /// # Panics
    ///
    /// If it has returned before.
    pub fn done(&mut self, number: Number) {
        let operation = &mut self.list[number.at()];
        assert!(operation.is_pending(), "an operation returns once");
        operation.returned = self.steps.len() as u32;
        self.steps.push(number.0 << 1 | 1);
    }

    /// The operation was done, with this answer.
    ///
    /// # Panics
    ///
    /// If it has returned before.
    pub fn done_with(&mut self, number: Number, answer: A) {
        self.list[number.at()].action = answer;
        self.done(number);
    }

    /// The operation was certainly not done: it is taken out of the history.
    ///
    /// # Panics
    ///
    /// If it has returned before.
    pub fn refused(&mut self, number: Number) {
        let operation = &mut self.list[number.at()];
        assert!(operation.is_pending(), "an operation returns once");
        operation.returned = operation.called;
        self.steps[operation.called as usize] = NOTHING;
    }

    /// Operations with times instead of positions: process, action, time of the call, time of the return if any. Equal
    /// times count as overlapping, which may hide a breach and never invents one.
    pub fn of_times(operations: impl IntoIterator<Item = (u32, A, u64, Option<u64>)>) -> Operations<A> {
        let given: Vec<_> = operations.into_iter().collect();
        let mut steps: Vec<(u64, bool, usize)> = Vec::with_capacity(given.len() * 2);
        for (at, (_, _, called, returned)) in given.iter().enumerate() {
            steps.push((*called, false, at));
            steps.extend(returned.map(|returned| (returned.max(*called), true, at)));
        }
        steps.sort_unstable();
        let mut history = Operations::new();
        let mut numbers = vec![Number::NONE; given.len()];
        for (_, is_return, at) in steps {
            if is_return {
                history.done(numbers[at]);
            } else {
                numbers[at] = history.call(given[at].0, given[at].1);
            }
        }
        history
    }

    /// The operations of each part of an object made of independent parts, by part: a map is judged key by key. Refused
    /// ones are left out.
    pub fn parts<K: Ord>(&self, part: impl Fn(&A) -> K) -> std::collections::BTreeMap<K, Operations<A>> {
        let mut parts = std::collections::BTreeMap::new();
        let mut numbers = vec![Number::NONE; self.list.len()];
        for step in self.steps() {
            let (Step::Call(number) | Step::Return(number)) = step else { continue };
            let operation = &self[number];
            let part: &mut Operations<A> =
                parts.entry(part(&operation.action)).or_insert_with(Operations::new);
            match step {
                Step::Call(_) => numbers[number.at()] = part.call(operation.process, operation.action),
                _ => part.done(numbers[number.at()]),
            }
        }
        parts
    }

    /// The number of operations, including refused ones.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The number of positions.
    pub fn positions(&self) -> u32 {
        self.steps.len() as u32
    }

    /// The operations by number, without those that were refused.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (Number, &Operation<A>)> + Clone {
        let numbered = self.list.iter().enumerate().map(|(at, operation)| (Number(at as u32), operation));
        numbered.filter(|(_, operation)| !operation.is_refused())
    }

    /// The entry at each position.
    pub fn steps(&self) -> impl ExactSizeIterator<Item = Step> + Clone {
        self.steps.iter().map(|step| match (*step, step & 1) {
            (NOTHING, _) => Step::Nothing,
            (step, 0) => Step::Call(Number(step >> 1)),
            (step, _) => Step::Return(Number(step >> 1)),
        })
    }
}

impl<A: Copy> Default for Operations<A> {
    fn default() -> Operations<A> {
        Operations::new()
    }
}

impl<A> std::ops::Index<Number> for Operations<A> {
    type Output = Operation<A>;

    fn index(&self, number: Number) -> &Operation<A> {
        &self.list[number.at()]
    }
}
