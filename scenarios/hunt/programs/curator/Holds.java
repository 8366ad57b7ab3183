import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.state.ConnectionState;

/** Locks, semaphores, elections. Whoever holds gives up at once when the connection is lost, as Curator's notes on errors demand. */
final class Holds {
    private Holds() {}

    static void addTo(Map<String, Function<Driver, Driver.Scenario>> all) {
        all.put("mutex", driver -> new Mutex(driver, false));
        all.put("limited-mutex", driver -> new Mutex(driver, true));
        all.put("read-write-lock", ReadWrite::new);
        all.put("semaphore", driver -> new Semaphore(driver, false));
        all.put("limited-semaphore", driver -> new Semaphore(driver, true));
        all.put("leader-latch", Latch::new);
        all.put("leader-selector", Selector::new);
    }

    /** What is held: told once when it begins, once when it ends. */
    abstract static class Hold implements Driver.Scenario {
        final Driver driver;
        private final String end;
        private boolean holds;
        private Object item;

        Hold(Driver driver, String kind, String end) {
            this.driver = driver;
            this.end = end;
            driver.kind = kind;
        }

        void tell(String event) {
            if (item == null) {
                driver.report(event);
            } else {
                driver.report(event, item);
            }
        }

        void asks(Object item) {
            this.item = item;
            tell("asks");
        }

        /** Whether it is held from now on: not if the connection was lost meanwhile. */
        synchronized boolean begins(String event) {
            if (!driver.connected) {
                tell("refused");
                return false;
            }
            holds = true;
            tell(event);
            return true;
        }

        synchronized void ends() {
            if (holds) {
                holds = false;
                tell(end);
            }
        }

        @Override
        public void lost(ConnectionState state) {
            ends();
        }
    }

    private static final class Mutex extends Hold {
        private final boolean isLimited;
        private InterProcessMutex mutex;

        Mutex(Driver driver, boolean isLimited) {
            super(driver, "lock", "released");
            this.isLimited = isLimited;
        }

        @Override
        public void round() throws Exception {
            if (mutex == null || isLimited) {
                mutex = new InterProcessMutex(driver.client, driver.object);
            }
            asks(null);
            boolean acquired = true;
            try {
                if (isLimited && driver.name.equals("a")) {
                    acquired = mutex.acquire(300, TimeUnit.MILLISECONDS);
                } else {
                    mutex.acquire();
                }
            } catch (Throwable error) {
                tell("refused");
                throw error;
            }
            if (!acquired) {
                tell("refused");
                return;
            }
            begins("acquired");
            driver.works();
            ends();
            mutex.release();
        }
    }

    private static final class ReadWrite extends Hold {
        private InterProcessReadWriteLock lock;

        ReadWrite(Driver driver) {
            super(driver, "shared_lock", "released");
        }

        @Override
        public void begin() {
            lock = new InterProcessReadWriteLock(driver.client, driver.object);
        }

        @Override
        public void round() throws Exception {
            boolean reads = driver.either();
            InterProcessLock part = reads ? lock.readLock() : lock.writeLock();
            asks(reads ? "read" : "write");
            try {
                part.acquire();
            } catch (Throwable error) {
                tell("refused");
                throw error;
            }
            begins("acquired");
            driver.works();
            ends();
            part.release();
        }
    }

    private static final class Semaphore extends Hold {
        private static final int LEASES = 2;
        private final boolean isLimited;
        private InterProcessSemaphoreV2 semaphore;

        Semaphore(Driver driver, boolean isLimited) {
            super(driver, "semaphore", "released");
            this.isLimited = isLimited;
        }

        @Override
        public void begin() {
            driver.report("limit", LEASES);
            semaphore = new InterProcessSemaphoreV2(driver.client, driver.object, LEASES);
        }

        @Override
        public void round() throws Exception {
            asks(null);
            Lease lease;
            try {
                lease = isLimited && driver.name.equals("a")
                        ? semaphore.acquire(300, TimeUnit.MILLISECONDS)
                        : semaphore.acquire();
            } catch (Throwable error) {
                tell("refused");
                throw error;
            }
            if (lease == null) {
                tell("refused");
                return;
            }
            begins("acquired");
            driver.works();
            ends();
            semaphore.returnLease(lease);
        }
    }

    /** Believes what the latch says; the listener tells when that ends. */
    private static final class Latch extends Hold implements LeaderLatchListener {
        private LeaderLatch latch;
        private boolean asked;

        Latch(Driver driver) {
            super(driver, "election", "deposed");
        }

        @Override
        public void begin() throws Exception {
            open();
        }

        private void open() throws Exception {
            latch = new LeaderLatch(driver.client, driver.object, driver.name);
            latch.addListener(this);
            stands();
            latch.start();
        }

        private synchronized void stands() {
            if (!asked) {
                asked = true;
                asks(null);
            }
        }

        @Override
        public synchronized void isLeader() {
            if (latch.hasLeadership() && asked && begins("leader")) {
                asked = false;
            } else if (asked && !driver.connected) {
                asked = false;
            }
        }

        @Override
        public synchronized void notLeader() {
            ends();
            stands();
        }

        @Override
        public void lost(ConnectionState state) {
            notLeader();
        }

        @Override
        public void round() throws Exception {
            driver.works();
            // A leader steps down now and then; the others wait.
            if (latch.hasLeadership()) {
                TimeUnit.MILLISECONDS.sleep(30);
                ends();
                latch.close();
                driver.pauses();
                open();
            }
        }
    }

    private static final class Selector extends Hold {
        private LeaderSelector selector;

        Selector(Driver driver) {
            super(driver, "election", "deposed");
        }

        @Override
        public void begin() {
            selector = new LeaderSelector(driver.client, driver.object, new LeaderSelectorListenerAdapter() {
                @Override
                public void takeLeadership(CuratorFramework client) throws Exception {
                    begins("leader");
                    try {
                        driver.works();
                    } finally {
                        ends();
                        if (!driver.rests) {
                            asks(null);
                        }
                    }
                }
            });
            selector.autoRequeue();
            asks(null);
            selector.start();
        }

        @Override
        public void round() throws Exception {
            driver.pauses();
        }
    }
}
