// The map: pictures at their positions, as many as fit without covering each other; the rest are dots until there is room.
const GAP = 3;
const DOT = data.objects.length <= 150 ? 4.5 : data.objects.length <= 600 ? 3 : 2;

function startMap() {
  const box = $("map");
  const hasPictures = Object.keys(thumbs).length > 0;
  const coarse = matchMedia("(pointer: coarse)").matches;
  let view = null; // {x, y} in the middle, and data units per pixel
  let [size, height, tool] = [40, 400, coarse ? "" : "pan"];

  const points = () => data.maps[state.map];
  const frame = () => ({ w: box.clientWidth, h: height });
  const toScreen = (i) => {
    const { w, h } = frame();
    const { x, y } = points();
    return x[i] === null ? null : [(x[i] - view.x) / view.unit + w / 2, h / 2 - (y[i] - view.y) / view.unit];
  };

  // first the medoids, then the others as they come; never by what is selected, so that a click moves nothing
  const order = () => [...new Set([...(cutOf.size ? cutOf.get(state.k).medoids : []), ...data.order])];

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

  // room for every picture: at its position, else close by (tied to it by a line), else none: it stays a dot
  function arrange(side) {
    const { w: width, h: tall } = frame();
    const taken = shelf(side + 2 * GAP);
    const visible = order().map((i) => [i, toScreen(i)])
      .filter(([, at]) => at && at[0] > -side && at[1] > -side && at[0] < width + side && at[1] < tall + side);
    // a name keeps clear of all dots
    visible.forEach(([i, [x, y]]) => { if (!thumbs[i]) taken.take({ left: x - 4, right: x + 4, top: y - 4, bottom: y + 4 }); });
    return visible.map(([i, at]) => {
      let item = boxAt(i, at, side);
      if (item.text !== undefined && (item.right > width || !taken.free(item))) item = boxAt(i, at, side, true);
      const alone = state.chosen.length === 1 && state.chosen[0] === i; // one object alone is always shown
      const fits = taken.free(item) && (item.text === undefined || (item.left > 0 && item.right < width));
      if (!fits && thumbs[i]) item = beside(i, at, side, taken, width, tall) || (alone ? item : { i, at, hidden: true });
      else if (!fits && !alone) item = { i, at, hidden: true };
      if (!item.hidden) taken.take(item);
      return { ...item, at };
    });
  }
  function boxAt(i, [x, y], side, before = false) {
    const thumb = thumbs[i];
    if (!thumb) {
      const text = shortened(nameOf(i), 24);
      const wide = textWidth(text);
      const left = before ? x - 8 - wide : x + 8;
      return { i, x, y, text, before, left, right: left + wide, top: y - 6, bottom: y + 6 };
    }
    const scale = side / Math.max(thumb[1], thumb[2]);
    const [w, h] = [thumb[1] * scale, thumb[2] * scale];
    return { i, x, y, w, h, left: x - w / 2 - 2, right: x + w / 2 + 2, top: y - h / 2 - 2, bottom: y + h / 2 + 2 };
  }
  function beside(i, [x, y], side, taken, width, tall) {
    for (const far of [0.55, 0.8, 1.1, 1.45, 1.9, 2.5, 3.2]) {
      for (let turn = 0; turn < 16; turn++) {
        const angle = (turn * 2 * Math.PI) / 16 + i;
        const item = boxAt(i, [x + far * side * Math.cos(angle), y + far * side * Math.sin(angle)], side);
        const within = item.left > 0 && item.top > 0 && item.right < width && item.bottom < tall;
        if (within && taken.free(item)) return { ...item, aside: true };
      }
    }
    return null;
  }

  function draw() {
    const { w, h } = frame();
    const items = arrange(size);
    const chosen = new Set(state.chosen);
    const drawing = svg("svg", { class: "canvas" + (chosen.size ? " some" : ""), viewBox: "0 0 " + w + " " + h, width: w, height: h, role: "group",
      "aria-label": "Map of the objects. The search field and the tree reach every object by keyboard." });
    const [rings, ties, spots] = [svg("g", {}), svg("g", {}), svg("g", {})];
    const colours = mapColours();
    // what was placed first lies on top
    for (const item of [...items].reverse()) {
      const i = item.i;
      const colour = colours(i);
      const spot = svg("g", { class: "spot" + (chosen.has(i) ? " on" : "") + (data.objects[i].placed ? " placed" : ""), "data-object": i, tabindex: "-1", role: "button", "aria-label": nameOf(i), style: "--c:" + colour });
      const [x, y] = item.at;
      const all = $("rings") && $("rings").checked;
      if (state.map === 0 && data.objects[i].circle !== null && (all || chosen.has(i))) {
        rings.append(svg("circle", { class: "ring", cx: x, cy: y, r: data.objects[i].circle / view.unit, style: "--c:" + colour }));
      }
      if (item.aside) ties.append(svg("line", { class: "tie", x1: x, y1: y, x2: item.x, y2: item.y, style: "--c:" + colour }), svg("circle", { class: "end", cx: x, cy: y, r: 2.5, style: "--c:" + colour }));
      if (item.hidden || item.text !== undefined) spot.append(svg("circle", { cx: x, cy: y, r: DOT }));
      if (item.text !== undefined) spot.append(svg("text", { x: item.before ? x - 8 : x + 8, y: y + 4, "text-anchor": item.before ? "end" : "start" }, item.text));
      if (item.w) {
        const edge = chosen.has(i) ? 4 : 2;
        spot.append(svg("rect", { x: item.x - item.w / 2 - edge, y: item.y - item.h / 2 - edge, width: item.w + 2 * edge, height: item.h + 2 * edge }),
          svg("image", { href: thumbs[i][0], x: item.x - item.w / 2, y: item.y - item.h / 2, width: item.w, height: item.h }));
      }
      spots.append(spot);
    }
    drawing.append(rings, ties, spots, arrows());
    box.replaceChildren(drawing);
    note(items);
  }
  // from the centre to where a number increases most, as long as it correlates: 1 is nearly to the edge
  function arrows() {
    const layer = svg("g", { class: "arrows" });
    if (!$("arrows") || !$("arrows").checked) return layer;
    const { w, h } = frame();
    const [left, right, low, high] = extent();
    const far = (0.45 * Math.min(right - left, high - low)) / view.unit;
    const [x0, y0] = [((left + right) / 2 - view.x) / view.unit + w / 2, h / 2 - ((low + high) / 2 - view.y) / view.unit];
    for (const [property, [dx, dy]] of Object.entries(data.maps[state.map].arrows)) {
      const [x, y, angle] = [x0 + far * dx, y0 - far * dy, Math.atan2(-dy, dx)];
      const barb = (turn) => " L" + (x - 10 * Math.cos(angle + turn)) + " " + (y - 10 * Math.sin(angle + turn));
      layer.append(svg("path", { d: "M" + x0 + " " + y0 + " L" + x + " " + y + barb(0.45) + " M" + x + " " + y + barb(-0.45) }),
        svg("text", { x: x + 8 * Math.cos(angle), y: y + 12 * Math.sin(angle) + 4, "text-anchor": Math.abs(dx) < Math.abs(dy) ? "middle" : dx < 0 ? "end" : "start" }, shortened(property, 24)));
    }
    return layer;
  }
  function note(items) {
    const hidden = items.filter((item) => item.hidden).length;
    const told = [];
    if (items.some((item) => item.aside)) told.push("Overlapping pictures are moved aside; a line shows the true position.");
    if (hidden) told.push(whole(hidden) + " of " + whole(items.length) + (hasPictures ? " pictures" : " names") + (hidden === 1 ? " does not fit and is a dot" : " do not fit and are dots") + "; zoom in to see more.");
    if ($("rings") && $("rings").checked && state.map === 0) told.push($("circle-words").textContent);
    if (data.objects.some((object) => object.placed)) told.push((hasPictures ? "Dashed" : "Hollow") + ": nobody was asked about this object; its vector gives its position.");
    told.push("The colour of " + (hasPictures ? "the outline" : "a dot") + " shows the object's " + (state.by || (data.tree && !data.tree.found ? "branch" : "cluster")) + ".");
    if ($("arrows") && $("arrows").checked) told.push("An arrow points where a property or a named dimension increases most. The longer it is, the closer it follows the map.");
    $("map-note").textContent = told.join(" ");
  }
  let waiting = false;
  function later() {
    if (waiting || !view) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw(); });
  }

  // ---- what part is shown: the same scale on both axes
  function extent() {
    const known = (values) => values.filter((value) => value !== null);
    const [xs, ys] = [known(points().x), known(points().y)];
    return [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  }
  function fit() {
    const [x0, x1, y0, y1] = extent();
    const width = box.clientWidth;
    height = Math.round(Math.min(innerWidth < 700 ? 520 : 760, Math.max(360, (width - 60) * ((y1 - y0) / (x1 - x0 || 1)) + 60)));
    box.style.height = height + "px";
    $("panel").style.maxHeight = innerWidth > 900 ? height + 2 + "px" : "";
    const room = size + 16;
    view = { x: (x0 + x1) / 2, y: (y0 + y1) / 2, unit: Math.max((x1 - x0) / Math.max(60, width - room), (y1 - y0) / Math.max(60, height - room)) || 0.01 };
    later();
  }
  function zoom(factor, at) {
    const { w, h } = frame();
    const [dx, dy] = at ? [(at[0] - w / 2) * view.unit, (h / 2 - at[1]) * view.unit] : [0, 0];
    view = { x: view.x + dx * (1 - factor), y: view.y + dy * (1 - factor), unit: view.unit * factor };
    later();
  }
  // as large as nearly all pictures fit, and not all of them aside
  function chooseSize() {
    const sizes = data.objects.length > 600 ? [20] : [80, 72, 64, 56, 50, 44, 40, 36, 32, 28, 24, 20]; // smaller ones show nothing
    size = sizes.find((side) => {
      const items = arrange(side);
      const share = (what) => items.filter((item) => item[what]).length / items.length;
      return share("hidden") <= 0.05 && share("aside") <= 0.7;
    }) || sizes[sizes.length - 1];
    $("size").value = size;
  }

  // ---- dragging moves the map, or draws around objects
  let drag = null;
  const place = (event) => { const area = box.getBoundingClientRect(); return [event.clientX - area.left, event.clientY - area.top]; };
  box.addEventListener("pointerdown", (event) => {
    if (event.button === 0 && tool) drag = { path: [place(event)], view, moved: false, id: event.pointerId };
  });
  box.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const [x, y] = place(event);
    const [x0, y0] = drag.path[0];
    if (!drag.moved && Math.hypot(x - x0, y - y0) < 5) return;
    if (!drag.moved) box.setPointerCapture(drag.id);
    drag.moved = true;
    hideTip();
    if (tool === "pan") {
      view = { ...drag.view, x: drag.view.x - (x - x0) * view.unit, y: drag.view.y + (y - y0) * view.unit };
      later();
      return;
    }
    drag.path.push([x, y]);
    const line = box.querySelector(".lasso") || svg("polygon", { class: "lasso" });
    line.setAttribute("points", drag.path.map((at) => at.join(",")).join(" "));
    box.firstElementChild.append(line);
  });
  const inside = ([x, y], path) => path.reduce((odd, [ax, ay], at) => {
    const [bx, by] = path[(at + 1) % path.length];
    return (ay > y) !== (by > y) && x < ((bx - ax) * (y - ay)) / (by - ay) + ax ? !odd : odd;
  }, false);
  let dragged = false; // the click that ends a drag selects nothing
  box.addEventListener("pointerup", () => {
    if (drag && drag.moved) {
      dragged = true;
      setTimeout(() => { dragged = false; });
      if (tool === "lasso") { choose(data.objects.map((_, i) => i).filter((i) => toScreen(i) && inside(toScreen(i), drag.path))); later(); }
    }
    drag = null;
  });
  box.addEventListener("click", (event) => {
    if (dragged) event.stopPropagation();
    else if (!event.target.closest("[data-object]")) choose([]);
  });
  box.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoom(1.0015 ** event.deltaY, place(event));
  }, { passive: false });

  // ---- controls
  const press = (buttons, on) => buttons.forEach((button) => button.setAttribute("aria-pressed", String(button === on)));
  const which = [...document.querySelectorAll("#map-which [data-map]")];
  which.forEach((button) => button.addEventListener("click", () => {
    state.map = Number(button.dataset.map);
    press(which, button);
    if ($("rings")) $("rings").disabled = state.map !== 0;
    fit();
    tell("map");
  }));
  function take(wanted) {
    tool = coarse && tool === wanted ? "" : wanted; // a finger scrolls the page until the reader says otherwise
    press([$("drag-pan"), $("drag-lasso")], { pan: $("drag-pan"), lasso: $("drag-lasso") }[tool]);
    box.style.touchAction = tool && coarse ? "none" : "pan-y";
    box.classList.toggle("drawing", tool === "lasso");
  }
  press([$("drag-pan"), $("drag-lasso")], tool ? $("drag-pan") : null);
  $("drag-pan").addEventListener("click", () => take("pan"));
  $("drag-lasso").addEventListener("click", () => take("lasso"));
  $("zoom-in").addEventListener("click", () => zoom(1 / 1.4));
  $("zoom-out").addEventListener("click", () => zoom(1.4));
  $("zoom-fit").addEventListener("click", fit);
  $("size").addEventListener("input", () => { size = Number($("size").value); later(); });
  if (!hasPictures) $("size").closest("label").hidden = true;
  if ($("rings")) $("rings").addEventListener("change", later);
  if ($("arrows")) $("arrows").addEventListener("change", later);
  if ($("by")) $("by").addEventListener("change", () => { state.by = $("by").value; tell("by"); });
  ["chosen", "k", "by"].forEach((what) => on(what, later));
  downloads("map", () => [["object", "x", "y", "cluster"], ...data.objects.map((o, i) => [o.name, points().x[i], points().y[i], clusterOf(i) + 1])]);

  let before = 0;
  new ResizeObserver(() => {
    if (Math.abs(box.clientWidth - before) < 2) return;
    const first = !before;
    before = box.clientWidth;
    fit();
    if (first) { chooseSize(); fit(); draw(); }
    document.documentElement.dataset.ready = "true";
  }).observe(box);
}
if ($("map")) startMap();
else document.documentElement.dataset.ready = "true";
