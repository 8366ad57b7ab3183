// One peer: the recipes of Apache Curator, as its documentation shows them. How a peer is spoken to stands in src/peer.rs.
//
// All clients of a row live in this one JVM. A client whose connection ends sleeps for 100 ms while it holds a monitor that all
// clients of a JVM share, which would be added to each fail-over of an election: a leader's session is closed from outside
// instead, while its thread is suspended.

import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.InputStreamReader;
import java.lang.reflect.Field;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.queue.DistributedQueue;
import org.apache.curator.framework.recipes.queue.QueueBuilder;
import org.apache.curator.framework.recipes.queue.QueueConsumer;
import org.apache.curator.framework.recipes.queue.QueueSerializer;
import org.apache.curator.framework.recipes.queue.SimpleDistributedQueue;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.framework.recipes.shared.VersionedValue;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.curator.retry.RetryNTimes;
import org.apache.zookeeper.ClientCnxn;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

public class Curator {
    static final long STACK_BYTES = 512 << 10;
    static final Map<String, String> words = new HashMap<>();
    static final BufferedReader orders = new BufferedReader(new InputStreamReader(System.in));
    static String root, recipe;

    interface Work {
        void run() throws Exception;
    }

    /** A result of the step's latencies, in nanoseconds. */
    static class Measured {
        final int ops;
        final double seconds;
        final StringBuilder micros = new StringBuilder();
        int violations;

        Measured(int ops, double seconds) {
            this.ops = ops;
            this.seconds = seconds;
        }

        Measured with(String name, Collection<Long> nanos) {
            micros.append(micros.length() == 0 ? "" : ",").append('"').append(name).append("\":[");
            boolean isFirst = true;
            for (long each : nanos) {
                micros.append(isFirst ? "" : ",").append(each / 1e3);
                isFirst = false;
            }
            micros.append(']');
            return this;
        }

        /** The rate over the sum of these latencies. */
        static Measured of(int ops, String name, List<Long> nanos) {
            double sum = nanos.stream().mapToLong(Long::longValue).sum() / 1e9;
            double whole = nanos.isEmpty() ? 0 : sum * ops / nanos.size();
            return new Measured(ops, whole).with(name, nanos);
        }
    }

    static int number(String key) {
        return Integer.parseInt(words.getOrDefault(key, "0"));
    }

    static int sessionMs() {
        return Integer.parseInt(words.getOrDefault("session_ms", "30000"));
    }

    static synchronized void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    /** Says that the peer is ready; returns how many operations it shall make, or -1 at the end. */
    static int next() throws Exception {
        say("{\"ready\":true}");
        String line = orders.readLine();
        return line == null || !line.startsWith("go ") ? -1 : Integer.parseInt(line.substring(3).trim());
    }

    /** Reports what a run measured, and waits until its requests are counted. */
    static void report(Measured measured) throws Exception {
        say(
            "{\"ops\":" + measured.ops + ",\"seconds\":" + measured.seconds + ",\"micros\":{" + measured.micros
                + "},\"violations\":" + measured.violations + "}");
        orders.readLine();
    }

    static void fail(Throwable cause) {
        String text = String.valueOf(cause).replace("\\", "/").replace("\"", "'").replace("\n", " ");
        say("{\"error\":\"" + text + "\"}");
        Runtime.getRuntime().halt(1);
    }

    static Thread start(Work work) {
        Thread thread = new Thread(null, () -> {
            try {
                work.run();
            } catch (Throwable cause) {
                fail(cause);
            }
        }, "client", STACK_BYTES);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    static void together(List<Work> works) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (Work work : works) threads.add(start(work));
        for (Thread thread : threads) thread.join();
    }

    static List<CuratorFramework> clients(String address, int count) throws Exception {
        List<CuratorFramework> clients = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            CuratorFramework client = CuratorFrameworkFactory.builder().connectString(words.get(address))
                .sessionTimeoutMs(sessionMs()).connectionTimeoutMs(15_000)
                .retryPolicy(new ExponentialBackoffRetry(100, 5)).ensembleTracker(false).build();
            client.start();
            clients.add(client);
        }
        for (CuratorFramework client : clients) {
            if (!client.blockUntilConnected(30, TimeUnit.SECONDS)) throw new Exception("no connection");
        }
        return clients;
    }

    static CuratorFramework client(String address) throws Exception {
        return clients(address, 1).get(0);
    }

    /** Waits until so many children stand there, over a session that is not measured. */
    static void untilChildren(CuratorFramework observer, int count) throws Exception {
        while (true) {
            Stat stat = observer.checkExists().forPath(root);
            if (stat != null && stat.getNumChildren() >= count) return;
            Thread.sleep(5);
        }
    }

    interface Rounds {
        Measured run(int count) throws Exception;
    }

    static void serve(Rounds rounds) throws Exception {
        if (number("warm") > 0) rounds.run(number("warm"));
        for (int ops = next(); ops >= 0; ops = next()) report(rounds.run(ops));
    }

    static void requests() throws Exception {
        ZooKeeper zk = client("connect").getZookeeperClient().getZooKeeper();
        zk.create(root, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        serve(count -> {
            long begun = System.nanoTime();
            for (int i = 0; i < count; i++) {
                String path = zk.create(
                    root + "/n-", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL);
                zk.getChildren(root, false);
                zk.delete(path, -1);
            }
            return new Measured(count, (System.nanoTime() - begun) / 1e9);
        });
    }

    static void lock() throws Exception {
        InterProcessMutex lock = new InterProcessMutex(client("connect"), root);
        serve(count -> {
            List<Long> acquires = new ArrayList<>(), whole = new ArrayList<>();
            long first = System.nanoTime();
            for (int i = 0; i < count; i++) {
                long begun = System.nanoTime();
                lock.acquire();
                acquires.add(System.nanoTime() - begun);
                lock.release();
                whole.add(System.nanoTime() - begun);
            }
            double seconds = (System.nanoTime() - first) / 1e9;
            return new Measured(count, seconds).with("acquire", acquires).with("whole", whole);
        });
    }

    /** Hand-overs of a lock: from the call of a release until the next holder has it. */
    static class HandOvers {
        int inside, violations;
        long released;
        List<Long> latencies = new ArrayList<>();

        synchronized void entered() {
            long at = System.nanoTime();
            if (inside++ > 0) violations++;
            if (released != 0) latencies.add(at - released);
            released = 0;
        }

        synchronized void leaving() {
            inside--;
            released = System.nanoTime();
        }
    }

    static void handOver() throws Exception {
        List<InterProcessLock> locks = new ArrayList<>();
        for (CuratorFramework client : clients("connect", number("clients"))) {
            locks.add(new InterProcessMutex(client, root));
        }
        int hold = number("hold_ms");
        serve(count -> {
            int each = (count + locks.size() - 1) / locks.size();
            HandOvers handOvers = new HandOvers();
            List<Work> works = new ArrayList<>();
            for (InterProcessLock lock : locks) {
                works.add(() -> {
                    for (int i = 0; i < each; i++) {
                        lock.acquire();
                        handOvers.entered();
                        if (hold > 0) Thread.sleep(hold);
                        handOvers.leaving();
                        lock.release();
                    }
                });
            }
            together(works);
            Measured measured = Measured.of(each * locks.size(), "hand-over", handOvers.latencies);
            measured.violations = handOvers.violations;
            return measured;
        });
    }

    static void sharedLock() throws Exception {
        int readers = number("clients");
        InterProcessLock writer = new InterProcessReadWriteLock(client("connect"), root).writeLock();
        CuratorFramework observer = client("direct");
        List<InterProcessLock> locks = new ArrayList<>();
        for (CuratorFramework client : clients("connect", readers)) {
            locks.add(new InterProcessReadWriteLock(client, root).readLock());
        }
        serve(count -> {
            List<Long> latencies = new ArrayList<>();
            for (int round = 0; round < count; round++) {
                writer.acquire();
                long[] last = new long[1];
                CyclicBarrier all = new CyclicBarrier(readers);
                List<Thread> threads = new ArrayList<>();
                for (InterProcessLock lock : locks) {
                    threads.add(start(() -> {
                        lock.acquire();
                        long at = System.nanoTime();
                        synchronized (last) {
                            last[0] = Math.max(last[0], at);
                        }
                        all.await();
                        lock.release();
                    }));
                }
                untilChildren(observer, readers + 1);
                Thread.sleep(number("settle_ms"));
                long begun = System.nanoTime();
                writer.release();
                for (Thread thread : threads) thread.join();
                latencies.add(last[0] - begun);
            }
            return Measured.of(count, "readers in", latencies);
        });
    }

    /** A candidate that was told that it leads. */
    static class Leader {
        final CuratorFramework client;
        final long at = System.nanoTime();

        Leader(CuratorFramework client) {
            this.client = client;
        }
    }

    static final BlockingQueue<Leader> leaders = new LinkedBlockingQueue<>();

    static void stand(CuratorFramework client) throws Exception {
        if (recipe.equals("LeaderLatch")) {
            LeaderLatch latch = new LeaderLatch(client, root);
            latch.addListener(new LeaderLatchListener() {
                public void isLeader() {
                    leaders.add(new Leader(client));
                }

                public void notLeader() {
                }
            });
            latch.start();
            return;
        }
        LeaderSelector selector = new LeaderSelector(client, root, new LeaderSelectorListenerAdapter() {
            public void takeLeadership(CuratorFramework itself) throws Exception {
                leaders.add(new Leader(client));
                Thread.sleep(Long.MAX_VALUE);
            }
        });
        selector.start();
    }

    static Object field(Object of, Class<?> in, String name) throws Exception {
        Field field = in.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(of);
    }

    /** Closes a session over a connection of its own, and returns when the request left. */
    @SuppressWarnings({"deprecation", "removal"})
    static long close(ZooKeeper zk) throws Exception {
        Object connection = field(zk, ZooKeeper.class, "cnxn");
        ((Thread) field(connection, ClientCnxn.class, "sendThread")).suspend();
        String[] address = words.get("connect").split(":");
        Socket socket = new Socket(address[0], Integer.parseInt(address[1]));
        socket.setTcpNoDelay(true);
        ByteBuffer connect = ByteBuffer.allocate(49);
        connect.putInt(45).putInt(0).putLong(0).putInt(sessionMs()).putLong(zk.getSessionId());
        connect.putInt(16).put(zk.getSessionPasswd()).put((byte) 0);
        socket.getOutputStream().write(connect.array());
        DataInputStream from = new DataInputStream(socket.getInputStream());
        from.readFully(new byte[from.readInt()]);
        ByteBuffer end = ByteBuffer.allocate(12).putInt(8).putInt(1).putInt(ZooDefs.OpCode.closeSession);
        long at = System.nanoTime();
        socket.getOutputStream().write(end.array());
        return at;
    }

    static void election() throws Exception {
        int candidates = number("clients"), standing = 0;
        CuratorFramework observer = client("direct");
        Leader leader = null;
        while (true) {
            for (CuratorFramework client : clients("connect", candidates - standing)) stand(client);
            untilChildren(observer, candidates);
            standing = candidates;
            if (leader == null) leader = leaders.take();
            Thread.sleep(number("settle_ms"));
            int ops = next();
            if (ops < 0) return;
            List<Long> latencies = new ArrayList<>();
            for (int i = 0; i < ops; i++) {
                long begun = close(leader.client.getZookeeperClient().getZooKeeper());
                leader = leaders.take();
                latencies.add(leader.at - begun);
                standing--;
                Thread.sleep(number("settle_ms"));
            }
            report(Measured.of(ops, "fail-over", latencies));
        }
    }

    static int barriers = 0;

    static void barrier() throws Exception {
        int participants = number("clients");
        List<CuratorFramework> clients = clients("connect", participants);
        clients.get(0).create().forPath(root);
        serve(count -> {
            int first = barriers;
            barriers += count;
            long[][] slowest = new long[2][count];
            CyclicBarrier all = new CyclicBarrier(participants);
            List<Work> works = new ArrayList<>();
            for (CuratorFramework client : clients) {
                works.add(() -> {
                    for (int round = 0; round < count; round++) {
                        DistributedDoubleBarrier barrier =
                            new DistributedDoubleBarrier(client, root + "/" + (first + round), participants);
                        all.await();
                        long begun = System.nanoTime();
                        barrier.enter();
                        long entered = System.nanoTime() - begun;
                        all.await();
                        begun = System.nanoTime();
                        barrier.leave();
                        long left = System.nanoTime() - begun;
                        synchronized (slowest) {
                            slowest[0][round] = Math.max(slowest[0][round], entered);
                            slowest[1][round] = Math.max(slowest[1][round], left);
                        }
                    }
                });
            }
            together(works);
            List<Long> enters = new ArrayList<>(), leaves = new ArrayList<>(), whole = new ArrayList<>();
            for (int round = 0; round < count; round++) {
                enters.add(slowest[0][round]);
                leaves.add(slowest[1][round]);
                whole.add(slowest[0][round] + slowest[1][round]);
            }
            return Measured.of(count, "whole", whole).with("enter", enters).with("leave", leaves);
        });
    }

    static final QueueSerializer<byte[]> AS_IS = new QueueSerializer<>() {
        public byte[] serialize(byte[] item) {
            return item;
        }

        public byte[] deserialize(byte[] bytes) {
            return bytes;
        }
    };

    /** Puts the items from a number on. */
    interface Producer {
        void put(int first, int count) throws Exception;
    }

    static byte[] item(int number) {
        return String.format("%-20d", number).getBytes();
    }

    static int items = 0;

    static void queue() throws Exception {
        int batch = number("batch");
        BlockingQueue<String> taken = new LinkedBlockingQueue<>();
        List<Producer> producers = new ArrayList<>();
        List<CuratorFramework> from = clients("connect", number("producers"));
        List<CuratorFramework> to = clients("connect", number("consumers"));
        if (recipe.equals("SimpleDistributedQueue")) {
            for (CuratorFramework client : from) {
                SimpleDistributedQueue queue = new SimpleDistributedQueue(client, root);
                producers.add((first, count) -> {
                    for (int i = first; i < first + count; i++) queue.offer(item(i));
                });
            }
            for (CuratorFramework client : to) {
                SimpleDistributedQueue queue = new SimpleDistributedQueue(client, root);
                start(() -> {
                    while (true) taken.add(new String(queue.take()));
                });
            }
        } else {
            QueueConsumer<byte[]> consumer = new QueueConsumer<>() {
                public void consumeMessage(byte[] message) {
                    taken.add(new String(message));
                }

                public void stateChanged(CuratorFramework client, ConnectionState state) {
                }
            };
            for (CuratorFramework client : from) {
                DistributedQueue<byte[]> queue = QueueBuilder.builder(client, null, AS_IS, root).buildQueue();
                queue.start();
                producers.add((first, count) -> {
                    for (int i = first; i < first + count; i += batch) {
                        if (batch == 1) {
                            queue.put(item(i));
                            continue;
                        }
                        List<byte[]> all = new ArrayList<>();
                        for (int j = i; j < Math.min(i + batch, first + count); j++) all.add(item(j));
                        Iterator<byte[]> each = all.iterator();
                        queue.putMulti(() -> each.hasNext() ? each.next() : null);
                    }
                    queue.flushPuts(60, TimeUnit.SECONDS);
                });
            }
            for (CuratorFramework client : to) {
                QueueBuilder<byte[]> builder = QueueBuilder.builder(client, consumer, AS_IS, root);
                if (recipe.endsWith("lock path")) builder = builder.lockPath(root + "-locks");
                builder.buildQueue().start();
            }
        }
        serve(count -> {
            int each = (count + producers.size() - 1) / producers.size(), ops = each * producers.size();
            long begun = System.nanoTime();
            List<Thread> threads = new ArrayList<>();
            for (Producer producer : producers) {
                int first = items;
                items += each;
                threads.add(start(() -> producer.put(first, each)));
            }
            Set<String> distinct = new HashSet<>();
            for (int got = 0; got < ops; got++) distinct.add(taken.take());
            Measured measured = new Measured(ops, (System.nanoTime() - begun) / 1e9);
            measured.violations = ops - distinct.size();
            for (Thread thread : threads) thread.join();
            return measured;
        });
    }

    /** Adds one, and says whether that was done. */
    interface Adder {
        boolean add() throws Exception;
    }

    /** The count, over a session that is not measured. */
    interface Count {
        long get() throws Exception;
    }

    static void counter() throws Exception {
        boolean isShared = recipe.equals("SharedCount");
        List<Adder> adders = new ArrayList<>();
        for (CuratorFramework client : clients("connect", number("clients"))) {
            if (isShared) {
                SharedCount count = new SharedCount(client, root, 0);
                count.start();
                adders.add(() -> {
                    VersionedValue<Integer> seen = count.getVersionedValue();
                    return count.trySetCount(seen, seen.getValue() + 1);
                });
            } else {
                DistributedAtomicLong count = new DistributedAtomicLong(client, root, new RetryNTimes(10, 10));
                adders.add(() -> count.increment().succeeded());
            }
        }
        CuratorFramework observer = client("direct");
        DistributedAtomicLong audited = new DistributedAtomicLong(observer, root, new RetryNTimes(10, 10));
        Count count = isShared
            ? () -> ByteBuffer.wrap(observer.getData().forPath(root)).getInt()
            : () -> audited.get().postValue();
        serve(ops -> {
            int each = (ops + adders.size() - 1) / adders.size();
            long before = count.get();
            List<Long> latencies = new ArrayList<>();
            List<Work> works = new ArrayList<>();
            for (Adder adder : adders) {
                works.add(() -> {
                    for (int i = 0; i < each; i++) {
                        long begun = System.nanoTime();
                        while (!adder.add()) ;
                        long took = System.nanoTime() - begun;
                        synchronized (latencies) {
                            latencies.add(took);
                        }
                    }
                });
            }
            long begun = System.nanoTime();
            together(works);
            double seconds = (System.nanoTime() - begun) / 1e9;
            Measured measured = new Measured(each * adders.size(), seconds).with("add", latencies);
            measured.violations = (int) Math.abs(count.get() - before - each * adders.size());
            return measured;
        });
    }

    static void semaphore() throws Exception {
        int permits = number("permits");
        List<InterProcessSemaphoreV2> semaphores = new ArrayList<>();
        for (CuratorFramework client : clients("connect", number("clients"))) {
            semaphores.add(new InterProcessSemaphoreV2(client, root, permits));
        }
        AtomicInteger held = new AtomicInteger(), violations = new AtomicInteger();
        serve(ops -> {
            int each = (ops + semaphores.size() - 1) / semaphores.size();
            violations.set(0);
            List<Long> latencies = new ArrayList<>();
            List<Work> works = new ArrayList<>();
            for (InterProcessSemaphoreV2 semaphore : semaphores) {
                works.add(() -> {
                    for (int i = 0; i < each; i++) {
                        long begun = System.nanoTime();
                        Lease lease = semaphore.acquire();
                        if (held.getAndIncrement() >= permits) violations.incrementAndGet();
                        held.decrementAndGet();
                        semaphore.returnLease(lease);
                        long took = System.nanoTime() - begun;
                        synchronized (latencies) {
                            latencies.add(took);
                        }
                    }
                });
            }
            long begun = System.nanoTime();
            together(works);
            double seconds = (System.nanoTime() - begun) / 1e9;
            Measured measured = new Measured(each * semaphores.size(), seconds).with("whole", latencies);
            measured.violations = violations.get();
            return measured;
        });
    }

    static void idle() throws Exception {
        CuratorFramework holding = client("direct"), client = client("connect");
        InterProcessMutex held = new InterProcessMutex(holding, root);
        held.acquire();
        int waiters = next();
        if (waiters < 0) return;
        long begun = System.nanoTime();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < waiters; i++) {
            threads.add(start(() -> {
                InterProcessMutex lock = new InterProcessMutex(client, root);
                lock.acquire();
                lock.release();
            }));
        }
        untilChildren(holding, waiters + 1);
        report(new Measured(waiters, (System.nanoTime() - begun) / 1e9));
        if (next() < 0) return;
        begun = System.nanoTime();
        held.release();
        for (Thread thread : threads) thread.join();
        report(new Measured(waiters, (System.nanoTime() - begun) / 1e9));
        next();
    }

    /** A contender for a lock, with a thread of its own: Curator's locks belong to threads. */
    static class Contender {
        final ExecutorService thread = Executors.newSingleThreadExecutor();
        final CuratorFramework client;
        final String id, kind, path;
        final InterProcessLock lock;
        String inside;

        Contender(CuratorFramework client, String[] order) {
            this.client = client;
            id = order[1];
            kind = order[2];
            path = order[3];
            InterProcessReadWriteLock shared = new InterProcessReadWriteLock(client, path);
            lock = kind.equals("lock") ? new InterProcessMutex(client, path)
                : kind.equals("read") ? shared.readLock() : shared.writeLock();
        }

        void enter() throws Exception {
            lock.acquire();
            String mine = kind.equals("read") ? "read-" : "write-";
            inside = client.create().withMode(CreateMode.EPHEMERAL_SEQUENTIAL).forPath(path + "-inside/" + mine);
            List<String> all = client.getChildren().forPath(path + "-inside");
            if (all.size() > 1 && all.stream().anyMatch(name -> name.startsWith("write-"))) {
                throw new Exception(id + " is not alone: " + all);
            }
        }

        void leave() throws Exception {
            client.delete().forPath(inside);
            lock.release();
        }

        void start(String event, Work work) {
            thread.submit(() -> {
                try {
                    work.run();
                    say("{\"event\":\"" + event + "\",\"id\":\"" + id + "\"}");
                } catch (Throwable cause) {
                    fail(cause);
                }
            });
        }
    }

    /** Contends for locks on request: src/interop/theirs.rs has the orders. */
    static void session() throws Exception {
        CuratorFramework client = client("connect");
        Map<String, Contender> contenders = new HashMap<>();
        say("{\"ready\":true}");
        for (String line; (line = orders.readLine()) != null; ) {
            String[] order = line.split(" ");
            switch (order[0]) {
                case "acquire":
                    Contender asking = new Contender(client, order);
                    contenders.put(asking.id, asking);
                    asking.start("acquired", asking::enter);
                    break;
                case "release":
                    Contender holder = contenders.remove(order[1]);
                    holder.start("released", holder::leave);
                    break;
                case "turns":
                    Contender turning = new Contender(client, order);
                    int count = Integer.parseInt(order[4]);
                    turning.start("turned", () -> {
                        for (int turn = 0; turn < count; turn++) {
                            turning.enter();
                            turning.leave();
                        }
                    });
                    break;
                default:
                    say("{\"event\":\"pong\",\"id\":\"\"}");
            }
        }
    }

    static void work() throws Exception {
        root = words.get("root");
        recipe = words.get("recipe");
        switch (words.get("workload")) {
            case "requests":
                requests();
                break;
            case "lock":
                lock();
                break;
            case "hand-over":
                handOver();
                break;
            case "shared-lock":
                sharedLock();
                break;
            case "election":
                election();
                break;
            case "barrier":
                barrier();
                break;
            case "queue":
                queue();
                break;
            case "counter":
                counter();
                break;
            case "semaphore":
                semaphore();
                break;
            case "idle":
                idle();
                break;
            case "session":
                session();
                break;
            default:
                throw new Exception("there is no workload " + words.get("workload"));
        }
    }

    public static void main(String[] arguments) {
        for (String word : arguments) {
            String[] pair = word.split("=", 2);
            words.put(pair[0], pair[1]);
        }
        try {
            work();
        } catch (Throwable cause) {
            fail(cause);
        }
        // Sessions end with the process.
        Runtime.getRuntime().halt(0);
    }
}
