import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.apache.curator.framework.recipes.atomic.AtomicValue;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.cache.ChildData;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.TreeCache;
import org.apache.curator.framework.recipes.nodes.GroupMember;
import org.apache.curator.framework.recipes.nodes.PersistentNode;
import org.apache.curator.framework.recipes.queue.DistributedQueue;
import org.apache.curator.framework.recipes.queue.QueueBuilder;
import org.apache.curator.framework.recipes.queue.QueueConsumer;
import org.apache.curator.framework.recipes.queue.QueueSerializer;
import org.apache.curator.framework.recipes.queue.SimpleDistributedQueue;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.framework.recipes.shared.VersionedValue;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;

/** Barriers, queues, counters, nodes and caches. */
final class Others {
    private Others() {}

    static void addTo(Map<String, Function<Driver, Driver.Scenario>> all) {
        all.put("barrier", Barrier::new);
        all.put("double-barrier", DoubleBarrier::new);
        all.put("simple-queue", SimpleQueue::new);
        all.put("queue", driver -> new Queue(driver, false, 0));
        all.put("safe-queue", driver -> new Queue(driver, true, 0));
        all.put("slow-safe-queue", driver -> new Queue(driver, true, 400));
        all.put("atomic-long", AtomicLong::new);
        all.put("shared-count", Count::new);
        all.put("persistent-node", Node::new);
        all.put("group-member", Member::new);
        all.put("tree-cache", Tree::new);
        all.put("curator-cache", Cache::new);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(byte[] data) {
        return data == null || data.length == 0 ? "-" : new String(data, StandardCharsets.UTF_8);
    }

    /** The first client raises and lowers the barrier, the others wait. */
    private static final class Barrier implements Driver.Scenario {
        private final Driver driver;
        private final DistributedBarrier barrier;
        private boolean mayBeRaised;
        private boolean lowers;

        Barrier(Driver driver) {
            this.driver = driver;
            driver.kind = "barrier";
            barrier = new DistributedBarrier(driver.client, driver.object);
        }

        @Override
        public void round() throws Exception {
            if (!driver.name.equals("a")) {
                driver.report("waits");
                try {
                    barrier.waitOnBarrier();
                } catch (Throwable error) {
                    driver.report("refused");
                    throw error;
                }
                driver.report("passed");
                return;
            }
            rest();
            mayBeRaised = true;
            barrier.setBarrier();
            driver.report("raised");
            driver.works();
        }

        @Override
        public void rest() throws Exception {
            if (mayBeRaised) {
                if (!lowers) {
                    lowers = true;
                    driver.report("lowers");
                }
                barrier.removeBarrier();
                lowers = false;
                mayBeRaised = false;
                driver.report("lowered");
                driver.pauses();
            }
        }
    }

    private static final class DoubleBarrier implements Driver.Scenario {
        private final Driver driver;

        DoubleBarrier(Driver driver) {
            this.driver = driver;
            driver.kind = "double_barrier";
        }

        @Override
        public void begin() {
            driver.report("size", driver.clients);
        }

        @Override
        public void round() throws Exception {
            DistributedDoubleBarrier barrier =
                    new DistributedDoubleBarrier(driver.client, driver.object, driver.clients);
            driver.report("enters");
            Boolean entered;
            try {
                entered = driver.unlessRested(() -> {
                    barrier.enter();
                    return true;
                });
            } catch (Throwable error) {
                driver.report("refused");
                throw error;
            }
            if (entered == null) {
                if (others() < driver.clients) {
                    driver.report("refused");
                    return;
                }
                Thread.currentThread().join();
            }
            driver.report("entered");
            driver.works();
            driver.report("leaves");
            try {
                barrier.leave();
            } catch (Throwable error) {
                driver.report("refused");
                throw error;
            }
            driver.report("left");
        }

        /** How many have a znode at the barrier. */
        private int others() throws Exception {
            try {
                List<String> names = new ArrayList<>(driver.client.getChildren().forPath(driver.object));
                names.remove("ready");
                return names.size();
            } catch (KeeperException.NoNodeException none) {
                return 0;
            }
        }
    }

    private static final class SimpleQueue implements Driver.Scenario {
        private final Driver driver;
        private final SimpleDistributedQueue queue;

        SimpleQueue(Driver driver) {
            this.driver = driver;
            driver.kind = "queue";
            queue = new SimpleDistributedQueue(driver.client, driver.object);
        }

        @Override
        public void round() throws Exception {
            String item = driver.unique();
            driver.report("puts", item);
            try {
                queue.offer(bytes(item));
            } catch (Throwable error) {
                driver.report("unknown", item);
                throw error;
            }
            driver.report("put", item);
            driver.pauses();
            take();
        }

        private boolean take() throws Exception {
            driver.report("takes");
            byte[] taken;
            try {
                taken = queue.poll();
            } catch (Throwable error) {
                driver.report("failed");
                throw error;
            }
            if (taken == null) {
                driver.report("empty");
                return false;
            }
            driver.report("took", text(taken));
            return true;
        }

        @Override
        public void rest() throws Exception {
            while (take()) {}
        }
    }

    /** A queue whose consumer is called; with a lock path its promise is that no item is lost. */
    private static final class Queue implements Driver.Scenario {
        private final Driver driver;
        private final boolean isSafe;
        private final int work;
        private DistributedQueue<String> queue;

        Queue(Driver driver, boolean isSafe, int work) {
            this.driver = driver;
            this.isSafe = isSafe;
            this.work = work;
            driver.kind = "queue";
        }

        @Override
        public void begin() throws Exception {
            QueueSerializer<String> serializer = new QueueSerializer<>() {
                @Override
                public byte[] serialize(String item) {
                    return bytes(item);
                }

                @Override
                public String deserialize(byte[] bytes) {
                    return text(bytes);
                }
            };
            QueueConsumer<String> consumer = new QueueConsumer<>() {
                @Override
                public void consumeMessage(String item) throws Exception {
                    driver.report("took", item);
                    TimeUnit.MILLISECONDS.sleep(work);
                    // The consumer is waiting for the next one from here on.
                    driver.report("takes");
                }

                @Override
                public void stateChanged(CuratorFramework client, ConnectionState state) {}
            };
            QueueBuilder<String> builder =
                    QueueBuilder.builder(driver.client, consumer, serializer, driver.object + "/queue");
            if (isSafe) {
                builder.lockPath(driver.object + "/locks");
            }
            driver.report("takes");
            queue = builder.buildQueue();
            queue.start();
        }

        @Override
        public void round() throws Exception {
            TimeUnit.MILLISECONDS.sleep(work);
            String item = driver.unique();
            driver.report("puts", item);
            try {
                queue.put(item);
                // The item is put in the background; a flush waits for it.
                if (!queue.flushPuts(5, TimeUnit.SECONDS)) {
                    throw new IllegalStateException("not flushed");
                }
            } catch (Throwable error) {
                driver.report("unknown", item);
                throw error;
            }
            driver.report("put", item);
        }

        @Override
        public void rest() throws Exception {
            // The queue is consumed by the way, and the consumers wait for more in the end.
            TimeUnit.SECONDS.sleep(7);
        }
    }

    private static final class AtomicLong implements Driver.Scenario {
        private final Driver driver;
        private final DistributedAtomicLong number;

        AtomicLong(Driver driver) {
            this.driver = driver;
            driver.kind = "counter";
            number = new DistributedAtomicLong(driver.client, driver.object, new ExponentialBackoffRetry(5, 10));
        }

        @Override
        public void round() throws Exception {
            driver.report("adds", 1);
            AtomicValue<Long> added;
            try {
                added = number.increment();
            } catch (Throwable error) {
                driver.report("unknown", 1);
                throw error;
            }
            // Its documentation: check succeeded() to see whether the operation was done.
            driver.report(added.succeeded() ? "added" : "refused", 1);
        }

        @Override
        public void audit() throws Exception {
            driver.report("counts", number.get().postValue());
        }
    }

    private static final class Count implements Driver.Scenario {
        private final Driver driver;
        private SharedCount count;

        Count(Driver driver) {
            this.driver = driver;
            driver.kind = "counter";
        }

        @Override
        public void begin() throws Exception {
            count = new SharedCount(driver.client, driver.object, 0);
            count.start();
        }

        @Override
        public void round() throws Exception {
            driver.report("adds", 1);
            try {
                boolean done = false;
                while (!done) {
                    VersionedValue<Integer> now = count.getVersionedValue();
                    done = count.trySetCount(now, now.getValue() + 1);
                }
            } catch (Throwable error) {
                driver.report("unknown", 1);
                throw error;
            }
            driver.report("added", 1);
        }

        @Override
        public void audit() throws Exception {
            byte[] data = driver.client.getData().forPath(driver.object);
            driver.report("counts", java.nio.ByteBuffer.wrap(data).getInt());
        }
    }

    /** A member that comes and goes. */
    private abstract static class Joined implements Driver.Scenario {
        final Driver driver;

        Joined(Driver driver) {
            this.driver = driver;
            driver.kind = "group";
        }

        abstract void enter() throws Exception;

        abstract void leave() throws Exception;

        abstract Collection<String> names() throws Exception;

        @Override
        public void begin() throws Exception {
            driver.report("joins", driver.name);
            enter();
            driver.report("joined", driver.name);
        }

        @Override
        public void round() throws Exception {
            TimeUnit.MILLISECONDS.sleep(100);
            if (driver.random.nextInt(10) == 0) {
                driver.report("leaves", driver.name);
                leave();
                driver.pauses();
                begin();
            }
        }

        @Override
        public void audit() throws Exception {
            TreeSet<String> names = new TreeSet<>(names());
            driver.report("members", names.isEmpty() ? "-" : String.join(",", names));
        }
    }

    /** An ephemeral that is made again whenever its session ends. */
    private static final class Node extends Joined {
        private PersistentNode node;

        Node(Driver driver) {
            super(driver);
        }

        @Override
        void enter() throws Exception {
            node = new PersistentNode(
                    driver.client, CreateMode.EPHEMERAL, false, driver.object + "/" + driver.name, new byte[0]);
            node.start();
            if (!node.waitForInitialCreate(10, TimeUnit.SECONDS)) {
                throw new IllegalStateException("no node after 10 s");
            }
        }

        @Override
        void leave() throws Exception {
            node.close();
        }

        @Override
        Collection<String> names() throws Exception {
            return driver.client.getChildren().forPath(driver.object);
        }
    }

    private static final class Member extends Joined {
        private GroupMember member;

        Member(Driver driver) {
            super(driver);
        }

        @Override
        void enter() {
            member = new GroupMember(driver.client, driver.object, driver.name, new byte[0]);
            member.start();
        }

        @Override
        void leave() {
            member.close();
        }

        @Override
        Collection<String> names() {
            return member.getCurrentMembers().keySet();
        }
    }

    /** Writes below the object, and has a cache of it. */
    private abstract static class Cached implements Driver.Scenario {
        final Driver driver;

        Cached(Driver driver) {
            this.driver = driver;
            driver.kind = "cache";
        }

        abstract void start() throws Exception;

        abstract Map<String, byte[]> shown();

        @Override
        public void begin() throws Exception {
            try {
                driver.client.create().creatingParentsIfNeeded().forPath(driver.object, new byte[0]);
            } catch (KeeperException.NodeExistsException exists) {
                // Another client was faster.
            }
            start();
        }

        @Override
        public void round() throws Exception {
            String path = driver.object + "/" + "uvwxyz".charAt(driver.random.nextInt(6));
            byte[] data = bytes(driver.unique());
            try {
                if (driver.random.nextInt(10) < 3) {
                    driver.client.delete().forPath(path);
                } else {
                    driver.client.create().orSetData().forPath(path, data);
                }
            } catch (KeeperException.NoNodeException | KeeperException.NodeExistsException other) {
                // Another client was faster.
            }
        }

        @Override
        public void audit() throws Exception {
            TimeUnit.MILLISECONDS.sleep(500);
            for (Map.Entry<String, byte[]> one : shown().entrySet()) {
                driver.report("sees", one.getKey() + " " + text(one.getValue()));
            }
            driver.report("seen");
        }
    }

    private static final class Tree extends Cached {
        private TreeCache cache;

        Tree(Driver driver) {
            super(driver);
        }

        @Override
        void start() throws Exception {
            cache = new TreeCache(driver.client, driver.object);
            cache.start();
        }

        @Override
        Map<String, byte[]> shown() {
            Map<String, byte[]> shown = new TreeMap<>();
            Map<String, ChildData> children = cache.getCurrentChildren(driver.object);
            if (children != null) {
                children.forEach((name, child) -> shown.put(driver.object + "/" + name, child.getData()));
            }
            return shown;
        }
    }

    private static final class Cache extends Cached {
        private CuratorCache cache;

        Cache(Driver driver) {
            super(driver);
        }

        @Override
        void start() {
            cache = CuratorCache.build(driver.client, driver.object);
            cache.start();
        }

        @Override
        Map<String, byte[]> shown() {
            Map<String, byte[]> shown = new TreeMap<>();
            cache.stream()
                    .filter(one -> !one.getPath().equals(driver.object))
                    .forEach(one -> shown.put(one.getPath(), one.getData()));
            return shown;
        }
    }
}
