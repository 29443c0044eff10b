// The place of a component waits here for the script that draws it: both come from the server, in either
// order.
const meeting = ((window.attentionScripts ??= {})[NAME] ??= (() => {
  let resolve; // Promise.withResolvers is too new for a class's older phones
  const promise = new Promise((done) => (resolve = done));
  return { promise, resolve };
})());
