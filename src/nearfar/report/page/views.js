// Rows of pictures, the panel, the legend, the lists: plain DOM, filled from the data.
function fill(id, children) {
  const found = $(id);
  if (found) found.replaceChildren(...children);
}

function members(cluster) {
  const cut = cutOf.get(state.k);
  const medoid = cut.medoids[cluster];
  const all = data.objects.map((_, i) => i).filter((i) => cut.labels[i] === cluster && i !== medoid);
  const near = new Map(data.objects[medoid].neighbours.map((other, at) => [other.object, at]));
  const order = new Map(tree.leaves.map((i, at) => [i, at]));
  const far = (i) => (near.has(i) ? near.get(i) : 1000 + Math.abs(order.get(i) - order.get(medoid)));
  return [medoid, ...all.sort((a, b) => far(a) - far(b))];
}
function drawClusters() {
  if (!cutOf.size) return;
  const cut = cutOf.get(state.k);
  const rows = [];
  for (let c = 0; c < state.k; c++) {
    const list = members(c);
    const kept = list.map((i) => (cut.kept ? cut.kept[i] : null)).filter((v) => v !== null);
    const mean = kept.length ? kept.reduce((a, b) => a + b, 0) / kept.length : null;
    const title = element("div", { class: "title" },
      element("h3", {}, "Cluster " + (c + 1)),
      element("span", { class: "soft" }, whole(list.length) + (list.length === 1 ? " object" : " objects") + ", medoid ", element("bdi", {}, nameOf(list[0]))),
      mean === null ? null : element("span", { class: "soft" }, "objects stay in this cluster in " + percent(mean) + " of resamples"));
    rows.push(element("div", { class: "cluster", style: { "--c": colourVar(c) } }, title,
      element("div", { class: "tiles" }, ...list.map((i, at) => tile(i, at ? "" : "first")))));
  }
  fill("clusters", rows);
}
// the legend of the map: clusters, or the categories of a property
function drawLegend() {
  const key = (words, colour, list) => element("li", {}, element("button", { type: "button", on: { click: () => choose(list) }, "aria-label": "Select " + words },
    element("span", { class: "chip", style: { "--c": colour } }), element("bdi", {}, words)));
  if ($("aid")) $("aid").hidden = state.by !== "";
  if (!state.by) {
    fill("legend", cutOf.size ? [...Array(state.k).keys()].map((c) => key((data.tree.found ? "Cluster " : "Branch ") + (c + 1), colourVar(c), members(c))) : []);
    return;
  }
  const values = explained.categories[state.by];
  const order = categories();
  const having = (test) => values.map((_, i) => i).filter((i) => test(values[i]));
  const rest = having((value) => !order.includes(value));
  fill("legend", [...order.map((value, c) => key(value, colourVar(c), having((other) => other === value))),
    ...(rest.length ? [key(values.some((value) => value && !order.includes(value)) ? "other or unknown" : "unknown", colourVar(-1), rest)] : [])]);
}

function drawPanel() {
  const panel = $("panel");
  if (!panel) return;
  if (!state.chosen.length) {
    panel.replaceChildren(
      element("h3", {}, "Pick an object"),
      element("p", { class: "soft" }, "Click one to see its nearest neighbours here and to find it in every view."),
      element("p", { class: "soft" }, "By keyboard: the search field, or Tab, arrow keys and Enter in the tree."));
    return;
  }
  if (state.chosen.length > 1) {
    panel.replaceChildren(element("h3", {}, whole(state.chosen.length) + " objects"),
      element("ul", { class: "list" }, ...state.chosen.slice(0, 200).map((i) => row(i, "cluster " + (clusterOf(i) + 1)))),
      ...(state.chosen.length > 200 ? [element("p", { class: "soft" }, "and " + whole(state.chosen.length - 200) + " more")] : []));
    return;
  }
  const i = state.chosen[0];
  const object = data.objects[i];
  const cluster = clusterOf(i);
  const cut = cutOf.get(state.k);
  const facts = [];
  const fact = (term, value) => facts.push(element("dt", {}, term), element("dd", { class: "num" }, value));
  if (object.name !== object.display_name) fact("Name", element("bdi", {}, object.name));
  if (object.group) fact("Category", element("bdi", {}, object.group));
  if (cluster >= 0) fact(data.tree.found ? "Cluster" : "Branch", element("span", {}, element("span", { class: "chip", style: { "--c": colourVar(cluster) } }),
    String(cluster + 1) + (cut.kept && cut.kept[i] !== null ? ", in " + percent(cut.kept[i]) + " of resamples" : "")));
  if (object.circle !== null) fact("Position", "within " + percent(object.circle) + " of the map's radius");
  else if (unplaced(object)) fact("Position", "too few answers to say");
  fact("Answers", whole(object.answers));
  if (object.outlier) fact("Outlier", "less similar to its neighbours than most");
  panel.replaceChildren(
    ...(thumbs[i] ? [picture(i, "big")] : []),
    element("h3", {}, element("bdi", {}, object.display_name)),
    element("dl", {}, ...facts),
    object.neighbours.length ? element("h3", {}, "Nearest neighbours") : element("p", { class: "soft" }, "This object has no usable answer."),
    element("ul", { class: "list" }, ...object.neighbours.map((other) => row(other.object, other.similarity.toFixed(2)))));
}

// whether so few answers concern an object that nothing is said of its location, though others have theirs
function unplaced(object) {
  return object.informed && object.circle === null && data.objects.some((other) => other.circle !== null);
}
function strip(objects, words) {
  return objects.map((i) => element("li", {}, tile(i), thumbs[i] ? name(i) : null, element("span", { class: "soft num" }, words(data.objects[i]))));
}
function drawLists() {
  const known = data.objects.map((_, i) => i);
  const outliers = known.filter((i) => data.objects[i].outlier).sort((a, b) => data.objects[b].unusual - data.objects[a].unusual);
  fill("odd", strip(outliers.slice(0, 24), (object) => (1 - object.unusual).toFixed(2)));
  (data.dimensions ? data.dimensions.found : []).forEach((each, at) => {
    const value = new Map(each.objects.map((i, k) => [data.objects[i], each.values[k]]));
    fill("dimension-" + at, strip(each.objects, (object) => value.get(object).toFixed(2)));
  });
  const unplacedNames = known.filter((i) => !data.objects[i].informed);
  fill("uninformed", unplacedNames.flatMap((i, at) => [at ? ", " : "", element("bdi", {}, nameOf(i))]));
}

// ---- the search field knows every object by its display name, and by its name where display names repeat
const byText = new Map();
data.objects.forEach((object, i) => {
  if (!byText.has(object.name)) byText.set(object.name, i);
});
const listedNames = data.objects.map((object, i) => {
  const text = byText.has(object.display_name) && byText.get(object.display_name) !== i ? object.name : object.display_name;
  byText.set(text, i);
  return text;
});
if ($("find")) {
  fill("names", listedNames.map((text) => element("option", { value: text })));
  const look = () => {
    const wanted = $("find").value;
    let i = byText.get(wanted);
    if (i === undefined && wanted) {
      const lower = wanted.toLowerCase();
      const hits = listedNames.filter((text) => text.toLowerCase().includes(lower));
      if (hits.length) i = byText.get(hits[0]);
    }
    if (i !== undefined) choose([i]);
  };
  $("find").addEventListener("change", look);
  $("find").addEventListener("input", () => { if (byText.has($("find").value)) look(); });
}
document.querySelectorAll("[data-copy]").forEach((button) => button.addEventListener("click", async () => {
  const from = $(button.dataset.copy);
  try { await navigator.clipboard.writeText(from.textContent); } catch (error) {
    getSelection().selectAllChildren(from);
    document.execCommand("copy");
  }
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
}));
on("k", drawClusters);
on("k", drawLegend);
on("by", drawLegend);
on("k", drawPanel);
on("chosen", drawPanel);
drawClusters();
drawLegend();
drawPanel();
drawLists();
