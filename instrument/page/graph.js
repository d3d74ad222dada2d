// The graph on a canvas: of a drawing (layout.js), what is in view. Pointer and
// keys move over it.

const TOUCH_NAMES = ['dropped', 'made', 'moved', 'changed'];
const TOUCH_SIGNS = ['−', '+', '›', '~'];

class GraphView {
  // `on.select(box)`, `on.toggle(box)`, `on.enter(box)`.
  constructor(frame, canvas, on) {
    this.frame = frame;
    this.canvas = canvas;
    this.on = on;
    this.drawing = null;
    this.selected = null;
    this.touched = [];
    this.hits = null;
    this.scale = 1;
    this.left = 0;
    this.top = 0;
    this.width = 0;
    this.height = 0;
    this.dirty = false;
    this.rows = [];
    this.drawn = 0;
    this.stamp = 0;
    this.widths = new Map();
    this.measureContext = document.createElement('canvas').getContext('2d');
    this.readColors(frame);
    new ResizeObserver(() => this.resize()).observe(frame);
    matchMedia('(prefers-color-scheme: dark)')
        .addEventListener('change', () => {
          this.readColors(frame);
          this.redraw();
        });
    this.listen();
  }

  readColors(element) {
    const style = getComputedStyle(element);
    const color = (name) => style.getPropertyValue(`--${name}`).trim();
    this.colors = {
      surface: color('surface'),
      sunken: color('sunken'),
      ink: color('ink'),
      muted: color('muted'),
      rule: color('rule'),
      line: color('line'),
      accent: color('accent'),
      hit: color('hit'),
      touch: TOUCH_NAMES.map((name) => color(name)),
      tint: TOUCH_NAMES.map((name) => color(`${name}-tint`)),
    };
    const sans = style.fontFamily;
    this.fonts = {
      title: `600 12.5px ${sans}`,
      text: `11px ${sans}`,
    };
  }

  measure(text, font) {
    const key = font + text;
    let width = this.widths.get(key);
    if (width === undefined) {
      this.measureContext.font = this.fonts[font];
      width = this.measureContext.measureText(text).width;
      this.widths.set(key, width);
    }
    return width;
  }

  // `touchOf(node)`: the kind of change, or -1. `keep`: stays where it is.
  show(drawing, touchOf, membersOf, keep) {
    this.drawing = drawing;
    this.selected = null;
    this.touched = [];
    for (const box of drawing.boxes) {
      box.touch = box.node >= 0 && !box.port ? touchOf(box.node) : -1;
      box.counts = null;
      if (box.container && !box.open) {
        const counts = [0, 0, 0, 0];
        for (const node of membersOf(box)) {
          const kind = touchOf(node);
          if (kind >= 0) ++counts[kind];
        }
        if (box.touch >= 0) ++counts[box.touch];
        if (counts.some((n) => n > 0)) box.counts = counts;
        if (box.counts !== null && box.touch < 0) {
          box.touch = counts.indexOf(Math.max(...counts));
        }
      }
      if (box.touch >= 0) this.touched.push(box);
    }
    this.touched.sort((a, b) => a.y - b.y || a.x - b.x);
    this.rows = drawing.rows;
    this.resize();
    if (keep) {
      this.clamp();
    } else {
      this.home();
    }
    this.redraw();
  }

  // A readable size, from the first change or from the top.
  home() {
    const {w} = this.drawing;
    const fit = (this.width - 32) / Math.max(1, w);
    this.scale = Math.max(0.7, Math.min(1, fit));
    this.left = this.width / 2 - (w / 2) * this.scale;
    this.top = 20;
    if (this.drawing.boxes.length > 0) {
      const box = this.touched[0] || this.drawing.boxes[0];
      const tall = this.drawing.h * this.scale > this.height - 40;
      if (tall && this.touched.length > 0) {
        this.top = this.height / 3 - box.y * this.scale;
        this.keepFull();
      }
      const x = (box.x + box.w / 2) * this.scale + this.left;
      if (x < 60 || x > this.width - 60) this.left += this.width / 2 - x;
    }
    this.redraw();
  }
  fit() {
    const {w, h} = this.drawing;
    this.scale = Math.min(
        1.5, (this.width - 24) / Math.max(1, w),
        (this.height - 24) / Math.max(1, h));
    this.left = (this.width - w * this.scale) / 2;
    this.top = (this.height - h * this.scale) / 2;
    this.redraw();
  }
  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const scale = Math.max(0.005, Math.min(3, this.scale * factor));
    const real = scale / this.scale;
    this.left = x - (x - this.left) * real;
    this.top = y - (y - this.top) * real;
    this.scale = scale;
    this.redraw();
  }
  pan(dx, dy) {
    this.left += dx;
    this.top += dy;
    this.clamp();
    this.redraw();
  }
  // Something stays in view.
  clamp() {
    const margin = 48;
    const w = this.drawing.w * this.scale, h = this.drawing.h * this.scale;
    this.left = Math.max(margin - w, Math.min(this.width - margin, this.left));
    this.top = Math.max(margin - h, Math.min(this.height - margin, this.top));
  }

  // No empty space above or below a graph that is higher than the view.
  keepFull() {
    const h = this.drawing.h * this.scale;
    if (h > this.height - 40) {
      this.top = Math.max(this.height - h - 20, Math.min(20, this.top));
    }
  }

  select(box, center) {
    this.selected = box;
    if (box !== null) {
      if (center && this.scale < 0.45) this.zoom(0.8 / this.scale);
      const {x, y, w, h} = this.placeOf(box);
      const margin = Math.min(30, this.width / 8, this.height / 8);
      if (x < margin || x + w > this.width - margin) {
        this.left += this.width / 2 - x - w / 2;
      }
      if (y < margin ||
          y + Math.min(h, this.height / 2) > this.height - margin) {
        this.top += this.height / 2 - y - Math.min(h, this.height / 2) / 2;
        this.keepFull();
      }
    }
    this.redraw();
  }

  boxAt(x, y) {
    if (this.drawing === null) return null;
    const wx = (x - this.left) / this.scale;
    const wy = (y - this.top) / this.scale;
    const row = this.rows[Math.floor(wy / ROW)];
    if (row === undefined) return null;
    let found = null;
    for (const box of row.boxes) {
      if (box.port || wx < box.x || wx > box.x + box.w || wy < box.y ||
          wy > box.y + box.h) {
        continue;
      }
      // The innermost; of an open one, only what is above its contents.
      if (found === null || box.depth >= found.depth) found = box;
    }
    return found;
  }
  // Where a box is on the screen, in pixels of the canvas.
  placeOf(box) {
    return {
      x: box.x * this.scale + this.left,
      y: box.y * this.scale + this.top,
      w: box.w * this.scale,
      h: box.h * this.scale,
    };
  }

  // --- Input -----------------------------------------------------------------

  listen() {
    const frame = this.frame;
    const pointers = new Map();
    let moved = 0;
    let distance = 0;
    frame.addEventListener('pointerdown', (event) => {
      if (event.button !== 0 || this.drawing === null) return;
      frame.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, {x: event.clientX, y: event.clientY});
      if (pointers.size === 1) moved = 0;
      distance = 0;
    });
    frame.addEventListener('pointermove', (event) => {
      const last = pointers.get(event.pointerId);
      if (last === undefined) return;
      const dx = event.clientX - last.x, dy = event.clientY - last.y;
      last.x = event.clientX;
      last.y = event.clientY;
      moved += Math.abs(dx) + Math.abs(dy);
      if (pointers.size === 2) {
        const [a, b] = Array.from(pointers.values());
        const now = Math.hypot(a.x - b.x, a.y - b.y);
        const rect = frame.getBoundingClientRect();
        if (distance > 0) {
          this.zoom(
              now / distance, (a.x + b.x) / 2 - rect.left,
              (a.y + b.y) / 2 - rect.top);
        }
        distance = now;
        this.pan(dx / 2, dy / 2);
      } else if (moved > 4) {
        this.pan(dx, dy);
      }
    });
    const end = (event) => {
      if (!pointers.delete(event.pointerId)) return;
      if (event.type === 'pointercancel' || moved > 4) return;
      const rect = frame.getBoundingClientRect();
      const x = event.clientX - rect.left, y = event.clientY - rect.top;
      const box = this.boxAt(x, y);
      if (box === null) return;
      const place = this.placeOf(box);
      const onHead = y - place.y < HEAD * this.scale;
      if (box.container && x - place.x < 22 * this.scale && onHead) {
        this.on.toggle(box);
      } else {
        this.on.select(box);
      }
    };
    frame.addEventListener('pointerup', end);
    frame.addEventListener('pointercancel', end);
    frame.addEventListener('dblclick', (event) => {
      const rect = frame.getBoundingClientRect();
      const box =
          this.boxAt(event.clientX - rect.left, event.clientY - rect.top);
      if (box !== null && box.container) this.on.toggle(box);
    });
    frame.addEventListener('wheel', (event) => {
      if (this.drawing === null) return;
      event.preventDefault();
      const unit = event.deltaMode === 1 ? 16 : 1;
      const rect = frame.getBoundingClientRect();
      if (event.ctrlKey || event.metaKey) {
        this.zoom(
            Math.exp(-event.deltaY * unit * 0.01), event.clientX - rect.left,
            event.clientY - rect.top);
      } else if (event.shiftKey && event.deltaX === 0) {
        this.pan(-event.deltaY * unit, 0);
      } else {
        this.pan(-event.deltaX * unit, -event.deltaY * unit);
      }
    }, {passive: false});
    frame.addEventListener('keydown', (event) => this.key(event));
  }

  key(event) {
    if (this.drawing === null || event.altKey || event.ctrlKey ||
        event.metaKey) {
      return;
    }
    const box = this.selected;
    const go = (to) => {
      if (to) this.on.select(to);
    };
    switch (event.key) {
      case 'ArrowDown':
        go(box === null ? this.firstBox() : this.real(box, 'below'));
        break;
      case 'ArrowUp':
        go(box === null ? this.firstBox() : this.real(box, 'above'));
        break;
      case 'ArrowLeft':
        go(box === null ? this.firstBox() : this.beside(box, -1));
        break;
      case 'ArrowRight':
        go(box === null ? this.firstBox() : this.beside(box, 1));
        break;
      case 'Home':
        go(this.firstBox());
        break;
      case 'End':
        go(this.drawing.boxes.reduce(
            (best, b) => b.port || b.y + b.h <= best.y + best.h ? best : b));
        break;
      case 'Enter':
        if (box === null) return;
        if (box.container && box.open) {
          go(this.drawing.boxes.find((b) => b.parent === box && !b.port));
        } else {
          this.on.enter(box);
        }
        break;
      case 'Escape':
        if (box === null) return;
        if (box.parent)
          go(box.parent);
        else
          this.on.select(null);
        break;
      case ' ':
        if (box !== null && box.container) this.on.toggle(box);
        break;
      case 'n':
        go(this.nextTouched(1));
        break;
      case 'p':
        go(this.nextTouched(-1));
        break;
      case '+':
      case '=':
        this.zoom(1.25);
        break;
      case '-':
        this.zoom(0.8);
        break;
      case '0':
        this.fit();
        break;
      case '1':
        this.zoom(1 / this.scale);
        break;
      default:
        return;
    }
    event.preventDefault();
  }

  firstBox() {
    let best = null;
    for (const b of this.drawing.boxes) {
      if (b.port || b.parent) continue;
      if (best === null || b.y < best.y || (b.y === best.y && b.x < best.x)) {
        best = b;
      }
    }
    return best;
  }
  // The box that a line leads to; out of a container, its own lines.
  real(box, way) {
    const next = box[way].find((b) => !b.port);
    if (next !== undefined) return next;
    if (!box.parent) return null;
    return box.parent[way].find((b) => !b.port) || null;
  }
  // The nearest one to the left or right.
  beside(box, sign) {
    let best = null, least = Infinity;
    const cx = box.x + box.w / 2, cy = box.y + box.h / 2;
    const low = Math.max(0, Math.floor(box.y / ROW) - 1);
    const high = Math.floor((box.y + box.h) / ROW) + 1;
    for (let r = low; r <= high; ++r) {
      if (this.rows[r] === undefined) continue;
      for (const b of this.rows[r].boxes) {
        if (b === box || b.port || b.parent !== box.parent) continue;
        const dx = sign * (b.x + b.w / 2 - cx);
        const dy = Math.abs(b.y + b.h / 2 - cy);
        if (dx <= 1 || dy > box.h / 2 + b.h / 2 + GAP_Y) continue;
        if (dx + 2 * dy < least) {
          least = dx + 2 * dy;
          best = b;
        }
      }
    }
    return best;
  }
  nextTouched(step) {
    const n = this.touched.length;
    if (n === 0) return null;
    const at = this.touched.indexOf(this.selected);
    if (at < 0) return this.touched[step > 0 ? 0 : n - 1];
    return this.touched[(at + step + n) % n];
  }

  // --- Drawing ---------------------------------------------------------------

  resize() {
    const width = this.frame.clientWidth, height = this.frame.clientHeight;
    const ratio = this.ratio || window.devicePixelRatio || 1;
    if (width === 0 || height === 0) return;
    if (this.width > 0 && width !== this.width) {
      this.left += (width - this.width) / 2;
    }
    this.width = width;
    this.height = height;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.redraw();
  }
  redraw() {
    if (this.dirty) return;
    this.dirty = true;
    requestAnimationFrame(() => {
      if (this.dirty) this.paint();
    });
  }

  paint() {
    this.dirty = false;
    const c = this.canvas.getContext('2d');
    const ratio = this.canvas.width / Math.max(1, this.width);
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.clearRect(0, 0, this.canvas.width, this.canvas.height);
    if (this.drawing === null) return;
    const s = this.scale;
    c.setTransform(
        s * ratio, 0, 0, s * ratio, this.left * ratio, this.top * ratio);
    const view = {
      x0: -this.left / s,
      x1: (this.width - this.left) / s,
      y0: -this.top / s,
      y1: (this.height - this.top) / s,
    };
    // A box or line may be in several rows.
    const stamp = ++this.stamp;
    const shown = [];
    const lines = [];
    const small = 1 / s;  // a pixel
    const last = Math.min(this.rows.length - 1, Math.floor(view.y1 / ROW));
    for (let r = Math.max(0, Math.floor(view.y0 / ROW)); r <= last; ++r) {
      const row = this.rows[r];
      if (row === undefined) continue;
      for (const box of row.boxes) {
        if (box.stamp === stamp || box.x > view.x1 || box.x + box.w < view.x0) {
          continue;
        }
        box.stamp = stamp;
        shown.push(box);
      }
      for (const line of row.lines) {
        if (line.stamp === stamp || line.low > view.x1 || line.high < view.x0 ||
            line.size < small) {
          continue;
        }
        line.stamp = stamp;
        lines.push(line);
      }
    }
    this.drawn = shown.length;
    const open = shown.filter((box) => box.container && box.open);
    open.sort((a, b) => a.depth - b.depth);
    for (const box of open) this.paintOpen(c, box);
    this.paintLines(c, lines);
    if (s < 0.2) {
      this.paintDots(c, shown);
    } else {
      for (const box of shown) {
        if (!(box.container && box.open)) this.paintBox(c, box);
      }
    }
    if (this.selected !== null) {
      const box = this.selected;
      c.strokeStyle = this.colors.accent;
      c.lineWidth = Math.max(2, 2 / s);
      c.beginPath();
      c.roundRect(box.x - 3, box.y - 3, box.w + 6, box.h + 6, 8);
      c.stroke();
    }
  }

  paintLines(c, lines) {
    const s = this.scale;
    const straight = s < 0.3;
    const trace = (line) => {
      const p = line.points;
      c.moveTo(p[0], p[1]);
      for (let i = 2; i < p.length; i += 2) {
        if (straight || Math.abs(p[i] - p[i - 2]) < 0.5) {
          c.lineTo(p[i], p[i + 1]);
        } else {
          const middle = (p[i - 1] + p[i + 1]) / 2;
          c.bezierCurveTo(p[i - 2], middle, p[i], middle, p[i], p[i + 1]);
        }
      }
    };
    const near = [];
    c.strokeStyle = this.colors.line;
    c.lineWidth = Math.max(1.1, 0.6 / s);
    c.beginPath();
    for (const line of lines) {
      if (this.selected !== null &&
          (line.from === this.selected || line.to === this.selected)) {
        near.push(line);
      } else {
        trace(line);
      }
    }
    c.stroke();
    if (!straight) {
      c.fillStyle = this.colors.line;
      c.beginPath();
      for (const line of lines) {
        if (!line.to.port) this.traceHead(c, line);
      }
      c.fill();
    }
    if (near.length === 0) return;
    c.strokeStyle = c.fillStyle = this.colors.accent;
    c.lineWidth = Math.max(1.8, 1 / s);
    c.beginPath();
    for (const line of near) trace(line);
    c.stroke();
    c.beginPath();
    for (const line of near) this.traceHead(c, line);
    c.fill();
  }
  traceHead(c, line) {
    const p = line.points;
    const x = p[p.length - 2], y = p[p.length - 1];
    c.moveTo(x, y);
    c.lineTo(x - 3.2, y - 6);
    c.lineTo(x + 3.2, y - 6);
  }

  // From far away: rectangles of at least a pixel, by colour. Of those on one
  // pixel, one of each colour.
  paintDots(c, boxes) {
    const pixel = 1 / this.scale;
    const crowded = 60 * this.scale < 1;
    const groups = new Map();
    for (const box of boxes) {
      if (box.port || (box.container && box.open)) continue;
      const color = this.hits !== null && this.hits.has(box) ? this.colors.hit :
          box.touch >= 0 ? this.colors.touch[box.touch] :
                           this.colors.muted;
      let group = groups.get(color);
      if (group === undefined) {
        group = {list: [], taken: new Set()};
        groups.set(color, group);
      }
      if (crowded) {
        const at =
            Math.floor(box.y / pixel) * 16384 + Math.floor(box.x / pixel);
        if (group.taken.has(at)) continue;
        group.taken.add(at);
      }
      group.list.push(box);
    }
    for (const [color, {list}] of groups) {
      c.fillStyle = color;
      c.beginPath();
      for (const box of list) {
        c.rect(box.x, box.y, Math.max(box.w, pixel), Math.max(box.h, pixel));
      }
      c.fill();
    }
  }

  paintOpen(c, box) {
    const colors = this.colors;
    c.fillStyle = colors.sunken;
    c.strokeStyle = colors.rule;
    c.lineWidth = 1;
    c.beginPath();
    c.roundRect(box.x, box.y, box.w, box.h, 8);
    c.fill();
    c.stroke();
    if (this.scale < 0.2) return;
    c.fillStyle = colors.muted;
    c.font = this.fonts.title;
    c.textBaseline = 'middle';
    c.textAlign = 'left';
    c.fillText('▾', box.x + 9, box.y + 15);
    c.fillText(cut(box.title), box.x + 24, box.y + 15, box.w - 32);
  }

  paintBox(c, box) {
    const colors = this.colors;
    if (box.port) {
      c.fillStyle = colors.line;
      c.beginPath();
      c.arc(box.x + box.w / 2, box.y + box.h / 2, 3, 0, 7);
      c.fill();
      return;
    }
    const touch = box.touch;
    const radius = box.kind === Kind.VAR ? Math.min(14, box.h / 2) : 5;
    c.lineWidth = 1;
    if (box.container) {
      // A second sheet below: there is more in it.
      c.fillStyle = colors.surface;
      c.strokeStyle = touch >= 0 ? colors.touch[touch] : colors.rule;
      c.beginPath();
      c.roundRect(box.x + 3, box.y + 3, box.w, box.h, radius);
      c.fill();
      c.stroke();
    }
    c.fillStyle = touch >= 0  ? colors.tint[touch] :
        box.kind === Kind.VAR ? colors.sunken :
                                colors.surface;
    c.strokeStyle = touch >= 0 ? colors.touch[touch] : colors.rule;
    c.beginPath();
    c.roundRect(box.x, box.y, box.w, box.h, radius);
    c.fill();
    c.stroke();
    if (this.hits !== null && this.hits.has(box)) {
      c.strokeStyle = colors.hit;
      c.lineWidth = 2.5;
      c.stroke();
    }
    c.textBaseline = 'middle';
    c.textAlign = 'center';
    const x = box.x + box.w / 2;
    let y = box.y + (box.kind === Kind.VAR ? 13 : 14);
    c.fillStyle = colors.ink;
    c.font = this.fonts.title;
    c.fillText(
        cut(box.title), box.container ? x + 2 : x, y,
        box.w - (box.container ? 36 : 16));
    if (box.container) {
      c.fillStyle = colors.muted;
      c.textAlign = 'left';
      c.fillText('▸', box.x + 8, y);
      c.textAlign = 'center';
    }
    if (touch >= 0) {
      c.fillStyle = colors.touch[touch];
      c.textAlign = 'right';
      c.fillText(TOUCH_SIGNS[touch], box.x + box.w - 5, box.y + 9);
      c.textAlign = 'center';
    }
    if (this.scale < 0.4) return;
    c.font = this.fonts.text;
    c.fillStyle = colors.muted;
    if (box.text !== '') {
      y += 15;
      c.fillText(cut(box.text), x, y, box.w - 12);
    }
    for (const note of box.notes) {
      y += 13;
      c.fillText(cut(note), x, y, box.w - 12);
    }
  }
}
