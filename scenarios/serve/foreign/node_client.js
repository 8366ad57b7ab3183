// The client node-zookeeper-client for Node.js against any ensemble: node node_client.js CONNECT CONTROL
//
// 1. Operations: every call that the package offers, with its result. It has no sync.
// 2. Watches: every kind, and the order of their notifications.
// 3. Access: digest identities, and what they are refused.
// 4. Sessions: re-attached by id and password after the process that opened it has died; refused with a wrong password.
// 5. Restarts: each member restarts, and the session, its ephemeral and its watches survive.
//
// One line for each thing that was checked. The first difference ends the program with status 1.

'use strict';

const { execFileSync } = require('node:child_process');
const zookeeper = require('node-zookeeper-client');

const { ACL, CreateMode, Exception, Permission } = zookeeper;
const [connectString, control, role] = process.argv.slice(2);
const root = '/node-client';
const timeoutMs = 8000;
const deadlineMs = 60000;
// The package takes no null for data.
const nothing = Buffer.alloc(0);

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

// Calls a function of the package, whose last argument is a callback. Returns its error's name, or its results.
function call(object, name, ...args) {
    return new Promise((resolve) => {
        object[name](...args, (error, ...results) => {
            if (!error) resolve({ name: 'ok', results });
            else resolve({ name: error.getName ? error.getName() : String(error), code: error.code, results });
        });
    });
}

async function expectName(what, promise, want) {
    const answer = await promise;
    expect(what, answer.name, want);
    return answer.results;
}

const textOf = (stat) =>
    `version ${stat.version}, cversion ${stat.cversion}, aversion ${stat.aversion}, length ${stat.dataLength}, ` +
    `children ${stat.numChildren}, ${stat.ephemeralOwner.some((byte) => byte) ? 'ephemeral' : 'no owner'}, ` +
    (stat.czxid.equals(stat.mzxid) ? 'unmodified' : 'modified');

// The events of watchers, in the order in which they came.
class Events {
    constructor() {
        this.came = [];
        this.waiting = null;
        this.hear = (event) => {
            this.came.push(`${event.getName()} ${event.getPath()}`);
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
    const client = zookeeper.createClient(connectString, { sessionTimeout: timeoutMs, spinDelay: 200, ...options });
    client.losses = 0;
    client.on('disconnected', () => (client.losses += 1));
    client.connect();
    return client;
}

function reached(client, ...states) {
    return new Promise((resolve) => {
        const limit = setTimeout(() => fail(`none of ${states} was reached`), deadlineMs);
        for (const state of states) {
            client.once(state, () => {
                clearTimeout(limit);
                resolve(state);
            });
        }
    });
}

async function connected(what, options) {
    const client = open(options);
    expect(what, await reached(client, 'connected', 'expired'), 'connected');
    return client;
}

// A lost connection says nothing about a request that may be repeated.
async function repeated(request) {
    const limit = Date.now() + deadlineMs;
    for (;;) {
        const answer = await request();
        if (answer.code !== Exception.CONNECTION_LOSS) return answer;
        if (Date.now() > limit) fail('the connection is lost for good');
    }
}

const make = (client, path, mode = CreateMode.PERSISTENT) =>
    call(client, 'create', path, Buffer.from(''), ACL.OPEN_ACL_UNSAFE, mode);

// --- 1. Operations. ---

async function creates(one) {
    await expectName('create: the root of this program', make(one, root), 'ok');
    const data = Buffer.from('data');
    await expectName('create: persistent', call(one, 'create', `${root}/a`, data), 'ok');
    await expectName('create: it exists', make(one, `${root}/a`), 'NODE_EXISTS');
    await expectName('create: no parent', make(one, `${root}/no/child`), 'NO_NODE');
    await expectName('create: ephemeral', make(one, `${root}/e`, CreateMode.EPHEMERAL), 'ok');
    await expectName('create: a child of an ephemeral', make(one, `${root}/e/c`), 'NO_CHILDREN_FOR_EPHEMERALS');
    await expectName('create: a directory', make(one, `${root}/s`), 'ok');
    for (const [number, mode] of ['PERSISTENT_SEQUENTIAL', 'EPHEMERAL_SEQUENTIAL'].entries()) {
        const [path] = await expectName(`create: ${mode}`, make(one, `${root}/s/n-`, CreateMode[mode]), 'ok');
        expect('create: its name', path, `${root}/s/n-000000000${number}`);
    }
    await expectName('create: no data at all', call(one, 'create', `${root}/null`), 'ok');
    await expectName('create: a path and its parents', call(one, 'mkdirp', `${root}/p/q`), 'ok');
    const [below] = await expectName('list: a tree', call(one, 'listSubTreeBFS', `${root}/p`), 'ok');
    expect('list: paths', below, [`${root}/p`, `${root}/p/q`]);
    await expectName('remove: a tree', call(one, 'removeRecursive', `${root}/p`), 'ok');
    const nobody = [new ACL(Permission.ALL, new zookeeper.Id('digest', 'no colon'))];
    await expectName('create: an acl that is none', call(one, 'create', `${root}/x`, data, nobody), 'INVALID_ACL');
}

async function readsAndWrites(one) {
    let [stat] = await expectName('exists: yes', call(one, 'exists', `${root}/a`), 'ok');
    const fresh = 'version 0, cversion 0, aversion 0, length 4, children 0, no owner, unmodified';
    expect('exists: stat', textOf(stat), fresh);
    [stat] = await expectName('exists: no', call(one, 'exists', `${root}/no`), 'ok');
    expect('exists: stat', stat ? textOf(stat) : 'none', 'none');
    let data;
    [data, stat] = await expectName('get', call(one, 'getData', `${root}/a`), 'ok');
    expect('get: data', data.toString(), 'data');
    [data] = await expectName('get: no data at all', call(one, 'getData', `${root}/null`), 'ok');
    expect('get: data', data ? 'some' : 'none', 'none');
    await expectName('get: it is missing', call(one, 'getData', `${root}/no`), 'NO_NODE');
    [stat] = await expectName('set', call(one, 'setData', `${root}/a`, Buffer.from('new'), 0), 'ok');
    expect('set: stat', textOf(stat), 'version 1, cversion 0, aversion 0, length 3, children 0, no owner, modified');
    await expectName('set: another version', call(one, 'setData', `${root}/a`, nothing, 0), 'BAD_VERSION');
    await expectName('set: it is missing', call(one, 'setData', `${root}/no`, nothing), 'NO_NODE');
    let names;
    [names, stat] = await expectName('children', call(one, 'getChildren', root), 'ok');
    expect('children: names', names.sort(), ['a', 'e', 'null', 's']);
    expect('children: stat', textOf(stat), 'version 0, cversion 6, aversion 0, length 0, children 4, no owner, unmodified');
    await expectName('children: it is missing', call(one, 'getChildren', `${root}/no`), 'NO_NODE');
    await expectName('remove: another version', call(one, 'remove', `${root}/a`, 0), 'BAD_VERSION');
    await expectName('remove: it has children', call(one, 'remove', `${root}/s`), 'NOT_EMPTY');
    await expectName('remove', call(one, 'remove', `${root}/a`, 1), 'ok');
    await expectName('remove: it is missing', call(one, 'remove', `${root}/a`), 'NO_NODE');
    await expectName('remove: the root', call(one, 'remove', '/'), 'BAD_ARGUMENTS');
    const large = Buffer.alloc(1024 * 1024 - 200);
    await expectName('create: nearly a megabyte', call(one, 'create', `${root}/large`, large), 'ok');
    [data] = await expectName('get: nearly a megabyte', call(one, 'getData', `${root}/large`), 'ok');
    expect('get: length', data.length, large.length);
    await expectName('remove: nearly a megabyte', call(one, 'remove', `${root}/large`), 'ok');
}

async function transactions(one) {
    let transaction = one
        .transaction()
        .create(`${root}/m`, Buffer.from('m'))
        .create(`${root}/m/n-`, null, ACL.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL)
        .setData(`${root}/m`, Buffer.from('changed'), 0)
        .check(`${root}/m`, 1)
        .remove(`${root}/m/n-0000000000`);
    let [results] = await expectName('transaction', call(transaction, 'commit'), 'ok');
    expect('transaction: results', results.length, 5);
    expect('transaction: what it created', results[1].path, `${root}/m/n-0000000000`);
    expect('transaction: stat', textOf(results[2].stat),
        'version 1, cversion 1, aversion 0, length 7, children 1, no owner, unmodified');
    transaction = one.transaction().create(`${root}/m2`).check(`${root}/m`, 7).remove(`${root}/m`);
    [results] = await expectName('transaction: a check fails', call(transaction, 'commit'), 'BAD_VERSION');
    expect('transaction: errors', results.map((result) => result.err),
        [0, Exception.BAD_VERSION, Exception.RUNTIME_INCONSISTENCY]);
    const [stat] = await expectName('transaction: nothing was done', call(one, 'exists', `${root}/m2`), 'ok');
    expect('transaction: nothing was done', stat ? 'some' : 'none', 'none');
    await expectName('transaction: of nothing', call(one.transaction(), 'commit'), 'ok');
}

// --- 2. Watches. ---

async function watches(one, other) {
    const exists = new Events();
    const data = new Events();
    const children = new Events();
    await expectName('watch: exists, of a missing one', call(one, 'exists', `${root}/w`, exists.hear), 'ok');
    await expectName('watch: another session creates it', make(other, `${root}/w`), 'ok');
    await exists.expect('watch: exists', `NODE_CREATED ${root}/w`);
    await expectName('watch: exists', call(one, 'exists', `${root}/w`, exists.hear), 'ok');
    await expectName('watch: get', call(one, 'getData', `${root}/w`, data.hear), 'ok');
    await expectName('watch: children', call(one, 'getChildren', `${root}/w`, children.hear), 'ok');
    await expectName('watch: another session writes', call(other, 'setData', `${root}/w`, nothing), 'ok');
    await data.expect('watch: get', `NODE_DATA_CHANGED ${root}/w`);
    await expectName('watch: another session creates a child', make(other, `${root}/w/c`), 'ok');
    await children.expect('watch: children', `NODE_CHILDREN_CHANGED ${root}/w`);
    await expectName('watch: get of the child', call(one, 'getData', `${root}/w/c`, data.hear), 'ok');
    await expectName('watch: children', call(one, 'getChildren', `${root}/w`, children.hear), 'ok');
    await expectName('watch: another session removes the child', call(other, 'remove', `${root}/w/c`), 'ok');
    await data.expect('watch: get of the child', `NODE_DELETED ${root}/w/c`);
    await children.expect('watch: children', `NODE_CHILDREN_CHANGED ${root}/w`);
    await expectName('watch: get of a missing one', call(one, 'getData', `${root}/w/c`, data.hear), 'NO_NODE');
    await expectName('watch: get', call(one, 'getData', `${root}/w`, data.hear), 'ok');
    await expectName('watch: its own write', call(one, 'setData', `${root}/w`, nothing), 'ok');
    await data.expect('watch: its own write', `NODE_DATA_CHANGED ${root}/w`);
}

// --- 3. Access. ---

async function accessControl(one, other) {
    const plain = (list) => list.map((acl) => `${acl.permission} ${acl.id.scheme}:${acl.id.id}`);
    let [list] = await expectName('acl: of an open one', call(one, 'getACL', `${root}/s`), 'ok');
    expect('acl: of an open one', plain(list), ['31 world:anyone']);
    const creator = ACL.CREATOR_ALL_ACL;
    const mine = Buffer.from('mine');
    await expectName('acl: for the creator, who has no identity',
        call(one, 'create', `${root}/d`, mine, creator), 'INVALID_ACL');
    one.addAuthInfo('digest', Buffer.from('ann:secret'));
    await expectName('acl: for the creator', call(one, 'create', `${root}/d`, mine, creator), 'ok');
    [list] = await expectName('acl: its own', call(one, 'getACL', `${root}/d`), 'ok');
    expect('acl: its own', plain(list), ['31 digest:ann:7RJfAeIvrl4zdj6sS2fXrQHDvHM=']);
    await expectName('acl: set by another', call(other, 'setData', `${root}/d`, nothing), 'NO_AUTH');
    await expectName('acl: get by another', call(other, 'getData', `${root}/d`), 'NO_AUTH');
    await expectName('acl: create by another', make(other, `${root}/d/c`), 'NO_AUTH');
    await expectName('acl: acl by another', call(other, 'getACL', `${root}/d`), 'NO_AUTH');
    const [stat] = await expectName('acl: set it to read',
        call(one, 'setACL', `${root}/d`, ACL.READ_ACL_UNSAFE, 0), 'ok');
    expect('acl: stat', textOf(stat), 'version 0, cversion 0, aversion 1, length 4, children 0, no owner, unmodified');
    await expectName('acl: set by another', call(other, 'setData', `${root}/d`, nothing), 'NO_AUTH');
    await expectName('acl: get by another', call(other, 'getData', `${root}/d`), 'ok');
    await expectName('acl: nobody may set it any more',
        call(one, 'setACL', `${root}/d`, ACL.OPEN_ACL_UNSAFE, 1), 'NO_AUTH');
    await expectName('acl: another version', call(one, 'setACL', `${root}/s`, ACL.OPEN_ACL_UNSAFE, 7), 'BAD_VERSION');
    const third = await connected('auth: a third session');
    third.addAuthInfo('nonsense', Buffer.from('x'));
    expect('auth: an unknown scheme', await reached(third, 'authenticationFailed', 'expired'), 'authenticationFailed');
    third.close();
}

// --- 4. Sessions. ---

// A process that opens a session, creates an ephemeral, tells the session's id and password, and dies.
async function abandon() {
    const client = open();
    await reached(client, 'connected');
    const answer = await make(client, `${root}-left`, CreateMode.EPHEMERAL);
    if (answer.name !== 'ok') fail(`session: ${answer.name}`);
    process.stdout.write(`${client.getSessionId().toString('hex')} ${client.getSessionPassword().toString('hex')}`);
    process.stdout.end(() => process.exit(0));
}

async function sessions() {
    const told = execFileSync(process.execPath, [__filename, connectString, control, 'abandon'], { encoding: 'utf8' });
    const [sessionId, sessionPassword] = told.split(' ').map((hex) => Buffer.from(hex, 'hex'));
    const wrong = Buffer.from(sessionPassword);
    wrong[0] ^= 1;
    const thief = open({ sessionId, sessionPassword: wrong });
    expect('session: a wrong password', await reached(thief, 'connected', 'expired'), 'expired');
    thief.close();
    const heir = await connected('session: its id and password', { sessionId, sessionPassword });
    expect('session: the same id', heir.getSessionId().equals(sessionId), true);
    expect('session: timeout', heir.getSessionTimeout(), timeoutMs);
    // The package has no sync: a write lets a server catch up that is behind the one of the former process.
    await expectName('session: a write', make(heir, `${root}-write`), 'ok');
    const [stat] = await expectName('session: its ephemeral', call(heir, 'exists', `${root}-left`), 'ok');
    expect('session: owner', stat.ephemeralOwner.equals(sessionId), true);
    const closed = reached(heir, 'disconnected');
    heir.close();
    await closed;
    const late = open({ sessionId, sessionPassword });
    expect('session: it is over', await reached(late, 'connected', 'expired'), 'expired');
    late.close();
}

// --- 5. Restarts. ---

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
    const id = one.getSessionId();
    await expectName('restart: a znode that is watched', make(one, `${root}/r`), 'ok');
    for (let server = 0; server < 3; server += 1) {
        await expectName('restart: a watch', repeated(() => call(one, 'getData', `${root}/r`, events.hear)), 'ok');
        await ask('POST', '/restart', JSON.stringify({ server }));
        await waitUntilAllServe();
        const [stat] = await expectName('restart: the ephemeral', repeated(() => call(one, 'exists', `${root}/e`)), 'ok');
        expect('restart: its owner', stat.ephemeralOwner.equals(id), true);
        expect('restart: the same session', one.getSessionId().equals(id), true);
        await expectName('restart: another session writes', repeated(() => call(other, 'setData', `${root}/r`, nothing)), 'ok');
        await events.expect('restart: the watch', `NODE_DATA_CHANGED ${root}/r`);
    }
    expect('restart: connections were lost', one.losses + other.losses > 0, true);
    const [data] = await expectName('restart: get', repeated(() => call(one, 'getData', `${root}/d`)), 'ok');
    expect('restart: get', data.toString(), 'mine');
}

async function main() {
    await sessions();
    const one = await connected('session: the first');
    const other = await connected('session: the second');
    await creates(one);
    await readsAndWrites(one);
    await transactions(one);
    await watches(one, other);
    await accessControl(one, other);
    await restarts(one, other);
    const closed = reached(one, 'disconnected');
    one.close();
    await closed;
    await expectName('close: a write', call(other, 'setData', root, nothing), 'ok');
    const [stat] = await expectName('close: its ephemeral is gone', call(other, 'exists', `${root}/e`), 'ok');
    expect('close: its ephemeral is gone', stat ? 'some' : 'none', 'none');
    other.close();
}

(role === 'abandon' ? abandon() : main()).catch((error) => fail(error.stack));
