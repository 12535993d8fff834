/** The words of the states: the first minutes, nothing to ask, an earlier answer on the screen. */

import { keycap, make } from "./dom.js";
import { valueWords } from "./history.js";
import { encodingLines } from "./panel.js";

/** What the stage says when there is no item to show. */
export function emptyWords({ project, questions, outbox, status, keys }, name) {
  const { counts } = project;
  const page = (title, ...lines) =>
    make(
      "div",
      { class: "empty" },
      make("h2", {}, title),
      ...lines.filter(Boolean).map((line) => (typeof line === "string" ? make("p", {}, line) : line)),
    );
  const { state } = outbox;
  if (state.invalid)
    return page(
      "This link is not valid",
      "Open the link that askwise label prints. Answers that wait in this browser are kept and sent then.",
    );
  if (state.mode === "offline") {
    const waiting = state.waiting
      ? `${answers(state.waiting)} in this browser and will be sent when it is back.`
      : "Nothing waits; all your answers are stored.";
    return page("The server is away", "You have answered every question that was loaded.", waiting);
  }
  const classes = project.classes.filter((one) => !one.retired);
  if (!classes.length && project.task !== "regression") {
    return page(
      "What do you want to tell apart?",
      "No class is named yet. Name the first one; more can follow at any time.",
      make(
        "button",
        { type: "button", class: "primary", onclick: name },
        "Name the first class ",
        keycap(keys.of("add")),
      ),
    );
  }
  const reason = questions.reason ?? "";
  if (status?.encoding && !counts.labelled) {
    return page(
      "The items are being read",
      "The first questions come as soon as some items are encoded. You can stay here.",
      ...encodingLines(status.encoding),
    );
  }
  if (!reason) return page("One moment", "The next questions are on their way.");
  const left = counts.unlabelled + counts.open;
  const again =
    counts.skipped > 0 &&
    make(
      "button",
      { type: "button", class: "primary", onclick: () => questions.again().catch(() => {}) },
      "Ask the skipped ones again",
    );
  if (left === 0 && counts.skipped && !counts.labelled)
    return page(
      "You have skipped everything",
      `${counts.skipped.toLocaleString("en")} skipped, none labelled.`,
      again,
    );
  if (left === 0) {
    const parts = [
      [counts.labelled, "labelled"],
      [counts.skipped, "skipped"],
      [counts.unclear, "unclear"],
      [counts.quarantined, "not readable"],
    ];
    const sum = parts
      .filter(([count]) => count)
      .map(([count, words]) => `${count.toLocaleString("en")} ${words}`)
      .join(", ");
    return page(
      counts.skipped ? "Only skipped items are left" : "Every item is answered",
      `${sum}.`,
      "Correct any of them in History, or export the labels.",
      again,
    );
  }
  return page(/budget/i.test(reason) ? "The budget is spent" : "No question now", reason);
}

/** The sentence above the choices. */
export function hintWords({ project, session, status, keys }, leave) {
  const { shown } = session;
  if (!shown) return [];
  if (session.looksBack) {
    const given = shown.given
      ? `You answered: ${valueWords(shown.given)}. Another answer corrects it.`
      : "This item was not asked yet. Answer it if you like.";
    return [
      make("strong", {}, shown.given ? "An earlier answer. " : "Out of turn. "),
      given,
      " ",
      make(
        "button",
        { type: "button", class: "plain small", onclick: leave },
        "Back to the questions ",
        keycap("Esc"),
      ),
    ];
  }
  if (project.task === "regression") return ["What is the number?"];
  const classes = project.classes.filter((one) => !one.retired);
  if (!classes.length)
    return [
      make("strong", {}, "No class is named yet. "),
      "What do you see? Press ",
      keycap(keys.of("add")),
      " and name it.",
    ];
  if (project.task === "multilabel") return ["Which of these hold?"];
  const used = (status?.balance ?? []).filter((one) => one.count > 0);
  if (used.length === 1 && status.labels >= 3)
    return [
      make("strong", {}, `Only ${used[0].name} so far. `),
      "The model starts to learn when a second class is answered.",
    ];
  return ["Which class is it?"];
}

/** “1 answer waits” or “3 answers wait”. */
export function answers(count) {
  return count === 1 ? "1 answer waits" : `${count} answers wait`;
}
