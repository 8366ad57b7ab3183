// The lock of Apache Curator while faults strike, judged by the checker.
//
//     javac -cp JARS -d out ../fixtures/java/org/zksim/ZkSim.java CuratorFaults.java
//     java -cp out:JARS CuratorFaults [--seeds COUNT] [--from SEED] [--rates RATES]
//
// JARS are those of Curator. Each seed has an ensemble of three servers of its own. Three clients take an InterProcessMutex
// in turns, and report what they believe: a holder whose connection is lost reports that it does not act as the holder any
// more, as Curator's documentation asks. Each seed prints one line with its verdict, and the turns that failed or did not
// end: Curator 5.4 sometimes loses the path of a znode that it has created (`Path cannot be null`), and later waits for that
// znode. The exit status is 0 if no promise was broken.

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.zksim.ZkSim;

public class CuratorFaults {
    /** The turns of each client. */
    static final int TURNS = 10;

    /** How long one seed may take. */
    static final int LIMIT_S = 40;

    /** The faults that are drawn, each with its rate per request. */
    static final String RATES = "reply-lost=0.02,request-lost=0.02,disconnect=0.01,watch-lost=0.05,leader-crash=0.001";

    static final ExecutorService threads = Executors.newCachedThreadPool(work -> {
        Thread thread = new Thread(work);
        thread.setDaemon(true);
        return thread;
    });

    public static void main(String[] arguments) throws Exception {
        List<String> words = Arrays.asList(arguments);
        int count = Integer.parseInt(option(words, "--seeds", "5"));
        long from = Long.parseLong(option(words, "--from", "1"));
        boolean broken = false;
        for (long seed = from; seed < from + count; seed++) {
            ZkSim.Builder builder = ZkSim.builder().servers(3).seed(seed).rates(option(words, "--rates", RATES));
            try (ZkSim sim = builder.start()) {
                List<String> trouble = run(sim);
                ZkSim.Verdict verdict = sim.verdict();
                System.out.println("seed " + seed + ": " + verdict + (trouble.isEmpty() ? "" : ", " + trouble));
                if (verdict.verdict.equals("fail") || verdict.verdict.equals("unknown")) {
                    System.out.println(verdict.text);
                    broken = true;
                }
            }
        }
        System.exit(broken ? 1 : 0);
    }

    static String option(List<String> words, String name, String otherwise) {
        int at = words.indexOf(name);
        return at < 0 ? otherwise : words.get(at + 1);
    }

    /** Returns what did not come to its end. */
    static List<String> run(ZkSim sim) throws Exception {
        List<String> trouble = new ArrayList<>();
        List<Contender> contenders = new ArrayList<>();
        for (int number = 0; number < 3; number++) {
            contenders.add(new Contender(sim));
        }
        List<Future<List<String>>> all = new ArrayList<>();
        contenders.forEach(one -> all.add(threads.submit(one::turns)));
        for (Future<List<String>> one : all) {
            try {
                trouble.addAll(one.get(LIMIT_S, TimeUnit.SECONDS));
            } catch (Exception error) {
                trouble.add(String.valueOf(error.getCause() == null ? error : error.getCause()));
            }
        }
        if (!trouble.isEmpty()) {
            trouble.add("znodes " + sim.tree("/lock") + ", sessions " + sim.sessions() + ", watches " + sim.watches());
        }
        // The last words are said on a network without faults.
        sim.heal();
        for (Contender one : contenders) {
            one.client.close();
        }
        return trouble;
    }

    /** One client, and what it believes. */
    static class Contender {
        final ZkSim sim;
        final CuratorFramework client;
        final InterProcessMutex mutex;
        /** The session that was reported as the holder; null while there is none. */
        Long holder;

        Contender(ZkSim sim) throws Exception {
            this.sim = sim;
            client = CuratorFrameworkFactory.builder()
                .connectString(sim.getConnectString())
                .sessionTimeoutMs(4000)
                .connectionTimeoutMs(15_000)
                .retryPolicy(new ExponentialBackoffRetry(50, 10, 1000))
                .ensembleTracker(false)
                .build();
            mutex = new InterProcessMutex(client, "/lock");
            client.getConnectionStateListenable().addListener((of, state) -> {
                if (state == ConnectionState.SUSPENDED || state == ConnectionState.LOST) {
                    dropsLock();
                }
            });
            client.start();
            client.blockUntilConnected();
        }

        /** Takes the lock and gives it back; returns the errors of the turns that failed. */
        List<String> turns() throws Exception {
            List<String> failed = new ArrayList<>();
            for (int turn = 0; turn < TURNS; turn++) {
                try {
                    mutex.acquire();
                    holds();
                    client.checkExists().forPath("/lock");
                    dropsLock();
                } catch (Exception error) {
                    failed.add(error.toString());
                } finally {
                    dropsLock();
                    release();
                }
            }
            return failed;
        }

        void release() {
            try {
                if (mutex.isAcquiredInThisProcess()) {
                    mutex.release();
                }
            } catch (Exception lost) {
                // Curator deletes the znode in the background.
            }
        }

        synchronized void holds() throws Exception {
            // A lock that was taken and then suspended is not acted upon.
            if (client.getZookeeperClient().isConnected() && holder == null) {
                holder = session();
                sim.acquired(holder, "/lock");
            }
        }

        synchronized void dropsLock() {
            if (holder != null) {
                sim.released(holder, "/lock");
                holder = null;
            }
        }

        long session() throws Exception {
            return client.getZookeeperClient().getZooKeeper().getSessionId();
        }
    }
}
