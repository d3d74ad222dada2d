// The page around the graph: the passes, what differs, the node, search, keys.

const $ = (id) => document.getElementById(id);

// An element with attributes, and children that are elements or texts.
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === 'class') element.className = value;
    else if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value !== null) element.setAttribute(name, value);
  }
  for (const child of children) {
    if (child === null || child === undefined) continue;
    element.append(typeof child === 'string' ? visible(child) : child);
  }
  return element;
}
const bdi = (text) => make('bdi', {}, text);

const KIND_CLASSES = ['dropped', 'made', 'moved', 'changed-kind'];

class Page {
  constructor(data, title) {
    this.data = data;
    this.current = null;  // the execution; null is what the passes were given
    this.side = 'after';
    this.functionName = null;
    this.open = new Set();
    this.shut = new Set();
    this.blocks = null;  // null: as the size suggests
    this.functions = false;
    this.node = -1;
    this.query = '';
    this.cancel = () => {};
    this.view = new GraphView($('graph'), $('canvas'), {
      select: (box) => this.selectBox(box),
      toggle: (box) => this.toggle(box),
      enter: () => {
        if (!$('node-region').hidden) $('node-heading').focus();
      },
    });
    $('title').textContent = visible(title);
    this.summarize();
    this.listPasses();
    this.drawOverview();
    this.listen();
    // The first step of the pipeline that did something.
    this.selectPass(
        data.executions.find(
            (e) => this.changes(e) && !this.isSequence(e)) ||
        null);
  }

  // --- What there is -----------------------------------------------------------

  changes(e) {
    return e.after >= 0 && e.after !== e.before;
  }
  isSequence(e) {
    return this.data.strings[e.text].startsWith('Sequential');
  }
  passName(e) {
    return e === null ? 'Input' : this.data.strings[e.pass];
  }
  passTitle(e) {
    return e === null ? 'Input' : `#${e.number} ${this.passName(e)}`;
  }
  failure(e) {
    if (e.end === 2) return 'failed';
    return e.end === 0 ? 'did not end' : '';
  }
  beforeState() {
    return this.current === null ? 0 : this.current.before;
  }
  afterState() {
    if (this.current === null) return 0;
    return this.current.after < 0 ? this.current.before : this.current.after;
  }
  state() {
    return this.data.states[
        this.side === 'before' ? this.beforeState() : this.afterState()];
  }
  diff() {
    return this.current === null || !this.changes(this.current) ?
        null :
        this.data.diffOf(this.current);
  }
  // Kinds of change by node, in the state before or after.
  touched() {
    const diff = this.diff();
    if (diff === null) return new Map();
    if (diff.touched === undefined) {
      diff.touched = {before: new Map(), after: new Map()};
      for (const change of diff.changes) {
        if (change[2] >= 0) diff.touched.before.set(change[2], change[0]);
        if (change[3] >= 0) diff.touched.after.set(change[3], change[0]);
      }
    }
    return diff.touched[this.side];
  }
  functionNode() {
    const state = this.state();
    if (state === undefined || !state.kept) return -1;
    const found = state.functions.find((f) => f.name === this.functionName);
    return found === undefined ? -1 : found.node;
  }
  functionOf(state, node) {
    for (const f of state.functions) {
      if (f.node === node || this.data.body(f.node).members.has(node)) return f;
    }
    return null;
  }

  // --- The heading and the passes ------------------------------------------------

  summarize() {
    const {data} = this;
    const total = data.executions.reduce(
        (sum, e) => e.parent < 0 ? sum + e.total : sum, 0);
    const changed = data.executions.filter((e) => this.changes(e)).length;
    $('summary').textContent =
        `${plural(data.executions.length, 'pass execution')}, ${
            countText(changed)} changed something · ${timeText(total)} · ${
            plural(data.size, 'node')} in ${plural(data.states.length, 'state')}`;
    $('all-count').textContent = `All ${countText(data.executions.length)}`;
    $('changed-count').textContent = `Changed ${countText(changed)}`;
    const notices = [];
    if (data.signal !== 0) {
      notices.push(`The run was ended by signal ${data.signal}.`);
    }
    const failed = data.executions.filter((e) => e.end === 2);
    if (failed.length > 0) {
      const e = failed.reduce((a, b) => b.depth > a.depth ? b : a);
      notices.push(`${this.passTitle(e)} failed: ${
          data.strings[e.error || 0].split('\n')[0]}`);
    }
    const dropped = data.states.filter((s) => !s.kept).length;
    if (dropped > 0) {
      notices.push(`${plural(dropped, 'state')} of ${
          data.states.length} were not kept: they were beyond the budget.`);
    }
    $('notice').hidden = notices.length === 0;
    $('notice').textContent = notices.map(visible).join('\n');
  }

  listPasses() {
    const {data} = this;
    const end = Math.max(1, ...data.executions.map((e) => e.start + e.total));
    const rows = document.createDocumentFragment();
    this.passRows = new Map();
    const row = (e, label, ...children) => {
      const element = make(
          'div', {
            class: `pass${e !== null && this.changes(e) ? ' changed' : ''}`,
            role: 'option',
            id: `pass-${e === null ? 'input' : e.index}`,
            'aria-selected': 'false',
            'aria-label': visible(label),
          },
          ...children);
      element.execution = e;
      this.passRows.set(e, element);
      rows.append(element);
    };
    const held = (state) => state !== undefined && state.kept ?
        bytesText(state.bytes) : '';
    row(null, `Input, ${held(data.states[0])}`,
        make('span', {class: 'number'}, '0'),
        make('span', {class: 'name'}, 'Input'),
        make('span', {class: 'held', title: 'Memory of nodes and tensors'},
             held(data.states[0])));
    for (const e of data.executions) {
      const name = this.passName(e);
      const trouble = this.failure(e);
      const change = make('span', {class: 'change'});
      let said = 'changed nothing';
      const drift = this.drift(e);
      if (trouble !== '') {
        change.append(make('span', {class: 'trouble'}, trouble));
        said = trouble;
      } else if (this.changes(e) && e.made !== undefined) {
        const sign = e.bytes > 0 ? '+' : '';
        change.append(
            make('b', {class: 'made'}, `+${countText(e.made)}`), ' ',
            make('b', {class: 'dropped'}, `−${countText(e.dropped)}`), ' ',
            `${sign}${bytesText(e.bytes)}`);
        change.title = `Nodes made and dropped, memory; the module after it holds ${
            bytesText(data.states[e.after].bytes)}`;
        said = `${plural(e.made, 'node')} made, ${countText(e.dropped)} dropped, memory ${
            sign}${bytesText(e.bytes)}`;
      } else if (this.changes(e)) {
        change.append('state not kept');
        said = 'state not kept';
      }
      if (drift !== null) {
        change.append(make('b', {class: 'drift'}, ` drift ${drift.error}`));
        said += `, numeric drift ${drift.error}, in all ${drift.error_in_all}`;
      }
      const bar = make('i', {});
      bar.style.left = `${Math.min(99, 100 * e.start / end)}%`;
      bar.style.width = `${100 * e.total / end}%`;
      const label = make('span', {class: 'name', title: data.strings[e.text].slice(0, 2000)}, name);
      label.style.paddingLeft = `${Math.min(e.depth, 8) * 11}px`;
      row(e, `${e.number} ${name}, ${timeText(e.total)}, ${said}`,
          make('span', {class: 'number'}, String(e.number)), label,
          make('span', {class: 'track'}, bar),
          make('span', {class: 'time', title: `${timeText(e.self)} without the passes inside it`},
               timeText(e.total)),
          change.childNodes.length > 0 ? change : null);
      change.style.paddingLeft = label.style.paddingLeft;
    }
    $('passes').append(rows);
  }

  // What a check of values found: by how much the results of an execution are
  // off, of their largest element; null if they are not, or nobody looked.
  drift(e) {
    if (this.drifts === undefined) {
      this.drifts = new Map();
      for (const remark of this.data.remarks) {
        if (!remark.args.some((arg) => arg.name === 'error_in_all')) continue;
        this.drifts.set(
            remark.execution,
            Object.fromEntries(remark.args.map((arg) => [arg.name, arg.text])));
      }
    }
    return this.drifts.get(e.index) || null;
  }

  // Self times as bars, the memory of the states as a line.
  drawOverview() {
    const executions = this.data.executions;
    if (executions.length === 0) {
      $('overview').hidden = true;
      return;
    }
    const ns = 'http://www.w3.org/2000/svg';
    const svg = document.createElementNS(ns, 'svg');
    const n = executions.length;
    svg.setAttribute('viewBox', `0 0 ${n} 100`);
    svg.setAttribute('preserveAspectRatio', 'none');
    const add = (tag, attributes) => {
      const element = document.createElementNS(ns, tag);
      for (const [k, v] of Object.entries(attributes)) {
        element.setAttribute(k, v);
      }
      svg.append(element);
      return element;
    };
    const most = Math.max(1, ...executions.map((e) => e.self));
    let bars = '';
    for (const e of executions) {
      const h = Math.max(1, 100 * Math.max(0, e.self) / most);
      bars += `M${e.index + 0.1} 100v${-h}h0.8v${h}z`;
    }
    add('path', {class: 'time', d: bars});
    const bytes = executions.map((e) => {
      const state = this.data.states[e.after < 0 ? e.before : e.after];
      return state.kept ? state.bytes : null;
    });
    const least = Math.min(...bytes.filter((b) => b !== null));
    const largest = Math.max(...bytes.filter((b) => b !== null));
    let line = '';
    executions.forEach((e, i) => {
      if (this.data.executions.some((c) => c.parent === e.index)) return;
      if (bytes[i] === null) return;
      const y = 94 - (largest > least ? 84 * (bytes[i] - least) / (largest - least) : 42);
      line += `${line === '' ? `M0 ${y}` : `V${y}`}H${i + 1}`;
    });
    if (line !== '') add('path', {class: 'memory', d: line});
    this.now = add('rect', {class: 'now', y: 0, height: 100, width: 1, x: -2});
    $('overview').append(svg);
    $('overview').title = `Bars: time of each pass without those inside it, up to ${
        timeText(most)}. Line: memory of nodes and tensors, ${bytesText(least)} to ${
        bytesText(largest)}.`;
    svg.addEventListener('click', (event) => {
      const rect = svg.getBoundingClientRect();
      const i = Math.floor(n * (event.clientX - rect.left) / rect.width);
      if (executions[i]) this.selectPass(executions[i]);
    });
  }

  selectPass(e, keepNode = false) {
    const old = this.passRows.get(this.current);
    if (old) old.setAttribute('aria-selected', 'false');
    this.current = e;
    const row = this.passRows.get(e);
    row.setAttribute('aria-selected', 'true');
    $('passes').setAttribute('aria-activedescendant', row.id);
    // Not scrollIntoView, which moves the page as well.
    const list = $('passes');
    if (row.offsetTop < list.scrollTop + list.offsetTop) {
      list.scrollTop = row.offsetTop - list.offsetTop - 8;
    } else if (row.offsetTop + row.offsetHeight >
               list.scrollTop + list.offsetTop + list.clientHeight) {
      list.scrollTop = row.offsetTop + row.offsetHeight - list.offsetTop -
          list.clientHeight + 8;
    }
    if (this.now) this.now.setAttribute('x', e === null ? -2 : e.index);
    $('pass-heading').textContent = visible(this.passTitle(e));
    this.showDifference();
    this.showRemarks();
    this.showAbout();
    if (!keepNode) this.side = 'after';
    this.showSide();
    this.showGraph(false);
  }
  stepPass(step, onlyChanged) {
    const list = [null, ...this.data.executions];
    const only = onlyChanged || $('passes').dataset.which === 'changed';
    for (let i = list.indexOf(this.current) + step; i >= 0 && i < list.length;
         i += step) {
      if (only && list[i] !== null && !this.changes(list[i])) continue;
      this.selectPass(list[i]);
      return;
    }
  }

  // --- The graph -----------------------------------------------------------------

  setSide(side) {
    if (side === this.side) return;
    this.side = side;
    this.showSide();
    this.showGraph(true);
  }
  showSide() {
    const differs = this.current !== null && this.changes(this.current);
    for (const input of document.querySelectorAll('input[name=side]')) {
      input.checked = input.value === this.side;
      input.disabled = !differs && input.value === 'before';
    }
  }

  showFunctions() {
    const state = this.state();
    const pick = $('function');
    const touched = this.touched();
    const functions = state !== undefined && state.kept ? state.functions : [];
    const counts = new Map();
    const diff = this.diff();
    if (diff !== null) {
      for (const change of diff.changes) {
        const name = this.data.strings[change[1]];
        counts.set(name, (counts.get(name) || 0) + 1);
      }
    }
    if (!functions.some((f) => f.name === this.functionName)) {
      const best = functions.find((f) => counts.has(f.name)) ||
          functions.find((f) => f.name === 'main') || functions[0];
      this.functionName = best === undefined ? null : best.name;
    }
    const most = 500;
    const listed = functions.slice(0, most);
    const current = functions.find((f) => f.name === this.functionName);
    if (current && !listed.includes(current)) listed.push(current);
    pick.replaceChildren(...listed.map((f) => {
      const count = counts.get(f.name);
      const option = make(
          'option', {value: f.name},
          `@${f.name}${count ? ` · ${plural(count, 'change')}` : ''}`);
      option.selected = f === current;
      return option;
    }));
    $('function-pick').hidden = functions.length === 0;
    return touched;
  }

  showLegend() {
    const diff = this.diff();
    $('legend').replaceChildren();
    if (diff === null) return;
    const counts = [0, 0, 0, 0];
    for (const change of diff.changes) ++counts[change[0]];
    for (const kind of [MADE, CHANGED, MOVED, DROPPED]) {
      if (counts[kind] === 0) continue;
      $('legend').append(make(
          'button', {
            type: 'button',
            class: KIND_CLASSES[kind],
            'aria-label': `${counts[kind]} ${TOUCH_NAMES[kind]}`,
            title: kind === DROPPED ? 'Shown before the pass' : 'To the next one',
            onclick: () => this.nextOf(kind),
          },
          make('span', {class: 'sign', 'aria-hidden': 'true'}, TOUCH_SIGNS[kind]),
          countText(counts[kind]), make('span', {class: 'word'}, ` ${TOUCH_NAMES[kind]}`)));
    }
  }
  // To the next node of a kind of change.
  nextOf(kind) {
    const at = kind === DROPPED ? 2 : 3;
    const nodes = this.diff().changes.filter((c) => c[0] === kind).map((c) => c[at]);
    const next = nodes[(nodes.indexOf(this.node) + 1) % nodes.length];
    this.goTo(next, kind === DROPPED ? 'before' : 'after');
  }

  // `keep`: the place that is in view stays. `then` is called when it is drawn.
  showGraph(keep, then) {
    this.cancel();
    const graph = $('graph');
    this.showFunctions();
    this.showLegend();
    const state = this.state();
    const fn = this.functionNode();
    const note = $('graph-note');
    const caption = visible(`Graph of @${this.functionName || ''} ${
        this.current === null ? 'before all passes' :
                                `${this.side} ${this.passTitle(this.current)}`}`);
    graph.setAttribute('aria-label', caption);
    $('graph-bar').dataset.caption = caption;
    if (fn < 0) {
      note.hidden = false;
      note.textContent = state === undefined ? 'The history has no state.' :
          !state.kept ? 'This state was not kept.' :
                        'There is no function.';
      this.view.drawing = null;
      this.view.redraw();
      graph.dataset.ready = 'yes';
      return;
    }
    note.hidden = true;
    graph.dataset.ready = 'no';
    const touched = this.touched();
    const body = this.data.body(fn);
    const blocks = this.blocks === null ? body.calls.length > 120 : this.blocks;
    $('blocks').setAttribute('aria-pressed', String(blocks));
    $('bodies').setAttribute('aria-pressed', String(this.functions));
    const key = `${fn} ${blocks} ${this.functions} ${
        Array.from(this.open).join()} ${Array.from(this.shut).join()}`;
    const show = (drawing) => {
      const selected = this.node;
      this.view.show(
          drawing, (node) => touched.has(node) ? touched.get(node) : -1,
          (box) => this.membersOf(box), keep);
      graph.dataset.ready = 'yes';
      graph.dataset.boxes = drawing.boxes.length;
      const box = drawing.itemsByNode.get(selected);
      this.view.select(box === undefined ? null : box, false);
      this.showHits();
      if (then) then();
    };
    if (this.drawingKey === key) {
      show(this.lastDrawing);
      return;
    }
    this.cancel = runSliced(
        drawingOf(this.data, fn, {
          open: this.open,
          shut: this.shut,
          blocks,
          functions: this.functions,
          measure: (text, font) => this.view.measure(text, font),
        }),
        (drawing) => {
          this.drawingKey = key;
          this.lastDrawing = drawing;
          show(drawing);
        });
  }
  membersOf(box) {
    const {data} = this;
    if (box.block === null || box.block === undefined) {
      return data.body(box.fn).nodes;
    }
    const nodes = [];
    for (const node of box.members) {
      nodes.push(node);
      const fn = data.kinds[node] === Kind.FUNCTION ? node :
          data.kinds[node] === Kind.CALL_OF_NODE ? data.args(node)[0] : -1;
      if (fn >= 0 && data.kinds[fn] === Kind.FUNCTION) {
        nodes.push(...data.body(fn).nodes);
      }
    }
    return nodes;
  }

  // Opens or closes a box, which stays where it is on the screen.
  toggle(box) {
    const place = this.view.placeOf(box);
    const set = (box.block ? this.isBlocks() : !this.functions) ? this.open : this.shut;
    if (set.has(box.key)) set.delete(box.key);
    else set.add(box.key);
    const {key} = box;
    this.showGraph(true, () => {
      const now = this.view.drawing.boxes.find((b) => b.key === key);
      if (now === undefined) return;
      const moved = this.view.placeOf(now);
      this.view.left += place.x + place.w / 2 - moved.x - moved.w / 2;
      this.view.top += place.y - moved.y;
      this.selectBox(now);
      this.say(`${now.title} ${now.open ? 'expanded' : 'collapsed'}`);
    });
  }
  isBlocks() {
    return $('blocks').getAttribute('aria-pressed') === 'true';
  }

  selectBox(box) {
    this.view.select(box, false);
    if (box === null) {
      this.node = -1;
      this.showNode();
      return;
    }
    this.node = box.node;
    if (box.node < 0) this.showBlock(box);
    else this.showNode();
    const parts = [box.title];
    if (box.node >= 0) {
      const number = this.data.number(this.state(), box.node);
      if (number >= 0) parts.unshift(`%${number}`);
    }
    if (box.text !== '') parts.push(box.text);
    if (box.touch >= 0) parts.push(TOUCH_NAMES[box.touch]);
    if (box.container) parts.push(box.open ? 'expanded' : 'collapsed');
    parts.push(`${box.above.length} above, ${box.below.length} below`);
    this.say(parts.join(', '));
  }
  say(text) {
    $('live').textContent = visible(text);
  }

  // Shows a node, in the state before or after; opens what it is in.
  goTo(node, side = this.side, tries = 0) {
    if (side !== this.side) {
      this.side = side;
      this.showSide();
    }
    const state = this.state();
    if (state === undefined || !state.kept) return;
    const f = this.functionOf(state, node);
    if (f === null) {
      this.node = node;
      this.showNode();
      return;
    }
    this.functionName = f.name;
    this.node = node;
    this.showNode();
    this.showGraph(true, () => {
      const {drawing} = this.view;
      let box = drawing.itemsByNode.get(node);
      if (box === undefined) {
        box = drawing.boxes.find(
            (b) => b.item && b.item.leaves.some((leaf) => leaf.node === node));
      }
      if (box === undefined || (box.node < 0 && box.container)) {
        const around = box ||
            drawing.boxes.find((b) => b.container && !b.open && b.fn !== undefined &&
                (b.fn === node || this.data.body(b.fn).members.has(node))) ||
            drawing.boxes.find((b) => b.container && !b.open && b.block &&
                this.membersOf(b).includes(node));
        if (around !== undefined && around.fn !== node && tries < 40) {
          const set = (around.block ? this.isBlocks() : !this.functions) ?
              this.open : this.shut;
          if (set === this.open) set.add(around.key);
          else set.delete(around.key);
          this.goTo(node, side, tries + 1);
          return;
        }
        box = around;
      }
      if (box === undefined) return;
      this.view.select(box, true);
      this.say(`${this.data.line(state, node)} is shown`);
    });
  }

  // --- What differs --------------------------------------------------------------

  link(state, node, text, side) {
    return make(
        'button', {
          type: 'button',
          class: 'link',
          onclick: () => this.goTo(node, side),
        },
        bdi(text === undefined ? this.data.name(state, node) : text));
  }

  // A group that makes its entries when it is opened.
  group(label, entries, isOpen) {
    const details = make('details', {}, make('summary', {}, ...label));
    let made = false;
    const fill = () => {
      if (made || !details.open) return;
      made = true;
      const list = make('div', {});
      details.append(list);
      let shown = 0;
      const more = (count) => {
        const end = Math.min(entries.length, shown + count);
        for (; shown < end; ++shown) list.append(entries[shown]());
      };
      more(100);
      if (shown < entries.length) {
        const button = make('button', {
          type: 'button',
          class: 'more',
          onclick: () => {
            more(500);
            if (shown === entries.length) button.remove();
            else button.textContent = `More (${countText(entries.length - shown)})`;
          },
        }, `More (${countText(entries.length - shown)})`);
        details.append(button);
      }
    };
    details.addEventListener('toggle', fill);
    details.open = isOpen;
    fill();
    return details;
  }

  showDifference() {
    const panel = $('difference');
    panel.replaceChildren();
    panel.scrollTop = 0;
    const {data} = this;
    const empty = (text) => panel.append(make('p', {class: 'empty'}, text));
    const e = this.current;
    if (e === null) {
      empty('This is what the passes were given.');
      return;
    }
    if (e.end !== 1) {
      panel.append(make('p', {class: 'error'}, `It ${this.failure(e)}. `, data.strings[e.error || 0]));
      return;
    }
    if (!this.changes(e)) {
      empty('The pass changed nothing.');
      return;
    }
    const diff = this.diff();
    if (diff === null) {
      empty('A state before or after it was not kept.');
      return;
    }
    const before = data.states[e.before], after = data.states[e.after];
    const sums = [];
    const names = (list) => list.map((f) => `@${data.strings[f]}`).join(', ');
    if (diff.made_functions.length > 0) {
      sums.push(`functions made: ${names(diff.made_functions)}`);
    }
    if (diff.dropped_functions.length > 0) {
      sums.push(`functions dropped: ${names(diff.dropped_functions)}`);
    }
    if (diff.changed_types.length > 0) {
      sums.push(`data types changed: ${diff.changed_types.map((t) => data.strings[t]).join(', ')}`);
    }
    const wrapper = 'let, local function or call of one';
    const wrappers = 'lets, local functions and their calls';
    if (diff.wrappers[0] > 0) sums.push(`${plural(diff.wrappers[0], wrapper, wrappers)} made`);
    if (diff.wrappers[1] > 0) sums.push(`${plural(diff.wrappers[1], wrapper, wrappers)} dropped`);
    if (diff.types[0] > 0) sums.push(`${plural(diff.types[0], 'type')} found`);
    if (diff.types[1] > 0) sums.push(`${plural(diff.types[1], 'type')} lost`);
    for (const sum of sums) panel.append(make('p', {}, sum));
    if (diff.changes.length === 0 && sums.length === 0) {
      empty('Nothing differs but names, numbers and the order of definitions.');
    }
    // Function, then kind and operator, then node.
    const functions = new Map();
    for (const change of diff.changes) {
      const name = data.strings[change[1]];
      if (!functions.has(name)) functions.set(name, new Map());
      const groups = functions.get(name);
      const node = change[0] === DROPPED ? change[2] : change[3];
      const title = node < 0 ? '' : data.kinds[node] === Kind.CALL_OF_NODE ? 'calls' : data.title(node);
      const key = `${change[0]} ${title}`;
      if (!groups.has(key)) groups.set(key, {kind: change[0], title, list: []});
      groups.get(key).list.push(change);
    }
    const few = diff.changes.length <= 40;
    for (const [name, groups] of functions) {
      let count = 0;
      const sorted = Array.from(groups.values())
                         .sort((a, b) => a.kind - b.kind || b.list.length - a.list.length);
      const inner = sorted.map((g) => {
        count += g.list.length;
        return () => this.group(
            [
              make('span', {class: `sign ${KIND_CLASSES[g.kind]}`, 'aria-hidden': 'true'}, TOUCH_SIGNS[g.kind]),
              `${TOUCH_NAMES[g.kind]} `,
              make('span', {class: 'code'}, bdi(g.title)), ' ',
              make('span', {class: 'count'}, countText(g.list.length)),
            ],
            g.list.map((change) => () => this.changeEntry(change, before, after)),
            few || (groups.size === 1 && g.list.length <= 100));
      });
      panel.append(this.group(
          [make('b', {class: 'code'}, bdi(`@${name}`)), ' ',
           make('span', {class: 'count'}, plural(count, 'change'))],
          inner, functions.size <= 4));
    }
  }

  changeEntry(change, before, after) {
    const {data} = this;
    const [kind, , was, is, place, from, to] = change;
    const entry = make('div', {class: 'entry'});
    if (kind === DROPPED) {
      entry.append(this.link(before, was, data.line(before, was), 'before'));
    } else {
      entry.append(this.link(after, is, data.line(after, is), 'after'));
    }
    const fields = make('div', {class: 'fields'});
    if (kind === DROPPED && place >= 0) {
      fields.append(this.link(after, place, undefined, 'after'), ' takes its place');
    } else if (kind === MADE && place >= 0) {
      fields.append('in place of ', this.link(before, place, undefined, 'before'));
    } else if (kind === MOVED) {
      fields.append('from ', from >= 0 ? this.link(before, from, undefined, 'before') : `@${data.strings[change[7]]}`);
      fields.append(' into ', to >= 0 ? this.link(after, to, undefined, 'after') : `@${data.strings[change[1]]}`);
    }
    for (let i = 8; i < change.length; i += 5) {
      const line = make('div', {}, bdi(data.strings[change[i]]), ' ');
      const [wasText, isText, wasNode, isNode] = change.slice(i + 1, i + 5);
      line.append(
          wasNode >= 0 ? this.link(before, wasNode, undefined, 'before') :
                         bdi(data.strings[wasText] || 'nothing'),
          ' → ',
          isNode >= 0 ? this.link(after, isNode, undefined, 'after') :
                        bdi(data.strings[isText] || 'nothing'));
      fields.append(line);
    }
    if (fields.childNodes.length > 0) entry.append(fields);
    return entry;
  }

  // --- What was said, and the pass -----------------------------------------------

  inside(e) {
    // Those inside an execution come right after it.
    let last = e.index;
    while (last + 1 < this.data.executions.length &&
           this.data.executions[last + 1].depth > e.depth) {
      ++last;
    }
    return last;
  }
  // `inGroup`: the kind and the reason are above it.
  remarkEntry(remark, inGroup) {
    const {data} = this;
    const e = data.executions[remark.execution];
    const state = data.states[e.before];
    const entry = make('div', {class: `remark ${remark.kind}`});
    if (!inGroup) {
      entry.append(
          make('span', {class: 'kind'}, remark.kind),
          make('button', {type: 'button', class: 'link', onclick: () => this.selectPass(e)},
               this.passTitle(e)), ' ');
    }
    if (remark.node >= 0) entry.append(this.remarkLink(e, state, remark.node));
    if (!inGroup) {
      entry.append(remark.node >= 0 ? ': ' : '', bdi(remark.reason));
    }
    remark.args.forEach((arg, i) => {
      entry.append(i > 0 ? ', ' : inGroup ? ' ' : ' (', make('span', {class: 'particular'}, bdi(arg.name)), ' ');
      entry.append(arg.node >= 0 ? this.remarkLink(e, state, arg.node) : bdi(arg.text));
      if (i === remark.args.length - 1 && !inGroup) entry.append(')');
    });
    if (entry.childNodes.length === 0) entry.append('the function as a whole');
    return entry;
  }
  // Remarks are about what the pass was given.
  remarkLink(e, state, node) {
    const number = this.data.number(state, node);
    const title = this.data.isLeaf(node) || number < 0 ?
        this.data.name(state, node) : `%${number} = ${this.data.title(node)}`;
    return make('button', {
      type: 'button',
      class: 'link',
      onclick: () => {
        if (this.beforeState() !== e.before) this.selectPass(e, true);
        this.goTo(node, this.changes(this.current || e) ? 'before' : 'after');
      },
    }, bdi(title));
  }

  showRemarks() {
    const panel = $('remarks');
    panel.replaceChildren();
    panel.scrollTop = 0;
    const e = this.current;
    const last = e === null ? -1 : this.inside(e);
    const list = e === null ? [] :
        this.data.remarks.filter((r) => r.execution >= e.index && r.execution <= last);
    $('tab-remarks').textContent =
        list.length > 0 ? `Remarks ${countText(list.length)}` : 'Remarks';
    if (list.length === 0) {
      panel.append(make('p', {class: 'empty'},
                        e === null ? 'No pass has run yet.' : 'The pass said nothing.'));
      return;
    }
    for (const kind of ['passed', 'missed', 'analysis']) {
      const reasons = new Map();
      for (const remark of list) {
        if (remark.kind !== kind) continue;
        const key = `${this.data.executions[remark.execution].pass} ${remark.reason}`;
        if (!reasons.has(key)) reasons.set(key, []);
        reasons.get(key).push(remark);
      }
      for (const remarks of reasons.values()) {
        const teller = this.data.executions[remarks[0].execution];
        panel.append(this.group(
            [
              make('span', {class: `remark ${kind}`}, make('span', {class: 'kind'}, kind)),
              teller === e ? null : `${this.passName(teller)}: `,
              bdi(remarks[0].reason), ' ',
              make('span', {class: 'count'}, countText(remarks.length)),
            ],
            remarks.map((remark) => () => this.remarkEntry(remark, true)),
            list.length <= 12));
      }
    }
  }

  showAbout() {
    const panel = $('about');
    panel.replaceChildren();
    const {data} = this;
    const e = this.current;
    const pairs = make('dl', {class: 'pairs'});
    const pair = (name, ...values) => pairs.append(
        make('dt', {}, name), make('dd', {}, ...values));
    panel.append(pairs);
    const held = (state) => state.kept ? bytesText(state.bytes) : 'not kept';
    if (e === null) {
      if (data.states.length > 0) pair('Memory', held(data.states[0]));
    } else {
      pair('Number', String(e.number));
      if (e.parent >= 0) {
        const parent = data.executions[e.parent];
        pair('Inside', make('button', {type: 'button', class: 'link', onclick: () => this.selectPass(parent)},
                            this.passTitle(parent)));
      }
      pair('Began after', timeText(e.start));
      pair('Time', timeText(e.total));
      pair('Of its own', timeText(e.self));
      if (e.made !== undefined) {
        pair('Nodes', `${countText(e.made)} made, ${countText(e.dropped)} dropped`);
      }
      pair('Memory', e.after < 0 ? held(data.states[e.before]) :
                     `${held(data.states[e.before])} before, ${held(data.states[e.after])} after`);
      const drift = this.drift(e);
      if (drift !== null) {
        pair('Numeric drift', `${drift.error} of the largest element of the results (relative ${
            drift.relative}, ${drift.ulp} ULP); ${drift.error_in_all} since the first pass`);
      }
      if (e.error) pair('Error', make('span', {class: 'error'}, data.strings[e.error]));
      const counts = data.counts.filter((c) => c.name.startsWith(`${this.passName(e)}.`));
      for (const count of counts) {
        pair(count.name.slice(this.passName(e).length + 1),
             `${countText(count.count)} in the whole run`, make('div', {class: 'fields'}, count.doc));
      }
      pair('In a pipeline', make('span', {class: 'code'}, data.strings[e.text]));
    }
  }

  // --- The node ------------------------------------------------------------------

  showBlock(box) {
    $('node-region').hidden = false;
    const heading = $('node-heading');
    heading.textContent = box.title;
    const panel = $('node');
    panel.replaceChildren(make('p', {}, `${box.text}.`), make('h3', {}, 'Nodes'));
    const state = this.state();
    for (const node of box.members) {
      panel.append(make('div', {class: 'entry'}, this.link(state, node, this.data.line(state, node))));
    }
  }

  showNode() {
    const {data, node} = this;
    $('node-region').hidden = node < 0;
    if (node < 0) return;
    const state = this.state();
    const panel = $('node');
    panel.replaceChildren();
    panel.scrollTop = 0;
    const number = data.number(state, node);
    const title = data.kinds[node] === Kind.VAR ? `%${data.title(node)}` : data.title(node);
    $('node-heading').textContent = visible(number >= 0 ? `%${number} = ${title}` : title);
    const pairs = make('dl', {class: 'pairs'});
    const pair = (name, ...values) => pairs.append(
        make('dt', {}, bdi(name)), make('dd', {}, ...values));
    const heading = (text) => panel.append(make('h3', {}, text));
    panel.append(pairs);
    pair('Type', make('span', {class: 'code'}, bdi(data.type(node) || 'not inferred')));
    const f = this.functionOf(state, node);
    if (f !== null) pair('In', make('span', {class: 'code'}, bdi(`@${f.name}`)));
    const attrs = data.attrsOf(node);
    if (attrs.length > 0) {
      heading('Attributes');
      const list = make('dl', {class: 'pairs', id: 'attributes'});
      for (const [name, value] of attrs) {
        list.append(make('dt', {}, bdi(name)), make('dd', {class: 'code'}, bdi(value)));
      }
      panel.append(list);
    }
    const change = this.changeOf(node);
    if (change !== null) {
      heading(`In ${visible(this.passTitle(this.current))}`);
      const entry = this.changeEntry(change, data.states[this.beforeState()], data.states[this.afterState()]);
      entry.prepend(make('span', {class: KIND_CLASSES[change[0]]}, `${TOUCH_NAMES[change[0]]} `));
      panel.append(entry);
    }
    const lines = (text, nodes) => {
      if (nodes.length === 0) return;
      heading(text);
      for (const other of nodes.slice(0, 60)) {
        panel.append(make('div', {class: 'entry'}, this.link(state, other, data.line(state, other))));
      }
      if (nodes.length > 60) {
        panel.append(make('p', {class: 'empty'}, `and ${countText(nodes.length - 60)} more`));
      }
    };
    lines('Operands', Array.from(data.args(node)));
    if (f !== null) {
      lines('Used by', data.body(f.node).nodes.filter(
          (user) => data.args(user).includes(node)));
    }
    this.showOrigin(panel, node);
    const about = data.remarks.filter(
        (r) => r.node === node || r.args.some((arg) => arg.node === node));
    if (about.length > 0) {
      heading('Remarks');
      for (const remark of about.slice(0, 100)) panel.append(this.remarkEntry(remark, false));
    }
  }
  changeOf(node) {
    const diff = this.diff();
    if (diff === null) return null;
    const at = this.side === 'before' ? 2 : 3;
    return diff.changes.find((c) => c[at] === node) || null;
  }

  // Which pass made it, out of what, back to the source.
  showOrigin(panel, node) {
    const {data} = this;
    panel.append(make('h3', {}, 'Where it comes from'));
    const list = make('ol', {class: 'chain', id: 'origin'});
    panel.append(list);
    const known = data.origins.size > 0;
    const seen = new Set([node]);
    const todo = [{at: node, depth: 0}];
    const most = 40;
    while (todo.length > 0 && list.childNodes.length < most) {
      const {at, depth} = todo.pop();
      list.append(this.originEntry(at, depth, node));
      const from = data.origins.has(at) ? data.origins.get(at).from : [];
      for (const next of from.slice().reverse()) {
        if (seen.has(next)) continue;
        seen.add(next);
        todo.push({at: next, depth: depth + 1});
      }
      if (from.length === 0 && data.firstState(at) > 0) {
        const text = known ? 'What it was made from was not told.' :
                             'What nodes were made from was not recorded.';
        const item = make('li', {class: 'maker'}, text);
        item.style.paddingLeft = `${12 * (depth + 1)}px`;
        list.append(item);
      }
    }
    if (todo.length > 0) list.append(make('li', {class: 'maker'}, 'and more'));
  }
  originEntry(at, depth, node) {
    const {data} = this;
    const first = data.firstState(at);
    const origin = data.origins.get(at);
    const maker = first === 0 ? null :
        data.executions.find((e) => origin && e.number === origin.execution) ||
            data.makerOf(first);
    const item = make('li', {});
    item.style.paddingLeft = `${12 * Math.min(depth, 8)}px`;
    const show = () => {
      this.selectPass(maker, true);
      this.goTo(at, 'after');
    };
    if (at !== node) {
      item.append('from ', make('button', {type: 'button', class: 'link', onclick: show},
                                bdi(data.line(data.states[first], at))), ', ');
    }
    if (maker === null) {
      item.append(at === node ? 'In the program from the beginning' :
                                'in the program from the beginning');
    } else {
      item.append(make('span', {class: 'maker'}, at === node ? 'Made by ' : 'made by '),
                  make('button', {type: 'button', class: 'link', onclick: show},
                       this.passTitle(maker)));
    }
    const place = data.places.get(at);
    if (place !== undefined) {
      item.append(', at ', make('span', {class: 'code place'}, bdi(place)));
    }
    return item;
  }

  // --- Search --------------------------------------------------------------------

  // The nodes of the state that match; empty for an empty query.
  matches(query) {
    const {data} = this;
    const state = this.state();
    if (query === '' || state === undefined || !state.kept) return [];
    const found = [];
    const number = /^%(\d+)$/.exec(query);
    const text = query.toLowerCase();
    const known = new Map();
    const has = (string) => {
      let yes = known.get(string);
      if (yes === undefined) {
        yes = data.strings[string].toLowerCase().includes(text);
        known.set(string, yes);
      }
      return yes;
    };
    const sets = new Map();
    const inAttrs = (set) => {
      if (set < 0) return false;
      let yes = sets.get(set);
      if (yes === undefined) {
        yes = data.attrSets[set].some(has) ||
            data.attrSets[set].some((s, i, all) => i % 2 === 0 &&
                `${data.strings[s]}=${data.strings[all[i + 1]]}`.toLowerCase().includes(text));
        sets.set(set, yes);
      }
      return yes;
    };
    const seen = new Set();
    for (const f of state.functions) {
      for (const node of data.body(f.node).nodes) {
        if (seen.has(node)) continue;
        seen.add(node);
        const kind = data.kinds[node];
        if (kind === Kind.NAME || kind === Kind.LET || kind === Kind.OTHER) continue;
        const is = number !== null ?
            data.number(state, node) === Number(number[1]) :
            has(data.titles[node]) || has(data.types[node]) || inAttrs(data.attrs[node]) ||
                (kind === Kind.VAR && `%${data.title(node)}`.toLowerCase().includes(text));
        if (is) found.push({node, function: f.name});
      }
    }
    // Titles first.
    return found.sort((a, b) => (has(data.titles[b.node]) ? 1 : 0) - (has(data.titles[a.node]) ? 1 : 0));
  }

  search() {
    const input = $('search');
    const results = $('results');
    this.query = input.value.trim();
    results.replaceChildren();
    this.found = [];
    const isOpen = this.query !== '';
    results.hidden = !isOpen;
    input.setAttribute('aria-expanded', String(isOpen));
    input.removeAttribute('aria-activedescendant');
    if (!isOpen) {
      this.showHits();
      return;
    }
    const state = this.state();
    const option = (what, aside, go) => {
      const index = this.found.length;
      const element = make(
          'div', {role: 'option', id: `result-${index}`, 'aria-selected': 'false', onclick: () => {
            this.closeResults();
            go();
          }},
          make('span', {class: 'what'}, bdi(what)), make('span', {class: 'aside'}, bdi(aside)));
      results.append(element);
      this.found.push({element, go});
    };
    const lower = this.query.toLowerCase();
    const passes = this.data.executions.filter(
        (e) => this.passName(e).toLowerCase().includes(lower) || `#${e.number}` === this.query);
    passes.sort((a, b) => (this.changes(b) ? 1 : 0) - (this.changes(a) ? 1 : 0));
    for (const e of passes.slice(0, 6)) {
      option(this.passTitle(e), this.changes(e) ? 'pass, changed something' : 'pass',
             () => this.selectPass(e));
    }
    this.hitNodes = this.matches(this.query);
    for (const {node, function: name} of this.hitNodes.slice(0, 50)) {
      option(this.data.line(state, node), `@${name} ${shortType(this.data.type(node))}`,
             () => this.goTo(node));
    }
    const count = this.hitNodes.length;
    results.prepend(make('p', {id: 'result-count'},
        count === 0 && passes.length === 0 ? 'Nothing matches.' :
        `${plural(passes.length, 'pass', 'passes')}, ${plural(count, 'node')}${count > 50 ? ', the first 50 of them' : ''}`));
    this.showHits();
    this.say($('result-count').textContent);
  }
  showHits() {
    const view = this.view;
    view.hits = null;
    if (this.query !== '' && view.drawing !== null) {
      this.hitNodes = this.matches(this.query);
      view.hits = new Set();
      const hit = new Set(this.hitNodes.map((h) => h.node));
      for (const box of view.drawing.boxes) {
        if (box.port || (box.container && box.open)) continue;
        const is = (box.node >= 0 && hit.has(box.node)) ||
            (box.item && box.item.leaves.some((leaf) => hit.has(leaf.node))) ||
            (box.container && this.membersOf(box).some((n) => hit.has(n)));
        if (is) view.hits.add(box);
      }
    }
    $('graph').dataset.hits = view.hits === null ? 0 : view.hits.size;
    view.redraw();
  }
  closeResults() {
    $('results').hidden = true;
    $('search').setAttribute('aria-expanded', 'false');
  }
  searchKey(event) {
    const input = $('search');
    const found = this.found || [];
    const at = found.findIndex((f) => f.element.getAttribute('aria-selected') === 'true');
    const pick = (i) => {
      if (found.length === 0) return;
      if (at >= 0) found[at].element.setAttribute('aria-selected', 'false');
      const chosen = found[(i + found.length) % found.length].element;
      chosen.setAttribute('aria-selected', 'true');
      chosen.scrollIntoView({block: 'nearest'});
      input.setAttribute('aria-activedescendant', chosen.id);
    };
    if (event.key === 'ArrowDown') pick(at + 1);
    else if (event.key === 'ArrowUp') pick(at < 0 ? found.length - 1 : at - 1);
    else if (event.key === 'Enter') {
      clearTimeout(this.searchTimer);
      if (input.value.trim() !== this.query) this.search();
      const chosen = this.found[Math.max(0, at)];
      if (chosen) {
        this.closeResults();
        chosen.go();
        $('graph').focus({preventScroll: true});
      }
    } else if (event.key === 'Escape') {
      if ($('results').hidden) input.value = '';
      this.closeResults();
      if (input.value === '') this.search();
    } else {
      return;
    }
    event.preventDefault();
  }

  // --- Input ---------------------------------------------------------------------

  selectTab(name) {
    for (const tab of document.querySelectorAll('[role=tab]')) {
      const chosen = tab.id === `tab-${name}`;
      tab.setAttribute('aria-selected', String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
      $(tab.getAttribute('aria-controls')).hidden = !chosen;
    }
  }

  listen() {
    $('passes').addEventListener('click', (event) => {
      const row = event.target.closest('.pass');
      if (row) this.selectPass(row.execution);
    });
    $('passes').addEventListener('keydown', (event) => {
      const last = this.data.executions[this.data.executions.length - 1] || null;
      switch (event.key) {
        case 'ArrowDown':
          this.stepPass(1, false);
          break;
        case 'ArrowUp':
          this.stepPass(-1, false);
          break;
        case 'Home':
          this.selectPass(null);
          break;
        case 'End':
          this.selectPass(last);
          break;
        case 'Enter':
          $('graph').focus();
          break;
        default:
          return;
      }
      event.preventDefault();
    });
    for (const input of document.querySelectorAll('input[name=which]')) {
      input.addEventListener('change', () => {
        $('passes').dataset.which = input.value;
      });
    }
    for (const input of document.querySelectorAll('input[name=side]')) {
      input.addEventListener('change', () => this.setSide(input.value));
    }
    $('function').addEventListener('change', () => {
      this.functionName = $('function').value;
      this.showGraph(false);
    });
    $('blocks').addEventListener('click', () => {
      this.blocks = !this.isBlocks();
      this.open.clear();
      this.shut.clear();
      this.showGraph(false);
    });
    $('bodies').addEventListener('click', () => {
      this.functions = !this.functions;
      this.open.clear();
      this.shut.clear();
      this.showGraph(false);
    });
    const inGraph = (fn) => () => {
      if (this.view.drawing !== null) fn();
    };
    $('zoom-in').addEventListener('click', inGraph(() => this.view.zoom(1.25)));
    $('zoom-out').addEventListener('click', inGraph(() => this.view.zoom(0.8)));
    $('fit').addEventListener('click', inGraph(() => this.view.fit()));
    $('help-button').addEventListener('click', () => $('help').showModal());
    $('node-close').addEventListener('click', () => {
      this.selectBox(null);
      $('graph').focus();
    });
    const tabs = Array.from(document.querySelectorAll('[role=tab]'));
    tabs.forEach((tab, i) => {
      tab.addEventListener('click', () => this.selectTab(tab.id.slice(4)));
      tab.addEventListener('keydown', (event) => {
        const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
        if (step === 0) return;
        const next = tabs[(i + step + tabs.length) % tabs.length];
        this.selectTab(next.id.slice(4));
        next.focus();
        event.preventDefault();
      });
    });
    const input = $('search');
    input.addEventListener('input', () => {
      clearTimeout(this.searchTimer);
      this.searchTimer = setTimeout(() => this.search(), 80);
    });
    input.addEventListener('keydown', (event) => this.searchKey(event));
    input.addEventListener('focus', () => {
      if (input.value.trim() !== '') this.search();
    });
    document.addEventListener('pointerdown', (event) => {
      if (!event.target.closest('.search')) this.closeResults();
    });
    document.addEventListener('keydown', (event) => {
      const typing = event.target.matches('input:not([type=radio]), select, textarea');
      if (typing || event.ctrlKey || event.metaKey || event.altKey || $('help').open) return;
      const keys = {
        '/': () => input.focus(),
        '?': () => $('help').showModal(),
        '[': () => this.stepPass(-1, false),
        ']': () => this.stepPass(1, false),
        '{': () => this.stepPass(-1, true),
        '}': () => this.stepPass(1, true),
        b: () => {
          if (this.current !== null && this.changes(this.current)) {
            this.setSide(this.side === 'before' ? 'after' : 'before');
            this.say(`${this.side} the pass`);
          }
        },
      };
      if (keys[event.key] === undefined) return;
      keys[event.key]();
      event.preventDefault();
    });
    // On paper: light colours, a fine picture, all groups that are not endless.
    let opened = [];
    window.addEventListener('beforeprint', () => {
      document.documentElement.classList.add('printing');
      for (let round = 0; round < 3; ++round) {
        for (const details of document.querySelectorAll('details:not([open])')) {
          if (document.querySelectorAll('.entry').length > 200) break;
          details.open = true;
          details.dispatchEvent(new Event('toggle'));
          opened.push(details);
        }
      }
      this.view.readColors($('graph'));
      this.view.ratio = 2.5;
      this.view.resize();
      this.view.paint();
    });
    window.addEventListener('afterprint', () => {
      document.documentElement.classList.remove('printing');
      for (const details of opened) details.open = false;
      opened = [];
      this.view.ratio = 0;
      this.view.readColors($('graph'));
      this.view.resize();
    });
  }
}

{
  const content = $('content');
  const times = $('times');
  const data = new Data(JSON.parse(content.textContent), JSON.parse(times.textContent));
  // They are as large as the page.
  content.remove();
  times.remove();
  window.baton = new Page(data, document.title);
}
