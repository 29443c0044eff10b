// Pronunciation of a text as a key, which texts that sound alike share.
// Port of model/text/pronunciation.py, whose comments name the articles of the Standard Pronunciation.
// `keys`: of rules.py; `keys.sounds` has the tables.
import { compose, decompose, squeezed } from "./text.js";

/** Whether two texts have the same pronunciation by the Standard Pronunciation. */
export function soundTheSame(one, other, keys) {
  const standard = keys.sounds.ways.filter(({ keeps_n }) => !keeps_n);
  return standard.some((way) => readAlike(one, other, { ...way, is_standard: true }, keys));
}

/** The first way to read two texts that makes them sound alike; undefined where there is none. */
export function wayAlike(one, other, keys) {
  if (squeezed(one).length !== squeezed(other).length) return undefined; // no rule takes a syllable away
  return keys.sounds.ways.find((way) => readAlike(one, other, way, keys));
}

/** The rules that are needed for two texts to sound alike. */
export function rulesBetween(one, other, keys) {
  const way = wayAlike(one, other, keys);
  const isNeeded = (rule) => !readAlike(one, other, { ...way, without: rule }, keys);
  return way ? keys.sounds.rules.filter(isNeeded) : [];
}

/** The onsets that a coda may become before a vowel, by liaison alone. */
export function carriedOver(coda, { sounds }) {
  return coda in sounds.moves ? [sounds.moves[coda][1], sounds.heard[coda]] : [];
}

const readAlike = (one, other, way, keys) => reading(one, way, keys) === reading(other, way, keys);

function reading(text, way, keys) {
  if (way.without !== "vowel") text = text.replace(/(?<=[가-힣])의/g, way.ui_as_e ? "에" : "이");
  if (way.across_spaces) text = squeezed(text);
  return text.replace(/[가-힣]+/g, (piece) => {
    const syllables = Array.from(piece, (syllable) => decompose(syllable, keys));
    return pronounced(syllables, way, keys);
  });
}

function pronounced(syllables, way, keys) {
  syllables.forEach((syllable, here) => {
    const after = syllables[here + 1];
    if (after) [syllable[2], after[0]] = met(syllable[2], after, way, keys.sounds);
    else syllable[2] = heard(syllable[2], "", way, keys.sounds);
  });
  const vowels = ([initial, medial]) =>
    way.without === "vowel" ? medial : vowel(initial, medial, way, keys.sounds);
  return syllables.map((each) => compose(each[0], vowels(each), each[2], keys)).join("");
}

function vowel(initial, medial, { is_standard: isStandard }, { same_vowel: same, without_glide: plain }) {
  if (!isStandard || medial === "ㅞ") medial = same[medial] ?? medial;
  if (initial === "ㅇ" || (isStandard && initial === "ㄹ" && medial === "ㅖ")) return medial;
  if (medial === "ㅢ") return "ㅣ";
  return "ㅈㅉㅊ".includes(initial) || medial === "ㅖ" ? (plain[medial] ?? medial) : medial;
}

/** A coda and the onset of the next syllable, as they sound together. */
function met(coda, [initial, medial, final], way, sounds) {
  const isShort = ["", "ㅆ"].includes(final);
  const isEnding = way.is_standard && isShort; // 이, 았, 었: no word of its own
  if (way.inserts_n && way.without !== "n_insertion" && coda && initial === "ㅇ")
    if ("ㅣㅑㅕㅛㅠㅖㅒ".includes(medial) && !(isEnding && "ㅣㅕ".includes(medial)))
      initial = sounds.heard[coda] === "ㄹ" ? "ㄹ" : "ㄴ";
  const beforeI = medial === "ㅣ" || (medial === "ㅕ" && isShort);
  const isPalatal = ["ㄷ", "ㅌ", "ㄾ"].includes(coda) && "ㅇㅎ".includes(initial) && beforeI;
  if (isPalatal && way.without !== "palatalisation")
    return [coda === "ㄾ" ? "ㄹ" : "", coda === "ㄷ" && initial === "ㅇ" ? "ㅈ" : "ㅊ"];
  if (coda in sounds.without_h) [coda, initial] = melted(coda, initial, way, sounds);
  else if (initial === "ㅎ") [coda, initial] = aspirated(coda, beforeI, way, sounds);
  if (initial === "ㅇ" && coda in sounds.moves && way.without !== "liaison") {
    const isOneWord = sounds.of_stems.includes(coda) || !"ㅏㅓㅗㅜㅟ".includes(medial) || isEnding;
    const asHeard = way.moves_as_heard && way.without !== "final" && !(way.is_standard && isOneWord);
    [coda, initial] = asHeard ? ["", heard(coda, "", way, sounds)] : sounds.moves[coda];
  }
  return assimilated(heard(coda, initial, way, sounds), initial, way, sounds);
}

/** ㅎ in the coda. */
function melted(coda, initial, { without }, sounds) {
  const left = sounds.without_h[coda];
  if (initial in sounds.aspirated && without !== "aspiration") return [left, sounds.aspirated[initial]];
  if (initial === "ㅅ" && without !== "tensification") return [left, "ㅆ"];
  if ("ㅇㅎ".includes(initial)) return [left, without === "h_loss" ? "ㅎ" : "ㅇ"];
  return [left || "ㄷ", initial];
}

/** ㅎ in the onset: it melts with a stop and is lost behind anything else. */
function aspirated(coda, beforeI, way, sounds) {
  const isPalatal = beforeI && ["ㅈ", "ㄵ"].includes(coda);
  if (!(isPalatal || coda === "ㄼ" || sounds.heard[coda] in sounds.nasal))
    return [coda, way.is_standard || way.without === "h_loss" ? "ㅎ" : "ㅇ"];
  if (way.without === "aspiration") return [coda, "ㅎ"];
  if (isPalatal) return [sounds.moves[coda][0], "ㅊ"];
  if (coda === "ㄼ") return ["ㄹ", "ㅍ"];
  return [coda === "ㄺ" ? "ㄹ" : "", sounds.aspirated[sounds.heard[coda]]];
}

/** The sound of a coda before this onset, "" for none. */
function heard(coda, initial, way, sounds) {
  if (way.without === "final") return coda;
  if (way.other_of_cluster && coda === "ㄼ" && !way.is_standard) return "ㅂ";
  if (way.other_of_cluster && coda === "ㄺ" && ["ㄱ", "ㄲ"].includes(initial)) return "ㄹ";
  return sounds.heard[coda];
}

function assimilated(coda, initial, way, sounds) {
  const [nasal, lateral, tense] = ["nasalisation", "lateralisation", "tensification"].map(
    (rule) => way.without !== rule,
  );
  if (initial === "ㄹ" && coda && coda !== "ㄹ")
    initial = (coda === "ㄴ" && !way.keeps_n) || !nasal ? "ㄹ" : "ㄴ";
  if (coda in sounds.nasal) {
    const isTense = tense && coda in sounds.tense;
    if (nasal && "ㄴㅁ".includes(initial)) coda = sounds.nasal[coda];
    if (isTense) initial = sounds.tense[initial] ?? initial;
  }
  if (lateral && ["ㄴㄹ", "ㄹㄴ"].includes(coda + initial)) return ["ㄹ", "ㄹ"];
  const isSwallowed = () => (sounds.swallows[coda] ?? "").includes(initial);
  if (way.is_standard) return [isSwallowed() ? "" : coda, initial];
  if ("ㄱㄲㅋ".includes(initial)) coda = { ㄴ: "ㅇ", ㅁ: "ㅇ", ㄷ: "ㄱ" }[coda] ?? coda;
  else if ("ㅂㅃㅍㅁ".includes(initial)) coda = { ㄴ: "ㅁ", ㄷ: "ㅂ" }[coda] ?? coda;
  if (isSwallowed()) return ["", initial];
  return [coda, tense && coda ? (sounds.lax[initial] ?? initial) : initial];
}
