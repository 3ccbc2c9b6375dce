"""Renders chats as engines do before they tokenize them, with Jinja2.

    python3 engine_prompts.py TOKENIZER_CONFIG

One JSON object a line in: {"engine": "vllm", "sglang" or "unknown", "body": a chat completion's body}.
One a line out: {"text": the prompt} or {"error": what the engine tells its client}.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "core/src/test/scripts"))

import jinja_reference as reference  # noqa: E402


def text_of(part):
    return part if isinstance(part, str) else part["text"]


def with_parsed_arguments(calls, empty):
    """What engines make of tool calls, whose arguments come as JSON text."""
    parsed = []
    for call in calls:
        function = dict(call["function"])
        arguments = function.get("arguments")
        if not arguments:
            if empty:
                function["arguments"] = {}
        elif isinstance(arguments, str):
            function["arguments"] = json.loads(arguments)
        parsed.append({**call, "function": function})
    return parsed


def vllm(body):
    """vllm/entrypoints/chat_utils.py, for a template that takes contents as strings."""
    messages = []
    for given in body["messages"]:
        content = given.get("content")
        parts = [] if content is None else content if isinstance(content, list) else [content]
        message = {"role": given["role"], "content": "\n".join(map(text_of, parts))}
        if given["role"] == "assistant":
            if given.get("tool_calls"):
                message["tool_calls"] = with_parsed_arguments(given["tool_calls"], True)
            reasoning = given.get("reasoning") or given.get("reasoning_content")
            if reasoning is not None:
                message["reasoning"] = message["reasoning_content"] = reasoning
        elif given["role"] == "tool" and "tool_call_id" in given:
            message["tool_call_id"] = given["tool_call_id"]
        if isinstance(given.get("name"), str):
            message["name"] = given["name"]
        messages.append(message)
    tools = None
    if body.get("tools"):
        tools = []
        for tool in body["tools"]:
            function = tool["function"]
            known = {name: function.get(name) for name in ("name", "description", "parameters")}
            tools.append({"type": tool.get("type", "function"), "function": {**known, **{k: v for k, v in function.items() if k not in known}}})
    generation = body.get("add_generation_prompt", True)
    return messages, tools, body.get("documents"), generation


def sglang(body):
    """sglang/srt/entrypoints/openai/serving_chat.py, for a template that takes strings."""
    messages = []
    for given in body["messages"]:
        content = given.get("content")
        message = {k: v for k, v in given.items() if v is not None and k != "content"}
        message["content"] = "" if content is None else " ".join(map(text_of, content)) if isinstance(content, list) else content
        if message["role"] == "assistant" and isinstance(message.get("tool_calls"), list):
            message["tool_calls"] = with_parsed_arguments(message["tool_calls"], False)
        messages.append(message)
    tools = None
    if body.get("tools") and body.get("tool_choice") != "none":
        tools = []
        for tool in body["tools"]:
            function = tool["function"]
            known = {name: function.get(name) for name in ("description", "name", "parameters")}
            tools.append({"type": tool.get("type", "function"), "function": {**known, "strict": bool(function.get("strict"))}})
    return messages, tools, None, True


def unknown(body):
    """What engines have in common; tools as they are."""
    messages, _, documents, generation = vllm(body)
    return messages, body.get("tools") or None, documents, generation


def main():
    config = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    template = reference.ENVIRONMENT.from_string(config["chat_template"])
    names = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token", "additional_special_tokens")
    special = {}
    for name in names:
        token = config.get(name)
        if token:
            special[name] = token["content"] if isinstance(token, dict) else token
    layouts = {"vllm": vllm, "sglang": sglang, "unknown": unknown}
    sys.stdin.reconfigure(encoding="utf-8")
    for line in sys.stdin:
        request = json.loads(line)
        body = request["body"]
        try:
            messages, tools, documents, generation = layouts[request["engine"]](body)
            context = {**special, **body.get("chat_template_kwargs", {})}
            context.update(messages=messages, tools=tools, documents=documents, add_generation_prompt=generation)
            answer = {"text": template.render(**context)}
        except Exception as e:  # whatever a template can raise is for the client to know
            answer = {"error": f"{type(e).__name__}: {e}"}
        print(json.dumps(answer), flush=True)


main()
