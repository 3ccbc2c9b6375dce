"""Keeps the goldens of ChatTemplate's tests: templates, contexts, and what Jinja2 makes of them.

    python3 goldens.py check    fails where the installed Jinja2 disagrees with a golden
    python3 goldens.py update   renders everything again; a new case needs nothing but its template
    python3 goldens.py fuzz N   replaces the goldens of random templates by N new ones

A golden whose outcome depends on a Jinja2 newer than 3.1.0 says so under "since"; older ones skip it.
"""

import json
import sys
import warnings
from pathlib import Path

import fuzz
import jinja_reference as reference

FOLDER = Path(__file__).parent.parent / "resources/dev/warmpath/prompt/template"
LANGUAGE = FOLDER / "language-goldens.json"
RANDOM = FOLDER / "random-goldens.json"
MODELS = FOLDER / "model-goldens.json"

# The Python whose words the error messages are in
PYTHON = (3, 11)


def applies(case):
    return reference.VERSION >= tuple(int(part) for part in case.get("since", "3.1.0").split("."))


def cases_of(groups):
    for group in groups:
        for case in group["cases"]:
            yield group["context"], case


def all_goldens():
    for file in (LANGUAGE, RANDOM):
        for context, case in cases_of(json.loads(file.read_text())):
            if applies(case):
                yield case["template"], context, case
    for model in json.loads(MODELS.read_text()):
        for case in model["cases"]:
            yield model["template"], case["context"], case


def check():
    different = checked = 0
    for template, context, case in all_goldens():
        checked += 1
        now = reference.outcome(template, context)
        golden = {key: case[key] for key in ("expected", "error", "message", "line") if key in case}
        if now != golden:
            different += 1
            print(f"{template!r}\n  golden: {golden}\n  Jinja2: {now}")
    versions = f"Jinja2 {'.'.join(map(str, reference.VERSION))} on Python {sys.version_info[0]}.{sys.version_info[1]}"
    print(f"{checked} goldens checked with {versions}, {different} differ")
    # other Pythons word some errors otherwise: what they say is shown and does not count
    return 1 if different and sys.version_info[:2] == PYTHON else 0


def update():
    groups = json.loads(LANGUAGE.read_text())
    for context, case in cases_of(groups):
        if applies(case):
            kept = {key: case[key] for key in ("template", "since") if key in case}
            case.clear()
            case.update(kept, **reference.outcome(kept["template"], context))
    write(LANGUAGE, groups)
    return 0


def random_cases(count):
    """Templates short enough to read, and mostly such that render."""
    cases = []
    seed = 0
    while len(cases) < count:
        seed += 1
        template = fuzz.Grammar(seed).template()
        result = fuzz.reference_outcome(template)
        if result is None or len(template) > 400 or result.get("error") == "RecursionError":
            continue
        if "error" in result and seed % 4:
            continue
        if result.get("expected", "x").strip() or seed % 8 == 0:
            cases.append({"template": template, **result})
    write(RANDOM, [{"group": "random", "context": fuzz.CONTEXT, "cases": cases}])
    return 0


def write(file, groups):
    """One case a line, so that a change shows what it changes."""
    lines = ["["]
    for number, group in enumerate(groups):
        lines.append(f' {{"group": {json.dumps(group["group"])},')
        lines.append(f'  "context": {json.dumps(group["context"])},')
        lines.append('  "cases": [')
        lines.append(",\n".join("   " + json.dumps(case) for case in group["cases"]))
        lines.append("  ]}" + ("," if number < len(groups) - 1 else ""))
    lines.append("]")
    file.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    command = sys.argv[1] if len(sys.argv) > 1 else ""
    if command == "check":
        sys.exit(check())
    elif command == "update":
        sys.exit(update())
    elif command == "fuzz":
        sys.exit(random_cases(int(sys.argv[2])))
    else:
        sys.exit(__doc__)
