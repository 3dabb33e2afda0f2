"use strict";
// Everything about the page that is not drawing: data, selection, names, pictures.
// Names come from people who answered a survey. They enter the page as text nodes and attributes, never as markup.
const read = (id) => JSON.parse(document.getElementById(id).textContent);
const $ = (id) => document.getElementById(id);
const data = read("nf-data");
const thumbs = read("nf-thumbs");
const tree = data.tree || { cuts: [], n_clusters: 0, rows: [], leaves: [], merges: [] };
const cutOf = new Map(tree.cuts.map((cut) => [cut.n_clusters, cut]));
const explained = data.explained || { categories: {} };
const state = { chosen: [], k: tree.n_clusters, map: 0, by: "" };
const listeners = { chosen: [], k: [], map: [], by: [], theme: [] };
const on = (what, act) => listeners[what].push(act);
const tell = (what) => listeners[what].forEach((act) => act());

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "on") Object.entries(value).forEach(([event, act]) => made.addEventListener(event, act));
    else if (key === "style") Object.entries(value).forEach(([name, v]) => made.style.setProperty(name, v));
    else made.setAttribute(key, value);
  }
  for (const child of children) if (child !== null && child !== undefined) made.append(child);
  return made;
}
const percent = (value, digits = 0) => (value === null || value === undefined ? "–" : (100 * value).toFixed(digits) + "\u00a0%");
const whole = (value) => value.toLocaleString("en");
const css = (variable) => getComputedStyle(document.documentElement).getPropertyValue(variable).trim();
const SVG = "http://www.w3.org/2000/svg";
function svg(tag, attributes, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes || {})) if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
const pen = document.createElement("canvas").getContext("2d");
function textWidth(text) {
  pen.font = "12px " + css("--font");
  return pen.measureText(text).width;
}
const nameOf = (i) => data.objects[i].display_name;
const clusterOf = (i) => (cutOf.size ? cutOf.get(state.k).labels[i] : -1);
const colourVar = (cluster) => (cluster < 0 ? "var(--soft)" : "var(--c" + (cluster % 12) + ")");
// colours of the map: by cluster, or by a property, its most frequent categories first; beyond eleven they share the soft one
function categories() {
  const counts = new Map();
  explained.categories[state.by].forEach((value) => { if (value) counts.set(value, (counts.get(value) || 0) + 1); });
  return [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a) || a.localeCompare(b)).slice(0, 11);
}
function mapColours() {
  if (!state.by) return (i) => colourVar(clusterOf(i));
  const order = categories();
  return (i) => colourVar(order.indexOf(explained.categories[state.by][i]));
}

function picture(i, name = "thumb") {
  const thumb = thumbs[i];
  if (thumb) return element("img", { class: name, src: thumb[0], alt: nameOf(i), decoding: "async", draggable: "false" });
  // the style sheet gives a name as many lines as there is room for, and an ellipsis after them
  return element("span", { class: name === "thumb" ? "noimg" : name + " noimg" }, element("span", { dir: "auto" }, nameOf(i)));
}
function name(i) {
  return element("bdi", { class: "name", title: nameOf(i) }, nameOf(i));
}
function tile(i, more = "") {
  const cluster = clusterOf(i);
  return element("button", {
    type: "button", class: "tile " + more + (state.chosen.includes(i) ? " on" : ""), "data-object": i,
    "aria-label": nameOf(i) + (cluster >= 0 ? ", cluster " + (cluster + 1) : ""),
  }, picture(i));
}
function row(i, bit) {
  // a name says no more the second time: without a picture there is only a mark in the colour of the cluster
  const mark = thumbs[i] ? picture(i) : element("span", { class: "chip", style: { "--c": colourVar(clusterOf(i)) } });
  return element("li", {}, element("button", { type: "button", "data-object": i }, mark, name(i), element("span", { class: "bit num" }, bit)));
}

// ---- selection: one list of objects, shown by every view
function choose(objects) {
  const same = objects.length === state.chosen.length && objects.every((i, at) => i === state.chosen[at]);
  if (same) return;
  state.chosen = objects;
  tell("chosen");
}
document.addEventListener("click", (event) => {
  const found = event.target.closest("[data-object]");
  if (!found) return;
  const i = Number(found.dataset.object);
  if (event.shiftKey || event.ctrlKey || event.metaKey) {
    choose(state.chosen.includes(i) ? state.chosen.filter((j) => j !== i) : [...state.chosen, i]);
  } else {
    choose(state.chosen.length === 1 && state.chosen[0] === i && !found.closest("#panel") ? [] : [i]);
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") { choose([]); hideTip(); }
});
on("chosen", () => {
  const chosen = new Set(state.chosen);
  document.querySelectorAll(".tile[data-object], .leaf[data-object], .dot[data-object], .spot[data-object]").forEach((found) => {
    found.classList.toggle("on", chosen.has(Number(found.dataset.object)));
  });
  ["clusters", "tree", "positions"].forEach((id) => $(id) && $(id).classList.toggle("some", chosen.size > 0));
  const bar = $("chosen");
  bar.hidden = chosen.size === 0;
  if (!chosen.size) return;
  const first = state.chosen[0];
  const words = chosen.size === 1 ? name(first) : element("span", {}, whole(chosen.size) + " objects");
  const away = element("button", { class: "btn", type: "button", on: { click: () => choose([]) } }, "Clear");
  const show = element("button", { class: "btn", type: "button", on: { click: () => $("map").scrollIntoView({ block: "center" }) } }, "Show on map");
  bar.replaceChildren(...(thumbs[first] ? [picture(first)] : []), words, ...($("map") ? [show] : []), away);
});

// ---- what follows the pointer
function tipFor(i) {
  const object = data.objects[i];
  const cluster = clusterOf(i);
  const words = [];
  if (cluster >= 0) words.push("cluster " + (cluster + 1));
  if (object.group) words.push(object.group);
  words.push(whole(object.answers) + " answers");
  const head = element("div", { class: "row" }, thumbs[i] ? picture(i) : null, element("div", {},
    element("strong", {}, element("bdi", {}, nameOf(i))), element("span", { class: "soft" }, words.join(" · "))));
  const near = element("div", { class: "near" }, "near", ...object.neighbours.slice(0, 5).map((other) => picture(other.object)));
  return [head, ...(object.neighbours.length ? [near] : [])];
}
function showTip(x, y, ...children) {
  const tip = $("tip");
  tip.replaceChildren(...children);
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const left = x + 18 + width > innerWidth ? x - width - 14 : x + 18;
  const top = y + 18 + height > innerHeight ? y - height - 14 : y + 18;
  tip.style.transform = "translate(" + Math.max(4, left) + "px," + Math.max(4, top) + "px)";
}
function hideTip() { $("tip").hidden = true; }
document.addEventListener("pointerover", (event) => {
  if (event.pointerType === "touch") return;
  const found = event.target.closest("[data-object]");
  if (found) showTip(event.clientX, event.clientY, ...tipFor(Number(found.dataset.object)));
});
document.addEventListener("pointerout", (event) => {
  if (event.target.closest("[data-object]")) hideTip();
});
addEventListener("scroll", hideTip, { passive: true });

// ---- light and dark
function setTheme(theme, keep) {
  document.documentElement.dataset.theme = theme;
  if (keep) { try { localStorage.setItem("nearfar-theme", theme); } catch (error) { /* a local file may not store */ } }
  tell("theme");
}
$("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark", true));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => setTheme(event.matches ? "dark" : "light", false));
let beforePrint = null;
addEventListener("beforeprint", () => { beforePrint = document.documentElement.dataset.theme; setTheme("light", false); });
addEventListener("afterprint", () => setTheme(beforePrint || "light", false));

// ---- where in the page the reader is
const links = [...document.querySelectorAll(".bar nav a")];
const seen = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    links.forEach((link) => {
      if (link.hash === "#" + entry.target.id) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
  }
}, { rootMargin: "-20% 0px -70% 0px" });
document.querySelectorAll("main > section").forEach((section) => seen.observe(section));

// ---- every figure can be taken along: as SVG, as it looks, and as CSV, the numbers in it
const LOOK = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "opacity", "font-family", "font-size", "font-weight", "text-anchor", "dominant-baseline"];
function save(name, kind, text) {
  const link = element("a", { href: URL.createObjectURL(new Blob([text], { type: kind })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
function asSvg(drawing) {
  const copy = drawing.cloneNode(true);
  const own = [drawing, ...drawing.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((part, at) => {
    const look = getComputedStyle(own[at]);
    part.setAttribute("style", LOOK.map((property) => property + ":" + look.getPropertyValue(property)).join(";"));
  });
  const { width, height } = drawing.getBoundingClientRect();
  copy.setAttribute("xmlns", SVG);
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  copy.prepend(svg("rect", { width: "100%", height: "100%", fill: css("--card") }));
  return new XMLSerializer().serializeToString(copy);
}
function asCsv(rows) {
  // a cell that a spreadsheet would take for a formula gets an apostrophe
  const cell = (value) => {
    const text = value === null || value === undefined ? "" : typeof value === "string" && /^[=+@\t\r-]/.test(value) ? "'" + value : String(value);
    return /[",\n\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  };
  return rows.map((row) => row.map(cell).join(",")).join("\n") + "\n";
}
function downloads(id, rows, draw) {
  // draw : makes the drawing of a figure that is a table on the page, for as long as it is taken along
  const box = $(id);
  if (!box) return;
  const button = (words, act) => element("button", { class: "save", type: "button", "aria-label": "Download this figure as " + words, on: { click: act } }, words);
  box.after(element("p", { class: "saves" }, "Download ",
    button("SVG", () => {
      const room = draw && box.appendChild(element("div", { class: "room" }));
      if (room) draw(room);
      box.querySelectorAll("svg").forEach((drawing, at) => save(id + (at ? "-" + (at + 1) : "") + ".svg", "image/svg+xml", asSvg(drawing)));
      if (room) room.remove();
    }),
    " ", button("CSV", () => save(id + ".csv", "text/csv", asCsv(rows())))));
}
