"""Rules of the browser's page against those of Python, in Node."""

import json
import shutil
import subprocess

from deploy.site import bundle
from deploy.site.rules import rules
from model.text.changes import Change
from model.text.protected import is_dialect, kept_spans, verbatim_spans
from model.text.readings import find_particles, find_stand_ins
from tests.browser.missing import missing
from tests.model.correction.test_kinds import pairs

SCRIPT = """
import { findParticles, findStandIns } from "./corrector.js";
import { isDialect, keptSpans, verbatimSpans } from "./protected.js";
const { rules, texts } = JSON.parse(require("fs").readFileSync(0, "utf-8"));
for (const [name, { source, flags }] of Object.entries(rules.patterns))
  rules.patterns[name] = new RegExp(source, flags);
const told = ({ sourceStart, sourceEnd, right }) => [sourceStart, sourceEnd, right];
const answers = texts.map((text) => {
  const verbatim = verbatimSpans(text, rules);
  const changed = (i) => ({ sourceStart: i, sourceEnd: i + 1, wrong: text[i], right: "가" });
  const dialect = [...text].map((_, i) => isDialect(changed(i), text, rules));
  const changes = [findParticles, findStandIns].map((find) => find(text, verbatim, rules).map(told));
  return [...changes, keptSpans(text, rules), dialect];
});
console.log(JSON.stringify(answers));
"""


def test_particles_placeholders_and_kept_words_are_those_of_python():
    if shutil.which("node") is None:
        missing("needs Node")
    texts = [text for _, *both in pairs() for text in dict.fromkeys(both)]
    require = f'const require = createRequire("file://{bundle.SCRIPTS}/");'
    script = f'import {{ createRequire }} from "module";\n{require}\n{SCRIPT}'
    answers = subprocess.run(
        ["node", "--input-type=module", "--eval", script],
        input=json.dumps({"rules": rules(), "texts": texts}),
        capture_output=True,
        text=True,
        check=True,
        cwd=bundle.SCRIPTS,
    )
    for text, found in zip(texts, json.loads(answers.stdout), strict=True):
        assert found == expected(text), text


def expected(text: str) -> list:
    def told(changes):
        return [[change.source_start, change.source_end, change.right] for change in changes]

    verbatim = verbatim_spans(text)
    dialect = [is_dialect(Change(i, i + 1, i, i + 1, text[i], "가"), text) for i in range(len(text))]
    changes = told(find_particles(text, verbatim)), told(find_stand_ins(text, verbatim))
    return [*changes, [list(span) for span in kept_spans(text)], dialect]
