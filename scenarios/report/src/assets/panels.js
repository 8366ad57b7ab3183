// What stands around the chart: the breach in words, the overview in time, the selected event, the tree, and the tabs.

const say = (...parts) => parts.filter(Boolean).join(' · ');

/** Turns event numbers such as e12 in a text into links. */
function linked(text, onEvent) {
  const parts = [];
  let from = 0;
  for (const found of text.matchAll(/\be(\d+)\b/g)) {
    const e = Number(found[1]);
    if (e >= events.count) continue;
    parts.push(text.slice(from, found.index), h('a', { href: `#event=${e}`, class: 'event', title: textOf(e), onclick: (click) => { click.preventDefault(); onEvent(e); } }, found[0]));
    from = found.index + found[0].length;
  }
  return [...parts, text.slice(from)];
}

const copyable = (command) => h('code', { class: 'command' }, h('span', {}, command.length > 140 ? command.slice(0, 120) + '…' : command),
  h('button', { type: 'button', class: 'copy', title: `copy all ${command.length} characters`, onclick: async (click) => {
    const button = click.currentTarget;
    try { await navigator.clipboard.writeText(command); button.textContent = 'copied'; } catch { button.textContent = 'cannot copy here'; button.after(h('textarea', { readonly: true }, command)); }
  } }, 'copy'));

function drawBreach(which, onFinding, onEvent) {
  const badge = document.getElementById('badge');
  badge.className = `badge ${run.verdict}`;
  badge.replaceChildren(h('span', { class: 'sign', 'aria-hidden': 'true' }, signs[run.verdict] ?? '·'), h('span', {}, run.verdict));
  badge.title = verdictWords[run.verdict] ?? '';
  document.getElementById('title').textContent = run.source.title;
  document.getElementById('about').textContent = run.source.about;
  const box = document.getElementById('breach');
  const notes = [];
  if (run.source.end) notes.push(h('p', { class: 'note' }, h('strong', {}, 'The run did not end as it should. '), run.source.end + '.'));
  if (run.source.waits) notes.push(h('pre', { class: 'waits' }, run.source.waits.join('\n')));
  if (run.unknown) notes.push(h('p', { class: 'note' }, h('strong', {}, 'Evidence is missing. '), run.unknown + '.'));
  const facts = h('dl', { class: 'facts' },
    run.source.plan ? [h('dt', {}, 'drawn'), h('dd', {}, run.source.plan)] : null,
    [h('dt', {}, 'again'), h('dd', {}, copyable(run.source.command))],
    [h('dt', {}, 'ran'), h('dd', {}, `${count(events.count, 'event')} in ${lasting(run.lasted_us)}; ${count(run.rules.filter((rule) => rule.premises > 0).length, 'rule')} tested`)]);
  const finding = run.findings[which];
  if (!finding) {
    const sentence = { pass: 'Every rule that was tested held.', vacuous: 'No rule was tested.' }[run.verdict] ?? 'The checker has no finding.';
    fill(box, h('div', { class: 'story-of' }, h('h2', {}, sentence), notes), facts);
    return;
  }
  const lines = finding.lines.map((line) => h('p', { class: `line ${line.head.replace(' ', '-') || 'what'}` },
    line.head ? h('span', { class: 'head' }, line.head) : null, h('span', {}, linked(line.text, onEvent))));
  // One chip for each group of findings that differ only by names and times, with their number, and one for the shown finding.
  const alike = (i) => run.findings.filter((other) => other.like === i).length;
  const chip = (other, i) => h('button', {
    type: 'button', class: `chip ${other.verdict}`, 'aria-pressed': String(i === which), title: `${other.title}: ${other.lines[0]?.text ?? ''}`, onclick: () => onFinding(i),
  }, `${signs[other.verdict]} ${other.rule}`, h('small', {}, ` e${other.event}${alike(i) > 1 ? ` and ${alike(i) - 1} alike` : ''}`));
  const chips = run.findings.map((other, i) => other.like === i || i === which ? chip(other, i) : null).filter((one) => one);
  const MOST_CHIPS = 12;
  const more = chips.length > MOST_CHIPS && which < MOST_CHIPS ? chips.splice(MOST_CHIPS) : [];
  fill(box,
    h('div', { class: 'story-of' },
      h('p', { class: 'rule-line' }, h('span', { class: `rule ${finding.verdict}` }, finding.rule), h('span', { class: 'rule-title' }, finding.title), h('span', { class: 'path' }, finding.path)),
      h('h2', { class: 'promise' }, h('span', { class: 'head' }, finding.verdict === 'unavoidable' ? 'not avoidable' : 'promised'), finding.promise),
      h('div', { class: 'lines' }, lines),
      finding.secondary ? h('p', { class: 'note' }, 'A rule of a deeper layer failed before; that may be the cause.') : null,
      notes),
    facts,
    run.findings.length > 1 ? h('div', { class: 'chips', role: 'group', 'aria-label': 'All findings' }, h('span', { class: 'said' }, `${count(run.findings.length, 'finding')}:`), chips,
      more.length ? h('button', { type: 'button', class: 'chip', onclick: (click) => click.currentTarget.replaceWith(...more) }, `+ ${more.length} more`) : null,
      run.findings_not_kept ? h('span', { class: 'said' }, `and ${count(run.findings_not_kept, 'more that was', 'more that were')} counted and not kept`) : null) : null);
}

/** The run with time from left to right: a row for each client and object. */
class Overview {
  constructor(onSelect) {
    this.box = document.getElementById('overview');
    this.said = document.getElementById('overview-said');
    this.onSelect = onSelect;
    this.from = 0;
    this.to = Math.max(run.lasted_us, 1);
    this.cursor = null;
    this.view = null;
    new ResizeObserver(() => this.draw()).observe(this.box);
    const rows = new Map();
    for (const [list, kind] of [[run.beliefs, 'beliefs'], [run.operations, 'operations']]) {
      for (const one of list) {
        const key = `${one.object} ${one.client}`;
        if (!rows.has(key)) rows.set(key, { object: one.object, client: one.client, beliefs: [], operations: [], seen: [] });
        rows.get(key)[kind].push(one);
      }
    }
    // The latest end of all spans up to each: a binary search then skips spans before the shown time.
    for (const row of rows.values()) {
      for (const list of [row.operations, row.beliefs]) {
        let reach = 0;
        list.reach = list.map((one) => (reach = Math.max(reach, one.to === null ? run.lasted_us : events.at[one.to])));
      }
    }
    this.rows = [...rows.values()].sort((a, b) => a.object - b.object || a.client - b.client);
    for (const [e, object] of run.observed) rows.get(`${object} ${events.who[e]}`)?.seen.push(e);
    this.everyRow = false;
    this.box.addEventListener('wheel', (wheel) => {
      if (!wheel.ctrlKey && !wheel.shiftKey) return;
      wheel.preventDefault();
      if (wheel.ctrlKey) this.zoom(wheel.deltaY > 0 ? 1.25 : 0.8, this.timeAt(wheel.clientX));
      else this.pan((wheel.deltaY || wheel.deltaX) / 600);
    }, { passive: false });
    this.box.addEventListener('pointerdown', (down) => {
      if (down.target.closest('button')) return;
      const begun = { x: down.clientX, from: this.from, to: this.to };
      let moved = false;
      const move = (to) => {
        const by = ((begun.x - to.clientX) / this.wide) * (begun.to - begun.from);
        if (!moved && Math.abs(to.clientX - begun.x) < 5) return;
        moved = true;
        this.range(begun.from + by, begun.to + by);
      };
      const up = (last) => {
        window.removeEventListener('pointermove', move);
        window.removeEventListener('pointerup', up);
        if (!moved) this.pick(last.clientX);
      };
      window.addEventListener('pointermove', move);
      window.addEventListener('pointerup', up);
    });
    this.box.addEventListener('dblclick', () => this.range(0, run.lasted_us));
  }
  get left() { return Math.min(run.objects.length > 1 ? 170 : 110, this.box.clientWidth * 0.22); }
  get wide() { return Math.max(50, this.box.clientWidth - this.left - 12); }
  x(us) { return this.left + ((us - this.from) / (this.to - this.from)) * this.wide; }
  timeAt(clientX) { return this.from + ((clientX - this.box.getBoundingClientRect().left - this.left) / this.wide) * (this.to - this.from); }
  pick(clientX) { this.onSelect(Math.min(events.count - 1, lowerBound(events.at, this.timeAt(clientX)))); }
  range(from, to) {
    const whole = Math.max(run.lasted_us, 1);
    const span = Math.min(Math.max(to - from, Math.min(whole, 200)), whole * 1.04);
    this.from = Math.min(Math.max(from, -whole * 0.02), Math.max(whole * 1.02 - span, -whole * 0.02));
    this.to = this.from + span;
    this.draw();
  }
  zoom(by, about = (this.from + this.to) / 2) { this.range(about - (about - this.from) * by, about + (this.to - about) * by); }
  pan(by) { const span = this.to - this.from; this.range(this.from + by * span, this.to + by * span); }
  /** Marks an event, and scrolls to it if it is out of view. */
  mark(e) {
    this.cursor = e;
    const at = events.at[e], span = this.to - this.from;
    if (at < this.from || at > this.to) this.range(at - span / 2, at + span / 2); else this.draw();
  }
  fit(first, last) {
    const [a, b] = [events.at[first] ?? 0, events.at[last] ?? run.lasted_us];
    const air = Math.max((b - a) * 0.08, 500);
    this.range(a - air, b + air);
  }

  /** The spans of a list within the shown time. */
  *within(list) {
    for (let i = lowerBound(list.reach, this.from); i < list.length && events.at[list[i].from] <= this.to; i++) yield list[i];
  }

  draw() {
    const width = this.box.clientWidth;
    if (!width || !events.count) return;
    const MOST = 10;
    const told = run.findings[this.finding ?? 0]?.path;
    // Rows of the object whose promise was broken come first, then rows of the clients that the finding cites.
    const concerned = new Set((run.findings[this.finding ?? 0]?.cited ?? []).flatMap((e) => [events.who[e], sessionOf.get(events.session[e])?.client]));
    const weight = (row) => (run.objects[row.object]?.path === told ? 2 : 0) + (this.rows.length > MOST && concerned.has(row.client) ? 1 : 0);
    const ordered = this.rows.toSorted((a, b) => weight(b) - weight(a));
    const rows = this.everyRow ? ordered : ordered.slice(0, MOST);
    const rowHeight = 22, top = 20;
    const several = run.objects.length > 1;
    const strikeHeight = run.strikes.length ? 20 : 0;
    const height = top + rows.length * rowHeight + strikeHeight + 26;
    const svg = s('svg', { width, height, role: 'img', 'aria-label': 'Operations, beliefs and faults in time' }, definitions());
    const clip = s('clipPath', { id: 'in-time' }, s('rect', { x: this.left, y: 0, width: this.wide, height }));
    svg.append(clip);
    const ground = s('g', {}), inside = s('g', { 'clip-path': 'url(#in-time)' });
    svg.append(ground, inside);
    for (const us of ticks(this.from, this.to, Math.max(2, Math.floor(this.wide / 110)))) {
      ground.append(s('line', { x1: this.x(us), x2: this.x(us), y1: top - 4, y2: height - 22, class: 'grid' }), s('text', { x: this.x(us), y: 11, class: 'tick' }, `${+(us / 1e6).toFixed(6)} s`));
    }
    const end = (to) => (to === null ? run.lasted_us : events.at[to]);
    const rect = (from, to, y, tall, kind, title) => s('rect', { x: this.x(from), width: Math.max(this.x(to) - this.x(from), 2), y, height: tall, rx: 3, class: kind }, s('title', {}, title));
    let drawn = 0;
    const away = (from, to) => to < this.from || from > this.to;
    rows.forEach((row, i) => {
      const y = top + i * rowHeight;
      const object = run.objects[row.object];
      const label = run.parties[row.client].name + (several && object ? ` ${short(object.path)}` : '');
      ground.append(s('text', { x: this.left - 10, y: y + 14, class: `row-label ${hues[row.client]}` }, label.length > 20 ? label.slice(0, 19) + '…' : label, s('title', {}, `${run.parties[row.client].name}: ${object?.kind} ${object?.path}`)),
        s('line', { x1: this.left, x2: this.left + this.wide, y1: y + rowHeight - 2, y2: y + rowHeight - 2, class: 'grid' }));
      // One operation per pixel is drawn: a long run has more operations than a screen has pixels.
      let last = -10;
      for (const operation of this.within(row.operations)) {
        const [from, to] = [events.at[operation.from], end(operation.to)];
        if (away(from, to)) continue;
        const right = this.x(to);
        if (right - last < 1 && this.x(from) - last < 1) continue;
        last = right;
        drawn++;
        inside.append(rect(from, to, y + 3, 14, `operation ${hues[row.client]} ${operation.outcome ?? 'open'}`, `${run.parties[row.client].name}: ${operation.verb}, ${operation.outcome ?? 'never returned'}, ${lasting(to - from)}`));
        if (right - this.x(from) > operation.verb.length * 6 + 8) inside.append(s('text', { x: Math.max(this.x(from), this.left) + 5, y: y + 14, class: 'verb' }, operation.verb));
      }
      for (const belief of this.within(row.beliefs)) {
        const [from, to] = [events.at[belief.from], end(belief.to)];
        if (away(from, to)) continue;
        inside.append(rect(from, to, y + 4, 12, `belief ${hues[row.client]}`, `${run.parties[row.client].name} believes, token ${belief.token}, ${lasting(to - from)}`));
        if (this.x(to) - this.x(from) > 44) inside.append(s('text', { x: Math.max(this.x(from), this.left) + 5, y: y + 14, class: 'verb on-belief' }, object?.kind === 'election' ? 'leads' : 'holds'));
      }
      let lastSeen = -10, lastWord = -100;
      for (let i = lowerBound(row.seen, lowerBound(events.at, this.from)); i < row.seen.length && events.at[row.seen[i]] <= this.to; i++) {
        const e = row.seen[i], x = this.x(events.at[e]);
        if (x - lastSeen < 1) continue;
        lastSeen = x;
        inside.append(s('path', { d: `M${x} ${y + 4}l5 6l-5 6l-5 -6z`, class: `seen ${hues[row.client]}` }, s('title', {}, textOf(e))));
        const word = /: ([\w-]{1,10})$/.exec(textOf(e))?.[1];
        if (word && x - lastWord > 60) { lastWord = x; inside.append(s('text', { x: x + 8, y: y + 14, class: 'verb word' }, word)); }
      }
    });
    const y = top + rows.length * rowHeight;
    if (strikeHeight) {
      ground.append(s('text', { x: this.left - 10, y: y + 14, class: 'row-label faults' }, '⚡ faults'));
      let last = -10;
      for (const strike of run.strikes) {
        const [from, to] = [events.at[strike.from], strike.to === null ? events.at[strike.from] + strike.lasts_us : events.at[strike.to]];
        if (away(from, to) || (this.x(to) - last < 1)) continue;
        last = Math.max(this.x(to), this.x(from));
        inside.append(rect(from, to, y + 4, 12, 'strike-bar', strike.text), s('path', { d: `M${this.x(from) + 3} ${y + 1}l-8 10h5l-3 8l8 -10h-5z`, class: 'bolt' }));
      }
    }
    // A histogram of events, with a bar for every few pixels.
    const bars = new Map();
    const firstAt = lowerBound(events.at, this.from), lastAt = lowerBound(events.at, this.to);
    for (let e = firstAt; e < lastAt; e++) { const at = Math.floor(this.x(events.at[e]) / 3); bars.set(at, (bars.get(at) ?? 0) + 1); }
    const highest = Math.max(1, ...bars.values());
    ground.append(s('text', { x: this.left - 10, y: height - 8, class: 'row-label said' }, 'events'));
    for (const [at, n] of bars) { const tall = 2 + 14 * (n / highest); inside.append(s('rect', { x: at * 3, width: 2, y: height - 4 - tall, height: tall, class: 'density' })); }
    if (this.view) {
      const x1 = this.x(this.view[0]), x2 = this.x(this.view[1]);
      inside.append(s('rect', { x: x1, width: Math.max(x2 - x1, 3), y: height - 21, height: 19, rx: 3, class: 'viewport' }, s('title', {}, 'what the chart below shows')));
    }
    const finding = run.findings[this.finding ?? 0];
    const overlap = overlapOf(finding);
    if (overlap) {
      const x1 = this.x(events.at[overlap.from]), x2 = this.x(overlap.to === null ? run.lasted_us : events.at[overlap.to]);
      inside.append(s('g', { class: 'overlap' }, s('rect', { x: x1, width: Math.max(x2 - x1, 3), y: top - 2, height: rows.length * rowHeight, rx: 4 }, s('title', {}, 'two holders at once')),
        x2 - x1 > 120 ? s('text', { x: x1 + 6, y: y + strikeHeight - 6 }, 'two holders at once') : null));
    }
    if (finding) {
      const x = this.x(events.at[finding.event]);
      inside.append(s('line', { x1: x, x2: x, y1: top - 6, y2: height - 22, class: 'breach-line' }), s('path', { d: `M${x - 4} ${top - 12}l8 8m0 -8l-8 8`, class: 'breach-cross' }, s('title', {}, `${finding.rule}: here it was broken`)));
    }
    if (this.cursor !== null) {
      const x = this.x(events.at[this.cursor]);
      inside.append(s('line', { x1: x, x2: x, y1: top - 6, y2: height - 2, class: 'cursor' }));
    }
    fill(this.box, svg);
    const hidden = this.rows.length - rows.length;
    if (hidden > 0) this.box.append(h('button', { type: 'button', class: 'more', onclick: () => { this.everyRow = true; this.draw(); } }, `${count(hidden, 'more row')} not drawn: show`));
    this.said.textContent = say(`${seconds(Math.max(0, Math.round(this.from)))} – ${seconds(Math.round(Math.min(this.to, run.lasted_us)))} s of ${lasting(run.lasted_us)}`, 'drag to move, Ctrl + wheel to zoom');
  }
}

function ticks(from, to, most) {
  const rough = (to - from) / most;
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
  const found = [];
  for (let us = Math.ceil(Math.max(from, 0) / step) * step; us <= to; us += step) found.push(us);
  return found;
}

function drawInspector(e, chart, onEvent) {
  const box = document.getElementById('inspector');
  if (e === null) { fill(box, h('p', { class: 'said' }, 'Choose an event: its causes are marked, and the tree is shown as it was then.')); return; }
  const fact = (name, value) => (value ? [h('dt', {}, name), h('dd', {}, value)] : null);
  const line = (other) => h('li', { class: chart.isShown(other) ? '' : 'not-shown' },
    h('a', { href: `#event=${other}`, onclick: (click) => { click.preventDefault(); onEvent(other); } }, h('span', { class: 'number' }, `e${other}`), ' ',
      h('span', { class: hues[events.who[other]] }, run.parties[events.who[other]].name), ' ', textOf(other)));
  const list = (title, all, none) => {
    const MOST = 12;
    return [h('h3', {}, title), all.length ? h('ol', { class: 'ties' }, all.slice(0, MOST).map(line), all.length > MOST ? h('li', { class: 'said' }, `and ${all.length - MOST} more`) : null) : h('p', { class: 'said' }, none)];
  };
  const session = events.session[e];
  fill(box,
    h('p', { class: 'moment' }, h('span', { class: 'number' }, `e${e}`), h('span', {}, ` at ${seconds(events.at[e])} s`)),
    h('p', { class: 'told' }, h('strong', { class: hues[events.who[e]] }, partyOf(e).name), ' ', textOf(e)),
    h('dl', { class: 'facts small' }, fact('kind', kindOf(e).replaceAll('_', ' ')), fact('path', pathOf(e)), fact('zxid', zxidOf(e)),
      fact('session', session ? ownerName(session) : null), fact('request', events.req[e] || null), fact('connection', events.conn[e] || null), fact('operation', events.op[e] || null)),
    list('Because of', causesOf(e).reverse(), 'none known'),
    list('It led to', effectsOf(e), 'none known'));
}

function drawTree(e) {
  const box = document.getElementById('tree');
  if (run.mode === 'client') { fill(box, h('h3', {}, 'The tree'), h('p', { class: 'said' }, 'This is a capture of the events of clients; it has no tree.')); return; }
  const at = e ?? events.count - 1;
  const nodes = treeAt(at);
  const MOST = 200;
  const rows = nodes.slice(0, MOST).map(({ znode, version, length, digest, changed }) => {
    const path = run.texts[znode.path];
    const depth = path === '/' ? 0 : path.split('/').length - 2;
    const gone = znode.deleted === at, fresh = znode.created === at || changed === at;
    return h('li', { class: `${gone ? 'gone' : ''} ${fresh ? 'fresh' : ''}`, style: `--depth:${Math.max(0, depth)}`, title: path },
      h('span', { class: 'name' }, gone ? '− ' : fresh ? '● ' : '', leaf(path)),
      h('span', { class: `owner ${znode.owner ? hues[sessionOf.get(znode.owner)?.client] ?? '' : ''}` }, znode.owner ? `of ${ownerName(znode.owner)}` : ''),
      h('span', { class: 'data' }, say(znode.czxid, version > 0 ? `v${version}` : null, length === null ? null : length === 0 ? 'empty' : `${length} B ${digest?.slice(0, 6)}`)));
  });
  fill(box,
    h('h3', {}, 'The tree at this moment'),
    nodes.length ? h('ul', { class: 'tree' }, rows) : h('p', { class: 'said' }, 'no znode yet'),
    h('p', { class: 'said' }, say(count(nodes.length, 'znode') + ', as the first server to apply each change has it', 'ephemerals with their owner, then czxid, data version, bytes and digest'), nodes.length > MOST ? `; ${nodes.length - MOST} of them are not drawn` : ''));
}

function drawRules() {
  const layers = [];
  for (const rule of run.rules) {
    let layer = layers.find((one) => one.name === rule.layer);
    if (!layer) layers.push(layer = { name: rule.layer, rules: [] });
    layer.rules.push(rule);
  }
  const tally = {};
  for (const rule of run.rules) tally[rule.verdict] = (tally[rule.verdict] ?? 0) + 1;
  const order = ['fail', 'unknown', 'unavoidable', 'pass', 'vacuous'];
  fill(document.getElementById('panel-rules'),
    h('p', { class: 'lead' }, order.filter((verdict) => tally[verdict]).map((verdict, i) => [i ? ', ' : '', h('strong', { class: `verdict ${verdict}` }, `${signs[verdict]} ${tally[verdict]} ${verdict}`)]), ` of ${count(run.rules.length, 'promise')}.`),
    h('ul', { class: 'said verdict-words' }, order.map((verdict) => h('li', {}, h('span', { class: `verdict ${verdict}` }, `${signs[verdict]} ${verdict}`), `: ${verdictWords[verdict]}`))),
    layers.map((layer) => [h('h2', {}, layer.name), h('div', { class: 'scroll' }, h('table', {},
      h('thead', {}, h('tr', {}, ['verdict', 'rule', 'promise', 'premises', 'findings'].map((name) => h('th', { scope: 'col' }, name)))),
      h('tbody', {}, layer.rules.map((rule) => h('tr', { class: rule.verdict },
        h('td', { class: `verdict ${rule.verdict}` }, `${signs[rule.verdict]} ${rule.verdict}`),
        h('td', { class: 'rule-id' }, rule.id, rule.object !== null && run.objects.length > 1 ? h('small', {}, ` ${run.objects[rule.object]?.path}`) : null),
        h('td', {}, h('strong', {}, rule.title), h('br'), rule.promise, rule.required_unproved ? h('em', {}, ' required, and never tested') : null),
        h('td', { class: 'n' }, `${rule.premises.toLocaleString('en')} ×`), h('td', { class: 'n' }, rule.findings ? rule.findings.toLocaleString('en') : '–'))))))]));
}

function drawCost(onEvent) {
  const c = run.cost;
  const figure = (value, name, about) => h('div', { class: 'figure' }, h('b', {}, value), h('span', {}, name), about ? h('small', {}, about) : null);
  const pair = (counted, time) => { const show = time ? lasting : (n) => n.toLocaleString('en'); return counted.sum ? [h('b', {}, show(counted.most)), h('small', {}, `  Σ ${show(counted.sum)}`)] : '–'; };
  fill(document.getElementById('panel-cost'),
    h('div', { class: 'figures' },
      figure(c.requests, 'requests', `and ${c.cleanup_requests} of clean-up and client libraries`), figure(c.notifications, 'notifications'),
      figure(c.herd_index, 'herd index', 'the most waiters that one transaction woke, for each one admitted'),
      figure(c.grants, 'grants', `${c.waits} of them had to wait`), figure(c.round_trips, 'round trips', 'the most for one grant'),
      figure(c.watches_at_once, 'watches at once', `${count(run.watches.length, 'watch', 'watches')} in all`),
      figure(c.leaks, 'left behind', 'znodes and watches'), c.zombies ? figure(c.zombies, 'excused overlaps', `the longest ${lasting(c.longest_zombie_us)}`) : null),
    h('h2', {}, 'By object and operation'),
    h('p', { class: 'said' }, 'The most of one operation, and the sum (Σ) of all of that name.'),
    h('div', { class: 'scroll' }, h('table', {}, h('thead', {}, h('tr', {}, ['object', 'operation', 'calls', 'done', 'other ends', 'requests', 'round trips', 'watches', 'notifications', 'clean-up', 'time'].map((name) => h('th', { scope: 'col' }, name)))),
      h('tbody', {}, c.rows.map((row) => h('tr', {}, h('td', {}, run.objects[row.object]?.path ?? '', h('br'), h('small', {}, run.objects[row.object]?.kind ?? '')), h('td', {}, row.verb), [row.calls, row.done, row.other_ends].map((n) => h('td', { class: 'n' }, n || '–')),
        [row.requests, row.round_trips, row.watches, row.notifications, row.cleanup].map((pairs) => h('td', { class: 'n' }, pair(pairs))), h('td', { class: 'n' }, pair(row.lasted_us, true))))))),
    c.wake_ups.length ? [h('h2', {}, 'The largest wake-ups'), h('ol', { class: 'ties' }, c.wake_ups.map((wake) => h('li', {}, h('a', { href: `#event=${wake.event}`, onclick: (click) => { click.preventDefault(); onEvent(wake.event); } }, `e${wake.event}`), ` fired ${count(wake.fired, 'watch', 'watches')}: ${textOf(wake.event)}`)))] : null);
}

function drawBeside(onEvent) {
  const box = document.getElementById('panel-beside');
  const b = run.beside;
  if (!b) { fill(box, h('p', { class: 'lead' }, 'No other run was given. ', h('code', {}, '--beside FILE-OR-CODE'), ' compares this run with another, best the nearest passing run.')); return; }
  const parts = b.same < events.count;
  const list = (title, all, row) => {
    let shown = 100;
    const body = h('ol', { class: 'ties' });
    const more = h('button', { type: 'button', onclick: () => { shown += 1000; refill(); } });
    const refill = () => { body.replaceChildren(...all.slice(0, shown).map(row)); more.textContent = `${count(Math.max(0, all.length - shown), 'more')}: show`; more.hidden = all.length <= shown; };
    refill();
    return h('div', {}, h('h2', {}, title, ' ', h('small', {}, all.length.toLocaleString('en'))), all.length ? body : h('p', { class: 'said' }, 'none'), more);
  };
  fill(box,
    h('p', { class: 'lead' }, parts || b.events !== events.count
      ? [`The two runs are the same for their first ${count(b.same, 'event')}`, parts ? [', and part at ', h('a', { href: `#event=${b.same}`, onclick: (click) => { click.preventDefault(); onEvent(b.same); } }, `e${b.same}`), `: ${partyOf(b.same).name} ${textOf(b.same)}.`] : '; then this one ends.']
      : 'The two runs are the same.'),
    h('p', { class: 'said' }, `Events are the same if the same party does the same in the same words, whenever that is.`),
    h('div', { class: 'two' },
      list('Only in this run', b.only_here, (e) => h('li', { class: e === b.same ? 'parts' : '' }, h('a', { href: `#event=${e}`, onclick: (click) => { click.preventDefault(); onEvent(e); } }, `e${e}`), ' ', h('span', { class: hues[events.who[e]] }, partyOf(e).name), ' ', textOf(e))),
      list(`Only in ${b.title} (${b.verdict})`, b.only_there, (there) => h('li', {}, h('span', { class: 'number' }, `${seconds(there.at_us)} s`), ' ', h('strong', {}, there.who), ' ', there.text))));
}

function drawRun() {
  const r = run.source;
  const hot = r.choices.map((choice, i) => [i, choice]).filter(([, choice]) => choice !== 0);
  fill(document.getElementById('panel-run'),
    h('dl', { class: 'facts wide' },
      [h('dt', {}, 'run'), h('dd', {}, r.title)], r.seed !== null ? [h('dt', {}, 'seed'), h('dd', {}, String(r.seed))] : null,
      r.plan ? [h('dt', {}, 'drawn'), h('dd', {}, r.plan)] : null,
      [h('dt', {}, 'again'), h('dd', {}, copyable(r.command))], r.exactly ? [h('dt', {}, 'exactly'), h('dd', {}, copyable(r.exactly))] : null,
      r.hash ? [h('dt', {}, 'hash'), h('dd', {}, h('code', {}, r.hash))] : null,
      [h('dt', {}, 'evidence'), h('dd', {}, run.mode === 'sim' ? 'a simulation, with the events of the servers' : 'a capture, with the events of clients only')],
      [h('dt', {}, 'objects'), h('dd', {}, run.objects.map((object) => `${object.kind} ${object.path}`).join(', '))]),
    h('h2', {}, 'Choices'),
    r.choices.length ? [h('p', {}, `${count(r.choices.length, 'choice')} were made; ${count(hot.length, 'of them is', 'of them are')} not the default. The same choices reproduce the run.`),
      h('details', {}, h('summary', {}, 'Choices that are not the default'), h('p', { class: 'choices' }, hot.map(([i, choice]) => `${i}:${choice}`).join('  ')))] : h('p', { class: 'said' }, 'The choices of this run are not known.'));
}
