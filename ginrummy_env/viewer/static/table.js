"use strict";
/* What the replay page and the game in the browser both draw. Nothing is worked out here: what a
   position shows comes from Python; text goes in as text, never as markup. */

let CARDS = []; // [[in short, in words], ...] of the 52 cards

function el(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === false || value === null || value === undefined) continue;
    if (name === "on") for (const [event, run] of Object.entries(value)) made.addEventListener(event, run);
    else if (name === "style") made.style.cssText = value; // allowed where style attributes are not
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

const byId = (id) => document.getElementById(id);

function isRed(card) { return card >= 13 && card < 39; }

/* A card; with `press` a button. */
function cardElement(card, { classes = "", words = "", press = null } = {}) {
  const [short, name] = CARDS[card];
  const label = words ? `${name}, ${words}` : name;
  const kind = `card ${isRed(card) ? "red" : "black"} ${classes}`;
  const face = [el("span", { "aria-hidden": "true" }, short[0]), el("span", { "aria-hidden": "true" }, short[1] + "\ufe0e")];
  if (press) return el("button", { type: "button", class: kind, "aria-label": label, title: label, "data-card": card, on: { click: () => press(card) } }, ...face);
  return el("span", { class: kind, role: "img", "aria-label": label, title: label, "data-card": card }, ...face);
}

/* A hand: its groups side by side, each with what it is below it. */
function handElement(name, hand, { drawn = -1, known = [], press = null, chosen = -1 } = {}) {
  const box = el("div", { class: `hand ${hand.unseen ? "backs" : ""}`, role: "group", "aria-label": `Hand of ${name}` });
  if (hand.unseen) {
    const backs = Array.from({ length: hand.unseen }, () => el("span", { class: "card back", "aria-hidden": "true" }));
    box.append(el("div", { class: "group", role: "group", "aria-label": `${hand.unseen} cards not seen` },
      el("div", { class: "cards" }, ...backs), el("div", { class: "label" }, `${hand.unseen} unseen`)));
  }
  for (const group of hand.groups) {
    const cards = group.cards.map((card) => {
      const classes = [card === drawn ? "drawn" : "", known.includes(card) ? "known" : "", card === chosen ? "chosen" : ""].join(" ");
      const words = [card === drawn ? "just drawn" : "", known.includes(card) ? "known to the other player" : ""].filter(Boolean).join(", ");
      return cardElement(card, { classes, words, press });
    });
    let label = group.label;
    if (group.onto) label += " on " + group.onto.map((card) => CARDS[card][0]).join(" ");
    box.append(el("div", { class: `group ${group.kind.replace(" ", "-")}`, role: "group", "aria-label": label },
      el("div", { class: "cards" }, ...cards), el("div", { class: "label" }, label)));
  }
  return box;
}

/* A player's name, score and hand. */
function sideElement(name, side, hand, options = {}) {
  const facts = [`${side.score} ${side.score === 1 ? "point" : "points"}`, `${side.won} ${side.won === 1 ? "deal" : "deals"} won`];
  if (side.dealer) facts.push("dealer");
  if (hand.deadwood !== undefined) facts.push(`deadwood ${hand.deadwood}`);
  if (side.wonDeal) facts.push("won the deal");
  return el("section", { class: "side", "aria-label": name },
    el("div", { class: `plate ${side.toMove ? "turn" : ""}` }, el("span", { class: "name" }, name),
      side.toMove ? el("span", { class: "sr" }, "to move") : null, el("span", { class: "small" }, facts.join(" · "))),
    handElement(name, hand, options));
}

/* The stock and the discard pile, oldest first. */
function middleElement(frame) {
  const pile = frame.pile.map((card, place) => cardElement(card, place === frame.pile.length - 1
    ? { classes: "top", words: "upcard" } : { classes: "small" }));
  return el("div", { class: "middle" },
    el("div", { class: "stock", role: "group", "aria-label": `Stock: ${frame.stock} cards` },
      el("div", { class: "card", "aria-hidden": "true" }, String(frame.stock)), el("div", { class: "label small" }, "stock")),
    el("div", { class: "pile", role: "group", "aria-label": `Discard pile, oldest first, ${frame.pile.length} cards` },
      el("div", { class: "cards" }, ...pile),
      el("div", { class: "label small" }, frame.pile.length ? "discard pile, the upcard last" : "the discard pile is empty")));
}

/* The score sheet: deals that are over, then bonuses. */
function sheetElement(sheet, names, rows, withBonuses) {
  const head = el("tr", {}, el("th", { scope: "col" }, "Deal"), ...names.map((name) => el("th", { scope: "col", class: "number" }, name)));
  const body = el("tbody");
  if (sheet.start.some((score) => score)) {
    body.append(el("tr", {}, el("th", { scope: "row" }, "before"), ...sheet.start.map((score) => el("td", { class: "number" }, String(score)))));
  }
  for (const row of rows) {
    const cells = row.points.map((points, player) => el("td", { class: "number" }, points ? `+${points} ` : "", el("span", { class: points ? "" : "faint" }, `= ${row.scores[player]}`)));
    body.append(el("tr", {}, el("th", { scope: "row" }, `${row.deal}. ${row.result}`, row.sum ? el("div", { class: "faint small" }, row.sum) : null), ...cells));
  }
  if (withBonuses) {
    for (const line of sheet.bonuses) {
      const final = line === sheet.bonuses[sheet.bonuses.length - 1];
      body.append(el("tr", { class: final ? "final" : "bonus" }, el("th", { scope: "row" }, line.words),
        ...line.points.map((points) => el("td", { class: "number" }, final ? String(points) : points ? `+${points}` : "–"))));
    }
  }
  return el("table", { class: "sheet" }, el("caption", {}, `Score sheet, to ${sheet.target} points`), el("thead", {}, head), body);
}

/* What the candidates of a decision are worth, best first. */
function valuesElement(values, caption) {
  const numbers = values.map((entry) => entry[1]);
  const low = Math.min(...numbers), span = Math.max(...numbers) - low || 1;
  const rows = values.map(([words, value, chosen]) => el("tr", { class: chosen ? "chosen" : "" },
    el("th", { scope: "row" }, words, chosen ? " ✓" : "", chosen ? el("span", { class: "sr" }, " chosen") : null),
    el("td", { class: "number" }, String(Number(value.toPrecision(4)))),
    el("td", { "aria-hidden": "true", style: "width:34%" }, el("span", { class: "bar", style: `width:${8 + 92 * (value - low) / span}%` }))));
  return el("table", { class: "values" }, el("caption", {}, caption), el("tbody", {}, ...rows));
}

/* How likely each card is in a hand: four suits by thirteen ranks. */
function heatElement(shares, caption) {
  const ranks = Array.from({ length: 13 }, (_, rank) => CARDS[rank][0][0]);
  // What is neither certain nor impossible is coloured from the least to the most likely.
  const open = shares.filter((share) => share > 0 && share < 0.995);
  const low = Math.min(...open), span = Math.max(...open) - low || 1;
  const heat = (share) => (share >= 0.995 ? 1 : share > 0 ? 0.1 + 0.4 * (share - low) / span : 0);
  const head = el("tr", {}, el("td", {}), ...ranks.map((rank) => el("th", { scope: "col" }, rank)));
  const rows = [0, 1, 2, 3].map((suit) => el("tr", {},
    el("th", { scope: "row", class: `sign ${suit === 1 || suit === 2 ? "red" : ""}`, "aria-label": CARDS[13 * suit][1].split(" ").pop() }, CARDS[13 * suit][0][1] + "\ufe0e"),
    ...ranks.map((_, rank) => {
      const share = shares[13 * suit + rank];
      const percent = Math.round(100 * share);
      const words = `${CARDS[13 * suit + rank][1]}: ${percent} %`;
      return el("td", { style: `background:rgba(var(--heat),${heat(share).toFixed(2)})`, class: heat(share) > 0.55 ? "dark" : "", title: words, "aria-label": words }, percent ? String(percent) : "·");
    })));
  return el("table", { class: "heat" }, el("caption", {}, caption), el("thead", {}, head), el("tbody", {}, ...rows));
}

function setTheme(button) {
  const root = document.documentElement;
  button.addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
}
