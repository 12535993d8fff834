/** Changes of the classes while people answer: a new one, another name. */

import { post, Refused } from "./api.js";
import { askWords } from "./dialogs.js";

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
  askWords("New class", words, async (name) => {
    if (!name) return "A class needs a name.";
    const known = project.classes.find((one) => one.name === name);
    const trouble = known && !known.retired ? null : await edit(page, { edit: "add", name });
    if (!trouble && entry && entry === session.shown) use(name);
    return trouble;
  });
}

/** Asks for another name of a class. */
export function renameClass(page, name) {
  const hint = "Its labels go with it; nothing is asked again.";
  askWords(
    "Rename a class",
    { label: `A new name for ${name}`, value: name, button: "Rename it", hint },
    (to) => (!to || to === name ? "Type another name." : edit(page, { edit: "rename", name, to })),
  );
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
