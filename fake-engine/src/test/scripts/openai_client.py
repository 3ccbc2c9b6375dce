"""Talks to a fake engine through the openai package as it is. Usage: openai_client.py URL MODEL"""

import sys

import openai


def main(url, model):
    client = openai.OpenAI(base_url=url + "/v1", api_key="none", max_retries=0, timeout=30)
    assert [m.id for m in client.models.list()] == [model]

    asked = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello?"}]
    whole = client.chat.completions.create(model=model, messages=asked, max_tokens=8)
    text = whole.choices[0].message.content
    assert text and whole.choices[0].finish_reason == "length", whole
    assert whole.usage.completion_tokens == 8 and whole.usage.prompt_tokens > 0, whole.usage

    pieces, usage, finish = [], None, None
    stream = client.chat.completions.create(
        model=model, messages=asked, max_tokens=8, stream=True, stream_options={"include_usage": True}
    )
    for chunk in stream:
        usage = chunk.usage or usage
        for choice in chunk.choices:
            pieces.append(choice.delta.content or "")
            finish = choice.finish_reason or finish
    assert "".join(pieces) == text, (pieces, text)
    # ATOM ends every stream with "stop"
    assert finish in ("length", "stop") and usage.completion_tokens == 8, (finish, usage)

    answered = asked + [{"role": "assistant", "content": text}, {"role": "user", "content": "Why?"}]
    again = client.chat.completions.create(model=model, messages=answered, max_tokens=1)
    assert again.usage.prompt_tokens > whole.usage.prompt_tokens

    completion = client.completions.create(model=model, prompt="Once upon", max_tokens=5)
    assert completion.choices[0].text and completion.usage.completion_tokens == 5, completion

    try:
        client.chat.completions.create(model=model, messages=asked, max_tokens=10**6)
    except openai.BadRequestError as e:
        assert e.status_code == 400
    else:
        raise AssertionError("a request that is too long was answered")
    print("ok")


main(sys.argv[1], sys.argv[2])
