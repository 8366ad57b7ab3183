//! Drawn steps: the simulation answers as an obvious model of ZooKeeper does, and as a real server does.
//!
//! The model is played against the real server, too: a model that is wrong proves nothing.

mod drawn;
mod model;

use model::Model;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::cell::RefCell;
use std::time::Duration;
use zk_fidelity::conformance::case::Case;
use zk_fidelity::conformance::compare::compare;
use zk_fidelity::conformance::configuration::Configuration;
use zk_fidelity::conformance::play::Player;
use zk_fidelity::conformance::sim::Simulated;
use zk_fidelity::conformance::target::{ListOrder, Target};
use zk_fidelity::conformance::tcp::Tcp;
use zk_fidelity::exchange::form::{Expect, Request};

/// The same cases in every run: what is new is found by drawing more of them, not by luck.
fn runner(cases: u32) -> TestRunner {
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 4000, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

/// Draws that many lists of steps; the first that does not do is made as short as can be, and told.
fn each(cases: u32, steps: BoxedStrategy<Vec<Request>>, test: impl Fn(Case) -> Result<(), String>) {
    let result = runner(cases).run(&steps, |steps| test(drawn::case(steps)).map_err(TestCaseError::fail));
    if let Err(error) = result {
        match error {
            proptest::test_runner::TestError::Fail(why, steps) => panic!("{why}\n{}", told(&steps)),
            proptest::test_runner::TestError::Abort(why) => panic!("{why}"),
        }
    }
}

/// Steps, one a line.
fn told(steps: &[Request]) -> String {
    let blank = format!("{:?}", Request::default());
    let fields = |step: &Request| {
        let said = format!("{step:#?}");
        let says = said.lines().filter(|line| !blank.contains(line.trim().trim_end_matches(',')));
        says.map(str::trim).collect::<Vec<_>>().join(" ")
    };
    steps.iter().map(|step| fields(step) + "\n").collect()
}

fn by_the_model(mut case: Case) -> Case {
    let mut model = Model::new();
    case.expect = case.steps.iter().map(|step| model.step(step)).collect();
    case
}

fn play<T: Target>(player: &mut Player<T>, case: &Case) -> Vec<Expect> {
    player.play(case).expect("the server answers")
}

fn simulation() -> Player<Simulated> {
    let configuration = Configuration::named("default").expect("it is one of them");
    Player::new(Simulated::new(configuration)).expect("the simulation opens a session")
}

/// A player on a real server, or `None` and a word about it where none is installed.
fn real() -> Option<RefCell<Player<Tcp>>> {
    let server = crate::common::server(Duration::from_millis(500))?;
    Some(RefCell::new(Player::new(Tcp::of_our_own(server)).expect("the server opens a session")))
}

/// What the real server does; afterwards it is as before.
fn really(player: &RefCell<Player<Tcp>>, case: &Case) -> Vec<Expect> {
    let mut player = player.borrow_mut();
    let observed = play(&mut player, case);
    assert_eq!(player.tidy().expect("the server answers"), [""; 0], "everybody may delete everything");
    observed
}

fn same(case: &Case, observed: &[Expect], order: ListOrder) -> Result<(), String> {
    compare(case, observed, order).map_or(Ok(()), |difference| Err(difference.to_string()))
}

#[test]
fn the_simulation_answers_as_the_obvious_model_does() {
    each(400, drawn::plain_steps(), |case| {
        let case = by_the_model(case);
        let observed = play(&mut simulation(), &case);
        same(&case, &observed, ListOrder::Any)
    });
}

#[test]
fn a_real_server_answers_as_the_obvious_model_does() {
    let Some(player) = real() else { return };
    each(100, drawn::plain_steps(), |case| {
        let case = by_the_model(case);
        same(&case, &really(&player, &case), ListOrder::Any)
    });
}

#[test]
fn the_simulation_answers_as_a_real_server_does() {
    let Some(player) = real() else { return };
    each(250, drawn::steps(), |mut case| {
        case.expect = really(&player, &case);
        same(&case, &play(&mut simulation(), &case), ListOrder::Java)
    });
}
