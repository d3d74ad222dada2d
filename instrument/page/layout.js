// From a function to boxes and lines: which nodes are drawn, which of them
// repeat, and where they stand. Generators: whoever runs them (runSliced) lets
// the page breathe in between. Nothing recurses over the depth of the program.

// Runs `work` in slices of some milliseconds, then calls `done` with what it
// returns. Returns a function that gives it up.
function runSliced(work, done) {
  let given_up = false;
  const slice = (milliseconds) => {
    if (given_up) return;
    const end = performance.now() + milliseconds;
    for (;;) {
      const step = work.next();
      if (step.done) {
        done(step.value);
        return;
      }
      if (performance.now() >= end) break;
    }
    setTimeout(() => slice(12), 0);
  };
  slice(20);
  return () => {
    given_up = true;
  };
}

// --- What is drawn -----------------------------------------------------------

// An item is a node of the program that is drawn on its own:
//   node      its number
//   inputs    indices of the items that it takes
//   uses      indices of the items that take it
//   leaves    operands that are written in its box: {node, at}
//   fn        the function literal that it calls or is, or -1
// In order: an item comes after those that it takes.
function* itemsOf(data, root, isFunction) {
  const items = [];
  const itemOf = new Map();
  const lets = new Map();  // variable: its value
  const start = isFunction ? data.args(root)[data.args(root).length - 1] : root;
  const callee = (node) => {
    if (data.kinds[node] !== Kind.CALL_OF_NODE) return -1;
    const first = data.args(node)[0];
    return data.kinds[first] === Kind.FUNCTION ? first : -1;
  };
  // The operands for which lines are drawn.
  const operands = (node) => {
    switch (data.kinds[node]) {
      case Kind.FUNCTION:
        return [];
      case Kind.LET:
        return data.args(node).subarray(1);
      case Kind.CALL_OF_NODE:
        return callee(node) < 0 ? data.args(node) : data.args(node).subarray(1);
      default:
        return data.args(node);
    }
  };
  const resolve = (node) => {
    for (;;) {
      if (data.kinds[node] === Kind.LET) {
        node = data.args(node)[2];
      } else if (lets.has(node)) {
        node = lets.get(node);
      } else {
        return node;
      }
    }
  };

  // Which nodes, in order.
  const order = [];
  const seen = new Set();
  const stack = [start];
  // Leaves that have a box: the first parameter, what several nodes take, and
  // what is the result. Others are written in the box that takes them.
  const asNode = new Set();
  const takers = new Map();
  let steps = 0;
  while (stack.length > 0) {
    if (++steps % 2000 === 0) yield;
    const node = stack[stack.length - 1];
    if (seen.has(node)) {
      stack.pop();
      continue;
    }
    if (data.kinds[node] === Kind.LET) {
      lets.set(data.args(node)[0], data.args(node)[1]);
    }
    const args = operands(node);
    const depth = stack.length;
    for (let i = args.length - 1; i >= 0; --i) {
      if (!seen.has(args[i])) stack.push(args[i]);
    }
    if (stack.length > depth) continue;
    stack.pop();
    seen.add(node);
    order.push(node);
  }
  if (isFunction && data.args(root).length > 1) asNode.add(data.args(root)[0]);
  for (const node of order) {
    if (data.isLeaf(node) || data.kinds[node] === Kind.LET) continue;
    for (const arg of operands(node)) {
      const from = resolve(arg);
      if (data.kinds[from] !== Kind.VAR) continue;
      const taker = takers.get(from);
      if (taker === undefined)
        takers.set(from, node);
      else if (taker !== node)
        asNode.add(from);
    }
  }
  const last = resolve(start);
  if (data.isLeaf(last)) asNode.add(last);
  for (const node of order) {
    if (++steps % 2000 === 0) yield;
    if (data.kinds[node] === Kind.LET || lets.has(node)) continue;
    if (data.isLeaf(node) && !asNode.has(node)) continue;
    const item = {
      node,
      inputs: [],
      uses: [],
      leaves: [],
      leaf: data.isLeaf(node),
      fn: data.kinds[node] === Kind.FUNCTION ? node : callee(node),
      block: null,
    };
    const index = items.length;
    itemOf.set(node, index);
    operands(node).forEach((arg, at) => {
      if (item.leaf) return;
      const from = resolve(arg);
      const input = itemOf.get(from);
      if (input === undefined) {
        if (data.isLeaf(from)) item.leaves.push({node: from, at});
        return;
      }
      item.inputs.push(input);
      items[input].uses.push(index);
    });
    items.push(item);
  }
  return {items, itemOf};
}

// --- Blocks that repeat ------------------------------------------------------

// Finds runs of items that have one structure, and only one value that leaves
// them. A block is {first, last, class, of, name}: items[first..last].
function* blocksOf(data, items) {
  const n = items.length;
  // Where only one value goes on: the end of a segment. Values that live very
  // long, such as a mask for all layers, and what has no operands do not count.
  const lastUse = items.map(
      (item, i) =>
          item.uses.length === 0 ? i : item.uses[item.uses.length - 1]);
  const live = new Int32Array(n + 1);
  const longest = Math.max(64, n / 4);
  const counts = (i) => !items[i].leaf && lastUse[i] - i <= longest;
  for (let i = 0; i < n; ++i) {
    if (!counts(i)) continue;
    live[i] += 1;
    live[lastUse[i]] -= 1;
  }
  yield;
  const segments = [];
  let first = 0;
  for (let i = 0, alive = 0; i < n; ++i) {
    alive += live[i];
    if (items[i].leaf && first === i) {
      first = i + 1;
      continue;
    }
    if ((alive === 1 && counts(i) && lastUse[i] > i) || i === n - 1) {
      segments.push({first, last: i});
      first = i + 1;
    }
  }
  yield;
  // Segments of one structure have one number.
  const known = new Map();
  const total = new Map();
  let steps = 0;
  for (const segment of segments) {
    const parts = [];
    for (let i = segment.first; i <= segment.last; ++i) {
      if (++steps % 2000 === 0) yield;
      const item = items[i];
      if (item.leaf) continue;
      const label = item.fn >= 0 ? data.body(item.fn).calls.join('+') :
                                   data.title(item.node);
      parts.push(
          label,
          ...item.inputs.map(
              (input) => input >= segment.first ? i - input : -1));
      parts.push(';');
    }
    const key = parts.join(' ');
    if (!known.has(key)) known.set(key, known.size);
    segment.number = known.get(key);
    segment.size = segment.last - segment.first + 1;
    total.set(segment.number, (total.get(segment.number) || 0) + 1);
  }
  // Runs: one unit of segments several times, one after the other.
  const blocks = [];
  const classes = new Map();
  const add = (from, count) => {
    const key = segments.slice(from, from + count).map((s) => s.number).join();
    if (!classes.has(key)) {
      classes.set(key, {index: classes.size, count: 0});
    }
    const cls = classes.get(key);
    ++cls.count;
    blocks.push({
      first: segments[from].first,
      last: segments[from + count - 1].last,
      cls,
    });
  };
  const mostPeriod = 48;
  for (let i = 0; i < segments.length;) {
    let best = 0, bestPeriod = 0;
    for (let p = 1; p <= mostPeriod && i + 2 * p <= segments.length; ++p) {
      if (++steps % 500 === 0) yield;
      let same = 0;
      while (i + p + same < segments.length &&
             segments[i + same].number === segments[i + p + same].number) {
        ++same;
      }
      const times = Math.floor(same / p) + 1;
      const size = segments[i + p - 1].last - segments[i].first + 1;
      if (times > 1 && size > 1 && times * p > best) {
        best = times * p;
        bestPeriod = p;
      }
    }
    if (best > 0) {
      for (let k = 0; k < best; k += bestPeriod) add(i + k, bestPeriod);
      i += best;
      continue;
    }
    if (segments[i].size > 2 && total.get(segments[i].number) > 1) add(i, 1);
    ++i;
  }
  const kept = blocks.filter((block) => block.cls.count > 1);
  for (const block of kept) {
    let name = '';
    for (let k = block.cls.index; k >= 0; k = Math.floor(k / 26) - 1) {
      name = String.fromCharCode(65 + k % 26) + name;
    }
    block.name = name;
    for (let i = block.first; i <= block.last; ++i) {
      if (!items[i].leaf) items[i].block = block;
    }
  }
  return kept;
}

// --- Where it stands ---------------------------------------------------------

const GAP_X = 18, GAP_Y = 26, DUMMY = 10;

// Gives each box x, y (its upper left corner), and returns the size of all and
// the lines: {from, to, points}. A box has w, h, and `inputs`, indices of boxes
// before it.
function* layered(boxes) {
  const n = boxes.length;
  let steps = 0;
  // Ranks: below all that it takes; then just above its users, unless it takes
  // more than it gives.
  const rank = new Int32Array(n);
  const users = boxes.map(() => []);
  for (let i = 0; i < n; ++i) {
    if (++steps % 4000 === 0) yield;
    for (const from of boxes[i].inputs) {
      rank[i] = Math.max(rank[i], rank[from] + 1);
      users[from].push(i);
    }
  }
  // Below the input: what is not, such as the arithmetic of weights, has no
  // other reason to be high up.
  const below = new Uint8Array(n);
  for (let i = 0; i < n; ++i) {
    if (boxes[i].isInput || boxes[i].inputs.some((from) => below[from])) {
      below[i] = 1;
    }
  }
  for (let i = n - 1; i >= 0; --i) {
    if (users[i].length === 0 ||
        (below[i] && users[i].length < boxes[i].inputs.length)) {
      continue;
    }
    let least = Infinity;
    for (const to of users[i]) least = Math.min(least, rank[to]);
    rank[i] = least - 1;
  }
  let numRanks = 0;
  for (let i = 0; i < n; ++i) numRanks = Math.max(numRanks, rank[i] + 1);

  // A value that skips ranks goes through a narrow box in each.
  const nodes = boxes.map((box, i) => ({
                            w: box.w,
                            h: box.h,
                            rank: rank[i],
                            up: [],
                            down: [],
                            x: 0,
                            dummy: false
                          }));
  const chains = new Map();
  let budget = 6 * n + 2000;
  for (let i = 0; i < n; ++i) {
    if (++steps % 1000 === 0) yield;
    let furthest = rank[i];
    for (const to of users[i]) furthest = Math.max(furthest, rank[to]);
    if (furthest <= rank[i] + 1) continue;
    const length = furthest - rank[i] - 1;
    if (length > budget) continue;
    budget -= length;
    const chain = [];
    let above = i;
    for (let r = rank[i] + 1; r < furthest; ++r) {
      const index = nodes.length;
      nodes.push(
          {w: DUMMY, h: 0, rank: r, up: [above], down: [], x: 0, dummy: true});
      nodes[above].down.push(index);
      chain.push(index);
      above = index;
    }
    chains.set(i, chain);
  }
  for (let i = 0; i < n; ++i) {
    for (const from of boxes[i].inputs) {
      const chain = chains.get(from);
      const skip = rank[i] - rank[from] - 1;
      if (skip > 0 && chain === undefined) continue;
      const above = skip > 0 ? chain[skip - 1] : from;
      nodes[i].up.push(above);
      nodes[above].down.push(i);
    }
  }
  yield;

  // Order within a rank: by the middle of the neighbours, down and up.
  const ranks = Array.from({length: numRanks}, () => []);
  nodes.forEach((node, i) => ranks[node.rank].push(i));
  const place = new Float64Array(nodes.length);
  const number = (row) => row.forEach((index, i) => {
    place[index] = i;
  });
  ranks.forEach(number);
  const key = new Float64Array(nodes.length);
  const arrange = (row, down) => {
    if (row.length < 2) return;
    for (const index of row) {
      const near = down ? nodes[index].up : nodes[index].down;
      let sum = 0;
      for (const other of near) sum += place[other];
      key[index] = near.length === 0 ? place[index] : sum / near.length;
    }
    row.sort((a, b) => key[a] - key[b] || place[a] - place[b]);
    number(row);
  };
  for (let sweep = 0; sweep < 4; ++sweep) {
    const down = sweep % 2 === 0;
    for (let k = 0; k < numRanks; ++k) {
      const row = ranks[down ? k : numRanks - 1 - k];
      arrange(row, down);
      steps += row.length;
      if (steps > 2000) {
        steps = 0;
        yield;
      }
    }
  }

  // Across: as near to the neighbours as the order allows (isotonic regression,
  // by pooling adjacent violators).
  let widest = 0;
  for (const row of ranks) widest = Math.max(widest, row.length);
  const wish = new Float64Array(nodes.length);
  const offsets = new Float64Array(widest);
  const sums = new Float64Array(widest);
  const weights = new Float64Array(widest);
  const begins = new Int32Array(widest);
  const settle = (row) => {
    let pools = 0;
    let offset = 0;
    for (let i = 0; i < row.length; ++i) {
      const node = nodes[row[i]];
      if (i > 0) {
        const before = nodes[row[i - 1]];
        offset += (before.w + node.w) / 2 +
            (before.dummy && node.dummy ? GAP_X / 2 : GAP_X);
      }
      offsets[i] = offset;
      let weight = node.dummy ? 4 : 1;
      let sum = (wish[row[i]] - offset) * weight;
      let begin = i;
      while (pools > 0 && sums[pools - 1] * weight > sum * weights[pools - 1]) {
        --pools;
        sum += sums[pools];
        weight += weights[pools];
        begin = begins[pools];
      }
      sums[pools] = sum;
      weights[pools] = weight;
      begins[pools] = begin;
      ++pools;
    }
    for (let k = 0; k < pools; ++k) {
      const end = k + 1 < pools ? begins[k + 1] : row.length;
      const x = sums[k] / weights[k];
      for (let i = begins[k]; i < end; ++i) nodes[row[i]].x = x + offsets[i];
    }
  };
  // `mixed`: the neighbours on the other side count a little as well.
  const approach = (row, down, mixed) => {
    for (const index of row) {
      const node = nodes[index];
      let sum = 0, weight = 0;
      for (const m of down ? node.up : node.down) {
        sum += nodes[m].x;
        weight += 1;
      }
      if (mixed) {
        for (const m of down ? node.down : node.up) {
          sum += 0.25 * nodes[m].x;
          weight += 0.25;
        }
      }
      wish[index] = weight === 0 ? node.x : sum / weight;
    }
    settle(row);
  };
  for (const row of ranks) settle(row);
  yield;
  // Very large graphs get fewer rounds. The last is only from above, so that
  // chains are straight.
  const sweeps = nodes.length > 20000 ? 5 : 9;
  for (let sweep = 0; sweep < sweeps; ++sweep) {
    const down = sweep % 2 === 0;
    const mixed = sweep > 1 && sweep < sweeps - 1;
    for (let k = 0; k < numRanks; ++k) {
      const row = ranks[down ? k : numRanks - 1 - k];
      approach(row, down, mixed);
      steps += row.length;
      if (steps > 2000) {
        steps = 0;
        yield;
      }
    }
  }

  // Down.
  const top = new Float64Array(numRanks + 1);
  const height = new Float64Array(numRanks);
  for (const node of nodes) {
    height[node.rank] = Math.max(height[node.rank], node.h);
  }
  for (let r = 0; r < numRanks; ++r) {
    // Room for lines that go across.
    const gap = GAP_Y + Math.min(40, 2 * Math.max(0, ranks[r].length - 2));
    top[r + 1] = top[r] + height[r] + gap;
  }
  let left = Infinity, right = -Infinity;
  for (const node of nodes) {
    left = Math.min(left, node.x - node.w / 2);
    right = Math.max(right, node.x + node.w / 2);
  }
  if (n === 0) left = right = 0;
  const middle = (node) => top[node.rank] + height[node.rank] / 2;
  for (let i = 0; i < n; ++i) {
    boxes[i].x = nodes[i].x - boxes[i].w / 2 - left;
    boxes[i].y = middle(nodes[i]) - boxes[i].h / 2;
  }
  yield;
  const lines = [];
  for (let i = 0; i < n; ++i) {
    if (++steps % 2000 === 0) yield;
    const done = new Set();
    for (const from of boxes[i].inputs) {
      if (done.has(from)) continue;
      done.add(from);
      const points = [
        boxes[from].x + boxes[from].w / 2,
        boxes[from].y + boxes[from].h,
      ];
      const chain = chains.get(from);
      const skip = rank[i] - rank[from] - 1;
      if (chain !== undefined) {
        for (let k = 0; k < skip; ++k) {
          const dummy = nodes[chain[k]];
          points.push(
              dummy.x - left, top[dummy.rank], dummy.x - left,
              top[dummy.rank] + height[dummy.rank]);
        }
      }
      points.push(boxes[i].x + boxes[i].w / 2, boxes[i].y);
      lines.push({from, to: i, points});
    }
  }
  return {
    w: right - left,
    h: numRanks === 0 ? 0 : top[numRanks - 1] + height[numRanks - 1],
    lines,
  };
}

// --- The drawing -------------------------------------------------------------

const PAD = 14, HEAD = 26;
const ROW = 400;  // the height of a row of boxes that are looked up together

// The boxes and lines of a function, at their places.
//   options.open    keys of what is expanded: functions and blocks
//   options.shut    keys of what is collapsed where the rest is expanded
//   options.blocks  whether repeated blocks are collapsed
//   options.functions  whether functions are expanded
//   options.measure text -> width in pixels
// Returns {boxes, lines, rows, w, h, itemsByNode}: containers come before what
// they hold; `rows` has the boxes and lines at each height, in steps of ROW.
function* drawingOf(data, fn, options) {
  const boxes = [];
  const lines = [];
  const itemsByNode = new Map();

  // One plane: the items of a function or of a block. Children of containers
  // are laid out first; containers nest as the user opens them.
  function* plane(local) {
    for (const box of local) {
      if (box.container && box.open) {
        box.inner = yield* box.fill();
        box.w = Math.max(box.w, box.inner.w + 2 * PAD);
        box.h = box.inner.h + HEAD + 2 * PAD;
      }
    }
    const size = yield* layered(local);
    return {boxes: local, lines: size.lines, w: size.w, h: size.h};
  }

  // `node` and `item` are what it shows; -1 and null for a block. `depth`: in
  // how many containers it is.
  const emptyBox = (key, node, item, depth) => ({
    key,
    node,
    item,
    kind: item === null ? -1 : data.kinds[node],
    depth,
    port: false,       // where a value comes into a block
    isInput: false,    // what the function is given, or a port
    container: false,  // holds a function (`fn`) or a block, if it is `open`
    fn: -1,
    block: null,
    members: [],  // the nodes of the block
    open: false,
    inputs: [],
    x: 0,
    y: 0,
    w: 8,
    h: 8,
    title: '',
    text: '',
    notes: [],
  });

  // The box of an item, which may contain a function.
  const boxOf = (item, key, depth) => {
    const node = item.node;
    const kind = data.kinds[node];
    const box = emptyBox(key, node, item, depth);
    const type = shortType(data.type(node));
    if (kind === Kind.VAR) {
      box.title = `%${visible(data.title(node))}`;
    } else if (item.fn >= 0) {
      const body = data.body(item.fn);
      box.container = true;
      box.fn = item.fn;
      box.open = options.functions && depth < 8 ? !options.shut.has(key) :
                                                  options.open.has(key);
      box.title = callsText(body.calls) || 'fn';
    } else if (kind === Kind.CALL_OF_NODE) {
      box.title = 'call';
    } else {
      box.title = visible(data.title(node));
    }
    box.text = visible(kind === Kind.FUNCTION ? 'function' : type);
    for (const leaf of item.leaves.slice(0, 3)) {
      const what = data.title(leaf.node);
      box.notes.push(visible(
          data.kinds[leaf.node] === Kind.VAR ?
              `%${what} ${shortType(data.type(leaf.node))}` :
              what === 'constant' ? `const ${shortType(data.type(leaf.node))}` :
                                    what));
    }
    if (item.leaves.length > 3) {
      box.notes.push(`and ${item.leaves.length - 3} more`);
    }
    return box;
  };
  const size = (box) => {
    const fit = (text, font) => options.measure(cut(text), font);
    let w = fit(box.title, 'title') + (box.container ? 34 : 16);
    w = Math.max(w, fit(box.text, 'text'));
    for (const note of box.notes) w = Math.max(w, fit(note, 'text'));
    box.w = Math.max(64, Math.min(300, w + 22));
    box.h = (box.kind === Kind.VAR ? 12 : 14) + 15 +
        (box.text === '' ? 0 : 14) + 13 * box.notes.length;
  };

  // The contents of a function as a plane.
  function* functionPlane(root, prefix, depth, isFunction) {
    const {items} = yield* itemsOf(data, root, isFunction);
    const blocks = items.length > 12 ? yield* blocksOf(data, items) : [];
    const entries = [];
    const entryOf = new Array(items.length);
    const input = isFunction ? data.args(root)[0] : -1;
    const itemBox = (i, within) => {
      const box = boxOf(items[i], `${prefix}${items[i].node}`, within);
      box.isInput = items[i].node === input;
      size(box);
      if (box.container) {
        box.fill = () => functionPlane(box.fn, `${box.key}/`, within + 1, true);
      }
      itemsByNode.set(items[i].node, box);
      return box;
    };
    for (let i = 0; i < items.length;) {
      if (i % 100 === 0) yield;
      const block = items[i].block;
      if (block === null) {
        const box = itemBox(i, depth);
        entryOf[i] = entries.length;
        box.inputs = items[i].inputs.map((from) => entryOf[from]);
        entries.push(box);
        ++i;
        continue;
      }
      // Leaves before the block's end stand outside of it.
      const members = [];
      for (; i <= block.last; ++i) {
        if (items[i].block === block) {
          members.push(i);
        } else {
          entryOf[i] = entries.length;
          entries.push(itemBox(i, depth));
        }
      }
      const key = `${prefix}b${items[block.first].node}`;
      const box = emptyBox(key, -1, null, depth);
      box.container = true;
      box.block = block;
      box.members = members.map((m) => items[m].node);
      box.open =
          options.blocks ? options.open.has(key) : !options.shut.has(key);
      box.title = `Block ${block.name}`;
      box.text = `${members.length} nodes, one of ${block.cls.count}`;
      const calls = [];
      for (const m of members) {
        if (items[m].fn >= 0) {
          calls.push(...data.body(items[m].fn).calls);
        } else if (data.kinds[items[m].node] === Kind.CALL) {
          calls.push(data.title(items[m].node));
        }
      }
      box.notes = [callsText(calls)];
      const last = members[members.length - 1];
      const lastType = shortType(data.type(items[last].node));
      if (lastType !== '') box.notes.push(visible(lastType));
      size(box);
      const outside = new Set();
      for (const m of members) {
        for (const from of items[m].inputs) {
          if (items[from].block !== block) outside.add(from);
        }
      }
      const at = entries.length;
      for (const m of members) entryOf[m] = at;
      box.inputs = Array.from(outside, (from) => entryOf[from]);
      box.fill = function*() {
        const inner = [];
        const innerOf = new Map();
        // Where values come in.
        for (const from of outside) {
          innerOf.set(from, inner.length);
          const port =
              emptyBox(`${key}i${from}`, items[from].node, null, depth + 1);
          port.port = port.isInput = true;
          inner.push(port);
        }
        for (const m of members) {
          const b = itemBox(m, depth + 1);
          b.inputs = items[m]
                         .inputs.filter((from) => innerOf.has(from))
                         .map((from) => innerOf.get(from));
          innerOf.set(m, inner.length);
          inner.push(b);
        }
        return yield* plane(inner);
      };
      if (!box.open) {
        for (const m of members) itemsByNode.set(items[m].node, box);
      }
      entries.push(box);
    }
    return yield* plane(entries);
  }

  const all = yield* functionPlane(fn, '', 0, data.kinds[fn] === Kind.FUNCTION);
  // To absolute places, containers first.
  const todo = [{plane: all, x: 0, y: 0, parent: null}];
  let steps = 0;
  while (todo.length > 0) {
    const {plane: p, x, y, parent} = todo.pop();
    const base = boxes.length;
    for (const box of p.boxes) {
      if (++steps % 4000 === 0) yield;
      box.x += x;
      box.y += y;
      box.parent = parent;
      boxes.push(box);
      if (box.container && box.open) {
        todo.push({
          plane: box.inner,
          x: box.x + (box.w - box.inner.w) / 2,
          y: box.y + HEAD + PAD,
          parent: box,
        });
        box.inner = null;
      }
    }
    for (const line of p.lines) {
      if (++steps % 4000 === 0) yield;
      for (let i = 0; i < line.points.length; i += 2) {
        line.points[i] += x;
        line.points[i + 1] += y;
      }
      lines.push({
        from: boxes[base + line.from],
        to: boxes[base + line.to],
        points: line.points,
      });
    }
  }
  // Neighbours, and which boxes and lines are at which height.
  const rows = [];
  const put = (top, bottom, what, list) => {
    const last = Math.floor(bottom / ROW);
    for (let r = Math.max(0, Math.floor(top / ROW)); r <= last; ++r) {
      if (rows[r] === undefined) rows[r] = {boxes: [], lines: []};
      rows[r][list].push(what);
    }
  };
  for (const box of boxes) {
    if (++steps % 1000 === 0) yield;
    box.above = [];
    box.below = [];
    put(box.y, box.y + box.h, box, 'boxes');
  }
  for (const line of lines) {
    if (++steps % 1000 === 0) yield;
    line.from.below.push(line.to);
    line.to.above.push(line.from);
    const p = line.points;
    line.low = line.high = p[0];
    for (let i = 2; i < p.length; i += 2) {
      line.low = Math.min(line.low, p[i]);
      line.high = Math.max(line.high, p[i]);
    }
    line.size = Math.max(line.high - line.low, p[p.length - 1] - p[1]);
    put(p[1], p[p.length - 1], line, 'lines');
  }
  return {boxes, lines, rows, w: all.w, h: all.h, itemsByNode};
}

function cut(text) {
  return text.length > 40 ? `${text.slice(0, 38)}…` : text;
}

// `conv2d ×3, relu ×2, add`: without what names have before a dot.
function callsText(calls) {
  const counts = new Map();
  for (const call of calls) {
    const name = call.slice(call.lastIndexOf('.') + 1) || call;
    counts.set(name, (counts.get(name) || 0) + 1);
  }
  const parts = Array.from(
      counts, ([name, count]) => count > 1 ? `${name} ×${count}` : name);
  const shown = parts.slice(0, 4).join(', ');
  return visible(parts.length > 4 ? `${shown}, …` : shown);
}
