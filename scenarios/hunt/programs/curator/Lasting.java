import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.recipes.nodes.PersistentNode;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.zookeeper.CreateMode;

/** What lasts longer than a session: it is kept until the client rests, as a service does. */
final class Lasting {
    private Lasting() {}

    static void addTo(Map<String, Function<Driver, Driver.Scenario>> all) {
        all.put("lasting-selector", Selector::new);
        all.put("lasting-latch", Latch::new);
        all.put("lasting-node", Node::new);
    }

    /** A selector with autoRequeue. Its work ends when its thread is interrupted, or the connection is lost. */
    private static final class Selector extends Holds.Hold {
        private LeaderSelector selector;
        private volatile boolean waits;

        Selector(Driver driver) {
            super(driver, "election", "deposed");
        }

        @Override
        public void begin() {
            selector = new LeaderSelector(driver.client, driver.object, new LeaderSelectorListenerAdapter() {
                @Override
                public void takeLeadership(CuratorFramework client) throws Exception {
                    if (!waits) {
                        return;
                    }
                    waits = false;
                    begins("leader");
                    try {
                        while (isHeld() && !driver.rests) {
                            TimeUnit.MILLISECONDS.sleep(5);
                        }
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
        public void round() throws Exception {
            driver.pauses();
        }

        @Override
        public void rest() throws Exception {
            while (waits || isHeld()) {
                driver.pauses();
            }
            selector.close();
        }

        @Override
        public void close() {
            selector.close();
        }
    }

    /** A latch. Believes what it says as long as there is a connection; its listener reports changes, and so does a look. */
    private static final class Latch extends Holds.Hold implements LeaderLatchListener {
        private LeaderLatch latch;
        private boolean asked;
        private boolean isClosed;

        Latch(Driver driver) {
            super(driver, "election", "deposed");
        }

        @Override
        public void begin() throws Exception {
            latch = new LeaderLatch(driver.client, driver.object, driver.name);
            latch.addListener(this);
            stands();
            latch.start();
        }

        private void stands() {
            if (!asked && !isClosed) {
                asked = true;
                asks(null);
            }
        }

        private synchronized void look() {
            boolean leads = latch.hasLeadership() && driver.connected && !isClosed;
            if (leads && !isHeld()) {
                stands();
                begins("leader");
                asked = false;
            } else if (!leads && isHeld()) {
                ends();
                stands();
            }
        }

        @Override
        public void isLeader() {
            look();
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
            driver.pauses();
            look();
        }

        @Override
        public void rest() throws Exception {
            while (!isHeld()) {
                driver.pauses();
                look();
            }
            close();
        }

        @Override
        public void close() throws Exception {
            // What the listeners hear from here on begins no leadership.
            synchronized (this) {
                isClosed = true;
                ends();
            }
            latch.close();
        }
    }

    /** A node of the client's name. It is a member from the creation on: the class keeps the node present. */
    private static final class Node implements Driver.Scenario {
        private final Driver driver;
        private PersistentNode node;

        Node(Driver driver) {
            this.driver = driver;
            driver.kind = "group";
        }

        @Override
        public void begin() throws Exception {
            driver.report("joins", driver.name);
            node = new PersistentNode(
                    driver.client, CreateMode.EPHEMERAL, false, driver.object + "/" + driver.name, new byte[0]);
            node.start();
            if (!node.waitForInitialCreate(30, TimeUnit.SECONDS)) {
                throw new IllegalStateException("no node after 30 s");
            }
            driver.report("joined", driver.name);
        }

        @Override
        public void round() throws Exception {
            driver.pauses();
        }

        @Override
        public void audit() throws Exception {
            List<String> children = driver.client.getChildren().forPath(driver.object);
            driver.report("members", children.isEmpty() ? "-" : String.join(",", new TreeSet<>(children)));
        }

        @Override
        public void close() throws Exception {
            driver.report("leaves", driver.name);
            node.close();
        }
    }
}
