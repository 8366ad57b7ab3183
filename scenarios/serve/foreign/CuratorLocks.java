// Cycles of one lock of Apache Curator: java -cp JARS:. CuratorLocks CONNECT CLIENTS SECONDS prints how many a second.

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryOneTime;

public class CuratorLocks {
    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[1]);
        double seconds = Double.parseDouble(args[2]);
        List<CuratorFramework> clients = new ArrayList<>();
        for (int number = 0; number < count; number++) {
            CuratorFramework client = CuratorFrameworkFactory.newClient(args[0], 20_000, 10_000, new RetryOneTime(100));
            client.start();
            client.blockUntilConnected();
            clients.add(client);
        }
        // What is compiled before is not measured.
        cycles(clients, 1.0);
        System.out.println(cycles(clients, seconds) / seconds);
        clients.forEach(CuratorFramework::close);
        System.exit(0);
    }

    static double cycles(List<CuratorFramework> clients, double seconds) throws Exception {
        long end = System.nanoTime() + (long) (seconds * 1e9);
        AtomicLong cycles = new AtomicLong();
        List<Thread> threads = new ArrayList<>();
        for (CuratorFramework client : clients) {
            Thread thread = new Thread(() -> {
                InterProcessMutex lock = new InterProcessMutex(client, "/curator-lock");
                try {
                    while (System.nanoTime() < end) {
                        lock.acquire();
                        cycles.incrementAndGet();
                        lock.release();
                    }
                } catch (Exception failed) {
                    throw new IllegalStateException(failed);
                }
            });
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        return cycles.get();
    }
}
