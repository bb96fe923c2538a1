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

const act = async (choice) => take(await send("/api/act", { action: choice.action }));

function choiceButton(choice, main) {
  const leaves = choice.left === undefined ? "" : choice.left === 0 && choice.knock ? " (gin)" : ` (leaves ${choice.left})`;
  return el("button", { type: "button", class: `grow ${main ? "main" : ""}`, "data-action": choice.action,
    on: { click: () => act(choice) } }, choice.words + leaves);
}

/* What may be done with a card: throw it, or knock with it. */
const withCard = (card, knock) => scene.choices.find((choice) => choice.card === card && choice.knock === knock);
const plain = (action) => scene.choices.find((choice) => choice.action === action);
const [STOCK, UPCARD] = [104, 105];

/* What the stock, the pile and the place to knock do when they are tapped. */
function middleActions() {
  const drawn = plain(STOCK), taken = plain(UPCARD), thrown = withCard(chosen, false), knocked = withCard(chosen, true);
  const does = (choice, more = {}) => choice && { words: choice.words, action: choice.action, run: () => act(choice), ...more };
  const anyKnock = scene.choices.some((choice) => choice.knock);
  return {
    stock: does(drawn),
    pile: does(taken, { drag: "upcard" }) || does(thrown),
    knock: anyKnock ? does(knocked) || { words: "knock: choose a card, or drag it here" } : null,
  };
}

/* The choice that dragging something onto a place means. */
function dropped(what, onto) {
  const [kind, card] = what.split(" ");
  if (kind === "card") return onto === "hand" ? undefined : withCard(Number(card), onto === "knock");
  return onto === "hand" ? plain(kind === "stock" ? STOCK : UPCARD) : undefined;
}

/* Cards, stock and upcard can be dragged with mouse, pen or finger; a tap stays a tap. */
function setDragging(table) {
  const far = 8;
  let drag = null;
  const end = () => {
    if (!drag) return;
    if (drag.ghost) drag.ghost.remove();
    for (const place of document.querySelectorAll(".ready")) place.classList.remove("ready", "over");
    drag = null;
  };
  const under = (event) => {
    const place = document.elementsFromPoint(event.clientX, event.clientY).map((each) => each.closest("[data-drop]")).find((each) => each);
    return place && dropped(drag.what, place.dataset.drop) ? place : null;
  };
  table.addEventListener("pointerdown", (event) => {
    const source = event.target.closest("[data-drag]");
    if (!source || busy || event.button !== 0 || !event.isPrimary) return;
    drag = { source, what: source.dataset.drag, x: event.clientX, y: event.clientY, ghost: null };
  });
  window.addEventListener("pointermove", (event) => {
    if (!drag || !event.isPrimary) return;
    if (!drag.ghost) {
      if (Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < far) return;
      const box = drag.source.getBoundingClientRect();
      drag.ghost = drag.source.cloneNode(true);
      drag.ghost.classList.add("ghost");
      drag.ghost.setAttribute("aria-hidden", "true");
      drag.ghost.style.cssText = `left:${box.left}px;top:${box.top}px`;
      document.body.append(drag.ghost);
      for (const place of document.querySelectorAll("[data-drop]")) if (dropped(drag.what, place.dataset.drop)) place.classList.add("ready");
    }
    drag.ghost.style.transform = `translate(${event.clientX - drag.x}px,${event.clientY - drag.y}px) rotate(4deg)`;
    const place = under(event);
    for (const each of document.querySelectorAll(".ready")) each.classList.toggle("over", each === place);
  });
  window.addEventListener("pointerup", (event) => {
    if (!drag || !event.isPrimary) return;
    const place = drag.ghost ? under(event) : null, choice = place && dropped(drag.what, place.dataset.drop);
    if (drag.ghost) { // the click that follows a drag is none
      const quiet = (click) => { click.stopPropagation(); click.preventDefault(); };
      window.addEventListener("click", quiet, { capture: true, once: true });
      setTimeout(() => window.removeEventListener("click", quiet, { capture: true }), 0);
    }
    end();
    if (choice) act(choice);
  });
  window.addEventListener("pointercancel", end);
}

function showChoices() {
  const box = byId("choices"), parts = [];
  if (scene.status === "deal over" || scene.status === "agent's move") {
    const words = scene.status === "deal over" ? "next deal" : `let ${scene.agent} move`;
    parts.push(el("button", { type: "button", class: "main grow", id: "go-on", on: { click: async () => take(await send("/api/go-on", {})) } }, words));
  } else if (scene.status === "game over") {
    parts.push(el("strong", { class: "grow" }, scene.won ? "You won the game." : `${scene.agent} won the game.`), newGameButton());
  } else {
    const others = scene.choices.filter((choice) => choice.card === undefined);
    const ofCard = scene.choices.filter((choice) => choice.card === chosen);
    parts.push(...others.map((choice) => choiceButton(choice, true)), ...ofCard.map((choice) => choiceButton(choice, choice.knock)));
    if (scene.choices.some((choice) => choice.card !== undefined) && !ofCard.length) {
      const may = scene.choices.some((choice) => choice.knock);
      parts.push(el("span", { class: "grow" }, chosen >= 0 ? "You just took this card: keep it." : may ? "Tap a card, or drag it to the pile to discard it or to the place next to it to knock." : "Tap a card to discard it, or drag it to the pile."));
    }
  }
  box.replaceChildren(...parts);
}

function newGameButton() {
  return el("button", { type: "button", class: "main", id: "again", on: { click: async () => take(await send("/api/new-game", { agent: scene.agent, rules: scene.rules })) } }, "new game");
}

function show() {
  const frame = scene.frame, [you, other] = frame.sides;
  const names = ["You", scene.agent];
  document.body.dataset.at = `${scene.game}.${scene.version}`;
  byId("title").textContent = `Gin rummy against ${scene.agent}`;
  const press = scene.status === "your move" && scene.choices.some((choice) => choice.card !== undefined) ? choose : null;
  byId("table").replaceChildren(
    el("div", { class: "row" }, el("strong", {}, `Deal ${frame.deal}, turn ${frame.turn}`), el("span", { class: "chip" }, frame.limit)),
    sideElement(names[1], other, other.seen), middleElement(frame, middleActions()),
    sideElement(names[0], you, { ...you.open, drop: Boolean(plain(STOCK) || plain(UPCARD)) }, { drawn: you.drawn === undefined ? -1 : you.drawn, known: you.known || [], press, chosen }));
  byId("status").replaceChildren(...Object.values(frame.say)[0].map((line) => el("p", {}, line)));
  showChoices();
  byId("sheet").replaceChildren(sheetElement(scene.sheet, names, scene.sheet.rows, true));
  byId("log").replaceChildren(...scene.log.map((line) => el("li", {}, line)));
  byId("hint").disabled = scene.status !== "your move";
  for (const [id, all, now] of [["adviser", scene.agents, scene.agent], ["opponent", scene.agents, scene.agent], ["rules", scene.allRules, scene.rules]]) {
    const select = byId(id), before = select.value || now;
    select.replaceChildren(...all.map((name) => el("option", { value: name }, name)));
    select.value = before;
  }
  byId("about").textContent = `Rules: ${scene.rules}. Saved in ${scene.file}. A dot marks a card that ${scene.agent} knows you hold.`;
}

byId("hint").addEventListener("click", async () => {
  const agent = byId("adviser").value;
  const advice = await send("/api/hint", { agent });
  if (!advice || advice.version !== scene.version || advice.game !== scene.game) return;
  show();
  const parts = [el("p", {}, `${advice.agent} would `, el("strong", {}, advice.words), "."), advice.why ? el("p", {}, advice.why) : null];
  if (advice.values && advice.values.length > 1) {
    const { unit, gains, base } = advice;
    parts.push(valuesElement(advice.values, `What each is worth: ${unit}`, { unit, gains, base }));
  }
  if (advice.opponent) parts.push(el("p", {}, advice.opponent));
  if (advice.estimate) parts.push(heatElement(advice.estimate, `What ${scene.agent} may hold, in percent`));
  byId("advice").replaceChildren(...parts.filter(Boolean));
});
byId("new").addEventListener("click", async () => take(await send("/api/new-game", { agent: byId("opponent").value, rules: byId("rules").value })));
window.addEventListener("focus", () => { if (!busy && scene) load().catch(() => {}); });
setDragging(byId("table"));
setTheme(byId("theme"));
load().catch((error) => say(error.message));
