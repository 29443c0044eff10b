// What every component of the file asks for: its data, its place, and the moment at which the font is there.
window.componentParts = (name) => {
  const place = document.getElementById(name);
  const data = JSON.parse(document.getElementById(`${name}-data`).textContent);
  return { data, parentElement: place?.shadowRoot ?? place };
};
window.whenReady = (act) => document.fonts.load("16px 'Noto Sans KR'", "가").then(act);
