// A figure waits here for what draws it: both come from the server, in either order.
const meeting = (window.attentionMeeting ??= (() => {
  let resolve;
  const drawing = new Promise((done) => (resolve = done));
  return { drawing, resolve };
})());
