//! The smallest plan that still fails: fewer steps (later ones are dropped first), simpler moments.
//!
//! A program is nondeterministic, so a smaller plan is accepted if it fails often enough; one failure does not suffice.

use crate::plan::{Plan, When};
use crate::rate::Rate;
use std::time::Duration;

/// How often a smaller plan is tried, and how often it must fail to be accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// The tries of each plan.
    pub tries: u32,
    /// The least number of them that must fail.
    pub least: u32,
}

impl Default for Effort {
    fn default() -> Self {
        Effort { tries: 5, least: 4 }
    }
}

/// Makes a plan smaller. `fails` tries a plan once, and returns whether it breaks the same promise.
///
/// # Errors
///
/// Those of `fails`.
pub fn shrink<E>(
    plan: &Plan,
    effort: Effort,
    mut fails: impl FnMut(&Plan) -> Result<bool, E>,
) -> Result<Plan, E> {
    let mut is_taken = |plan: &Plan| {
        let mut rate = Rate::default();
        while rate.tries < effort.tries {
            rate.count(fails(plan)?);
            // The remaining tries cannot change the result.
            if rate.hits >= effort.least || rate.tries - rate.hits > effort.tries - effort.least {
                break;
            }
        }
        Ok(rate.hits >= effort.least)
    };
    let mut best = plan.clone();
    let mut index = best.steps.len();
    while index > 0 {
        index -= 1;
        let smaller = best.without(index);
        if is_taken(&smaller)? {
            best = smaller;
        }
    }
    for index in 0..best.steps.len() {
        for simpler in simpler_moments(&best.steps[index].when) {
            let mut smaller = best.clone();
            smaller.steps[index].when = simpler;
            if smaller != best && is_taken(&smaller)? {
                best = smaller;
                break;
            }
        }
    }
    Ok(best)
}

/// Simpler moments, the simplest first.
fn simpler_moments(when: &When) -> Vec<When> {
    let When::On { client, event, nth, after } = when else { return Vec::new() };
    let on = |nth, after| When::On { client: client.clone(), event: event.clone(), nth, after };
    vec![on(1, Duration::ZERO), on(*nth, Duration::ZERO), on(1, *after)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn plan() -> Plan {
        Plan::read(
            r#"{"at":"1s","verb":"elect"}
{"on":"a acquired","nth":3,"after":"5ms","verb":"expire","client":"a"}
{"at":"2s","verb":"disconnect","client":"b"}"#,
        )
        .unwrap()
    }

    #[test]
    fn only_the_step_that_matters_is_left() {
        let expires = |plan: &Plan| Ok::<_, Infallible>(plan.to_string().contains("expire"));
        let Ok(small) = shrink(&plan(), Effort::default(), expires);
        assert_eq!(small.to_string(), "{\"client\":\"a\",\"on\":\"a acquired\",\"verb\":\"expire\"}\n");
    }

    #[test]
    fn what_fails_too_rarely_is_not_taken() {
        let mut tries = 0;
        // All three steps always fail; fewer fail in three of five tries.
        let fails = |plan: &Plan| {
            tries += 1;
            Ok::<_, Infallible>(plan.steps.len() == 3 || tries % 5 < 3)
        };
        let Ok(small) = shrink(&plan(), Effort { tries: 5, least: 4 }, fails);
        assert_eq!(small.steps.len(), 3);
    }
}
