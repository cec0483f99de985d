// Live updates: when the server reports a change, fetches the page again and replaces the elements with data-part.
// Without this file every page works but is not updated.
"use strict";

const status = document.getElementById("live");
let source = null;
let isFetching = false;
let isWanted = false;

function listen() {
  const { live, since } = document.body.dataset;
  if (!live || document.hidden || source) return;
  source = new EventSource(`${live}?since=${encodeURIComponent(since)}`);
  source.addEventListener("open", () => say("Live"));
  source.addEventListener("change", refresh);
  source.addEventListener("error", () => say("Disconnected, retrying"));
}

function stop() {
  if (source) source.close();
  source = null;
}

function say(text) {
  if (status.textContent !== text) status.textContent = text;
}

async function refresh() {
  if (isFetching) {
    isWanted = true;
    return;
  }
  isFetching = true;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (answer.ok) replace(new DOMParser().parseFromString(await answer.text(), "text/html"));
  } catch {
    say("Disconnected, retrying");
  }
  isFetching = false;
  if (isWanted) {
    isWanted = false;
    refresh();
  }
}

function replace(fresh) {
  const focused = document.activeElement;
  const mark = focused && (focused.id ? `#${CSS.escape(focused.id)}` : focused.getAttribute("href") && `a[href="${CSS.escape(focused.getAttribute("href"))}"]`);
  for (const old of document.querySelectorAll("[data-part]")) {
    const part = fresh.getElementById(old.id);
    if (!part || part.innerHTML === old.innerHTML) continue;
    const held = old.contains(focused);
    const places = [...old.querySelectorAll(".scroll")].map((each) => [each.scrollLeft, each.scrollTop]);
    const opened = [...old.querySelectorAll("details")].map((each) => each.open);
    old.replaceWith(part);
    [...part.querySelectorAll(".scroll")].forEach((each, n) => places[n] && each.scrollTo(...places[n]));
    [...part.querySelectorAll("details")].forEach((each, n) => { each.open = Boolean(opened[n]); });
    if (held && mark) part.querySelector(mark)?.focus({ preventScroll: true });
  }
  if (fresh.body.dataset.live) {
    document.body.dataset.since = fresh.body.dataset.since;
  } else {
    delete document.body.dataset.live;
    stop();
    say("");
  }
}

// A browser opens few connections to one server: hidden pages close theirs.
document.addEventListener("visibilitychange", () => (document.hidden ? stop() : listen()));
window.addEventListener("pagehide", stop);
window.addEventListener("pageshow", listen);

for (const form of document.querySelectorAll("form[data-submit-on-change]")) {
  form.addEventListener("change", () => form.requestSubmit());
}

listen();
