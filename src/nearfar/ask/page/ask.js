// The way through a study: welcome, consent, practice, questions with breaks, the code. A reload goes on where it stopped.
import { Queue } from "./queue.js";
import { call, insist, kept, newId, newToken } from "./server.js";
import { calibrate, formPage } from "./forms.js";
import { Ahead, ask, fill, fits, setUp, show } from "./screen.js";

const $ = (id) => document.getElementById(id);
const query = new URLSearchParams(location.search);
const root = document.documentElement;
let study, queue, token, scale, practising = false;

function tell(state) {
  const texts = study?.texts;
  root.dataset.state = state;
  const line = $("state");
  line.className = state === "waiting" || state === "trouble" ? "waiting" : "";
  line.textContent = !texts || (practising && /^sav/.test(state)) ? "" : state === "picture" ? texts.picture_failed : texts[state] || "";
}

const click = (id) => new Promise((done) => { $(id).onclick = () => done(id); $(id).focus({ preventScroll: true }); });

async function note(title, text, button) {
  $("note-title").textContent = title;
  $("note-title").hidden = !title;
  $("note-text").textContent = text;
  $("note-go").hidden = !button;
  $("note-go").textContent = button || "";
  show("note");
  if (button) await click("note-go"); else $("main").focus();
}

// who this is to the recruiter
function outside() {
  const ids = {};
  for (const name of [...study.ids, ...study.ids_too]) if (query.get(name)) ids[name] = query.get(name);
  return ids;
}

async function begin(ids) {
  const started = (fresh) => insist("start", { token, body: { outside: ids, consent: true, fresh } }, tell);
  const key = ["nearfar", study.id, ...study.ids.map((name) => ids[name] || "")].join(":");
  token = query.has("new") ? null : kept.get(key);
  const back = token !== null;
  if (!back) {
    token = newToken();
    show("welcome");
    await click("begin");
    show("consent");
    if (await Promise.race([click("disagree"), click("agree")]) === "disagree") return { told: { status: "declined" } };
  }
  await measure(back);
  queue = new Queue("nearfar-" + study.id, (answers) => {
    const own = answers.filter((one) => one.token === token);
    return send(own.length ? own : answers);
  }, tell);
  kept.set(key, token);
  await queue.open();
  for (let tries = 0; tries < 20 && !queue.empty && navigator.onLine; tries++) await pause(100); // first what is left from last time
  const told = await started(!back);
  if (query.has("new")) history.replaceState(null, "", location.pathname);
  return { told };
}

const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

// answers of one token at a time: another person's, left on a shared computer, are sent under their own
async function send(answers) {
  const { id, token: whose, page, fields } = answers[0];
  if (page) {
    try { await call("form", { token: whose, body: { page, fields } }); return { saved: [id], refused: [] }; } catch (error) {
      if (error.status === 400) return { saved: [], refused: [{ id }] }; // the study changed meanwhile: the page comes again
      throw error;
    }
  }
  const own = answers.filter((one) => one.token === whose && !one.page);
  const bare = own.map(({ token: _, ...answer }) => answer);
  return call("answers", { token: whose, body: { answers: bare } });
}

async function answered(shown, how) {
  await roomy();
  const answer = await ask(study, shown, { ...how, tell });
  if (answer.failed) await note("", study.texts.not_playable, study.texts.go_on);
  return answer;
}

async function practise(practice, text) {
  practising = true;
  tell("");
  if (text && practice.length) await note("", text, study.texts.next);
  for (const shown of practice) await answered(shown, { practice: true, where: study.texts.practice_title, share: 0 });
  practising = false;
}

// a page of the form, kept like an answer until the server has it
async function form(page, filled) {
  if (!study.forms[page].length || filled.has(page)) return;
  $("where").textContent = "";
  await queue.add({ id: newId(), token, page, fields: await formPage(study.forms[page], study.texts) });
}

// after practice: whoever has not understood practises again, a few times
async function understood(practice) {
  for (;;) {
    $("where").textContent = "";
    const fields = await formPage(study.forms.practice, study.texts);
    const told = await insist("form", { token, body: { page: "practice", fields } }, tell);
    if (told.saved) return;
    await note(study.texts.not_quite_title, study.texts.not_quite, study.texts.next);
    await practise(practice);
  }
}

// how large objects of a set size are on this screen; measured before anybody starts, so that who needs another screen can take it
async function measure(back) {
  const { size, unit } = study.screen;
  if (!size) return;
  const key = "nearfar:px_per_mm:" + devicePixelRatio;
  scale = unit === "px" ? 1 : Number(back && kept.get(key)) || await calibrate(study.texts);
  if (unit === "mm") kept.set(key, String(scale));
  root.style.setProperty("--size", size * scale + "px");
  await roomy();
}

async function roomy() {
  while (!fits(study)) await note(study.texts.small_title, study.texts.small_text, study.texts.retry);
}

// a notice after five answers whose median is faster than the study allows
const recent = [];
function tooFast({ failed, milliseconds, away }) {
  if (failed) return false;
  recent.push(milliseconds - away);
  const fast = recent.length >= 5 && recent.slice(-5).sort((a, b) => a - b)[2] < 1000 * study.screen.fast_seconds;
  if (fast) recent.length = 0;
  return fast;
}

// by the pace so far, or as assumed for this kind of question; nothing where sounds take a time that nobody named
function minutesLeft(left, done, since) {
  const seconds = done >= 5 ? (performance.now() - since) / 1000 / done : study.seconds;
  return seconds ? " · " + fill(study.texts.minutes_left, { minutes: Math.max(1, Math.round((left * seconds) / 60)) }) : "";
}

// the next places of a booklet that is settled a few questions ahead
async function more(open, known, ahead) {
  const { places } = await insist("booklet?after=" + Math.max(-1, ...known), { token }, tell);
  const fresh = places.filter(({ place, answered }) => !answered && !known.has(place) && !queue.places().has(place));
  places.forEach(({ place }) => known.add(place));
  open.push(...fresh);
  ahead.look(fresh);
}

async function questions({ places, practice, total }, filled) {
  const texts = study.texts;
  const sent = queue.places();
  const open = places.filter((place) => !place.answered && !sent.has(place.place));
  const ahead = new Ahead(study);
  ahead.look(open);
  const asks = study.forms.practice.length && !filled.has("practice");
  if (open.length === places.length) {
    await practise(practice, texts.practice);
    if (asks) await understood(practice);
    if (practice.length) await note("", texts.practice_done, texts.begin);
  } else if (asks) await understood(practice);
  const since = performance.now();
  const known = new Set(places.map(({ place }) => place)), before = places.length - open.length;
  let sinceBreak = 0, coming = null;
  for (let at = 0; at < open.length || known.size < total; at++) {
    while (at === open.length) { // what was answered decides what comes next
      while (!queue.empty) await pause(50);
      await (coming || more(open, known, ahead));
      if (at === open.length) await pause(250);
      if (known.size >= total && at === open.length) return;
    }
    const place = open[at], done = before + at;
    if (study.break_every && sinceBreak === study.break_every) {
      sinceBreak = 0;
      await note(texts.break_title, fill(texts.break_text, { done, total }), texts.go_on);
    }
    const where = fill(texts.progress, { number: done + 1, total }) + minutesLeft(total - done, at, since);
    const answer = await answered(place.shown, { practice: done < 3 ? true : undefined, where, share: done / total });
    ahead.look(open.slice(at + 1));
    const fast = tooFast(answer);
    await queue.add({ id: newId(), token, place: place.place, ...answer, ...(fast ? { fast } : {}) });
    if (!coming && known.size < total && open.length - at <= 3) coming = more(open, known, ahead).finally(() => { coming = null; });
    if (fast) await note(texts.fast_title, texts.fast_text, texts.go_on);
    sinceBreak = fast ? 0 : sinceBreak + 1;
  }
  $("bar").style.width = "100%";
}

async function end() {
  $("where").textContent = "";
  while (!queue.empty) {
    if (root.dataset.ended !== "sending") {
      root.dataset.ended = "sending";
      note("", study.texts.sending_last);
    }
    await pause(200);
  }
  return insist("finish", { token, body: {} }, tell);
}

function thanks(told) {
  if (told.code) {
    $("code").textContent = told.code;
    $("end-code").hidden = false;
    $("copy").onclick = async () => {
      try { await navigator.clipboard.writeText(told.code); $("copy").textContent = study.texts.code_copied; } catch { getSelection().selectAllChildren($("code")); }
    };
  }
  if (told.link) { $("return").href = told.link; $("return").hidden = false; }
  if (told.submit_to) {
    const form = $("mturk");
    form.action = told.submit_to;
    form.elements.assignmentId.value = told.assignment;
    form.elements.code.value = told.code || "";
    form.hidden = false;
  }
  show("end");
  $("main").focus();
  root.dataset.ended = "true";
}

async function main() {
  study = await insist("study.json", {}, tell);
  const { texts } = study;
  const ids = outside();
  if (query.get("assignmentId") === "ASSIGNMENT_ID_NOT_AVAILABLE") return note(texts.preview_title, texts.preview_text);
  if (study.ids.some((name) => !ids[name])) return note(texts.no_id_title, texts.no_id_text);
  setUp(study);
  const { told } = await begin(ids);
  if (told.status !== "ok") return note(texts[told.status + "_title"], texts[told.status + "_text"]);
  for (;;) {
    const booklet = await insist("booklet", { token }, tell);
    if (booklet.prompt) study.prompt = booklet.prompt;
    const filled = new Set([...booklet.filled, ...queue.pages()]);
    if (study.screen.unit === "mm" && !filled.has("calibration")) await queue.add({ id: newId(), token, page: "calibration", fields: { px_per_mm: scale } });
    await form("before", filled);
    await questions(booklet, filled);
    await form("after", filled);
    const ended = await end();
    if (!ended.left) return thanks(ended);
  }
}

main().catch(async (error) => {
  root.dataset.error = String(error && error.message);
  const texts = study?.texts;
  if (texts) await note(texts.error_title, texts.error_text, texts.retry);
  else show("loading");
  if (texts) location.reload();
});
