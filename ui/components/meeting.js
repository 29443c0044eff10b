// Promise of a component's script, for which the component's place waits (place.js).
// Both come from the server, in either order.
const meeting = ((window.attentionScripts ??= {})[NAME] ??= (() => {
  let resolve; // Promise.withResolvers is too new for a class's older phones
  const promise = new Promise((done) => (resolve = done));
  return { promise, resolve };
})());
