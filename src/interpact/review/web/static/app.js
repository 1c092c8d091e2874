// Keys, focus and notices. Every page works without this file; it only makes work faster.
"use strict";

const one = (selector) => document.querySelector(selector);

document.addEventListener("htmx:after:swap", () => {
  settle();
  one("#notice").replaceChildren();
  remember();
  choose();
});

// A change that waited for an earlier one is based on what came of that one.
document.addEventListener("htmx:before:request", (event) => {
  const body = event.detail.ctx.request.body;
  const base = one("#item input[name=base]");
  if (base && body instanceof URLSearchParams && body.has("base")) body.set("base", base.value);
});

document.addEventListener("htmx:error", () => {
  const told = document.createElement("p");
  told.className = "problem";
  told.textContent = "Not saved: the server cannot be reached. ";
  const again = document.createElement("button");
  again.type = "button";
  again.textContent = "Load this page again";
  again.addEventListener("click", () => location.reload());
  told.append(again);
  one("#notice").replaceChildren(told);
});

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-print]")) window.print();
});

// The chosen condition: its evidence is marked.
let chosen = null;
function choose() {
  for (const unit of document.querySelectorAll("[data-bears]"))
    unit.classList.toggle("bears", chosen !== null && unit.dataset.bears.trim().split(" ").includes(chosen));
  for (const set of document.querySelectorAll("[data-condition]"))
    set.classList.toggle("chosen", set.dataset.condition === chosen);
}
document.addEventListener("focusin", (event) => {
  const set = event.target.closest("[data-condition]");
  if (!set) return;
  chosen = set.dataset.condition;
  choose();
});

function kept(name) {
  try { return localStorage.getItem(name); } catch { return null; }
}
function remember() {
  const box = one("#shortcuts");
  if (box) box.checked = kept("shortcuts") !== "off";
}
document.addEventListener("change", (event) => {
  if (event.target.id !== "shortcuts") return;
  try { localStorage.setItem("shortcuts", event.target.checked ? "on" : "off"); } catch { /* private window */ }
});

// While an answer is on its way, further keys wait: they are meant for the page that comes of it.
let busy = false;
const waiting = [];
document.addEventListener("htmx:finally:request", () => {
  busy = false;
  while (waiting.length && !busy) act(waiting.shift(), document.body);
});

function pick(radio) {
  if (!radio || radio.disabled) return false;
  radio.focus();
  if (!radio.checked) {
    busy = true;
    radio.click();
  }
  return true;
}

function act(key, target) {
  const button = one({ r: "#reveal", u: "#undo", n: "#next", p: "#previous" }[key] ?? "#none");
  if (button) {
    busy = true;
    button.click();
  } else if (/^[1-9]$/.test(key)) {
    const within = target.closest("form.question");
    const asked = within && !within.querySelector("fieldset").disabled ? within : one("form.question.active");
    if (!asked || !pick(asked.querySelectorAll("input[type=radio]")[key - 1])) return false;
    document.activeElement.blur(); // the next digit answers the next question
  } else return false;
  return true;
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("textarea, select, input:not([type=radio]):not([type=checkbox])")) return;
  if (one("#item")) {
    if (kept("shortcuts") === "off" || !/^[1-9runp]$/.test(event.key)) return;
    if (busy) waiting.push(event.key);
    if (busy || act(event.key, event.target)) event.preventDefault();
  } else if (one("#case")) {
    const sets = [...document.querySelectorAll("[data-condition]")];
    const at = sets.findIndex((set) => set.dataset.condition === chosen);
    if (event.key === "j" || event.key === "k") {
      const next = sets[Math.max(0, Math.min(sets.length - 1, event.key === "j" ? at + 1 : at - 1))];
      next?.querySelector("input:checked")?.focus();
      next?.scrollIntoView({ block: "nearest" });
    } else if (/^[1-3]$/.test(event.key) && at >= 0) {
      pick(sets[at].querySelectorAll("input")[event.key - 1]);
    }
  }
}

// What the server says counts: neither a swap nor a click before htmx listens may leave a radio
// button in a state that is not saved.
function settle() {
  for (const radio of document.querySelectorAll("#case input[type=radio], #item input[type=radio]"))
    if (radio.checked !== radio.defaultChecked) radio.checked = radio.defaultChecked;
}

// htmx begins to listen in a task of its own, put up before this one.
setTimeout(() => {
  document.documentElement.classList.add("scripted");
  document.addEventListener("keydown", onKey);
  settle();
  remember();
});
