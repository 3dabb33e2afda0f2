// One question on the screen: what is shown, when it opens, how long it takes, what is chosen.
const $ = (id) => document.getElementById(id);
export const fill = (text, values) => text.replace(/\{(\w+)\}/g, (all, name) => (name in values ? values[name] : all));

export function show(section) {
  for (const one of document.querySelectorAll("main > section")) one.hidden = one.id !== section;
  scrollTo(0, 0);
}

// time the page was hidden
let away = 0;
let hiddenAt = document.hidden ? performance.now() : null;
document.addEventListener("visibilitychange", () => {
  if (document.hidden) hiddenAt = performance.now();
  else if (hiddenAt !== null) { away += performance.now() - hiddenAt; hiddenAt = null; }
});
const awayTime = () => away + (hiddenAt === null ? 0 : performance.now() - hiddenAt);

const named = (text, values) => fill(text, values).replace(/[\s:：]+$/u, ""); // some objects have no name to be read out

function thing(study, number) {
  const { display_name: name, picture } = study.objects[number];
  const box = document.createElement("div");
  box.className = "thing";
  if (picture && study.show !== "words") {
    const image = document.createElement("img");
    image.src = "picture/" + picture;
    image.alt = study.show === "pictures" ? name : "";
    image.draggable = false;
    box.append(image);
  } else {
    box.classList.add("words");
    if (name.length > 24) box.classList.add("long");
  }
  if (!picture || study.show !== "pictures") {
    const text = document.createElement("span");
    text.className = "name";
    text.dir = "auto";
    text.textContent = name; // names are always text
    box.append(text);
  }
  return box;
}

// every picture decoded, trying again where the network fails
async function ready(images, tell) {
  for (const image of images) {
    for (let wait = 500; ; wait = Math.min(wait * 2, 8000)) {
      try { await image.decode(); break; } catch {
        tell("picture");
        await new Promise((done) => setTimeout(done, wait));
        const source = image.src.split("?")[0];
        image.src = source + "?again=" + Date.now();
      }
    }
  }
}

const frame = () => new Promise((done) => requestAnimationFrame(done));

// shown: numbers of objects, an anchor first; resolves to {choice, milliseconds, away, shown_at}
export async function ask(study, shown, { practice, where, share, tell }) {
  const texts = study.texts;
  const anchored = study.kind === "near" || study.kind === "grid";
  const options = anchored ? shown.slice(1) : shown;
  $("where").textContent = where;
  $("bar").style.width = 100 * share + "%";
  $("prompt").textContent = fill(study.prompt, { pick: study.pick });
  $("prompt").tabIndex = -1;
  $("keys").textContent = practice === undefined ? "" : texts[study.kind === "grid" ? "keys_grid" : anchored ? "keys_two" : "keys_three"];
  $("anchor").replaceChildren(...(anchored ? [thing(study, shown[0])] : []));
  if (anchored) {
    $("anchor").setAttribute("role", "group");
    $("anchor").setAttribute("aria-label", named(texts.anchor, { name: study.objects[shown[0]].display_name }));
  }
  const buttons = options.map((number, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "option";
    button.disabled = true;
    button.setAttribute("aria-label", named(texts.option, { number: place + 1, name: study.objects[number].display_name }));
    button.append(thing(study, number));
    return button;
  });
  $("options").className = "options" + (study.kind === "grid" ? " grid" : anchored ? "" : " three");
  $("options").replaceChildren(...buttons);
  $("done").hidden = study.pick === 1;
  $("done").disabled = true;
  show("question");
  await ready($("question").querySelectorAll("img"), tell);
  await frame();
  const start = performance.now();
  const awayBefore = awayTime();
  const shownAt = Date.now();
  for (const button of buttons) button.disabled = false;
  $("prompt").focus({ preventScroll: true });
  document.documentElement.dataset.open = String(Number(document.documentElement.dataset.open || 0) + 1);
  const choice = await chosen(buttons, study.pick);
  return { choice, milliseconds: performance.now() - start, away: awayTime() - awayBefore, shown_at: shownAt / 1000 };
}

function chosen(buttons, pick) {
  return new Promise((resolve) => {
    const picked = [];
    const finish = (choice) => {
      document.removeEventListener("keydown", key);
      $("done").onclick = null;
      for (const button of buttons) { button.onclick = null; button.disabled = true; }
      resolve(choice);
    };
    const take = (place) => {
      if (pick === 1) { finish([place]); return; }
      const at = picked.indexOf(place);
      if (at >= 0) picked.splice(at, 1);
      else if (picked.length < pick) picked.push(place);
      buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(picked.includes(i))));
      $("done").disabled = picked.length !== pick;
    };
    const key = (event) => {
      if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
      const place = placeOf(event.key, buttons.length);
      if (event.key === "Enter" && pick > 1 && picked.length === pick && !event.target.closest(".option")) { event.preventDefault(); finish([...picked]); }
      else if (place !== null) { event.preventDefault(); take(place); }
    };
    buttons.forEach((button, place) => {
      if (pick > 1) button.setAttribute("aria-pressed", "false");
      button.onclick = () => take(place);
    });
    $("done").onclick = () => { if (picked.length === pick) finish([...picked]); };
    document.addEventListener("keydown", key);
  });
}

function placeOf(key, count) {
  if (/^[1-9]$/.test(key) && Number(key) <= count) return Number(key) - 1;
  if (count === 2) return { ArrowLeft: 0, ArrowRight: 1 }[key] ?? null;
  if (count === 3) return { ArrowLeft: 0, ArrowUp: 1, ArrowDown: 1, ArrowRight: 2 }[key] ?? null;
  return null;
}

// pictures of the next three questions decoded, those of the rest fetched one by one, so that a short loss of connection leaves no gap
export class Ahead {
  constructor(study) { Object.assign(this, { study, decoded: new Map(), fetched: new Set(), fetching: false }); }

  look(places) {
    const wanted = new Map();
    for (const place of places.slice(0, 3)) for (const number of place.shown) this.want(number, wanted);
    this.decoded = wanted;
    this.rest = places.slice(3).flatMap((place) => place.shown);
    this.fetchRest();
  }

  want(number, wanted) {
    const picture = this.study.objects[number].picture;
    if (!picture || this.study.show === "words" || wanted.has(picture)) return;
    let image = this.decoded.get(picture);
    if (!image) {
      image = new Image();
      image.src = "picture/" + picture;
      image.decode().catch(() => {});
    }
    wanted.set(picture, image);
    this.fetched.add(picture);
  }

  async fetchRest() {
    if (this.fetching || this.study.show === "words") return;
    this.fetching = true;
    while (this.rest.length) {
      const picture = this.study.objects[this.rest.shift()].picture;
      if (!picture || this.fetched.has(picture)) continue;
      try { await (await fetch("picture/" + picture, { credentials: "omit" })).blob(); this.fetched.add(picture); } catch { break; }
    }
    this.fetching = false;
  }
}
