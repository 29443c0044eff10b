// Shows nothing. Asks the server now and then what is new in the classroom; a page that nobody sees asks nothing, nor does one that is
// being drawn: a question about a page that is being left would be answered into the page that comes.
export default function ({ data, setTriggerValue }) {
  let beats = 0;
  const app = document.querySelector('[data-testid="stApp"]');
  const isBusy = () => document.hidden || app?.dataset.testScriptState !== "notRunning";
  const timer = setInterval(() => isBusy() || setTriggerValue("beat", ++beats), data.every);
  return () => clearInterval(timer);
}
