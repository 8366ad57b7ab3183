// The Go client go-zookeeper against any ensemble: go-client CONNECT CONTROL
//
// 1. Operations: every call that the package offers, with its result.
// 2. Watches: every kind, and the order of their notifications.
// 3. Access: digest identities, and what they are refused.
// 4. Restarts: each member restarts, and the session, its ephemeral and its watches survive.
// 5. Recipes: the package's lock.
//
// The package cannot re-attach a session by id and password. One line for each thing that was checked. The first difference ends the
// program with status 1.

package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"sort"
	"strings"
	"time"

	"github.com/samuel/go-zookeeper/zk"
)

const (
	root     = "/go-client"
	timeout  = 8 * time.Second
	deadline = 60 * time.Second
	anyone   = -1
)

var open = zk.WorldACL(zk.PermAll)

// --- What is checked. ---

func fail(format string, arguments ...interface{}) {
	fmt.Printf("FAILED "+format+"\n", arguments...)
	os.Exit(1)
}

func expect(what string, got, want interface{}) {
	fmt.Printf("%s: %v\n", what, got)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		fail("%s: expected %v", what, want)
	}
}

func expectError(what string, got, want error) {
	name := func(err error) string {
		if err == nil {
			return "ok"
		}
		return err.Error()
	}
	expect(what, name(got), name(want))
}

func textOf(stat *zk.Stat) string {
	owner, modified := "no owner", "unmodified"
	if stat.EphemeralOwner != 0 {
		owner = "ephemeral"
	}
	if stat.Czxid != stat.Mzxid {
		modified = "modified"
	}
	return fmt.Sprintf("version %d, cversion %d, aversion %d, length %d, children %d, %s, %s",
		stat.Version, stat.Cversion, stat.Aversion, stat.DataLength, stat.NumChildren, owner, modified)
}

func expectEvent(what string, events <-chan zk.Event, want string) {
	select {
	case event := <-events:
		expect(what, fmt.Sprintf("%v %s", event.Type, event.Path), want)
	case <-time.After(deadline):
		fail("%s: no event", what)
	}
}

// --- Sessions. ---

type quiet struct{}

func (quiet) Printf(string, ...interface{}) {}

type session struct {
	*zk.Conn
	states <-chan zk.Event
}

func connected(what, servers string) session {
	conn, states, err := zk.Connect(strings.Split(servers, ","), timeout, zk.WithLogger(quiet{}))
	if err != nil {
		fail("%s: %v", what, err)
	}
	one := session{conn, states}
	one.waitFor(what, zk.StateHasSession)
	expect(what, "connected", "connected")
	return one
}

// Waits for a state, and returns how many connections were lost on the way.
func (one session) waitFor(what string, wanted zk.State) int {
	losses, limit := 0, time.After(deadline)
	for {
		select {
		case event := <-one.states:
			if event.Type == zk.EventSession && event.State == zk.StateDisconnected {
				losses++
			}
			if event.Type == zk.EventSession && event.State == wanted {
				return losses
			}
		case <-limit:
			fail("%s: not in state %v, but %v", what, wanted, one.State())
		}
	}
}

func (one session) make(path, data string, flags int32) error {
	_, err := one.Create(path, []byte(data), flags, open)
	return err
}

// A lost connection says nothing about a request that may be repeated.
func repeated(request func() error) error {
	limit := time.Now().Add(deadline)
	for {
		err := request()
		if (err != zk.ErrConnectionClosed && err != zk.ErrNoServer) || time.Now().After(limit) {
			return err
		}
	}
}

// --- 1. Operations. ---

func creates(one session) {
	expectError("create: the root of this program", one.make(root, "", 0), nil)
	expectError("create: persistent", one.make(root+"/a", "data", 0), nil)
	expectError("create: it exists", one.make(root+"/a", "", 0), zk.ErrNodeExists)
	expectError("create: no parent", one.make(root+"/no/child", "", 0), zk.ErrNoNode)
	expectError("create: ephemeral", one.make(root+"/e", "", zk.FlagEphemeral), nil)
	expectError("create: a child of an ephemeral", one.make(root+"/e/c", "", 0), zk.ErrNoChildrenForEphemerals)
	expectError("create: a directory", one.make(root+"/s", "", 0), nil)
	for number, flags := range []int32{zk.FlagSequence, zk.FlagSequence | zk.FlagEphemeral} {
		path, err := one.Create(root+"/s/n-", nil, flags, open)
		expectError("create: sequential", err, nil)
		expect("create: its name", path, fmt.Sprintf("%s/s/n-%010d", root, number))
	}
	path, err := one.CreateProtectedEphemeralSequential(root+"/s/p-", nil, open)
	expectError("create: protected", err, nil)
	expect("create: its number", path[len(path)-13:], "-p-0000000002"[:13])
	// The package has no error for this code.
	expectError("create: an unknown mode", one.make(root+"/x", "", 9), zk.ErrUnknown)
	expectError("create: for nobody", func() error { _, err := one.Create(root+"/x", nil, 0, nil); return err }(), zk.ErrInvalidACL)
}

func readsAndWrites(one session) {
	found, stat, err := one.Exists(root + "/a")
	expectError("exists", err, nil)
	expect("exists: yes", found, true)
	expect("exists: stat", textOf(stat), "version 0, cversion 0, aversion 0, length 4, children 0, no owner, unmodified")
	found, _, err = one.Exists(root + "/no")
	expectError("exists", err, nil)
	expect("exists: no", found, false)
	data, stat, err := one.Get(root + "/a")
	expectError("get", err, nil)
	expect("get: data", string(data), "data")
	_, _, err = one.Get(root + "/no")
	expectError("get: it is missing", err, zk.ErrNoNode)
	_, stat, err = one.Get(root + "/e")
	expect("get: owner", stat.EphemeralOwner == one.SessionID(), true)
	stat, err = one.Set(root+"/a", []byte("new"), 0)
	expectError("set", err, nil)
	expect("set: stat", textOf(stat), "version 1, cversion 0, aversion 0, length 3, children 0, no owner, modified")
	_, err = one.Set(root+"/a", []byte("old"), 0)
	expectError("set: another version", err, zk.ErrBadVersion)
	_, err = one.Set(root+"/no", nil, anyone)
	expectError("set: it is missing", err, zk.ErrNoNode)
	names, stat, err := one.Children(root)
	expectError("children", err, nil)
	sort.Strings(names)
	expect("children: names", names, "[a e s]")
	expect("children: stat", textOf(stat), "version 0, cversion 3, aversion 0, length 0, children 3, no owner, unmodified")
	_, _, err = one.Children(root + "/no")
	expectError("children: it is missing", err, zk.ErrNoNode)
	expectError("delete: another version", one.Delete(root+"/a", 0), zk.ErrBadVersion)
	expectError("delete: it has children", one.Delete(root+"/s", anyone), zk.ErrNotEmpty)
	expectError("delete", one.Delete(root+"/a", 1), nil)
	expectError("delete: it is missing", one.Delete(root+"/a", anyone), zk.ErrNoNode)
	expectError("delete: the root", one.Delete("/", anyone), zk.ErrUnknown)
	path, err := one.Sync(root)
	expectError("sync", err, nil)
	expect("sync: path", path, root)
	large := make([]byte, 1024*1024-200)
	expectError("create: nearly a megabyte", one.make(root+"/large", string(large), 0), nil)
	data, _, err = one.Get(root + "/large")
	expectError("get: nearly a megabyte", err, nil)
	expect("get: length", len(data), len(large))
	expectError("delete: nearly a megabyte", one.Delete(root+"/large", anyone), nil)
}

func multis(one session) {
	answers, err := one.Multi(
		&zk.CreateRequest{Path: root + "/m", Data: []byte("m"), Acl: open},
		&zk.CreateRequest{Path: root + "/m/n-", Acl: open, Flags: zk.FlagSequence | zk.FlagEphemeral},
		&zk.SetDataRequest{Path: root + "/m", Data: []byte("changed"), Version: 0},
		&zk.CheckVersionRequest{Path: root + "/m", Version: 1},
		&zk.DeleteRequest{Path: root + "/m/n-0000000000", Version: anyone},
	)
	expectError("multi", err, nil)
	expect("multi: answers", len(answers), 5)
	expect("multi: what it created", answers[1].String, root+"/m/n-0000000000")
	expect("multi: stat", textOf(answers[2].Stat),
		"version 1, cversion 1, aversion 0, length 7, children 1, no owner, unmodified")
	answers, err = one.Multi(
		&zk.CreateRequest{Path: root + "/m2", Acl: open},
		&zk.CheckVersionRequest{Path: root + "/m", Version: 7},
		&zk.DeleteRequest{Path: root + "/m", Version: anyone},
	)
	expectError("multi: a check fails", err, zk.ErrBadVersion)
	for _, answer := range answers {
		fmt.Printf("multi: an answer: %v\n", answer.Error)
	}
	found, _, err := one.Exists(root + "/m2")
	expectError("multi: nothing was done", err, nil)
	expect("multi: nothing was done", found, false)
}

// --- 2. Watches. ---

func watches(one, other session) {
	_, _, exists, err := one.ExistsW(root + "/w")
	expectError("watch: exists, of a missing one", err, nil)
	expectError("watch: another session creates it", other.make(root+"/w", "", 0), nil)
	expectEvent("watch: exists", exists, "EventNodeCreated "+root+"/w")
	_, _, exists, err = one.ExistsW(root + "/w")
	expectError("watch: exists", err, nil)
	_, _, data, err := one.GetW(root + "/w")
	expectError("watch: get", err, nil)
	_, err = other.Set(root+"/w", nil, anyone)
	expectError("watch: another session writes", err, nil)
	expectEvent("watch: exists", exists, "EventNodeDataChanged "+root+"/w")
	expectEvent("watch: get", data, "EventNodeDataChanged "+root+"/w")
	// The package hands a change of data to watchers of children, too: they are set when there is none to come.
	_, _, children, err := one.ChildrenW(root + "/w")
	expectError("watch: children", err, nil)
	expectError("watch: another session creates a child", other.make(root+"/w/c", "", 0), nil)
	expectEvent("watch: children", children, "EventNodeChildrenChanged "+root+"/w")
	_, _, data, err = one.GetW(root + "/w/c")
	expectError("watch: get of the child", err, nil)
	_, _, children, err = one.ChildrenW(root + "/w/c")
	expectError("watch: children of the child", err, nil)
	_, _, above, err := one.ChildrenW(root + "/w")
	expectError("watch: children", err, nil)
	expectError("watch: another session deletes the child", other.Delete(root+"/w/c", anyone), nil)
	expectEvent("watch: get of the child", data, "EventNodeDeleted "+root+"/w/c")
	expectEvent("watch: children of the child", children, "EventNodeDeleted "+root+"/w/c")
	expectEvent("watch: children", above, "EventNodeChildrenChanged "+root+"/w")
	_, _, _, err = one.GetW(root + "/w/c")
	expectError("watch: get of a missing one", err, zk.ErrNoNode)
	_, _, data, err = one.GetW(root + "/w")
	expectError("watch: get", err, nil)
	_, err = one.Set(root+"/w", nil, anyone)
	expectError("watch: its own write", err, nil)
	expectEvent("watch: its own write", data, "EventNodeDataChanged "+root+"/w")
}

// --- 3. Access. ---

func accessControl(one, other session) {
	list, _, err := one.GetACL(root + "/s")
	expectError("acl: of an open one", err, nil)
	expect("acl: of an open one", list, "[{31 world anyone}]")
	creator := zk.AuthACL(zk.PermAll)
	_, err = one.Create(root+"/d", nil, 0, creator)
	expectError("acl: for the creator, who has no identity", err, zk.ErrInvalidACL)
	expectError("auth: digest", one.AddAuth("digest", []byte("ann:secret")), nil)
	_, err = one.Create(root+"/d", []byte("mine"), 0, creator)
	expectError("acl: for the creator", err, nil)
	list, _, err = one.GetACL(root + "/d")
	expectError("acl: its own", err, nil)
	expect("acl: its own", list, fmt.Sprint(zk.DigestACL(zk.PermAll, "ann", "secret")))
	// Another server may not have caught up with that of the first session.
	_, err = other.Sync(root)
	expectError("acl: sync", err, nil)
	_, _, err = other.Get(root + "/d")
	expectError("acl: get by another", err, zk.ErrNoAuth)
	_, err = other.Set(root+"/d", nil, anyone)
	expectError("acl: set by another", err, zk.ErrNoAuth)
	expectError("acl: create by another", other.make(root+"/d/c", "", 0), zk.ErrNoAuth)
	_, _, err = other.GetACL(root + "/d")
	expectError("acl: acl by another", err, zk.ErrNoAuth)
	stat, err := one.SetACL(root+"/d", zk.WorldACL(zk.PermRead), 0)
	expectError("acl: set it to read", err, nil)
	expect("acl: stat", textOf(stat), "version 0, cversion 0, aversion 1, length 4, children 0, no owner, unmodified")
	_, err = other.Sync(root)
	expectError("acl: sync", err, nil)
	_, _, err = other.Get(root + "/d")
	expectError("acl: get by another", err, nil)
	_, err = one.SetACL(root+"/d", open, 1)
	expectError("acl: nobody may set it any more", err, zk.ErrNoAuth)
	_, err = one.SetACL(root+"/s", open, 7)
	expectError("acl: another version", err, zk.ErrBadVersion)
	third := connected("auth: a third session", os.Args[1])
	expectError("auth: an unknown scheme", third.AddAuth("nonsense", []byte("x")), zk.ErrAuthFailed)
	third.Close()
}

// --- 4. Restarts. ---

func ask(method, target, body string) string {
	request, err := http.NewRequest(method, os.Args[2]+target, strings.NewReader(body))
	if err != nil {
		fail("control API: %v", err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		fail("control API: %v", err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		fail("control API: %s %s: %s %s %v", method, target, answer.Status, text, err)
	}
	return string(text)
}

func waitUntilAllServe() {
	limit := time.Now().Add(deadline)
	for {
		status := ask("GET", "/status", "")
		if !strings.Contains(status, `"down"`) && !strings.Contains(status, `"looking"`) {
			return
		}
		if time.Now().After(limit) {
			fail("restart: not all members serve: %s", status)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func restarts(one, other session) {
	var stat *zk.Stat
	var watch <-chan zk.Event
	id := one.SessionID()
	expectError("restart: a znode that is watched", one.make(root+"/r", "", 0), nil)
	for server := 0; server < 3; server++ {
		err := repeated(func() (err error) { _, _, watch, err = one.GetW(root + "/r"); return err })
		expectError("restart: a watch", err, nil)
		ask("POST", "/restart", fmt.Sprintf(`{"server": %d}`, server))
		waitUntilAllServe()
		err = repeated(func() (err error) { _, stat, err = one.Exists(root + "/e"); return err })
		expectError("restart: the ephemeral", err, nil)
		expect("restart: its owner", stat.EphemeralOwner == id, true)
		expect("restart: the same session", one.SessionID() == id, true)
		err = repeated(func() error { _, err := other.Set(root+"/r", nil, anyone); return err })
		expectError("restart: another session writes", err, nil)
		expectEvent("restart: the watch", watch, "EventNodeDataChanged "+root+"/r")
	}
	losses := 0
	for _, each := range []session{one, other} {
		for waiting := true; waiting; {
			select {
			case event := <-each.states:
				if event.Type == zk.EventSession && event.State == zk.StateDisconnected {
					losses++
				}
			default:
				waiting = false
			}
		}
	}
	expect("restart: connections were lost", losses > 0, true)
	data, _, err := one.Get(root + "/d")
	expectError("restart: get", err, nil)
	expect("restart: get", string(data), "mine")
}

// --- 5. Recipes. ---

func locks(one, other session) {
	first, second := zk.NewLock(one.Conn, root+"/lock", open), zk.NewLock(other.Conn, root+"/lock", open)
	expectError("lock: the first", first.Lock(), nil)
	locked := make(chan error, 1)
	go func() { locked <- second.Lock() }()
	// The second has asked when it stands in line.
	limit := time.Now().Add(deadline)
	for names := []string{}; len(names) < 2; names, _, _ = one.Children(root + "/lock") {
		if time.Now().After(limit) {
			fail("lock: the second does not ask")
		}
	}
	select {
	case err := <-locked:
		fail("lock: both hold it: %v", err)
	default:
	}
	expectError("lock: the first gives it back", first.Unlock(), nil)
	select {
	case err := <-locked:
		expectError("lock: the second", err, nil)
	case <-time.After(deadline):
		fail("lock: the second does not get it")
	}
	expectError("lock: the second gives it back", second.Unlock(), nil)
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "go-client CONNECT CONTROL")
		os.Exit(2)
	}
	one := connected("session: the first", os.Args[1])
	other := connected("session: the second", os.Args[1])
	creates(one)
	readsAndWrites(one)
	multis(one)
	watches(one, other)
	accessControl(one, other)
	restarts(one, other)
	locks(one, other)
	one.Close()
	_, err := other.Sync(root)
	expectError("close: sync", err, nil)
	found, _, err := other.Exists(root + "/e")
	expectError("close: its ephemeral is gone", err, nil)
	expect("close: its ephemeral is gone", !found, true)
	other.Close()
}
