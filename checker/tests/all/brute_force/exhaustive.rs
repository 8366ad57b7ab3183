//! Every history of at most four operations of at most three processes, with every answer, right or wrong.

use super::agree::{Happening, Tally, agree};
use super::objects::Object;

/// A history that grows and shrinks.
struct Growing<A> {
    happenings: Vec<Happening<A>>,
    /// By process: the operation that it waits for.
    open: Vec<Option<(usize, A)>>,
    operations: usize,
    made: u32,
}

const OPERATIONS: usize = 4;
const PROCESSES: usize = 3;

pub fn every_history<O: Object>() {
    let mut growing = Growing { happenings: Vec::new(), open: Vec::new(), operations: 0, made: 0 };
    let mut tally = Tally::default();
    grow::<O>(&mut growing, &mut tally);
    assert!(tally.passed > 100 && tally.failed > 100, "both kinds are there: {tally:?}");
}

fn grow<O: Object>(growing: &mut Growing<O::Action>, tally: &mut Tally) {
    agree::<O>(&growing.happenings, tally, false);
    // Processes without a call are interchangeable: only the next one may begin.
    let known = growing.open.len();
    for process in 0..(known + 1).min(PROCESSES) {
        if growing.operations == OPERATIONS || growing.open.get(process).is_some_and(Option::is_some) {
            continue;
        }
        if process == known {
            growing.open.push(None);
        }
        for asked in O::calls(growing.made) {
            let makes = u32::from(O::makes(&asked));
            growing.happenings.push(Happening::Call(process as u32, asked));
            growing.open[process] = Some((growing.operations, asked));
            growing.operations += 1;
            growing.made += makes;
            grow::<O>(growing, tally);
            growing.made -= makes;
            growing.operations -= 1;
            growing.open[process] = None;
            growing.happenings.pop();
        }
        growing.open.truncate(known);
    }
    for process in 0..growing.open.len() {
        let Some((number, asked)) = growing.open[process] else { continue };
        growing.open[process] = None;
        for answer in O::answers(asked, growing.made) {
            growing.happenings.push(Happening::Return(number, answer));
            grow::<O>(growing, tally);
            growing.happenings.pop();
        }
        growing.open[process] = Some((number, asked));
    }
}
