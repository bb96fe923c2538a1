// A player for the arena in JavaScript: melds by rank only, knocks when it can.
//
//     ginrummy match "exec:node examples/arena/player.js" simple --games 200

const RANKS = "A23456789TJQK";
let names = [];

function answer(message) {
  process.stdout.write(JSON.stringify(message) + "\n");
}

function move({ game, hand, upcard, legal }) {
  const held = hand.split(" ");
  const twins = (card) => held.filter((other) => other[0] === card[0]).length;
  const possible = new Map(legal.map((action) => [names[action], action]));
  const cards = held.filter((card) => possible.has(`discard ${card}`));
  cards.sort((a, b) => twins(a) - twins(b) || RANKS.indexOf(b[0]) - RANKS.indexOf(a[0]));
  const wishes = ["big gin", ...cards.map((card) => `knock ${card}`), `discard ${cards[0]}`];
  if (upcard && twins(upcard) >= 2) wishes.push("take");
  const wish = [...wishes, "draw", "pass", "take"].find((each) => possible.has(each));
  answer({ game, action: possible.get(wish) });
}

require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.type === "hello") {
    names = message.actions;
    answer({ type: "ready", protocol: 1, name: "javascript" });
  } else if (message.type === "move") {
    move(message);
  } // deal_over and game_over want no answer
});
