// The map: pictures at their locations, as many as fit without covering each other; the rest are dots until there is room.
const GAP = 3;
const DOT = data.objects.length <= 150 ? 9 : data.objects.length <= 600 ? 6 : 4;
const SMALL = innerWidth < 600 ? 28 : 36; // pixels; a smaller picture says nothing

function startMap() {
  const plot = model("map");
  const source = model("objects");
  const shown = model("map-shown");
  const names = model("map-names");
  const rings = model("map-spread");
  const box = $("map");
  const pen = document.createElement("canvas").getContext("2d");
  const hasPictures = Object.keys(thumbs).length > 0;
  let placed = []; // what is drawn as a picture: {i, x, y, w, h} in pixels
  let size = 40;
  let drawn = false;

  const points = () => data.maps[state.map];
  const frame = () => ({ w: plot.inner_width || box.clientWidth, h: plot.inner_height || box.clientHeight });
  const toScreen = (i) => {
    const { w, h } = frame();
    const { x, y } = points();
    if (x[i] === null) return null;
    return [((x[i] - plot.x_range.start) / (plot.x_range.end - plot.x_range.start)) * w,
      h - ((y[i] - plot.y_range.start) / (plot.y_range.end - plot.y_range.start)) * h];
  };

  // first the medoids, then the others as they come; never by what is selected, so that a click moves nothing
  function order() {
    const rank = new Map();
    const add = (i) => { if (!rank.has(i)) rank.set(i, rank.size); };
    if (cutOf.size) cutOf.get(state.k).medoids.forEach(add);
    data.spreadOut.forEach(add);
    return [...rank.keys()];
  }

  // what is taken, in pixels, on a grid that makes looking quick
  function shelf(cell) {
    const grid = new Map();
    const cells = (a, act) => {
      for (let gx = Math.floor(a.left / cell); gx <= Math.floor(a.right / cell); gx++) {
        for (let gy = Math.floor(a.top / cell); gy <= Math.floor(a.bottom / cell); gy++) if (act(gx + ":" + gy)) return true;
      }
      return false;
    };
    const meets = (a, b) => a.left < b.right + GAP && b.left < a.right + GAP && a.top < b.bottom + GAP && b.top < a.bottom + GAP;
    const around = (a) => ({ left: a.left - GAP, right: a.right + GAP, top: a.top - GAP, bottom: a.bottom + GAP });
    return {
      free: (a) => !cells(around(a), (key) => (grid.get(key) || []).some((b) => meets(a, b))),
      take: (a) => { cells(a, (key) => { grid.set(key, [...(grid.get(key) || []), a]); return false; }); },
    };
  }

  // a location for every picture: its own, else one close by (tied to its own by a line), else none: it stays a dot
  function arrange(side) {
    const { w: width, h: height } = frame();
    const taken = shelf(side + 2 * GAP);
    const found = [];
    let inside = 0;
    pen.font = "12px " + css("--font");
    const visible = order().map((i) => [i, toScreen(i)])
      .filter(([, at]) => at && at[0] > -side && at[1] > -side && at[0] < width + side && at[1] < height + side);
    // a name keeps clear of all dots
    visible.forEach(([i, [x, y]]) => { if (!thumbs[i]) taken.take({ left: x - 4, right: x + 4, top: y - 4, bottom: y + 4 }); });
    for (const [i, at] of visible) {
      inside += 1;
      let item = boxAt(i, at, side);
      if (item.text !== undefined && (item.right > width || !taken.free(item))) item = boxAt(i, at, side, true);
      if (taken.free(item) && (item.text === undefined || (item.left > 0 && item.right < width))) {
        taken.take(item);
        found.push(item);
        continue;
      }
      const aside = thumbs[i] ? beside(i, at, side, taken, width, height) : null;
      if (aside) taken.take(aside);
      found.push(aside || { i, hidden: true });
    }
    // one object alone is always shown, on top of what is in its way
    if (state.chosen.length === 1) {
      const at = found.findIndex((item) => item.i === state.chosen[0]);
      if (at >= 0) found.unshift(found[at].hidden ? boxAt(state.chosen[0], toScreen(state.chosen[0]), side) : found[at]);
      if (at >= 0) found.splice(at + 1, 1);
    }
    return { found, inside };
  }
  function boxAt(i, [x, y], side, before = false) {
    const thumb = thumbs[i];
    if (!thumb) {
      const text = nameOf(i).length > 24 ? nameOf(i).slice(0, 23) + "…" : nameOf(i);
      const wide = pen.measureText(text).width;
      const left = before ? x - 8 - wide : x + 8;
      return { i, x, y, text, before, left, right: left + wide, top: y - 6, bottom: y + 6 };
    }
    const scale = side / Math.max(thumb[1], thumb[2]);
    const [w, h] = [thumb[1] * scale, thumb[2] * scale];
    return { i, x, y, w, h, left: x - w / 2 - 2, right: x + w / 2 + 2, top: y - h / 2 - 2, bottom: y + h / 2 + 2 };
  }
  function beside(i, [x, y], side, taken, width, height) {
    for (const far of [0.55, 0.8, 1.1, 1.45, 1.9]) {
      for (let turn = 0; turn < 16; turn++) {
        const angle = (turn * 2 * Math.PI) / 16 + i;
        const item = boxAt(i, [x + far * side * Math.cos(angle), y + far * side * Math.sin(angle)], side);
        const within = item.left > 0 && item.top > 0 && item.right < width && item.bottom < height;
        if (within && taken.free(item)) return { ...item, aside: true };
      }
    }
    return null;
  }

  function draw() {
    const { found, inside } = arrange(size);
    const { x, y } = points();
    const { w, h } = frame();
    const chosen = new Set(state.chosen);
    const alpha = (i) => (chosen.size && !chosen.has(i) ? 0.22 : 1);
    const n = data.objects.length;
    const columns = { px: [...x], py: [...y], wide: new Array(n).fill(0), high: new Array(n).fill(0), dot: new Array(n).fill(DOT) };
    const pictures = { x: [], y: [], url: [], w: [], h: [], alpha: [] };
    const texts = { x: [], y: [], text: [], alpha: [], align: [], shift: [] };
    const ties = { x0: [], y0: [], x1: [], y1: [], colour: [], alpha: [] };
    const toData = (item) => [plot.x_range.start + (item.x / w) * (plot.x_range.end - plot.x_range.start),
      plot.y_range.start + ((h - item.y) / h) * (plot.y_range.end - plot.y_range.start)];
    placed = found.filter((item) => !item.hidden).reverse(); // what was placed first lies on top
    for (const item of placed) {
      const i = item.i;
      if (item.text !== undefined) {
        texts.x.push(x[i]); texts.y.push(y[i]); texts.text.push(item.text); texts.alpha.push(alpha(i));
        texts.align.push(item.before ? "right" : "left"); texts.shift.push(item.before ? -8 : 8);
        continue;
      }
      const edge = chosen.has(i) ? 8 : 4;
      const [px, py] = item.aside ? toData(item) : [x[i], y[i]];
      columns.px[i] = px; columns.py[i] = py;
      columns.wide[i] = item.w + edge;
      columns.high[i] = item.h + edge;
      columns.dot[i] = item.aside ? Math.min(5, DOT) : 0;
      pictures.x.push(px); pictures.y.push(py); pictures.url.push(thumbs[i][0]);
      pictures.w.push(item.w); pictures.h.push(item.h); pictures.alpha.push(alpha(i));
      if (item.aside) {
        ties.x0.push(x[i]); ties.y0.push(y[i]); ties.x1.push(px); ties.y1.push(py);
        ties.colour.push(colourOf(clusterOf(i))); ties.alpha.push(alpha(i));
      }
    }
    source.data = { ...source.data, x, y, ...columns };
    shown.data = pictures;
    names.data = texts;
    model("map-ties").data = ties;
    note(placed.length, inside, ties.x0.length);
    drawn = true;
  }
  function note(fit, inside, aside) {
    const kind = hasPictures ? "pictures" : "names";
    const words = [];
    if (aside) words.push("A picture that would cover another stands beside its location, tied to it by a line.");
    if (fit < inside) words.push(whole(inside - fit) + " of " + whole(inside) + " " + kind + " find no room and are dots; zoom in to see them (Ctrl and wheel, or +).");
    if ($("rings") && $("rings").checked && state.map === 0) words.push("Circles: in 9 of 10 objects the true location lies inside; no circle where too few answers tell.");
    words.push("Colours are the clusters of the tree.");
    $("map-note").textContent = words.join(" ");
  }
  let waiting = false;
  function later() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw(); });
  }

  // ---- ranges: the same scale on both axes
  let quiet = false;
  function setRanges(cx, cy, perPixel) {
    const { w, h } = frame();
    quiet = true;
    plot.x_range.setv({ start: cx - (perPixel * w) / 2, end: cx + (perPixel * w) / 2 });
    plot.y_range.setv({ start: cy - (perPixel * h) / 2, end: cy + (perPixel * h) / 2 });
    quiet = false;
    later();
  }
  // as tall as these pictures need at this width
  function tall() {
    const known = (values) => values.filter((value) => value !== null);
    const [xs, ys] = [known(points().x), known(points().y)];
    const ratio = (Math.max(...ys) - Math.min(...ys)) / (Math.max(...xs) - Math.min(...xs) || 1);
    const width = box.clientWidth;
    return Math.round(Math.min(innerWidth < 700 ? 520 : 760, Math.max(360, (width - 60) * ratio + 60)));
  }
  function fit() {
    const { w, h } = frame();
    const known = (values) => values.filter((value) => value !== null);
    const [xs, ys] = [known(points().x), known(points().y)];
    const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const room = size + 16;
    const perPixel = Math.max((x1 - x0) / Math.max(60, w - room), (y1 - y0) / Math.max(60, h - room)) || 0.01;
    setRanges((x0 + x1) / 2, (y0 + y1) / 2, perPixel);
  }
  function zoom(factor) {
    const { w } = frame();
    const perPixel = ((plot.x_range.end - plot.x_range.start) / w) * factor;
    setRanges((plot.x_range.start + plot.x_range.end) / 2, (plot.y_range.start + plot.y_range.end) / 2, perPixel);
  }
  function chooseSize() {
    const sizes = [80, 72, 64, 56, 50, 44, 40];
    const wanted = data.objects.length > 600 ? SMALL : sizes.find((side) => {
      const { found, inside } = arrange(side);
      const [hidden, aside] = ["hidden", "aside"].map((what) => found.filter((item) => item[what]).length);
      return hidden <= 0.05 * inside && aside <= 0.5 * inside;
    });
    size = wanted || SMALL;
    $("size").value = size;
  }
  for (const range of [plot.x_range, plot.y_range]) {
    for (const edge of ["start", "end"]) range.properties[edge].change.connect(() => { if (!quiet) later(); });
  }

  // ---- controls
  const press = (buttons, chosenButton) => buttons.forEach((button) => button.setAttribute("aria-pressed", String(button === chosenButton)));
  const which = [...document.querySelectorAll("#map-which [data-map]")];
  which.forEach((button) => button.addEventListener("click", () => {
    state.map = Number(button.dataset.map);
    press(which, button);
    plot.height = tall();
    fit();
    tell("map");
  }));
  const [pan, lasso] = [plot.toolbar.tools.find((tool) => tool.name === "pan"), plot.toolbar.tools.find((tool) => tool.name === "lasso")];
  const drag = (tool) => {
    pan.active = tool === pan;
    lasso.active = tool === lasso;
    press([$("drag-pan"), $("drag-lasso")], tool === pan ? $("drag-pan") : tool === lasso ? $("drag-lasso") : null);
    calmTouch(box, tool !== null && matchMedia("(pointer: coarse)").matches);
  };
  if (matchMedia("(pointer: coarse)").matches) drag(null); // a finger scrolls the page until the reader says otherwise
  const toggle = (tool) => () => drag(tool.active && matchMedia("(pointer: coarse)").matches ? null : tool);
  $("drag-pan").addEventListener("click", toggle(pan));
  $("drag-lasso").addEventListener("click", toggle(lasso));
  $("zoom-in").addEventListener("click", () => zoom(1 / 1.4));
  $("zoom-out").addEventListener("click", () => zoom(1.4));
  $("zoom-fit").addEventListener("click", fit);
  $("size").addEventListener("input", () => { size = Number($("size").value); later(); });
  if (!hasPictures) $("size").closest("label").hidden = true;
  if ($("rings")) {
    const showRings = () => {
      const visible = $("rings").checked && state.map === 0;
      const { x, y } = data.maps[0];
      const list = data.objects.map((_, i) => i).filter((i) => x[i] !== null && data.objects[i].circle !== null);
      rings.data = { x: list.map((i) => x[i]), y: list.map((i) => y[i]), r: list.map((i) => data.objects[i].circle), colour: list.map((i) => colourOf(clusterOf(i))) };
      model("map-rings").visible = visible;
      $("rings").disabled = state.map !== 0;
      later();
    };
    $("rings").addEventListener("change", showRings);
    ["k", "theme", "map"].forEach((what) => on(what, showRings));
  }

  // ---- the pointer
  function under(event) {
    const area = box.getBoundingClientRect();
    const { w, h } = frame();
    const [px, py] = [event.clientX - area.left - (box.clientWidth - w) / 2, event.clientY - area.top - (box.clientHeight - h) / 2];
    for (let p = placed.length - 1; p >= 0; p--) {
      const item = placed[p];
      const start = item.text === undefined ? item.left : Math.min(item.left, item.x - 5);
      if (px >= start && px <= item.right && py >= item.top && py <= item.bottom) return item.i;
    }
    let best = null;
    let near = 12;
    data.objects.forEach((_, i) => {
      const at = toScreen(i);
      const far = at ? Math.hypot(at[0] - px, at[1] - py) : Infinity;
      if (far < near) { near = far; best = i; }
    });
    return best;
  }
  box.addEventListener("pointermove", (event) => {
    if (event.pointerType === "touch" || event.buttons) { hideTip(); return; }
    const i = under(event);
    box.style.cursor = i === null ? "" : "pointer";
    if (i === null) hideTip();
    else showTip(event.clientX, event.clientY, ...tipFor(i));
  });
  box.addEventListener("pointerleave", hideTip);

  ["chosen", "k", "theme"].forEach((what) => on(what, later));
  let before = "";
  const settle = () => {
    const { w, h } = frame();
    if (!w || before === w + "x" + h) return;
    before = w + "x" + h;
    $("panel").style.maxHeight = innerWidth > 900 ? h + 2 + "px" : "";
    fit();
    if (!drawn) { chooseSize(); fit(); }
  };
  plot.properties.inner_width.change.connect(() => { plot.height = tall(); settle(); });
  plot.properties.inner_height.change.connect(settle);
  plot.height = tall();
  settle();
}
start();
