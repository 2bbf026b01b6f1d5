// One episode in a dialog: the card that the page has of it, else what can be told from the packed data.

function panelOf(book, several) {
  const panel = document.getElementById("panel");
  const title = document.getElementById("panel-title");
  const body = document.getElementById("panel-body");
  const place = document.getElementById("panel-place");
  const buttons = { before: document.getElementById("panel-before"), after: document.getElementById("panel-after") };
  let lent = null;
  let move = () => {};

  function giveBack() {
    if (lent) lent.home.append(lent.part);
    lent = null;
    body.replaceChildren();
  }

  function show(row, at, total, step) {
    giveBack();
    move = step;
    title.replaceChildren(badge(row.story), ` ${row.number}. `, ...breakable(row.scenario));
    place.textContent = `${(at + 1).toLocaleString("en-US")} of ${total.toLocaleString("en-US")}`;
    buttons.before.disabled = at <= 0;
    buttons.after.disabled = at >= total - 1;
    body.append(el("p", { class: "who" }, breakable(playerOf(row, several)), " ",
      el("span", { class: "soft" }, [`${row.seconds.toFixed(2)} s`, row.cost].filter(Boolean).join(" · "))));
    const card = document.querySelector(`#episode-${row.number} > .body`);
    if (card) {
      lent = { part: card, home: card.parentElement };
      body.append(card);
    } else body.append(...told(row, book));
    if (!panel.open) panel.showModal();
    panel.scrollTop = body.scrollTop = 0;
  }

  buttons.before.addEventListener("click", () => move(-1));
  buttons.after.addEventListener("click", () => move(1));
  document.getElementById("panel-close").addEventListener("click", () => panel.close());
  panel.addEventListener("click", (event) => { if (event.target === panel) panel.close(); });
  panel.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const button = by < 0 ? buttons.before : buttons.after;
    if (by && !event.target.closest(".scroll") && !button.disabled) {
      event.preventDefault();
      move(by);
    }
  });
  panel.addEventListener("close", giveBack);
  return { show, panel };
}

function told(row, book) {
  const { story } = row;
  const [turns, calls, ran] = story.counts;
  const proof = [story.word, story.code].filter(Boolean).join(": ");
  const parts = [facts([
    ["How it stopped", story.ending, true],
    ["What it proves", story.cause ? `${proof}; cause: ${story.cause}` : proof],
    ["In quarantine", story.aside],
    ["Facts", story.facts || "none", true],
    ["Counts", `${counted(turns, "turn")}, ${counted(calls, "tool call")}, ${ran} ran, ${calls - ran} did not run`],
  ])];
  if (story.findings.length) parts.push(el("h3", null, "Findings"), ...story.findings.map((one) => finding(one, story)));
  if (story.art !== NONE) parts.push(el("h3", null, "Rules and the path taken"), ...drawing(row, book));
  parts.push(el("h3", null, "Steps"), steps(story), el("h3", null, "Boundary"));
  parts.push(...story.changes.map((line) => el("p", { class: line.startsWith("✗") ? "broke" : "soft" }, breakable(line))));
  parts.push(el("p", { class: "soft" }, "Digests, and the conversation where it was kept: ",
    el("span", { class: "mono" }, `harness show RUN/${row.number}`)));
  return parts;
}

function finding(one, story) {
  const head = [one.code ? el("strong", { class: "mono" }, breakable(one.code)) : "",
    one.code && (one.where || one.what) ? " " : "", one.where ? el("strong", null, one.where) : "",
    one.where ? ": " : "", one.what];
  const sides = facts([["at", one.pointer, true], [one.sides[0], one.expected, true], [one.sides[1], one.got, true]], "sides");
  return el("div", { class: `finding ${story.verdict}` }, head, sides.childElementCount ? sides : "");
}

function steps(story) {
  if (!story.steps.length) return el("p", { class: "soft" }, "no call");
  return el("div", { class: "steps" }, story.steps.map((step, at) =>
    el("details", { class: step.code ? "step broke" : "step", open: step.code !== "" },
      el("summary", null, el("span", { class: "ordinal" }, String(at + 1)), " ",
        el("span", { class: "what mono" }, breakable(step.kind)),
        el("span", { class: "soft" }, ` ${step.ran ? "ran" : "did not run"}, ${step.result}${step.sets ? "; sets " : ""}`),
        step.sets ? el("span", { class: "mono soft" }, step.sets) : "",
        step.code ? el("strong", { class: "mono" }, " ✗ ", breakable(step.code)) : ""),
      facts([["Turn", String(step.turn)], ["Tool", step.tool, true], ["Refused", step.refused], ["Shape", step.shape]]))));
}

function drawing(row, book) {
  const [width, height, boxes, arrows] = book.arts[row.story.art];
  const name = "Sets of facts and the calls between them; the path of this episode is highlighted";
  const picture = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": name, class: "art" },
    arrows.map(([path, head, x, y, label, taken]) => draw("g", { class: taken ? "edge taken" : "edge" },
      draw("path", { d: path }), draw("polygon", { points: head }), draw("text", { x, y }, book.text(label)))),
    boxes.map((box) => node(box, row.story.verdict, book)));
  return [
    el("div", { class: "scroll drawing", tabindex: 0, role: "region", "aria-label": `Rules of ${row.scenario}` }, picture),
    el("p", { class: "legend" }, el("span", { class: "key" }, "Blue"), " is the way this episode took. A double frame " +
      "satisfies the scenario; ↻ is a call that leads nowhere new; ⊘ counts the codes with which calls end the episode there."),
  ];
}

function node([x, y, width, height, accepts, visited, flag, flagWidth, lines], verdict, book) {
  const parts = [draw("rect", { x, y, width, height, rx: 8 })];
  if (accepts) parts.push(draw("rect", { class: "goal", x: x + 3.5, y: y + 3.5, width: width - 7, height: height - 7, rx: 5 }));
  parts.push(...lines.map(([text, sort, taken, at]) =>
    draw("text", { class: taken ? `${sort} taken` : sort, x: x + 12, y: at }, book.text(text))));
  const whole = [draw("g", { class: visited ? "node visited" : "node" }, parts)];
  if (flag !== NONE) {
    whole.push(draw("g", { class: `flag ${verdict}` }, draw("rect", { x, y: y + height + 6, width: flagWidth, height: 22, rx: 6 }),
      draw("text", { x: x + 12, y: y + height + 21 }, book.text(flag))));
  }
  return whole;
}
