// The page around the graph: the passes, what differs, the node, search, keys.

class Page {
  constructor(data, title, profile, library) {
    this.data = data;
    this.current = null;  // the execution; null is what the passes were given
    this.side = 'after';
    this.functionName = null;
    this.open = new Set();
    this.shut = new Set();
    this.blocks = null;  // null: as the size suggests
    this.functions = false;
    this.node = -1;
    this.cancel = () => {};
    this.view = new GraphView($('graph'), $('canvas'), {
      select: (box) => this.selectBox(box),
      toggle: (box) => this.toggle(box),
      enter: () => {
        if (!$('node-region').hidden) $('node-heading').focus();
      },
    });
    this.details = new Details(this);
    this.search = new Search(this);
    $('title').textContent = visible(title);
    this.summarize();
    this.listPasses();
    this.drawOverview();
    showProfile(profile);
    showLibrary(library);
    this.listen();
    // The first step of the pipeline that did something.
    this.selectPass(
        data.executions.find((e) => this.changes(e) && !this.isSequence(e)) ||
        null);
  }

  // --- What there is ---------------------------------------------------------

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
    return this.data
        .states[this.side === 'before' ? this.beforeState() : this.afterState()];
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

  hasNode(node) {
    const state = this.state();
    return state !== undefined && state.kept &&
        this.functionOf(state, node) !== null;
  }

  // --- The heading and the passes --------------------------------------------

  summarize() {
    const {data} = this;
    const total = data.executions.reduce(
        (sum, e) => e.parent < 0 ? sum + e.total : sum, 0);
    const changed = data.executions.filter((e) => this.changes(e)).length;
    $('summary').textContent =
        `${plural(data.executions.length, 'pass execution')}, ${
            countText(changed)} changed something · ${timeText(total)} · ${
            plural(
                data.size, 'node')} in ${plural(data.states.length, 'state')}`;
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
    const begin = data.executions.length > 0 ? data.executions[0].start : 0;
    const end =
        largestOf(data.executions.map((e) => e.start + e.total), begin + 1);
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
    const held = (state) =>
        state !== undefined && state.kept ? bytesText(state.bytes) : '';
    row(null, `Input, ${held(data.states[0])}`,
        make('span', {class: 'number'}, '0'),
        make('span', {class: 'name'}, 'Input'),
        make(
            'span', {class: 'held', title: 'Memory of nodes and tensors'},
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
        change.title =
            `Nodes made and dropped, memory; the module after it holds ${
                bytesText(data.states[e.after].bytes)}`;
        said = `${plural(e.made, 'node')} made, ${
            countText(e.dropped)} dropped, memory ${sign}${bytesText(e.bytes)}`;
      } else if (this.changes(e)) {
        change.append('state not kept');
        said = 'state not kept';
      }
      if (drift !== null) {
        change.append(make('b', {class: 'drift'}, ` drift ${drift.error}`));
        said += `, numeric drift ${drift.error}, in all ${drift.error_in_all}`;
      }
      const bar = make('i', {});
      const part = 100 / (end - begin);
      bar.style.left = `${Math.min(99, part * (e.start - begin))}%`;
      bar.style.width = `${part * e.total}%`;
      const label = make(
          'span', {class: 'name', title: data.strings[e.text].slice(0, 2000)},
          name);
      label.style.paddingLeft = `${Math.min(e.depth, 8) * 11}px`;
      row(e, `${e.number} ${name}, ${timeText(e.total)}, ${said}`,
          make('span', {class: 'number'}, String(e.number)), label,
          make('span', {class: 'track'}, bar),
          make(
              'span', {
                class: 'time',
                title: `${timeText(e.self)} without the passes inside it`
              },
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
    const most = largestOf(executions.map((e) => e.self), 1);
    let bars = '';
    for (const e of executions) {
      const h = Math.max(1, 100 * Math.max(0, e.self) / most);
      bars += `M${e.index + 0.1} 100v${- h}h0.8v${h}z`;
    }
    add('path', {class: 'time', d: bars});
    const bytes = executions.map((e) => {
      const state = this.data.states[e.after < 0 ? e.before : e.after];
      return state.kept ? state.bytes : null;
    });
    const kept = bytes.filter((b) => b !== null);
    const largest = largestOf(kept, 0);
    const least = -largestOf(kept.map((b) => -b), -largest);
    // What a pass returns was returned by the last one inside it.
    const parents = new Set(executions.map((e) => e.parent));
    let line = '';
    executions.forEach((e, i) => {
      if (parents.has(e.index) || bytes[i] === null) return;
      const y = 94 -
          (largest > least ? 84 * (bytes[i] - least) / (largest - least) : 42);
      line += `${line === '' ? `M0 ${y}` : `V${y}`}H${i + 1}`;
    });
    if (line !== '') add('path', {class: 'memory', d: line});
    this.now = add('rect', {class: 'now', y: 0, height: 100, width: 1, x: -2});
    $('overview').append(
        svg,
        make(
            'p', {class: 'key'}, make('i', {class: 'time'}),
            `time, up to ${timeText(most)}`, make('i', {class: 'memory'}),
            `memory, ${bytesText(least)} to ${bytesText(largest)}`));
    $('overview').title =
        'Bars: the time of each pass without those inside it. ' +
        'Line: the memory of nodes and tensors after it.';
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
    } else if (
        row.offsetTop + row.offsetHeight >
        list.scrollTop + list.offsetTop + list.clientHeight) {
      list.scrollTop = row.offsetTop + row.offsetHeight - list.offsetTop -
          list.clientHeight + 8;
    }
    if (this.now) this.now.setAttribute('x', e === null ? -2 : e.index);
    this.details.showPass();
    if (!keepNode) {
      this.side = 'after';
      // The node that is shown stays if this state has it as well.
      if (this.node >= 0 && !this.hasNode(this.node)) this.node = -1;
      this.details.showNode();
    }
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

  // --- The graph -------------------------------------------------------------

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
            title: kind === DROPPED ? 'Shown before the pass' :
                                      'To the next one',
            onclick: () => this.nextOf(kind),
          },
          make(
              'span', {class: 'sign', 'aria-hidden': 'true'},
              TOUCH_SIGNS[kind]),
          countText(counts[kind]),
          make('span', {class: 'word'}, ` ${TOUCH_NAMES[kind]}`)));
    }
  }
  // To the next node of a kind of change.
  nextOf(kind) {
    const at = kind === DROPPED ? 2 : 3;
    const nodes =
        this.diff().changes.filter((c) => c[0] === kind).map((c) => c[at]);
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
        this.current === null ?
            'before all passes' :
            `${this.side} ${this.passTitle(this.current)}`}`);
    graph.setAttribute('aria-label', caption);
    $('graph-bar').dataset.caption = caption;
    if (fn < 0) {
      note.hidden = false;
      note.textContent = state === undefined ? 'The history has no state.' :
          !state.kept                        ? 'This state was not kept.' :
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
      this.search.showHits();
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
    if (box.block === null) return data.body(box.fn).nodes;
    const nodes = [];
    for (const node of box.members) {
      nodes.push(node);
      const fn = data.kinds[node] === Kind.FUNCTION ? node :
          data.kinds[node] === Kind.CALL_OF_NODE    ? data.args(node)[0] :
                                                      -1;
      if (fn >= 0 && data.kinds[fn] === Kind.FUNCTION) {
        nodes.push(...data.body(fn).nodes);
      }
    }
    return nodes;
  }

  // Opens or closes a box, which stays where it is on the screen.
  toggle(box) {
    const place = this.view.placeOf(box);
    this.setOpen(box, !box.open);
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
  setOpen(box, open) {
    (open ? this.open : this.shut).add(box.key);
    (open ? this.shut : this.open).delete(box.key);
  }
  isBlocks() {
    return $('blocks').getAttribute('aria-pressed') === 'true';
  }

  selectBox(box) {
    this.view.select(box, false);
    if (box === null) {
      this.node = -1;
      this.details.showNode();
      return;
    }
    this.node = box.node;
    if (box.node < 0)
      this.details.showBlock(box);
    else
      this.details.showNode();
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
      this.details.showNode();
      return;
    }
    this.functionName = f.name;
    this.node = node;
    this.details.showNode();
    this.showGraph(true, () => {
      const {drawing} = this.view;
      let box = drawing.itemsByNode.get(node);
      if (box === undefined) {
        box = drawing.boxes.find(
            (b) => b.item && b.item.leaves.some((leaf) => leaf.node === node));
      }
      if (box === undefined || (box.node < 0 && box.container)) {
        const around = box ||
            drawing.boxes.find(
                (b) => b.container && !b.open && b.fn >= 0 &&
                    (b.fn === node ||
                     this.data.body(b.fn).members.has(node))) ||
            drawing.boxes.find(
                (b) => b.container && !b.open && b.block &&
                    this.membersOf(b).includes(node));
        if (around !== undefined && around.fn !== node && tries < 40) {
          this.setOpen(around, true);
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

  // --- Input -----------------------------------------------------------------

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
      const last =
          this.data.executions[this.data.executions.length - 1] || null;
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
    const tabs =
        Array.from(document.querySelectorAll('[role=tab]:not([hidden])'));
    tabs.forEach((tab, i) => {
      tab.addEventListener('click', () => this.selectTab(tab.id.slice(4)));
      tab.addEventListener('keydown', (event) => {
        const step = event.key === 'ArrowRight' ? 1 :
            event.key === 'ArrowLeft'           ? -1 :
                                                  0;
        if (step === 0) return;
        const next = tabs[(i + step + tabs.length) % tabs.length];
        this.selectTab(next.id.slice(4));
        next.focus();
        event.preventDefault();
      });
    });
    document.addEventListener('keydown', (event) => {
      const typing =
          event.target.matches('input:not([type=radio]), select, textarea');
      if (typing || event.ctrlKey || event.metaKey || event.altKey ||
          $('help').open)
        return;
      const keys = {
        '/': () => $('search').focus(),
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
        for (const details of document.querySelectorAll(
                 'details:not([open])')) {
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
  const profile = JSON.parse($('profile').textContent);
  const library = JSON.parse($('library').textContent);
  const data =
      new Data(JSON.parse(content.textContent), JSON.parse(times.textContent));
  // They are as large as the page.
  content.remove();
  times.remove();
  window.baton = new Page(data, document.title, profile, library);
}
