//! Clients whose work lasts longer than a session: what they hold is kept by a supervisor until they rest.

use futures_util::future::{Either, join, select};
use hunt_driver::{Driver, pause};
use std::pin::pin;
use std::time::Duration;
use zk_client::{Client, Connector, Options};
use zk_recipes::supervisor::{Connect, PersistentNodeOptions};
use zk_recipes::zk::ZooKeeper;
use zk_recipes::{Election, ElectionOptions, Error, Supervisor};

/// How long a shutdown may take.
const SHUTDOWN: Duration = Duration::from_secs(5);

/// How often code asks whether it leads.
const LOOK: Duration = Duration::from_millis(5);

/// Opens sessions, and reports each.
struct Sessions {
    connector: Connector,
    driver: Driver,
}

impl Connect for Sessions {
    type Zk = Client;

    fn open(&self) -> impl Future<Output = Result<Client, Error>> + Send + use<> {
        let (opens, driver) = (self.connector.open(), self.driver.clone());
        async move {
            let zk = opens.await?;
            driver.say(format_args!("session {}", zk.session()));
            Ok(zk)
        }
    }

    fn sleep(&self, by: Duration) -> impl Future<Output = ()> + Send + use<> {
        self.connector.sleep(by)
    }

    fn random(&self) -> u64 {
        self.connector.random()
    }
}

type Supervised = Supervisor<Sessions>;

/// The client of that scenario, until the end of its input.
pub(crate) async fn client(driver: Driver, scenario: &str) -> anyhow::Result<()> {
    let connector = Connector::new(&driver.connect, Options::new(driver.timeout));
    let supervisor = Supervisor::new(Sessions { connector, driver: driver.clone() });
    supervisor.session().await?;
    driver.say("ready");
    driver.begins().await;
    let works = async {
        match scenario {
            "lasting-election" => lead(&driver, &supervisor).await,
            "lasting-latch" => latch(&driver, &supervisor).await,
            "lasting-election-broken" => lead_once(&driver, &supervisor).await,
            _ => node(&driver, &supervisor).await,
        }
    };
    let stops = async {
        driver.ends().await;
        supervisor.shutdown(SHUTDOWN).await
    };
    let (worked, stopped) = join(works, stops).await;
    if let Err(why) = stopped {
        driver.trouble(why);
    }
    worked
}

/// Reports that its client leads, and when it is dropped that it does not.
struct Leads<'a>(&'a Driver);

impl<'a> Leads<'a> {
    fn begins(driver: &'a Driver) -> Self {
        driver.report("leader");
        Leads(driver)
    }
}

impl Drop for Leads<'_> {
    fn drop(&mut self) {
        self.0.report("deposed");
        if self.0.goes_on() {
            self.0.report("asks");
        }
    }
}

async fn lead(driver: &Driver, supervisor: &Supervised) -> anyhow::Result<()> {
    driver.report("asks");
    let led = supervisor.lead(&driver.object, ElectionOptions::default(), |term| async move {
        let _leads = Leads::begins(driver);
        term.acknowledge(driver.name.as_bytes()).await?;
        driver.is_to_rest().await;
        Ok::<_, Error>(())
    });
    match led.await {
        Ok(()) => driver.rests_to_the_end().await,
        Err(ended) => ended.unless_shut_down()?,
    }
    Ok(())
}

/// Wrong on purpose: it leads in its first session only, and stands no more when that is lost.
async fn lead_once(driver: &Driver, supervisor: &Supervised) -> anyhow::Result<()> {
    driver.report("asks");
    let session = supervisor.session().await?;
    let election = Election::new(session.zk(), &driver.object, ElectionOptions::default())?;
    if let Ok(term) = election.stand().await {
        let leads = Leads::begins(driver);
        let led = term.run(driver.is_to_rest()).await;
        drop(leads);
        if led.is_ok() {
            driver.rests_to_the_end().await;
        }
    }
    driver.ends().await;
    Ok(())
}

async fn latch(driver: &Driver, supervisor: &Supervised) -> anyhow::Result<()> {
    driver.report("asks");
    let latch = supervisor.latch(&driver.object, ElectionOptions::default());
    let looks = async {
        let mut leads = None;
        loop {
            match (latch.has_leadership(), &leads) {
                (true, None) => leads = Some(Leads::begins(driver)),
                (false, Some(_)) => leads = None,
                (true, Some(_)) if driver.rests() => return,
                _ => pause(LOOK).await,
            }
        }
    };
    match select(pin!(latch.run()), pin!(looks)).await {
        Either::Left((Ok(never), _)) => match never {},
        Either::Left((Err(ended), _)) => return Ok(ended.unless_shut_down()?),
        // Both futures are dropped here: the report, and then the resignation.
        Either::Right(((), _)) => {}
    }
    driver.rests_to_the_end().await;
    Ok(())
}

async fn node(driver: &Driver, supervisor: &Supervised) -> anyhow::Result<()> {
    let path = format!("{}/{}", driver.object, driver.name);
    let node = supervisor.persistent_node(&path, b"", PersistentNodeOptions::default());
    driver.report_item("joins", &driver.name);
    let looks = async {
        node.until_there().await;
        driver.report_item("joined", &driver.name);
        driver.is_to_rest().await;
        driver.say("resting");
        while driver.audit().await.is_some() {
            if let Err(why) = audit(driver, supervisor).await {
                driver.trouble(why);
            }
            driver.say("audited");
        }
    };
    match select(pin!(node.run()), pin!(looks)).await {
        Either::Left((Ok(never), _)) => match never {},
        Either::Left((Err(ended), _)) => {
            driver.report_item("leaves", &driver.name);
            Ok(ended.unless_shut_down()?)
        }
        Either::Right(_) => Ok(()),
    }
}

/// Reports the names that a server shows.
async fn audit(driver: &Driver, supervisor: &Supervised) -> anyhow::Result<()> {
    let session = supervisor.session().await?;
    let mut names = session.zk().children(&driver.object).await?.names;
    names.sort();
    driver.report_item("members", if names.is_empty() { "-".to_owned() } else { names.join(",") });
    Ok(())
}
