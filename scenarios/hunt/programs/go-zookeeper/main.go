// A client of go-zookeeper's lock.
package main

import (
	"bufio"
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/samuel/go-zookeeper/zk"
)

const (
	work  = 30 * time.Millisecond
	pause = 20 * time.Millisecond
)

type driver struct {
	name, object string
	conn         *zk.Conn
	going, rests chan struct{}

	writing sync.Mutex
	session int64

	holding   sync.Mutex
	holds     bool
	connected bool
	lost      chan struct{}
}

// say says a line, with one write.
func (d *driver) say(words string) {
	d.writing.Lock()
	defer d.writing.Unlock()
	os.Stdout.WriteString(d.name + " " + strings.Replace(words, "\n", " ", -1) + "\n")
}

func (d *driver) report(event string) {
	d.say(event + " lock " + d.object)
}

func passes(most time.Duration) time.Duration {
	return most/5 + time.Duration(rand.Int63n(int64(4*most/5)))
}

// released tells the end of a hold, once.
func (d *driver) released() {
	d.holding.Lock()
	defer d.holding.Unlock()
	if d.holds {
		d.holds = false
		d.report("released")
	}
}

// listen follows the state of the connection: whoever holds gives up at once when it is lost.
func (d *driver) listen(events <-chan zk.Event, ready chan<- struct{}) {
	for event := range events {
		if event.Type != zk.EventSession {
			continue
		}
		d.holding.Lock()
		switch event.State {
		case zk.StateHasSession:
			d.connected = true
			d.lost = make(chan struct{})
			if id := d.conn.SessionID(); id != d.session {
				d.session = id
				d.say(fmt.Sprintf("session 0x%x", uint64(id)))
			}
			select {
			case ready <- struct{}{}:
			default:
			}
		case zk.StateDisconnected, zk.StateExpired:
			if d.connected {
				close(d.lost)
			}
			d.connected = false
		}
		d.holding.Unlock()
		if event.State == zk.StateDisconnected || event.State == zk.StateExpired {
			d.released()
		}
	}
}

func (d *driver) round() error {
	// A lock object for each round: after an error the former one cannot be used again.
	lock := zk.NewLock(d.conn, d.object, zk.WorldACL(zk.PermAll))
	d.report("asks")
	if err := lock.Lock(); err != nil {
		d.report("refused")
		return err
	}
	d.holding.Lock()
	lost := d.lost
	if d.connected {
		d.holds = true
		d.report("acquired")
	} else {
		d.report("refused")
	}
	d.holding.Unlock()
	select {
	case <-time.After(passes(work)):
	case <-lost:
	}
	d.released()
	// An error of the connection leaves open whether it was released: it is asked again.
	for {
		err := lock.Unlock()
		if err == zk.ErrConnectionClosed {
			time.Sleep(pause)
			continue
		}
		if err == nil || err == zk.ErrNoNode || err == zk.ErrSessionExpired {
			return nil
		}
		return err
	}
}

func (d *driver) rounds() {
	<-d.going
	for {
		select {
		case <-d.rests:
			d.say("resting")
			return
		default:
		}
		if err := d.round(); err != nil {
			d.say("trouble " + err.Error())
			time.Sleep(50 * time.Millisecond)
		}
		time.Sleep(passes(pause))
	}
}

func main() {
	if len(os.Args) != 2 || os.Args[1] != "lock" {
		fmt.Fprintln(os.Stderr, "the argument is a scenario: lock")
		os.Exit(2)
	}
	timeout, _ := strconv.Atoi(os.Getenv("HUNT_TIMEOUT_MS"))
	seed, _ := strconv.ParseInt(os.Getenv("HUNT_SEED"), 10, 64)
	name := os.Getenv("HUNT_CLIENT")
	rand.Seed(seed*31 + int64(name[0]))
	d := &driver{
		name:   name,
		object: os.Getenv("HUNT_OBJECT"),
		going:  make(chan struct{}),
		rests:  make(chan struct{}),
		lost:   make(chan struct{}),
	}
	silent := zk.WithLogInfo(false)
	conn, events, err := zk.Connect(strings.Split(os.Getenv("HUNT_CONNECT"), ","), time.Duration(timeout)*time.Millisecond, silent)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	d.conn = conn
	ready := make(chan struct{}, 1)
	go d.listen(events, ready)
	<-ready
	d.say("ready")
	go d.rounds()
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		switch strings.TrimSpace(lines.Text()) {
		case "go":
			close(d.going)
		case "rest":
			close(d.rests)
		case "audit":
			d.say("audited")
		}
	}
}
