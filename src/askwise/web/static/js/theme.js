/** Light or dark before anything is painted; a plain script, so that it runs in time. */
{
  let chosen = null;
  try {
    chosen = localStorage.getItem("askwise theme");
  } catch {
    // Without storage the system's choice holds.
  }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
}
