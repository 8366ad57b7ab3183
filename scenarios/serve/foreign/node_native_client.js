// The client zookeeper for Node.js, a binding of the C client, against any ensemble: node node_native_client.js CONNECT CONTROL
//
// It offers no multi. One line for each thing that was checked. The first difference ends the program with status 1.

'use strict';

const { execFileSync } = require('node:child_process');
const ZooKeeper = require('zookeeper');

const { constants } = ZooKeeper;
const { ZOO_PERSISTENT, ZOO_EPHEMERAL, ZOO_PERSISTENT_SEQUENTIAL, ZOO_EPHEMERAL_SEQUENTIAL } = constants;
const { ZOO_CONTAINER, ZOO_PERSISTENT_WITH_TTL, ZOO_PERSISTENT_SEQUENTIAL_WITH_TTL } = constants;
const [connectString, control, role] = process.argv.slice(2);
const root = '/node-native-client';
const any = -1;
const deadlineMs = 60000;

// --- What is checked. ---

function fail(text) {
    console.log(`FAILED ${text}`);
    process.exit(1);
}

function expect(what, got, want) {
    const [a, b] = [got, want].map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
    console.log(`${what}: ${a}`);
    if (a !== b) fail(`${what}: expected ${b}`);
}

async function expectOk(what, promise) {
    const result = await promise.catch((error) => fail(`${what}: ${error.message}`));
    console.log(`${what}: ok`);
    return result;
}

async function expectError(what, promise, want) {
    const got = await promise.then(() => 'ok', (error) => error.message);
    expect(what, got, want);
}

const textOf = (stat) =>
    `version ${stat.version}, cversion ${stat.cversion}, aversion ${stat.aversion}, length ${stat.dataLength}, ` +
    `children ${stat.numChildren}`;

const kinds = { 1: 'created', 2: 'deleted', 3: 'changed', 4: 'children changed' };

// The events of watchers, in the order in which they came.
class Events {
    constructor() {
        this.came = [];
        this.waiting = null;
        this.hear = (type, state, path) => {
            // A watcher hears of its connection as well.
            if (!kinds[type]) return;
            this.came.push(`${kinds[type]} ${path}`);
            if (this.waiting) this.waiting();
        };
    }

    async expect(what, want) {
        if (this.came.length === 0) {
            await new Promise((resolve) => {
                const limit = setTimeout(() => fail(`${what}: no event`), deadlineMs);
                this.waiting = () => {
                    clearTimeout(limit);
                    this.waiting = null;
                    resolve();
                };
            });
        }
        expect(what, this.came.shift(), want);
    }
}

// --- Sessions. ---

function open(options = {}) {
    const client = new ZooKeeper({
        connect: connectString, timeout: 8000, debug_level: constants.ZOO_LOG_LEVEL_ERROR, ...options,
    });
    client.losses = 0;
    client.on('connecting', () => (client.losses += 1));
    client.init({});
    return client;
}

// Waits until a session is open, or refused: then the client closes itself.
function reached(client) {
    return new Promise((resolve) => {
        const limit = setTimeout(() => fail('the client neither connects nor gives up'), deadlineMs);
        for (const [event, state] of [['connect', 'connected'], ['close', 'closed']]) {
            client.once(event, () => {
                clearTimeout(limit);
                resolve(state);
            });
        }
    });
}

async function connected(what, options) {
    const client = open(options);
    expect(what, await reached(client), 'connected');
    return client;
}

// A lost connection says nothing about a request that may be repeated.
async function repeated(request) {
    const limit = Date.now() + deadlineMs;
    for (;;) {
        try {
            return await request();
        } catch (error) {
            if (!/^-[47] /.test(error.message) || Date.now() > limit) throw error;
            await new Promise((resolve) => setTimeout(resolve, 20));
        }
    }
}

// --- Operations. ---

async function operations(one) {
    await expectOk('create: the root of this program', one.create(root, '', ZOO_PERSISTENT));
    await expectOk('create: persistent', one.create(`${root}/a`, 'data', ZOO_PERSISTENT));
    await expectError('create: it exists', one.create(`${root}/a`, '', ZOO_PERSISTENT), '-110 node exists');
    await expectError('create: no parent', one.create(`${root}/no/c`, '', ZOO_PERSISTENT), '-101 no node');
    await expectOk('create: ephemeral', one.create(`${root}/e`, '', ZOO_EPHEMERAL));
    await expectError('create: a child of an ephemeral', one.create(`${root}/e/c`, '', ZOO_PERSISTENT),
        '-108 no children for ephemerals');
    await expectOk('create: a directory', one.create(`${root}/s`, '', ZOO_PERSISTENT));
    for (const [number, mode] of [ZOO_PERSISTENT_SEQUENTIAL, ZOO_EPHEMERAL_SEQUENTIAL].entries()) {
        const path = await expectOk('create: sequential', one.create(`${root}/s/n-`, '', mode));
        expect('create: its name', path, `${root}/s/n-000000000${number}`);
    }
    await expectOk('create: container', one.create(`${root}/c`, '', ZOO_CONTAINER));
    await expectOk('create: with a lifetime', one.create(`${root}/t`, '', ZOO_PERSISTENT_WITH_TTL, 600000));
    const path = await expectOk('create: sequential with a lifetime',
        one.create(`${root}/t-`, '', ZOO_PERSISTENT_SEQUENTIAL_WITH_TTL, 600000));
    expect('create: its name', path, `${root}/t-0000000005`);

    let stat = await expectOk('exists: yes', one.exists(`${root}/a`, false));
    expect('exists: stat', textOf(stat), 'version 0, cversion 0, aversion 0, length 4, children 0');
    await expectError('exists: no', one.exists(`${root}/no`, false), '-101 no node');
    let data;
    [stat, data] = await expectOk('get', one.get(`${root}/a`, false));
    expect('get: data', data.toString(), 'data');
    await expectError('get: it is missing', one.get(`${root}/no`, false), '-101 no node');
    stat = await expectOk('set', one.set(`${root}/a`, 'new', 0));
    expect('set: stat', textOf(stat), 'version 1, cversion 0, aversion 0, length 3, children 0');
    await expectError('set: another version', one.set(`${root}/a`, 'old', 0), '-103 bad version');
    expect('children', (await one.get_children(root, false)).sort(), ['a', 'c', 'e', 's', 't', 't-0000000005']);
    let names;
    [names, stat] = await expectOk('children: with the stat', one.get_children2(root, false));
    expect('children: stat', textOf(stat), 'version 0, cversion 6, aversion 0, length 0, children 6');
    await expectError('children: it is missing', one.get_children(`${root}/no`, false), '-101 no node');
    await expectError('delete: another version', one.delete_(`${root}/a`, 0), '-103 bad version');
    await expectError('delete: it has children', one.delete_(`${root}/s`, any), '-111 not empty');
    await expectOk('delete', one.delete_(`${root}/a`, 1));
    await expectError('delete: it is missing', one.delete_(`${root}/a`, any), '-101 no node');
    await expectOk('sync', one.sync(root));
    await expectOk('configuration', one.getconfig(false));
}

// --- Watches. ---

async function watches(one, other) {
    const [exists, data, children] = [new Events(), new Events(), new Events()];
    await expectError('watch: exists, of a missing one', one.w_exists(`${root}/w`, exists.hear), '-101 no node');
    await expectOk('watch: another session creates it', other.create(`${root}/w`, '', ZOO_PERSISTENT));
    await exists.expect('watch: exists', `created ${root}/w`);
    await expectOk('watch: get', one.w_get(`${root}/w`, data.hear));
    await expectOk('watch: children', one.w_get_children(`${root}/w`, children.hear));
    await expectOk('watch: another session writes', other.set(`${root}/w`, '1', any));
    await data.expect('watch: get', `changed ${root}/w`);
    await expectOk('watch: another session creates a child', other.create(`${root}/w/c`, '', ZOO_PERSISTENT));
    await children.expect('watch: children', `children changed ${root}/w`);
    await expectOk('watch: get of the child', one.w_get(`${root}/w/c`, data.hear));
    await expectOk('watch: children', one.w_get_children2(`${root}/w`, children.hear));
    await expectOk('watch: another session deletes the child', other.delete_(`${root}/w/c`, any));
    await data.expect('watch: get of the child', `deleted ${root}/w/c`);
    await children.expect('watch: children', `children changed ${root}/w`);
    await expectError('watch: get of a missing one', one.w_get(`${root}/w/c`, data.hear), '-101 no node');
}

// --- Access. ---

const addAuth = (client, scheme, word) =>
    new Promise((resolve, reject) => {
        client.add_auth(scheme, word, (rc, error) => (rc === 0 ? resolve() : reject(new Error(`${rc} ${error}`))));
    });

async function accessControl(one, other) {
    const plain = (list) => list.map((acl) => `${acl.perms} ${acl.scheme}:${acl.auth}`);
    let [list] = await expectOk('acl: of an open one', one.get_acl(`${root}/s`)).then((both) => both.filter(Array.isArray));
    expect('acl: of an open one', plain(list), ['31 world:anyone']);
    await expectOk('create: to be mine', one.create(`${root}/d`, 'mine', ZOO_PERSISTENT));
    const creator = [{ perms: constants.ZOO_PERM_ALL, scheme: 'auth', auth: '' }];
    await expectError('acl: for a session without an identity', one.set_acl(`${root}/d`, any, creator), '-114 invalid acl');
    await expectOk('auth: digest', addAuth(one, 'digest', 'ann:secret'));
    await expectOk('acl: for the creator', one.set_acl(`${root}/d`, 0, creator));
    [list] = await expectOk('acl: its own', one.get_acl(`${root}/d`)).then((both) => both.filter(Array.isArray));
    expect('acl: its own', plain(list), ['31 digest:ann:7RJfAeIvrl4zdj6sS2fXrQHDvHM=']);
    await expectOk('acl: sync', other.sync(root));
    await expectError('acl: get by another', other.get(`${root}/d`, false), '-102 not authenticated');
    await expectError('acl: set by another', other.set(`${root}/d`, '', any), '-102 not authenticated');
    await expectError('acl: another version', one.set_acl(`${root}/d`, 7, creator), '-103 bad version');
}

// --- Sessions. ---

// A process that opens a session, creates an ephemeral, tells the session's id and password, and dies.
async function abandon() {
    const client = open();
    await reached(client);
    await client.create(`${root}-left`, '', ZOO_EPHEMERAL);
    process.stdout.write(`${client.client_id} ${client.client_password}\n`, () => process.kill(process.pid, 'SIGKILL'));
}

async function sessions() {
    let told;
    try {
        const args = [__filename, connectString, control, 'abandon'];
        execFileSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
    } catch (killed) {
        told = killed.stdout;
    }
    const [id, password] = told.trim().split(' ');
    const heir = await connected('session: its id and password', { client_id: id, client_password: password });
    expect('session: the same id', heir.client_id === id, true);
    await expectOk('session: sync', heir.sync('/'));
    const stat = await expectOk('session: its ephemeral', heir.exists(`${root}-left`, false));
    expect('session: owner', BigInt(`0x${stat.ephemeralOwner}`) === BigInt(`0x${id}`), true);
    heir.close();
}

// --- Restarts. ---

async function ask(method, target, body) {
    const answer = await fetch(control + target, { method, body });
    const text = await answer.text();
    if (!answer.ok) fail(`control API: ${method} ${target}: ${answer.status} ${text}`);
    return JSON.parse(text);
}

async function waitUntilAllServe() {
    const limit = Date.now() + deadlineMs;
    for (;;) {
        const { servers } = await ask('GET', '/status');
        if (servers.every(({ state }) => state !== 'down' && state !== 'looking')) return;
        if (Date.now() > limit) fail('restart: not all members serve');
        await new Promise((resolve) => setTimeout(resolve, 20));
    }
}

async function restarts(one, other) {
    const events = new Events();
    const id = one.client_id;
    await expectOk('restart: a znode that is watched', one.create(`${root}/r`, '', ZOO_PERSISTENT));
    for (let server = 0; server < 3; server += 1) {
        await expectOk('restart: a watch', repeated(() => one.w_get(`${root}/r`, events.hear)));
        await ask('POST', '/restart', JSON.stringify({ server }));
        await waitUntilAllServe();
        await expectOk('restart: the ephemeral', repeated(() => one.exists(`${root}/e`, false)));
        expect('restart: the same session', one.client_id === id, true);
        await expectOk('restart: another session writes', repeated(() => other.set(`${root}/r`, '', any)));
        await events.expect('restart: the watch', `changed ${root}/r`);
    }
    expect('restart: connections were lost', one.losses + other.losses > 0, true);
    const [, data] = await expectOk('restart: get', repeated(() => one.get(`${root}/d`, false)));
    expect('restart: get', data.toString(), 'mine');
}

async function main() {
    await sessions();
    const one = await connected('session: the first');
    const other = await connected('session: the second');
    await operations(one);
    await watches(one, other);
    await accessControl(one, other);
    await restarts(one, other);
    one.close();
    await expectOk('close: sync', other.sync(root));
    process.exit(0);
}

(role === 'abandon' ? abandon() : main()).catch((error) => fail(error.stack));
