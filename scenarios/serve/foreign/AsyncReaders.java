import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

/**
 * Asks for a znode many times without waiting, with ZooKeeper's own client, while another session asks for one thing at a time.
 *
 * <p>Arguments: a connect string, the length of the znode, the number of reads. It prints the number of answers, and ends with status
 * 0 if there are as many as reads.
 */
public final class AsyncReaders {
    private static final int LIMIT_S = 120;

    private AsyncReaders() {}

    private static ZooKeeper open(String address) throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper zk = new ZooKeeper(address, 30_000, event -> {
            if (event.getState() == Watcher.Event.KeeperState.SyncConnected) {
                connected.countDown();
            }
        });
        if (!connected.await(LIMIT_S, TimeUnit.SECONDS)) {
            throw new IllegalStateException("no connection");
        }
        return zk;
    }

    public static void main(String[] arguments) throws Exception {
        int length = Integer.parseInt(arguments[1]);
        int reads = Integer.parseInt(arguments[2]);
        try (ZooKeeper zk = open(arguments[0]); ZooKeeper other = open(arguments[0])) {
            String path = "/read-" + length + "-" + reads;
            zk.create(path, new byte[length], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            CountDownLatch left = new CountDownLatch(reads);
            AtomicInteger answers = new AtomicInteger();
            for (int read = 0; read < reads; read++) {
                zk.getData(path, false, (code, of, context, data, stat) -> {
                    if (code == Code.OK.intValue() && data.length == length) {
                        answers.incrementAndGet();
                    }
                    left.countDown();
                }, null);
            }
            int beside = 0;
            while (left.getCount() > 0 && beside < 100_000) {
                other.exists(path, false);
                beside++;
            }
            left.await(LIMIT_S, TimeUnit.SECONDS);
            System.out.println(answers + " of " + reads + " reads of " + length + " bytes were answered");
            System.exit(answers.get() == reads && beside > 0 ? 0 : 1);
        }
    }
}
