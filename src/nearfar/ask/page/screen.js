// One question on the screen: what is shown, when it opens, how long it takes, what is chosen.
const $ = (id) => document.getElementById(id);
export const fill = (text, values) => text.replace(/\{(\w+)\}/g, (all, name) => (name in values ? values[name] : all));

export function show(section) {
  for (const one of document.querySelectorAll("main > section")) one.hidden = one.id !== section;
  document.body.dataset.section = section;
  scrollTo(0, 0);
}

// background and size of what is shown; letters are black or white, whichever is easier to read
export function setUp({ screen, texts }) {
  const root = document.documentElement;
  if (screen.background) {
    const light = [1, 3, 5].map((at) => parseInt(screen.background.slice(at, at + 2), 16) / 255).map((x) => (x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
    root.style.setProperty("--tone", screen.background);
    const tones = ["#ffffff", "#000000"];
    const [paper, ink] = 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2] > 0.179 ? tones : tones.reverse();
    root.style.setProperty("--tone-paper", paper);
    root.style.setProperty("--tone-ink", ink);
    root.classList.add("toned");
  }
  if (screen.size) root.classList.add("sized");
  $("cannot").hidden = !screen.cannot_tell;
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

function thing(study, number, players, label) {
  const { display_name: name, picture, media } = study.objects[number];
  const box = document.createElement("div");
  box.className = "thing";
  if (media !== "image" && picture) box.append(...player(study, picture, media, players, label));
  else if (picture && study.show !== "words") {
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

// sound and film: fetched whole before they are played
const blobs = new Map(); // address -> promise of a local address, the latest last
function blob(picture) {
  if (!blobs.has(picture)) {
    const fetched = fetch("picture/" + picture, { credentials: "omit" }).then((answer) => { if (!answer.ok) throw new Error(); return answer.blob(); }).then((data) => URL.createObjectURL(data));
    fetched.catch(() => blobs.delete(picture));
    blobs.set(picture, fetched);
    if (blobs.size > 60) { const [oldest, gone] = blobs.entries().next().value; blobs.delete(oldest); gone.then(URL.revokeObjectURL, () => {}); }
  }
  return blobs.get(picture);
}

function player(study, picture, media, players, label) {
  const element = document.createElement(media);
  element.playsInline = true;
  element.preload = "auto";
  const button = Object.assign(document.createElement("button"), { type: "button", className: "play", disabled: true });
  const one = { picture, element, button, ends: 0, plays: 0 };
  const say = (text) => { button.textContent = text; button.setAttribute("aria-label", `${text}, ${label}`); };
  one.play = () => {
    for (const other of players) if (other !== one) { other.element.pause(); other.element.currentTime = 0; }
    element.currentTime = 0;
    element.play().then(() => { one.plays += 1; }, (error) => { if (error.name === "NotSupportedError") one.fail(); });
  };
  element.onplaying = () => say("♪ " + study.texts.playing);
  element.onpause = () => say((one.ends ? "↻ " + study.texts.play_again : "▶ " + study.texts.play));
  element.onended = () => { one.ends += 1; element.onpause(); one.heard?.(); };
  button.onclick = one.play;
  say("▶ " + study.texts.play);
  players.push(one);
  return media === "video" ? [element, button] : [button];
}

// every sound and film loaded, trying again where the network fails, then played to its end once; `broken`: one cannot be played here
async function heard(players, tell) {
  let broken = false, fail;
  const failed = new Promise((done) => { fail = () => done(broken = true); });
  for (const one of players) {
    one.fail = one.element.onerror = fail;
    for (let wait = 500; ; wait = Math.min(wait * 2, 8000)) {
      try { one.element.src = await blob(one.picture); one.button.disabled = false; break; } catch {
        tell("picture");
        await new Promise((done) => setTimeout(done, wait));
      }
    }
  }
  const next = (event) => {
    if (event.key !== " " || event.repeat || event.target.closest?.("button")) return;
    event.preventDefault();
    if (players.some((one) => !one.element.paused)) return;
    (players.find((one) => !one.ends) || players[0])?.play();
  };
  document.addEventListener("keydown", next);
  await Promise.race([failed, Promise.all(players.map((one) => new Promise((done) => { one.heard = done; })))]);
  return { broken, deaf: () => document.removeEventListener("keydown", next) };
}

const frame = () => new Promise((done) => requestAnimationFrame(done));

// a question on the screen, still closed: its buttons, and the players of its sounds and films
function draw(study, shown) {
  const texts = study.texts;
  const anchored = study.kind === "near" || study.kind === "grid";
  const options = anchored ? shown.slice(1) : shown;
  const played = shown.some((number) => study.objects[number].picture && study.objects[number].media !== "image");
  const players = [];
  $("anchor").replaceChildren(...(anchored ? [thing(study, shown[0], players, named(texts.anchor, { name: "" }))] : []));
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
    if (!played) { button.append(thing(study, number)); return button; }
    button.textContent = texts.choose;
    button.classList.add("choose");
    return button;
  });
  const boxes = !played ? buttons : buttons.map((button, place) => {
    const box = document.createElement("div");
    box.className = "playable";
    box.append(thing(study, options[place], players, named(texts.option, { number: place + 1, name: "" })), button);
    return box;
  });
  $("question").className = study.kind;
  $("options").className = "options" + (study.kind === "grid" ? " grid" : anchored ? "" : " three");
  $("options").replaceChildren(...boxes);
  $("done").hidden = study.pick === 1;
  $("done").disabled = $("cannot").disabled = true;
  show("question");
  return { buttons, players, anchored, played };
}

// whether objects of a set size have room; options stay beside each other, as the side that was chosen is part of the answer
export function fits(study) {
  const sized = study.objects.findIndex(({ picture, media }) => picture && media !== "audio");
  if (!study.screen.size || study.show === "words" || sized < 0) return true;
  draw(study, [sized, sized, sized]);
  const boxes = [...$("question").querySelectorAll(".thing, #options > *")].map((one) => one.getBoundingClientRect());
  show("loading"); // nobody sees what was measured
  return boxes.every(({ left, right }) => left >= 0 && right <= innerWidth);
}

// shown: numbers of objects, an anchor first; resolves to {choice, milliseconds, away, shown_at, replays, early}, of what cannot be played with `failed`
export async function ask(study, shown, { practice, where, share, tell }) {
  const texts = study.texts;
  $("where").textContent = where;
  $("bar").style.width = 100 * share + "%";
  $("prompt").textContent = fill(study.prompt, { pick: study.pick });
  $("prompt").tabIndex = -1;
  const { buttons, players, anchored, played } = draw(study, shown);
  const keys = study.kind === "grid" && study.pick === 1 ? "" : texts[study.kind === "grid" ? "keys_grid" : anchored ? "keys_two" : "keys_three"];
  const cannot = study.screen.cannot_tell ? `0: ${texts.cannot_tell}.` : "";
  $("keys").textContent = practice === undefined ? "" : [played ? texts.keys_media : "", keys, cannot].join(" ").trim();
  await ready($("question").querySelectorAll("img"), tell);
  const { broken, deaf } = players.length ? await heard(players, tell) : { deaf: () => {} };
  if (broken) {
    deaf();
    for (const one of players) one.element.pause();
    return { choice: [], shown_at: Date.now() / 1000, failed: true };
  }
  await frame();
  const start = performance.now();
  const awayBefore = awayTime();
  const shownAt = Date.now();
  const early = study.screen.least_seconds ? await held(buttons.length, 1000 * study.screen.least_seconds) : 0;
  for (const button of buttons) button.disabled = false;
  $("cannot").disabled = false;
  $("prompt").focus({ preventScroll: true });
  document.documentElement.dataset.open = String(Number(document.documentElement.dataset.open || 0) + 1);
  const choice = await chosen(buttons, study.pick);
  const milliseconds = performance.now() - start;
  deaf();
  for (const one of players) one.element.pause();
  const replays = players.length ? { replays: players.reduce((sum, one) => sum + one.plays, 0) - players.length } : {};
  return { choice, milliseconds, away: awayTime() - awayBefore, shown_at: shownAt / 1000, ...replays, ...(study.screen.least_seconds ? { early } : {}) };
}

// nothing can be chosen for a while; how often somebody tried
async function held(count, milliseconds) {
  let early = 0;
  const press = () => { early += 1; };
  const key = (event) => { if (!event.repeat && placeOf(event.key, count) !== null) early += 1; };
  $("options").classList.add("held");
  $("options").addEventListener("pointerdown", press);
  document.addEventListener("keydown", key);
  await new Promise((done) => setTimeout(done, milliseconds));
  document.removeEventListener("keydown", key);
  $("options").removeEventListener("pointerdown", press);
  $("options").classList.remove("held");
  return early;
}

function chosen(buttons, pick) {
  return new Promise((resolve) => {
    const picked = [];
    const finish = (choice) => {
      document.removeEventListener("keydown", key);
      $("done").onclick = $("cannot").onclick = null;
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
      if (event.key === "0" && !$("cannot").hidden) { event.preventDefault(); finish([]); }
      else if (event.key === "Enter" && pick > 1 && picked.length === pick && !event.target.closest(".option, #cannot")) { event.preventDefault(); finish([...picked]); }
      else if (place !== null) { event.preventDefault(); take(place); }
    };
    buttons.forEach((button, place) => {
      if (pick > 1) button.setAttribute("aria-pressed", "false");
      button.onclick = () => take(place);
    });
    $("cannot").onclick = () => finish([]);
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
    const { picture, media } = this.study.objects[number];
    if (!picture || this.study.show === "words" || wanted.has(picture)) return;
    if (media !== "image") { blob(picture).catch(() => {}); this.fetched.add(picture); return; }
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
