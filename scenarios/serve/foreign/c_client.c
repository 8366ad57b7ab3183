// The C client of Apache ZooKeeper against any ensemble: c-client CONNECT CONTROL
//
// 1. Operations: every call that the library offers, with its result.
// 2. Watches: every kind, the order of their notifications, and their removal.
// 3. Access: digest identities, and what they are refused.
// 4. Sessions: re-attached by id and password after the process that opened it has died; refused with a wrong password.
// 5. Restarts: each member restarts, and the session, its ephemeral and its watches survive.
//
// One line for each thing that was checked. The first difference ends the program with status 1.

#include <arpa/inet.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

#define ROOT "/c-client"
#define TIMEOUT_MS 8000
#define DEADLINE_S 60
#define ANY (-1)

static const char *connect_string, *control;

// --- What is checked. ---

static void expect_text(const char *what, const char *got, const char *want) {
    printf("%s: %s\n", what, got);
    if (strcmp(got, want) != 0) {
        printf("FAILED %s: expected %s\n", what, want);
        exit(1);
    }
    fflush(stdout);
}

static void expect_number(const char *what, long got, long want) {
    char a[32], b[32];
    snprintf(a, sizeof a, "%ld", got);
    snprintf(b, sizeof b, "%ld", want);
    expect_text(what, a, b);
}

static void expect_code(const char *what, int got, int want) { expect_text(what, zerror(got), zerror(want)); }

static const char *text_of_stat(const struct Stat *stat) {
    static char text[200];
    snprintf(text, sizeof text, "version %d, cversion %d, aversion %d, length %d, children %d, %s, %s", stat->version,
             stat->cversion, stat->aversion, stat->dataLength, stat->numChildren,
             stat->ephemeralOwner ? "ephemeral" : "no owner", stat->czxid == stat->mzxid ? "unmodified" : "modified");
    return text;
}

// --- Sessions and their events. ---

struct event {
    int type, state;
    char path[100];
};

// A session, with the notifications of its watches and the state of its connection.
struct session {
    zhandle_t *handle;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct event events[100];
    int first, last;
    int state, losses;
};

static struct timespec deadline(void) {
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_sec += DEADLINE_S;
    return at;
}

static void hear(zhandle_t *handle, int type, int state, const char *path, void *context) {
    struct session *session = context;
    pthread_mutex_lock(&session->lock);
    if (type == ZOO_SESSION_EVENT) {
        session->losses += session->state == ZOO_CONNECTED_STATE && state != ZOO_CONNECTED_STATE;
        session->state = state;
    } else {
        struct event *event = &session->events[session->last++ % 100];
        event->type = type;
        event->state = state;
        snprintf(event->path, sizeof event->path, "%s", path);
    }
    pthread_cond_broadcast(&session->changed);
    pthread_mutex_unlock(&session->lock);
}

// The library tells every watcher about its connection. The session's own watcher has recorded that already.
static void hear_watch(zhandle_t *handle, int type, int state, const char *path, void *context) {
    if (type != ZOO_SESSION_EVENT) hear(handle, type, state, path, context);
}

static int wait_for_state(struct session *session, int wanted) {
    struct timespec limit = deadline();
    pthread_mutex_lock(&session->lock);
    while (session->state != wanted && pthread_cond_timedwait(&session->changed, &session->lock, &limit) == 0) {
    }
    int reached = session->state == wanted;
    pthread_mutex_unlock(&session->lock);
    return reached;
}

static const char *name_of_type(int type) {
    if (type == ZOO_CREATED_EVENT) return "created";
    if (type == ZOO_DELETED_EVENT) return "deleted";
    if (type == ZOO_CHANGED_EVENT) return "changed";
    if (type == ZOO_CHILD_EVENT) return "children changed";
    return "another event";
}

static void expect_event(const char *what, struct session *session, const char *want) {
    struct timespec limit = deadline();
    char got[200] = "no event";
    pthread_mutex_lock(&session->lock);
    while (session->first == session->last &&
           pthread_cond_timedwait(&session->changed, &session->lock, &limit) == 0) {
    }
    if (session->first != session->last) {
        struct event *event = &session->events[session->first++ % 100];
        snprintf(got, sizeof got, "%s %s", name_of_type(event->type), event->path);
    }
    pthread_mutex_unlock(&session->lock);
    expect_text(what, got, want);
}

static void expect_no_event(const char *what, struct session *session) {
    pthread_mutex_lock(&session->lock);
    int waiting = session->last - session->first;
    pthread_mutex_unlock(&session->lock);
    expect_number(what, waiting, 0);
}

static struct session *open_session(const char *servers, const clientid_t *id) {
    struct session *session = calloc(1, sizeof *session);
    pthread_mutex_init(&session->lock, NULL);
    pthread_cond_init(&session->changed, NULL);
    session->handle = zookeeper_init(servers, hear, TIMEOUT_MS, id, session, ZOO_NO_LOG_CLIENTENV);
    if (!session->handle) {
        perror("FAILED zookeeper_init");
        exit(1);
    }
    return session;
}

static struct session *connected(const char *what, const char *servers, const clientid_t *id) {
    struct session *session = open_session(servers, id);
    expect_text(what, wait_for_state(session, ZOO_CONNECTED_STATE) ? "connected" : "not connected", "connected");
    return session;
}

static const char *at(const char *name) {
    static char paths[8][100];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, 100, "%s/%s", ROOT, name);
    return path;
}

static int make(struct session *session, const char *path, const char *data, int mode) {
    return zoo_create(session->handle, path, data, strlen(data), &ZOO_OPEN_ACL_UNSAFE, mode, NULL, 0);
}

// --- Completions of asynchronous calls. ---

struct answer {
    pthread_mutex_t lock;
    pthread_cond_t done;
    int code, arrived;
};

static void answered(int code, const void *data) {
    struct answer *answer = (struct answer *)data;
    pthread_mutex_lock(&answer->lock);
    answer->code = code;
    answer->arrived = 1;
    pthread_cond_broadcast(&answer->done);
    pthread_mutex_unlock(&answer->lock);
}

static void answered_text(int code, const char *value, const void *data) { answered(code, data); }

static int wait_for(struct answer *answer) {
    struct timespec limit = deadline();
    pthread_mutex_lock(&answer->lock);
    while (!answer->arrived && pthread_cond_timedwait(&answer->done, &answer->lock, &limit) == 0) {
    }
    int code = answer->arrived ? answer->code : ZOPERATIONTIMEOUT;
    pthread_mutex_unlock(&answer->lock);
    return code;
}

#define NEW_ANSWER {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0}

static int sync_with(struct session *session, const char *path) {
    struct answer answer = NEW_ANSWER;
    int sent = zoo_async(session->handle, path, answered_text, &answer);
    return sent == ZOK ? wait_for(&answer) : sent;
}

static int add_auth(struct session *session, const char *scheme, const char *word) {
    struct answer answer = NEW_ANSWER;
    int sent = zoo_add_auth(session->handle, scheme, word, strlen(word), answered, &answer);
    return sent == ZOK ? wait_for(&answer) : sent;
}

// --- 1. Operations. ---

static void creates(struct session *one) {
    char path[100];
    struct Stat stat;
    expect_code("create: the root of this program", make(one, ROOT, "", ZOO_PERSISTENT), ZOK);
    expect_code("create: persistent", make(one, at("a"), "data", ZOO_PERSISTENT), ZOK);
    expect_code("create: it exists", make(one, at("a"), "", ZOO_PERSISTENT), ZNODEEXISTS);
    expect_code("create: no parent", make(one, at("no/child"), "", ZOO_PERSISTENT), ZNONODE);
    expect_code("create: ephemeral", make(one, at("e"), "", ZOO_EPHEMERAL), ZOK);
    expect_code("create: a child of an ephemeral", make(one, at("e/child"), "", ZOO_PERSISTENT), ZNOCHILDRENFOREPHEMERALS);
    expect_code("create: a directory", make(one, at("s"), "", ZOO_PERSISTENT), ZOK);
    for (int mode = 0; mode < 2; mode++) {
        int flags = mode ? ZOO_EPHEMERAL_SEQUENTIAL : ZOO_PERSISTENT_SEQUENTIAL;
        expect_code("create: sequential",
                    zoo_create(one->handle, at("s/n-"), "", 0, &ZOO_OPEN_ACL_UNSAFE, flags, path, sizeof path), ZOK);
        expect_text("create: its name", path, mode ? ROOT "/s/n-0000000001" : ROOT "/s/n-0000000000");
    }
    expect_code("create: a sequential name that is taken", make(one, at("s/n-0000000002"), "", ZOO_PERSISTENT), ZOK);
    expect_code("create2: with its stat",
                zoo_create2(one->handle, at("b"), "12345", 5, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, path, sizeof path, &stat),
                ZOK);
    expect_text("create2: stat", text_of_stat(&stat),
                "version 0, cversion 0, aversion 0, length 5, children 0, no owner, unmodified");
    expect_code("create2: sequential ephemeral with its stat",
                zoo_create2(one->handle, at("s/n-"), NULL, -1, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL_SEQUENTIAL, path,
                            sizeof path, &stat),
                ZOK);
    expect_text("create2: its name", path, ROOT "/s/n-0000000003");
    expect_text("create2: its stat", text_of_stat(&stat),
                "version 0, cversion 0, aversion 0, length 0, children 0, ephemeral, unmodified");
    expect_code("create: container", make(one, at("c"), "", ZOO_CONTAINER), ZOK);
    expect_code("create: with a lifetime",
                zoo_create_ttl(one->handle, at("t"), "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT_WITH_TTL, 600000, NULL, 0),
                ZOK);
    expect_code("create2: sequential with a lifetime",
                zoo_create2_ttl(one->handle, at("t-"), "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT_SEQUENTIAL_WITH_TTL,
                                600000, path, sizeof path, &stat),
                ZOK);
    expect_text("create2: its name", path, ROOT "/t-0000000006");
    expect_text("create2: its stat", text_of_stat(&stat),
                "version 0, cversion 0, aversion 0, length 0, children 0, no owner, unmodified");
    expect_code("create: a lifetime of nothing",
                zoo_create_ttl(one->handle, at("t2"), "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT_WITH_TTL, 0, NULL, 0),
                ZBADARGUMENTS);
    expect_code("create: a path without a slash", make(one, "a", "", ZOO_PERSISTENT), ZBADARGUMENTS);
    expect_code("create: a path that ends with a slash", make(one, at("a/"), "", ZOO_PERSISTENT), ZBADARGUMENTS);
    expect_code("create: a path with two dots", make(one, at("a/.."), "", ZOO_PERSISTENT), ZBADARGUMENTS);
    struct ACL_vector nobody = {0, NULL};
    expect_code("create: for nobody", zoo_create(one->handle, at("x"), "", 0, &nobody, 0, NULL, 0), ZINVALIDACL);
}

static void reads_and_writes(struct session *one) {
    char data[100];
    int length = sizeof data;
    struct Stat stat;
    struct String_vector names;
    expect_code("exists: yes", zoo_exists(one->handle, at("a"), 0, &stat), ZOK);
    expect_text("exists: stat", text_of_stat(&stat),
                "version 0, cversion 0, aversion 0, length 4, children 0, no owner, unmodified");
    expect_code("exists: no", zoo_exists(one->handle, at("no"), 0, &stat), ZNONODE);
    expect_code("get", zoo_get(one->handle, at("a"), 0, data, &length, &stat), ZOK);
    data[length] = 0;
    expect_text("get: data", data, "data");
    length = sizeof data;
    expect_code("get: no data at all", zoo_get(one->handle, at("s/n-0000000003"), 0, data, &length, &stat), ZOK);
    expect_number("get: their length", length, -1);
    length = 2;
    expect_code("get: into a short buffer", zoo_get(one->handle, at("a"), 0, data, &length, &stat), ZOK);
    expect_number("get: what fits", length, 2);
    length = sizeof data;
    expect_code("get: it is missing", zoo_get(one->handle, at("no"), 0, data, &length, &stat), ZNONODE);
    expect_code("set", zoo_set(one->handle, at("a"), "new", 3, 0), ZOK);
    expect_code("set: another version", zoo_set(one->handle, at("a"), "old", 3, 0), ZBADVERSION);
    expect_code("set: with its stat", zoo_set2(one->handle, at("a"), "newer", 5, ANY, &stat), ZOK);
    expect_text("set: stat", text_of_stat(&stat),
                "version 2, cversion 0, aversion 0, length 5, children 0, no owner, modified");
    expect_code("set: it is missing", zoo_set(one->handle, at("no"), "", 0, ANY), ZNONODE);
    expect_code("children", zoo_get_children(one->handle, at("s"), 0, &names), ZOK);
    expect_number("children: their number", names.count, 4);
    deallocate_String_vector(&names);
    expect_code("children: with the stat", zoo_get_children2(one->handle, at("s"), 0, &names, &stat), ZOK);
    expect_text("children: stat", text_of_stat(&stat),
                "version 0, cversion 4, aversion 0, length 0, children 4, no owner, unmodified");
    deallocate_String_vector(&names);
    expect_code("children: none", zoo_get_children(one->handle, at("a"), 0, &names), ZOK);
    expect_number("children: their number", names.count, 0);
    expect_code("children: it is missing", zoo_get_children(one->handle, at("no"), 0, &names), ZNONODE);
    expect_code("delete: another version", zoo_delete(one->handle, at("a"), 0), ZBADVERSION);
    expect_code("delete: it has children", zoo_delete(one->handle, at("s"), ANY), ZNOTEMPTY);
    expect_code("delete", zoo_delete(one->handle, at("a"), 2), ZOK);
    expect_code("delete: it is missing", zoo_delete(one->handle, at("a"), ANY), ZNONODE);
    expect_code("delete: the root", zoo_delete(one->handle, "/", ANY), ZBADARGUMENTS);
    expect_code("sync", sync_with(one, ROOT), ZOK);
    expect_code("sync: it is missing", sync_with(one, at("no")), ZOK);
    length = sizeof data;
    expect_code("configuration", zoo_getconfig(one->handle, 0, data, &length, &stat), ZOK);
    length = sizeof data;
    expect_code("configuration: another one", zoo_reconfig(one->handle, NULL, "3", NULL, -1, data, &length, &stat),
                ZRECONFIGDISABLED);
}

static void multis(struct session *one) {
    char first[100], second[100], *large;
    struct Stat stat;
    zoo_op_t ops[5];
    zoo_op_result_t results[5];
    zoo_create_op_init(&ops[0], at("m"), "m", 1, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, first, sizeof first);
    zoo_create_op_init(&ops[1], at("m/n-"), "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL_SEQUENTIAL, second, sizeof second);
    zoo_set_op_init(&ops[2], at("m"), "changed", 7, 0, &stat);
    zoo_check_op_init(&ops[3], at("m"), 1);
    zoo_delete_op_init(&ops[4], at("b"), ANY);
    expect_code("multi", zoo_multi(one->handle, 5, ops, results), ZOK);
    expect_text("multi: what it created", second, ROOT "/m/n-0000000000");
    expect_text("multi: stat", text_of_stat(&stat),
                "version 1, cversion 1, aversion 0, length 7, children 1, no owner, unmodified");
    for (int n = 0; n < 5; n++) expect_code("multi: a result", results[n].err, ZOK);
    zoo_create_op_init(&ops[0], at("m2"), "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, first, sizeof first);
    zoo_check_op_init(&ops[1], at("m"), 7);
    zoo_delete_op_init(&ops[2], at("m"), ANY);
    expect_code("multi: a check fails", zoo_multi(one->handle, 3, ops, results), ZBADVERSION);
    expect_code("multi: before it", results[0].err, ZOK);
    expect_code("multi: the check", results[1].err, ZBADVERSION);
    expect_code("multi: behind it", results[2].err, ZRUNTIMEINCONSISTENCY);
    expect_code("multi: nothing was done", zoo_exists(one->handle, at("m2"), 0, &stat), ZNONODE);
    zoo_create_op_init(&ops[0], at("m/n-0000000000/x"), "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, first, sizeof first);
    expect_code("multi: a child of an ephemeral", zoo_multi(one->handle, 1, ops, results), ZNOCHILDRENFOREPHEMERALS);
    int length = 1024 * 1024 - 200;
    large = calloc(length, 1);
    expect_code("create: nearly a megabyte",
                zoo_create(one->handle, at("large"), large, length, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0), ZOK);
    expect_code("get: nearly a megabyte", zoo_get(one->handle, at("large"), 0, large, &length, &stat), ZOK);
    expect_number("get: length", length, 1024 * 1024 - 200);
    expect_code("delete: nearly a megabyte", zoo_delete(one->handle, at("large"), ANY), ZOK);
    free(large);
    // The server closes the connection on a frame that is too long, and the session lives on.
    length = 1024 * 1024;
    large = calloc(length, 1);
    expect_code("create: a megabyte", zoo_create(one->handle, at("large"), large, length, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0),
                ZCONNECTIONLOSS);
    free(large);
    expect_text("create: then", wait_for_state(one, ZOO_CONNECTED_STATE) ? "connected" : "not connected", "connected");
    expect_code("create: then", sync_with(one, ROOT), ZOK);
    expect_code("create: it was not applied", zoo_exists(one->handle, at("large"), 0, &stat), ZNONODE);
    expect_code("create: the ephemeral", zoo_exists(one->handle, at("e"), 0, &stat), ZOK);
}

// --- 2. Watches. ---

static int get_watched(struct session *one, const char *path) {
    char data[100];
    int length = sizeof data;
    return zoo_wget(one->handle, path, hear_watch, one, data, &length, NULL);
}

static int children_watched(struct session *one, const char *path) {
    struct String_vector names = {0, NULL};
    int code = zoo_wget_children(one->handle, path, hear_watch, one, &names);
    deallocate_String_vector(&names);
    return code;
}

static void watches(struct session *one, struct session *other) {
    struct Stat stat;
    expect_code("watch: exists, of a missing one", zoo_wexists(one->handle, at("w"), hear_watch, one, &stat), ZNONODE);
    expect_code("watch: another session creates it", make(other, at("w"), "", ZOO_PERSISTENT), ZOK);
    expect_event("watch: exists", one, "created " ROOT "/w");
    expect_code("watch: exists", zoo_wexists(one->handle, at("w"), hear_watch, one, &stat), ZOK);
    expect_code("watch: another session writes", zoo_set(other->handle, at("w"), "1", 1, ANY), ZOK);
    expect_event("watch: exists", one, "changed " ROOT "/w");
    expect_code("watch: another session writes again", zoo_set(other->handle, at("w"), "2", 1, ANY), ZOK);
    expect_code("watch: get", get_watched(one, at("w")), ZOK);
    expect_no_event("watch: a watch fires once", one);
    expect_code("watch: another session writes", zoo_set(other->handle, at("w"), "3", 1, ANY), ZOK);
    expect_event("watch: get", one, "changed " ROOT "/w");
    expect_code("watch: children", children_watched(one, at("w")), ZOK);
    expect_code("watch: another session creates a child", make(other, at("w/c"), "", ZOO_PERSISTENT), ZOK);
    expect_event("watch: children", one, "children changed " ROOT "/w");
    expect_code("watch: children of the child", children_watched(one, at("w/c")), ZOK);
    expect_code("watch: data of the child", get_watched(one, at("w/c")), ZOK);
    expect_code("watch: children", children_watched(one, at("w")), ZOK);
    expect_code("watch: another session deletes the child", zoo_delete(other->handle, at("w/c"), ANY), ZOK);
    // The same watcher has a data watch and a child watch on the znode, and the library calls it once.
    expect_event("watch: data of the child", one, "deleted " ROOT "/w/c");
    expect_event("watch: children", one, "children changed " ROOT "/w");
    expect_code("watch: get of a missing one sets none", get_watched(one, at("w/c")), ZNONODE);
    expect_code("watch: the session's own watcher", zoo_exists(one->handle, at("w"), 1, &stat), ZOK);
    expect_code("watch: its own write", zoo_set(one->handle, at("w"), "4", 1, ANY), ZOK);
    expect_event("watch: its own write", one, "changed " ROOT "/w");
    zoo_op_t ops[2];
    zoo_op_result_t results[2];
    zoo_set_op_init(&ops[0], at("w"), "5", 1, ANY, NULL);
    zoo_create_op_init(&ops[1], at("w/m"), "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, NULL, 0);
    get_watched(one, at("w"));
    children_watched(one, at("w"));
    expect_code("watch: a multi", zoo_multi(other->handle, 2, ops, results), ZOK);
    expect_event("watch: the first of the multi", one, "changed " ROOT "/w");
    expect_event("watch: the second of the multi", one, "children changed " ROOT "/w");

    expect_code("remove: no watch",
                zoo_remove_watches(one->handle, at("w"), ZWATCHTYPE_DATA, hear_watch, one, 0), ZNOWATCHER);
    get_watched(one, at("w"));
    expect_code("remove: a data watch",
                zoo_remove_watches(one->handle, at("w"), ZWATCHTYPE_DATA, hear_watch, one, 0), ZOK);
    get_watched(one, at("w"));
    children_watched(one, at("w"));
    expect_code("remove: all watches", zoo_remove_all_watches(one->handle, at("w"), ZWATCHTYPE_ANY, 0), ZOK);
    expect_code("remove: another session deletes a child", zoo_delete(other->handle, at("w/m"), ANY), ZOK);
    expect_code("remove: another session deletes it", zoo_delete(other->handle, at("w"), ANY), ZOK);
    expect_code("remove: sync", sync_with(one, ROOT), ZOK);
    expect_no_event("remove: no event came", one);
}

// --- 3. Access. ---

static void access_control(struct session *one, struct session *other) {
    struct ACL_vector list;
    struct Stat stat;
    char data[100];
    int length = sizeof data;
    expect_code("acl: of an open one", zoo_get_acl(one->handle, at("s"), &list, &stat), ZOK);
    expect_number("acl: entries", list.count, 1);
    expect_number("acl: permissions", list.data[0].perms, ZOO_PERM_ALL);
    expect_text("acl: scheme", list.data[0].id.scheme, "world");
    expect_text("acl: id", list.data[0].id.id, "anyone");
    deallocate_ACL_vector(&list);
    expect_code("acl: for the creator, who has no identity",
                zoo_create(one->handle, at("d"), "", 0, &ZOO_CREATOR_ALL_ACL, 0, NULL, 0), ZINVALIDACL);
    expect_code("auth: digest", add_auth(one, "digest", "ann:secret"), ZOK);
    expect_code("acl: for the creator",
                zoo_create(one->handle, at("d"), "mine", 4, &ZOO_CREATOR_ALL_ACL, 0, NULL, 0), ZOK);
    expect_code("acl: its own", zoo_get_acl(one->handle, at("d"), &list, &stat), ZOK);
    expect_text("acl: scheme", list.data[0].id.scheme, "digest");
    expect_text("acl: id", list.data[0].id.id, "ann:7RJfAeIvrl4zdj6sS2fXrQHDvHM=");
    deallocate_ACL_vector(&list);
    expect_code("acl: sync", sync_with(other, ROOT), ZOK);
    expect_code("acl: get by another", zoo_get(other->handle, at("d"), 0, data, &length, &stat), ZNOAUTH);
    expect_code("acl: set by another", zoo_set(other->handle, at("d"), "", 0, ANY), ZNOAUTH);
    expect_code("acl: create by another", make(other, at("d/c"), "", ZOO_PERSISTENT), ZNOAUTH);
    expect_code("acl: acl by another", zoo_get_acl(other->handle, at("d"), &list, &stat), ZNOAUTH);
    expect_code("acl: exists by another", zoo_exists(other->handle, at("d"), 0, &stat), ZOK);
    expect_code("auth: the same identity for another", add_auth(other, "digest", "ann:secret"), ZOK);
    length = sizeof data;
    expect_code("acl: get by another", zoo_get(other->handle, at("d"), 0, data, &length, &stat), ZOK);
    expect_code("acl: set it to read", zoo_set_acl(one->handle, at("d"), 0, &ZOO_READ_ACL_UNSAFE), ZOK);
    expect_code("acl: nobody may set it any more", zoo_set_acl(one->handle, at("d"), 1, &ZOO_OPEN_ACL_UNSAFE), ZNOAUTH);
    expect_code("acl: nobody may write", zoo_set(one->handle, at("d"), "", 0, ANY), ZNOAUTH);
    expect_code("acl: stat", zoo_exists(one->handle, at("d"), 0, &stat), ZOK);
    expect_text("acl: stat", text_of_stat(&stat),
                "version 0, cversion 0, aversion 1, length 4, children 0, no owner, unmodified");
    expect_code("acl: another version", zoo_set_acl(one->handle, at("s"), 7, &ZOO_OPEN_ACL_UNSAFE), ZBADVERSION);
    expect_code("acl: it is missing", zoo_set_acl(one->handle, at("no"), ANY, &ZOO_OPEN_ACL_UNSAFE), ZNONODE);

    struct session *third = connected("auth: a third session", connect_string, NULL);
    expect_code("auth: an unknown scheme", add_auth(third, "nonsense", "x"), ZAUTHFAILED);
    expect_text("auth: its state", wait_for_state(third, ZOO_AUTH_FAILED_STATE) ? "failed" : "something else", "failed");
    zookeeper_close(third->handle);
}

// --- 4. Sessions. ---

// A process that opens a session, creates an ephemeral, tells the session's id and password, and dies.
static clientid_t abandoned_session(void) {
    int ends[2];
    clientid_t id;
    if (pipe(ends) != 0) exit(1);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct session *session = open_session(connect_string, NULL);
        if (!wait_for_state(session, ZOO_CONNECTED_STATE)) _exit(1);
        if (make(session, ROOT "-left", "", ZOO_EPHEMERAL) != ZOK) _exit(1);
        id = *zoo_client_id(session->handle);
        _exit(write(ends[1], &id, sizeof id) != sizeof id);
    }
    int status = 1;
    if (read(ends[0], &id, sizeof id) != sizeof id) id.client_id = 0;
    waitpid(child, &status, 0);
    expect_number("session: a process opened one and died", status, 0);
    return id;
}

static void sessions(const clientid_t *left) {
    struct Stat stat;
    clientid_t wrong = *left;
    wrong.passwd[0] ^= 1;
    struct session *thief = open_session(connect_string, &wrong);
    expect_text("session: a wrong password", wait_for_state(thief, ZOO_EXPIRED_SESSION_STATE) ? "expired" : "accepted",
                "expired");
    zookeeper_close(thief->handle);
    struct session *heir = connected("session: its id and password", connect_string, left);
    expect_text("session: id", zoo_client_id(heir->handle)->client_id == left->client_id ? "the same" : "another", "the same");
    expect_number("session: timeout", zoo_recv_timeout(heir->handle), TIMEOUT_MS);
    // Another server may not have caught up with the one that the ephemeral was created on.
    expect_code("session: sync", sync_with(heir, "/"), ZOK);
    expect_code("session: its ephemeral", zoo_exists(heir->handle, ROOT "-left", 0, &stat), ZOK);
    expect_text("session: owner", stat.ephemeralOwner == left->client_id ? "the session" : "another", "the session");
    expect_code("session: close", zookeeper_close(heir->handle), ZOK);
    struct session *late = open_session(connect_string, left);
    expect_text("session: it is over", wait_for_state(late, ZOO_EXPIRED_SESSION_STATE) ? "expired" : "accepted", "expired");
    zookeeper_close(late->handle);
    struct session *witness = connected("session: a witness", connect_string, NULL);
    expect_code("session: its ephemeral is gone", zoo_exists(witness->handle, ROOT "-left", 0, &stat), ZNONODE);
    zookeeper_close(witness->handle);
}

// --- 5. Restarts. ---

// One request to the control API. Returns its answer, which lasts until the next one.
static const char *ask(const char *method, const char *target, const char *body) {
    static char text[20000];
    struct sockaddr_in to = {.sin_family = AF_INET};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(atoi(strrchr(control, ':') + 1));
    int stream = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(stream, (struct sockaddr *)&to, sizeof to) != 0) {
        perror("FAILED control API");
        exit(1);
    }
    int length = snprintf(text, sizeof text,
                          "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n%s", method,
                          target, strlen(body), body);
    if (write(stream, text, length) != length) exit(1);
    ssize_t more;
    size_t filled = 0;
    while ((more = read(stream, text + filled, sizeof text - 1 - filled)) > 0) filled += more;
    close(stream);
    text[filled] = 0;
    return text;
}

static int all_serve(void) {
    const char *status = ask("GET", "/status", "");
    return strstr(status, " 200 ") && !strstr(status, "\"down\"") && !strstr(status, "\"looking\"");
}

static void wait_until_all_serve(void) {
    struct timespec limit = deadline(), now;
    while (!all_serve()) {
        clock_gettime(CLOCK_REALTIME, &now);
        if (now.tv_sec > limit.tv_sec) {
            printf("FAILED restart: not all members serve\n");
            exit(1);
        }
        usleep(20000);
    }
}

// A lost connection says nothing about a read: it is repeated.
static int code_after_losses(struct session *session, const char *path, struct Stat *stat) {
    int code;
    do {
        wait_for_state(session, ZOO_CONNECTED_STATE);
        code = zoo_exists(session->handle, path, 0, stat);
    } while (code == ZCONNECTIONLOSS || code == ZOPERATIONTIMEOUT);
    return code;
}

static int get_watched_after_losses(struct session *session, const char *path) {
    int code;
    do {
        wait_for_state(session, ZOO_CONNECTED_STATE);
        code = get_watched(session, path);
    } while (code == ZCONNECTIONLOSS || code == ZOPERATIONTIMEOUT);
    return code;
}

static void restarts(struct session *one, struct session *other) {
    struct Stat stat;
    char body[40];
    int64_t id = zoo_client_id(one->handle)->client_id;
    expect_code("restart: a znode that is watched", make(one, at("r"), "", ZOO_PERSISTENT), ZOK);
    for (int server = 0; server < 3; server++) {
        expect_code("restart: a watch", get_watched_after_losses(one, at("r")), ZOK);
        snprintf(body, sizeof body, "{\"server\": %d}", server);
        expect_text("restart: a member", strstr(ask("POST", "/restart", body), " 200 ") ? "asked" : "refused", "asked");
        wait_until_all_serve();
        expect_code("restart: the ephemeral", code_after_losses(one, at("e"), &stat), ZOK);
        expect_text("restart: its owner", stat.ephemeralOwner == id ? "the session" : "another", "the session");
        expect_text("restart: id", zoo_client_id(one->handle)->client_id == id ? "the same" : "another", "the same");
        int code;
        do code = zoo_set(other->handle, at("r"), "", 0, ANY);
        while (code == ZCONNECTIONLOSS || code == ZOPERATIONTIMEOUT);
        expect_code("restart: another session writes", code, ZOK);
        expect_event("restart: the watch", one, "changed " ROOT "/r");
    }
    expect_text("restart: connections lost", one->losses + other->losses > 0 ? "some" : "none", "some");
    char data[100];
    int length = sizeof data;
    expect_code("restart: identities are back", zoo_get(one->handle, at("d"), 0, data, &length, &stat), ZOK);
}

int main(int count, char **arguments) {
    if (count != 3) {
        fprintf(stderr, "c-client CONNECT CONTROL\n");
        return 2;
    }
    connect_string = arguments[1];
    control = arguments[2];
    zoo_set_debug_level(ZOO_LOG_LEVEL_WARN);
    // Before any thread, since a fork copies only one.
    clientid_t left = abandoned_session();
    sessions(&left);
    struct session *one = connected("session: the first", connect_string, NULL);
    struct session *other = connected("session: the second", connect_string, NULL);
    creates(one);
    reads_and_writes(one);
    multis(one);
    watches(one, other);
    access_control(one, other);
    restarts(one, other);
    struct Stat stat;
    expect_code("close", zookeeper_close(one->handle), ZOK);
    expect_code("close: sync", sync_with(other, ROOT), ZOK);
    expect_code("close: its ephemeral is gone", zoo_exists(other->handle, at("e"), 0, &stat), ZNONODE);
    expect_code("close", zookeeper_close(other->handle), ZOK);
    return 0;
}
