// Shows nothing. Asks the server now and then what is new in the classroom. A page that nobody sees asks
// nothing. Nor does a page that is being drawn: if the visitor is leaving a page, the answer would arrive in
// the next one.
export default function ({ data, setTriggerValue }) {
  let beats = 0;
  const app = document.querySelector('[data-testid="stApp"]');
  const isBusy = () => document.hidden || app?.dataset.testScriptState !== "notRunning";
  const timer = setInterval(() => isBusy() || setTriggerValue("beat", ++beats), data.every);
  return () => clearInterval(timer);
}
