// The place of a component waits here for the script that draws it: both come from the server, in either
// order.
const meeting = ((window.attentionScripts ??= {})[NAME] ??= Promise.withResolvers());
