"""Trains the tiny tokenizers that the tests keep as resources.

usage: train-tiny-tokenizers.py TEXT_FILES... (needs the Python package tokenizers 0.21)

Writes into ../resources/dev/warmpath/prompt/tokenizer: `chatml`, a byte-level tokenizer laid out as
Qwen's are, and `llama`, a SentencePiece-style one with byte fallback.
"""

import json
import pathlib
import sys

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from tokenizers import processors, trainers

OUT = pathlib.Path(__file__).parent / "../resources/dev/warmpath/prompt/tokenizer"
QWEN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def save(tokenizer, name, config):
    folder = OUT / name
    folder.mkdir(parents=True, exist_ok=True)
    text = json.loads(tokenizer.to_str())
    (folder / "tokenizer.json").write_text(json.dumps(text, ensure_ascii=False, indent=1), "utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=2), "utf-8")


def chatml(texts):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(QWEN), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    trainer = trainers.BpeTrainer(
        vocab_size=700,
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train(texts, trainer)
    tokenizer.add_special_tokens(
        [AddedToken(t, normalized=False) for t in ("<|endoftext|>", "<|im_start|>", "<|im_end|>")]
    )
    tokenizer.add_tokens([AddedToken(t, normalized=False) for t in ("<think>", "</think>")])
    save(
        tokenizer,
        "chatml",
        {
            "tokenizer_class": "Qwen2Tokenizer",
            "eos_token": "<|im_end|>",
            "pad_token": "<|endoftext|>",
            "bos_token": None,
        },
    )


def llama(texts):
    special = ["<unk>", "<s>", "</s>"]
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="never")
    trainer = trainers.BpeTrainer(
        vocab_size=600,
        show_progress=False,
        special_tokens=special + [f"<0x{b:02X}>" for b in range(256)],
        limit_alphabet=120,
    )
    tokenizer.train(texts, trainer)
    # As in the models of this kind, a text is one word.
    text = json.loads(tokenizer.to_str())
    text["pre_tokenizer"] = None
    text["added_tokens"] = [t for t in text["added_tokens"] if t["content"] in special]
    text["decoder"] = {
        "type": "Sequence",
        "decoders": [
            {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
            {"type": "ByteFallback"},
            {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0},
        ],
    }
    tokenizer = Tokenizer.from_str(json.dumps(text))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", 1)]
    )
    save(
        tokenizer,
        "llama",
        {
            "tokenizer_class": "LlamaTokenizer",
            "add_bos_token": True,
            "add_eos_token": False,
            "bos_token": "<s>",
            "eos_token": "</s>",
            "unk_token": "<unk>",
        },
    )


chatml(sys.argv[1:])
llama(sys.argv[1:])
