// The live page: asks every few seconds, draws what changed.
import { balance, bars, curve, map } from "./charts.js";

const $ = (id) => document.getElementById(id);
const EVERY = 3000;
let everybody = false, last = null, drawn = {};

const percent = (share) => (share === null || share === undefined ? "–" : Math.round(100 * share) + " %");
const count = (number) => number.toLocaleString("en");

async function post(path, body) {
  const answer = await fetch("admin/" + path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  const told = await answer.json().catch(() => ({}));
  if (answer.status === 401) location.reload();
  if (!answer.ok) throw new Error(told.error || "The server did not answer.");
  return told;
}

function put(id, words, tone) {
  if ($(id).textContent !== words) $(id).textContent = words;
  if (tone !== undefined) $(id).className = "big " + tone;
}

// draw only what changed: a map that stands still is drawn once
function draw(id, data, act) {
  const key = JSON.stringify(data);
  if (drawn[id] === key) return;
  drawn[id] = key;
  act();
}

// what a figure means comes with it, in words
function enough(told) {
  const curve = told.view && told.view.curve;
  const least = told.balance.length ? told.balance[0][0] : 0;
  $("looks").hidden = !(told.view && told.view.accuracy);
  if (!curve) return put("enough", "Too early to say", "fair"), put("enough-why", "Figures come with the first answers of several people.");
  put("enough", curve.short, curve.level);
  const held = told.view.accuracy ? ` ${told.view.accuracy.text}` : "";
  const stopped = told.state === "paused" && told.stopped ? told.stopped + " " : "";
  put("enough-why", `${stopped}${curve.text}${held} The question asked least often has ${least} of ${told.wanted} answers.`);
}

function ceiling(told) {
  const limit = told.view && told.view.ceiling;
  put("ceiling", limit ? limit.short : "Unknown");
  $("ceiling-why").title = limit ? limit.details : "";
  put("ceiling-why", limit ? limit.text : "No question has been answered by two people yet.");
}

// what adaptive questions have saved so far, or why they ended
function adaptive(told) {
  const saved = told.view && told.view.adaptive;
  $("adaptive").hidden = !saved;
  if (saved) put("adaptive", told.adaptive_off || saved.text);
}

function summary(told) {
  const { active, finished, left } = told.people;
  const all = active + finished + left;
  $("state").textContent = told.state === "open" ? "open" : "paused";
  $("state").className = "pill " + told.state;
  $("pause").textContent = told.state === "open" ? "Pause" : "Resume";
  put("people-count", `${count(finished)} of ${count(told.aim)} finished`);
  put("people-why", `${count(active)} answering now, ${count(left)} left before the end${all ? ` (${percent(left / all)} of all)` : ""}.`);
  put("answer-count", count(told.answers));
  draw("minutes", told.minutes, () => bars($("minutes"), told.minutes, `Answers per minute in the last half hour, ${told.minutes.at(-1)} in the last minute`));
  const rows = told.balance;
  const spread = rows.length ? rows.at(-1)[0] - rows[0][0] : 0;
  put("balance-why", `${told.view?.adaptive ? "Random questions" : "Questions"} by number of answers; ${told.wanted} are wanted of each. Difference between most and least: ${spread}. ${told.view?.balance ?? ""}`);
  draw("balance", [rows, told.wanted], () => balance($("balance"), rows, told.wanted, `Every question has ${rows[0]?.[0]} to ${rows.at(-1)?.[0]} answers`));
}

function figures(told) {
  const view = told.view;
  if (!view) return;
  if (view.map) draw("map", [view.map, view.objects], () => map($("map"), view.map, view.objects, `Map of ${view.objects.length} objects`));
  else put("map-why", "The map appears with the first answers of several people.");
  if (view.map) put("map-why", `Similar objects lie close together, as far as the answers tell so far. Drawn from the model ${view.model}.`);
  if (view.curve) {
    const best = view.ceiling && view.ceiling.best_possible;
    const shaded = view.curve.points.every((p) => Number.isFinite(p.low)) ? ", with the 95 % interval" : "";
    put("curve-why", `Held-out answers predicted by ${view.curve.model}${shaded}${best ? "; the green band is the best possible" : ""}.`);
    draw("curve", [view.curve, view.ceiling], () => curve($("curve"), view.curve, view.ceiling && view.ceiling.best_possible, `Accuracy ${percent(view.curve.points.at(-1).accuracy)} with ${Math.round(view.curve.points.at(-1).answers)} triplets`));
  }
}

function cell(words, kind) {
  const made = document.createElement("td");
  made.textContent = words;
  if (kind) made.className = kind;
  return made;
}

function people(told) {
  const judged = new Map(((told.view && told.view.people) || []).map((one) => [one.name, one]));
  const reason = (one) => [one.reason, judged.get(one.name)?.reason].filter(Boolean).join("; ");
  const order = [...told.everybody].sort((a, b) => (reason(b) ? 1 : 0) - (reason(a) ? 1 : 0));
  const shown = everybody ? order : order.filter(reason);
  put("people-title", everybody ? "Participants" : "Participants to check");
  put("people-none", shown.length ? "" : order.length ? "Nobody has a reason to be checked so far." : "Nobody has started yet.");
  draw("people", [shown, [...judged.values()]], () => {
    $("people").replaceChildren(...shown.map((one) => row(one, { ...judged.get(one.name), reason: reason(one) })));
  });
  $("people-table").hidden = !shown.length;
  $("more").hidden = !order.length || (!everybody && order.length === shown.length);
  $("more").textContent = everybody ? "Show only participants to check" : `Show all participants (${count(order.length)})`;
}

function row(one, figures) {
  const made = document.createElement("tr");
  if (figures.reason) made.className = "look";
  const checks = figures.checks ? `${figures.checks_correct} of ${figures.checks}` : "–";
  const seconds = figures.median_seconds ? figures.median_seconds.toFixed(1) + " s" : "–";
  made.append(cell(one.name), cell(one.state), cell(`${one.answers}`, "num"), cell(checks, "num"), cell(percent(figures.with_others), "num"),
    cell(percent(figures.with_themselves), "num"), cell(seconds, "num"), cell(figures.reason, "reason"));
  const button = Object.assign(document.createElement("button"), { type: "button", className: "btn small", textContent: "Erase" });
  button.setAttribute("aria-label", "Erase " + one.name);
  button.onclick = () => erase(one.name);
  const last = document.createElement("td");
  last.append(button);
  made.append(last);
  return made;
}

function erase(name) {
  $("erase-name").textContent = name;
  $("erase-wrong").textContent = "";
  $("erase-yes").onclick = async () => {
    try {
      const told = await post("erase", { name });
      if (told.unreachable.length) $("erase-wrong").textContent = "Erased here, but these exports could not be written again: " + told.unreachable.join(", ");
      else $("erase").close();
      drawn = {};
      await look();
    } catch (error) { $("erase-wrong").textContent = error.message; }
  };
  $("erase").showModal();
}

async function look() {
  try {
    const answer = await fetch("admin/live.json", { cache: "no-store" });
    if (answer.status === 401) return location.reload();
    if (!answer.ok) throw new Error();
    const told = await answer.json();
    last = told;
    summary(told); enough(told); ceiling(told); adaptive(told); figures(told); people(told);
    $("fresh").textContent = "";
    $("failed").hidden = true;
    document.documentElement.dataset.looks = String(Number(document.documentElement.dataset.looks || 0) + 1);
  } catch {
    $("failed").textContent = "The server cannot be reached. This page shows how things stood before; it keeps trying.";
    $("failed").hidden = false;
  }
}

$("pause").onclick = async () => { await post("state", { state: last.state === "open" ? "paused" : "open" }); await look(); };
$("logout").onclick = async () => { await post("logout", {}); location.reload(); };
addEventListener("resize", () => { drawn = {}; if (last) { summary(last); figures(last); } });
$("more").onclick = () => { everybody = !everybody; people(last); };

async function forever() {
  for (;;) {
    await look();
    await new Promise((done) => setTimeout(done, EVERY));
  }
}
forever();
