// The way through a study: welcome, consent, practice, questions with breaks, the code. A reload goes on where it stopped.
import { Queue } from "./queue.js";
import { call, insist, kept, newId, newToken } from "./server.js";
import { Ahead, ask, fill, show } from "./screen.js";

const $ = (id) => document.getElementById(id);
const query = new URLSearchParams(location.search);
const root = document.documentElement;
let study, queue, token;

function tell(state) {
  const texts = study?.texts;
  root.dataset.state = state;
  const line = $("state");
  line.className = state === "waiting" || state === "trouble" ? "waiting" : "";
  line.textContent = !texts ? "" : state === "picture" ? texts.picture_failed : texts[state] || "";
}

const click = (id) => new Promise((done) => { $(id).onclick = done; $(id).focus({ preventScroll: true }); });

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
    await click("agree");
  }
  queue = new Queue("nearfar-" + study.id, (answers) => {
    const own = answers.filter((one) => one.token === token);
    return send(own.length ? own : answers);
  }, tell);
  kept.set(key, token);
  await queue.open();
  for (let tries = 0; tries < 20 && !queue.empty && navigator.onLine; tries++) await pause(100); // first what is left from last time
  const told = await started(!back);
  if (query.has("new")) history.replaceState(null, "", location.pathname);
  return { told, back };
}

const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

// answers of one token at a time: another person's, left on a shared computer, are sent under their own
async function send(answers) {
  const whose = answers[0].token;
  const own = answers.filter((one) => one.token === whose);
  const bare = own.map(({ token: _, ...answer }) => answer);
  return call("answers", { token: whose, body: { answers: bare } });
}

async function practise() {
  if (!study.practice.length) return;
  await note("", study.texts.practice, study.texts.next);
  for (const [at, shown] of study.practice.entries()) {
    await ask(study, shown, { practice: true, where: study.texts.practice_title, share: at / study.practice.length, tell });
  }
  await note("", study.texts.practice_done, study.texts.begin);
}

async function questions(places) {
  const texts = study.texts;
  const sent = queue.places();
  const open = places.filter((place) => !place.answered && !sent.has(place.place));
  const ahead = new Ahead(study);
  ahead.look(open);
  if (open.length === places.length) await practise();
  let sinceBreak = 0;
  for (const [at, place] of open.entries()) {
    const done = places.length - open.length + at;
    if (study.break_every && sinceBreak === study.break_every) {
      sinceBreak = 0;
      await note(texts.break_title, fill(texts.break_text, { done, total: places.length }), texts.go_on);
    }
    const where = fill(texts.progress, { number: done + 1, total: places.length });
    const answer = await ask(study, place.shown, { practice: done < 3 ? true : undefined, where, share: done / places.length, tell });
    ahead.look(open.slice(at + 1));
    await queue.add({ id: newId(), token, place: place.place, ...answer });
    sinceBreak += 1;
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
  const { told } = await begin(ids);
  if (told.status !== "ok") return note(texts[told.status + "_title"], texts[told.status + "_text"]);
  for (;;) {
    const { places } = await insist("booklet", { token }, tell);
    await questions(places);
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
