/** The dot that says whether answers are stored, and the notices about those that are not. */

import { at, fill, make } from "./dom.js";
import { answers } from "./words.js";

/** Shows the state of the outbox. */
export function saved(outbox) {
  const { mode, waiting, keeping, full, refused, invalid } = outbox.state;
  // that answers wait is said when this browser has them on its disk: the tab may be closed then
  const offline = keeping ? `Offline, keeping ${keeping}` : waiting ? `Offline, ${answers(waiting)}` : "Offline";
  at("saved").dataset.mode = mode;
  fill(at("saved-words"), { saved: "Saved", saving: `Saving ${waiting}`, offline }[mode]);
  const notices = [
    full && [
      `This browser's storage is full: ${answers(waiting)} in this tab only. Keep it open until the dot says saved.`,
    ],
    invalid && [
      "This link is no longer valid. Open the link that askwise label prints; your answers are kept.",
    ],
    refused.length > 0 && refusal(outbox, refused),
  ];
  const shown = notices.filter(Boolean).map((parts) => make("p", { class: "notice" }, ...parts));
  const text = shown.map((notice) => notice.textContent).join("");
  if (at("notices").textContent !== text) fill(at("notices"), ...shown); // a button under a finger stays
}

function refusal(outbox, refused) {
  const many = refused.length === 1 ? "An answer was" : `${refused.length} answers were`;
  const button = (words, again) =>
    make("button", { type: "button", class: "plain small", onclick: () => outbox.settle(again) }, words);
  return [
    `${many} refused: ${refused[0].reason} `,
    button("Send again", true),
    " ",
    button("Discard", false),
  ];
}
