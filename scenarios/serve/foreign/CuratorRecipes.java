// Every recipe of Apache Curator and every operation of ZooKeeper's Java client, without a fault, against one ensemble.
//
//     java -cp JARS CuratorRecipes.java CONNECT [NAME ...]
//
// CONNECT is a connect string. Three Curator clients share the work, each on one member of the ensemble, so that what one
// writes travels to another one. The ensemble must allow znodes with a TTL. Each case prints one line, `name: what was
// seen`, in which nothing depends on the run: two ensembles that behave alike print the same text. NAMEs select cases.
// The exit status is 0 if every case passed; a case that fails prints `name: FAILED` and its exception.

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.BackgroundCallback;
import org.apache.curator.framework.api.CuratorEvent;
import org.apache.curator.framework.api.transaction.CuratorTransactionResult;
import org.apache.curator.framework.recipes.atomic.AtomicValue;
import org.apache.curator.framework.recipes.atomic.CachedAtomicLong;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicInteger;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicValue;
import org.apache.curator.framework.recipes.atomic.PromotedToLock;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.cache.ChildData;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.CuratorCacheListener;
import org.apache.curator.framework.recipes.cache.NodeCache;
import org.apache.curator.framework.recipes.cache.PathChildrenCache;
import org.apache.curator.framework.recipes.cache.TreeCache;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMultiLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.locks.Locker;
import org.apache.curator.framework.recipes.locks.Revoker;
import org.apache.curator.framework.recipes.nodes.GroupMember;
import org.apache.curator.framework.recipes.nodes.PersistentNode;
import org.apache.curator.framework.recipes.nodes.PersistentTtlNode;
import org.apache.curator.framework.recipes.queue.BlockingQueueConsumer;
import org.apache.curator.framework.recipes.queue.DistributedDelayQueue;
import org.apache.curator.framework.recipes.queue.DistributedIdQueue;
import org.apache.curator.framework.recipes.queue.DistributedPriorityQueue;
import org.apache.curator.framework.recipes.queue.DistributedQueue;
import org.apache.curator.framework.recipes.queue.QueueBuilder;
import org.apache.curator.framework.recipes.queue.QueueConsumer;
import org.apache.curator.framework.recipes.queue.QueueSerializer;
import org.apache.curator.framework.recipes.queue.SimpleDistributedQueue;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.framework.recipes.shared.SharedCountListener;
import org.apache.curator.framework.recipes.shared.SharedCountReader;
import org.apache.curator.framework.recipes.shared.SharedValue;
import org.apache.curator.framework.recipes.watch.PersistentWatcher;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.curator.retry.RetryNTimes;
import org.apache.curator.utils.ZKPaths;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.Transaction;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.server.auth.DigestAuthenticationProvider;

public class CuratorRecipes {
    /** How long something may take that nobody prevents. */
    static final int LIMIT_MS = 30_000;

    /** How long something that must not happen is waited for. */
    static final int SHORT_MS = 100;

    /** The timeout of sessions; the server may offer another one. */
    static final int SESSION_MS = 10_000;

    static String connect;
    static CuratorFramework a, b, c;
    static final ExecutorService threads = Executors.newCachedThreadPool(work -> {
        Thread thread = new Thread(work);
        thread.setDaemon(true);
        return thread;
    });

    public static void main(String[] arguments) throws Exception {
        connect = arguments[0];
        String[] members = connect.split(",");
        a = curator(members[0]);
        b = curator(members[1 % members.length]);
        c = curator(members[2 % members.length]);
        List<String> selected = Arrays.asList(arguments).subList(1, arguments.length);
        int failed = 0;
        for (Map.Entry<String, Callable<String>> one : cases().entrySet()) {
            if (selected.isEmpty() || selected.contains(one.getKey())) {
                failed += passes(one.getKey(), one.getValue()) ? 0 : 1;
            }
        }
        a.close();
        b.close();
        c.close();
        System.out.println(failed == 0 ? "all passed" : failed + " failed");
        System.exit(failed == 0 ? 0 : 1);
    }

    static boolean passes(String name, Callable<String> body) {
        Future<String> result = threads.submit(body);
        try {
            // The text of an ACL has lines.
            System.out.println(name + ": " + result.get(2 * LIMIT_MS, TimeUnit.MILLISECONDS).replace("\n", ""));
            return true;
        } catch (Exception error) {
            Throwable cause = error.getCause() == null ? error : error.getCause();
            System.out.println(name + ": FAILED " + cause);
            Arrays.stream(cause.getStackTrace()).forEach(frame -> System.out.println("    at " + frame));
            result.cancel(true);
            return false;
        }
    }

    static Map<String, Callable<String>> cases() {
        Map<String, Callable<String>> all = new LinkedHashMap<>();
        all.put("lock", CuratorRecipes::lock);
        all.put("lock-revoked", CuratorRecipes::lockRevoked);
        all.put("semaphore-mutex", CuratorRecipes::semaphoreMutex);
        all.put("read-write-lock", CuratorRecipes::readWriteLock);
        all.put("semaphore", CuratorRecipes::semaphore);
        all.put("multi-lock", CuratorRecipes::multiLock);
        all.put("leader-latch", CuratorRecipes::leaderLatch);
        all.put("leader-selector", CuratorRecipes::leaderSelector);
        all.put("barrier", CuratorRecipes::barrier);
        all.put("double-barrier", CuratorRecipes::doubleBarrier);
        all.put("queue", CuratorRecipes::queue);
        all.put("queue-safe", CuratorRecipes::queueSafe);
        all.put("priority-queue", CuratorRecipes::priorityQueue);
        all.put("id-queue", CuratorRecipes::idQueue);
        all.put("simple-queue", CuratorRecipes::simpleQueue);
        all.put("delay-queue", CuratorRecipes::delayQueue);
        all.put("shared-count", CuratorRecipes::sharedCount);
        all.put("shared-value", CuratorRecipes::sharedValue);
        all.put("atomic-long", CuratorRecipes::atomicLong);
        all.put("atomic-promoted", CuratorRecipes::atomicPromoted);
        all.put("atomic-value", CuratorRecipes::atomicValue);
        all.put("path-children-cache", CuratorRecipes::pathChildrenCache);
        all.put("node-cache", CuratorRecipes::nodeCache);
        all.put("tree-cache", CuratorRecipes::treeCache);
        all.put("curator-cache", CuratorRecipes::curatorCache);
        all.put("persistent-watcher", CuratorRecipes::persistentWatcher);
        all.put("persistent-node", CuratorRecipes::persistentNode);
        all.put("persistent-ttl-node", CuratorRecipes::persistentTtlNode);
        all.put("group-member", CuratorRecipes::groupMember);
        all.put("transaction", CuratorRecipes::transaction);
        all.put("transaction-chain", CuratorRecipes::transactionChain);
        all.put("framework-create", CuratorRecipes::frameworkCreate);
        all.put("framework-delete", CuratorRecipes::frameworkDelete);
        all.put("framework-background", CuratorRecipes::frameworkBackground);
        all.put("framework-namespace", CuratorRecipes::frameworkNamespace);
        all.put("framework-watches", CuratorRecipes::frameworkWatches);
        all.put("framework-auth", CuratorRecipes::frameworkAuth);
        all.put("framework-config", CuratorRecipes::frameworkConfig);
        JavaClient.addTo(all);
        return all;
    }

    // ---------------------------------------------------------------- locks

    /** Counts who is inside, and the most who ever were at once. */
    static class Room {
        final AtomicInteger inside = new AtomicInteger();
        final AtomicInteger most = new AtomicInteger();

        void visit() {
            most.accumulateAndGet(inside.incrementAndGet(), Math::max);
            Thread.yield();
            inside.decrementAndGet();
        }
    }

    static int turnsOf(List<InterProcessLock> locks, int turns) throws Exception {
        Room room = new Room();
        List<Future<Void>> all = new ArrayList<>();
        for (InterProcessLock lock : locks) {
            all.add(threads.submit(() -> {
                for (int turn = 0; turn < turns; turn++) {
                    must("its turn comes", lock.acquire(LIMIT_MS, TimeUnit.MILLISECONDS));
                    room.visit();
                    lock.release();
                }
                return null;
            }));
        }
        for (Future<Void> one : all) {
            get(one);
        }
        return room.most.get();
    }

    static String lock() throws Exception {
        InterProcessMutex ofA = new InterProcessMutex(a, "/lock"), ofB = new InterProcessMutex(b, "/lock");
        ofA.acquire();
        ofA.acquire();
        must("b finds it taken", !ofB.acquire(SHORT_MS, TimeUnit.MILLISECONDS));
        equal(1, ofA.getParticipantNodes().size());
        Future<Boolean> waits = threads.submit(() -> {
            boolean held = ofB.acquire(LIMIT_MS, TimeUnit.MILLISECONDS);
            ofB.release();
            return held;
        });
        await("b queues", () -> ofA.getParticipantNodes().size() == 2);
        ofA.release();
        must("a has it for another time", ofA.isOwnedByCurrentThread());
        ofA.release();
        must("b gets it", get(waits));
        try {
            ofA.release();
            throw new IllegalStateException("a lock that is not held was released");
        } catch (IllegalMonitorStateException right) {
            // As its documentation says.
        }
        try (@SuppressWarnings("try") Locker locker = new Locker(ofA)) {
            must("a holds it again", ofA.isOwnedByCurrentThread());
        }
        List<InterProcessLock> many = new ArrayList<>();
        for (CuratorFramework one : Arrays.asList(a, b, c, a, b, c)) {
            many.add(new InterProcessMutex(one, "/lock"));
        }
        equal(1, turnsOf(many, 15));
        await("nothing is left", () -> children(a, "/lock").isEmpty());
        return "held by one of six at a time, 90 times";
    }

    static String lockRevoked() throws Exception {
        InterProcessMutex ofA = new InterProcessMutex(a, "/revoked"), ofB = new InterProcessMutex(b, "/revoked");
        CountDownLatch asked = new CountDownLatch(1);
        Future<Void> holds = threads.submit(() -> {
            ofA.makeRevocable(lock -> asked.countDown());
            ofA.acquire();
            must("it is revoked", asked.await(LIMIT_MS, TimeUnit.MILLISECONDS));
            ofA.release();
            return null;
        });
        await("a holds it", () -> b.checkExists().forPath("/revoked") != null && !ofB.getParticipantNodes().isEmpty());
        Revoker.attemptRevoke(b, ofB.getParticipantNodes().iterator().next());
        must("b gets it", ofB.acquire(LIMIT_MS, TimeUnit.MILLISECONDS));
        ofB.release();
        get(holds);
        return "given back on request";
    }

    static String semaphoreMutex() throws Exception {
        InterProcessSemaphoreMutex ofA = new InterProcessSemaphoreMutex(a, "/semaphore-mutex");
        InterProcessSemaphoreMutex ofB = new InterProcessSemaphoreMutex(b, "/semaphore-mutex");
        ofA.acquire();
        must("it is not re-entrant", !ofA.acquire(SHORT_MS, TimeUnit.MILLISECONDS));
        must("b finds it taken", !ofB.acquire(SHORT_MS, TimeUnit.MILLISECONDS));
        // Another thread may release it.
        get(threads.submit(() -> { ofA.release(); return null; }));
        List<InterProcessLock> many = new ArrayList<>();
        for (CuratorFramework one : Arrays.asList(a, b, c, a)) {
            many.add(new InterProcessSemaphoreMutex(one, "/semaphore-mutex"));
        }
        equal(1, turnsOf(many, 8));
        return "held by one of four at a time, 32 times";
    }

    static String readWriteLock() throws Exception {
        InterProcessReadWriteLock ofA = new InterProcessReadWriteLock(a, "/rw", bytes("a"));
        InterProcessReadWriteLock ofB = new InterProcessReadWriteLock(b, "/rw", bytes("b"));
        InterProcessReadWriteLock ofC = new InterProcessReadWriteLock(c, "/rw");
        ofA.readLock().acquire();
        must("two read", ofB.readLock().acquire(LIMIT_MS, TimeUnit.MILLISECONDS));
        must("nobody writes", !ofC.writeLock().acquire(SHORT_MS, TimeUnit.MILLISECONDS));
        Future<Boolean> writes = threads.submit(() -> {
            boolean held = ofC.writeLock().acquire(LIMIT_MS, TimeUnit.MILLISECONDS);
            ofC.writeLock().release();
            return held;
        });
        await("c queues", () -> ofC.writeLock().getParticipantNodes().size() == 1);
        await("a sees it queue", () -> ofA.writeLock().getParticipantNodes().size() == 1);
        must("a writer that waits keeps later readers out",
            !get(threads.submit(() -> ofA.readLock().acquire(SHORT_MS, TimeUnit.MILLISECONDS))));
        ofA.readLock().release();
        ofB.readLock().release();
        must("c writes", get(writes));
        ofA.writeLock().acquire();
        must("a downgrades", ofA.readLock().acquire(LIMIT_MS, TimeUnit.MILLISECONDS));
        ofA.writeLock().release();
        must("b reads beside it", ofB.readLock().acquire(LIMIT_MS, TimeUnit.MILLISECONDS));
        ofA.readLock().release();
        ofB.readLock().release();
        List<InterProcessLock> many = new ArrayList<>();
        for (CuratorFramework one : Arrays.asList(a, b, c, a, b)) {
            many.add(new InterProcessReadWriteLock(one, "/rw").writeLock());
        }
        equal(1, turnsOf(many, 8));
        return "readers together, writers one at a time, downgraded once";
    }

    static String semaphore() throws Exception {
        SharedCount leases = new SharedCount(a, "/semaphore-leases", 2);
        leases.start();
        InterProcessSemaphoreV2 ofA = new InterProcessSemaphoreV2(a, "/semaphore", leases);
        InterProcessSemaphoreV2 ofB = new InterProcessSemaphoreV2(b, "/semaphore", 2);
        ofA.setNodeData(bytes("of a"));
        Lease first = ofA.acquire(), second = ofB.acquire();
        must("there is no third", ofA.acquire(SHORT_MS, TimeUnit.MILLISECONDS) == null);
        await("two take part", () -> ofA.getParticipantNodes().size() == 2);
        equal("of a", text(first.getData()));
        Future<Lease> third = threads.submit(() -> ofA.acquire(LIMIT_MS, TimeUnit.MILLISECONDS));
        await("a third queues", () -> children(a, "/semaphore/leases").size() == 3);
        leases.setCount(3);
        Lease gained = get(third);
        must("another lease is there", gained != null);
        ofA.returnAll(Arrays.asList(first, gained));
        ofB.returnLease(second);
        Collection<Lease> both = ofB.acquire(2, LIMIT_MS, TimeUnit.MILLISECONDS);
        equal(2, both.size());
        ofB.returnAll(both);
        leases.close();
        Room room = new Room();
        List<Future<Void>> all = new ArrayList<>();
        for (CuratorFramework one : Arrays.asList(a, b, c, a, b, c)) {
            InterProcessSemaphoreV2 of = new InterProcessSemaphoreV2(one, "/semaphore-many", 2);
            all.add(threads.submit(() -> {
                for (int turn = 0; turn < 6; turn++) {
                    Lease lease = of.acquire();
                    room.visit();
                    of.returnLease(lease);
                }
                return null;
            }));
        }
        for (Future<Void> one : all) {
            get(one);
        }
        must("at most two are inside", room.most.get() <= 2);
        return "two leases, then three; at most two of six inside, 36 times";
    }

    static String multiLock() throws Exception {
        InterProcessMultiLock ofA = new InterProcessMultiLock(a, Arrays.asList("/multi-1", "/multi-2", "/multi-3"));
        InterProcessMutex second = new InterProcessMutex(b, "/multi-2");
        second.acquire();
        must("one of three is taken", !ofA.acquire(SHORT_MS, TimeUnit.MILLISECONDS));
        must("none is kept", !ofA.isAcquiredInThisProcess());
        second.release();
        ofA.acquire();
        must("all are held", ofA.isAcquiredInThisProcess());
        must("each is held",
            !new InterProcessMutex(b, "/multi-3").acquire(SHORT_MS, TimeUnit.MILLISECONDS));
        ofA.release();
        return "all three or none";
    }

    // ------------------------------------------------------------- elections

    static String leaderLatch() throws Exception {
        LeaderLatch ofA = new LeaderLatch(a, "/latch", "a"), ofB = new LeaderLatch(b, "/latch", "b");
        ofA.start();
        must("a leads", ofA.await(LIMIT_MS, TimeUnit.MILLISECONDS));
        ofB.start();
        await("two take part", () -> ofA.getParticipants().size() == 2);
        must("b does not lead", !ofB.await(SHORT_MS, TimeUnit.MILLISECONDS));
        await("b knows the leader", () -> ofB.getLeader().getId().equals("a"));
        ofA.close();
        must("b leads", ofB.await(LIMIT_MS, TimeUnit.MILLISECONDS));
        equal("b", ofB.getLeader().getId());
        equal(1, ofB.getParticipants().size());
        ofB.close(LeaderLatch.CloseMode.NOTIFY_LEADER);
        await("nobody takes part", () -> children(c, "/latch").isEmpty());
        return "a leads, then b";
    }

    static String leaderSelector() throws Exception {
        BlockingQueue<String> terms = new LinkedBlockingQueue<>();
        AtomicInteger leaders = new AtomicInteger();
        List<LeaderSelector> all = new ArrayList<>();
        for (CuratorFramework one : Arrays.asList(a, b, c)) {
            String id = "selector-" + all.size();
            LeaderSelector selector = new LeaderSelector(one, "/selector", new LeaderSelectorListenerAdapter() {
                @Override
                public void takeLeadership(CuratorFramework client) {
                    terms.add(leaders.incrementAndGet() == 1 ? id : "two leaders");
                    leaders.decrementAndGet();
                }
            });
            selector.setId(id);
            selector.autoRequeue();
            all.add(selector);
        }
        all.forEach(LeaderSelector::start);
        TreeSet<String> seen = new TreeSet<>();
        for (int term = 0; term < 30 || seen.size() < 3; term++) {
            seen.add(take(terms));
        }
        equal("[selector-0, selector-1, selector-2]", seen.toString());
        all.forEach(LeaderSelector::close);
        BlockingQueue<String> interrupted = new LinkedBlockingQueue<>();
        LeaderSelector last = new LeaderSelector(a, "/selector-2", new LeaderSelectorListenerAdapter() {
            @Override
            public void takeLeadership(CuratorFramework client) throws Exception {
                interrupted.add("leads");
                try {
                    new CountDownLatch(1).await();
                } catch (InterruptedException wanted) {
                    interrupted.add("interrupted");
                }
            }
        });
        last.setId("last");
        last.start();
        equal("leads", take(interrupted));
        must("it leads", last.hasLeadership());
        equal("last", last.getLeader().getId());
        last.interruptLeadership();
        equal("interrupted", take(interrupted));
        last.close();
        return "each of three leads, one at a time";
    }

    // -------------------------------------------------------------- barriers

    static String barrier() throws Exception {
        DistributedBarrier ofA = new DistributedBarrier(a, "/barrier"), ofB = new DistributedBarrier(b, "/barrier");
        ofA.setBarrier();
        await("b sees it", () -> b.checkExists().forPath("/barrier") != null);
        must("b is held up", !ofB.waitOnBarrier(SHORT_MS, TimeUnit.MILLISECONDS));
        Future<Boolean> passes = threads.submit(() -> ofB.waitOnBarrier(LIMIT_MS, TimeUnit.MILLISECONDS));
        ofA.removeBarrier();
        must("b passes", get(passes));
        return "raised and lowered";
    }

    static String doubleBarrier() throws Exception {
        AtomicInteger entered = new AtomicInteger(), left = new AtomicInteger();
        List<Future<Void>> all = new ArrayList<>();
        CountDownLatch leave = new CountDownLatch(1);
        for (CuratorFramework one : Arrays.asList(a, b, c)) {
            DistributedDoubleBarrier of = new DistributedDoubleBarrier(one, "/double-barrier", 3);
            all.add(threads.submit(() -> {
                must("three enter", of.enter(LIMIT_MS, TimeUnit.MILLISECONDS));
                entered.incrementAndGet();
                must("it may go", leave.await(LIMIT_MS, TimeUnit.MILLISECONDS));
                must("three leave", of.leave(LIMIT_MS, TimeUnit.MILLISECONDS));
                left.incrementAndGet();
                return null;
            }));
        }
        await("all are inside", () -> entered.get() == 3);
        equal(0, left.get());
        leave.countDown();
        for (Future<Void> one : all) {
            get(one);
        }
        return "three in, three out";
    }

    // ---------------------------------------------------------------- queues

    static final QueueSerializer<String> WORDS = new QueueSerializer<String>() {
        @Override
        public byte[] serialize(String item) {
            return bytes(item);
        }

        @Override
        public String deserialize(byte[] item) {
            return text(item);
        }
    };

    static BlockingQueueConsumer<String> consumer() {
        return new BlockingQueueConsumer<>((client, state) -> { });
    }

    static String next(BlockingQueueConsumer<String> consumer) throws Exception {
        String item = consumer.take(LIMIT_MS, TimeUnit.MILLISECONDS);
        must("an item comes", item != null);
        return item;
    }

    static String queue() throws Exception {
        BlockingQueueConsumer<String> taken = consumer();
        DistributedQueue<String> takes = QueueBuilder.builder(b, taken, WORDS, "/queue").buildQueue();
        DistributedQueue<String> puts = QueueBuilder.builder(a, null, WORDS, "/queue").buildQueue();
        takes.start();
        puts.start();
        List<String> seen = new ArrayList<>();
        for (int item = 0; item < 20; item++) {
            puts.put("item-" + item);
        }
        puts.putMulti(new org.apache.curator.framework.recipes.queue.MultiItem<String>() {
            int left = 3;

            @Override
            public String nextItem() {
                return left-- > 0 ? "multi-" + left : null;
            }
        });
        must("all are written", puts.flushPuts(LIMIT_MS, TimeUnit.MILLISECONDS));
        while (seen.size() < 23) {
            seen.add(next(taken));
        }
        equal("item-0", seen.get(0));
        equal("item-19", seen.get(19));
        await("the queue is empty", () -> children(a, "/queue").isEmpty());
        takes.close();
        puts.close();
        return "23 items in order";
    }

    static String queueSafe() throws Exception {
        BlockingQueueConsumer<String> ofB = consumer(), ofC = consumer();
        DistributedQueue<String> one =
            QueueBuilder.builder(b, ofB, WORDS, "/safe").lockPath("/safe-locks").buildQueue();
        DistributedQueue<String> two =
            QueueBuilder.builder(c, ofC, WORDS, "/safe").lockPath("/safe-locks").buildQueue();
        DistributedQueue<String> puts = QueueBuilder.builder(a, null, WORDS, "/safe").buildQueue();
        one.start();
        two.start();
        puts.start();
        for (int item = 0; item < 10; item++) {
            puts.put("item-" + item);
        }
        puts.flushPuts(LIMIT_MS, TimeUnit.MILLISECONDS);
        await("all are taken", () -> ofB.size() + ofC.size() >= 10 && children(a, "/safe").isEmpty());
        TreeSet<String> seen = new TreeSet<>();
        for (BlockingQueueConsumer<String> each : Arrays.asList(ofB, ofC)) {
            while (each.size() > 0) {
                must("no item is taken twice", seen.add(next(each)));
            }
        }
        equal(10, seen.size());
        one.close();
        two.close();
        puts.close();
        return "10 items, each once for two consumers";
    }

    static String priorityQueue() throws Exception {
        DistributedPriorityQueue<String> puts =
            QueueBuilder.builder(a, null, WORDS, "/priority").buildPriorityQueue(0);
        puts.start();
        puts.put("last", 30);
        puts.put("first", 1);
        puts.put("middle", 20);
        puts.put("negative", -5);
        puts.flushPuts(LIMIT_MS, TimeUnit.MILLISECONDS);
        await("b sees all", () -> children(b, "/priority").size() == 4);
        BlockingQueueConsumer<String> taken = consumer();
        DistributedPriorityQueue<String> takes =
            QueueBuilder.builder(b, taken, WORDS, "/priority").buildPriorityQueue(0);
        takes.start();
        String seen = next(taken) + " " + next(taken) + " " + next(taken) + " " + next(taken);
        takes.close();
        puts.close();
        return seen;
    }

    static String idQueue() throws Exception {
        DistributedIdQueue<String> puts = QueueBuilder.builder(a, null, WORDS, "/ids").buildIdQueue();
        puts.start();
        puts.put("one", "1");
        puts.put("two", "2");
        puts.put("three", "3");
        puts.flushPuts(LIMIT_MS, TimeUnit.MILLISECONDS);
        equal(1, puts.remove("2"));
        equal(0, puts.remove("4"));
        await("b sees two", () -> children(b, "/ids").size() == 2);
        BlockingQueueConsumer<String> taken = consumer();
        DistributedIdQueue<String> takes = QueueBuilder.builder(b, taken, WORDS, "/ids").buildIdQueue();
        takes.start();
        String seen = next(taken) + " " + next(taken);
        takes.close();
        puts.close();
        return seen + ", two was removed";
    }

    static String simpleQueue() throws Exception {
        SimpleDistributedQueue ofA = new SimpleDistributedQueue(a, "/simple");
        SimpleDistributedQueue ofB = new SimpleDistributedQueue(b, "/simple");
        equal(null, ofB.poll());
        ofA.offer(bytes("one"));
        ofA.offer(bytes("two"));
        await("b sees them", () -> ofB.peek() != null);
        equal("one", text(ofB.element()));
        equal("one", text(ofB.take()));
        equal("two", text(ofB.poll(LIMIT_MS, TimeUnit.MILLISECONDS)));
        Future<byte[]> waits = threads.submit(() -> ofB.take());
        ofA.offer(bytes("three"));
        equal("three", text(get(waits)));
        equal(null, ofB.poll(SHORT_MS, TimeUnit.MILLISECONDS));
        return "one two three";
    }

    static String delayQueue() throws Exception {
        BlockingQueueConsumer<String> taken = consumer();
        DistributedDelayQueue<String> takes = QueueBuilder.builder(b, taken, WORDS, "/delay").buildDelayQueue();
        DistributedDelayQueue<String> puts = QueueBuilder.builder(a, null, WORDS, "/delay").buildDelayQueue();
        takes.start();
        puts.start();
        long now = System.currentTimeMillis();
        puts.put("later", now + 800);
        puts.put("sooner", now + 300);
        equal("sooner", next(taken));
        must("it was late enough", System.currentTimeMillis() >= now + 300);
        equal("later", next(taken));
        must("it was late enough", System.currentTimeMillis() >= now + 800);
        takes.close();
        puts.close();
        return "sooner later";
    }

    // -------------------------------------------------------------- counters

    static String sharedCount() throws Exception {
        SharedCount ofA = new SharedCount(a, "/count", 7), ofB = new SharedCount(b, "/count", 7);
        BlockingQueue<Integer> seen = new LinkedBlockingQueue<>();
        ofB.addListener(new SharedCountListener() {
            @Override
            public void countHasChanged(SharedCountReader count, int value) {
                seen.add(value);
            }

            @Override
            public void stateChanged(CuratorFramework client, ConnectionState state) {
                // No fault is expected, and none matters here.
            }
        });
        ofA.start();
        ofB.start();
        equal(7, ofA.getCount());
        ofA.setCount(8);
        equal(8, take(seen));
        must("an old version loses", ofA.trySetCount(ofA.getVersionedValue(), 9));
        equal(9, take(seen));
        await("b has it", () -> ofB.getCount() == 9);
        int version = ofB.getVersionedValue().getVersion();
        ofA.close();
        ofB.close();
        return "7 8 9, version " + version;
    }

    static String sharedValue() throws Exception {
        SharedValue ofA = new SharedValue(a, "/value", bytes("seed")), ofB = new SharedValue(b, "/value", bytes("seed"));
        ofA.start();
        ofB.start();
        var old = ofB.getVersionedValue();
        ofA.setValue(bytes("by a"));
        must("a stale version is refused", !ofB.trySetValue(old, bytes("by b")));
        await("b has it", () -> text(ofB.getValue()).equals("by a"));
        ofA.close();
        ofB.close();
        return "by a";
    }

    static String atomicLong() throws Exception {
        List<Future<Void>> all = new ArrayList<>();
        for (CuratorFramework one : Arrays.asList(a, b, c)) {
            DistributedAtomicLong of = new DistributedAtomicLong(one, "/long", new RetryNTimes(1000, 1));
            all.add(threads.submit(() -> {
                for (int turn = 0; turn < 20; turn++) {
                    must("it is added", of.increment().succeeded());
                }
                return null;
            }));
        }
        for (Future<Void> one : all) {
            get(one);
        }
        DistributedAtomicLong of = new DistributedAtomicLong(a, "/long", new RetryNTimes(10, 1));
        AtomicValue<Long> before = of.subtract(10L);
        equal(60L, before.preValue());
        equal(50L, of.get().postValue());
        must("compare and set", of.compareAndSet(50L, 1L).succeeded());
        must("it has another value", !of.compareAndSet(50L, 2L).succeeded());
        of.forceSet(100L);
        must("it is there", !of.initialize(5L));
        CachedAtomicLong cached = new CachedAtomicLong(new DistributedAtomicLong(b, "/cached", new RetryNTimes(10, 1)), 5);
        long last = 0;
        for (int turn = 0; turn < 7; turn++) {
            last = cached.next().postValue();
        }
        return "60 50 1 " + of.get().postValue() + ", cached " + last;
    }

    static String atomicPromoted() throws Exception {
        PromotedToLock promoted =
            PromotedToLock.builder().lockPath("/promoted-lock").retryPolicy(new RetryNTimes(1000, 1)).build();
        List<Future<Void>> all = new ArrayList<>();
        for (CuratorFramework one : Arrays.asList(a, b, c)) {
            DistributedAtomicInteger of =
                new DistributedAtomicInteger(one, "/promoted", new RetryNTimes(0, 1), promoted);
            all.add(threads.submit(() -> {
                for (int turn = 0; turn < 10; turn++) {
                    must("it is added", of.add(2).succeeded());
                }
                return null;
            }));
        }
        for (Future<Void> one : all) {
            get(one);
        }
        return "60 is " + new DistributedAtomicInteger(a, "/promoted", new RetryNTimes(10, 1)).increment().preValue();
    }

    static String atomicValue() throws Exception {
        DistributedAtomicValue ofA = new DistributedAtomicValue(a, "/atomic", new RetryNTimes(10, 1));
        must("it was not there", ofA.initialize(bytes("one")));
        must("it is set", ofA.trySet(bytes("two")).succeeded());
        must("it is compared", ofA.compareAndSet(bytes("two"), bytes("three")).succeeded());
        return text(ofA.get().postValue());
    }

    // ---------------------------------------------------------------- caches

    @SuppressWarnings("deprecation")
    static String pathChildrenCache() throws Exception {
        a.create().creatingParentsIfNeeded().forPath("/children/first", bytes("1"));
        await("b sees it", () -> b.checkExists().forPath("/children/first") != null);
        PathChildrenCache cache = new PathChildrenCache(b, "/children", true);
        BlockingQueue<String> seen = new LinkedBlockingQueue<>();
        cache.getListenable().addListener((client, event) -> {
            ChildData data = event.getData();
            seen.add(event.getType() + (data == null ? "" : " " + data.getPath() + "=" + text(data.getData())));
        });
        cache.start(PathChildrenCache.StartMode.POST_INITIALIZED_EVENT);
        String all = take(seen) + ", " + take(seen);
        a.create().forPath("/children/second", bytes("2"));
        all += ", " + take(seen);
        a.setData().forPath("/children/second", bytes("3"));
        all += ", " + take(seen);
        a.delete().forPath("/children/first");
        all += ", " + take(seen);
        equal(1, cache.getCurrentData().size());
        cache.close();
        return all;
    }

    @SuppressWarnings("deprecation")
    static String nodeCache() throws Exception {
        NodeCache cache = new NodeCache(b, "/node/of-cache");
        BlockingQueue<String> seen = new LinkedBlockingQueue<>();
        cache.getListenable().addListener(() -> {
            ChildData data = cache.getCurrentData();
            seen.add(data == null ? "gone" : text(data.getData()));
        });
        cache.start(true);
        equal(null, cache.getCurrentData());
        a.create().creatingParentsIfNeeded().forPath("/node/of-cache", bytes("1"));
        String all = take(seen);
        a.setData().forPath("/node/of-cache", bytes("2"));
        all += " " + take(seen);
        a.delete().forPath("/node/of-cache");
        all += " " + take(seen);
        a.create().forPath("/node/of-cache", bytes("3"));
        all += " " + take(seen);
        cache.close();
        return all;
    }

    @SuppressWarnings("deprecation")
    static String treeCache() throws Exception {
        a.create().creatingParentsIfNeeded().forPath("/tree/x/y", bytes("1"));
        await("b sees it", () -> b.checkExists().forPath("/tree/x/y") != null);
        TreeCache cache = TreeCache.newBuilder(b, "/tree").build();
        BlockingQueue<String> seen = new LinkedBlockingQueue<>();
        cache.getListenable().addListener((client, event) ->
            seen.add(event.getType() + (event.getData() == null ? "" : " " + event.getData().getPath())));
        cache.start();
        // The root comes first and INITIALIZED last; a parent before its children.
        List<String> all = new ArrayList<>();
        while (!all.contains("INITIALIZED")) {
            all.add(take(seen));
        }
        a.create().forPath("/tree/x/y/z", bytes("2"));
        all.add(take(seen));
        a.setData().forPath("/tree/x", bytes("3"));
        all.add(take(seen));
        a.delete().deletingChildrenIfNeeded().forPath("/tree/x/y");
        all.add(take(seen));
        all.add(take(seen));
        equal("[x]", cache.getCurrentChildren("/tree").keySet().toString());
        cache.close();
        return String.join(", ", all);
    }

    static String curatorCache() throws Exception {
        a.create().creatingParentsIfNeeded().forPath("/cache/x", bytes("1"));
        await("b sees it", () -> b.checkExists().forPath("/cache/x") != null);
        CuratorCache cache = CuratorCache.build(b, "/cache");
        BlockingQueue<String> seen = new LinkedBlockingQueue<>();
        cache.listenable().addListener(CuratorCacheListener.builder()
            .forCreates(node -> seen.add("+" + node.getPath()))
            .forChanges((old, node) -> seen.add("~" + node.getPath() + "=" + text(node.getData())))
            .forDeletes(node -> seen.add("-" + node.getPath()))
            .forInitialized(() -> seen.add("initialized"))
            .build());
        cache.start();
        List<String> all = new ArrayList<>();
        while (!all.contains("initialized")) {
            all.add(take(seen));
        }
        a.create().creatingParentsIfNeeded().forPath("/cache/y/z", bytes("2"));
        all.add(take(seen));
        all.add(take(seen));
        a.setData().forPath("/cache/x", bytes("3"));
        all.add(take(seen));
        a.delete().forPath("/cache/y/z");
        all.add(take(seen));
        // Caches of one node follow it, and no children.
        CuratorCache single = CuratorCache.build(c, "/cache/x", CuratorCache.Options.SINGLE_NODE_CACHE);
        single.start();
        await("the single cache has it", () -> single.get("/cache/x").isPresent());
        equal(1, single.size());
        // The first events come in no order.
        Collections.sort(all.subList(0, all.indexOf("initialized")));
        equal(3, cache.size());
        single.close();
        cache.close();
        return String.join(" ", all);
    }

    static String persistentWatcher() throws Exception {
        PersistentWatcher watcher = new PersistentWatcher(b, "/watched", true);
        BlockingQueue<String> seen = new LinkedBlockingQueue<>();
        CountDownLatch set = new CountDownLatch(1);
        watcher.getResetListenable().addListener(set::countDown);
        watcher.getListenable().addListener(event -> {
            if (event.getType() != Watcher.Event.EventType.None) {
                seen.add(event.getType() + " " + event.getPath());
            }
        });
        watcher.start();
        must("it is set", set.await(LIMIT_MS, TimeUnit.MILLISECONDS));
        a.create().forPath("/watched");
        a.create().forPath("/watched/x");
        a.setData().forPath("/watched/x", bytes("1"));
        a.delete().forPath("/watched/x");
        List<String> all = new ArrayList<>();
        while (all.size() < 4) {
            all.add(take(seen));
        }
        watcher.close();
        return String.join(", ", all);
    }

    // ----------------------------------------------------------------- nodes

    @SuppressWarnings("deprecation")
    static String persistentNode() throws Exception {
        PersistentNode node = new PersistentNode(a, CreateMode.EPHEMERAL, false, "/persistent/node", bytes("1"));
        node.start();
        must("it is made", node.waitForInitialCreate(LIMIT_MS, TimeUnit.MILLISECONDS));
        long first = a.checkExists().forPath("/persistent/node").getCzxid();
        await("b sees it", () -> b.checkExists().forPath("/persistent/node") != null);
        b.delete().forPath("/persistent/node");
        await("it is made again", () -> {
            Stat stat = b.checkExists().forPath("/persistent/node");
            return stat != null && stat.getCzxid() > first;
        });
        node.setData(bytes("2"));
        await("it has other data", () -> text(b.getData().forPath("/persistent/node")).equals("2"));
        node.close();
        await("it is gone", () -> b.checkExists().forPath("/persistent/node") == null);
        PersistentNode sequential =
            new PersistentNode(a, CreateMode.PERSISTENT_SEQUENTIAL, false, "/persistent/seq-", bytes("3"));
        sequential.start();
        must("it is made", sequential.waitForInitialCreate(LIMIT_MS, TimeUnit.MILLISECONDS));
        String path = sequential.getActualPath();
        sequential.close();
        return "made again after its deletion; " + path;
    }

    static String persistentTtlNode() throws Exception {
        PersistentTtlNode node = new PersistentTtlNode(a, "/ttl", 2000, bytes("1"));
        node.start();
        must("it is made", node.waitForInitialCreate(LIMIT_MS, TimeUnit.MILLISECONDS));
        await("b sees both", () -> b.checkExists().forPath("/ttl/" + PersistentTtlNode.DEFAULT_CHILD_NODE_NAME) != null);
        Stat stat = a.checkExists().forPath("/ttl"), touch = a.checkExists().forPath("/ttl/" + PersistentTtlNode.DEFAULT_CHILD_NODE_NAME);
        node.close();
        return "owner " + stat.getEphemeralOwner() + ", of the touch node " + touch.getEphemeralOwner();
    }

    static String groupMember() throws Exception {
        GroupMember one = new GroupMember(a, "/group", "one", bytes("1"));
        GroupMember two = new GroupMember(b, "/group", "two", bytes("2"));
        one.start();
        two.start();
        await("each sees both", () -> one.getCurrentMembers().size() == 2 && two.getCurrentMembers().size() == 2);
        two.setThisData(bytes("3"));
        await("the new data arrive", () -> text(one.getCurrentMembers().get("two")).equals("3"));
        String all = new TreeSet<>(one.getCurrentMembers().keySet()).toString();
        two.close();
        await("one is left", () -> one.getCurrentMembers().size() == 1);
        one.close();
        return all;
    }

    // ---------------------------------------------------------- the framework

    static String transaction() throws Exception {
        List<CuratorTransactionResult> results = a.transaction().forOperations(
            a.transactionOp().create().forPath("/tx", bytes("1")),
            a.transactionOp().create().withMode(CreateMode.PERSISTENT_SEQUENTIAL).forPath("/tx/s-", bytes("2")),
            a.transactionOp().create().withMode(CreateMode.EPHEMERAL).forPath("/tx/e"),
            a.transactionOp().create().withMode(CreateMode.CONTAINER).forPath("/tx/c"),
            a.transactionOp().create().withTtl(60_000).withMode(CreateMode.PERSISTENT_WITH_TTL).forPath("/tx/t"),
            a.transactionOp().setData().withVersion(0).forPath("/tx", bytes("3")),
            a.transactionOp().check().withVersion(1).forPath("/tx"),
            a.transactionOp().delete().forPath("/tx/e"));
        String all = results.stream()
            .map(one -> one.getType() + " " + one.getForPath() + " " + one.getResultPath() + " " + stat(one.getResultStat()))
            .collect(Collectors.joining(", "));
        String failure = failure(() -> a.transaction().forOperations(
            a.transactionOp().setData().forPath("/tx", bytes("4")),
            a.transactionOp().create().forPath("/tx", bytes("5")),
            a.transactionOp().delete().forPath("/tx")));
        equal("3", text(a.getData().forPath("/tx")));
        return all + "; then " + failure;
    }

    @SuppressWarnings("deprecation")
    static String transactionChain() throws Exception {
        Collection<CuratorTransactionResult> results = a.inTransaction()
            .create().forPath("/chain", bytes("1"))
            .and().setData().forPath("/chain", bytes("2"))
            .and().check().forPath("/chain")
            .and().commit();
        return results.stream().map(one -> one.getType() + " " + one.getForPath()).collect(Collectors.joining(", "));
    }

    static String frameworkCreate() throws Exception {
        List<String> all = new ArrayList<>();
        all.add(a.create().creatingParentsIfNeeded().forPath("/create/x/y", bytes("1")));
        all.add(a.create().creatingParentContainersIfNeeded().forPath("/create/container/y"));
        all.add(a.create().orSetData().forPath("/create/x/y", bytes("2")));
        Stat stat = new Stat();
        all.add(a.create().storingStatIn(stat).withMode(CreateMode.EPHEMERAL_SEQUENTIAL).forPath("/create/e-"));
        String guarded = a.create().withProtection().withMode(CreateMode.EPHEMERAL_SEQUENTIAL).forPath("/create/p-");
        all.add(guarded.replaceAll("_c_[0-9a-f-]{36}-", "_c_id-"));
        all.add(a.create().idempotent().forPath("/create/i", bytes("1")));
        all.add(a.create().idempotent().forPath("/create/i", bytes("1")));
        all.add(a.create().withTtl(60_000).withMode(CreateMode.PERSISTENT_SEQUENTIAL_WITH_TTL).forPath("/create/t-"));
        all.add(a.create().compressed().forPath("/create/z", bytes("packed")));
        equal("packed", text(a.getData().decompressed().forPath("/create/z")));
        equal(a.getZookeeperClient().getZooKeeper().getSessionId(), stat.getEphemeralOwner());
        all.add(failure(() -> a.create().forPath("/create/i")));
        all.add(failure(() -> a.create().forPath("/create/none/i")));
        all.add(failure(() -> a.create().forPath("/create/e-0000000003/i")));
        return String.join(" ", all);
    }

    static String frameworkDelete() throws Exception {
        a.create().creatingParentsIfNeeded().forPath("/delete/x/y/z");
        a.create().forPath("/delete/g");
        List<String> all = new ArrayList<>();
        all.add(failure(() -> a.delete().forPath("/delete")));
        all.add(failure(() -> a.delete().withVersion(3).forPath("/delete/g")));
        a.delete().guaranteed().forPath("/delete/g");
        a.delete().deletingChildrenIfNeeded().forPath("/delete/x");
        a.delete().quietly().forPath("/delete/none");
        a.delete().idempotent().withVersion(0).forPath("/delete/none");
        all.add(failure(() -> a.delete().forPath("/delete/none")));
        ZKPaths.mkdirs(a.getZookeeperClient().getZooKeeper(), "/delete/m/n");
        ZKPaths.deleteChildren(a.getZookeeperClient().getZooKeeper(), "/delete", true);
        all.add(String.valueOf(a.checkExists().forPath("/delete")));
        return String.join(" ", all);
    }

    static String frameworkBackground() throws Exception {
        BlockingQueue<String> seen = new LinkedBlockingQueue<>();
        BackgroundCallback tell = (client, event) -> seen.add(told(event));
        List<String> all = new ArrayList<>();
        a.create().inBackground(tell).forPath("/background", bytes("1"));
        all.add(take(seen));
        a.setData().inBackground(tell).forPath("/background", bytes("2"));
        all.add(take(seen));
        a.getData().inBackground(tell).forPath("/background");
        all.add(take(seen));
        a.checkExists().inBackground(tell).forPath("/background/none");
        all.add(take(seen));
        a.getChildren().inBackground(tell).forPath("/background");
        all.add(take(seen));
        a.getACL().inBackground(tell).forPath("/background");
        all.add(take(seen));
        a.sync().inBackground(tell).forPath("/background");
        all.add(take(seen));
        a.transaction().inBackground(tell).forOperations(a.transactionOp().check().forPath("/background"));
        all.add(take(seen));
        a.delete().inBackground(tell).forPath("/background");
        all.add(take(seen));
        return String.join(", ", all);
    }

    static String told(CuratorEvent event) {
        return event.getType() + " " + KeeperException.Code.get(event.getResultCode());
    }

    static String frameworkNamespace() throws Exception {
        CuratorFramework inside = b.usingNamespace("namespace");
        inside.create().creatingParentsIfNeeded().forPath("/x/y", bytes("1"));
        await("a sees it", () -> a.checkExists().forPath("/namespace/x/y") != null);
        BlockingQueue<String> seen = new LinkedBlockingQueue<>();
        inside.getData().usingWatcher((Watcher) event -> seen.add(event.getPath())).forPath("/x/y");
        a.setData().forPath("/namespace/x/y", bytes("2"));
        equal("/x/y", take(seen));
        CuratorFramework chroot = curator(connect + "/namespace");
        equal("[y]", chroot.getChildren().forPath("/x").toString());
        InterProcessMutex lock = new InterProcessMutex(chroot, "/lock");
        lock.acquire();
        lock.release();
        chroot.close();
        return "/x/y";
    }

    static String frameworkWatches() throws Exception {
        a.create().forPath("/watches");
        BlockingQueue<String> seen = new LinkedBlockingQueue<>();
        Watcher watcher = event -> seen.add(event.getType() + " " + event.getPath());
        await("b sees it", () -> b.checkExists().forPath("/watches") != null);
        b.watchers().add().withMode(AddWatchMode.PERSISTENT_RECURSIVE).usingWatcher(watcher).forPath("/watches");
        a.create().forPath("/watches/x");
        String all = take(seen);
        b.watchers().remove(watcher).forPath("/watches");
        all += ", " + take(seen);
        b.getChildren().usingWatcher(watcher).forPath("/watches");
        b.watches().removeAll().ofType(Watcher.WatcherType.Children).forPath("/watches");
        all += ", " + take(seen);
        return all + ", " + failure(() -> b.watches().removeAll().forPath("/watches"));
    }

    static String frameworkAuth() throws Exception {
        CuratorFramework user = builder(connect).authorization("digest", bytes("user:secret")).build();
        user.start();
        user.create().withACL(Ids.CREATOR_ALL_ACL).forPath("/auth", bytes("1"));
        await("a sees it", () -> a.checkExists().forPath("/auth") != null);
        String all = failure(() -> a.getData().forPath("/auth")) + " " + failure(() -> a.setData().forPath("/auth"));
        all += " " + user.getACL().forPath("/auth");
        user.setACL().withACL(Ids.READ_ACL_UNSAFE).forPath("/auth");
        await("a may read it", () -> failure(() -> a.getData().forPath("/auth")).equals("no failure"));
        user.close();
        return all;
    }

    static String frameworkConfig() throws Exception {
        byte[] config = a.getConfig().forEnsemble();
        long members = text(config).lines().filter(line -> line.startsWith("server.")).count();
        String versions = text(config).lines().filter(line -> line.startsWith("version=")).collect(Collectors.joining());
        return members + " lines of servers, " + versions + "; " + failure(() -> a.reconfig().leaving("3").forEnsemble());
    }

    // ----------------------------------------------------------- small things

    static CuratorFrameworkFactory.Builder builder(String connect) {
        return CuratorFrameworkFactory.builder()
            .connectString(connect)
            .sessionTimeoutMs(SESSION_MS)
            .connectionTimeoutMs(LIMIT_MS)
            .retryPolicy(new ExponentialBackoffRetry(100, 3));
    }

    static CuratorFramework curator(String connect) throws Exception {
        CuratorFramework client = builder(connect).build();
        client.start();
        must("it connects", client.blockUntilConnected(LIMIT_MS, TimeUnit.MILLISECONDS));
        return client;
    }

    static List<String> children(CuratorFramework client, String path) throws Exception {
        return client.getChildren().forPath(path);
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static String text(byte[] bytes) {
        return bytes == null ? "null" : new String(bytes, StandardCharsets.UTF_8);
    }

    /** What of a stat does not depend on the run. */
    static String stat(Stat stat) {
        if (stat == null) {
            return "-";
        }
        String owner = stat.getEphemeralOwner() == 0 ? "" : " owned";
        String moved = (stat.getMzxid() > stat.getCzxid() ? " m" : "") + (stat.getPzxid() > stat.getCzxid() ? " p" : "");
        return "v" + stat.getVersion() + " c" + stat.getCversion() + " a" + stat.getAversion()
            + " n" + stat.getNumChildren() + " l" + stat.getDataLength() + moved + owner;
    }

    static void must(String what, boolean holds) {
        if (!holds) {
            throw new IllegalStateException("not so: " + what);
        }
    }

    static void equal(Object wanted, Object seen) {
        if (wanted == null ? seen != null : !wanted.equals(seen)) {
            throw new IllegalStateException("wanted " + wanted + ", seen " + seen);
        }
    }

    /** Waits until that is so. */
    static void await(String what, Callable<Boolean> condition) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LIMIT_MS);
        while (!condition.call()) {
            if (System.nanoTime() > deadline) {
                throw new TimeoutException("not within " + LIMIT_MS + " ms: " + what);
            }
            Thread.sleep(5);
        }
    }

    static <T> T get(Future<T> future) throws Exception {
        return future.get(LIMIT_MS, TimeUnit.MILLISECONDS);
    }

    static <T> T take(BlockingQueue<T> queue) throws Exception {
        T next = queue.poll(LIMIT_MS, TimeUnit.MILLISECONDS);
        must("something comes", next != null);
        return next;
    }

    /** The code of the error that this meets. */
    static String failure(Callable<?> body) throws Exception {
        try {
            body.call();
            return "no failure";
        } catch (KeeperException error) {
            return error.code().toString();
        }
    }

    // ------------------------------------------------------- the plain client

    /** ZooKeeper's own client: every operation, and every kind of watch. */
    static class JavaClient {
        static void addTo(Map<String, Callable<String>> all) {
            all.put("client-create", JavaClient::create);
            all.put("client-create-2", JavaClient::createWithStat);
            all.put("client-paths", JavaClient::paths);
            all.put("client-data", JavaClient::data);
            all.put("client-delete", JavaClient::delete);
            all.put("client-stats", JavaClient::stats);
            all.put("client-children", JavaClient::listChildren);
            all.put("client-acl", JavaClient::acl);
            all.put("client-multi", JavaClient::multi);
            all.put("client-multi-fails", JavaClient::multiFails);
            all.put("client-multi-read", JavaClient::multiRead);
            all.put("client-async", JavaClient::async);
            all.put("client-sync", JavaClient::sync);
            all.put("client-watches", JavaClient::watches);
            all.put("client-watch-order", JavaClient::watchOrder);
            all.put("client-persistent-watches", JavaClient::persistentWatches);
            all.put("client-remove-watches", JavaClient::removeWatches);
            all.put("client-ephemerals", JavaClient::ephemerals);
            all.put("client-count", JavaClient::count);
            all.put("client-auth", JavaClient::auth);
            all.put("client-size", JavaClient::size);
            all.put("client-large", JavaClient::large);
            all.put("client-read-only", JavaClient::readOnly);
            all.put("client-session", JavaClient::session);
            all.put("client-re-attach", JavaClient::reAttach);
            all.put("client-moved", JavaClient::moved);
            all.put("client-wrong-password", JavaClient::wrongPassword);
            all.put("client-close", JavaClient::close);
            all.put("client-chroot", JavaClient::chroot);
            all.put("client-system", JavaClient::system);
            all.put("client-pipelined", JavaClient::pipelined);
            all.put("client-pings", JavaClient::pings);
        }

        /** What happens to a session or one of its watches, as `type path` or as the state. */
        static class Events implements Watcher {
            final BlockingQueue<String> seen = new LinkedBlockingQueue<>();

            @Override
            public void process(WatchedEvent event) {
                boolean ofSession = event.getType() == Event.EventType.None;
                seen.add(ofSession ? event.getState().toString() : event.getType() + " " + event.getPath());
            }

            String next() throws Exception {
                return take(seen);
            }

            String next(int count) throws Exception {
                List<String> all = new ArrayList<>();
                while (all.size() < count) {
                    all.add(next());
                }
                return String.join(", ", all);
            }
        }

        /** What is read next on this connection is as new as this call. */
        static void sync(ZooKeeper zk, String path) {
            zk.sync(path, (rc, of, context) -> { }, null);
        }

        static ZooKeeper client(Events events) throws Exception {
            return client(connect, events);
        }

        static ZooKeeper client(String connect, Events events) throws Exception {
            ZooKeeper zk = new ZooKeeper(connect, SESSION_MS, events);
            equal("SyncConnected", events.next());
            return zk;
        }

        static String create() throws Exception {
            ZooKeeper zk = client(new Events());
            List<String> all = new ArrayList<>();
            zk.create("/modes", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            for (CreateMode mode : CreateMode.values()) {
                String path;
                if (mode.isTTL()) {
                    path = zk.create("/modes/t", bytes("1"), Ids.OPEN_ACL_UNSAFE, mode, null, 60_000);
                } else {
                    path = zk.create("/modes/" + mode.toFlag() + "-", bytes("1"), Ids.OPEN_ACL_UNSAFE, mode);
                }
                Stat stat = zk.exists(path, false);
                must("only ephemeral znodes have an owner",
                    stat.getEphemeralOwner() == (mode.isEphemeral() ? zk.getSessionId() : 0));
                all.add(path + " " + stat(stat));
            }
            for (CreateMode mode : CreateMode.values()) {
                if (!mode.isTTL()) {
                    all.add(failure(() -> zk.create("/none/x", null, Ids.OPEN_ACL_UNSAFE, mode)));
                }
            }
            all.add(failure(() -> zk.create("/modes", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT)));
            all.add(failure(() -> zk.create("/modes/1-/x", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT)));
            all.add(failure(() -> zk.create("/modes/x", null, new ArrayList<>(), CreateMode.PERSISTENT)));
            all.add(failure(() -> zk.create("/modes/x", null, Ids.CREATOR_ALL_ACL, CreateMode.PERSISTENT)));
            all.add(failure(() -> zk.create("/modes/x", null, Arrays.asList(new ACL(Perms.ALL, new Id("digest", "no colon"))), CreateMode.PERSISTENT)));
            zk.close();
            return String.join(", ", all);
        }

        static String createWithStat() throws Exception {
            ZooKeeper zk = client(new Events());
            List<String> all = new ArrayList<>();
            zk.create("/stats", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            for (CreateMode mode : CreateMode.values()) {
                Stat stat = new Stat();
                long ttl = mode.isTTL() ? 1 : -1;
                String path = mode.isTTL() ? "/stats/ttl" : "/stats/" + mode.toFlag() + "-";
                all.add(zk.create(path, bytes("12"), Ids.OPEN_ACL_UNSAFE, mode, stat, ttl) + " " + stat(stat));
            }
            zk.close();
            return String.join(", ", all);
        }

        static String paths() throws Exception {
            ZooKeeper zk = client(new Events());
            zk.create("/paths", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            List<String> all = new ArrayList<>();
            for (String name : List.of("a b", "...", ".a", "a.", "%", "\u00e9", "\u4e2d\u6587", "\uf900", "-", "0")) {
                zk.create("/paths/" + name, bytes(name), Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
                equal(name, text(zk.getData("/paths/" + name, false, null)));
                all.add(name);
            }
            all.add(String.join("|", zk.getChildren("/paths", false)));
            // A sequence number completes a path that the client alone would refuse.
            all.add(zk.create("/paths/", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT_SEQUENTIAL));
            zk.close();
            return String.join(" ", all);
        }

        static String data() throws Exception {
            ZooKeeper zk = client(new Events());
            zk.create("/data", bytes("1"), Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            List<String> all = new ArrayList<>();
            all.add(stat(zk.setData("/data", bytes("22"), 0)));
            all.add(stat(zk.setData("/data", bytes("22"), -1)));
            all.add(failure(() -> zk.setData("/data", bytes("3"), 0)));
            all.add(failure(() -> zk.setData("/data", bytes("3"), -2)));
            all.add(failure(() -> zk.setData("/data/none", bytes("3"), -1)));
            Stat stat = new Stat();
            all.add(text(zk.getData("/data", false, stat)) + " " + stat(stat));
            all.add(failure(() -> zk.getData("/data/none", false, null)));
            zk.setData("/data", null, -1);
            all.add(text(zk.getData("/data", false, stat)) + " " + stat(stat));
            zk.setData("/data", new byte[0], -1);
            all.add("'" + text(zk.getData("/data", false, stat)) + "' " + stat(stat));
            all.add(String.valueOf(zk.exists("/data/none", false)));
            all.add(stat(zk.setData("/", bytes("root"), -1)).startsWith("v") ? "the root has data" : "");
            zk.setData("/", new byte[0], -1);
            zk.close();
            return String.join(", ", all);
        }

        static String delete() throws Exception {
            ZooKeeper zk = client(new Events());
            zk.create("/del", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            zk.create("/del/x", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            List<String> all = new ArrayList<>();
            all.add(failure(() -> { zk.delete("/del", -1); return null; }));
            all.add(failure(() -> { zk.delete("/del/x", 1); return null; }));
            all.add(failure(() -> { zk.delete("/del/none", -1); return null; }));
            all.add(failure(() -> { zk.delete("/none/none", -1); return null; }));
            all.add(failure(() -> { zk.delete("/zookeeper", -1); return null; }));
            all.add(failure(() -> { zk.delete("/zookeeper/quota", -1); return null; }));
            all.add(failure(() -> { zk.delete("/", -1); return null; }));
            zk.delete("/del/x", 0);
            all.add(stat(zk.exists("/del", false)));
            zk.close();
            return String.join(", ", all);
        }

        static String stats() throws Exception {
            ZooKeeper zk = client(new Events());
            zk.create("/stat", bytes("123"), Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            Stat before = zk.exists("/stat", false);
            equal(before.getCzxid(), before.getMzxid());
            equal(before.getCzxid(), before.getPzxid());
            equal(before.getCtime(), before.getMtime());
            long away = Math.abs(System.currentTimeMillis() - before.getCtime());
            must("ctime is about now", away < 60_000);
            zk.create("/stat/x", null, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
            Stat child = zk.exists("/stat/x", false), parent = zk.exists("/stat", false);
            equal(child.getCzxid(), parent.getPzxid());
            equal(before.getMtime(), parent.getMtime());
            List<String> all = new ArrayList<>();
            all.add(stat(parent));
            zk.setData("/stat/x", bytes("1"), -1);
            all.add(stat(zk.exists("/stat", false)));
            zk.delete("/stat/x", -1);
            all.add(stat(zk.exists("/stat", false)));
            all.add(stat(zk.setACL("/stat", Ids.OPEN_ACL_UNSAFE, 0)));
            all.add(stat(zk.exists("/stat", false)));
            // Zxids grow by one for each write, also for one that fails.
            long first = zk.setData("/stat", bytes("1"), -1).getMzxid();
            failure(() -> zk.setData("/stat", bytes("1"), 99));
            zk.exists("/stat", false);
            long second = zk.setData("/stat", bytes("1"), -1).getMzxid();
            all.add("zxids " + (second - first) + " apart");
            zk.close();
            return String.join(", ", all);
        }

        static String listChildren() throws Exception {
            ZooKeeper zk = client(new Events());
            zk.create("/list", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            for (int child = 0; child < 20; child++) {
                zk.create("/list/n" + child, null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            }
            zk.delete("/list/n3", -1);
            Stat stat = new Stat();
            String order = String.join(" ", zk.getChildren("/list", false));
            equal(order, String.join(" ", zk.getChildren("/list", false, stat)));
            zk.getChildren("/list/n1", false).forEach(child -> must("none", false));
            String all = order + ", " + stat(stat) + ", " + failure(() -> zk.getChildren("/list/none", false));
            zk.close();
            return all;
        }

        static String acl() throws Exception {
            ZooKeeper zk = client(new Events()), other = client(new Events());
            zk.addAuthInfo("digest", bytes("user:secret"));
            List<String> all = new ArrayList<>();
            Id user = new Id("digest", DigestAuthenticationProvider.generateDigest("user:secret"));
            zk.create("/acl", bytes("1"), Arrays.asList(new ACL(Perms.READ | Perms.ADMIN, user)), CreateMode.PERSISTENT);
            Stat stat = new Stat();
            all.add(zk.getACL("/acl", stat) + " " + stat(stat));
            sync(other, "/acl");
            all.add(failure(() -> other.getData("/acl", false, null)));
            all.add(failure(() -> other.getChildren("/acl", false)));
            all.add(failure(() -> other.getACL("/acl", null)));
            all.add(failure(() -> other.exists("/acl", false)));
            all.add(failure(() -> other.getAllChildrenNumber("/acl")));
            all.add(failure(() -> other.setACL("/acl", Ids.OPEN_ACL_UNSAFE, -1)));
            all.add(failure(() -> zk.setData("/acl", bytes("2"), -1)));
            all.add(failure(() -> zk.create("/acl/x", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT)));
            all.add(failure(() -> zk.setACL("/acl", Ids.OPEN_ACL_UNSAFE, 3)));
            List<ACL> both = Arrays.asList(new ACL(Perms.READ, Ids.ANYONE_ID_UNSAFE), new ACL(Perms.ALL, user));
            all.add(stat(zk.setACL("/acl", both, 0)));
            sync(other, "/acl");
            all.add(String.valueOf(other.getACL("/acl", null)));
            zk.create("/acl/x", null, Ids.CREATOR_ALL_ACL, CreateMode.PERSISTENT);
            all.add(String.valueOf(zk.getACL("/acl/x", null)));
            all.add(failure(() -> zk.setACL("/acl", Arrays.asList(new ACL(Perms.ALL, new Id("none", "x"))), -1)));
            all.add(failure(() -> zk.setACL("/acl", Arrays.asList(new ACL(Perms.ALL, new Id("ip", "127.0.0.1/8")), new ACL(Perms.ALL, user)), -1)));
            zk.close();
            other.close();
            return String.join(", ", all);
        }

        static String results(List<OpResult> results) {
            List<String> all = new ArrayList<>();
            for (OpResult one : results) {
                if (one instanceof OpResult.CreateResult) {
                    OpResult.CreateResult made = (OpResult.CreateResult) one;
                    all.add("create " + made.getPath() + " " + stat(made.getStat()));
                } else if (one instanceof OpResult.SetDataResult) {
                    all.add("set " + stat(((OpResult.SetDataResult) one).getStat()));
                } else if (one instanceof OpResult.GetDataResult) {
                    OpResult.GetDataResult read = (OpResult.GetDataResult) one;
                    all.add("get " + text(read.getData()) + " " + stat(read.getStat()));
                } else if (one instanceof OpResult.GetChildrenResult) {
                    all.add("children " + ((OpResult.GetChildrenResult) one).getChildren());
                } else if (one instanceof OpResult.ErrorResult) {
                    all.add(KeeperException.Code.get(((OpResult.ErrorResult) one).getErr()).toString());
                } else {
                    all.add(one.getClass().getSimpleName());
                }
            }
            return String.join(", ", all);
        }

        static String multi() throws Exception {
            ZooKeeper zk = client(new Events());
            List<String> all = new ArrayList<>();
            all.add(results(zk.multi(List.of(
                Op.create("/multi", bytes("1"), Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT),
                Op.create("/multi/s-", bytes("2"), Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT_SEQUENTIAL),
                Op.create("/multi/e-", bytes("3"), Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL),
                Op.create("/multi/c", bytes("4"), Ids.OPEN_ACL_UNSAFE, CreateMode.CONTAINER),
                Op.create("/multi/t", bytes("5"), Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT_WITH_TTL, 1000),
                Op.setData("/multi/c", bytes("55"), 0),
                Op.check("/multi/c", 1),
                Op.delete("/multi/c", 1)))));
            all.add(stat(zk.exists("/multi", false)));
            all.add(results(zk.multi(new ArrayList<>())));
            Transaction transaction = zk.transaction();
            transaction.check("/multi", 0).setData("/multi", bytes("6"), 0).create("/multi/x", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            all.add(results(transaction.commit()));
            Stat x = zk.exists("/multi/x", false), parent = zk.exists("/multi", false);
            equal(x.getCzxid(), parent.getMzxid());
            zk.close();
            return String.join("; ", all);
        }

        static String multiFails() throws Exception {
            ZooKeeper zk = client(new Events());
            zk.create("/fails", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            List<String> all = new ArrayList<>();
            List<List<Op>> wrong = List.of(
                List.of(Op.create("/fails/x", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT), Op.check("/fails", 7), Op.delete("/fails/none", -1)),
                List.of(Op.setData("/fails", null, 3)),
                List.of(Op.delete("/fails/none", -1), Op.delete("/fails/none", -1)),
                List.of(Op.check("/fails/none", -1)),
                List.of(Op.create("/fails", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT)));
            for (List<Op> ops : wrong) {
                try {
                    zk.multi(ops);
                    all.add("no failure");
                } catch (KeeperException error) {
                    all.add(error.code() + " (" + results(error.getResults()) + ") at " + error.getPath());
                }
            }
            all.add(stat(zk.exists("/fails", false)));
            zk.close();
            return String.join("; ", all);
        }

        static String multiRead() throws Exception {
            ZooKeeper zk = client(new Events());
            zk.create("/reads", bytes("1"), Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            zk.create("/reads/x", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            String all = results(zk.multi(List.of(
                Op.getData("/reads"), Op.getChildren("/reads"), Op.getData("/reads/none"), Op.getData("/reads/x"),
                Op.getChildren("/reads/none"))));
            zk.close();
            return all;
        }

        static String async() throws Exception {
            ZooKeeper zk = client(new Events());
            BlockingQueue<String> seen = new LinkedBlockingQueue<>();
            AsyncCallback.StatCallback ofStat = (rc, path, context, stat) -> seen.add(code(rc) + " " + path + " " + stat(stat));
            AsyncCallback.VoidCallback ofVoid = (rc, path, context) -> seen.add(code(rc) + " " + path);
            zk.create("/async", bytes("1"), Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT,
                (AsyncCallback.StringCallback) (rc, path, context, name) -> seen.add(code(rc) + " " + name), null);
            zk.create("/async/x-", bytes("1"), Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT_SEQUENTIAL,
                (AsyncCallback.Create2Callback) (rc, path, context, name, stat) -> seen.add(code(rc) + " " + name + " " + stat(stat)), null);
            zk.exists("/async", false, ofStat, null);
            zk.setData("/async", bytes("2"), 0, ofStat, null);
            zk.setData("/async", bytes("2"), 0, ofStat, null);
            zk.getData("/async", false, (rc, path, context, data, stat) -> seen.add(code(rc) + " " + text(data) + " " + stat(stat)), null);
            zk.getChildren("/async", false, (AsyncCallback.ChildrenCallback) (rc, path, context, list) -> seen.add(code(rc) + " " + list), null);
            zk.getChildren("/async", false, (AsyncCallback.Children2Callback) (rc, path, context, list, stat) -> seen.add(code(rc) + " " + list + " " + stat(stat)), null);
            zk.getACL("/async", null, (rc, path, context, acl, stat) -> seen.add(code(rc) + " " + acl.size() + " " + stat(stat)), null);
            zk.setACL("/async", Ids.OPEN_ACL_UNSAFE, 0, ofStat, null);
            zk.getEphemerals("/", (rc, context, list) -> seen.add(code(rc) + " " + list), null);
            zk.getAllChildrenNumber("/async", (rc, path, context, number) -> seen.add(code(rc) + " " + number), null);
            zk.multi(List.of(Op.check("/async", 1)), (rc, path, context, results) -> seen.add(code(rc) + " " + results(results)), null);
            zk.sync("/async", ofVoid, null);
            zk.addWatch("/async", AddWatchMode.PERSISTENT, ofVoid, null);
            zk.delete("/async", -1, ofVoid, null);
            List<String> all = new ArrayList<>();
            while (all.size() < 16) {
                all.add(take(seen));
            }
            zk.close();
            return String.join(", ", all);
        }

        static KeeperException.Code code(int number) {
            return KeeperException.Code.get(number);
        }

        static String sync() throws Exception {
            String[] members = connect.split(",");
            ZooKeeper writer = client(members[0], new Events());
            ZooKeeper reader = client(members[members.length - 1], new Events());
            writer.create("/sync", bytes("0"), Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            for (int turn = 1; turn <= 100; turn++) {
                writer.setData("/sync", bytes(String.valueOf(turn)), -1);
                CountDownLatch synced = new CountDownLatch(1);
                reader.sync("/sync", (rc, path, context) -> synced.countDown(), null);
                equal(String.valueOf(turn), text(reader.getData("/sync", false, null)));
                must("sync is answered first", synced.await(LIMIT_MS, TimeUnit.MILLISECONDS));
            }
            writer.close();
            reader.close();
            return "100 reads after sync see the last write";
        }

        static String watches() throws Exception {
            Events ofSession = new Events(), data = new Events(), exists = new Events(), list = new Events();
            ZooKeeper zk = client(ofSession), other = client(new Events());
            List<String> all = new ArrayList<>();
            all.add(String.valueOf(zk.exists("/w", exists)));
            other.create("/w", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            all.add(exists.next());
            zk.exists("/w", exists);
            zk.getData("/w", data, null);
            zk.getChildren("/w", list);
            other.create("/w/x", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            all.add(list.next());
            other.setData("/w", bytes("1"), -1);
            all.add(exists.next() + " and " + data.next());
            zk.getChildren("/w", list);
            zk.getData("/w/x", true, null);
            other.delete("/w/x", -1);
            all.add(ofSession.next() + " and " + list.next());
            zk.getChildren("/w", list);
            zk.getData("/w", data, null);
            zk.exists("/w", exists);
            other.setACL("/w", Ids.OPEN_ACL_UNSAFE, -1);
            other.delete("/w", -1);
            all.add(exists.next() + " and " + data.next() + " and " + list.next());
            failure(() -> zk.getData("/w", data, null));
            other.create("/w", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            // A read that failed left no watch: a later event would have come before the answer to this.
            sync(zk, "/w");
            zk.exists("/w", false);
            must("no watch without a znode", data.seen.isEmpty());
            zk.close();
            all.add("at the end " + ofSession.next());
            other.close();
            return String.join(", ", all);
        }

        static String watchOrder() throws Exception {
            ZooKeeper zk = client(new Events()), other = client(new Events());
            other.create("/order", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            for (int turn = 0; turn < 50; turn++) {
                // Notifications and answers of asynchronous reads come on one thread, in the order of the connection.
                BlockingQueue<String> seen = new LinkedBlockingQueue<>();
                sync(zk, "/order");
                Stat old = new Stat();
                zk.getData("/order", event -> seen.add(event.getType().toString()), old);
                other.setData("/order", bytes(String.valueOf(turn)), -1);
                AsyncCallback.DataCallback reads = (rc, path, context, data, stat) ->
                    seen.add(stat.getVersion() > old.getVersion() ? "new" : "old");
                List<String> all = new ArrayList<>();
                while (!all.contains("new")) {
                    zk.getData("/order", false, reads, null);
                    all.add(take(seen));
                }
                must("the notification comes before the new data: " + all, all.contains("NodeDataChanged"));
            }
            zk.close();
            other.close();
            return "50 notifications before the data that they announce";
        }

        static String persistentWatches() throws Exception {
            Events plain = new Events(), recursive = new Events();
            ZooKeeper zk = client(new Events()), other = client(new Events());
            zk.addWatch("/pw", plain, AddWatchMode.PERSISTENT);
            zk.addWatch("/rw-watch", recursive, AddWatchMode.PERSISTENT_RECURSIVE);
            for (String top : List.of("/pw", "/rw-watch")) {
                other.create(top, null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
                other.create(top + "/x", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
                other.create(top + "/x/y", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
                other.setData(top + "/x/y", bytes("1"), -1);
                other.setData(top, bytes("1"), -1);
                other.delete(top + "/x/y", -1);
                other.delete(top + "/x", -1);
                other.delete(top, -1);
            }
            other.multi(List.of(
                Op.create("/rw-watch", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT),
                Op.create("/rw-watch/m", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT),
                Op.setData("/rw-watch", bytes("1"), -1)));
            String all = plain.next(5) + "; " + recursive.next(11);
            sync(zk, "/pw");
            zk.exists("/pw", false);
            must("there is no other event", plain.seen.isEmpty() && recursive.seen.isEmpty());
            zk.close();
            other.close();
            return all;
        }

        static String removeWatches() throws Exception {
            Events data = new Events(), list = new Events(), persistent = new Events();
            ZooKeeper zk = client(new Events()), other = client(new Events());
            zk.create("/rm", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            zk.getData("/rm", data, null);
            zk.getChildren("/rm", list);
            List<String> all = new ArrayList<>();
            zk.removeWatches("/rm", data, Watcher.WatcherType.Data, false);
            all.add(data.next());
            all.add(failure(() -> { zk.removeWatches("/rm", data, Watcher.WatcherType.Data, false); return null; }));
            zk.removeAllWatches("/rm", Watcher.WatcherType.Any, false);
            all.add(list.next());
            all.add(failure(() -> { zk.removeAllWatches("/rm", Watcher.WatcherType.Any, false); return null; }));
            zk.addWatch("/rm", persistent, AddWatchMode.PERSISTENT);
            zk.removeWatches("/rm", persistent, Watcher.WatcherType.Any, false);
            all.add(persistent.next());
            zk.addWatch("/rm", persistent, AddWatchMode.PERSISTENT_RECURSIVE);
            zk.removeAllWatches("/rm", Watcher.WatcherType.Any, true);
            all.add(persistent.next());
            other.setData("/rm", bytes("1"), -1);
            other.create("/rm/x", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            sync(zk, "/rm");
            zk.exists("/rm", false);
            must("no removed watch strikes", data.seen.isEmpty() && list.seen.isEmpty() && persistent.seen.isEmpty());
            zk.close();
            other.close();
            return String.join(", ", all);
        }

        static String ephemerals() throws Exception {
            ZooKeeper zk = client(new Events()), other = client(new Events());
            zk.create("/eph", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            zk.create("/eph/a1", null, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
            zk.create("/eph/a2", null, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
            zk.create("/eph/b1", null, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
            other.create("/eph/a3", null, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
            String all = new TreeSet<>(zk.getEphemerals()) + " " + new TreeSet<>(zk.getEphemerals("/eph/a"))
                + " " + zk.getEphemerals("/none") + " " + other.getEphemerals();
            zk.close();
            await("they go with their session", () -> other.getChildren("/eph", false).size() == 1);
            Stat stat = other.exists("/eph", false);
            other.close();
            return all + " " + stat(stat);
        }

        static String count() throws Exception {
            ZooKeeper zk = client(new Events());
            for (String path : List.of("/n", "/n/a", "/n/a/b", "/n/c", "/nn")) {
                zk.create(path, null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            }
            int root = zk.getAllChildrenNumber("/");
            zk.create("/n/d", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            String all = zk.getAllChildrenNumber("/n") + " " + zk.getAllChildrenNumber("/n/a/b") + " "
                + (zk.getAllChildrenNumber("/") - root) + " " + zk.getAllChildrenNumber("/zookeeper") + " "
                + failure(() -> zk.getAllChildrenNumber("/n/none"));
            zk.close();
            return all;
        }

        static String auth() throws Exception {
            Events events = new Events();
            ZooKeeper zk = client(events);
            List<String> all = new ArrayList<>();
            all.add(String.valueOf(zk.whoAmI().stream().map(one -> one.getAuthScheme() + ":" + one.getUser()).sorted().collect(Collectors.toList())));
            zk.addAuthInfo("digest", bytes("one:secret"));
            zk.addAuthInfo("digest", bytes("two:secret"));
            all.add(String.valueOf(zk.whoAmI().stream().map(one -> one.getAuthScheme() + ":" + one.getUser()).sorted().collect(Collectors.toList())));
            zk.create("/by-two", null, Ids.CREATOR_ALL_ACL, CreateMode.PERSISTENT);
            all.add(String.valueOf(zk.getACL("/by-two", null).stream().map(String::valueOf).sorted().collect(Collectors.toList())));
            zk.addAuthInfo("nonsense", bytes("x"));
            all.add(events.next());
            all.add(failure(() -> zk.exists("/", false)));
            all.add(String.valueOf(zk.getState()));
            zk.close();
            return String.join(", ", all);
        }

        static String size() throws Exception {
            Events events = new Events();
            ZooKeeper zk = client(events);
            zk.create("/size", new byte[1_000_000], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            List<String> all = new ArrayList<>();
            all.add(String.valueOf(zk.getData("/size", false, null).length));
            // 36 bytes are header, path, length and version.
            all.add(stat(zk.setData("/size", new byte[1_048_575 - 8 - 4 - 5 - 4 - 4], -1)));
            long session = zk.getSessionId();
            all.add(failure(() -> zk.setData("/size", new byte[1_048_575 - 8 - 4 - 5 - 4 - 4 + 1], -1)));
            all.add(events.next(2));
            equal(session, zk.getSessionId());
            all.add(stat(zk.setData("/size", new byte[1], -1)));
            zk.close();
            return String.join(", ", all);
        }

        static String large() throws Exception {
            ZooKeeper zk = client(new Events());
            zk.create("/large", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            List<Op> creates = new ArrayList<>(), reads = new ArrayList<>(), deletes = new ArrayList<>();
            for (int child = 0; child < 5000; child++) {
                String path = "/large/a-child-with-a-name-of-some-length-" + child;
                creates.add(Op.create(path, null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT));
                reads.add(Op.getData(path));
                deletes.add(Op.delete(path, 0));
            }
            List<String> all = new ArrayList<>();
            all.add(zk.multi(creates).size() + " made");
            all.add(zk.getChildren("/large", false).size() + " listed");
            all.add(zk.multi(reads).size() + " read");
            all.add(zk.multi(deletes).size() + " deleted");
            all.add(stat(zk.exists("/large", false)));
            zk.close();
            return String.join(", ", all);
        }

        static String readOnly() throws Exception {
            Events events = new Events();
            ZooKeeper zk = new ZooKeeper(connect, SESSION_MS, events, true);
            String all = events.next() + " " + zk.getState();
            zk.create("/read-only", null, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
            zk.close();
            return all;
        }

        static String session() throws Exception {
            Events events = new Events();
            List<String> all = new ArrayList<>();
            ZooKeeper zk = client(events);
            must("it has an id", zk.getSessionId() != 0);
            equal(16, zk.getSessionPasswd().length);
            all.add(zk.getState() + " " + zk.getSessionTimeout());
            zk.close();
            all.add(events.next() + " " + zk.getState());
            ZooKeeper longest = new ZooKeeper(connect, 10_000_000, events);
            equal("SyncConnected", events.next());
            all.add("longest over shortest " + longest.getSessionTimeout() / shortest());
            longest.close();
            all.add(failure(() -> zk.exists("/", false)));
            return String.join(", ", all);
        }

        static int shortest() throws Exception {
            Events events = new Events();
            ZooKeeper zk = new ZooKeeper(connect, 300, events);
            equal("SyncConnected", events.next());
            int timeout = zk.getSessionTimeout();
            zk.close();
            return timeout;
        }

        static String reAttach() throws Exception {
            String member = connect.split(",")[0];
            Events first = new Events(), second = new Events(), watch = new Events();
            ZooKeeper zk = client(member, first);
            zk.create("/attached", null, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
            zk.getData("/attached", watch, null);
            ZooKeeper again = new ZooKeeper(member, SESSION_MS, second, zk.getSessionId(), zk.getSessionPasswd());
            List<String> all = new ArrayList<>();
            all.add(second.next());
            equal(zk.getSessionId(), again.getSessionId());
            all.add(first.next());
            all.add(stat(again.exists("/attached", false)));
            all.add(again.getEphemerals().toString());
            // The first one tries again, and has the session back.
            all.add(first.next());
            all.add(second.next());
            zk.setData("/attached", null, -1);
            all.add(watch.next(3));
            zk.close();
            again.close();
            return String.join(", ", all);
        }

        static String moved() throws Exception {
            String[] members = connect.split(",");
            if (members.length == 1) {
                return "there is one member";
            }
            Events second = new Events();
            ZooKeeper zk = client(members[0], new Events());
            zk.create("/moved", null, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
            ZooKeeper again = new ZooKeeper(members[1], SESSION_MS, second, zk.getSessionId(), zk.getSessionPasswd());
            List<String> all = new ArrayList<>();
            all.add(second.next());
            sync(again, "/moved");
            all.add(stat(again.setData("/moved", null, -1)));
            // The member that it left serves reads, and the leader refuses its writes.
            all.add(failure(() -> zk.setData("/moved", null, -1)));
            again.close();
            zk.close();
            return String.join(", ", all);
        }

        static String wrongPassword() throws Exception {
            Events first = new Events(), second = new Events();
            ZooKeeper zk = client(first);
            ZooKeeper thief = new ZooKeeper(connect, SESSION_MS, second, zk.getSessionId(), new byte[16]);
            List<String> all = new ArrayList<>();
            all.add(second.next());
            thief.close();
            Events third = new Events();
            ZooKeeper stranger = new ZooKeeper(connect, SESSION_MS, third, 0x123456789abcdefL, new byte[16]);
            all.add(third.next());
            all.add(stranger.getState() + " " + failure(() -> stranger.exists("/", false)));
            stranger.close();
            zk.close();
            return String.join(", ", all);
        }

        static String close() throws Exception {
            Events events = new Events(), watch = new Events();
            ZooKeeper zk = client(events), other = client(new Events());
            zk.create("/closed", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            zk.create("/closed/e", null, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
            sync(other, "/closed");
            other.getChildren("/closed", watch);
            other.exists("/closed/e", watch);
            long id = zk.getSessionId();
            byte[] password = zk.getSessionPasswd();
            zk.close();
            String all = watch.next(2);
            all = Arrays.stream(all.split(", ")).sorted().collect(Collectors.joining(", "));
            Events late = new Events();
            ZooKeeper again = new ZooKeeper(connect, SESSION_MS, late, id, password);
            all += ", again: " + late.next();
            again.close();
            other.close();
            return all;
        }

        static String chroot() throws Exception {
            ZooKeeper plain = client(new Events());
            plain.create("/chroot", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            Events events = new Events(), watch = new Events();
            ZooKeeper zk = client(connect + "/chroot", events);
            List<String> all = new ArrayList<>();
            sync(zk, "/");
            zk.getChildren("/", watch);
            all.add(zk.create("/x-", null, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL));
            all.add(watch.next());
            all.add(zk.getChildren("/", false).toString());
            all.add(zk.getEphemerals().toString());
            all.add(results(zk.multi(List.of(Op.create("/m", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT), Op.delete("/m", -1)))));
            all.add(stat(zk.exists("/", false)));
            zk.close();
            plain.close();
            return String.join(", ", all);
        }

        static String system() throws Exception {
            ZooKeeper zk = client(new Events());
            List<String> all = new ArrayList<>();
            Stat stat = new Stat();
            all.add(new TreeSet<>(zk.getChildren("/zookeeper", false, stat)) + " " + stat(stat));
            all.add(stat(zk.exists("/zookeeper/quota", false)));
            all.add(zk.getACL("/zookeeper/config", stat) + " " + stat.getAversion() + " " + stat.getEphemeralOwner());
            all.add(failure(() -> zk.setData("/zookeeper/config", bytes("x"), -1)));
            all.add(failure(() -> zk.create("/zookeeper/config/x", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT)));
            all.add(zk.create("/zookeeper/mine", null, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL));
            all.add(failure(() -> zk.create("/", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT)));
            zk.close();
            return String.join(", ", all);
        }

        static String pipelined() throws Exception {
            ZooKeeper zk = client(new Events());
            zk.create("/pipe", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            BlockingQueue<String> seen = new LinkedBlockingQueue<>();
            for (int turn = 0; turn < 1000; turn++) {
                zk.create("/pipe/n-", bytes("x"), Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL,
                    (rc, path, context, name) -> seen.add(code(rc) + " " + name), null);
                zk.getChildren("/pipe", false, (rc, path, context, names, stat) ->
                    seen.add(code(rc) + " " + names.size() + " " + stat.getCversion()), null);
            }
            for (int turn = 0; turn < 1000; turn++) {
                equal(String.format("OK /pipe/n-%010d", turn), take(seen));
                equal("OK " + (turn + 1) + " " + (turn + 1), take(seen));
            }
            zk.close();
            return "2000 replies in order";
        }

        /** An idle session lives for longer than its timeout. */
        static String pings() throws Exception {
            Events events = new Events();
            ZooKeeper zk = new ZooKeeper(connect, 300, events);
            equal("SyncConnected", events.next());
            zk.create("/pinged", null, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
            String end = events.seen.poll(zk.getSessionTimeout() * 2L, TimeUnit.MILLISECONDS);
            equal(null, end);
            must("it is there", zk.exists("/pinged", false) != null);
            zk.close();
            return "an idle session lives";
        }
    }
}
