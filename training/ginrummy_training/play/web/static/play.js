"use strict";
/* The game in the browser: shows the scene that the server sends, and sends back what is clicked. */

CARDS = JSON.parse(byId("cards").textContent);
let scene = null, chosen = -1, busy = false;

async function ask(path, body) {
  const options = body ? { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) } : {};
  const answer = await fetch(path, options);
  const data = await answer.json().catch(() => ({ error: "the server's answer cannot be read" }));
  if (!answer.ok) throw Object.assign(new Error(data.error || answer.statusText), { status: answer.status });
  return data;
}

function say(words) {
  byId("error").textContent = words;
  byId("error").hidden = !words;
}

/* Sends a step meant for the position on the screen. */
async function send(path, more) {
  if (busy) return null;
  busy = true;
  say("");
  document.body.setAttribute("aria-busy", "true");
  const waiting = setTimeout(() => { byId("status").replaceChildren(el("p", {}, "…"), el("p", {}, `${scene.agent} is thinking.`)); }, 400);
  try {
    return await ask(path, { game: scene.game, version: scene.version, ...more });
  } catch (error) {
    if (error.status) await load();
    else show();
    say(error.status ? error.message : "The server does not answer. Is it running?");
    return null;
  } finally {
    clearTimeout(waiting);
    document.body.removeAttribute("aria-busy");
    busy = false;
  }
}

function take(next) {
  if (!next) return;
  scene = next;
  chosen = -1;
  byId("advice").replaceChildren();
  show();
  // What was clicked is gone: the keyboard goes on with what can be done now.
  const first = document.querySelector("#choices button") || document.querySelector("#table button");
  if (first && document.activeElement === document.body) first.focus({ preventScroll: true });
}

async function load() {
  const next = await ask("/api/game");
  if (scene && next.game === scene.game && next.version === scene.version) return show();
  take(next);
}

function choose(card) {
  chosen = chosen === card ? -1 : card;
  show();
  const first = byId("choices").querySelector("button");
  if (first && chosen >= 0) first.focus();
}

function choiceButton(choice, main) {
  const leaves = choice.left === undefined ? "" : choice.left === 0 && choice.knock ? " (gin)" : ` (leaves ${choice.left})`;
  return el("button", { type: "button", class: `grow ${main ? "main" : ""}`, "data-action": choice.action,
    on: { click: async () => take(await send("/api/act", { action: choice.action })) } }, choice.words + leaves);
}

function showChoices() {
  const box = byId("choices"), parts = [];
  if (scene.status === "deal over" || scene.status === "agent's move") {
    const words = scene.status === "deal over" ? "next deal" : `let ${scene.agent} move`;
    parts.push(el("button", { type: "button", class: "main grow", id: "go-on", on: { click: async () => take(await send("/api/go-on", {})) } }, words));
  } else if (scene.status === "game over") {
    parts.push(el("strong", { class: "grow" }, scene.won ? "You won the game." : `${scene.agent} won the game.`), newGameButton(scene.agent));
  } else {
    const plain = scene.choices.filter((choice) => choice.card === undefined);
    const ofCard = scene.choices.filter((choice) => choice.card === chosen);
    parts.push(...plain.map((choice) => choiceButton(choice, true)), ...ofCard.map((choice) => choiceButton(choice, choice.knock)));
    if (scene.choices.some((choice) => choice.card !== undefined) && !ofCard.length) {
      const may = scene.choices.some((choice) => choice.knock);
      parts.push(el("span", { class: "grow" }, chosen >= 0 ? "This card has to stay." : may ? "Choose a card to discard or to knock with." : "Choose a card to discard."));
    }
  }
  box.replaceChildren(...parts);
}

function newGameButton(agent) {
  return el("button", { type: "button", class: "main", id: "again", on: { click: async () => take(await send("/api/new-game", { agent })) } }, "new game");
}

function show() {
  const frame = scene.frame, [you, other] = frame.sides;
  const names = ["You", scene.agent];
  document.body.dataset.at = `${scene.game}.${scene.version}`;
  byId("title").textContent = `Gin rummy against ${scene.agent}`;
  const press = scene.status === "your move" && scene.choices.some((choice) => choice.card !== undefined) ? choose : null;
  byId("table").replaceChildren(
    el("div", { class: "row" }, el("strong", {}, `Deal ${frame.deal}, turn ${frame.turn}`), el("span", { class: "chip" }, frame.limit)),
    sideElement(names[1], other, other.seen), middleElement(frame),
    sideElement(names[0], you, you.open, { drawn: you.drawn === undefined ? -1 : you.drawn, known: you.known || [], press, chosen }));
  byId("status").replaceChildren(...Object.values(frame.say)[0].map((line) => el("p", {}, line)));
  showChoices();
  byId("sheet").replaceChildren(sheetElement(scene.sheet, names, scene.sheet.rows, true));
  byId("log").replaceChildren(...scene.log.map((line) => el("li", {}, line)));
  byId("hint").disabled = scene.status !== "your move";
  for (const id of ["adviser", "opponent"]) {
    const select = byId(id), before = select.value || scene.agent;
    select.replaceChildren(...scene.agents.map((name) => el("option", { value: name }, name)));
    select.value = before;
  }
  byId("about").textContent = `Rules: ${scene.rules}. Saved in ${scene.file}. A dot marks a card that ${scene.agent} knows you hold.`;
}

byId("hint").addEventListener("click", async () => {
  const agent = byId("adviser").value;
  const advice = await send("/api/hint", { agent });
  if (!advice || advice.version !== scene.version || advice.game !== scene.game) return;
  show();
  const parts = [el("p", {}, `${advice.agent} would `, el("strong", {}, advice.words), ".")];
  if (advice.values && advice.values.length > 1) parts.push(valuesElement(advice.values, `What each is worth: ${advice.unit}`));
  if (advice.estimate) parts.push(heatElement(advice.estimate, `What ${scene.agent} may hold, in percent`));
  byId("advice").replaceChildren(...parts);
});
byId("new").addEventListener("click", async () => take(await send("/api/new-game", { agent: byId("opponent").value })));
window.addEventListener("focus", () => { if (!busy && scene) load().catch(() => {}); });
setTheme(byId("theme"));
load().catch((error) => say(error.message));
