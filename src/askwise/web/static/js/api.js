/** Calls to the server: the token travels in a header, and every failure is one of two kinds. */

/** The server is not there, or not well: try again later. */
export class Away extends Error {}

/** The server understood and said no; `status` is the HTTP status. */
export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

const PATIENCE = 20_000; // a call that takes longer counts as a server that is away
const TRIES = 90; // a model at work answers late: each call waits for it for a second or two
const SILENCE = 40_000; // the server speaks every 15 seconds, if only a comment

let token = takeToken();

/** The answer to GET as JSON. */
export async function get(path) {
  return (await call(path)).json();
}

/** The answer to POST as JSON. */
export async function post(path, body) {
  return (
    await call(path, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "Content-Type": "application/json" },
    })
  ).json();
}

/** What `ask` promises; a model that is at work (409) is asked again for a while, as long as `wanted` says so. */
export async function patient(ask, wanted = () => true) {
  for (let tries = 0; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 409 || tries === TRIES || !wanted()) throw error;
      await pause(500);
    }
  }
}

/** The bytes of a picture. */
export async function blob(path) {
  return (await call(path)).blob();
}

/** Calls `hear` with every status the server sends, for ever; `link` hears whether the line stands. */
export async function listen(hear, link) {
  for (let failures = 0; ; failures += 1) {
    const stop = new AbortController();
    let watch = setTimeout(() => stop.abort(), SILENCE);
    try {
      const response = await call("/api/events", {
        signal: stop.signal,
        headers: { Accept: "text/event-stream" },
      });
      link(true);
      let text = "";
      for await (const piece of pieces(response.body)) {
        failures = 0;
        clearTimeout(watch);
        watch = setTimeout(() => stop.abort(), SILENCE);
        text += piece.replaceAll("\r\n", "\n");
        const blocks = text.split("\n\n");
        text = blocks.pop();
        for (const block of blocks) tell(block, hear);
      }
    } catch (error) {
      if (error instanceof Refused && error.status === 401) return link(false, error);
    } finally {
      clearTimeout(watch);
    }
    link(false);
    await pause(Math.min(5000, 250 * 2 ** Math.min(failures, 5)));
  }
}

/** Resolves after some milliseconds, or sooner when the browser finds the network again. */
export function pause(milliseconds) {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener("online", done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    addEventListener("online", done);
  });
}

async function call(path, { headers = {}, signal = AbortSignal.timeout(PATIENCE), ...rest } = {}) {
  let response;
  try {
    response = await fetch(path, {
      ...rest,
      signal,
      cache: "no-store",
      credentials: "omit",
      headers: { ...headers, Authorization: `Bearer ${token}` },
    });
  } catch (error) {
    throw new Away(error.message);
  }
  if (response.ok) return response;
  const words = await sentence(response);
  const later = response.status >= 500 || response.status === 429 || response.status === 408;
  throw later ? new Away(words) : new Refused(response.status, words);
}

async function sentence(response) {
  try {
    const { error } = await response.json();
    return typeof error === "string" ? error : `status ${response.status}`;
  } catch {
    return `status ${response.status}`;
  }
}

async function* pieces(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

function tell(block, hear) {
  const lines = block.split("\n");
  const event = lines
    .find((line) => line.startsWith("event:"))
    ?.slice(6)
    .trim();
  const data = lines
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice(5))
    .join("\n");
  if (event === "status" && data) hear(JSON.parse(data));
}

function takeToken() {
  const given = decodeURIComponent(location.hash.slice(1));
  try {
    if (given) sessionStorage.setItem("askwise token", given);
    return given || sessionStorage.getItem("askwise token") || "";
  } catch {
    return given; // a browser without storage keeps it until the tab closes
  } finally {
    if (given) history.replaceState(null, "", location.pathname); // out of sight and out of the history
  }
}
