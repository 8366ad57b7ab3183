import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** One client of Curator's recipes. */
public final class Driver {
    /** What a client does. Rounds are done over and over in a thread of their own. */
    public interface Scenario {
        default void begin() throws Exception {}

        void round() throws Exception;

        default void rest() throws Exception {}

        default void audit() throws Exception {}

        /** The input has ended. */
        default void close() throws Exception {}

        /** The connection or the session is lost. Called in Curator's thread of listeners. */
        default void lost(ConnectionState state) {}
    }

    private static final double WORK = 0.030;
    private static final double PAUSE = 0.020;

    final String name = System.getenv("HUNT_CLIENT");
    final int clients = Integer.parseInt(System.getenv("HUNT_CLIENTS"));
    final int timeout = Integer.parseInt(System.getenv("HUNT_TIMEOUT_MS"));
    final String object = System.getenv("HUNT_OBJECT");
    final Random random = new Random(System.getenv("HUNT_SEED").hashCode() * 31L + name.hashCode());
    CuratorFramework client;
    String kind = "";
    volatile boolean rests;
    volatile boolean connected = true;
    private final CountDownLatch going = new CountDownLatch(1);
    private final PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    private volatile Scenario scenario;
    private long told;
    private int items;

    /** Says a line, with one write. */
    synchronized void say(String words) {
        byte[] line = (name + " " + words.replace('\n', ' ') + "\n").getBytes(StandardCharsets.UTF_8);
        out.write(line, 0, line.length);
        out.flush();
    }

    void report(String event) {
        say(event + " " + kind + " " + object);
    }

    void report(String event, Object item) {
        say(event + " " + kind + " " + object + " " + item);
    }

    void trouble(Throwable error) {
        say("trouble " + error);
    }

    synchronized void session() {
        try {
            long id = client.getZookeeperClient().getZooKeeper().getSessionId();
            if (id != 0 && id != told) {
                told = id;
                say("session 0x" + Long.toHexString(id));
            }
        } catch (Exception error) {
            trouble(error);
        }
    }

    boolean either() {
        return random.nextBoolean();
    }

    String unique() {
        return name + "-" + ProcessHandle.current().pid() + "-" + ++items;
    }

    private void passes(double most) throws InterruptedException {
        TimeUnit.MICROSECONDS.sleep((long) (1e6 * most * (0.2 + 0.8 * random.nextDouble())));
    }

    /** Works for a while, or until the connection is lost. */
    void works() throws InterruptedException {
        works((long) (1e3 * WORK * (0.2 + 0.8 * random.nextDouble())));
    }

    /** Works for so many milliseconds, or until the connection is lost. */
    void works(long millis) throws InterruptedException {
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        while (connected && System.nanoTime() < until) {
            TimeUnit.MILLISECONDS.sleep(1);
        }
    }

    void pauses() throws InterruptedException {
        passes(PAUSE);
    }

    /** The outcome of what waits for others, or nothing once this client rests for a while: they may not come. */
    <T> T unlessRested(Callable<T> call) throws Exception {
        FutureTask<T> task = new FutureTask<>(call);
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        thread.start();
        long rested = 0;
        while (true) {
            try {
                return task.get(20, TimeUnit.MILLISECONDS);
            } catch (TimeoutException waits) {
                rested += rests ? 1 : 0;
                if (rested > 75) {
                    return null;
                }
            } catch (ExecutionException error) {
                throw error.getCause() instanceof Exception cause ? cause : error;
            }
        }
    }

    private void rounds() {
        try {
            going.await();
        } catch (InterruptedException error) {
            return;
        }
        until(() -> scenario.begin(), false);
        until(() -> scenario.round(), true);
        until(() -> scenario.rest(), false);
        say("resting");
    }

    private interface Work {
        void run() throws Exception;
    }

    private void until(Work work, boolean rests) {
        while (true) {
            try {
                work.run();
                if (!rests || this.rests) {
                    return;
                }
                pauses();
            } catch (Throwable error) {
                trouble(error);
                if (rests && this.rests) {
                    return;
                }
                try {
                    TimeUnit.MILLISECONDS.sleep(50);
                } catch (InterruptedException stop) {
                    return;
                }
            }
        }
    }

    private void run(Function<Driver, Scenario> make) throws Exception {
        client = CuratorFrameworkFactory.builder()
                .connectString(System.getenv("HUNT_CONNECT"))
                .sessionTimeoutMs(timeout)
                .connectionTimeoutMs(timeout)
                .retryPolicy(new ExponentialBackoffRetry(50, 6, 500))
                .build();
        scenario = make.apply(this);
        client.getConnectionStateListenable().addListener((of, state) -> {
            connected = state.isConnected();
            if (connected) {
                session();
            } else {
                scenario.lost(state);
            }
        });
        client.start();
        if (!client.blockUntilConnected(30, TimeUnit.SECONDS)) {
            throw new IllegalStateException("no connection");
        }
        session();
        say("ready");
        Thread rounds = new Thread(this::rounds);
        rounds.setDaemon(true);
        rounds.start();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            switch (line.trim()) {
                case "go" -> going.countDown();
                case "rest" -> rests = true;
                case "audit" -> {
                    try {
                        scenario.audit();
                    } catch (Throwable error) {
                        trouble(error);
                    }
                    say("audited");
                }
                default -> {}
            }
        }
        rests = true;
        try {
            scenario.close();
            client.close();
        } catch (Throwable error) {
            trouble(error);
        }
        Runtime.getRuntime().halt(0);
    }

    public static void main(String[] arguments) throws Exception {
        Map<String, Function<Driver, Scenario>> all = new TreeMap<>();
        Holds.addTo(all);
        Lasting.addTo(all);
        Others.addTo(all);
        Function<Driver, Scenario> make = arguments.length == 1 ? all.get(arguments[0]) : null;
        if (make == null) {
            System.err.println("the argument is a scenario: " + String.join(", ", all.keySet()));
            System.exit(2);
        }
        new Driver().run(make);
    }
}
