// What is said beside the graph: the difference, the remarks, the pass, the
// node.

class Details {
  constructor(page) {
    this.page = page;
  }

  // Of the pass that is chosen.
  showPass() {
    $('pass-heading').textContent =
        visible(this.page.passTitle(this.page.current));
    this.showDifference();
    this.showRemarks();
    this.showAbout();
  }

  // --- What differs ----------------------------------------------------------

  link(state, node, text, side) {
    return make(
        'button', {
          type: 'button',
          class: 'link',
          onclick: () => this.page.goTo(node, side),
        },
        bdi(text === undefined ? this.page.data.name(state, node) : text));
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
        const button = make(
            'button', {
              type: 'button',
              class: 'more',
              onclick: () => {
                more(500);
                if (shown === entries.length)
                  button.remove();
                else
                  button.textContent =
                      `More (${countText(entries.length - shown)})`;
              },
            },
            `More (${countText(entries.length - shown)})`);
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
    const {data} = this.page;
    const empty = (text) => panel.append(make('p', {class: 'empty'}, text));
    const e = this.page.current;
    if (e === null) {
      empty('This is what the passes were given.');
      return;
    }
    if (e.end !== 1) {
      panel.append(make(
          'p', {class: 'error'}, `It ${this.page.failure(e)}. `,
          lines(data.strings[e.error || 0])));
      return;
    }
    if (!this.page.changes(e)) {
      empty('The pass changed nothing.');
      return;
    }
    const diff = this.page.diff();
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
      sums.push(`data types changed: ${
          diff.changed_types.map((t) => data.strings[t]).join(', ')}`);
    }
    const wrapper = 'let, local function or call of one';
    const wrappers = 'lets, local functions and their calls';
    if (diff.wrappers[0] > 0)
      sums.push(`${plural(diff.wrappers[0], wrapper, wrappers)} made`);
    if (diff.wrappers[1] > 0)
      sums.push(`${plural(diff.wrappers[1], wrapper, wrappers)} dropped`);
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
      const title = node < 0                     ? '' :
          data.kinds[node] === Kind.CALL_OF_NODE ? 'calls' :
                                                   data.title(node);
      const key = `${change[0]} ${title}`;
      if (!groups.has(key)) groups.set(key, {kind: change[0], title, list: []});
      groups.get(key).list.push(change);
    }
    const few = diff.changes.length <= 40;
    for (const [name, groups] of functions) {
      let count = 0;
      const sorted =
          Array.from(groups.values())
              .sort((a, b) => a.kind - b.kind || b.list.length - a.list.length);
      const inner = sorted.map((g) => {
        count += g.list.length;
        return () => this.group(
                   [
                     make(
                         'span', {
                           class: `sign ${KIND_CLASSES[g.kind]}`,
                           'aria-hidden': 'true'
                         },
                         TOUCH_SIGNS[g.kind]),
                     `${TOUCH_NAMES[g.kind]} `,
                     make('span', {class: 'code'}, bdi(g.title)),
                     ' ',
                     make('span', {class: 'count'}, countText(g.list.length)),
                   ],
                   g.list.map(
                       (change) => () =>
                           this.changeEntry(change, before, after)),
                   few || (groups.size === 1 && g.list.length <= 100));
      });
      panel.append(this.group(
          [
            make('b', {class: 'code'}, bdi(`@${name}`)), ' ',
            make('span', {class: 'count'}, plural(count, 'change'))
          ],
          inner, functions.size <= 4));
    }
  }

  changeEntry(change, before, after) {
    const {data} = this.page;
    const [kind, , was, is, place, from, to] = change;
    const entry = make('div', {class: 'entry'});
    if (kind === DROPPED) {
      entry.append(this.link(before, was, data.line(before, was), 'before'));
    } else {
      entry.append(this.link(after, is, data.line(after, is), 'after'));
    }
    const fields = make('div', {class: 'fields'});
    if (kind === DROPPED && place >= 0) {
      fields.append(
          this.link(after, place, undefined, 'after'), ' takes its place');
    } else if (kind === MADE && place >= 0) {
      fields.append(
          'in place of ', this.link(before, place, undefined, 'before'));
    } else if (kind === MOVED) {
      fields.append(
          'from ',
          from >= 0 ? this.link(before, from, undefined, 'before') :
                      bdi(`@${data.strings[change[7]]}`));
      fields.append(
          ' into ',
          to >= 0 ? this.link(after, to, undefined, 'after') :
                    bdi(`@${data.strings[change[1]]}`));
    }
    const text = data.strings[change[8]];
    if (text !== '') {
      const pre = make('pre', {class: 'lines'});
      for (const line of text.split('\n')) {
        const kind = '-+>~'.indexOf(line[0]);
        pre.append(
            make('span', {class: kind < 0 ? '' : KIND_CLASSES[kind]}, line),
            '\n');
      }
      fields.append(pre);
      entry.append(fields);
      return entry;
    }
    for (let i = 9; i < change.length; i += 5) {
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

  // --- What was said, and the pass -------------------------------------------

  inside(e) {
    // Those inside an execution come right after it.
    let last = e.index;
    while (last + 1 < this.page.data.executions.length &&
           this.page.data.executions[last + 1].depth > e.depth) {
      ++last;
    }
    return last;
  }
  // `inGroup`: the kind and the reason are above it.
  remarkEntry(remark, inGroup) {
    const {data} = this.page;
    const e = data.executions[remark.execution];
    const state = data.states[e.before];
    const entry = make('div', {class: `remark ${remark.kind}`});
    if (!inGroup) {
      entry.append(
          make('span', {class: 'kind'}, remark.kind),
          make(
              'button', {
                type: 'button',
                class: 'link',
                onclick: () => this.page.selectPass(e)
              },
              this.page.passTitle(e)),
          ' ');
    }
    if (remark.node >= 0) entry.append(this.remarkLink(e, state, remark.node));
    if (!inGroup) {
      entry.append(remark.node >= 0 ? ': ' : '', bdi(remark.reason));
    }
    remark.args.forEach((arg, i) => {
      entry.append(
          i > 0       ? ', ' :
              inGroup ? ' ' :
                        ' (',
          make('span', {class: 'particular'}, bdi(arg.name)), ' ');
      entry.append(
          arg.node >= 0 ? this.remarkLink(e, state, arg.node) : bdi(arg.text));
      if (i === remark.args.length - 1 && !inGroup) entry.append(')');
    });
    if (entry.childNodes.length === 0) entry.append('the function as a whole');
    return entry;
  }
  // Remarks are about what the pass was given.
  remarkLink(e, state, node) {
    const number = this.page.data.number(state, node);
    const title = this.page.data.isLeaf(node) || number < 0 ?
        this.page.data.name(state, node) :
        `%${number} = ${this.page.data.title(node)}`;
    return make(
        'button', {
          type: 'button',
          class: 'link',
          onclick: () => {
            if (this.page.beforeState() !== e.before)
              this.page.selectPass(e, true);
            this.page.goTo(
                node,
                this.page.changes(this.page.current || e) ? 'before' : 'after');
          },
        },
        bdi(title));
  }

  showRemarks() {
    const panel = $('remarks');
    panel.replaceChildren();
    panel.scrollTop = 0;
    const e = this.page.current;
    const last = e === null ? -1 : this.inside(e);
    const list = e === null ?
        [] :
        this.page.data.remarks.filter(
            (r) => r.execution >= e.index && r.execution <= last);
    $('tab-remarks').textContent =
        list.length > 0 ? `Remarks ${countText(list.length)}` : 'Remarks';
    if (list.length === 0) {
      panel.append(make(
          'p', {class: 'empty'},
          e === null ? 'No pass has run yet.' : 'The pass said nothing.'));
      return;
    }
    for (const kind of ['passed', 'missed', 'analysis']) {
      const reasons = new Map();
      for (const remark of list) {
        if (remark.kind !== kind) continue;
        const key = `${this.page.data.executions[remark.execution].pass} ${
            remark.reason}`;
        if (!reasons.has(key)) reasons.set(key, []);
        reasons.get(key).push(remark);
      }
      for (const remarks of reasons.values()) {
        const teller = this.page.data.executions[remarks[0].execution];
        panel.append(this.group(
            [
              make(
                  'span', {class: `remark ${kind}`},
                  make('span', {class: 'kind'}, kind)),
              teller === e ? null : `${this.page.passName(teller)}: `,
              bdi(remarks[0].reason),
              ' ',
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
    const {data} = this.page;
    const e = this.page.current;
    const pairs = make('dl', {class: 'pairs'});
    const pair = (name, ...values) =>
        pairs.append(make('dt', {}, name), make('dd', {}, ...values));
    panel.append(pairs);
    const held = (state) => state.kept ? bytesText(state.bytes) : 'not kept';
    if (e === null) {
      if (data.states.length > 0) pair('Memory', held(data.states[0]));
    } else {
      pair('Number', String(e.number));
      if (e.parent >= 0) {
        const parent = data.executions[e.parent];
        pair(
            'Inside',
            make(
                'button', {
                  type: 'button',
                  class: 'link',
                  onclick: () => this.page.selectPass(parent)
                },
                this.page.passTitle(parent)));
      }
      pair('Began after', timeText(e.start));
      pair('Time', timeText(e.total));
      pair('Of its own', timeText(e.self));
      if (e.made !== undefined) {
        pair(
            'Nodes',
            `${countText(e.made)} made, ${countText(e.dropped)} dropped`);
      }
      if (e.garbage !== undefined) {
        pair('Garbage', `${plural(e.garbage, 'node')} made and not kept`);
      }
      pair(
          'Memory',
          e.after < 0 ? held(data.states[e.before]) :
                        `${held(data.states[e.before])} before, ${
                            held(data.states[e.after])} after`);
      if (e.tensors) {
        const sign = e.tensors > 0 ? '+' : '';
        pair('Of tensors', `${sign}${bytesText(e.tensors)}`);
      }
      if (e.peak >= 0) pair('Peak of the process', bytesText(e.peak));
      const drift = this.page.drift(e);
      if (drift !== null) {
        pair(
            'Numeric drift',
            `${drift.error} of the largest element of the results (relative ${
                drift.relative}, ${drift.ulp} ULP); ${
                drift.error_in_all} since the first pass`);
      }
      if (e.error)
        pair(
            'Error',
            make('span', {class: 'error'}, lines(data.strings[e.error])));
      const counts = data.counts.filter(
          (c) => c.name.startsWith(`${this.page.passName(e)}.`));
      for (const count of counts) {
        pair(
            count.name.slice(this.page.passName(e).length + 1),
            `${countText(count.count)} in the whole run`,
            make('div', {class: 'fields'}, count.doc));
      }
      pair(
          'In a pipeline', make('span', {class: 'code'}, data.strings[e.text]));
    }
  }

  // --- The node --------------------------------------------------------------

  showBlock(box) {
    $('node-region').hidden = false;
    const heading = $('node-heading');
    heading.textContent = box.title;
    const panel = $('node');
    panel.replaceChildren(
        make('p', {}, `${box.text}.`), make('h3', {}, 'Nodes'));
    const state = this.page.state();
    for (const node of box.members) {
      panel.append(make(
          'div', {class: 'entry'},
          this.link(state, node, this.page.data.line(state, node))));
    }
  }

  showNode() {
    const {data, node} = this.page;
    $('node-region').hidden = node < 0;
    if (node < 0) return;
    const state = this.page.state();
    const panel = $('node');
    panel.replaceChildren();
    panel.scrollTop = 0;
    const number = data.number(state, node);
    const title = data.kinds[node] === Kind.VAR ? `%${data.title(node)}` :
                                                  data.title(node);
    $('node-heading').textContent =
        visible(number >= 0 ? `%${number} = ${title}` : title);
    const pairs = make('dl', {class: 'pairs'});
    const pair = (name, ...values) =>
        pairs.append(make('dt', {}, bdi(name)), make('dd', {}, ...values));
    const heading = (text) => panel.append(make('h3', {}, text));
    panel.append(pairs);
    pair(
        'Type',
        make('span', {class: 'code'}, bdi(data.type(node) || 'not inferred')));
    const f = this.page.functionOf(state, node);
    if (f !== null)
      pair('In', make('span', {class: 'code'}, bdi(`@${f.name}`)));
    const attrs = data.attrsOf(node);
    if (attrs.length > 0) {
      heading('Attributes');
      const list = make('dl', {class: 'pairs', id: 'attributes'});
      for (const [name, value] of attrs) {
        list.append(
            make('dt', {}, bdi(name)), make('dd', {class: 'code'}, bdi(value)));
      }
      panel.append(list);
    }
    const change = this.changeOf(node);
    if (change !== null) {
      heading(`In ${visible(this.page.passTitle(this.page.current))}`);
      const entry = this.changeEntry(
          change, data.states[this.page.beforeState()],
          data.states[this.page.afterState()]);
      entry.prepend(make(
          'span', {class: KIND_CLASSES[change[0]]},
          `${TOUCH_NAMES[change[0]]} `));
      panel.append(entry);
    }
    const listed = (text, nodes) => {
      if (nodes.length === 0) return;
      heading(text);
      for (const other of nodes.slice(0, 60)) {
        panel.append(make(
            'div', {class: 'entry'},
            this.link(state, other, data.line(state, other))));
      }
      if (nodes.length > 60) {
        panel.append(make(
            'p', {class: 'empty'}, `and ${countText(nodes.length - 60)} more`));
      }
    };
    listed('Operands', Array.from(data.args(node)));
    if (f !== null) {
      listed(
          'Used by',
          data.body(f.node).nodes.filter(
              (user) => data.args(user).includes(node)));
    }
    this.showOrigin(panel, node);
    const about = data.remarks.filter(
        (r) => r.node === node || r.args.some((arg) => arg.node === node));
    if (about.length > 0) {
      heading('Remarks');
      for (const remark of about.slice(0, 100))
        panel.append(this.remarkEntry(remark, false));
    }
  }
  changeOf(node) {
    const diff = this.page.diff();
    if (diff === null) return null;
    const at = this.page.side === 'before' ? 2 : 3;
    return diff.changes.find((c) => c[at] === node) || null;
  }

  // Which pass made it, out of what, back to the source.
  showOrigin(panel, node) {
    const {data} = this.page;
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
    const {data} = this.page;
    const first = data.firstState(at);
    const origin = data.origins.get(at);
    const maker = first === 0 ?
        null :
        data.executions.find((e) => origin && e.number === origin.execution) ||
            data.makerOf(first);
    const item = make('li', {});
    item.style.paddingLeft = `${12 * Math.min(depth, 8)}px`;
    const show = () => {
      this.page.selectPass(maker, true);
      this.page.goTo(at, 'after');
    };
    if (at !== node) {
      item.append(
          'from ',
          make(
              'button', {type: 'button', class: 'link', onclick: show},
              bdi(data.line(data.states[first], at))),
          ', ');
    }
    if (maker === null) {
      item.append(
          at === node ? 'In the program from the beginning' :
                        'in the program from the beginning');
    } else {
      item.append(
          make('span', {class: 'maker'}, at === node ? 'Made by ' : 'made by '),
          make(
              'button', {type: 'button', class: 'link', onclick: show},
              this.page.passTitle(maker)));
    }
    const place = data.places.get(at);
    const near =
        maker === null && place === undefined ? data.placeBelow(at) : place;
    if (near !== undefined) {
      item.append(
          place === near ? ', at ' : ', near ',
          make('span', {class: 'code place'}, bdi(near)));
    }
    return item;
  }
}
