'use strict';
// The run, as the program wrote it into this page: columns are spread out, and what is asked for often is found once.

const run = JSON.parse(document.getElementById('model').textContent);
const events = (() => {
  const c = run.events;
  const count = c.kind.length;
  const at = new Float64Array(count);
  for (let i = 0, now = 0; i < count; i++) at[i] = now += c.after_us[i];
  return { ...c, count, at };
})();

const kindOf = (e) => events.kinds[events.kind[e]];
const textOf = (e) => run.texts[events.text[e]];
const pathOf = (e) => run.texts[events.path[e]];
const zxidOf = (e) => run.texts[events.zxid[e]];
const partyOf = (e) => run.parties[events.who[e]];
const causesOf = (e) => events.causes[e].map((back) => e - back);
const seconds = (us) => (us / 1e6).toFixed(us % 1000 === 0 ? 3 : 6);
const count = (n, one, many) => `${n.toLocaleString('en')} ${n === 1 ? one : many ?? one + 's'}`;

/** A duration in the largest suitable unit. */
function lasting(us) {
  if (us >= 1e6) return `${+(us / 1e6).toFixed(us >= 1e7 ? 1 : 2)} s`;
  if (us >= 1e3) return `${+(us / 1e3).toFixed(us >= 1e5 ? 0 : 1)} ms`;
  return `${us} µs`;
}

/** The index of the first element of a sorted list that is not smaller. */
function lowerBound(list, number) {
  let from = 0, to = list.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (list[middle] < number) from = middle + 1; else to = middle;
  }
  return from;
}

/** The effects of an event: the inverse of the causes, computed on first use. */
const effectsOf = (() => {
  let starts = null, all = null;
  return (e) => {
    if (!starts) {
      starts = new Uint32Array(events.count + 1);
      for (let i = 0; i < events.count; i++) for (const back of events.causes[i]) starts[i - back + 1]++;
      for (let i = 0; i < events.count; i++) starts[i + 1] += starts[i];
      all = new Uint32Array(starts[events.count]);
      const next = starts.slice();
      for (let i = 0; i < events.count; i++) for (const back of events.causes[i]) all[next[i - back]++] = i;
    }
    return Array.from(all.subarray(starts[e], starts[e + 1]));
  };
})();

/** The causal history of an event, up to `most` events. */
function chainOf(e, most = 400) {
  const seen = new Set([e]);
  const ahead = [e];
  while (ahead.length && seen.size < most) {
    for (const cause of causesOf(ahead.shift())) {
      if (!seen.has(cause)) { seen.add(cause); ahead.push(cause); }
    }
  }
  return seen;
}

/** The living znodes after an event, sorted by path. */
function treeAt(e) {
  const nodes = new Map();
  for (let z = 0; z < run.znodes.length && run.znodes[z].created <= e; z++) {
    const znode = run.znodes[z];
    if (znode.deleted === null || znode.deleted >= e) nodes.set(z, { znode, number: z, version: -1, length: null, digest: null, changed: -1 });
  }
  for (const [at, z, length, digest] of run.holds) {
    if (at > e) break;
    const node = nodes.get(z);
    if (node) Object.assign(node, { version: node.version + 1, length, digest, changed: at });
  }
  return [...nodes.values()].sort((a, b) => (run.texts[a.znode.path] < run.texts[b.znode.path] ? -1 : 1));
}

/** The rules about mutual exclusion. */
const exclusive = new Set(['MX-1', 'MX-2', 'MX-3', 'RW-1', 'LE-1']);

/** The overlap of two holders that exclude each other: the clients, and the first and last event. */
function overlapOf(finding) {
  if (!finding || !exclusive.has(finding.rule)) return null;
  const then = run.beliefs.filter((belief) => run.objects[belief.object]?.path === finding.path
    && belief.from <= finding.event && (belief.to === null || belief.to >= finding.event));
  if (then.length < 2) return null;
  const from = Math.max(...then.map((belief) => belief.from));
  const ends = then.map((belief) => belief.to).filter((to) => to !== null);
  return { from, to: ends.length ? Math.min(...ends) : null, clients: then.map((belief) => belief.client) };
}

const sessionOf = new Map(run.sessions.map((session) => [session.number, session]));
function ownerName(number) {
  const session = sessionOf.get(number);
  const client = session?.client;
  return client === null || client === undefined ? `s${number}` : `${run.parties[client].name} (s${number})`;
}

const signs = { fail: '✗', unknown: '?', unavoidable: '≈', pass: '✓', vacuous: '○' };
const verdictWords = {
  fail: 'a rule failed',
  unknown: 'evidence is missing',
  unavoidable: 'no correct program could have avoided it',
  pass: 'tested, and held',
  vacuous: 'never tested',
};

/** An element with attributes and contents. Texts become text nodes, so markup in them has no effect. */
function h(name, attributes = {}, ...inside) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...inside.flat(Infinity).filter((part) => part !== null && part !== undefined && part !== false));
  return element;
}

/** Replaces the contents of an element. */
const fill = (element, ...inside) => element.replaceChildren(...inside.flat(Infinity).filter((part) => part !== null && part !== undefined && part !== false));

function s(name, attributes = {}, ...inside) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value);
  }
  element.append(...inside.flat(Infinity).filter((part) => part !== null && part !== undefined));
  return element;
}

const hue = (party) => {
  const clients = run.parties.map((p, i) => (p.kind === 'client' ? i : -1)).filter((i) => i >= 0);
  const place = clients.indexOf(party);
  return place < 0 ? 'hue-none' : `hue-${place % 6}`;
};
const hues = run.parties.map((_, party) => (run.parties[party].kind === 'client' ? hue(party) : `hue-${run.parties[party].kind}`));

/** A path whose long numbers are cut, as the program cuts them in its sentences. */
const short = (path) => path.replace(/[0-9a-f]{32,}/g, (digits) => digits.slice(0, 4) + '…');
const leaf = (path) => short(path).split('/').pop() || '/';
