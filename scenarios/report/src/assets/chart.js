// The space-time chart: time goes down, an event a row, a lane for each party, session and znode. Only what can be seen
// is in the document.

const ROW = { least: 18, usual: 26, most: 44 };
const WIDTH = { client: 58, server: 62, session: 30, znode: 26, least: 26, sentence: 480 };
const MOST_ZNODES = 12, MOST_SESSIONS = 8;

/** An index of spans by blocks of rows, to find the spans near a row without a scan. */
class Blocks {
  constructor(spans, size = 128) {
    this.size = size;
    this.blocks = new Map();
    for (const span of spans) {
      const last = Math.floor(span.bottom / size);
      for (let b = Math.floor(span.top / size); b <= last; b++) {
        if (!this.blocks.has(b)) this.blocks.set(b, []);
        this.blocks.get(b).push(span);
      }
    }
  }
  between(top, bottom) {
    const found = new Set();
    for (let b = Math.floor(top / this.size); b <= Math.floor(bottom / this.size); b++) {
      for (const span of this.blocks.get(b) ?? []) if (span.bottom >= top && span.top <= bottom) found.add(span);
    }
    return found;
  }
}

class Chart {
  constructor(onSelect) {
    this.box = document.getElementById('chart');
    this.head = document.getElementById('chart-head');
    this.body = document.getElementById('chart-body');
    this.svg = document.getElementById('lanes');
    this.rowsBox = document.getElementById('rows');
    this.rowHeight = ROW.usual;
    this.selected = null;
    this.chain = new Set();
    this.cited = new Set();
    this.box.addEventListener('scroll', () => this.draw());
    new ResizeObserver(() => {
      if (this.shown && this.narrow !== this.box.clientWidth < 640) this.onReshape?.(); else this.draw();
    }).observe(this.box);
    this.rowsBox.addEventListener('click', (click) => {
      const row = click.target.closest('[data-event]');
      if (row) onSelect(Number(row.dataset.event));
    });
  }

  /** Shows these events, with the number of omitted events between them where that is worth a line. */
  show(shown, { cited = [], hiddenMatters = true, overlap = null } = {}) {
    this.overlap = overlap;
    this.shown = shown;
    this.cited = new Set(cited);
    this.items = [];
    this.places = new Map();
    for (let i = 0; i < shown.length; i++) {
      const e = shown[i];
      if (i > 0) {
        const hidden = e - shown[i - 1] - 1;
        const pause = events.at[e] - events.at[shown[i - 1]];
        if (pause >= 5e5 || (hiddenMatters && hidden >= 12)) this.items.push({ pause, hidden });
      }
      this.places.set(e, this.items.length);
      this.items.push({ e });
    }
    this.lanes();
    this.spans();
    this.drawHead();
    this.draw(true);
  }

  /** The row of an event; between two rows if the event is not shown. */
  place(e) {
    const exact = this.places.get(e);
    if (exact !== undefined) return exact;
    const next = lowerBound(this.shown, e);
    if (next === this.shown.length) return this.items.length - 0.5;
    return this.places.get(this.shown[next]) - 0.5;
  }
  isShown(e) { return e !== null && this.places.has(e); }

  lanes() {
    this.narrow = this.box.clientWidth < 640;
    this.rowHeight = Math.max(this.rowHeight, this.narrow ? 40 : 0);
    this.box.classList.toggle('narrow', this.narrow);
    const first = this.shown[0] ?? 0, last = this.shown[this.shown.length - 1] ?? 0;
    const parties = new Set(), touched = new Map(), sessions = new Map();
    for (const e of this.shown) {
      if (partyOf(e).kind !== 'world') parties.add(events.who[e]);
      if (events.path[e] && !['send', 'served', 'found', 'reply'].includes(kindOf(e))) {
        touched.set(events.path[e], (touched.get(events.path[e]) ?? 0) + 1);
      }
      if (events.session[e] && sessionOf.get(events.session[e])?.opened != null) sessions.set(events.session[e], (sessions.get(events.session[e]) ?? 0) + 1);
    }
    for (const message of run.messages) {
      if (this.isShown(message[2]) && message[1] === 'lost' && message[5] !== null) parties.add(message[5]);
    }
    for (const strike of run.strikes) if (this.isShown(strike.from)) strike.parties.forEach((party) => parties.add(party));
    const most = (weights, limit) => [...weights].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, limit).map(([key]) => key);
    this.list = [];
    let x = 8;
    const add = (lane) => { this.list.push({ ...lane, x: x + lane.width / 2 }); x += lane.width; };
    const of = (kind) => [...parties].filter((party) => run.parties[party].kind === kind).sort((a, b) => a - b);
    const LANE = this.widths(of('client').length, of('server').length);
    for (const party of of('client')) add({ kind: 'client', party, width: LANE.client, label: run.parties[party].name, hue: hues[party] });
    const keptSessions = new Set(most(sessions, LANE.sessions));
    const living = run.sessions.filter((session) => keptSessions.has(session.number) && session.opened !== null);
    for (const session of living) {
      add({ kind: 'session', session, width: LANE.session, label: `session s${session.number}`, hue: session.client === null ? 'hue-none' : hues[session.client] });
    }
    for (const party of of('server')) add({ kind: 'server', party, width: LANE.server, label: run.parties[party].name, hue: 'hue-server' });
    // A lane for each path, shared by successive znodes at that path.
    const alive = run.znodes.filter((z) => touched.has(z.path) && z.created <= last && (z.deleted === null || z.deleted >= first));
    const paths = new Set(alive.map((znode) => znode.path));
    const kept = most([...touched].filter(([path]) => paths.has(path)), LANE.znodes).sort((a, b) => (run.texts[a] < run.texts[b] ? -1 : 1));
    this.leftOut = { znodes: paths.size - kept.length, sessions: sessions.size - living.length };
    for (const path of kept) {
      add({ kind: 'znode', path, width: LANE.znode, label: leaf(run.texts[path]), title: run.texts[path], hue: 'hue-znode' });
    }
    this.byParty = new Map(this.list.filter((lane) => lane.party !== undefined).map((lane) => [lane.party, lane]));
    this.byPath = new Map(this.list.filter((lane) => lane.kind === 'znode').map((lane) => [lane.path, lane]));
    this.bySession = new Map(this.list.filter((lane) => lane.kind === 'session').map((lane) => [lane.session.number, lane]));
    this.width = x + 8;
    this.narrowAt = this.list.findIndex((lane) => lane.kind === 'znode');
  }

  /** The widths of lanes, and the numbers of sessions and znodes with a lane; sentences keep enough room. */
  widths(clients, servers) {
    if (this.narrow) return { client: 34, server: 46, sessions: 0, znodes: 0 };
    const room = Math.max(this.box.clientWidth - WIDTH.sentence, 200);
    const parties = clients * WIDTH.client + servers * WIDTH.server;
    const scale = Math.min(1, room / parties);
    const rest = Math.max(0, room - parties);
    const sessions = Math.min(MOST_SESSIONS, Math.floor((rest * 0.45) / WIDTH.session));
    const znodes = Math.min(MOST_ZNODES, Math.floor((rest - sessions * WIDTH.session) / WIDTH.znode));
    const wide = (usual) => Math.max(WIDTH.least, Math.floor(usual * scale));
    return { client: wide(WIDTH.client), server: wide(WIDTH.server), session: WIDTH.session, znode: WIDTH.znode, sessions, znodes };
  }

  /** All drawn spans, each with its first and last row. */
  spans() {
    const spans = [];
    const end = this.items.length - 0.5;
    const span = (from, to, what) => {
      const top = from === null ? -0.5 : this.place(from), bottom = to === null ? end : this.place(to);
      if (bottom < 0 || top > end) return;
      const cutOff = to !== null && this.place(to) > end;
      spans.push({ cutOff, top: Math.max(top, -0.5), bottom: Math.min(Math.max(bottom, top), end), begins: from !== null && this.isShown(from), ends: to !== null && this.isShown(to), ...what });
    };
    for (const strike of run.strikes) {
      const lanes = strike.parties.map((party) => this.byParty.get(party)).filter(Boolean);
      if (lanes.length && (strike.to !== null || this.isShown(strike.from))) {
        span(strike.from, strike.to ?? (strike.lasts_us ? null : strike.from), { draw: 'strike', order: 0, lanes, strike });
      }
    }
    for (const office of run.offices) {
      const lane = this.byParty.get(office.server);
      if (lane) span(office.from, office.to, { draw: office.leads ? 'leads' : 'serves', order: 1, lane });
    }
    for (const lane of this.list) {
      if (lane.kind === 'client') span(null, null, { draw: 'life', order: 1, lane });
      if (lane.kind === 'server') span(null, null, { draw: 'life', order: 1, lane });
      if (lane.kind === 'session') {
        const { opened, marked, ended } = lane.session;
        span(opened, marked ?? ended, { draw: 'session', order: 1, lane, begun: true, over: marked === null && ended !== null });
        if (marked !== null) span(marked, ended, { draw: 'expiring', order: 1, lane });
      }
    }
    for (const session of run.sessions) {
      const lane = session.client === null ? null : this.byParty.get(session.client);
      if (!lane) continue;
      session.states.forEach(([at, state], i) => {
        const next = session.states[i + 1]?.[0] ?? (state === 'connected' || state === 'suspended' ? null : at);
        if (state === 'connected' || state === 'suspended') span(at, next, { draw: state, order: 2, lane, session });
      });
    }
    for (const belief of run.beliefs) {
      const lane = this.byParty.get(belief.client);
      if (lane) span(belief.from, belief.to, { draw: 'belief', order: 3, lane, belief });
    }
    const both = this.overlap?.clients.map((client) => this.byParty.get(client)).filter(Boolean) ?? [];
    if (both.length > 1) span(this.overlap.from, this.overlap.to, { draw: 'overlap', order: 0, lanes: both });
    for (const znode of run.znodes) {
      const lane = this.byPath.get(znode.path);
      if (lane) span(znode.created, znode.deleted, { draw: 'znode', order: 2, lane, znode });
    }
    for (const watch of run.watches) {
      const lane = this.byPath.get(watch.path);
      if (lane) span(watch.armed, watch.ended, { draw: 'watch', order: 3, lane, watch });
    }
    this.outside = 0;
    for (const message of run.messages) {
      const [carries, fate, from, to, client, server] = message;
      const here = this.isShown(from), there = to !== null && this.isShown(to);
      if (!here && !there) continue;
      if (!here || (!there && fate !== 'lost')) { this.outside++; continue; }
      const [a, b] = [this.byParty.get(client), server === null ? undefined : this.byParty.get(server)];
      if (!a || (!b && carries !== 'exchange')) { this.outside++; continue; }
      const toServer = carries === 'request';
      span(from, there ? to : from, { draw: 'message', order: 4, message, source: toServer || carries === 'exchange' ? a : b, target: toServer ? b : a });
    }
    this.blocks = new Blocks(spans);
  }

  y(place) { return (place + 0.5) * this.rowHeight; }

  drawHead() {
    this.box.style.setProperty('--lanes', `${this.width}px`);
    this.box.style.setProperty('--row', `${this.rowHeight}px`);
    const tallest = Math.max(0, ...this.list.filter((lane) => lane.kind !== 'client' && lane.kind !== 'server').map((lane) => lane.label.length));
    const height = this.list.length ? Math.min(150, Math.max(46, 18 + tallest * 5.2)) : 30;
    this.head.replaceChildren(
      h('div', { class: 'lane-names', style: `width:${this.width}px;height:${height}px` },
        this.list.map((lane) => h('span', {
          class: `lane-name ${lane.kind} ${lane.hue}`, style: `left:${lane.x}px${lane.party === undefined ? '' : `;max-width:${lane.width}px`}`, title: lane.title ?? lane.label,
        }, lane.kind === 'znode' && lane.label.length > 26 ? '…' + lane.label.slice(-25) : lane.label))),
      h('div', { class: 'row-names' }, h('span', { class: 'time' }, 'seconds'), h('span', {}, 'event')));
  }

  draw(anew = false) {
    if (!this.items) return;
    const h0 = this.rowHeight;
    const top = Math.max(0, Math.floor((this.box.scrollTop - 200) / h0));
    const bottom = Math.min(this.items.length, Math.ceil((this.box.scrollTop + this.box.clientHeight + 200) / h0));
    if (!anew && this.drawn && this.drawn[0] === top && this.drawn[1] === bottom) return;
    this.drawn = [top, bottom];
    this.body.style.height = `${this.items.length * h0}px`;
    const rows = [];
    for (let i = top; i < bottom; i++) rows.push(this.row(this.items[i], i));
    this.rowsBox.replaceChildren(...rows);
    this.drawLanes(top, bottom);
    this.box.dataset.rows = rows.length;
    onView?.(this.items, top, bottom);
  }

  row(item, i) {
    const style = `top:${i * this.rowHeight}px`;
    if (item.e === undefined) {
      const parts = [item.pause >= 1e5 ? `${lasting(item.pause)} later` : null, item.hidden > 0 ? `${count(item.hidden, 'event')} left out` : null];
      return h('div', { class: 'row gap', style, role: 'presentation' }, h('span', { class: 'said' }, '⋯ ', parts.filter(Boolean).join(', ')));
    }
    const e = item.e, kind = kindOf(e);
    const classes = ['row', `kind-${kind}`];
    if (this.cited.has(e)) classes.push('cited');
    if (e === this.selected) classes.push('selected');
    else if (this.chain.has(e)) classes.push('in-chain');
    const party = events.who[e];
    return h('div', {
      class: classes.join(' '), style, role: 'option', id: `e${e}`, 'data-event': e,
      'aria-selected': e === this.selected ? 'true' : 'false', 'aria-posinset': i + 1, 'aria-setsize': this.items.length,
    },
    h('span', { class: 'time' }, seconds(events.at[e])),
    h('span', { class: `party ${hues[party]}` }, h('bdi', {}, run.parties[party].name)),
    h('span', { class: 'sentence', title: textOf(e) }, h('bdi', {}, textOf(e))),
    this.cited.has(e) ? h('span', { class: 'tag' }, '✗ cited') : null,
    h('span', { class: 'number' }, `e${e}`));
  }

  drawLanes(top, bottom) {
    const y0 = top * this.rowHeight, height = Math.max(0, bottom - top) * this.rowHeight;
    const layers = [[], [], [], [], [], []];
    for (const span of this.blocks.between(top - 1, bottom + 1)) layers[span.order].push(this.mark(span));
    for (let i = top; i < bottom; i++) if (this.items[i].e !== undefined) layers[5].push(this.glyph(this.items[i].e, i));
    for (const [attribute, value] of Object.entries({ width: this.width, height, viewBox: `0 ${y0} ${this.width} ${height}`, style: `top:${y0}px` })) {
      this.svg.setAttribute(attribute, value);
    }
    this.svg.replaceChildren(definitions(), ...layers.map((layer) => s('g', {}, layer)));
  }

  mark(span) {
    const y1 = this.y(span.top), y2 = this.y(span.bottom);
    const x = span.lane?.x;
    const line = (at, kind, more = {}) => s('line', { x1: at, x2: at, y1, y2, class: kind, ...more });
    const title = (text) => s('title', {}, text);
    const half = this.rowHeight / 2;
    switch (span.draw) {
      case 'strike': return s('g', { class: 'strike' },
        span.lanes.map((lane) => s('rect', { x: lane.x - lane.width / 2 + 4, width: lane.width - 8, y: y1 - half, height: Math.max(y2 - y1 + this.rowHeight, this.rowHeight), rx: 4 })),
        title(span.strike.text));
      case 'overlap': {
        const [left, right] = [Math.min(...span.lanes.map((lane) => lane.x)), Math.max(...span.lanes.map((lane) => lane.x))];
        return s('g', { class: 'overlap' }, s('rect', { x: left - 14, width: right - left + 28, y: y1 - half, height: Math.max(y2 - y1 + half * 2, this.rowHeight), rx: 5 }), title('two holders at once'));
      }
      case 'life': return line(x, `life ${span.lane.hue}`);
      case 'leads': return s('rect', { x: x - 5, width: 10, y: y1, height: y2 - y1, rx: 5, class: 'leads' }, title('leads'));
      case 'serves': return line(x, 'serves');
      case 'session': return s('g', { class: `session ${span.lane.hue}` }, line(x, 'open'),
        span.begins ? s('circle', { cx: x, cy: y1, r: 3, class: 'end' }) : null,
        span.over && span.ends ? s('path', { d: `M${x - 5} ${y2}h10`, class: 'cut' }) : null);
      case 'expiring': return s('g', { class: 'expiring' }, line(x, 'dying'), s('path', { d: `M${x - 5} ${y2}h10`, class: 'cut' }), title('expired: its end is in flight'));
      case 'connected': return line(x + 9, 'connected', {});
      case 'suspended': return line(x + 9, 'suspended', {});
      case 'belief': return s('rect', { x: x - 6, width: 12, y: y1 - (span.begins ? half - 3 : 0), height: y2 - y1 + (span.begins ? half - 3 : 0) + (span.ends ? half - 3 : 0), rx: 5, class: `belief ${span.lane.hue}` },
        title(`${run.parties[span.belief.client].name} believes that it holds ${run.objects[span.belief.object]?.path ?? ''}, token ${span.belief.token}`));
      case 'znode': return s('g', { class: `znode ${span.znode.owner ? hues[sessionOf.get(span.znode.owner)?.client] ?? 'hue-none' : 'hue-none'}` },
        line(x, 'alive'), span.begins ? s('rect', { x: x - 4, y: y1 - 4, width: 8, height: 8, rx: 1.5, class: 'end' }) : null,
        span.znode.deleted !== null && !span.cutOff ? s('path', { d: `M${x - 4} ${y2 - 4}l8 8m0 -8l-8 8`, class: 'cut' }) : null,
        title(`${run.texts[span.znode.path]}: ${span.znode.owner ? `ephemeral of ${ownerName(span.znode.owner)}` : 'persistent'}, czxid ${span.znode.czxid}`));
      case 'watch': {
        const client = sessionOf.get(span.watch.session)?.client;
        const at = x + 8;
        const fired = span.watch.end === 'notified' || span.watch.end === 'notification lost';
        return s('g', { class: `watch ${client === null || client === undefined ? 'hue-none' : hues[client]} ${span.watch.end.replaceAll(' ', '-')}` },
          line(at, 'standing'),
          span.top > -0.5 ? s('path', { d: `M${at} ${y1 - 4}l4 4l-4 4l-4 -4z`, class: 'armed' }) : null,
          span.watch.ended === null || span.cutOff ? null : fired
            ? s('path', { d: `M${at} ${y2 - 4}l4 4l-4 4l-4 -4z`, class: 'fired' })
            : s('path', { d: `M${at - 3} ${y2 - 3}l6 6m0 -6l-6 6`, class: 'cut' }),
          title(`watch of ${ownerName(span.watch.session)} on the ${span.watch.table} of ${run.texts[span.watch.path]}: ${span.watch.end}`));
      }
      case 'message': return this.arrow(span);
    }
    return s('g');
  }

  arrow(span) {
    const [carries, fate, from, to] = span.message;
    const y1 = this.y(span.top);
    const lost = fate === 'lost';
    let x1 = span.source.x, x2 = span.target.x, y2 = this.y(span.bottom);
    const out = this.chain.has(from) && (to === null || lost || this.chain.has(to));
    const classes = `message ${carries} ${fate} ${out ? 'in-chain' : ''}`;
    if (carries === 'exchange') {
      return s('g', { class: classes }, s('path', { d: `M${x1} ${y1}C${x1 + 22} ${y1} ${x1 + 22} ${y2} ${x1 + 6} ${y2}`, 'marker-end': 'url(#head)' }), s('title', {}, 'request and answer; what happened in between is not known'));
    }
    if (lost) {
      // The arrow of a lost message ends halfway.
      const reach = 0.55;
      x2 = x1 + (x2 - x1) * reach;
      y2 = y1 + Math.min(Math.max(y2 - y1, this.rowHeight), this.rowHeight * 1.5) * 0.8;
    } else {
      x2 += x1 < x2 ? -6 : 6;
    }
    const label = `${carries}, ${fate}`;
    const long = y2 - y1 > 4 * this.rowHeight;
    const bend = x1 + (x2 - x1) * 0.5;
    const d = long && !lost ? `M${x1} ${y1}C${bend} ${y1 + this.rowHeight} ${bend} ${y2 - this.rowHeight} ${x2} ${y2}` : `M${x1} ${y1}L${x2} ${y2}`;
    return s('g', { class: classes },
      s('path', { d, 'marker-end': lost ? null : `url(#head${carries === 'notification' ? '-notification' : ''})` }),
      lost ? s('path', { d: `M${x2 - 5} ${y2 - 5}l10 10m0 -10l-10 10`, class: 'cut' }) : null,
      fate === 'late' ? s('text', { x: bend, y: (y1 + y2) / 2 - 4, class: 'late-word' }, 'late') : null,
      s('title', {}, label));
  }

  glyph(e, i) {
    const party = events.who[e], y = this.y(i), kind = kindOf(e);
    const lane = this.byParty.get(party);
    const classes = ['dot', hues[party], this.cited.has(e) ? 'cited' : '', e === this.selected ? 'selected' : '', this.chain.has(e) ? 'in-chain' : ''].join(' ');
    if (partyOf(e).kind === 'world') {
      const strike = kind === 'fault' || kind === 'mended' ? run.strikes.find((one) => one.from === e || one.to === e) : null;
      const lanes = (strike?.parties ?? []).map((at) => this.byParty.get(at)).filter(Boolean);
      if (!lanes.length) return s('g');
      return s('g', { class: `bolt ${kind}` }, lanes.map((at) => s('path', { d: `M${at.x + 3} ${y - 9}l-8 10h5l-3 8l8 -10h-5z` })));
    }
    if (!lane) return s('g');
    const selected = e === this.selected ? s('circle', { cx: lane.x, cy: y, r: 9, class: 'ring' }) : null;
    if (this.cited.has(e)) {
      return s('g', { class: classes }, selected, s('circle', { cx: lane.x, cy: y, r: 7 }), s('path', { d: `M${lane.x - 3} ${y - 3}l6 6m0 -6l-6 6`, class: 'cross' }));
    }
    const small = ['made', 'data', 'found', 'expects', 'applied'].includes(kind);
    return s('g', { class: classes }, selected, s('circle', { cx: lane.x, cy: y, r: small ? 2.5 : 4 }));
  }

  select(e, chain, scroll = true) {
    this.selected = e;
    this.chain = chain;
    const place = this.places.get(e);
    if (scroll && place !== undefined) {
      const y = place * this.rowHeight;
      const room = this.box.clientHeight - this.head.offsetHeight;
      if (y < this.box.scrollTop + this.rowHeight || y > this.box.scrollTop + room - 2 * this.rowHeight) {
        this.box.scrollTop = Math.max(0, y - room / 2);
      }
    }
    this.box.setAttribute('aria-activedescendant', `e${e}`);
    this.draw(true);
  }

  zoom(by) {
    const middle = (this.box.scrollTop + this.box.clientHeight / 2) / this.rowHeight;
    this.rowHeight = Math.min(ROW.most, Math.max(ROW.least, this.rowHeight + by));
    this.drawHead();
    this.body.style.height = `${this.items.length * this.rowHeight}px`;
    this.box.scrollTop = middle * this.rowHeight - this.box.clientHeight / 2;
    this.draw(true);
  }
}

let onView = null;

function definitions() {
  const head = (id) => s('marker', { id, viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto-start-reverse' }, s('path', { d: 'M0 0.8L8 4L0 7.2z', class: id }));
  return s('defs', {}, head('head'), head('head-notification'),
    s('pattern', { id: 'hatch', width: 6, height: 6, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' },
      s('rect', { width: 6, height: 6, class: 'hatch-ground' }), s('rect', { width: 2, height: 6, class: 'hatch-line' })));
}
