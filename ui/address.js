// Keeps the address bar at the view of the session. A choice is a step of the browser's history, typing is none.

let seen = null; // the choices of the last address
let page = null; // where they were made; turning to another page is a step that Streamlit notes itself

export default function ({ data, setTriggerValue }) {
  const url = new URL(window.location.href);
  for (const [name, value] of data.settings) {
    if (value === null) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  const step = JSON.stringify(data.step);
  if (url.href !== window.location.href) {
    const isStep = seen !== null && step !== seen && page === data.step[0];
    window.history[isStep ? "pushState" : "replaceState"](window.history.state, "", url);
  }
  [seen, page] = [step, data.step[0]];
  document.documentElement.lang = url.searchParams.get("lang") ?? data.language;

  const path = window.location.pathname;
  const goBack = () => {
    if (window.location.pathname !== path) return; // to another page Streamlit itself turns
    seen = null; // what the session answers is where the browser already is
    setTriggerValue("went", Object.fromEntries(new URL(window.location.href).searchParams));
  };
  window.addEventListener("popstate", goBack);
  return () => window.removeEventListener("popstate", goBack);
}
