// The dendrogram as SVG: root on top, pictures below the leaves, staggered in rows where they would not fit side by side.
const TREE = { height: 300, top: 18, axis: 46, right: 4, most: 120 };

function treeNodes() {
  // rows of SciPy's linkage -> nodes; a node far down is folded into a leaf where there are too many
  const count = tree.rows.length;
  const nodes = tree.rows.map((object, i) => ({ id: i, object, height: 0, size: 1, children: null }));
  tree.merges.forEach(([a, b, height, size], i) => {
    nodes.push({ id: count + i, object: null, height, size, children: [nodes[a], nodes[b]] });
  });
  return nodes;
}
const nodes = tree.merges.length ? treeNodes() : [];
const root = nodes[nodes.length - 1];

function foldedLeaves() {
  if (!root) return [];
  const fold = tree.rows.length > TREE.most;
  const limit = fold ? nodes.length - TREE.most + 1 : -1; // nodes made before this are folded
  const leaves = [];
  const walk = (node) => {
    if (!node.children || (fold && node.id < limit)) { leaves.push(node); return; }
    node.children.forEach(walk);
  };
  walk(root);
  return leaves;
}
const below = (node) => (node.children ? node.children.flatMap(below) : [node.object]);

function drawTree() {
  const box = $("tree");
  if (!box || !root) return;
  const leaves = foldedLeaves();
  const withPictures = Object.keys(thumbs).length > 0;
  const room = Math.max(300, box.clientWidth - 40);
  const least = withPictures ? 8 : 12;
  const guess = Math.max(least, (room - TREE.axis) / leaves.length);
  const side = withPictures ? Math.round(Math.min(64, Math.max(38, guess * 3.4))) : 0;
  const margin = Math.max(0, side / 2 - guess / 2) + 3; // so that the last picture is whole
  const left = TREE.axis + margin;
  const step = Math.max(least, (room - left - margin) / leaves.length);
  const width = left + margin + step * leaves.length;
  const rows = withPictures ? Math.max(1, Math.ceil((side + 5) / step)) : 1;
  const joins = leaves.some((leaf) => leaf.children) ? leaves : nodes;
  const lowest = Math.min(...joins.filter((node) => node.children).map((node) => node.height));
  const base = lowest < 0.25 * root.height ? 0 : lowest - 0.1 * (root.height - lowest);
  const y = (height) => TREE.top + TREE.height * (1 - (Math.max(height, base) - base) / (root.height - base || 1));
  const floor = TREE.top + TREE.height;
  const depth = withPictures ? rows * (side + 6) + 14 : 130;
  const drawing = svg("svg", { width, height: floor + depth, viewBox: "0 0 " + width + " " + (floor + depth), role: "group", "aria-label": "Tree of the objects; arrow keys move between leaves" });
  drawAxis(drawing, base, y, width);
  leaves.forEach((leaf, at) => { leaf.x = left + step * (at + 0.5); });
  const folded = new Set(leaves);
  const place = (node) => {
    if (!folded.has(node)) node.x = (place(node.children[0]) + place(node.children[1])) / 2;
    return node.x;
  };
  place(root);
  const cut = cutOf.get(state.k);
  drawBranches(drawing, cut, y, floor, folded);
  const look = { floor, side, rows, cut, withPictures };
  if (withPictures) leaves.forEach((leaf, at) => drawing.append(drawLead(leaf, at, look)));
  leaves.forEach((leaf, at) => drawing.append(drawLeaf(leaf, at, look)));
  drawBadges(drawing, cut, y, folded);
  box.replaceChildren(drawing);
  $("tree-note").textContent = leaves.length < tree.rows.length
    ? "Each of the " + leaves.length + " leaves stands for a branch of the tree; + says how many more objects it holds."
    : "";
  const first = drawing.querySelector(".leaf");
  if (first) first.setAttribute("tabindex", "0");
}

function drawAxis(drawing, base, y, width) {
  const span = root.height - base;
  const stepSize = span > 1.2 ? 0.5 : span > 0.5 ? 0.2 : span > 0.2 ? 0.1 : 0.05;
  for (let h = Math.ceil(base / stepSize) * stepSize; h <= root.height + 1e-9; h += stepSize) {
    drawing.append(svg("line", { class: "rule", x1: TREE.axis - 8, x2: width, y1: y(h), y2: y(h) }),
      svg("text", { class: "axis", x: TREE.axis - 12, y: y(h) + 4, "text-anchor": "end" }, h.toFixed(stepSize < 0.1 ? 2 : 1)));
  }
  drawing.append(svg("text", { class: "axis", transform: "translate(10 " + (TREE.top + TREE.height / 2) + ") rotate(-90)", "text-anchor": "middle" }, "distance"));
}

const clusterOfNode = (node, cut) => {
  // the cluster of a node that lies below the cut, else -1
  if (node.id >= nodes.length - (cut.n_clusters - 1)) return -1;
  let at = node;
  while (at.children) at = at.children[0];
  return cut.labels[at.object];
};

function drawBranches(drawing, cut, y, floor, folded) {
  const walk = (node) => {
    if (folded.has(node)) return;
    const cluster = clusterOfNode(node, cut);
    const stroke = cluster < 0 ? "var(--soft)" : colourVar(cluster);
    const [a, b] = node.children;
    const foot = (child) => (folded.has(child) ? (child.children ? y(child.height) : floor) : y(child.height));
    drawing.append(svg("path", { class: "branch", stroke,
      d: "M" + a.x + " " + foot(a) + "V" + y(node.height) + "H" + b.x + "V" + foot(b) }));
    walk(a);
    walk(b);
  };
  walk(root);
}

function drawBadges(drawing, cut, y, folded) {
  const roots = [];
  const walk = (node) => {
    if (clusterOfNode(node, cut) >= 0 || !node.children || folded.has(node)) { roots.push(node); return; }
    node.children.forEach(walk);
  };
  walk(root);
  for (const node of roots) {
    const cluster = cut.labels[below(node)[0]];
    const at = node.children && !folded.has(node) ? y(node.height) : y(0);
    const words = "Select cluster " + (cluster + 1);
    drawing.append(svg("g", { class: "badge", "data-cluster": cluster, tabindex: "0", role: "button", "aria-label": words },
      svg("title", {}, words), svg("circle", { cx: node.x, cy: at, r: 9, fill: colourVar(cluster) }), svg("text", { x: node.x, y: at + 4 }, String(cluster + 1))));
  }
}

// at most so many letters, the last an ellipsis where some are missing
const shortened = (text, most) => { const letters = [...text]; return letters.length > most ? letters.slice(0, Math.max(0, most - 1)).join("") + "…" : text; };
const leafTop = (at, look) => look.floor + 8 + (at % look.rows) * (look.side + 6);
// from a leaf down to its picture, behind all pictures
function drawLead(leaf, at, look) {
  const colour = colourVar(look.cut.labels[below(leaf)[0]]);
  return svg("line", { class: "lead", stroke: colour, x1: leaf.x, x2: leaf.x, y1: look.floor, y2: leafTop(at, look) });
}
function drawLeaf(leaf, at, look) {
  const objects = below(leaf);
  const cut = look.cut;
  const cluster = cut.labels[objects[0]];
  const object = objects.length === 1 ? objects[0] : typical(objects);
  const colour = colourVar(cluster);
  const words = nameOf(object) + (objects.length > 1 ? " and " + (objects.length - 1) + " more" : "") + ", cluster " + (cluster + 1);
  const group = svg("g", { class: "leaf" + (state.chosen.includes(object) ? " on" : ""), "data-object": object, tabindex: "-1", role: "button", "aria-label": words });
  if (!look.withPictures) {
    const text = shortened(nameOf(object), 18) + (objects.length > 1 ? " +" + (objects.length - 1) : "");
    group.append(svg("rect", { x: leaf.x - 3, y: look.floor - 3, width: 6, height: 6, stroke: colour, rx: 3 }),
      svg("text", { transform: "translate(" + (leaf.x + 4) + " " + (look.floor + 10) + ") rotate(90)", "dominant-baseline": "central", dy: -4 }, text));
    return group;
  }
  const top = leafTop(at, look);
  const left = leaf.x - look.side / 2;
  group.append(svg("rect", { x: left, y: top, width: look.side, height: look.side, rx: 5, stroke: colour }));
  const thumb = thumbs[object];
  if (thumb) group.append(svg("image", { href: thumb[0], x: left + 1, y: top + 1, width: look.side - 2, height: look.side - 2 }));
  else group.append(svg("text", { x: leaf.x, y: top + look.side / 2 + 4, "text-anchor": "middle" }, shortened(nameOf(object), Math.floor((look.side - 4) / 6))));
  if (objects.length > 1) group.append(svg("text", { x: leaf.x, y: top + look.side - 4, "text-anchor": "middle", style: "font-weight:700;paint-order:stroke;stroke:var(--card);stroke-width:3px" }, "+" + (objects.length - 1)));
  return group;
}
// the member of a folded branch that most others count among their nearest
function typical(objects) {
  const inside = new Set(objects);
  const votes = new Map(objects.map((i) => [i, 0]));
  objects.forEach((i) => data.objects[i].neighbours.forEach(({ object: j }) => { if (inside.has(j)) votes.set(j, votes.get(j) + 1); }));
  return objects.reduce((best, i) => (votes.get(i) > votes.get(best) ? i : best), objects[0]);
}

if ($("tree") && root) {
  const slider = $("k");
  const ks = tree.cuts.map((cut) => cut.n_clusters);
  slider.min = 0; slider.max = ks.length - 1; slider.value = ks.indexOf(tree.n_clusters);
  const note = () => {
    const cut = cutOf.get(state.k);
    slider.setAttribute("aria-valuetext", state.k + " clusters");
    $("k-out").textContent = state.k;
    $("k-note").textContent = "mean silhouette " + cut.silhouette.toFixed(2) + (state.k === tree.n_clusters ? "" : "; chosen: " + tree.n_clusters);
  };
  slider.addEventListener("input", () => { state.k = ks[Number(slider.value)]; note(); tell("k"); });
  note();
  $("tree").addEventListener("click", (event) => {
    const badge = event.target.closest(".badge");
    if (badge) choose(members(Number(badge.dataset.cluster)));
  });
  $("tree").addEventListener("keydown", (event) => {
    const badge = event.target.closest(".badge");
    if (badge && (event.key === "Enter" || event.key === " ")) {
      choose(members(Number(badge.dataset.cluster)));
      event.preventDefault();
    }
    const leaf = event.target.closest(".leaf");
    if (!leaf) return;
    const all = [...$("tree").querySelectorAll(".leaf")];
    const move = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (move) {
      const next = all[(all.indexOf(leaf) + move + all.length) % all.length];
      all.forEach((other) => other.setAttribute("tabindex", "-1"));
      next.setAttribute("tabindex", "0");
      next.focus();
      event.preventDefault();
    } else if (event.key === "Enter" || event.key === " ") {
      choose([Number(leaf.dataset.object)]);
      event.preventDefault();
    }
  });
  let before = 0;
  new ResizeObserver(() => {
    if (Math.abs($("tree").clientWidth - before) < 2) return;
    before = $("tree").clientWidth;
    drawTree();
  }).observe($("tree"));
  on("k", drawTree);
  drawTree();
  downloads("tree", () => [["one", "other", "height", "size"], ...tree.merges]);
}
