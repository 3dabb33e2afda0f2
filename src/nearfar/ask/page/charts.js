// Small drawings in SVG, named for those who do not see them.
const NS = "http://www.w3.org/2000/svg";

export function node(name, attributes = {}, ...inside) {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...inside);
  return made;
}

// drawn at the size it is shown, so that letters keep theirs on a phone
const across = (box) => Math.max(240, Math.round(box.clientWidth));

function sheet(box, width, height, words) {
  const made = node("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words });
  box.replaceChildren(made);
  return made;
}

const text = (x, y, words, attributes = {}) => node("text", { x, y, ...attributes }, words);

export function bars(box, values, words) {
  const width = across(box), height = 44, most = Math.max(1, ...values), step = width / values.length;
  const picture = sheet(box, width, height, words);
  values.forEach((value, at) => {
    const tall = (height - 2) * value / most;
    picture.append(node("rect", { class: "mark", x: at * step + 0.5, y: height - tall, width: Math.max(1, step - 1.5), height: tall }));
  });
}

// how many questions (height) have how many answers (x); the dashed frame is what is wanted
export function balance(box, rows, wanted, words) {
  const width = across(box), height = 150, low = 22;
  const picture = sheet(box, width, height, words);
  const last = Math.max(wanted, ...rows.map(([answers]) => answers));
  const most = Math.max(1, ...rows.map(([, often]) => often));
  const step = width / (last + 1);
  picture.append(node("rect", { class: "wanted", x: wanted * step + 1, y: 1, width: step - 2, height: height - low - 1 }));
  for (const [answers, often] of rows) {
    const tall = (height - low - 24) * often / most;
    picture.append(node("rect", { class: "mark", x: answers * step + step * 0.12, y: height - low - tall, width: step * 0.76, height: Math.max(1, tall) }));
    if (step > 26) picture.append(text((answers + 0.5) * step, height - low - tall - 5, often.toLocaleString("en"), { "text-anchor": "middle" }));
  }
  picture.append(node("line", { class: "axis", x1: 0, x2: width, y1: height - low, y2: height - low }));
  const every = Math.ceil((last + 1) / 14);
  for (let at = 0; at <= last; at += every) picture.append(text((at + 0.5) * step, height - 6, String(at), { "text-anchor": "middle" }));
}

export function curve(box, result, best, words) {
  const width = across(box), height = 220, left = 44, low = 26;
  const picture = sheet(box, width, height, words);
  const points = result.points;
  const last = points.at(-1).answers;
  const first = points[0].answers;
  const x = (answers) => left + (width - left - 8) * Math.log(answers / first) / Math.log(last / first || 2);
  const y = (share) => height - low - (height - low - 8) * Math.max(0, share - 0.45) / 0.55;
  if (best) picture.append(node("rect", { class: "zone", x: left, width: width - left, y: y(best.high), height: Math.max(2, y(best.low) - y(best.high)) }));
  for (const share of [0.5, 0.6, 0.7, 0.8, 0.9, 1]) {
    picture.append(node("line", { class: "axis", x1: left, x2: width, y1: y(share), y2: y(share) }));
    picture.append(text(left - 6, y(share) + 4, Math.round(100 * share) + " %", { "text-anchor": "end" }));
  }
  const edge = points.map((p) => `${x(p.answers)},${y(p.high)}`);
  const back = points.map((p) => `${x(p.answers)},${y(p.low)}`).reverse();
  if (points.every((p) => Number.isFinite(p.low))) picture.append(node("polygon", { class: "band", points: [...edge, ...back].join(" ") }));
  picture.append(node("polyline", { class: "line", points: points.map((p) => `${x(p.answers)},${y(p.accuracy)}`).join(" ") }));
  for (const p of points) picture.append(node("circle", { class: "mark", cx: x(p.answers), cy: y(p.accuracy), r: 3 }));
  picture.append(text(left, height - 8, Math.round(first).toLocaleString("en") + " triplets"));
  if (last > first) picture.append(text(width, height - 8, Math.round(last).toLocaleString("en"), { "text-anchor": "end" }));
}

// the map; pictures where there are some, else a dot and the name, left out where names would cover each other
export function map(box, places, objects, words) {
  const width = across(box), height = Math.min(620, Math.round(0.85 * width)), edge = 24;
  const known = places.map((place, at) => ({ place, at })).filter((one) => one.place);
  const picture = sheet(box, width, height, words);
  if (!known.length) return;
  const xs = known.map((one) => one.place[0]), ys = known.map((one) => one.place[1]);
  const wide = Math.max(...xs) - Math.min(...xs) || 1, tall = Math.max(...ys) - Math.min(...ys) || 1;
  const scale = Math.min((width - 2 * edge) / wide, (height - 2 * edge) / tall);
  const midX = (Math.max(...xs) + Math.min(...xs)) / 2, midY = (Math.max(...ys) + Math.min(...ys)) / 2;
  const taken = [];
  const side = Math.max(10, Math.round(width / (known.length <= 60 ? 20 : known.length <= 200 ? 30 : 48)));
  for (const { place, at } of known) {
    const x = width / 2 + (place[0] - midX) * scale, y = height / 2 - (place[1] - midY) * scale;
    const { display_name: name, picture: hash } = objects[at];
    const group = node("g", {}, node("title", {}, name));
    if (hash) group.append(node("image", { href: "picture/" + hash, x: x - side / 2, y: y - side / 2, width: side, height: side }));
    else {
      group.append(node("circle", { class: "mark", cx: x, cy: y, r: 4 }));
      const short = name.length > 22 ? name.slice(0, 21) + "…" : name;
      const box = { left: x + 6, right: x + 10 + 6.2 * short.length, top: y - 7, bottom: y + 7 };
      if (!taken.some((b) => box.left < b.right && b.left < box.right && box.top < b.bottom && b.top < box.bottom)) {
        taken.push(box);
        group.append(node("text", { class: "name", x: x + 7, y: y + 4, direction: "auto" }, short));
      }
    }
    picture.append(group);
  }
}
