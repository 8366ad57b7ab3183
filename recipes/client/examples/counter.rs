//! Orders are numbered by two offices at once, and the count begins anew in the new year.
//!
//! ```console
//! $ cargo run -p zk-client --example counter -- 127.0.0.1:2181
//! 20 orders, 20 numbers
//! the count is 20
//! the new year begins at 0
//! nobody begins it again: somebody else has written in between: compare_and_set /counters/orders
//! order 1
//! ```

mod common;

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::Duration;
use zk_recipes::zk::ZooKeeper;
use zk_recipes::{Counter, CounterOptions, Error, Freshness};

fn main() -> ExitCode {
    common::run("counter", example)
}

/// The numbers of ten orders. A number whose reply was lost is not used.
async fn numbers<Z: ZooKeeper>(orders: &Counter<Z>) -> Result<BTreeSet<i64>, Error> {
    let mut numbers = BTreeSet::new();
    while numbers.len() < 10 {
        numbers.extend(orders.add(1).await?);
    }
    Ok(numbers)
}

async fn example(ensemble: common::Ensemble) -> Result<(), Error> {
    let (east, west) = (ensemble.session().await?, ensemble.session().await?);
    let orders = Counter::new(&east, "/counters/orders", CounterOptions::default())?;
    let orders_west = Counter::new(&west, "/counters/orders", CounterOptions::default())?;
    orders.set(0).await?;

    let (mut all, more) = tokio::try_join!(numbers(&orders), numbers(&orders_west))?;
    all.extend(more);
    println!("20 orders, {} numbers", all.len());

    let count = orders.get(Freshness::Latest).await?;
    println!("the count is {count}");
    orders.compare_and_set(count, 0).await?;
    println!("the new year begins at 0");
    match orders_west.compare_and_set(count, 0).await {
        Err(e) if e.is_conflict() => println!("nobody begins it again: {e}"),
        other => other?,
    }
    if let Some(number) = orders_west.add(1).await? {
        println!("order {number}");
    }

    drop((orders, orders_west));
    west.close(Duration::from_secs(5)).await?;
    east.close(Duration::from_secs(5)).await
}
