// What the page holds of its episodes, unpacked: one object for each of them, and the tables that they share.

const NONE = -1;

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(stream).text());
}

function bookOf(data) {
  const text = (number) => (number === NONE ? "" : data.texts[number]);
  const steps = data.steps.map(([tool, kind, code, result, refused, sets, shape, ran]) => ({
    tool: text(tool), kind: text(kind) || "no kind", code: text(code), result: text(result),
    refused: text(refused), sets: text(sets), shape: text(shape), ran: ran === 1,
  }));
  const findings = data.findings.map(([code, where, what, pointer, expected, got, one, other]) => ({
    code: text(code), where: text(where), what: text(what), pointer: text(pointer),
    expected: text(expected), got: text(got), sides: [text(one), text(other)],
  }));
  const stories = data.stories.map((story) => storyOf(story, text, steps, findings));
  return { text, stories, arts: data.arts, rows: rowsOf(data.columns, text, stories) };
}

function storyOf(story, text, steps, findings) {
  const [verdict, word, ending, code, cause, facts, course, found, counts, changes, art, aside] = story;
  const taken = course.map(([step, turn]) => ({ ...steps[step], turn }));
  const one = {
    verdict, word: text(word), ending: text(ending), code: text(code), cause: text(cause), facts: text(facts),
    steps: taken, findings: found.map((number) => findings[number]), counts, changes: changes.map(text), art,
    aside: text(aside),
  };
  one.runs = inRuns(taken);
  one.hay = [one.word, one.code, one.cause, one.ending, ...taken.map((step) => step.kind)].join("\n").toLowerCase();
  return one;
}

function inRuns(steps) {
  const runs = [];
  for (const { kind, code } of steps) {
    const last = runs[runs.length - 1];
    if (last && last.kind === kind && last.broke === (code !== "")) last.times += 1;
    else runs.push({ kind, broke: code !== "", times: 1 });
  }
  return runs;
}

function rowsOf(columns, text, stories) {
  const place = (at) => [columns.scenario[at], columns.actor[at], columns.plane[at]].join();
  const repeated = new Set(columns.trial.flatMap((trial, at) => (trial > 1 ? [place(at)] : [])));
  return columns.number.map((number, at) => {
    const row = {
      number, scenario: text(columns.scenario[at]), actor: text(columns.actor[at]), plane: text(columns.plane[at]),
      trial: columns.trial[at], attempt: columns.attempt[at], story: stories[columns.story[at]],
      seconds: columns.seconds[at] / 100, cost: text(columns.cost[at]), repeated: repeated.has(place(at)),
      origin: text(columns.origin[at]),
    };
    row.hay = `${row.scenario}\n${row.actor}\n${row.plane}\n${row.origin}`.toLowerCase();
    return row;
  });
}

function whoOf(row, several) {
  return [row.actor, several.has(row.plane.split("==")[0]) ? row.plane : "", row.origin].filter(Boolean).join(", ");
}

function playerOf(row, several) {
  const times = [row.repeated ? `trial ${row.trial}` : "", row.attempt > 1 ? `attempt ${row.attempt}` : ""];
  return [whoOf(row, several), ...times.filter(Boolean)].join(", ");
}

/** What it cost as a number, to sort by; what is unknown is less than nothing. */
function priceOf(row) {
  return row.cost === "" ? NONE : Number(row.cost.replace(/[^\d.]/g, ""));
}
