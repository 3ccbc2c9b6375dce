"""Jinja2 in the environment of transformers' apply_chat_template: what the goldens are made with."""

import json
import re
from datetime import datetime

import jinja2
import jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment

NOW = datetime(2025, 7, 10, 12, 0, 0)


class Generation(jinja2.ext.Extension):
    """`{% generation %}` as transformers' AssistantTracker parses it, without the tracking."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        call = self.call_method("_generation_support")
        return jinja2.nodes.CallBlock(call, [], [], body).set_lineno(line)

    @jinja2.pass_eval_context
    def _generation_support(self, context, caller):
        return caller()


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def strftime_now(format):
    return NOW.strftime(format)


ENVIRONMENT = ImmutableSandboxedEnvironment(
    trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols]
)
ENVIRONMENT.filters["tojson"] = tojson
ENVIRONMENT.globals["raise_exception"] = raise_exception
ENVIRONMENT.globals["strftime_now"] = strftime_now

VERSION = tuple(int(part) for part in jinja2.__version__.split("."))


def without_addresses(text):
    """Addresses of objects, which differ in every run, all become the same."""
    return re.sub(r"(0x7|0X7)[0-9a-fA-F]{11}\b", lambda m: m.group(1) + ("f" if m.group(1)[1] == "x" else "F") + "0" * 10, text)


def outcome(template, context):
    """What a template makes of a context: its text, or the class and message of the error."""
    try:
        copy = json.loads(json.dumps(context))
        return {"expected": without_addresses(ENVIRONMENT.from_string(template).render(**copy))}
    except RecursionError:
        return {"error": "RecursionError", "message": ""}
    except Exception as e:  # whatever a template can raise is an outcome
        message = getattr(e, "msg", None) or getattr(e, "message", None)
        result = {"error": type(e).__name__, "message": without_addresses(message if isinstance(message, str) else str(e))}
        if isinstance(e, jinja2.TemplateSyntaxError):
            result["line"] = e.lineno
        return result
