// Popup of the browser extension: correction of a tab's marked text, button to its network.
import { begin as beginPage, LONGEST, Site } from "./page.js";

/**
 * The text that a person marked, or that of the field with the cursor. The browser runs it in the tab, so it
 * uses nothing from outside. A password is never read.
 */
function marked() {
  let field = document.activeElement;
  while (field?.shadowRoot?.activeElement) field = field.shadowRoot.activeElement;
  const isText = field?.matches?.("textarea, input:is(:not([type]), [type=text], [type=search])");
  if (!isText) return String(getSelection());
  return field.value.slice(field.selectionStart, field.selectionEnd) || field.value;
}

/** Of the frames of the tab that is shown. "" where the browser lets no extension read. */
async function textOfTab() {
  try {
    const [{ id }] = await chrome.tabs.query({ active: true, currentWindow: true });
    const frames = await chrome.scripting.executeScript({
      target: { tabId: id, allFrames: true },
      func: marked,
    });
    return frames.map(({ result }) => result).find((text) => text?.trim()) ?? "";
  } catch {
    return "";
  }
}

/** The site without its pictures and controls. */
class Popup extends Site {
  usual() {
    return { ...super.usual(), text: "" };
  }

  async start() {
    super.start();
    const text = (await textOfTab()).trim();
    if (text && !this.state.text) this.change({ ...this.fresh(), text: text.slice(0, LONGEST) }, true);
  }

  /** The address holds text and decisions, as that of the site's own page. */
  controls() {
    document.getElementById("open").onclick = () =>
      chrome.tabs.create({ url: chrome.runtime.getURL(`index.html${location.hash}`) });
  }

  dressControls() {}

  firstPictures() {}

  drawHeads() {}

  loadFont() {}
}

export const begin = (isServed) => beginPage(isServed, Popup);
