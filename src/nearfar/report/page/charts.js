// Charts in SVG: axes, and what is drawn between them. Colours come from the style sheet, so light and dark follow by themselves.
function ticks(low, high, most = 6) {
  const rough = (high - low) / most || 1;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = unit * [1, 2, 5, 10].find((times) => times * unit >= rough * 0.999);
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + 1e-9 * step; at += step) found.push(at + 0); // never -0
  return found;
}
function chart(box, x, y, height, words) {
  // x, y : {from, to, words, label, log}; gives the drawing and the functions from values to pixels
  const width = Math.max(260, box.clientWidth);
  const [left, right, top, bottom] = [64, 14, 10, 44];
  const scale = (axis, a, b) => (value) => {
    const f = axis.log ? Math.log : (v) => v;
    return a + ((f(value) - f(axis.from)) / (f(axis.to) - f(axis.from) || 1)) * (b - a);
  };
  const [px, py] = [scale(x, left, width - right), scale(y, height - bottom, top)];
  const drawing = svg("svg", { class: "chart", viewBox: "0 0 " + width + " " + height, width, height, role: "img", "aria-label": words });
  const marks = (axis) => (axis.log ? ticks(Math.log10(axis.from), Math.log10(axis.to), 5).map((t) => Number((10 ** t).toPrecision(1))) : ticks(axis.from, axis.to));
  for (const value of y.words === undefined ? [] : marks(y)) {
    drawing.append(svg("line", { class: "rule", x1: left, x2: width - right, y1: py(value), y2: py(value) }),
      svg("text", { class: "tick", x: left - 8, y: py(value) + 4, "text-anchor": "end" }, y.words(value)));
  }
  for (const value of [...new Set(marks(x))].filter((v) => v >= x.from && v <= x.to)) {
    drawing.append(svg("text", { class: "tick", x: px(value), y: height - bottom + 18, "text-anchor": "middle" }, x.words(value)));
  }
  drawing.append(svg("line", { class: "axis-line", x1: left, x2: width - right, y1: height - bottom, y2: height - bottom }),
    svg("text", { class: "tick", x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, x.label),
    svg("text", { class: "tick", transform: "translate(12 " + (top + height - bottom) / 2 + ") rotate(-90)", "text-anchor": "middle" }, y.label));
  box.replaceChildren(drawing);
  return { drawing, px, py, width, height, left, right };
}
// draws now, and again when the room changes
function figure(id, draw, rows, ...events) {
  const box = $(id);
  if (!box) return;
  let before = 0;
  new ResizeObserver(() => {
    if (Math.abs(box.clientWidth - before) < 2) return;
    before = box.clientWidth;
    draw(box);
  }).observe(box);
  events.forEach((event) => on(event, () => draw(box)));
  downloads(id, rows);
}
const dot = (i, cx, cy, r) => svg("circle", { class: "dot" + (state.chosen.includes(i) ? " on" : ""), "data-object": i, tabindex: "-1", role: "button",
  "aria-label": nameOf(i), cx, cy, r, style: "fill:" + colourVar(clusterOf(i)) });

// ---- accuracy of each model
downloads("models", () => [["model", "accuracy", "low", "high"], ...data.models.scores.map((m) => [m.name, m.accuracy, m.low, m.high])], (room) => {
  const { scores, best } = data.models;
  const from = Math.min(0.5, ...scores.map((m) => m.low ?? m.accuracy));
  const { drawing, px, width } = chart(room, { from: from - 0.25 * (1 - from), to: 1 + 0.15 * (1 - from), words: (v) => (v < from || v > 1 ? "" : percent(v)), label: "held-out answers predicted, 95\u00a0% interval" },
    { from: 0, to: 1, label: "" }, 64 + 24 * scores.length, "Accuracy of each model");
  drawing.append(svg("line", { class: "half", x1: px(0.5), x2: px(0.5), y1: 10, y2: 20 + 24 * scores.length }));
  scores.forEach((m, at) => drawing.append(svg("g", { class: m.name === best ? "person flag" : "person" },
    svg("text", { class: "tick", x: 4, y: 26 + 24 * at }, m.name),
    svg("line", { x1: px(m.low ?? m.accuracy), x2: px(m.high ?? m.accuracy), y1: 22 + 24 * at, y2: 22 + 24 * at }),
    svg("circle", { cx: px(m.accuracy), cy: 22 + 24 * at, r: 4.5 }),
    svg("text", { class: "tick", x: width - 4, y: 26 + 24 * at, "text-anchor": "end" }, percent(m.accuracy, 1)))));
});

// ---- uncertainty of positions
figure("positions", (box) => {
  const known = data.objects.map((_, i) => i).filter((i) => data.objects[i].circle !== null);
  const answers = known.map((i) => data.objects[i].answers);
  const most = Math.max(0.1, ...known.map((i) => data.objects[i].circle));
  const [from, to] = [Math.min(...answers) * 0.97, Math.max(...answers) * 1.03];
  const { drawing, px, py } = chart(box, { from, to, log: to > 4 * from, words: whole, label: "answers about the object" },
    { from: 0, to: most * 1.05, words: (v) => percent(v), label: "uncertainty of position" }, 300, "Uncertainty of positions against the number of answers");
  known.forEach((i) => drawing.append(dot(i, px(data.objects[i].answers), py(data.objects[i].circle), 4.5)));
}, () => [["object", "answers", "circle", "spread"], ...data.objects.map((o) => [o.name, o.answers, o.circle, o.spread])], "k");

// ---- participants: the chart and the table point at each other
figure("people", (box) => {
  const rows = data.participants.rows.map((person, at) => ({ ...person, at })).filter((person) => person.with_prediction);
  const both = rows.filter((person) => person.with_others).length > rows.length / 2;
  const shown = rows.filter((person) => !both || person.with_others);
  const height = (person) => (both ? person.with_others.value : person.answers);
  const ys = shown.map(height);
  const [least, most] = [Math.min(0.5, ...shown.map((p) => p.with_prediction.low)), Math.max(0.6, ...shown.map((p) => p.with_prediction.high))];
  const y = both ? { from: Math.min(0.5, ...ys) - 0.03, to: Math.min(1, Math.max(...ys) + 0.03), words: (v) => percent(v), label: "agreement with others" }
    : { from: 0, to: Math.max(...ys) * 1.1, words: whole, label: "answers" };
  const { drawing, px, py } = chart(box, { from: least - 0.02, to: Math.min(1, most + 0.02), words: (v) => percent(v), label: "agreement with the model" }, y, 300, "Participants by agreement with the model");
  drawing.append(svg("line", { class: "half", x1: px(0.5), x2: px(0.5), y1: 10, y2: 256 }));
  for (const person of shown) {
    const { value, low, high } = person.with_prediction;
    const look = "person" + (person.reason ? " flag" : "");
    const mark = svg("g", { class: look, "data-row": person.at }, svg("title", {}, person.name + ": " + percent(value) + (person.reason ? ", " + person.reason : "")),
      svg("line", { x1: px(low), x2: px(high), y1: py(height(person)), y2: py(height(person)) }),
      svg("circle", { cx: px(value), cy: py(height(person)), r: person.reason ? 6 : 4.5 }));
    mark.addEventListener("click", () => markPerson(person.at, true));
    drawing.append(mark);
  }
}, () => [["participant", "answers", "agreement with the model", "low", "high", "agreement with others", "reason"], ...data.participants.rows.map((p) => [p.name, p.answers,
  ...(p.with_prediction ? [p.with_prediction.value, p.with_prediction.low, p.with_prediction.high] : ["", "", ""]), p.with_others && p.with_others.value, p.reason])]);
function markPerson(at, scroll) {
  document.querySelectorAll("[data-row]").forEach((found) => found.classList.toggle("on", Number(found.dataset.row) === at));
  const row = document.querySelector("tr[data-row='" + at + "']");
  if (scroll && row) row.scrollIntoView({ block: "nearest" });
}
document.querySelectorAll("tr[data-row]").forEach((row) => row.addEventListener("click", () => markPerson(Number(row.dataset.row), false)));

// ---- learning curve
figure("curve", (box) => {
  const { points, next_gain: gain } = data.curve;
  const best = data.models.ceiling.best_possible;
  const band = best && best.low !== null ? [best.low, best.high] : null;
  const last = points.at(-1);
  const limit = (value) => (value === null ? null : Math.min(1, last.accuracy + value));
  const ahead = gain ? [{ answers: 2 * last.answers, accuracy: limit(gain.value), low: limit(gain.low), high: limit(gain.high) }] : [];
  const edge = (p, side) => (side < 0 ? p.low : p.high) ?? p.accuracy;
  const xs = [...points, ...ahead].map((p) => p.answers);
  const lows = [0.5, ...points.map((p) => edge(p, -1)), ...ahead.map((p) => p.low ?? p.accuracy)];
  const highs = [...points.map((p) => edge(p, 1)), ...ahead.map((p) => p.high ?? p.accuracy), ...(band || [])];
  const x = { from: Math.min(...xs) * 0.94, to: Math.max(...xs) * 1.06, log: true, words: whole, label: "answers the model was fitted to" };
  const y = { from: Math.max(0, Math.floor(20 * Math.min(...lows)) / 20), to: Math.min(1, Math.max(...highs) + 0.02), words: (v) => percent(v), label: "accuracy" };
  const { drawing, px, py, width, left, right } = chart(box, x, y, 340, "Accuracy against the number of answers");
  if (band) drawing.append(svg("rect", { class: "zone", x: left, width: width - left - right, y: py(Math.min(y.to, band[1])), height: Math.max(2, py(band[0]) - py(Math.min(y.to, band[1]))) }));
  drawing.append(svg("line", { class: "half", x1: left, x2: width - right, y1: py(0.5), y2: py(0.5) }));
  const path = (list) => list.map(([a, b]) => px(a) + "," + py(b)).join(" ");
  drawing.append(svg("polygon", { class: "band", points: path([...points.map((p) => [p.answers, edge(p, -1)]), ...[...points].reverse().map((p) => [p.answers, edge(p, 1)])]) }),
    svg("polyline", { class: "line", points: path(points.map((p) => [p.answers, p.accuracy])) }));
  if (ahead.length) drawing.append(svg("polyline", { class: "line ahead", points: path([points.at(-1), ...ahead].map((p) => [p.answers, p.accuracy])) }));
  for (const p of [...points, ...ahead]) {
    const open = ahead.includes(p);
    if (open && p.low !== null) drawing.append(svg("line", { class: "line", x1: px(p.answers), x2: px(p.answers), y1: py(Math.min(1, p.high)), y2: py(p.low) }));
    drawing.append(svg("circle", { class: open ? "mark open" : "mark", cx: px(p.answers), cy: py(p.accuracy), r: 4.5 },
      svg("title", {}, whole(Math.round(p.answers)) + " answers: " + percent(p.accuracy, 1) + (open ? " expected" : ""))));
  }
}, () => [["answers", "accuracy", "low", "high"], ...data.curve.points.map((p) => [p.answers, p.accuracy, p.low, p.high])]);

// ---- the matrix: a picture with a pixel per cell, names beside it where they fit
function matrix(box, { size, cells, value, names, words, tip, click }) {
  // a typical pair has 0, the same object 1; what is far apart may go far below -1
  const largest = Math.max(...Array.from({ length: cells }, (_, r) => Math.max(...Array.from({ length: cells }, (_, c) => (r === c ? 0 : Math.abs(value(r, c))))))) || 1;
  const high = Math.min(1, largest);
  const canvas = element("canvas", { width: cells, height: cells });
  const pen = canvas.getContext("2d");
  const [cold, mid, hot] = ["--cold", "--mid", "--hot"].map((name) => [1, 3, 5].map((at) => parseInt(css(name).slice(at, at + 2), 16)));
  for (let r = 0; r < cells; r++) {
    for (let c = 0; c < cells; c++) {
      const t = Math.max(-1, Math.min(1, value(r, c) / high));
      pen.fillStyle = "rgb(" + mid.map((m, at) => Math.round(m + Math.abs(t) * ((t < 0 ? cold : hot)[at] - m))).join(",") + ")";
      pen.fillRect(c, r, 1, 1);
    }
  }
  const width = Math.max(260, Math.min(640, box.clientWidth));
  const short = names.map((text) => shortened(text, 24));
  const label = size <= 60 ? Math.max(...short.map((text) => textWidth(text))) + 10 : 0;
  const side = width - label;
  const step = side / size;
  const font = Math.min(12, step * 0.9);
  const drawing = svg("svg", { class: "matrix", viewBox: "0 0 " + width + " " + side, width, height: side, role: "img", "aria-label": words });
  drawing.append(svg("image", { href: canvas.toDataURL(), x: label, y: 0, width: side, height: side, preserveAspectRatio: "none", style: "image-rendering:pixelated" }));
  if (label && font > 6) {
    short.forEach((text, at) => drawing.append(svg("text", { class: "tick", x: label - 6, y: step * (at + 0.5) + font * 0.35, "text-anchor": "end", style: "font-size:" + font + "px" }, text)));
  }
  const marks = svg("g", {});
  drawing.append(marks);
  const cell = (event) => {
    const area = drawing.getBoundingClientRect();
    const k = width / area.width;
    const place = (v, off) => Math.floor((v * k - off) / step);
    const found = [place(event.clientY - area.top, 0), place(event.clientX - area.left, label)];
    return found.every((v) => v >= 0 && v < size) ? found : null;
  };
  drawing.addEventListener("pointermove", (event) => { const found = cell(event); if (found) showTip(event.clientX, event.clientY, ...tip(...found)); else hideTip(); });
  drawing.addEventListener("pointerleave", hideTip);
  drawing.addEventListener("click", (event) => { const found = cell(event); if (found) click(...found); });
  box.replaceChildren(drawing);
  $("key-low").textContent = "\u2212" + high.toFixed(2) + (largest > 1 ? " or less" : "");
  $("key-high").textContent = high.toFixed(2);
  return (rows) => marks.replaceChildren(...rows.flatMap((r) => [
    svg("rect", { class: "mark-line", x: label, y: r * step, width: side, height: step }), svg("rect", { class: "mark-line", x: label + r * step, y: 0, width: step, height: side })]));
}
let markMatrix = () => {};
figure("matrix", (box) => {
  const { order, block, values } = data.matrix;
  markMatrix = matrix(box, {
    size: order.length, cells: values.length, value: (r, c) => values[r][c], names: order.map(nameOf), words: "Similarity matrix in the order of the tree",
    tip: (r, c) => {
      const [i, j] = [order[r], order[c]];
      return [element("div", { class: "row" }, ...[i, j].filter((x) => thumbs[x]).map((x) => picture(x))),
        element("strong", {}, element("bdi", {}, nameOf(i)), i === j ? "" : " and ", i === j ? "" : element("bdi", {}, nameOf(j))),
        element("span", { class: "soft num" }, i === j ? "with itself" : (block > 1 ? "similarity around " : "similarity ") + values[Math.floor(r / block)][Math.floor(c / block)].toFixed(2))];
    },
    click: (r, c) => choose(r === c ? [order[r]] : [order[r], order[c]]),
  });
}, () => {
  const { order, block, values } = data.matrix;
  return [["", ...order.map((i) => data.objects[i].name)], ...order.map((i, r) => [data.objects[i].name, ...order.map((_, c) => values[Math.floor(r / block)][Math.floor(c / block)])])];
}, "theme");
on("chosen", () => {
  if (!data.matrix) return;
  const rowOf = new Map(data.matrix.order.map((object, at) => [object, at]));
  markMatrix(state.chosen.length > 60 ? [] : state.chosen.filter((i) => rowOf.has(i)).map((i) => rowOf.get(i)));
});
// ---- two groups: their maps side by side, lines from where one sees an object to where the other does
(data.groups ? data.groups.pairs : []).forEach((pair, number) => figure("groups-" + number, (box) => {
  const [W, H] = [380, Math.round(380 * pair.height)];
  box.replaceChildren(...[0, 1].map((which) => {
    const drawing = svg("svg", { viewBox: "0 0 " + W + " " + (H + 24), role: "img", "aria-label": "Map of " + pair.names[which] },
      svg("text", { x: W / 2, y: 14, "text-anchor": "middle", class: "groups-title" }, pair.names[which]));
    const sheet = svg("g", { transform: "translate(0 24)" }, svg("rect", { x: 0.5, y: 0.5, width: W - 1, height: H - 1, rx: 6, class: "groups-frame" }));
    for (const spot of pair.spots) {
      const [here, there, beyond, beside] = [spot.at[which], spot.at[1 - which], spot.beyond[which], spot.name_at[which]];
      if (!here) continue;
      const look = spot.moves ? "groups-moved" : "groups-spot";
      if (spot.moves && there) sheet.append(svg("line", { class: "groups-line", x1: W * here[0], y1: W * here[1], x2: W * there[0], y2: W * there[1] }));
      const mark = beyond === null ? svg("circle", { cx: W * here[0], cy: W * here[1], r: spot.moves ? 4 : 3, class: look })
        : svg("path", { d: "M7 0L-5 -5L-5 5Z", transform: "translate(" + W * here[0] + " " + W * here[1] + ") rotate(" + beyond + ")", class: look });
      mark.append(svg("title", {}, spot.name));
      sheet.append(mark);
      if (beside) sheet.append(svg("text", { x: W * beside[0], y: W * beside[1], class: "groups-name" + (spot.moves ? " moved" : "") }, shortened(spot.name, 24)));
    }
    drawing.append(sheet);
    return drawing;
  }));
}, () => [["object", "moves", ...pair.names.flatMap((name) => [name + " x", name + " y"])], ...pair.spots.map((spot) => [spot.name, spot.moves, ...spot.at.flatMap((at) => at || ["", ""])])]));
