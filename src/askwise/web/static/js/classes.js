/** Changes of the classes while people answer: a new one, another name, two that become one, one that becomes two. */

import { post, Refused } from "./api.js";
import { askWords, open } from "./dialogs.js";
import { fill, make } from "./dom.js";

const NONE = "none of these";
const NONE_WORDS = "None of these";

/** Asks for the name of a new class; `use` answers with it if the item on the screen is still the same. */
export function newClass(page, use) {
  const { project, session } = page;
  const entry = session.shown;
  const using = project.task === "multilabel" ? "Add it as a tag" : "Add it and answer with it";
  const words = {
    label: "Its name",
    button: entry ? using : "Add it",
    hint: "Earlier answers stay as they are.",
  };
  const add = async (name) => {
    if (!name) return "A class needs a name.";
    const known = project.classes.find((one) => one.name === name);
    const trouble = known && !known.retired ? null : await edit(page, { edit: "add", name });
    if (!trouble && entry && entry === session.shown) use(name);
    return trouble;
  };
  const none = entry && project.task === "classification" && { words: NONE_WORDS, value: NONE };
  askWords("New class", { ...words, instead: none || null }, add);
}

/** Lets a class have another name, a heading, go into another class, become several, or be asked no more. */
export function changeClass(page, name) {
  const trouble = make("p", { class: "trouble", role: "alert" });
  const others = page.project.classes.filter((one) => !one.retired && one.name !== name);
  const single = page.project.task === "classification";
  const field = make("input", { type: "text", id: "words", maxlength: 120, autocomplete: "off" });
  const select = make(
    "select",
    { id: "into" },
    ...others.map((one) => make("option", { value: one.name }, one.name)),
  );
  const parts = make("input", { type: "text", id: "parts", maxlength: 400, autocomplete: "off" });
  const heading = make("input", { type: "text", id: "heading", maxlength: 120, autocomplete: "off" });
  field.value = name;
  heading.value = page.project.classes.find((one) => one.name === name)?.parent ?? "";
  const part = (button, words, control, change) =>
    make(
      "form",
      {
        onsubmit: async (event) => {
          event.preventDefault();
          const words = await edit(page, change());
          if (words) fill(trouble, words);
          else shut();
        },
      },
      control && make("label", { for: control.id }, words),
      control ?? make("p", {}, words),
      make("button", { class: "plain" }, button),
    );
  const { shut } = open(`The class ${name}`, [
    trouble,
    part("Rename it", "Another name; its labels go with it, and nothing is asked again", field, () => ({
      edit: "rename",
      name,
      to: field.value.trim(),
    })),
    others.length > 0 &&
      part("Merge it", "Another class that takes its labels", select, () => ({
        edit: "merge",
        name,
        to: select.value,
      })),
    single &&
      part("Split it", "Its parts, between commas; its items, and no others, are asked again", parts, () => ({
        edit: "split",
        name,
        to: parts.value
          .split(",")
          .map((one) => one.trim())
          .filter(Boolean),
      })),
    !single &&
      make("p", {}, "A tag cannot be split: add its parts, tag its items anew (History lists them), then retire it."),
    part("Set the heading", "A heading that it stands under; empty for none", heading, () => ({
      edit: "parent",
      name,
      to: heading.value.trim() || null,
    })),
    part("Retire it", "It is no longer offered, and its items return to the pool.", null, () => ({
      edit: "retire",
      name,
    })),
  ]);
  field.focus();
}

/** Changes the classes on the server; returns a sentence where that cannot be. */
async function edit(page, change) {
  const { project } = page;
  for (let tries = 0; ; tries += 1) {
    try {
      const { classes, revision } = await post("/api/classes", { ...change, revision: project.revision });
      Object.assign(project, { classes, revision });
      page.classesChanged();
      return null;
    } catch (error) {
      if (!(error instanceof Refused)) return "The server is away; classes can be changed when it is back.";
      if (error.status !== 409 || tries === 2) return error.message;
      await page.refresh().catch(() => {}); // somebody else changed something meanwhile
    }
  }
}
