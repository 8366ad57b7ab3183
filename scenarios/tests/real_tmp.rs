//! x
#[test]
fn t() {
    for (heal, late) in [("0.100 world heal\n", "20.000"), ("", "20.000"), ("0.100 world heal\n", "0.200")] {
    let text = format!("run client
lock /lock
0.000 a s1 connected
0.000 b s2 connected
0.001 a acquire#1 call /lock
0.002 a #1 send r1 create /lock/a-
0.002 a #1 send r2 children /lock
0.003 a #1 reply r1 ok zxid 0x3
0.003 a #1 made /lock/a-0 zxid 0x3
0.003 a #1 reply r2 ok zxid 0x3
0.004 a #1 return done
0.004 a #1 believe /lock s1 token 0x3
0.005 a #1 unbelieve released
0.005 a release#2 call /lock
0.005 a #2 send r3 delete /lock/a-0
0.006 a #2 reply r3 ok
0.006 a #2 return done
{heal}{late} b acquire#3 call /lock
{late} b #3 send r4 create /lock/b-
{late} b #3 send r5 children /lock
{late} b #3 reply r4 ok zxid 0x5
{late} b #3 made /lock/b-1 zxid 0x5
{late} b #3 reply r5 ok zxid 0x5
{late} b #3 return done
{late} b #3 believe /lock s2 token 0x5
");
    match zk_checker::text::parse(&text) { Ok(h) => println!("{}", zk_checker::judge(&h, &zk_checker::RuleSet::all())), Err(e) => println!("{e:?}") }
    }
}
