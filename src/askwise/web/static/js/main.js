/** Starts the page: who may see it, what is asked, and where everything is shown. */

import { get, listen, pause, Refused } from "./api.js";
import { Ask } from "./ask.js";
import { Check } from "./check.js";
import { at, fill, icon, make } from "./dom.js";
import { Find } from "./find.js";
import { History } from "./history.js";
import { Items } from "./items.js";
import { Keys, read, write } from "./keys.js";
import { Outbox } from "./outbox.js";
import { Panel } from "./panel.js";
import { People } from "./people.js";
import { Questions } from "./questions.js";
import { saved } from "./saved.js";
import { Session } from "./session.js";
import { Sweep } from "./sweep.js";
import { Views } from "./views.js";

start();

async function start() {
  themes();
  const project = await firstCall();
  if (project) run(project, await Outbox.open(`askwise ${project.name} ${project.annotator}`));
}

function run(project, outbox) {
  const items = new Items(project.kind);
  const keys = new Keys(project);
  const questions = new Questions(items, outbox);
  const session = new Session(questions, outbox, `askwise ${project.name} ${project.annotator}`);
  const recent = `askwise recent ${project.name}`;
  session.recent = [read(recent).names].flat().filter(Boolean);
  const views = new Views(keys);
  let cameFrom = "ask";

  const page = {
    project,
    outbox,
    items,
    keys,
    questions,
    session,
    views,
    news: new EventTarget(), // emits "status" and "classes" when these have changed
    openItem: (entry, from) => openItem(entry, from),
    moreLike: (item) => find.like(item),
    status: null,
    classesChanged() {
      keys.classes(project.classes);
      history.classes(project.classes);
      ask.rebuild();
      page.news.dispatchEvent(new Event("classes"));
    },
    async refresh() {
      const fresh = await get("/api/project");
      const changed = JSON.stringify(fresh.classes) !== JSON.stringify(project.classes);
      Object.assign(project, fresh);
      if (changed) page.classesChanged();
      if (!session.shown) ask.hint();
    },
    leave() {
      session.home();
      back();
    },
  };
  const back = () => {
    const view = cameFrom;
    cameFrom = "ask";
    if (view !== "ask") views.goto(view);
  };
  const openItem = (entry, from) => {
    cameFrom = from;
    views.goto("ask");
    session.open(entry);
  };
  const history = new History(at("history"), items, {
    correct: (answer) =>
      openItem({ ...answer, question: null, given: answer.verdict === "retract" ? null : answer }, "history"),
    owner: project.owner,
  });
  const panel = new Panel(at("panel"), project, items, {
    open: (item) =>
      openItem(
        {
          ...item,
          question: null,
          given: session.done.find((entry) => entry.item === item.item)?.given ?? null,
        },
        views.current,
      ),
    stock: (count, tell) => questions.stock(count, tell),
  });
  const ask = new Ask(page);
  if (project.task === "classification") page.sweep = new Sweep(at("sweep"), page);

  document.title = `${project.name} – askwise`;
  fill(at("project"), project.name);
  history.classes(project.classes);
  fill(at("keys"), icon("keys"));
  at("keys").addEventListener("click", () => ask.act("help"));
  views.addEventListener("leave", () => {
    if (session.visitor) session.home();
    cameFrom = "ask";
  });
  views.add("ask");
  const check = new Check(at("check"), page);
  views.add("check", { show: () => check.show(), pressed: (...key) => check.pressed(...key) });
  const find = new Find(at("find"), page, {
    sweep: page.sweep && ((name, items) => page.sweep.open(name, items)),
  });
  views.add("find", { show: () => find.show(), pressed: (...key) => find.pressed(...key) });
  views.add("history", { show: () => history.show() });
  if (project.owner) {
    const people = new People(at("people"), page);
    views.add("people", { show: () => people.show() });
  }
  session.addEventListener("answer", () => {
    write(recent, { names: session.recent });
    back();
  });

  const news = (status) => {
    const before = page.status;
    page.status = status;
    panel.show(status);
    page.news.dispatchEvent(new Event("status"));
    ask.hint();
    if (!before || before.model !== status.model || !session.shown)
      questions.refill({ force: !session.shown });
    const named = project.classes.filter((one) => !one.retired).map((one) => one.name);
    const counted = new Set(status.balance.map((one) => one.name));
    const edited =
      counted.size > 0 && (named.length !== counted.size || named.some((name) => !counted.has(name)));
    if (edited || (before?.revision !== status.revision && !session.shown)) refreshSoon();
  };
  let soon = null;
  const refreshSoon = () => {
    soon ??= setTimeout(() => {
      soon = null;
      page.refresh().catch(() => {});
    }, 1000);
  };

  outbox.addEventListener("change", () => {
    saved(outbox);
    if (!session.shown) ask.hint();
  });
  outbox.addEventListener("stored", () => views.current === "history" && history.show());
  document.addEventListener("visibilitychange", () => document.hidden || questions.refill({ force: true })); // renews the leases
  addEventListener("beforeunload", (event) => outbox.state.full && event.preventDefault()); // these are nowhere else
  setInterval(() => document.hidden || questions.refill({ force: true }), 200_000); // so does this
  setInterval(() => session.shown || questions.refill({ force: true }), 2500);
  saved(outbox);
  ask.show();
  questions.refill({ force: true });
  get("/api/history?n=50")
    .then(({ answers: told }) => {
      session.remember(
        told.filter(
          (answer) =>
            answer.annotator === project.annotator &&
            !session.done.some((entry) => entry.item === answer.item),
        ),
      );
      if (session.shown) ask.offer(); // a person may have begun with it
      else ask.show();
    })
    .catch(() => {});
  listen(news, (good, error) => {
    outbox.link(good, error);
    if (good) outbox.flush();
  });
}

/** Asks for the project until the server answers; a link that is not valid ends here. */
async function firstCall() {
  for (let tries = 0; ; tries += 1) {
    try {
      return await get("/api/project");
    } catch (error) {
      const invalid = error instanceof Refused;
      words(
        invalid ? "This link is not valid" : "The server is away",
        invalid
          ? "Open the link that askwise label prints; it carries the key to this project."
          : "Start it with askwise label. This page goes on by itself.",
      );
      at("saved").dataset.mode = "offline";
      fill(at("saved-words"), invalid ? "No access" : "Offline");
      if (invalid) return null;
      await pause(Math.min(3000, 300 * 2 ** tries));
    }
  }
}

function words(title, line) {
  document.body.classList.add("nothing");
  at("stage").dataset.kind = "words";
  fill(at("stage"), make("div", { class: "empty" }, make("h2", {}, title), make("p", {}, line)));
}

function themes() {
  fill(at("theme"), icon("theme"));
  at("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    try {
      localStorage.setItem("askwise theme", root.dataset.theme);
    } catch {
      // It lasts until the page is closed.
    }
  });
}
