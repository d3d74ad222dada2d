'use strict';

// The data of the page, as instrument/history_page.cc writes it.
//
// `strings`: all texts; 0 is the empty one. Nodes have numbers from 0 on:
// `kinds`, `titles` (string), `types` (string), `attrs` (index into
// `attr_sets`, or -1) and `num_args` have an element for each, `args` their
// operands one after the other, as differences (the node less its operand).
// `attr_sets`: name, value, name, value (strings). A state has `functions`
// (name, node,
// ...), `bytes`, and `numbers`, as differences: the nodes %0, %1, ...; without
// them, those of the state before. The nodes that it is the first to have are
// those from its `begin` up to that of the next.
//
// A change of `diffs`: kind, function, before, after, place, from, to, from
// function, the lines of the function's text that differ (string), then five
// numbers for each field: name, texts and nodes before and after. A remark:
// kind, execution, node, reason, then three for each particular: name, text,
// node. `origins`: of nodes that were `made`, by which `executions`, and
// `num_from` nodes each that they were made from, as differences.

const Kind = {
  OTHER: 0,
  VAR: 1,
  CONSTANT: 2,
  CALL: 3,
  CALL_OF_NODE: 4,
  TUPLE: 5,
  ITEM: 6,
  FUNCTION: 7,
  LET: 8,
  IF: 9,
  MATCH: 10,
  NAME: 11,
};

const DROPPED = 0, MADE = 1, MOVED = 2, CHANGED = 3;

// Of differences, the numbers.
function sums(differences) {
  const result = new Int32Array(differences.length);
  let last = 0;
  for (let i = 0; i < differences.length; ++i) {
    last += differences[i];
    result[i] = last;
  }
  return result;
}

// Characters that are not seen, or that would turn the text around, as ones
// that are.
const UNSEEN =
    /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
function visible(text) {
  return text.replace(UNSEEN, (c) => {
    const code = c.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? '\u2421' : '\ufffd';
  });
}

class Data {
  constructor(content, times) {
    this.strings = content.strings;
    this.kinds = Uint8Array.from(content.kinds);
    this.titles = Int32Array.from(content.titles);
    this.types = Int32Array.from(content.types);
    this.attrs = Int32Array.from(content.attrs);
    this.size = this.kinds.length;
    this.firstArg = new Int32Array(this.size + 1);
    this.argNodes = new Int32Array(content.args.length);
    for (let i = 0, a = 0; i < this.size; ++i) {
      this.firstArg[i] = a;
      const end = a + content.num_args[i];
      for (; a < end; ++a) this.argNodes[a] = i - content.args[a];
      this.firstArg[i + 1] = a;
    }
    this.attrSets = content.attr_sets;
    this.executions = content.executions;
    this.executions.forEach((e, i) => {
      e.index = i;
      e.start = times.start[i];
      e.total = times.total[i];
      e.peak = times.peak[i];
      e.self = e.total;
    });
    for (const e of this.executions) {
      if (e.parent >= 0) this.executions[e.parent].self -= e.total;
    }
    let numbers = new Int32Array(0);
    this.states = content.states.map((state, index) => {
      const kept = state.functions !== undefined;
      if (state.numbers) numbers = sums(state.numbers);
      const functions = [];
      for (let i = 0; kept && i < state.functions.length; i += 2) {
        functions.push({
          name: this.strings[state.functions[i]],
          node: state.functions[i + 1],
        });
      }
      return {
        index,
        kept,
        begin: state.begin,
        bytes: state.bytes,
        functions,
        numbers,
        numberOf: null,
      };
    });
    this.diffs = new Map();
    for (const diff of content.diffs) {
      this.diffs.set(`${diff.before},${diff.after}`, diff);
    }
    this.remarks = content.remarks.map((r) => {
      const remark = {
        kind: r[0] === 1 ? 'passed' :
            r[0] === 2   ? 'missed' :
                           'analysis',
        execution: r[1],
        node: r[2],
        reason: this.strings[r[3]],
        args: [],
      };
      for (let i = 4; i < r.length; i += 3) {
        remark.args.push({
          name: this.strings[r[i]],
          text: this.strings[r[i + 1]],
          node: r[i + 2],
        });
      }
      return remark;
    });
    this.places = new Map();
    const places = content.places;
    const lines = sums(places.lines);
    sums(places.nodes).forEach((node, i) => {
      const name = this.strings[places.sources[i]];
      this.places.set(
          node,
          lines[i] === 0 ? name : `${name}:${lines[i]}:${places.columns[i]}`);
    });
    this.origins = new Map();
    const executions = sums(content.origins.executions);
    let from = 0;
    sums(content.origins.made).forEach((node, i) => {
      const end = from + content.origins.num_from[i];
      const nodes = content.origins.from.slice(from, end).map((d) => node - d);
      from = end;
      this.origins.set(node, {from: nodes, execution: executions[i]});
    });
    this.counts = [];
    for (let i = 0; i < content.counts.length; i += 3) {
      this.counts.push({
        name: this.strings[content.counts[i]],
        doc: this.strings[content.counts[i + 1]],
        count: content.counts[i + 2],
      });
    }
    this.signal = content.signal;
    this.leftOutTensors = content.left_out_tensors;
    this.bodies = new Map();
  }

  title(node) {
    return this.strings[this.titles[node]];
  }
  type(node) {
    return this.strings[this.types[node]];
  }
  args(node) {
    return this.argNodes.subarray(this.firstArg[node], this.firstArg[node + 1]);
  }
  isLeaf(node) {
    const kind = this.kinds[node];
    return kind === Kind.VAR || kind === Kind.CONSTANT || kind === Kind.NAME;
  }
  // Pairs of name and value.
  attrsOf(node) {
    const pairs = [];
    if (this.attrs[node] < 0) return pairs;
    const set = this.attrSets[this.attrs[node]];
    for (let i = 0; i < set.length; i += 2) {
      pairs.push([this.strings[set[i]], this.strings[set[i + 1]]]);
    }
    return pairs;
  }

  // The number that the text of a state gives to a node; -1 for none.
  number(state, node) {
    if (state.numberOf === null) {
      state.numberOf = new Map();
      state.numbers.forEach((n, i) => state.numberOf.set(n, i));
    }
    const number = state.numberOf.get(node);
    return number === undefined ? -1 : number;
  }
  // `%12`, `%x`, `2`.
  name(state, node) {
    if (node < 0) return 'nothing';
    const number = this.number(state, node);
    if (number >= 0) return `%${number}`;
    switch (this.kinds[node]) {
      case Kind.VAR:
        return `%${this.title(node)}`;
      case Kind.CONSTANT:
        return this.title(node) === 'constant' ?
            `constant ${shortType(this.type(node))}` :
            this.title(node);
      default:
        return this.title(node);
    }
  }
  // `%12 = nn.relu(%11)`.
  line(state, node) {
    const number = this.number(state, node);
    if (this.isLeaf(node)) return this.name(state, node);
    const args = Array.from(this.args(node));
    let head = this.title(node);
    if (this.kinds[node] === Kind.CALL_OF_NODE) {
      head = this.name(state, args.shift());
    } else if (this.kinds[node] === Kind.FUNCTION) {
      args.pop();
    }
    const shown = args.slice(0, 6).map((arg) => this.name(state, arg));
    if (args.length > 6) shown.push(`and ${args.length - 6} more`);
    const text = `${head}(${shown.join(', ')})`;
    return number < 0 ? text : `%${number} = ${text}`;
  }

  // All that a node reaches, operands first.
  reach(root) {
    const seen = new Set();
    const order = [];
    const stack = [root];
    while (stack.length > 0) {
      const node = stack[stack.length - 1];
      if (seen.has(node)) {
        stack.pop();
        continue;
      }
      const args = this.args(node);
      const depth = stack.length;
      for (let i = args.length - 1; i >= 0; --i) {
        if (!seen.has(args[i])) stack.push(args[i]);
      }
      if (stack.length > depth) continue;
      stack.pop();
      seen.add(node);
      order.push(node);
    }
    return order;
  }
  // What a function literal holds, itself left out, and the names of what it
  // calls.
  body(fn) {
    let body = this.bodies.get(fn);
    if (body === undefined) {
      const nodes = this.reach(fn);
      nodes.pop();
      const calls = nodes.filter((n) => this.kinds[n] === Kind.CALL)
                        .map((n) => this.title(n));
      body = {nodes, members: new Set(nodes), calls};
      this.bodies.set(fn, body);
    }
    return body;
  }

  // The place of the nearest node below that has one.
  placeBelow(node) {
    if (this.places.size === 0) return undefined;
    const seen = new Set([node]);
    for (const at of seen) {
      if (this.places.has(at)) return this.places.get(at);
      for (const arg of this.args(at)) seen.add(arg);
    }
    return undefined;
  }

  // The first state that has a node.
  firstState(node) {
    let low = 0, high = this.states.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.states[middle].begin <= node)
        low = middle;
      else
        high = middle - 1;
    }
    return low;
  }
  // The innermost execution that made a state; null for the first.
  makerOf(state) {
    let found = null;
    for (const e of this.executions) {
      if (e.after === state && e.before !== state &&
          (found === null || e.depth > found.depth)) {
        found = e;
      }
    }
    return found;
  }
  diffOf(execution) {
    return this.diffs.get(`${execution.before},${execution.after}`) || null;
  }
}

// `1×64×56×56 float32` of `Tensor[(1, 64, 56, 56), float32]`.
function shortType(type) {
  const match = /^Tensor\[\(([^()]*)\), (\w+)\]$/.exec(type);
  if (match) {
    const shape = match[1].replace(/,\s*$/, '').split(/,\s*/).join('×');
    return shape === '' ? match[2] : `${shape} ${match[2]}`;
  }
  return type.length > 34 ? `${type.slice(0, 32)}…` : type;
}

// Of numbers, of which there may be very many.
function largestOf(numbers, least) {
  return numbers.reduce((a, b) => Math.max(a, b), least);
}

// --- Numbers for people ------------------------------------------------------

function timeText(ns) {
  if (ns < 999.5) return `${Math.round(ns)} ns`;
  for (const unit of ['µs', 'ms', 's']) {
    ns /= 1000;
    if (ns < 999.5 || unit === 's') {
      return `${ns < 10 ? ns.toFixed(1) : Math.round(ns)} ${unit}`;
    }
  }
  return '';
}
function bytesText(bytes) {
  let value = Math.abs(bytes);
  const sign = bytes < 0 ? '−' : '';
  if (value < 1000) return `${sign}${value} B`;
  for (const unit of ['kB', 'MB', 'GB', 'TB']) {
    value /= 1000;
    if (value < 999.5 || unit === 'TB') {
      return `${sign}${value < 10 ? value.toFixed(1) : Math.round(value)} ${
          unit}`;
    }
  }
  return '';
}
function countText(n) {
  return String(n).replace(/\B(?=(\d{3})+$)/g, '\u202f');
}
function plural(n, one, many = `${one}s`) {
  return `${countText(n)} ${n === 1 ? one : many}`;
}
