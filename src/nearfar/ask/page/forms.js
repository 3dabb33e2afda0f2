// Questions besides triplets, and the size of the screen: each page resolves to what was given.
import { fill, show } from "./screen.js";

const $ = (id) => document.getElementById(id);
const CARD = [85.6, 53.98]; // millimetres of a bank card

function element(name, properties = {}, ...inside) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...inside);
  return made;
}

// one input, or one for each option or step of a scale
function inputs(field, id) {
  const { kind, options, least, most } = field;
  if (kind === "text") return [element(most > 120 ? "textarea" : "input", { id, maxLength: most, rows: 4 })];
  if (kind === "number") return [Object.assign(element("input", { id, type: "number", step: "any", inputMode: "decimal" }), least === null ? {} : { min: least }, most === null ? {} : { max: most })];
  const type = kind === "choices" ? "checkbox" : "radio";
  const values = kind === "scale" ? Array.from({ length: most - least + 1 }, (_, i) => String(least + i)) : options;
  return values.map((value) => element("input", { type, name: id, value }));
}

function drawn(field, number, texts) {
  const id = "field-" + number;
  const made = inputs(field, id);
  const several = made.length > 1;
  const title = element(several ? "legend" : "label", several ? { dir: "auto" } : { dir: "auto", htmlFor: id }, field.ask);
  if (!field.required) title.append(element("span", { className: "soft" }, " " + texts.form_optional));
  const wrong = element("p", { className: "wrong", id: id + "-wrong" });
  wrong.setAttribute("role", "alert");
  for (const input of made) {
    input.setAttribute("aria-describedby", wrong.id);
    input.addEventListener("input", () => { wrong.textContent = ""; for (const each of made) each.removeAttribute("aria-invalid"); });
  }
  const choices = several ? made.map((input) => element("label", { className: "pick", dir: "auto" }, input, element("span", {}, input.value))) : made;
  const list = element("div", { className: "picks " + field.kind }, ...choices);
  list.style.setProperty("--digits", Math.max(...made.map((input) => input.value.length)) + "ch");
  const box = element(several ? "fieldset" : "div", { className: "field" }, title, list);
  if (field.labels.length) box.append(element("p", { className: "ends soft" }, ...field.labels.map((text) => element("span", { dir: "auto" }, text))));
  box.append(wrong);
  return { field, box, made, wrong };
}

function value({ field, made }) {
  if (field.kind === "text") return made[0].value.trim() || null;
  if (field.kind === "number") return made[0].validity.badInput ? NaN : made[0].value === "" ? null : Number(made[0].value);
  const on = made.filter((input) => input.checked).map((input) => input.value);
  if (field.kind === "choices") return on.length ? on : null;
  return on.length ? (field.kind === "scale" ? Number(on[0]) : on[0]) : null;
}

function problem(field, given, texts) {
  const { least, most, kind } = field;
  if (given === null) return field.required ? texts.form_required : "";
  const size = typeof given === "number" ? given : [...given].length; // letters as the server counts them
  if ((least === null || size >= least) && (most === null || size <= most) && !Number.isNaN(size)) return "";
  const text = { number: texts.form_number, choices: texts.form_choices }[kind] || texts.form_text;
  return fill(text, { least: least ?? "…", most: most ?? "…" });
}

export function formPage(fields, texts) {
  const all = fields.map((field, number) => drawn(field, number, texts));
  $("fields").replaceChildren(...all.map((one) => one.box));
  show("form");
  $("main").focus();
  return new Promise((done) => {
    $("form-itself").onsubmit = (event) => {
      event.preventDefault();
      const given = all.map(value);
      const wrong = all.map(({ field }, at) => problem(field, given[at], texts));
      all.forEach((one, at) => {
        one.wrong.textContent = wrong[at];
        for (const input of one.made) input.setAttribute("aria-invalid", String(Boolean(wrong[at])));
      });
      const first = wrong.findIndex(Boolean);
      if (first >= 0) {
        all[first].made[0].focus({ preventScroll: true });
        return all[first].box.scrollIntoView({ block: "nearest" }); // the question too
      }
      done(Object.fromEntries(fields.map((field, at) => [field.name, given[at]]).filter(([, one]) => one !== null)));
    };
  });
}

// pixels of this page in a millimetre: a card is held to the screen, upright where the screen is narrow
export function calibrate(texts) {
  const [width, height] = innerWidth < 500 ? [CARD[1], CARD[0]] : CARD;
  const slider = $("card-size");
  slider.min = 2 * width;
  slider.max = Math.min(14 * width, $("main").clientWidth - 20);
  slider.value = (96 / 25.4) * width;
  const draw = () => {
    $("card").style.width = slider.value + "px";
    $("card").style.height = (slider.value * height) / width + "px";
  };
  slider.oninput = draw;
  draw();
  show("calibrate");
  slider.focus({ preventScroll: true });
  return new Promise((done) => { $("card-done").onclick = () => done(Math.round((10000 * slider.value) / width) / 10000); });
}
