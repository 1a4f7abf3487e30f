"use strict";

// Answers are put into the page as text, and pictures as images: nothing of them can run.
const PAUSE = 250; // milliseconds after the last key
const MOST_SENTENCES = 20; // whose structures are asked for

const text = document.getElementById("text");
const status = document.getElementById("status");
const systems = new Map();
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

function words(list, label) {
  const line = element("p", { className: "words", dir: "auto" });
  line.setAttribute("aria-label", label);
  for (const word of list) line.append(element("span", { textContent: word }), " ");
  return line;
}

function shade(spans, weights) {
  spans.forEach((span, i) => {
    const weight = weights ? Math.max(0, Math.min(1, weights[i])) : 0;
    span.style.backgroundColor = weight > 0.02 ? `rgba(var(--shade), ${0.6 * weight})` : "";
  });
}

function attended({ source, target, weights }) {
  const from = words(source, "source");
  const to = words(target, "translation");
  const sources = [...from.children];
  [...to.children].forEach((span, t) => {
    const strongest = weights[t].indexOf(Math.max(...weights[t]));
    span.tabIndex = 0;
    span.setAttribute("aria-label", `${target[t]}, attends most to ${source[strongest]}`);
    for (const event of ["mouseenter", "focus"]) {
      span.addEventListener(event, () => shade(sources, weights[t]));
    }
    for (const event of ["mouseleave", "blur"]) span.addEventListener(event, () => shade(sources));
  });
  return [from, to];
}

function picture({ title, text: words, svg }) {
  const image = svg === null
    ? element("p", { className: "quiet", textContent: "too many words for a picture" })
    : element("img", { alt: words, src: `data:image/svg+xml,${encodeURIComponent(svg)}` });
  return element("figure", {}, image, element("figcaption", { textContent: title }));
}

async function showStructures(system, pair, place, signal) {
  const found = await ask("structures", { system, ...pair }, signal);
  const structures = element("div", { className: "structures" });
  structures.append(...found.structures.map(picture));
  place.replaceChildren(...(found.attention ? attended(found.attention) : place.childNodes));
  place.append(structures);
}

function complain(place, error) {
  const message = element("p", { className: "error", textContent: error.message });
  message.setAttribute("role", "alert");
  place.append(message);
}

async function show(system, place, typed, signal) {
  place.classList.add("waiting");
  try {
    const found = await ask("translate", { system, text: typed }, signal);
    const places = found.sentences.map(({ translation }) =>
      element("div", { className: "sentence" },
        element("p", { textContent: translation, dir: "auto" })));
    const seconds = element("p", { className: "quiet", textContent: `${found.seconds} s` });
    place.replaceChildren(...places, seconds);
    place.classList.remove("waiting");
    for (const [i, pair] of found.sentences.slice(0, MOST_SENTENCES).entries()) {
      try {
        await showStructures(system, pair, places[i], signal);
      } catch (error) { // the translation stays
        if (error.name === "AbortError") return;
        complain(places[i], error);
      }
    }
  } catch (error) {
    if (error.name === "AbortError") return;
    place.replaceChildren();
    complain(place, error);
    place.classList.remove("waiting");
  }
}

async function update() {
  asked.abort();
  asked = new AbortController();
  const { signal } = asked;
  const typed = text.value;
  if (!typed.trim()) {
    for (const place of systems.values()) place.replaceChildren();
    status.textContent = "";
    return;
  }
  status.textContent = "translating …";
  await Promise.all([...systems].map(([name, place]) => show(name, place, typed, signal)));
  if (!signal.aborted) status.textContent = "translated";
}

async function begin() {
  const about = await ask("systems");
  text.maxLength = about.characters;
  for (const { name } of about.systems) {
    const place = element("div", {});
    const section = element("section", {}, element("h2", { textContent: name }), place);
    section.setAttribute("aria-label", name);
    document.getElementById("systems").append(section);
    systems.set(name, place);
  }
  text.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(update, PAUSE);
  });
  if (text.value) update();
}

begin().catch((error) => { status.textContent = `the server does not answer: ${error.message}`; });
