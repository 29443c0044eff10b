// Address bar at the session's view, and Back and Forward of the browser's history.
// A choice is a step of the history, typing is none.

const PATIENCE = 10_000; // milliseconds to wait for the session to follow Back; later it has missed it

let seen = null; // the choices of the last address
let page = null; // where they were made; turning to another page is a step that Streamlit notes itself
let session = null;
let followed = 0; // how many times this session had followed Back or Forward when it was last heard
let awaited = null; // the last Back, until the session has followed it

window.addEventListener("popstate", () => {
  if (window.location.hash) return; // a place in the page
  // The browser is already at the address that the session will report, so that report is no new step.
  seen = null;
  awaited = { followed, query: plain(window.location.search), until: Date.now() + PATIENCE };
});

export default function ({ data }) {
  if (data.session !== session || hasFollowed(data.followed)) awaited = null;
  session = data.session;
  followed = data.followed.times;
  // A run that began before Back reports the view that the visitor has just left.
  if (awaited === null) follow(data);
}

function hasFollowed({ times, query }) {
  if (awaited === null) return true;
  return (times !== awaited.followed && plain(query) === awaited.query) || Date.now() > awaited.until;
}

function plain(query) {
  const parameters = new URLSearchParams(query);
  ["embed", "embed_options"].forEach((name) => parameters.delete(name)); // Streamlit keeps these for itself
  return parameters.toString();
}

function follow(data) {
  for (const [name, value] of Object.entries(data.kept)) {
    const gone = value ? "" : "; Max-Age=0";
    document.cookie = `${name}=${encodeURIComponent(value)}; Path=/; SameSite=Strict${gone}`;
  }
  const parameters = new URLSearchParams(window.location.search);
  for (const [name, value] of data.settings) {
    parameters.delete(name); // it is appended again at the end, so that equal views have equal addresses
    if (value !== null) parameters.append(name, value);
  }
  const url = new URL(window.location.href);
  url.search = parameters;
  const step = JSON.stringify(data.step);
  if (url.href !== window.location.href) {
    const isStep = seen !== null && step !== seen && page === data.step[0];
    window.history[isStep ? "pushState" : "replaceState"](window.history.state, "", url);
  }
  [seen, page] = [step, data.step[0]];
  document.documentElement.lang = parameters.get("lang") ?? data.language;
}
