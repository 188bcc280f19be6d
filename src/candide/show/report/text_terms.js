// How a text is cut into terms: the same words, or runs of characters, as the model counts.
"use strict";

const WORD = 1, ALONE = 2, MARK = 4, LOOK = 8, BLANK = 16; // what a character can be

// What every character is, from ranges of hexadecimal numbers.
function characterKinds(alphabet) {
  const kinds = new Uint8Array(0x110000);
  const mark = (written, kind) => (written || "").split(/\s+/).filter(Boolean).forEach((range) => {
    const [first, last] = range.split("-").map((number) => parseInt(number, 16));
    for (let code = first; code <= (last ?? first); code += 1) kinds[code] |= kind;
  });
  mark(alphabet.words, WORD);
  mark(alphabet.alone, ALONE);
  mark(alphabet.marks, MARK);
  mark(alphabet.looks, LOOK);
  mark(alphabet.spaces, BLANK);
  return kinds;
}

// What characters fold to: "41-5a:20" moves a range, "df=73+73" makes several of one, "100-12e/2:1" takes every second.
function characterFolds(written) {
  const folds = new Map();
  (written || "").split(/\s+/).filter(Boolean).forEach((fold) => {
    if (fold.includes("=")) {
      const [single, parts] = fold.split("=");
      const codes = parts.split("+").filter(Boolean).map((part) => parseInt(part, 16));
      folds.set(parseInt(single, 16), String.fromCodePoint(...codes));
      return;
    }
    const [codes, move] = fold.split(":");
    const [range, step] = codes.split("/");
    const [first, last] = range.split("-").map((number) => parseInt(number, 16));
    for (let code = first; code <= (last ?? first); code += Number(step || 1)) {
      folds.set(code, String.fromCodePoint(code + parseInt(move, 16)));
    }
  });
  return folds;
}

// A way to read texts: from an alphabet to terms(text, recipe), every occurrence of each.
function textReader(alphabet) {
  const kinds = characterKinds(alphabet);
  const cases = characterFolds(alphabet.cases), accents = characterFolds(alphabet.accents);
  const codesOf = (text) => [...text].map((one) => one.codePointAt(0))
    .map((code) => (code >= 0xd800 && code < 0xe000 ? 0xfffd : code));

  function folded(code, recipe) {
    const bare = (recipe.accents ? accents.get(code) : undefined) ?? String.fromCodePoint(code);
    if (!recipe.case) return bare;
    return [...bare].map((one) => cases.get(one.codePointAt(0)) ?? one).join("");
  }

  // Words in order, and which two characters of a script without spaces stand together.
  function words(text, recipe) {
    const codes = codesOf(text), found = [], pairs = [];
    let at = 0, ended = -1, together = 0;
    while (at < codes.length) {
      const start = at;
      let word = "", characters = 0, alone = false;
      for (; at < codes.length; at += 1) {
        const kind = recipe.spaced ? kinds[codes[at]] & WORD : kinds[codes[at]];
        const letter = kind & (WORD | ALONE) ? folded(codes[at], recipe) : "";
        if (kind & LOOK || (kind & (WORD | ALONE) && letter === "")) continue;
        if (kind & ALONE) {
          if (characters > 0) break;
          alone = true;
        } else if (!(kind & MARK) && (alone || !(kind & WORD))) break;
        characters += 1;
        word += letter;
      }
      if (at === start) at += 1;
      if (alone) {
        together = ended === start ? together + 1 : 1;
        ended = at;
        if (together > 1) pairs.push(found.length - 1);
      }
      if (characters > 0) found.push(word);
    }
    return [found, pairs];
  }

  function characters(text, recipe) {
    const found = [];
    let spaced = false;
    codesOf(text).forEach((code) => {
      const blank = Boolean(kinds[code] & BLANK);
      if (!(blank && spaced)) found.push(...(blank ? " " : folded(code, recipe)));
      if (blank || folded(code, recipe) !== "") spaced = blank;
    });
    return found;
  }

  return (text, recipe) => {
    const [units, pairs] = recipe.characters ? [characters(text, recipe), []] : words(text, recipe);
    const glue = recipe.characters ? "" : " ";
    const terms = [];
    for (let size = recipe.shortest; size <= recipe.longest; size += 1) {
      for (let at = 0; at + size <= units.length; at += 1) terms.push(units.slice(at, at + size).join(glue));
    }
    if (recipe.longest === 1) pairs.forEach((at) => terms.push(units[at] + glue + units[at + 1]));
    return terms;
  };
}
