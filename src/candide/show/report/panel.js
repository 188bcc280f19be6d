// The panel: reads what is set, adds up what each feature says, and shows the softmax.

const model = JSON.parse(document.getElementById("model").textContent);
const NEVER = -1e200; // anything less stands for minus infinity
const GRID = 2 ** 32; // fractional amounts of words are whole multiples of 1 / GRID

// What amount so many occurrences of each word are, by the text's way of counting.
function amounts(times, weighting) {
  const there = (count) => (count > 0 ? 1 : 0);
  const ways = { counts: (count) => count, presence: there, log: Math.log1p, unit: there };
  const raised = times.map((count) => ways[weighting](count));
  if (weighting !== "log" && weighting !== "unit") return raised;
  const norm = Math.sqrt(raised.reduce((sum, amount) => sum + amount * amount, 0));
  return raised.map((amount) => Math.round((amount / norm) * GRID) / GRID);
}

// What the words of a text say about each class, by their rows of a table; nothing where not a word is there.
function wordsSay(rule, times, rows) {
  const tokens = times.reduce((sum, count) => sum + count, 0);
  if (tokens === 0) return null;
  const weighed = amounts(times, rule.weighting);
  const length = Math.max(weighed.reduce((sum, amount) => sum + amount, 0), 1);
  const factor = rule.weight * length ** -rule.power;
  return model.classes.map((_, label) => {
    let sum = rule.constant[label] + tokens * (rule.rate?.[label] ?? 0);
    weighed.forEach((amount, word) => { if (amount && rows[word]) sum += amount * rows[word][label]; });
    return factor * sum;
  });
}

const terms = textReader(model.alphabet);
model.features.forEach((feature) => (feature.readings || []).forEach((reading) => {
  reading.rows = new Map(reading.terms.map((term, place) => [term, reading.table[place]]));
}));

// How often each term of a text is there.
function counted(text, recipe) {
  const times = new Map();
  terms(text, recipe).forEach((term) => times.set(term, (times.get(term) || 0) + 1));
  return times;
}

// What a text says, in all the ways it is read.
function textSays(feature, text) {
  const total = model.classes.map(() => 0);
  feature.readings.forEach((reading) => {
    const times = counted(text, reading.recipe);
    const says = wordsSay(reading.rule, [...times.values()], [...times.keys()].map((term) => reading.rows.get(term)));
    if (says) says.forEach((evidence, label) => { total[label] += evidence; });
  });
  return total;
}

// Which terms of a text this page has nothing on, where it is read word by word.
function strangers(feature, text) {
  const reading = feature.readings.find((one) => !one.recipe.characters && one.recipe.shortest === 1);
  const there = reading ? [...counted(text, { ...reading.recipe, longest: 1 }).keys()] : [];
  const unknown = there.filter((term) => !reading.rows.has(term));
  if (!unknown.length) return "";
  const more = unknown.length > 8 ? `, and ${unknown.length - 8} more` : "";
  return `Say nothing here: ${unknown.slice(0, 8).join(", ")}${more}`;
}

// What the values of a table and products of two say: what is not set, or cannot be, is nothing.
function productsSay(known) {
  const { columns, features, points, weights } = model.products;
  const set = features.flatMap((feature, side) => points[side][known[feature]] ?? points[side][0].map(() => 0));
  const share = set.reduce((sum, one) => sum + one * one, 0) / columns;
  const factor = 1 / Math.sqrt(Math.max(1, 0.2 * share + 0.8 * share * share));
  const says = model.classes.map(() => 0);
  const add = (amount, weight) => weight.forEach((one, label) => { says[label] += factor * amount * one; });
  let place = set.length;
  set.forEach((one, first) => {
    add(one, weights[first]);
    for (const other of set.slice(first)) add(one * other, weights[place++]);
  });
  return says;
}

// The posterior for what is set: known[feature] is a place, a list of counts of words, or null.
function posterior(known) {
  const scores = model.start.slice();
  let informed = false;
  model.features.forEach((feature, number) => {
    const value = known[number];
    if (value === null) return;
    let says = feature.table?.[value];
    if (feature.readings) says = textSays(feature, value);
    else if (Array.isArray(value)) says = wordsSay(feature.rule, value, feature.table);
    if (!says) return;
    informed = informed || says.some((evidence) => evidence !== says[0]);
    says.forEach((evidence, label) => { scores[label] += evidence; });
  });
  model.pairs.forEach((pair) => {
    const places = pair.features.map((feature, side) => pair.bins[side][known[feature]] ?? -1);
    if (places.some((place) => place < 0)) return;
    const says = pair.table[places.reduce((cell, place, side) => cell * pair.widths[side] + place, 0)];
    informed = informed || says.some((evidence) => evidence !== says[0]);
    says.forEach((evidence, label) => { scores[label] += evidence; });
  });
  if (model.products) {
    const says = productsSay(known);
    informed = informed || says.some((evidence) => evidence !== says[0]);
    says.forEach((evidence, label) => { scores[label] += evidence; });
  }
  if (informed) model.bias.forEach((bias, label) => { scores[label] += bias; });
  const possible = Math.max(...scores) > NEVER ? scores : model.prior;
  const largest = Math.max(...possible);
  const shares = possible.map((score) => Math.exp(score - largest));
  const total = shares.reduce((sum, share) => sum + share, 0);
  return shares.map((share) => share / total);
}

// One digit after the point; never 100 % for what is not certain.
function percent(share) {
  if (share >= 0.9995 && share < 1) return ">99.9%";
  if (share > 0 && share < 0.0005) return "<0.1%";
  return (100 * share).toFixed(1) + "%";
}

const list = document.getElementById("posterior");
const lines = [...list.children].sort((a, b) => a.dataset.class - b.dataset.class);
const shown = Number(list.dataset.shown);
const controls = [...document.querySelectorAll("#controls .control")];

// What a control is set to.
function valueOf(control) {
  if (control.classList.contains("words")) {
    return [...control.querySelectorAll("input")].map((box) => Math.max(0, Math.floor(Number(box.value) || 0)));
  }
  if (control.classList.contains("text")) return control.querySelector("textarea").value || null;
  const field = control.querySelector("select");
  if (field) return field.value === "" ? null : Number(field.value);
  return control.dataset.known ? Number(control.querySelector("input").value) : null;
}

function show() {
  const chances = posterior(controls.map(valueOf));
  lines.forEach((line, label) => {
    line.querySelector(".chance").textContent = percent(chances[label]);
    line.querySelector(".fill").style.width = (100 * chances[label]).toFixed(2) + "%";
  });
  if (lines.length <= shown) return;
  const ranked = [...lines.keys()].sort((a, b) => chances[b] - chances[a] || a - b);
  ranked.forEach((label, rank) => {
    lines[label].hidden = rank >= shown;
    if (rank < shown) list.append(lines[label]);
  });
  const rest = ranked.slice(shown).reduce((sum, label) => sum + chances[label], 0);
  document.getElementById("others").textContent = `${lines.length - shown} other classes: ${percent(rest)}`;
}

// A slider says what it stands on, and knows whether it was moved.
function slide(control, known) {
  const slider = control.querySelector("input[type=range]");
  const said = known ? model.features[control.dataset.feature].labels[slider.value] : "unknown";
  if (known) control.dataset.known = "yes"; else delete control.dataset.known;
  const output = control.querySelector("output");
  output.textContent = said;
  output.classList.toggle("unknown", !known);
  slider.setAttribute("aria-valuetext", said);
}

function forget(control) {
  control.querySelectorAll("select, textarea").forEach((field) => { field.value = ""; });
  if (control.classList.contains("text")) control.querySelector("output").textContent = "";
  control.querySelectorAll("input[type=number]").forEach((box) => { box.value = 0; });
  if (control.classList.contains("number")) slide(control, false);
}

controls.forEach((control) => {
  if (control.classList.contains("number")) {
    slide(control, false);
    control.querySelector("input").addEventListener("input", () => slide(control, true));
    control.querySelector("button").addEventListener("click", () => { forget(control); show(); });
  }
  if (control.classList.contains("text")) {
    const feature = model.features[control.dataset.feature];
    control.addEventListener("input", () => {
      control.querySelector("output").textContent = strangers(feature, control.querySelector("textarea").value);
    });
  }
  control.addEventListener("input", show);
});
const everything = document.getElementById("forget-all");
everything.addEventListener("click", () => { controls.forEach(forget); show(); });
everything.disabled = false;
document.getElementById("controls").disabled = false;
controls.forEach(forget);
show();
