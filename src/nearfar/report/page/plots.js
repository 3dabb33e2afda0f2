// Bokeh's figures: put into the page, coloured from the style sheet, and tied to the selection.
const plots = read("nf-plots");
let doc = null;
const model = (modelName) => doc.get_model_by_name(modelName);

function themePlots() {
  const [ink, soft, line, card, accent] = ["--ink", "--soft", "--line", "--card", "--accent"].map(css);
  const [cold, mid, hot] = ["--cold", "--mid", "--hot"].map(css);
  for (const plot of doc.roots()) {
    for (const axis of [...plot.above, ...plot.below, ...plot.left, ...plot.right]) {
      if ("axis_line_color" in axis) {
        axis.setv({ axis_line_color: line, major_tick_line_color: line, major_label_text_color: soft, axis_label_text_color: soft,
          major_label_text_font: css("--font"), axis_label_text_font: css("--font"), major_label_text_font_size: "12px", axis_label_text_font_size: "12px" });
      }
    }
    for (const part of plot.center) {
      if ("grid_line_color" in part) part.setv({ grid_line_color: line });
      else if (part.name && part.name.endsWith("-half")) part.setv({ line_color: soft });
      else if (part.name && part.name.endsWith("-usual")) part.setv({ line_color: accent });
      else if (part.name === "curve-ceiling") part.setv({ fill_color: accent });
      else if (part.name === "curve-whisker") themeWhisker(part, accent);
      else if ("fill_color" in part && "base" in part) part.setv({ fill_color: accent });
    }
    for (const renderer of plot.renderers) themeGlyphs(renderer, { ink, card, accent });
  }
  const colours = model("matrix-colours");
  if (colours) colours.palette = blend(cold, mid, hot);
}
function themeWhisker(part, accent) {
  part.setv({ line_color: accent });
  for (const head of [part.upper_head, part.lower_head]) if (head) head.setv({ line_color: accent });
}
function themeGlyphs(renderer, look) {
  if (!renderer.glyph) return;
  for (const glyph of [renderer.glyph, renderer.nonselection_glyph, renderer.selection_glyph, renderer.muted_glyph]) {
    if (!glyph || !glyph.setv) continue;
    if (renderer.name === "map-text") glyph.setv({ text_color: { value: look.ink }, text_font: { value: css("--font") } });
    else if (/^(open|line|solid)$/.test(renderer.name || "")) {
      if (renderer.name === "open") glyph.setv({ fill_color: { value: look.card }, line_color: { value: look.accent } });
      else if (renderer.name === "line") glyph.setv({ line_color: { value: look.accent } });
      else glyph.setv({ fill_color: { value: look.accent }, line_color: { value: look.card } });
    } else if (renderer.name === "bars") glyph.setv({ fill_color: { value: look.accent } });
    else if ((renderer.name || "").startsWith("matrix-")) glyph.setv({ line_color: { value: look.ink } });
    else if ((renderer.name || "").endsWith("dots")) glyph.setv({ line_color: { value: look.card } });
  }
}
function blend(...corners) {
  const rgb = corners.map((colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)));
  const steps = 128;
  return Array.from({ length: 2 * steps + 1 }, (_, i) => {
    const [a, b, t] = i <= steps ? [rgb[0], rgb[1], i / steps] : [rgb[1], rgb[2], (i - steps) / steps];
    return "#" + a.map((value, c) => Math.round(value + t * (b[c] - value)).toString(16).padStart(2, "0")).join("");
  });
}

function colourObjects() {
  const source = model("objects");
  source.data = { ...source.data, colour: data.objects.map((_, i) => colourOf(clusterOf(i))) };
}

function linkSelection() {
  const source = model("objects");
  source.selected.properties.indices.change.connect(() => choose([...source.selected.indices]));
  on("chosen", () => {
    const now = [...source.selected.indices];
    if (now.length !== state.chosen.length || now.some((i, at) => i !== state.chosen[at])) source.selected.indices = [...state.chosen];
  });
}

// ---- kernel matrix: what the pointer is on, and marks for the selected objects
function linkMatrix() {
  const box = $("matrix");
  if (!box) return;
  const order = data.matrix.order;
  const at = (event) => {
    const area = box.getBoundingClientRect();
    const cell = (value, size) => Math.min(order.length - 1, Math.max(0, Math.floor((value / size) * order.length)));
    return [order[cell(event.clientY - area.top, area.height)], order[cell(event.clientX - area.left, area.width)]];
  };
  const value = (i, j) => {
    const block = data.matrix.block;
    const [r, c] = [order.indexOf(i), order.indexOf(j)];
    return data.matrix.values[Math.floor(r / block)][Math.floor(c / block)];
  };
  box.addEventListener("pointermove", (event) => {
    const [i, j] = at(event);
    showTip(event.clientX, event.clientY,
      element("div", { class: "row" }, ...[i, j].filter((x) => thumbs[x]).map((x) => picture(x))),
      element("strong", {}, element("bdi", {}, nameOf(i)), i === j ? "" : " and ", i === j ? "" : element("bdi", {}, nameOf(j))),
      element("span", { class: "soft num" }, i === j ? "with itself" : (data.matrix.block > 1 ? "agreement around " : "agreement ") + value(i, j).toFixed(2)));
  });
  box.addEventListener("pointerleave", hideTip);
  box.addEventListener("click", (event) => { const [i, j] = at(event); choose(i === j ? [i] : [i, j]); });
  const marks = model("matrix-marks");
  on("chosen", () => {
    const rowOf = new Map(order.map((object, p) => [object, p]));
    const list = state.chosen.length > 60 ? [] : state.chosen.filter((i) => rowOf.has(i));
    marks.data = { at: list.map((i) => rowOf.get(i) + 0.5) };
  });
}

// ---- participants: the plot and the table point at each other
function linkPeople() {
  const source = model("of-people");
  if (!source) return;
  const rows = [...document.querySelectorAll(".people tbody tr")];
  const colours = () => {
    source.data = { ...source.data, colour: data.flagged.map((flag) => css(flag ? "--fair" : "--accent")) };
  };
  on("theme", colours);
  colours();
  source.selected.properties.indices.change.connect(() => {
    rows.forEach((found) => found.classList.toggle("on", source.selected.indices.includes(Number(found.dataset.person))));
    const first = rows.find((found) => found.classList.contains("on"));
    if (first) first.scrollIntoView({ block: "nearest" });
  });
  rows.forEach((found) => found.addEventListener("click", () => { source.selected.indices = [Number(found.dataset.person)]; }));
}

// Bokeh keeps every touch for itself; give the vertical ones back, so that a finger can scroll past a plot
function calmTouch(box, keepTouch) {
  const canvas = box.firstElementChild && box.firstElementChild.shadowRoot.querySelector(".bk-Canvas");
  if (!canvas || !canvas.shadowRoot) return;
  let style = canvas.shadowRoot.querySelector("style[data-nearfar]");
  if (!style) {
    style = element("style", { "data-nearfar": "" });
    canvas.shadowRoot.append(style);
  }
  style.textContent = ".bk-events { touch-action: " + (keepTouch ? "none" : "pan-y") + " !important; }"
    + " .bk-events:focus:not(:focus-visible) { outline: none !important; }";
}

async function start() {
  const roots = {};
  for (const [plotName, id] of Object.entries(plots.roots)) {
    const box = document.querySelector('[data-plot="' + plotName + '"]');
    if (box && !box.id) box.id = "plot-" + plotName;
    if (box) roots[id] = box.id;
  }
  if (Bokeh.logger) Bokeh.logger.set_level("error");
  await Bokeh.embed.embed_items({ report: plots.document }, [{ docid: "report", roots, root_ids: Object.keys(roots) }]);
  doc = Bokeh.documents[Bokeh.documents.length - 1];
  document.querySelectorAll("[data-plot]").forEach((box) => calmTouch(box, false));
  themePlots();
  colourObjects();
  linkSelection();
  linkMatrix();
  linkPeople();
  on("k", colourObjects);
  on("theme", () => { themePlots(); colourObjects(); });
  if ($("map")) startMap();
  document.documentElement.dataset.ready = "true";
}
