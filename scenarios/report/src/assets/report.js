// What is selected, what is shown, and who hears of it. The state stands in the address, so that a moment can be handed on.

const state = { tab: 'story', finding: 0, show: 'slice', find: '', event: null, theme: null };

const chart = new Chart((e) => select(e, false));
const overview = new Overview((e) => select(e));
const tabs = [['story', 'Events'], ['rules', 'Rules'], ['cost', 'Cost'], ['beside', 'Difference'], ['run', 'The run']];
const byId = (id) => document.getElementById(id);

const matches = (e, words) => {
  const text = `e${e} ${partyOf(e).name} ${textOf(e)} ${kindOf(e)} ${pathOf(e)} ${zxidOf(e)}`.toLowerCase();
  return words.every((word) => text.includes(word));
};

/** The events to show, in order. */
function shown() {
  const finding = run.findings[state.finding];
  let all = state.show === 'slice' && finding ? finding.slice : Array.from({ length: events.count }, (_, e) => e);
  const words = state.find.toLowerCase().split(/\s+/).filter(Boolean);
  const exact = /^e\d+$/.test(state.find.trim()) ? Number(state.find.trim().slice(1)) : null;
  if (exact !== null) return all.filter((e) => e === exact);
  return words.length ? all.filter((e) => matches(e, words)) : all;
}

chart.onReshape = () => { chart.rowHeight = ROW.usual; refresh(); };

function refresh() {
  const finding = run.findings[state.finding];
  const slice = state.show === 'slice' && finding;
  const all = shown();
  chart.show(all, { cited: finding?.cited ?? [], hiddenMatters: !!slice || !!state.find, overlap: overlapOf(finding) });
  byId('show-slice').setAttribute('aria-pressed', String(!!slice));
  byId('show-all').setAttribute('aria-pressed', String(!slice));
  byId('show-slice').disabled = !finding;
  const left = chart.leftOut;
  byId('rows-said').textContent = say(
    `${all.length.toLocaleString('en')} of ${count(events.count, 'event')}`,
    slice && finding.left_out ? `${count(finding.left_out, 'more distant cause')} not followed` : null,
    left.znodes > 0 ? `${count(left.znodes, 'znode')} without a lane${chart.narrow ? ' on a narrow screen' : ''}` : null,
    left.sessions > 0 ? `${count(left.sessions, 'session')} without a lane` : null,
    chart.outside > 0 ? `${count(chart.outside, 'message')} to or from events not shown` : null,
    !all.length ? 'nothing fits' : null);
  if (state.event !== null) chart.select(state.event, chainOf(state.event), false);
}

function select(e, scroll = true, remember = true) {
  if (!(e >= 0 && e < events.count)) return;
  state.event = e;
  if (!chart.isShown(e) && scroll !== 'scrub') {
    // A selected event is always shown: reset the filters if they hide it.
    state.find = byId('find').value = '';
    if (!shown().includes(e)) state.show = 'all';
    refresh();
  }
  chart.select(e, chainOf(e), !!scroll);
  overview.mark(e);
  drawInspector(e, chart, (other) => { openTab('story'); select(other); });
  drawTree(e);
  byId('scrub').value = String(e);
  byId('scrub').setAttribute('aria-valuetext', `e${e}, ${seconds(events.at[e])} s`);
  if (remember) address();
}

function openTab(name) {
  state.tab = name;
  for (const [tab] of tabs) {
    byId(`panel-${tab}`).hidden = tab !== name;
    byId(`tab-${tab}`).setAttribute('aria-selected', String(tab === name));
    byId(`tab-${tab}`).tabIndex = tab === name ? 0 : -1;
  }
  address();
  if (name === 'story') chart.draw(true);
}

function openFinding(which) {
  state.finding = which;
  overview.finding = which;
  drawBreach(which, openFinding, (e) => { openTab('story'); select(e); });
  const finding = run.findings[which];
  if (finding) {
    state.show = 'slice';
    state.event = null;
    refresh();
    overview.fit(finding.slice[0] ?? finding.event, overlapOf(finding)?.to ?? finding.event);
    select(finding.event);
  } else {
    refresh();
    overview.range(0, run.lasted_us);
    drawInspector(null, chart);
    drawTree(null);
  }
}

/** Selects the next or the previous shown event. */
function step(by) {
  const all = chart.shown;
  if (!all.length) return;
  const here = state.event === null ? (by > 0 ? -1 : all.length) : lowerBound(all, state.event);
  const to = all[here] === state.event ? here + by : by > 0 ? here : here + by;
  select(all[Math.min(all.length - 1, Math.max(0, to))]);
}

function show(what) {
  state.show = what;
  refresh();
  if (state.event !== null && chart.isShown(state.event)) select(state.event);
  address();
}

function address() {
  const parts = new URLSearchParams();
  if (state.tab !== 'story') parts.set('tab', state.tab);
  if (state.finding) parts.set('finding', state.finding);
  if (state.show === 'all' && run.findings.length) parts.set('show', 'all');
  if (state.event !== null) parts.set('event', state.event);
  if (state.theme) parts.set('theme', state.theme);
  const hash = parts.toString();
  if (hash !== location.hash.slice(1)) history.replaceState(null, '', hash ? `#${hash}` : location.pathname + location.search);
}

function setTheme(theme) {
  state.theme = theme;
  if (theme) document.documentElement.dataset.theme = theme; else delete document.documentElement.dataset.theme;
  byId('theme').textContent = { light: '☀ light', dark: '☾ dark' }[theme] ?? '◐ as the system';
  byId('theme').setAttribute('aria-label', `theme: ${theme ?? 'of the system'}`);
}

const keys = [
  ['← →', 'one event back or on; ↑ ↓ and j k do the same', null],
  ['Home End', 'the first or the last event that is shown', null],
  ['c', 'to the latest cause of the selected event', () => { const causes = state.event === null ? [] : causesOf(state.event); if (causes.length) select(causes[causes.length - 1]); }],
  ['f', 'to the first that followed from it', () => { const effects = state.event === null ? [] : effectsOf(state.event); if (effects.length) select(effects[0]); }],
  ['b', 'back to the breach', () => { const finding = run.findings[state.finding]; if (finding) select(finding.event); }],
  ['[', 'the finding before', () => state.finding > 0 && openFinding(state.finding - 1)],
  [']', 'the next finding', () => state.finding + 1 < run.findings.length && openFinding(state.finding + 1)],
  ['s', 'causes, or all events', () => show(state.show === 'slice' ? 'all' : run.findings.length ? 'slice' : 'all')],
  ['/', 'find', () => byId('find').focus()],
  ['+', 'higher rows', () => chart.zoom(4)],
  ['-', 'lower rows', () => chart.zoom(-4)],
  ['<', 'a longer time in the overview', () => overview.zoom(1.5)],
  ['>', 'a shorter time in the overview', () => overview.zoom(1 / 1.5)],
  [',', 'the overview to the left', () => overview.pan(-0.2)],
  ['.', 'the overview to the right', () => overview.pan(0.2)],
  ...tabs.map(([tab, name], i) => [String(i + 1), name, () => openTab(tab)]),
  ['t', 'light, dark, or the theme of the system', () => { setTheme({ light: 'dark', dark: null }[state.theme] ?? (state.theme === null ? 'light' : null)); address(); }],
  ['?', 'these keys', () => byId('help').showModal()],
];

function onKey(press) {
  if (press.ctrlKey || press.metaKey || press.altKey) return;
  if (press.target.matches('input[type=search], textarea')) { if (press.key === 'Escape') press.target.blur(); return; }
  if (byId('help').open) return;
  const inTabs = press.target.closest?.('[role=tablist]');
  const moves = { ArrowRight: 1, ArrowDown: 1, j: 1, ArrowLeft: -1, ArrowUp: -1, k: -1 };
  if (press.key in moves && inTabs) {
    const names = tabs.map(([tab]) => tab);
    openTab(names[(names.indexOf(state.tab) + moves[press.key] + names.length) % names.length]);
    byId(`tab-${state.tab}`).focus();
  } else if (press.key in moves) step(moves[press.key]);
  else if (press.key === 'Home') select(chart.shown[0]);
  else if (press.key === 'End') select(chart.shown[chart.shown.length - 1]);
  else if (press.key === 'PageDown' || press.key === 'PageUp') step((press.key === 'PageDown' ? 1 : -1) * 15);
  else {
    const known = keys.find(([key, , act]) => act && key === press.key);
    if (!known) return;
    known[2]();
  }
  press.preventDefault();
}

function drawLegend() {
  const sign = (draw, text) => h('li', {}, s('svg', { width: 34, height: 22, viewBox: '0 0 34 22', 'aria-hidden': 'true' }, draw), h('span', {}, text));
  const line = (kind, more = {}) => s('line', { x1: 17, x2: 17, y1: 1, y2: 21, class: kind, ...more });
  fill(byId('legend-body'), definitionsSvg(), h('ul', {},
    sign([line('life hue-0'), s('rect', { x: 11, width: 12, y: 2, height: 18, rx: 5, class: 'belief hue-0' })], 'the client believes that it holds or leads'),
    sign([line('life hue-0'), s('g', { class: 'dot cited' }, s('circle', { cx: 17, cy: 11, r: 7 }), s('path', { d: 'M14 8l6 6m0 -6l-6 6', class: 'cross' }))], 'cited by the checker'),
    sign(line('connected'), 'beside a client: connected'),
    sign(line('suspended'), 'disconnected; no line: no session'),
    sign(s('g', { class: 'session hue-0' }, line('open'), s('circle', { cx: 17, cy: 3, r: 3, class: 'end' })), 'the session, as the servers know it'),
    sign([s('rect', { x: 12, width: 10, y: 1, height: 20, rx: 5, class: 'leads' }), line('serves')], 'the server serves; wide: it leads'),
    sign(s('g', { class: 'znode hue-0' }, line('alive'), s('rect', { x: 13, y: 1, width: 8, height: 8, rx: 1.5, class: 'end' }), s('path', { d: 'M13 13l8 8m0 -8l-8 8', class: 'cut' })), 'a znode, from creation to deletion, in its owner’s colour'),
    sign(s('g', { class: 'watch hue-0' }, s('line', { x1: 17, x2: 17, y1: 4, y2: 18, class: 'standing' }), s('path', { d: 'M17 0l4 4l-4 4l-4 -4z', class: 'armed' }), s('path', { d: 'M17 14l4 4l-4 4l-4 -4z', class: 'fired' })), 'a watch: ◇ registered, ◆ fired, × lost'),
    sign(s('g', { class: 'message request' }, s('path', { d: 'M2 6L30 16', 'marker-end': 'url(#head)' })), 'request or reply'),
    sign(s('g', { class: 'message notification' }, s('path', { d: 'M2 6L30 16', 'marker-end': 'url(#head-notification)' })), 'notification'),
    sign(s('g', { class: 'message lost' }, s('path', { d: 'M2 6L20 13' }), s('path', { d: 'M16 9l8 8m0 -8l-8 8', class: 'cut' })), 'a message that was lost'),
    sign(s('g', { class: 'message late' }, s('path', { d: 'M2 6L30 16', 'marker-end': 'url(#head)' })), 'a message that was late'),
    sign([s('g', { class: 'strike' }, s('rect', { x: 3, y: 2, width: 28, height: 18, rx: 4 })), s('path', { d: 'M20 2l-8 10h5l-3 8l8 -10h-5z', class: 'bolt' })], 'a fault, over the lanes that it hits')));
}
const definitionsSvg = () => s('svg', { width: 0, height: 0, class: 'defs' }, definitions());

function drawHelp() {
  fill(byId('help'), h('h2', {}, 'Keys'),
    h('dl', { class: 'keys' }, keys.map(([key, text]) => [h('dt', {}, key.split(' ').map((one) => h('kbd', {}, one))), h('dd', {}, text)])),
    h('p', { class: 'said' }, 'In the overview: click for a moment, drag to move, Ctrl + wheel to zoom, Shift + wheel to move, double click for the whole run. The address holds the event, the tab and the theme: hand it on with the file.'),
    h('form', { method: 'dialog' }, h('button', { class: 'primary' }, 'Close')));
}

function begin() {
  const asked = new URLSearchParams(location.hash.slice(1));
  fill(byId('tabs'), ...tabs.map(([tab, name]) => h('button', { type: 'button', role: 'tab', id: `tab-${tab}`, 'aria-controls': `panel-${tab}`, onclick: () => openTab(tab) },
    name, tab === 'rules' ? h('small', {}, ` ${run.rules.length}`) : null)));
  setTheme(['light', 'dark'].includes(asked.get('theme')) ? asked.get('theme') : null);
  byId('scrub').max = String(Math.max(0, events.count - 1));
  drawLegend();
  drawHelp();
  drawRules();
  drawCost((e) => { openTab('story'); select(e); });
  drawBeside((e) => { openTab('story'); select(e); });
  drawRun();
  onView = (items, top, bottom) => {
    const first = items.slice(top, bottom).find((item) => item.e !== undefined)?.e;
    const last = items.slice(top, bottom).findLast((item) => item.e !== undefined)?.e;
    overview.view = first === undefined ? null : [events.at[first], events.at[last]];
  };
  if (!run.findings.length) state.show = 'all';
  openFinding(Math.min(Number(asked.get('finding')) || 0, Math.max(0, run.findings.length - 1)));
  if (asked.get('show') === 'all') show('all');
  if (asked.has('event')) select(Number(asked.get('event')));
  openTab(tabs.some(([tab]) => tab === asked.get('tab')) ? asked.get('tab') : 'story');
  if (innerWidth < 720) byId('legend').open = false;
  byId('theme').onclick = () => keys.find(([key]) => key === 't')[2]();
  byId('help-button').onclick = () => byId('help').showModal();
  byId('show-slice').onclick = () => show('slice');
  byId('show-all').onclick = () => show('all');
  byId('zoom-in').onclick = () => chart.zoom(4);
  byId('zoom-out').onclick = () => chart.zoom(-4);
  byId('time-in').onclick = () => overview.zoom(1 / 1.5);
  byId('time-out').onclick = () => overview.zoom(1.5);
  byId('time-all').onclick = () => overview.range(0, run.lasted_us);
  byId('time-slice').onclick = () => { const finding = run.findings[state.finding]; if (finding) overview.fit(finding.slice[0] ?? finding.event, finding.event); };
  byId('time-slice').hidden = !run.findings.length;
  byId('find').oninput = (input) => { state.find = input.target.value; refresh(); };
  byId('scrub').oninput = (input) => select(Number(input.target.value), chart.isShown(Number(input.target.value)) ? true : 'scrub');
  addEventListener('keydown', onKey);
  addEventListener('hashchange', () => { const e = Number(new URLSearchParams(location.hash.slice(1)).get('event')); if (e && e !== state.event) select(e, true, false); });
  document.documentElement.dataset.ready = 'yes';
}

begin();
