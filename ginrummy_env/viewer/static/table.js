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

/* A card: its rank and suit in the corner, which shows when cards overlap. With `press` a button. */
function cardElement(card, { classes = "", words = "", press = null, more = {} } = {}) {
  const [short, name] = CARDS[card];
  const label = words ? `${name}, ${words}` : name;
  const sign = short[1] + "\ufe0e";
  const given = { class: `card ${isRed(card) ? "red" : "black"} ${classes}`, "aria-label": label, title: label, "data-card": card, ...more };
  const face = [
    el("span", { class: "corner", "aria-hidden": "true" }, el("span", {}, short[0]), el("span", {}, sign)),
    el("span", { class: "pip", "aria-hidden": "true" }, sign)];
  if (press) return el("button", { type: "button", ...given, on: { click: () => press(card) } }, ...face);
  return el("span", { role: "img", ...given }, ...face);
}

const slot = (card) => el("span", { class: "slot" }, card);

/* A hand in one row: its groups side by side, each with what it is below it. */
function handElement(name, hand, { drawn = -1, known = [], press = null, chosen = -1 } = {}) {
  const many = hand.groups.length > 4 || hand.groups.some((group) => group.onto);
  const box = el("div", { class: `hand ${hand.unseen ? "backs" : ""} ${many ? "several" : ""}`, role: "group", "aria-label": `Hand of ${name}`, "data-drop": press || hand.drop ? "hand" : null });
  if (hand.unseen) {
    const backs = Array.from({ length: hand.unseen }, () => slot(el("span", { class: "card back", "aria-hidden": "true" })));
    box.append(el("div", { class: "group", role: "group", "aria-label": `${hand.unseen} cards not seen` },
      el("div", { class: "cards" }, ...backs), el("div", { class: "label" }, `${hand.unseen} unseen`)));
  }
  for (const group of hand.groups) {
    const cards = group.cards.map((card) => {
      const classes = [card === drawn ? "drawn" : "", known.includes(card) ? "known" : "", card === chosen ? "chosen" : ""].join(" ");
      const words = [card === drawn ? "just drawn" : "", known.includes(card) ? "known to the other player" : ""].filter(Boolean).join(", ");
      const more = press ? { "data-drag": `card ${card}`, "aria-pressed": String(card === chosen) } : {};
      return slot(cardElement(card, { classes, words, press, more }));
    });
    let label = group.label;
    if (group.onto) label += " on " + group.onto.map((card) => CARDS[card][0]).join(" ");
    // The last card of a group lies open: only the others give way where there is little room.
    const give = `flex-shrink:${(cards.length - 1) / cards.length}`;
    box.append(el("div", { class: `group ${group.kind.replace(" ", "-")}`, role: "group", "aria-label": label, style: give },
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

/* The stock and the discard pile, oldest first. What can be done with them, if anything: `stock`,
   `pile` and `knock` are {words, run}; without `run` it is said, and cannot be done yet. */
function middleElement(frame, { stock = null, pile = null, knock = null } = {}) {
  const top = frame.pile.length - 1;
  const cards = frame.pile.map((card, place) => (place < top ? cardElement(card, { classes: "small" })
    : pile && pile.run ? cardElement(card, { classes: "top", words: `upcard: ${pile.words}`, press: () => pile.run(), more: { "data-drag": pile.drag, "data-action": pile.action } })
      : cardElement(card, { classes: "top", words: "upcard" })));
  if (top < 0) cards.push(el("span", { class: "card empty", "aria-hidden": "true" }));
  const back = { class: "card back", "aria-hidden": stock && stock.run ? null : "true" };
  const deck = stock && stock.run
    ? el("button", { type: "button", ...back, "aria-label": stock.words, title: stock.words, "data-drag": "stock", "data-action": stock.action, on: { click: () => stock.run() } }, String(frame.stock))
    : el("span", back, String(frame.stock));
  const parts = [
    el("div", { class: "stock", role: "group", "aria-label": `Stock: ${frame.stock} cards` }, deck, el("div", { class: "label" }, "stock")),
    el("div", { class: "pile", role: "group", "aria-label": `Discard pile, oldest first, ${frame.pile.length} cards`, "data-drop": "pile" },
      el("div", { class: "cards" }, ...cards),
      el("div", { class: "label" }, pile && pile.words ? pile.words : frame.pile.length ? "discard pile, the upcard last" : "the discard pile is empty"))];
  if (knock) {
    parts.push(el("div", { class: "stock", role: "group", "aria-label": "Knock" },
      el("button", { type: "button", class: "card empty knock", disabled: !knock.run, "aria-label": knock.words, title: knock.words, "data-drop": "knock", on: { click: () => knock.run && knock.run() } }, "knock"),
      el("div", { class: "label" }, knock.run ? "tap to knock" : "or knock here")));
  }
  return el("div", { class: "middle" }, ...parts);
}

/* The score sheet: deals that are over, then bonuses. Lines do not wrap; what is too long ends in …. */
function sheetElement(sheet, names, rows, withBonuses) {
  const head = el("tr", {}, el("th", { scope: "col", class: "words" }, "Deal"), ...names.map((name) => el("th", { scope: "col", class: "number", title: name }, el("span", { class: "name" }, name))));
  const body = el("tbody");
  if (sheet.start.some((score) => score)) {
    body.append(el("tr", {}, el("th", { scope: "row", class: "words" }, "before"), ...sheet.start.map((score) => el("td", { class: "number" }, String(score)))));
  }
  for (const row of rows) {
    const words = `${row.deal}. ${row.result}`, winner = row.winner ? `, ${row.winner}` : "";
    const cells = row.points.map((points, player) => el("td", { class: "number" }, points ? `+${points} ` : "", el("span", { class: points ? "" : "faint" }, `= ${row.scores[player]}`)));
    body.append(el("tr", {}, el("th", { scope: "row", class: "words", title: words + winner }, words, el("span", { class: "sr" }, winner)), ...cells));
    if (row.sum) body.append(el("tr", { class: "sum" }, el("td", { class: "words faint small", colspan: 3, title: row.sum }, row.sum)));
  }
  if (withBonuses) {
    for (const line of sheet.bonuses) {
      const final = line === sheet.bonuses[sheet.bonuses.length - 1];
      body.append(el("tr", { class: final ? "final" : "bonus" }, el("th", { scope: "row", class: "words" }, line.words),
        ...line.points.map((points) => el("td", { class: "number" }, final ? String(points) : points ? `+${points}` : "–"))));
    }
  }
  return el("table", { class: "sheet" }, el("caption", {}, `Score sheet, to ${sheet.target} points`), el("thead", {}, head), body);
}

const signed = (number, digits) => (number > 0 ? "+" : "") + number.toFixed(digits).replace("-", "−");

/* What the candidates of a decision are worth, best first, and how far each is from what was done,
   or from what a search's base policy does (`gains`: the difference and half its 95 % interval). */
function valuesElement(values, caption, { unit = "", gains = null, base = "" } = {}) {
  const percent = unit.includes("chance"), scale = percent ? 100 : 1;
  const done = values.find((entry) => entry[2]) || values[0];
  const reference = gains ? base : done[0];
  const differences = gains || values.map((entry) => [entry[1] - done[1], 0]);
  const reach = Math.max(...differences.map(([gain, half]) => Math.abs(gain) + half)) || 1;
  const place = (x) => 50 + 48 * x / reach;
  const digits = percent ? 1 : 2;
  const rows = values.map(([words, value, chosen], at) => {
    const [gain, half] = differences[at], from = Math.min(place(0), place(gain)), to = Math.max(place(0), place(gain));
    const same = words === reference;
    const text = same ? "–" : signed(scale * gain, digits) + (half ? ` ± ${(scale * half).toFixed(digits)}` : "");
    const parts = [el("span", { class: "zero" })];
    if (!same) {
      parts.push(el("span", { class: `length ${gain < 0 ? "less" : ""}`, style: `left:${from}%;width:${to - from}%` }));
      if (half) parts.push(el("span", { class: "whisker", style: `left:${place(gain - half)}%;width:${place(gain + half) - place(gain - half)}%` }));
    }
    return el("tr", { class: chosen ? "chosen" : "" },
      el("th", { scope: "row" }, words, chosen ? " ✓" : "", chosen ? el("span", { class: "sr" }, " chosen") : null),
      el("td", { class: "number" }, percent ? `${(100 * value).toFixed(1)} %` : String(Number(value.toPrecision(4)))),
      el("td", { class: "number" }, text),
      el("td", { class: "bars", "aria-hidden": "true" }, el("span", { class: "difference" }, ...parts)));
  });
  const head = el("tr", { class: "small" }, el("th", { scope: "col" }, ""), el("th", { scope: "col", class: "number" }, percent ? "chance" : "worth"),
    el("th", { scope: "col", class: "number", colspan: 2 }, `more than ${reference}`));
  const note = gains ? "Differences in the same sampled worlds, with 95 % intervals; the line is zero." : "The line is zero difference.";
  return el("div", {}, el("table", { class: "values" }, el("caption", {}, caption), el("thead", {}, head), el("tbody", {}, ...rows)), el("p", { class: "faint small" }, note));
}

/* How likely each card is in a hand: four suits by thirteen ranks. A card as likely as the mean
   unseen one is not coloured; the scale is the same in every position, so that what is hardly
   known looks so: full colour is four times the odds, or a quarter of them. */
function heatElement(shares, caption) {
  const ranks = Array.from({ length: 13 }, (_, rank) => CARDS[rank][0][0]);
  const certain = (share) => share >= 0.995;
  const open = shares.filter((share) => share > 0 && !certain(share));
  const mean = open.reduce((sum, share) => sum + share, 0) / (open.length || 1);
  const odds = (share) => share / (1 - share);
  const heat = (share) => {
    const times = Math.log(odds(share) / odds(mean)) / Math.log(4);
    return Math.abs(times) < 0.16 ? 0 : Math.max(-1, Math.min(1, times));
  };
  const head = el("tr", {}, el("td", {}), ...ranks.map((rank) => el("th", { scope: "col" }, rank)));
  const rows = [0, 1, 2, 3].map((suit) => el("tr", {},
    el("th", { scope: "row", class: `sign ${suit === 1 || suit === 2 ? "red" : ""}`, "aria-label": CARDS[13 * suit][1].split(" ").pop() }, CARDS[13 * suit][0][1] + "\ufe0e"),
    ...ranks.map((_, rank) => {
      const share = shares[13 * suit + rank];
      const percent = Math.round(100 * share);
      const words = `${CARDS[13 * suit + rank][1]}: ${percent} %`;
      const warm = share > 0 && !certain(share) ? heat(share) : 0;
      const color = warm ? `background:rgba(var(${warm > 0 ? "--more" : "--less"}),${(0.65 * Math.abs(warm)).toFixed(2)})` : "";
      return el("td", { style: color || null, class: certain(share) ? "certain" : null, title: words, "aria-label": words }, percent ? String(percent) : "·");
    })));
  const note = open.length ? `Without colour: about as likely as the mean unseen card, ${Math.round(100 * mean)} %.` : "";
  return el("div", {}, el("table", { class: "heat" }, el("caption", {}, caption), el("thead", {}, head), el("tbody", {}, ...rows)),
    el("p", { class: "faint small legend" }, el("span", { class: "swatch less" }), "less likely ", el("span", { class: "swatch more" }), "likelier ", el("span", { class: "swatch certain" }), "known. ", note));
}

function setTheme(button) {
  const root = document.documentElement;
  button.addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
}
