// Search for passes and nodes.

class Search {
  constructor(page) {
    this.page = page;
    this.query = '';
    this.found = [];     // {element, go} of each result
    this.hitNodes = [];  // {node, function}
    this.listen();
  }

  // The nodes of the state that match; empty for an empty query.
  matches(query) {
    const {data} = this.page;
    const state = this.page.state();
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
            data.attrSets[set].some(
                (s, i, all) => i % 2 === 0 &&
                    `${data.strings[s]}=${data.strings[all[i + 1]]}`
                        .toLowerCase()
                        .includes(text));
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
        if (kind === Kind.NAME || kind === Kind.LET || kind === Kind.OTHER)
          continue;
        const is = number !== null ?
            data.number(state, node) === Number(number[1]) :
            has(data.titles[node]) || has(data.types[node]) ||
                inAttrs(data.attrs[node]) ||
                (kind === Kind.VAR &&
                 `%${data.title(node)}`.toLowerCase().includes(text));
        if (is) found.push({node, function: f.name});
      }
    }
    // Titles first.
    return found.sort(
        (a, b) => (has(data.titles[b.node]) ? 1 : 0) -
            (has(data.titles[a.node]) ? 1 : 0));
  }

  run() {
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
    const state = this.page.state();
    const option = (what, aside, go) => {
      const index = this.found.length;
      const element = make(
          'div', {
            role: 'option',
            id: `result-${index}`,
            'aria-selected': 'false',
            onclick: () => {
              this.close();
              go();
            }
          },
          make('span', {class: 'what'}, bdi(what)),
          make('span', {class: 'aside'}, bdi(aside)));
      results.append(element);
      this.found.push({element, go});
    };
    const lower = this.query.toLowerCase();
    const passes = this.page.data.executions.filter(
        (e) => this.page.passName(e).toLowerCase().includes(lower) ||
            `#${e.number}` === this.query);
    passes.sort(
        (a, b) =>
            (this.page.changes(b) ? 1 : 0) - (this.page.changes(a) ? 1 : 0));
    for (const e of passes.slice(0, 6)) {
      option(
          this.page.passTitle(e),
          this.page.changes(e) ? 'pass, changed something' : 'pass',
          () => this.page.selectPass(e));
    }
    this.showHits();
    for (const {node, function: name} of this.hitNodes.slice(0, 50)) {
      option(
          this.page.data.line(state, node),
          `@${name} ${shortType(this.page.data.type(node))}`,
          () => this.page.goTo(node));
    }
    const count = this.hitNodes.length;
    results.prepend(make(
        'p', {id: 'result-count'},
        count === 0 && passes.length === 0 ?
            'Nothing matches.' :
            `${plural(passes.length, 'pass', 'passes')}, ${
                plural(count, 'node')}${
                count > 50 ? ', the first 50 of them' : ''}`));
    this.page.say($('result-count').textContent);
  }
  // Finds the nodes, and marks their boxes in the graph.
  showHits() {
    const view = this.page.view;
    view.hits = null;
    this.hitNodes = this.matches(this.query);
    if (this.query !== '' && view.drawing !== null) {
      view.hits = new Set();
      const hit = new Set(this.hitNodes.map((h) => h.node));
      for (const box of view.drawing.boxes) {
        if (box.port || (box.container && box.open)) continue;
        const is = (box.node >= 0 && hit.has(box.node)) ||
            (box.item && box.item.leaves.some((leaf) => hit.has(leaf.node))) ||
            (box.container && this.page.membersOf(box).some((n) => hit.has(n)));
        if (is) view.hits.add(box);
      }
    }
    $('graph').dataset.hits = view.hits === null ? 0 : view.hits.size;
    view.redraw();
  }
  close() {
    $('results').hidden = true;
    $('search').setAttribute('aria-expanded', 'false');
  }
  key(event) {
    const input = $('search');
    const {found} = this;
    const at = found.findIndex(
        (f) => f.element.getAttribute('aria-selected') === 'true');
    const pick = (i) => {
      if (found.length === 0) return;
      if (at >= 0) found[at].element.setAttribute('aria-selected', 'false');
      const chosen = found[(i + found.length) % found.length].element;
      chosen.setAttribute('aria-selected', 'true');
      chosen.scrollIntoView({block: 'nearest'});
      input.setAttribute('aria-activedescendant', chosen.id);
    };
    if (event.key === 'ArrowDown')
      pick(at + 1);
    else if (event.key === 'ArrowUp')
      pick(at < 0 ? found.length - 1 : at - 1);
    else if (event.key === 'Enter') {
      clearTimeout(this.timer);
      if (input.value.trim() !== this.query) this.run();
      const chosen = this.found[Math.max(0, at)];
      if (chosen) {
        this.close();
        chosen.go();
        $('graph').focus({preventScroll: true});
      }
    } else if (event.key === 'Escape') {
      if ($('results').hidden) input.value = '';
      this.close();
      if (input.value === '') this.run();
    } else {
      return;
    }
    event.preventDefault();
  }

  listen() {
    const input = $('search');
    input.addEventListener('input', () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.run(), 80);
    });
    input.addEventListener('keydown', (event) => this.key(event));
    input.addEventListener('focus', () => {
      if (input.value.trim() !== '') this.run();
    });
    document.addEventListener('pointerdown', (event) => {
      if (!event.target.closest('.search')) this.close();
    });
  }
}
