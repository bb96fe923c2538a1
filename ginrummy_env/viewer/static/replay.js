"use strict";
/* Steps through the frames of a recorded game. */

const data = JSON.parse(byId("data").textContent);
CARDS = data.cards;
const frames = data.frames, names = data.names;
let at = 0, view = data.viewer === null ? "open" : String(data.viewer), margin = data.margin;

const seen = (player) => view === "open" || view === String(player);

function handOf(side, player) {
  return (seen(player) && side.open) || side.seen || side.open;
}

function isMistake(frame) {
  return frame.decision && seen(frame.decision.player) && frame.decision.loss >= margin && frame.decision.loss > 0;
}

function show() {
  const frame = frames[at];
  const bottom = view === "1" ? 1 : 0;
  const sides = [1 - bottom, bottom].map((player) => {
    const side = frame.sides[player];
    const drawn = seen(player) && side.drawn !== undefined ? side.drawn : -1;
    return sideElement(names[player], side, handOf(side, player), { drawn, known: seen(player) ? side.known || [] : [] });
  });
  const head = el("div", { class: "row" }, el("strong", {}, `Deal ${frame.deal}, turn ${frame.turn}`),
    el("span", { class: "chip", id: "limit" }, frame.limit), el("span", { class: "faint small" }, `position ${at + 1} of ${frames.length}`));
  const lines = frame.say[view] || Object.values(frame.say)[0];
  byId("status").replaceChildren(...lines.map((line) => el("p", {}, line)));
  byId("table").replaceChildren(head, sides[0], middleElement(frame), sides[1]);
  const rows = data.sheet.rows.filter((row) => row.deal < frame.deal || (row.deal === frame.deal && frame.over));
  byId("sheet").replaceChildren(sheetElement(data.sheet, names, rows, at === frames.length - 1));
  showThoughts(frame);
  byId("slider").value = at;
  byId("slider").setAttribute("aria-valuetext", `Deal ${frame.deal}, turn ${frame.turn}`);
  byId("deal").value = String(frame.deal);
  byId("back").disabled = at === 0;
  byId("forward").disabled = at === frames.length - 1;
  byId("mistake").disabled = !frames.some(isMistake);
  byId("knock").disabled = !frames.some((each) => each.knock);
}

function showThoughts(frame) {
  const thought = frame.decision, box = byId("thoughts");
  box.hidden = !thought || !seen(thought.player);
  if (box.hidden) return;
  const parts = [el("h2", {}, `The decision of ${names[thought.player]}`)];
  if (thought.note) parts.push(el("p", { class: "small faint" }, thought.note));
  if (thought.values) parts.push(valuesElement(thought.values, "Candidates and what each is worth", { unit: thought.note || "", gains: thought.gains || null, base: thought.base || "" }));
  if (isMistake(frame)) parts.push(el("p", { class: "mistake" }, `A mistake: ${Number(thought.loss.toPrecision(3))} below the best.`));
  if (thought.estimate) parts.push(heatElement(thought.estimate, `Estimate of the hand of ${names[1 - thought.player]}, in percent`));
  box.replaceChildren(...parts);
}

function go(to) {
  at = Math.max(0, Math.min(frames.length - 1, to));
  show();
}

/* The next frame for which `wanted` holds, round the end; backwards with step -1. */
function find(wanted, step) {
  for (let count = 1; count <= frames.length; count += 1) {
    const place = (at + step * count + frames.length * count) % frames.length;
    if (wanted(frames[place])) return go(place);
  }
}

function goToDeal(step) {
  const deals = [...new Set(frames.map((frame) => frame.deal))];
  const place = deals.indexOf(frames[at].deal);
  const first = frames.findIndex((frame) => frame.deal === deals[place]);
  const wanted = step < 0 && at > first ? place : Math.max(0, Math.min(deals.length - 1, place + step));
  go(frames.findIndex((frame) => frame.deal === deals[wanted]));
}

function switchView(to) {
  view = to;
  byId("view").value = to;
  show();
}

const VIEWS = data.viewer === null ? ["open", "0", "1"] : [String(data.viewer)];
byId("view").append(...VIEWS.map((each) => el("option", { value: each }, each === "open" ? "open: both hands" : `as ${names[Number(each)]} sees it`)));
byId("view").value = view;
byId("view").addEventListener("change", (event) => switchView(event.target.value));
byId("deal").append(...[...new Set(frames.map((frame) => frame.deal))].map((deal) => el("option", { value: deal }, String(deal))));
byId("deal").addEventListener("change", (event) => go(frames.findIndex((frame) => frame.deal === Number(event.target.value))));
byId("slider").max = frames.length - 1;
byId("slider").addEventListener("input", (event) => go(Number(event.target.value)));
byId("margin").value = margin;
byId("margin").addEventListener("input", (event) => {
  margin = Number(event.target.value) || 0;
  show();
});
byId("back").addEventListener("click", () => go(at - 1));
byId("forward").addEventListener("click", () => go(at + 1));
byId("knock").addEventListener("click", () => find((frame) => frame.knock, 1));
byId("mistake").addEventListener("click", () => find(isMistake, 1));
byId("about").textContent = `Rules: ${data.rules}.`;
setTheme(byId("theme"));

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || /INPUT|SELECT|TEXTAREA/.test(event.target.tagName)) return;
  const back = event.shiftKey ? -1 : 1;
  const keys = {
    ArrowRight: () => go(at + 1), ArrowLeft: () => go(at - 1), Home: () => go(0), End: () => go(frames.length - 1),
    PageDown: () => goToDeal(1), PageUp: () => goToDeal(-1), k: () => find((frame) => frame.knock, back),
    m: () => find(isMistake, back), v: () => switchView(VIEWS[(VIEWS.indexOf(view) + 1) % VIEWS.length]),
  };
  const run = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (run) { event.preventDefault(); run(); }
});

let touch = null;
byId("felt").addEventListener("touchstart", (event) => { touch = event.touches.length === 1 ? event.touches[0] : null; }, { passive: true });
byId("felt").addEventListener("touchend", (event) => {
  if (!touch) return;
  const end = event.changedTouches[0], x = end.clientX - touch.clientX, y = end.clientY - touch.clientY;
  if (Math.abs(x) > 40 && Math.abs(x) > 2 * Math.abs(y)) go(at + (x < 0 ? 1 : -1));
}, { passive: true });

show();
