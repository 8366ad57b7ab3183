use std::fmt::Write;
use zk_checker::*;
fn gen_run(rounds: usize, clients: usize) -> String {
    let mut s = String::from("run sim settle 0.001\nlock /lock fenced\n");
    for c in 0..clients {
        writeln!(
            s,
            "0.000 server:0 opened s{} timeout 4000 0x1\n0.000 c{c} state s{} connected",
            c + 1,
            c + 1
        )
        .unwrap();
    }
    let (mut t, mut z, mut r, mut op) = (1000u64, 16u64, 0u32, 0u32);
    let sec = |t: u64| format!("{}.{:06}", t / 1_000_000, t % 1_000_000);
    for round in 0..rounds {
        let base = op;
        let mut paths = vec![];
        let mut cz = vec![];
        for c in 0..clients {
            op += 1;
            z += 1;
            r += 2;
            let p = format!("/lock/{round}-{c}-lock-{z:010}");
            let x = sec(t);
            writeln!(s, "{x} c{c} acquire#{op} call /lock\n{x} c{c} #{op} send r{} create /lock/{round}-{c}-lock-\n{x} c{c} #{op} send r{r} children /lock", r-1).unwrap();
            t += 300;
            let x = sec(t);
            writeln!(
                s,
                "{x} server:0 #{op} txn {z:#x} s{} create ok\n{x} server:0 #{op} created {z:#x} {p} s{}",
                c + 1,
                c + 1
            )
            .unwrap();
            t += 300;
            let x = sec(t);
            writeln!(s, "{x} c{c} #{op} reply r{} ok {z:#x}\n{x} c{c} #{op} reply r{r} ok {z:#x}", r - 1)
                .unwrap();
            if c == 0 {
                writeln!(s, "{x} c{c} #{op} believe /lock s1 token {z:#x}\n{x} c{c} #{op} return done")
                    .unwrap();
            } else {
                r += 1;
                let prev: &String = &paths[c - 1];
                writeln!(s, "{x} c{c} #{op} send r{r} children {prev} watch").unwrap();
                t += 300;
                let x = sec(t);
                writeln!(s, "{x} server:0 #{op} arm s{} child {prev}", c + 1).unwrap();
                t += 300;
                let x = sec(t);
                writeln!(s, "{x} c{c} #{op} reply r{r} ok {z:#x}").unwrap();
            }
            paths.push(p);
            cz.push(z);
        }
        for c in 0..clients {
            op += 1;
            z += 1;
            r += 1;
            let h = base + 1 + c as u32;
            t += 300;
            let x = sec(t);
            let p = &paths[c];
            writeln!(s, "{x} c{c} #{h} unbelieve released\n{x} c{c} release#{op} call /lock\n{x} c{c} #{op} send r{r} delete {p}").unwrap();
            t += 300;
            let x = sec(t);
            writeln!(
                s,
                "{x} server:0 #{op} txn {z:#x} s{} delete ok\n{x} server:0 #{op} deleted {z:#x} {p} by s{}",
                c + 1,
                c + 1
            )
            .unwrap();
            if c + 1 < clients {
                writeln!(s, "{x} server:0 #{op} fire s{} deleted {p} {z:#x}", c + 2).unwrap();
            }
            t += 300;
            let x = sec(t);
            writeln!(s, "{x} c{c} #{op} reply r{r} ok {z:#x}\n{x} c{c} #{op} return done").unwrap();
            if c + 1 < clients {
                r += 1;
                let n = h + 1;
                let d = c + 1;
                writeln!(
                    s,
                    "{x} c{d} #{n} notice s{} deleted {p}\n{x} c{d} #{n} send r{r} children /lock",
                    d + 1
                )
                .unwrap();
                t += 600;
                let x = sec(t);
                writeln!(s, "{x} c{d} #{n} reply r{r} ok {z:#x}\n{x} c{d} #{n} believe /lock s{} token {:#x}\n{x} c{d} #{n} return done", d+1, cz[d]).unwrap();
            }
        }
    }
    writeln!(s, "{} world heal\n{} world quiesce", sec(t + 1), sec(t + 1000)).unwrap();
    s
}
#[allow(clippy::disallowed_methods)]
fn main() {
    for (rounds, clients) in [(7, 4)] {
        let text = gen_run(rounds, clients);
        let h = text::parse(&text).unwrap();
        let rep = judge(&h, &RuleSet::all());
        assert_eq!(rep.verdict(), Verdict::Pass, "{rep}");
        let n = (60_000_000 / h.events.len()).max(1);
        let t = std::time::Instant::now();
        for _ in 0..n {
            std::hint::black_box(judge(std::hint::black_box(&h), &RuleSet::all()));
        }
        let e = t.elapsed();
        println!(
            "{clients} clients {} events: {:.1} us a run, {:.1} ns/event",
            h.events.len(),
            e.as_secs_f64() * 1e6 / n as f64,
            e.as_nanos() as f64 / (n * h.events.len()) as f64
        );
        if rounds == 2000 {
            let mut out = vec![];
            let t = std::time::Instant::now();
            jsonl::write(&h, &mut out).unwrap();
            println!(
                "json write {:.0} ns/event, {} bytes/event",
                t.elapsed().as_nanos() as f64 / h.events.len() as f64,
                out.len() / h.events.len()
            );
            let t = std::time::Instant::now();
            jsonl::read(&out[..]).unwrap();
            println!("json read {:.0} ns/event", t.elapsed().as_nanos() as f64 / h.events.len() as f64);
        }
    }
}
