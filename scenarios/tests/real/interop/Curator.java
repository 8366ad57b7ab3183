// One session of Apache Curator, told on standard input what to do, with one line of JSON for each thing that happens.
//
//     acquire ID KIND PATH         take it in the background, KIND is lock, read or write: acquired
//     release ID                   give it back: released
//     turns ID KIND PATH COUNT     take it and give it back so many times, in the background: turned
//     ping                         pong
//
// Whoever holds PATH stands in PATH-inside, too, so that two who must not hold together find each other there: clash.
// The end of standard input is the end of the process, without a word to the server.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.CreateMode;

public class Curator {
    static CuratorFramework client;

    static synchronized void tell(String event, String id, String what) {
        String quoted = what.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", " ");
        System.out.println(
            "{\"event\":\"" + event + "\",\"id\":\"" + id + "\",\"what\":\"" + quoted + "\"}");
        System.out.flush();
    }

    interface Work {
        void run() throws Exception;
    }

    /** One contender: a thread of its own, since Curator's locks belong to threads. */
    static class Contender {
        final ExecutorService thread = Executors.newSingleThreadExecutor();
        final String id, kind, path;
        final InterProcessLock lock;
        String inside;

        Contender(String id, String kind, String path) {
            this.id = id;
            this.kind = kind;
            this.path = path;
            switch (kind) {
                case "read": lock = new InterProcessReadWriteLock(client, path).readLock(); break;
                case "write": lock = new InterProcessReadWriteLock(client, path).writeLock(); break;
                default: lock = new InterProcessMutex(client, path);
            }
        }

        void enter() throws Exception {
            lock.acquire();
            String mine = kind.equals("read") ? "read-" : "write-";
            inside = client.create().withMode(CreateMode.EPHEMERAL_SEQUENTIAL).forPath(path + "-inside/" + mine);
            List<String> all = client.getChildren().forPath(path + "-inside");
            boolean writers = all.stream().anyMatch(name -> name.startsWith("write-"));
            if (writers && all.size() > 1) {
                tell("clash", id, all.toString());
            }
        }

        void leave() throws Exception {
            client.delete().forPath(inside);
            lock.release();
        }

        void start(Work work) {
            thread.submit(() -> {
                try {
                    work.run();
                } catch (Throwable error) {
                    tell("error", id, error.toString());
                }
            });
        }
    }

    public static void main(String[] arguments) throws Exception {
        client = CuratorFrameworkFactory.builder()
            .connectString(arguments[0])
            .sessionTimeoutMs(Integer.parseInt(arguments[1]))
            .connectionTimeoutMs(15000)
            .retryPolicy(new ExponentialBackoffRetry(200, 5))
            .ensembleTracker(false)
            .build();
        client.start();
        client.blockUntilConnected(60, TimeUnit.SECONDS);
        tell("ready", "", "");
        Map<String, Contender> contenders = new ConcurrentHashMap<>();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            String[] words = line.split(" ");
            switch (words[0]) {
                case "acquire": {
                    Contender one = new Contender(words[1], words[2], words[3]);
                    contenders.put(one.id, one);
                    one.start(() -> { one.enter(); tell("acquired", one.id, ""); });
                    break;
                }
                case "release": {
                    Contender one = contenders.remove(words[1]);
                    one.start(() -> { one.leave(); tell("released", one.id, ""); });
                    break;
                }
                case "turns": {
                    Contender one = new Contender(words[1], words[2], words[3]);
                    int count = Integer.parseInt(words[4]);
                    one.start(() -> {
                        for (int turn = 0; turn < count; turn++) {
                            one.enter();
                            one.leave();
                        }
                        tell("turned", one.id, "");
                    });
                    break;
                }
                default: tell("pong", "", "");
            }
        }
        Runtime.getRuntime().halt(0);
    }
}
