// Keeps the address bar at the view of the session. A choice is a step of the browser's history, typing is none.

let seen = null; // the choices of the last address

export default function ({ data, setTriggerValue }) {
  const url = new URL(window.location.href);
  for (const [name, value] of data.settings) {
    if (value === null) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  const step = JSON.stringify(data.step);
  if (url.href !== window.location.href) {
    const isStep = seen !== null && step !== seen;
    window.history[isStep ? "pushState" : "replaceState"](window.history.state, "", url);
  }
  seen = step;
  document.documentElement.lang = url.searchParams.get("lang") ?? data.language;

  const goBack = () => {
    seen = null; // what the session answers is where the browser already is
    setTriggerValue("went", Object.fromEntries(new URL(window.location.href).searchParams));
  };
  window.addEventListener("popstate", goBack);
  return () => window.removeEventListener("popstate", goBack);
}
