// The table of all episodes: what is looked for, in which order, and a page of what was found.

const ROWS = 50;
const KEYS = ["q", "scenario", "actor", "version", "code", "verdict", "sort", "page"];
const ORDERS = {
  number: (row) => row.number, verdict: (row) => row.story.word, scenario: (row) => row.scenario,
  actor: (row) => row.actor, trial: (row) => row.trial, code: (row) => row.story.code, steps: (row) => row.story.steps.length,
  seconds: (row) => row.seconds, cost: priceOf,
};

function chosen(book, state) {
  const terms = state.q.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (row, term) => row.hay.includes(term) || row.story.hay.includes(term) || term === `#${row.number}`;
  const found = book.rows.filter((row) =>
    (!state.scenario || row.scenario === state.scenario) && (!state.actor || row.actor === state.actor) &&
    (!state.version || row.plane === state.version) && (!state.code || row.story.code === state.code) &&
    (!state.verdict || row.story.word === state.verdict) && terms.every((term) => has(row, term)));
  const name = state.sort.replace("-", "");
  if (name === "number" && state.sort === name) return found;
  const key = ORDERS[name];
  const sign = state.sort.startsWith("-") ? -1 : 1;
  const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
  return found.sort((a, b) => sign * compare(key(a), key(b)) || a.number - b.number);
}

/** Names of the control planes that were played in more than one version. */
function inVersions(rows) {
  const refs = [...new Set(rows.map((row) => row.plane))];
  const names = refs.map((ref) => ref.split("==")[0]);
  return new Set(names.filter((name, at) => names.indexOf(name) !== at));
}

function stateOf(hash) {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const state = Object.fromEntries(KEYS.map((key) => [key, given.get(key) || ""]));
  if (!(state.sort.replace("-", "") in ORDERS)) state.sort = "number";
  state.page = Math.max(1, Number.parseInt(state.page, 10) || 1);
  const anchor = /^#episode-(\d+)$/.exec(hash);
  return { ...state, episode: Number(anchor ? anchor[1] : given.get("episode")) || 0 };
}

function hashOf(state) {
  const told = new URLSearchParams();
  for (const key of KEYS) {
    const usual = { sort: "number", page: 1 }[key] || "";
    if (state[key] !== usual) told.set(key, state[key]);
  }
  if (state.episode) told.set("episode", state.episode);
  return `#${told}`;
}

function explorer(book) {
  const at = (id) => document.getElementById(id);
  const fields = { q: at("find"), scenario: at("by-scenario"), actor: at("by-actor"), version: at("by-version"), code: at("by-code"), verdict: at("by-verdict") };
  const several = inVersions(book.rows);
  const body = at("found");
  const heads = [...document.querySelectorAll("#explorer th[data-key]")];
  const { show, panel } = panelOf(book, several);
  let state = stateOf(location.hash);
  let found = [];

  const options = {
    scenario: (row) => row.scenario, actor: (row) => row.actor, version: (row) => row.plane,
    code: (row) => row.story.code, verdict: (row) => row.story.word,
  };
  for (const [name, of] of Object.entries(options)) {
    const counts = new Map();
    for (const row of book.rows) if (of(row)) counts.set(of(row), (counts.get(of(row)) || 0) + 1);
    for (const [value, times] of [...counts].sort(([a], [b]) => (a < b ? -1 : 1))) {
      fields[name].append(el("option", { value }, `${value} (${times.toLocaleString("en-US")})`));
    }
    if (counts.size < 2) fields[name].closest("label").hidden = counts.size === 0 || name !== "code";
  }
  if (book.rows.every((row) => row.trial === 1 && row.attempt === 1)) at("explorer").classList.add("once");
  if (book.rows.every((row) => !row.story.code)) at("explorer").classList.add("uncoded");
  const priced = book.rows.some((row) => row.cost !== "");
  if (!priced) at("explorer").classList.add("unpriced");

  function keep() {
    const hash = hashOf(state);
    if (hash !== location.hash && !(hash === "#" && !location.hash)) {
      history.replaceState(null, "", hash === "#" ? location.href.replace(/#.*$/, "") : hash);
    }
  }

  function line(row, first) {
    const name = el("button", { type: "button", class: "open", tabindex: first ? 0 : -1, "data-number": row.number },
      el("span", { class: "soft" }, `${row.number}. `), breakable(row.scenario));
    return el("tr", null, el("td", null, badge(row.story)), el("th", { scope: "row" }, name),
      el("td", null, breakable(whoOf(row, several))), el("td", { class: "number trial" }, String(row.trial),
        row.attempt > 1 ? el("span", { class: "soft" }, `, attempt ${row.attempt}`) : ""), el("td", { class: "mono code" }, breakable(row.story.code)),
      el("td", { class: "wide" }, chips(row.story)), el("td", { class: "number" }, `${row.seconds.toFixed(2)} s`),
      el("td", { class: "number price" }, row.cost));
  }

  function update() {
    found = chosen(book, state);
    const pages = Math.max(1, Math.ceil(found.length / ROWS));
    state.page = Math.min(state.page, pages);
    const start = (state.page - 1) * ROWS;
    const shown = found.slice(start, start + ROWS);
    body.replaceChildren(...shown.map((row, place) => line(row, place === 0)));
    const passed = found.reduce((sum, row) => sum + (row.story.word === "passed"), 0);
    at("count").textContent = found.length
      ? `${counted(found.length, "episode")}${found.length < book.rows.length ? ` of ${book.rows.length.toLocaleString("en-US")}` : ""}, ${passed.toLocaleString("en-US")} passed`
      : "No episode is like that. Take a filter away.";
    at("pager").hidden = pages === 1;
    at("where").textContent = `${(start + 1).toLocaleString("en-US")} to ${(start + shown.length).toLocaleString("en-US")} of ${found.length.toLocaleString("en-US")}`;
    at("earlier").disabled = state.page === 1;
    at("later").disabled = state.page === pages;
    for (const [name, field] of Object.entries(fields)) if (field.value !== state[name]) field.value = state[name];
    at("clear").hidden = !Object.keys(fields).some((name) => state[name]);
    for (const head of heads) {
      const way = { [head.dataset.key]: "ascending", [`-${head.dataset.key}`]: "descending" };
      if (way[state.sort]) head.setAttribute("aria-sort", way[state.sort]);
      else head.removeAttribute("aria-sort");
    }
    keep();
  }

  function change(some) {
    Object.assign(state, { page: 1 }, some);
    update();
  }

  function open(number) {
    const place = found.findIndex((row) => row.number === number);
    if (place < 0) return;
    state.episode = number;
    const page = Math.floor(place / ROWS) + 1;
    if (page !== state.page) {
      state.page = page;
      update();
    }
    keep();
    for (const one of body.querySelectorAll(".open")) one.tabIndex = Number(one.dataset.number) === number ? 0 : -1;
    show(found[place], place, found.length, (by) => open(found[place + by].number));
  }

  function walk(event) {
    const names = [...body.querySelectorAll(".open")];
    const here = names.indexOf(event.target.closest(".open"));
    if (here < 0) return;
    const to = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: names.length - 1, PageDown: here + 10, PageUp: here - 10 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = names[Math.max(0, Math.min(names.length - 1, to))];
    for (const name of names) name.tabIndex = name === next ? 0 : -1;
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  }

  function turn(by) {
    state.page += by;
    update();
    at("episodes").scrollIntoView();
    (body.querySelector(".open") || at("find")).focus();
  }

  fields.q.addEventListener("input", () => change({ q: fields.q.value.trim() }));
  for (const [name, field] of Object.entries(fields)) if (name !== "q") field.addEventListener("change", () => change({ [name]: field.value }));
  at("clear").addEventListener("click", () => {
    change(Object.fromEntries(Object.keys(fields).map((name) => [name, ""])));
    fields.q.focus();
  });
  at("tools").addEventListener("submit", (event) => event.preventDefault());
  for (const head of heads) {
    head.querySelector("button").addEventListener("click", () => {
      const { key } = head.dataset;
      change({ sort: { [key]: `-${key}`, [`-${key}`]: "number" }[state.sort] || key });
    });
  }
  body.addEventListener("keydown", walk);
  body.addEventListener("click", (event) => {
    const row = event.target.closest("tr");
    if (row && String(getSelection()) === "") open(Number(row.querySelector(".open").dataset.number));
  });
  at("earlier").addEventListener("click", () => turn(-1));
  at("later").addEventListener("click", () => turn(1));
  panel.addEventListener("close", () => {
    const number = state.episode;
    state.episode = 0;
    keep();
    const name = body.querySelector(`.open[data-number="${number}"]`);
    if (name) name.focus();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !panel.open && !event.target.closest("input, select, textarea")) {
      event.preventDefault();
      fields.q.focus();
      fields.q.select();
    }
  });
  addEventListener("hashchange", () => {
    if (location.hash && !location.hash.includes("=") && !/^#episode-\d+$/.test(location.hash)) return;
    state = stateOf(location.hash);
    const number = state.episode;
    update();
    if (number) open(number);
  });
  for (const cell of document.querySelectorAll("[data-scenario]")) {
    const into = el("button", { type: "button", class: "into", title: "Show these episodes" }, ...cell.childNodes);
    cell.append(into);
    into.addEventListener("click", () => {
      const { scenario, actor, version } = cell.dataset;
      const of = (name, value) => ([...fields[name].options].some((one) => one.value === value) ? value : "");
      change({ q: "", code: "", verdict: "", scenario: of("scenario", scenario), actor: of("actor", actor || ""), version: of("version", version || "") });
      at("episodes").scrollIntoView();
      (body.querySelector(".open") || fields.q).focus({ preventScroll: true });
    });
  }

  const number = state.episode;
  update();
  if (number) open(number);
}

async function begin() {
  const packed = document.getElementById("packed");
  if (!packed || typeof DecompressionStream === "undefined") return;
  const book = bookOf(await unpack(packed.textContent));
  document.documentElement.classList.add("scripted");
  document.getElementById("explorer").hidden = false;
  explorer(book);
}

begin();
