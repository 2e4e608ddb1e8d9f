// Puts what the server says into its place. The page works without this, by its links and
// forms; all HTML is made by the server.
"use strict";

const most = 300; // cells in the page
const cells = document.getElementById("cells");
const book = document.getElementById("book");
const newestMark = document.getElementById("newest");
const unseen = document.getElementById("unseen");
const said = document.getElementById("said");
document.documentElement.classList.add("long");
localStorage.setItem("page", location.pathname);
if (location.search) history.replaceState(null, "", location.pathname + location.hash);

let oldest = idOf("older", "before"); // the cell before which there are more, or 0
let newer = idOf("newer", "after"); // the cell after which there are more, or 0: then the page has the newest
let missed = 0; // cells that came and are not shown
let loading = false;
let failed = 0; // when loading has failed last

function idOf(id, key) {
  const link = document.querySelector("#" + id + " a");
  return link ? Number(new URL(link.href).searchParams.get(key)) : 0;
}

function made(html) {
  const t = document.createElement("template");
  t.innerHTML = html;
  return [...t.content.children];
}

// morph makes from like to, and keeps what is the same: focus, selection, what is open.
function morph(from, to) {
  if (from.nodeType !== to.nodeType || from.nodeName !== to.nodeName || from.id !== to.id) {
    from.replaceWith(to);
    return;
  }
  if (from.nodeType !== Node.ELEMENT_NODE) {
    if (from.data !== to.data) from.data = to.data;
    return;
  }
  for (const a of [...from.attributes]) {
    if (!to.hasAttribute(a.name) && !(a.name === "open" && from.nodeName === "DETAILS")) from.removeAttribute(a.name);
  }
  for (const a of to.attributes) if (from.getAttribute(a.name) !== a.value) from.setAttribute(a.name, a.value);
  morphAll(from, [...to.childNodes]);
}

function morphAll(parent, wanted) {
  const there = [...parent.childNodes];
  wanted.forEach((to, i) => (i < there.length ? morph(there[i], to) : parent.append(to)));
  there.slice(wanted.length).forEach((n) => n.remove());
}

function fillIn(id, html) {
  const t = document.createElement("template");
  t.innerHTML = html;
  morphAll(document.getElementById(id), [...t.content.childNodes]);
}

const atEnd = () => newer === 0 && window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - 80;
const lastId = () => Number(cells.lastElementChild?.dataset.id || 0);
const toEnd = () => window.scrollTo(0, document.documentElement.scrollHeight);

// keeping keeps what the person reads where it is while change changes what is above.
function keeping(change) {
  const mark = [...cells.children].find((c) => c.getBoundingClientRect().bottom > 60);
  const before = mark?.getBoundingClientRect().top;
  document.documentElement.classList.add("still"); // the browser would do the same once more
  change();
  if (mark?.isConnected) window.scrollBy(0, mark.getBoundingClientRect().top - before);
  document.documentElement.classList.remove("still");
}

function dropTop() {
  while (cells.children.length > most) cells.firstElementChild.remove();
  const first = Number(cells.firstElementChild?.dataset.id || 0);
  if (first > 1) turn("older", "before", (oldest = first));
}

function dropBottom() {
  if (cells.children.length <= most) return;
  while (cells.children.length > most) cells.lastElementChild.remove();
  turn("newer", "after", (newer = lastId()));
}

// turn shows or removes the link to what is before or after.
function turn(id, key, value) {
  let p = document.getElementById(id);
  if (!value) return p?.remove();
  if (!p) {
    p = document.createElement("p");
    p.id = id;
    p.className = "turn";
    p.append(document.createElement("a"));
    p.firstChild.textContent = id === "older" ? "Older entries" : "Newer entries";
    if (id === "older") book.prepend(p);
    else cells.after(p);
  }
  p.firstChild.href = "?" + key + "=" + value;
}

async function part(query) {
  const r = await fetch("cells?" + query);
  if (!r.ok) throw new Error(String(r.status));
  return { list: made(await r.text()), older: Number(r.headers.get("X-Older")), newer: Number(r.headers.get("X-Newer")) };
}

async function once(what) {
  if (loading) return;
  loading = true;
  try {
    await what();
  } catch {
    failed = Date.now(); // watch does not answer; the lamp says so
  } finally {
    loading = false;
  }
  near();
}

// near loads what is near to be seen.
function near() {
  if (loading || failed > Date.now() - 1000) return;
  if (oldest && scrollY < 800) loadOlder();
  else if (newer && scrollY + innerHeight > document.documentElement.scrollHeight - 800) loadNewer();
}

const loadOlder = () => once(async () => {
  const got = await part("before=" + oldest);
  keeping(() => {
    cells.prepend(...got.list);
    turn("older", "before", (oldest = got.older));
    dropBottom();
  });
});

const loadNewer = () => once(async () => {
  const got = await part("after=" + newer);
  keeping(() => {
    cells.append(...got.list.filter((c) => !document.getElementById(c.id)));
    turn("newer", "after", (newer = got.newer));
    dropTop();
  });
  if (!newer) seen();
});

// reload shows the newest cells, or the oldest.
const reload = (query, end) => once(async () => {
  const got = await part(query);
  cells.replaceChildren(...got.list);
  turn("older", "before", (oldest = got.older));
  turn("newer", "after", (newer = got.newer));
  if (end) toEnd();
  else window.scrollTo(0, 0);
  if (!newer) seen();
});
const goNewest = () => (newer ? reload("", true) : (toEnd(), seen()));
const goOldest = () => (oldest ? reload("after=0", false) : window.scrollTo(0, 0));

function seen() {
  missed = 0;
  unseen.hidden = true;
}

function show(u) {
  for (const id in u.parts) fillIn(id, u.parts[id]);
  const list = u.cells || [];
  const end = atEnd();
  const fresh = newer ? [] : list.filter((c) => c.id > lastId());
  const gap = fresh.length > 0 && cells.children.length > 0 && fresh[0].id > lastId() + 1; // more came than are told
  for (const c of list) {
    const there = document.getElementById("c" + c.id);
    if (there && there.hasAttribute("data-whole")) whole(there);
    else if (there) {
      morph(there, made(c.html)[0]);
      there.querySelectorAll(".later[open]").forEach(later);
    }
    else if (newer && c.id > newer) missed++;
  }
  if (gap && !end) {
    turn("newer", "after", (newer = lastId()));
    missed += u.newest - newer;
  } else if (fresh.length) {
    if (gap) cells.replaceChildren();
    cells.append(...made(fresh.map((c) => c.html).join("")));
    if (!end) missed += fresh.length;
  }
  document.getElementById("empty").hidden = cells.children.length > 0 || newer > 0;
  if (end) {
    dropTop();
    if (list.length) toEnd();
  } else if (!newer) dropBottom();
  unseen.hidden = missed === 0;
  unseen.textContent = missed + " new";
}

const events = new EventSource("events?since=" + document.body.dataset.version);
events.onmessage = (m) => {
  document.body.dataset.version = m.lastEventId;
  show(JSON.parse(m.data));
};
events.onerror = () => {
  const lamp = document.querySelector(".lamp");
  lamp.className = "lamp away";
  lamp.textContent = events.readyState === EventSource.CLOSED
    ? "This page has ended. Type: swank-mcp watch --web" : "swank-mcp watch does not answer; trying again";
};

// send does what form asks for, and tells the person what came of it, until something else has.
async function send(form) {
  const body = new URLSearchParams(new FormData(form));
  try {
    const r = await fetch(form.action, { method: "POST", body, headers: { Accept: "application/json" } });
    const a = await r.json();
    said.textContent = a.said;
    return a;
  } catch (e) {
    said.textContent = "Not done: swank-mcp watch does not answer.";
    return { done: false };
  }
}

document.addEventListener("submit", (e) => {
  const form = e.target;
  if (form.method !== "post") return;
  e.preventDefault();
  const code = form.id === "ask" ? document.getElementById("code") : null;
  const typed = code?.value;
  send(form).then((a) => { if (a.done && code && code.value === typed) code.value = ""; });
});

document.getElementById("code").addEventListener("keydown", (e) => {
  if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) {
    e.preventDefault();
    e.target.form.requestSubmit();
  } else if (e.key === "Escape") e.target.blur();
});

async function whole(cell) {
  const r = await fetch("cell?part&id=" + cell.dataset.id);
  if (r.ok) morph(cell, made(await r.text())[0]);
}

document.addEventListener("click", (e) => {
  const more = e.target.closest("a.more");
  if (!more || e.ctrlKey || e.metaKey || e.shiftKey) return;
  e.preventDefault();
  const cell = more.closest(".cell");
  whole(cell).then(() => cell.focus());
});
// What is behind a link in something folded, as the variables of a frame, takes the place of
// the link when that is opened.
async function later(folded) {
  const link = folded.querySelector(":scope > div > a:only-child");
  if (!link || !folded.open) return;
  const place = link.parentElement;
  try {
    const r = await fetch(link.href + "&part");
    if (r.ok) place.innerHTML = await r.text();
  } catch {
    said.textContent = "swank-mcp watch does not answer.";
  }
}
document.addEventListener("toggle", (e) => {
  if (e.target.matches?.(".later")) later(e.target);
}, true);
unseen.addEventListener("click", goNewest);
window.addEventListener("scroll", () => {
  if (missed && atEnd()) seen();
  near();
}, { passive: true });

// Keys.
const keys = document.getElementById("keys");
const keysOn = document.getElementById("keys-on");
keysOn.checked = localStorage.getItem("keys") !== "off";
keysOn.addEventListener("change", () => localStorage.setItem("keys", keysOn.checked ? "on" : "off"));

function step(by) {
  const here = document.activeElement.closest?.("#cells > li");
  const visible = [...cells.children].find((c) => c.getBoundingClientRect().bottom > 70);
  const to = here ? (by > 0 ? here.nextElementSibling : here.previousElementSibling) : visible;
  to?.focus();
  to?.scrollIntoView({ block: "nearest" });
}

function toggle() {
  const cell = document.activeElement.closest?.(".cell");
  const details = cell?.querySelector("details");
  if (details) details.open = !details.open;
  else if (cell?.querySelector(".more")) whole(cell);
}

const does = {
  j: () => step(1), k: () => step(-1), o: toggle, g: goOldest, G: goNewest,
  e: () => document.getElementById("code").focus(),
  s: () => document.getElementById("stop").click(),
  p: () => document.getElementById("pause").click(),
  a: () => document.querySelector("#questions button")?.focus(),
};

document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, textarea, select, dialog")) return;
  if (e.key === "?") keys.showModal();
  else if (keysOn.checked && does[e.key]) does[e.key]();
  else return;
  e.preventDefault();
});

if (!location.hash || location.hash === "#newest") toEnd();
near();
