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
    /** More than a session timeout, in milliseconds. */
    private static final long LONG = 4000;

    private Holds() {}

    static void addTo(Map<String, Function<Driver, Driver.Scenario>> all) {
        all.put("mutex", driver -> new Mutex(driver, false, 0));
        all.put("limited-mutex", driver -> new Mutex(driver, true, 0));
        all.put("long-mutex", driver -> new Mutex(driver, false, LONG));
        all.put("read-write-lock", ReadWrite::new);
        all.put("downgraded-lock", Downgraded::new);
        all.put("semaphore", driver -> new Semaphore(driver, false));
        all.put("limited-semaphore", driver -> new Semaphore(driver, true));
        all.put("leader-latch", driver -> new Latch(driver, 30));
        all.put("long-leader-latch", driver -> new Latch(driver, LONG));
        all.put("leader-selector", driver -> new Selector(driver, false));
        all.put("interrupted-selector", driver -> new Selector(driver, true));
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
            // The connection may be a new session's before the listeners are told.
            driver.session();
            holds = true;
            tell(event);
            return true;
        }

        synchronized boolean isHeld() {
            return holds;
        }

        synchronized void ends() {
            if (holds) {
                holds = false;
                tell(end);
            }
        }

        /** Acquires, and tells an error as a refusal. */
        void acquire(InterProcessLock lock) throws Exception {
            try {
                lock.acquire();
            } catch (Throwable error) {
                tell("refused");
                throw error;
            }
        }

        /** It ends if it is held as this. */
        synchronized void ends(Object item) {
            if (item.equals(this.item)) {
                ends();
            }
        }

        @Override
        public void lost(ConnectionState state) {
            ends();
        }
    }

    private static final class Mutex extends Hold {
        private final boolean isLimited;
        private final long work;
        private InterProcessMutex mutex;

        Mutex(Driver driver, boolean isLimited, long work) {
            super(driver, "lock", "released");
            this.isLimited = isLimited;
            this.work = work;
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
            if (work > 0) {
                driver.works(work);
            } else {
                driver.works();
            }
            ends();
            mutex.release();
        }
    }

    private static class ReadWrite extends Hold {
        InterProcessReadWriteLock lock;

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
            acquire(part);
            begins("acquired");
            driver.works();
            ends();
            part.release();
        }
    }

    /** A writer that becomes a reader, as the javadoc describes it. */
    private static final class Downgraded extends ReadWrite {
        Downgraded(Driver driver) {
            super(driver);
        }

        @Override
        public void round() throws Exception {
            asks("write");
            acquire(lock.writeLock());
            boolean begun = begins("acquired");
            boolean reads = false;
            try {
                driver.works();
                lock.readLock().acquire();
                reads = true;
                ends();
                if (begun) {
                    asks("read");
                    begins("acquired");
                }
            } finally {
                ends("write");
                lock.writeLock().release();
            }
            try {
                driver.works();
            } finally {
                ends();
                if (reads) {
                    lock.readLock().release();
                }
            }
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
        private final long term;
        private LeaderLatch latch;
        private boolean asked;

        Latch(Driver driver, long term) {
            super(driver, "election", "deposed");
            this.term = term;
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
                driver.works(term);
                ends();
                latch.close();
                driver.pauses();
                open();
            }
        }
    }

    private static final class Selector extends Hold {
        private final boolean isInterrupted;
        private LeaderSelector selector;
        private volatile boolean waits;

        Selector(Driver driver, boolean isInterrupted) {
            super(driver, "election", "deposed");
            this.isInterrupted = isInterrupted;
        }

        @Override
        public void begin() {
            selector = new LeaderSelector(driver.client, driver.object, new LeaderSelectorListenerAdapter() {
                @Override
                public void takeLeadership(CuratorFramework client) throws Exception {
                    waits = false;
                    begins("leader");
                    try {
                        driver.works();
                    } finally {
                        ends();
                        if (!driver.rests) {
                            stands();
                        }
                    }
                }
            });
            selector.autoRequeue();
            stands();
            selector.start();
        }

        private void stands() {
            waits = true;
            asks(null);
        }

        @Override
        public void rest() throws Exception {
            while (waits) {
                driver.pauses();
            }
        }

        @Override
        public void round() throws Exception {
            driver.pauses();
            if (isInterrupted && selector.hasLeadership()) {
                long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(5);
                while (System.nanoTime() < until) {
                    selector.interruptLeadership();
                }
            }
        }
    }
}
