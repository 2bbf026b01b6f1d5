// Elements of the page. Texts become text nodes and nothing else: no markup is ever read.

const MARKS = { pass: "✓", fail: "✗", not_judged: "?", pending: "…" };
const SVG = "http://www.w3.org/2000/svg";

function el(tag, attributes, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

function draw(tag, attributes, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== false) node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== ""));
  return node;
}

/** Long identifiers may break after their joints. */
function breakable(text) {
  const pieces = text.split(/(?<=[_/,|])|(?<==)(?!=)/);
  return pieces.flatMap((piece, at) => (at ? [document.createElement("wbr"), piece] : [piece]));
}

function badge(story) {
  return el("span", { class: `badge ${story.verdict}` }, `${MARKS[story.verdict]} ${story.word}`);
}

function chips(story) {
  if (!story.runs.length) return el("span", { class: "soft" }, "no call");
  return el("span", { class: "chips mono" }, story.runs.map(({ kind, broke, times }) =>
    el("span", { class: broke && "broke" }, breakable(kind), broke ? " ✗" : "",
      times > 1 ? el("span", { class: "soft" }, ` ×${times}`) : "")));
}

function facts(pairs, kind) {
  const told = pairs.filter(([, value]) => value !== "" && value !== null);
  return el("dl", { class: kind || "facts" }, told.flatMap(([name, value, mono]) =>
    [el("dt", null, name), el("dd", { class: mono && "mono" }, value)]));
}

function counted(number, noun) {
  return `${number.toLocaleString("en-US")} ${noun}${number === 1 ? "" : "s"}`;
}
