"use strict";

// Answers are put into the page as text, and pictures as images: nothing of them can run.
const PAUSE = 250; // milliseconds after the last key
const MOST_SENTENCES = 20; // whose structures are asked for

const text = document.getElementById("text");
const status = document.getElementById("status");
const results = document.getElementById("results");
let names = []; // of the systems
let asked = new AbortController();
let timer = 0;

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

async function ask(path, body, signal) {
  const options = body && {
    method: "POST", signal, body: JSON.stringify(body),
    headers: { "Content-Type": "application/json" },
  };
  const answer = await fetch(path, options);
  const found = await answer.json().catch((error) => {
    if (error.name === "AbortError") throw error;
    return { error: `the server answers ${answer.status}` };
  });
  if (!answer.ok) throw new Error(found.error);
  return found;
}

// Words with what is between them in the text: nothing before a comma.
function words(list, typed) {
  const spans = list.map((word) => element("span", { textContent: word }));
  const parts = [];
  let end = 0;
  for (const [i, span] of spans.entries()) {
    const start = typed.indexOf(list[i], end);
    const between = typed.slice(end, start);
    const follows = start >= end && !between.trim();
    parts.push(follows ? between : " ", span);
    if (follows) end = start + list[i].length;
  }
  return [spans, parts];
}

function shade(spans, weights) {
  spans.forEach((span, i) => {
    const weight = Math.max(0, Math.min(1, weights[i]));
    span.style.backgroundColor = weight > 0.02 ? `rgba(var(--shade), ${0.6 * weight})` : "";
  });
}

// The source is shown once; while a word is pointed at, in the words of that word's system.
function attended({ source, target, weights }, pair, place, line) {
  const [spans, parts] = words(target, pair.translation);
  const plain = () => line.replaceChildren(pair.source);
  spans.forEach((span, t) => {
    const strongest = weights[t].indexOf(Math.max(...weights[t]));
    span.tabIndex = 0;
    span.setAttribute("aria-label", `${target[t]}, attends most to ${source[strongest]}`);
    const show = () => {
      const [sources, between] = words(source, pair.source);
      shade(sources, weights[t]);
      line.replaceChildren(...between);
    };
    for (const event of ["mouseenter", "focus", "click"]) span.addEventListener(event, show);
    for (const event of ["mouseleave", "blur"]) span.addEventListener(event, plain);
  });
  place.replaceChildren(...parts);
}

function picture({ title, text: words, svg }) {
  const caption = element("figcaption", { textContent: title });
  if (svg === null) {
    const long = element("p", { className: "quiet", textContent: "too many words for a picture" });
    return element("figure", {}, long, caption);
  }
  const image = element("img", { alt: words, src: `data:image/svg+xml,${encodeURIComponent(svg)}` });
  // Where the picture is wider than the screen, keys scroll it, too.
  const scrolled = element("div", { className: "scroll", tabIndex: 0, role: "group" }, image);
  scrolled.setAttribute("aria-label", `picture: ${title}`);
  return element("figure", {}, scrolled, caption);
}

// Each word with its values below it.
function wordValues({ title, names, words: rows }) {
  const line = element("div", { className: "values", dir: "auto" });
  for (const [word, ...values] of rows) {
    const lines = values.map((value) => element("span", { textContent: value }));
    line.append(element("div", {}, element("b", { textContent: word }), ...lines));
  }
  const caption = element("figcaption", { textContent: `${title}: ${names.join(", ")}` });
  return element("figure", {}, line, caption);
}

function complain(place, error) {
  const message = element("p", { className: "error", textContent: error.message });
  message.setAttribute("role", "alert");
  place.append(message);
}

// A sentence: its source, and a place for the output of each system.
function sentencePlace(source) {
  const line = element("p", { className: "source", dir: "auto", textContent: source });
  line.setAttribute("aria-label", "source");
  const article = element("article", { className: "sentence" }, line);
  const places = new Map();
  for (const name of names) {
    const translation = element("p", { className: "words", dir: "auto" });
    translation.setAttribute("aria-label", "translation");
    const structures = element("div", { className: "structures" });
    const place = element("section", {}, element("h2", { textContent: name }), translation, structures);
    place.setAttribute("aria-label", name);
    article.append(place);
    places.set(name, { place, translation, structures });
  }
  results.append(article);
  return { line, places };
}

async function showStructures(system, { factors, ...pair }, { line, places }, signal) {
  const { place, translation, structures } = places.get(system);
  if (factors) structures.append(wordValues(factors));
  try {
    const found = await ask("structures", { system, ...pair }, signal);
    if (found.features) structures.append(wordValues(found.features));
    structures.append(...found.structures.map(picture));
    if (found.attention) attended(found.attention, pair, translation, line);
  } catch (error) { // the translation stays
    if (error.name === "AbortError") throw error;
    complain(place, error);
  }
}

async function show(system, typed, sentences, signal) {
  const found = await ask("translate", { system, text: typed }, signal);
  if (!sentences.length) { // the first answer
    results.replaceChildren();
    results.classList.remove("waiting");
    sentences.push(...found.sentences.map(({ source }) => sentencePlace(source)));
  }
  found.sentences.forEach(({ translation }, i) => {
    sentences[i].places.get(system).translation.textContent = translation;
  });
  for (const [i, pair] of found.sentences.slice(0, MOST_SENTENCES).entries()) {
    await showStructures(system, pair, sentences[i], signal);
  }
  return `${system} ${found.seconds} s`;
}

async function update() {
  asked.abort();
  asked = new AbortController();
  const { signal } = asked;
  const typed = text.value;
  if (!typed.trim()) {
    results.replaceChildren();
    status.textContent = "";
    return;
  }
  status.textContent = "translating …";
  results.classList.add("waiting");
  const sentences = [];
  const answers = names.map((name) => show(name, typed, sentences, signal));
  const found = await Promise.allSettled(answers);
  if (signal.aborted) return;
  if (!sentences.length) results.replaceChildren(); // all have failed
  results.classList.remove("waiting");
  found.forEach(({ reason }, i) => {
    if (!reason) return;
    for (const { places } of sentences) places.get(names[i]).place.remove();
    complain(results, new Error(`${names[i]}: ${reason.message}`));
  });
  const times = found.filter(({ value }) => value).map(({ value }) => value);
  status.textContent = times.length ? `translated: ${times.join(", ")}` : "not translated";
}

async function begin() {
  const about = await ask("systems");
  text.maxLength = about.characters;
  names = about.systems.map(({ name }) => name);
  text.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(update, PAUSE);
  });
  document.body.dataset.ready = "yes";
  if (text.value) update();
}

begin().catch((error) => { status.textContent = `the server does not answer: ${error.message}`; });
