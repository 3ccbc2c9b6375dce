#!/usr/bin/env python3
"""Messages of the engines' gRPC services, made without any .proto file.

    captures.py write FILE    makes every message and writes the captures
    captures.py check FILE    makes them again, and reads the captures back

The tables below say what stands on the wire: number, type and label of every field that the engines'
servers and clients are known to use. Python's protobuf builds descriptors from them at run time, so
that what it makes can prove that classes generated from .proto files say the same.

A field is NAME=NUMBER TYPE. Types: s string, y bytes, b bool, i int32, I int64, u uint32, U uint64,
f float, d double, e enum (a number), Struct, <sf> a map of strings to floats (likewise others), or
another message. Before it, * stands for repeated and ? for optional; (one) for a member of a oneof.
"""

import json
import sys

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, struct_pb2

TABLES = {
    "smg": {
        "SubscribeKvEventsRequest": "start_sequence_number=1 U",
        "KvEventBatch": "sequence_number=1 U, timestamp=2 d, events=3 *KvCacheEvent, dp_rank=4 ?i",
        "KvCacheEvent": "event_id=1 U, stored=2 (data)KvBlocksStored, removed=3 (data)KvBlocksRemoved,"
        " cleared=4 (data)KvCacheCleared",
        "KvBlocksStored": "blocks=1 *KvBlock, parent_block_hash=2 ?I",
        "KvBlock": "block_hash=1 I, token_ids=2 *u, block_size=3 i, lora_id=4 ?I, cache_level=5 ?i",
        "KvBlocksRemoved": "block_hashes=1 *I, cache_level=2 ?i",
        "KvCacheCleared": "",
        "FlushCacheRequest": "timeout_s=1 f",
        "FlushCacheResponse": "success=1 b, message=2 s",
        "ProfileResponse": "success=1 b, message=2 s",
        "GetTokenizerChunk": "data=1 y, sha256=2 s",
    },
    "sglang.scheduler": {
        "GenerateRequest": "request_id=1 s, tokenized=2 TokenizedInput, sampling_params=4 SamplingParams,"
        " return_logprob=5 b, logprob_start_len=6 i, top_logprobs_num=7 i, token_ids_logprob=8 *u,"
        " return_hidden_states=9 b, disaggregated_params=10 DisaggregatedParams, log_metrics=13 b,"
        " input_embeds=14 *f, lora_id=15 s, data_parallel_rank=16 i, stream=17 b, require_reasoning=18 b",
        "TokenizedInput": "original_text=1 s, input_ids=2 *u",
        "DisaggregatedParams": "bootstrap_host=1 s, bootstrap_port=2 i, bootstrap_room=3 i",
        "SamplingParams": "temperature=1 f, top_p=2 f, top_k=3 i, min_p=4 f, frequency_penalty=5 f,"
        " presence_penalty=6 f, repetition_penalty=7 f, max_new_tokens=8 ?u, stop=9 *s,"
        " stop_token_ids=10 *u, skip_special_tokens=11 b, spaces_between_special_tokens=12 b,"
        " regex=13 (constraint)s, json_schema=14 (constraint)s, ebnf_grammar=15 (constraint)s,"
        " structural_tag=16 (constraint)s, n=17 u, min_new_tokens=18 u, ignore_eos=19 b,"
        " no_stop_trim=20 b, stream_interval=21 ?i, logit_bias=22 <sf>, custom_params=23 Struct",
        "GenerateResponse": "request_id=1 s, chunk=2 (response)GenerateStreamChunk,"
        " complete=3 (response)GenerateComplete",
        "GenerateStreamChunk": "token_ids=1 *u, prompt_tokens=2 u, completion_tokens=3 u, cached_tokens=4 u,"
        " output_logprobs=5 OutputLogProbs, hidden_states=6 *f, input_logprobs=7 InputLogProbs, index=8 u,"
        " reasoning_tokens=9 u",
        "GenerateComplete": "output_ids=1 *u, finish_reason=2 s, prompt_tokens=3 u, completion_tokens=4 u,"
        " cached_tokens=5 u, output_logprobs=6 OutputLogProbs, matched_token_id=8 (matched_stop)u,"
        " matched_stop_str=9 (matched_stop)s, input_logprobs=10 InputLogProbs, index=11 u,"
        " reasoning_tokens=12 u",
        "OutputLogProbs": "token_logprobs=1 *f, token_ids=2 *u, top_logprobs=3 *TopLogProbs",
        "InputLogProbs": "token_logprobs=1 *InputTokenLogProb, token_ids=2 *u, top_logprobs=3 *TopLogProbs",
        "InputTokenLogProb": "value=1 ?f",
        "TopLogProbs": "values=1 *f, token_ids=2 *u",
        "EmbedRequest": "request_id=1 s, tokenized=2 TokenizedInput, sampling_params=5 SamplingParams,"
        " token_type_ids=7 *i, data_parallel_rank=8 i, is_cross_encoder=9 b, texts=10 *s",
        "EmbedResponse": "embedding_dim=4 u, embedding=5 *f, prompt_tokens=6 u",
        "HealthCheckResponse": "healthy=1 b, message=2 s",
        "AbortRequest": "request_id=1 s, reason=2 s",
        "AbortResponse": "success=1 b, message=2 s",
        "GetModelInfoResponse": "model_path=1 s, tokenizer_path=2 s, is_generation=3 b,"
        " preferred_sampling_params=4 s, weight_version=5 s, served_model_name=6 s, max_context_length=7 i,"
        " vocab_size=8 i, supports_vision=9 b, model_type=10 s, eos_token_ids=11 *i, pad_token_id=12 i,"
        " bos_token_id=13 i, max_req_input_len=14 i, architectures=15 *s, id2label_json=16 s, num_labels=17 i,"
        " default_sampling_params_json=20 s",
        "GetServerInfoResponse": "server_args=1 Struct, scheduler_info=2 Struct, active_requests=3 i,"
        " is_paused=4 b, last_receive_timestamp=5 d, uptime_seconds=6 d, sglang_version=7 s, server_type=8 s,"
        " max_total_num_tokens=10 i",
        "GetLoadsRequest": "dp_rank=1 ?i, include=2 *s",
        "GetLoadsResponse": "timestamp=1 s, version=2 s, dp_rank_count=3 i, loads=4 *SchedulerLoad,"
        " aggregate=5 AggregateMetrics",
        "AggregateMetrics": "total_running_reqs=1 i, total_waiting_reqs=2 i, total_reqs=3 i, avg_token_usage=4 d,"
        " avg_throughput=5 d, avg_utilization=6 d",
        "SchedulerLoad": "dp_rank=1 i, num_running_reqs=2 i, num_waiting_reqs=3 i, num_total_reqs=4 i,"
        " num_used_tokens=5 i, max_total_num_tokens=6 i, token_usage=7 d, gen_throughput=8 d, cache_hit_rate=9 d,"
        " utilization=10 d, max_running_requests=11 i, disaggregation=15 DisaggregationMetrics, queues=16 QueueMetrics,"
        " num_waiting_uncached_tokens=17 i",
        "DisaggregationMetrics": "mode=1 s, prefill_prealloc_queue_reqs=2 i, prefill_inflight=3 i, decode_prealloc=4 i,"
        " decode_transfer=5 i, decode_retracted=6 i, kv_transfer_speed_gb_s=7 d, kv_transfer_latency_ms=8 d",
        "QueueMetrics": "waiting=1 i, grammar=2 i, paused=3 i, retracted=4 i",
    },
    "sglang.runtime": {
        "GenerateRequest": "input_ids=1 *i, sampling_params=2 ?SamplingParams, stream=3 ?b, return_logprob=4 ?b,"
        " top_logprobs_num=5 ?i, logprob_start_len=6 ?i, rid=7 ?s, lora_path=8 ?s, routing_key=9 ?s,"
        " routed_dp_rank=10 ?i, trace_headers=11 <ss>, disaggregated_params=12 ?DisaggregatedParams",
        "DisaggregatedParams": "host=1 s, port=2 i, room=3 I",
        "SamplingParams": "temperature=1 ?f, top_p=2 ?f, top_k=3 ?i, min_p=4 ?f, frequency=5 ?f, presence=6 ?f,"
        " repetition=7 ?f, max_new_tokens=8 ?i, min_new_tokens=9 ?i, stop=10 *s, stop_token_ids=11 *i,"
        " ignore_eos=12 ?b, n=13 ?i, json_schema=14 ?s, regex=15 ?s",
        "GenerateResponse": "output_ids=1 *i, meta_info=2 <ss>, finished=3 b",
        "OpenAIRequest": "json_body=1 y, trace_headers=2 <ss>",
        "OpenAIStreamChunk": "json_chunk=1 y, finished=2 b",
        "OpenAIResponse": "json_body=1 y, status_code=2 i",
        "GetModelInfoResponse": "model_path=1 s, json_info=2 s",
        "GetServerInfoResponse": "json_info=1 s",
        "GetLoadRequest": "dp_rank=1 ?i",
        "GetLoadResponse": "json_info=1 s",
        "AbortRequest": "rid=1 s, abort_all=2 b",
        "FlushCacheResponse": "success=1 b, message=2 s",
        "HealthCheckResponse": "healthy=1 b",
    },
    "vllm.engine": {
        "GenerateRequest": "request_id=1 s, tokenized=2 (input)TokenizedInput, text=3 (input)s,"
        " sampling_params=4 SamplingParams, stream=5 b, kv_transfer_params=6 KvTransferParams,"
        " kv_transfer_params_json=8 ?s, data_parallel_rank=9 ?i",
        "TokenizedInput": "original_text=1 s, input_ids=2 *u",
        "KvTransferParams": "remote_host=1 s, remote_port=2 u",
        "SamplingParams": "temperature=1 ?f, top_p=2 f, top_k=3 u, min_p=4 f, frequency=5 f, presence=6 f,"
        " repetition=7 f, max_tokens=8 ?u, min_tokens=9 u, stop=10 *s, stop_token_ids=11 *u,"
        " skip_special_tokens=12 b, spaces_between=13 b, ignore_eos=14 b, n=15 u, json_schema=16 (constraint)s,"
        " regex=17 (constraint)s, grammar=18 (constraint)s, structural_tag=19 (constraint)s,"
        " json_object=20 (constraint)b, logprobs=22 ?i, prompt_logprobs=23 ?i, seed=24 ?i,"
        " include_stop_str_in_output=25 b, logit_bias=26 <if>, truncate_prompt_tokens=27 ?i",
        "GenerateResponse": "chunk=1 (response)GenerateStreamChunk, complete=2 (response)GenerateComplete",
        "GenerateStreamChunk": "token_ids=1 *u, prompt_tokens=2 u, completion_tokens=3 u, cached_tokens=4 u,"
        " output_logprobs=5 OutputLogProbs, input_logprobs=6 InputLogProbs, index=7 u",
        "GenerateComplete": "output_ids=1 *u, finish_reason=2 s, prompt_tokens=3 u, completion_tokens=4 u,"
        " cached_tokens=5 u, output_logprobs=6 OutputLogProbs, input_logprobs=7 InputLogProbs, index=8 u,"
        " kv_transfer_params=9 KvTransferParams, matched_token_id=10 (matched_stop)u,"
        " matched_stop_str=11 (matched_stop)s, kv_transfer_params_json=12 ?s",
        "OutputLogProbs": "token_logprobs=1 *f, token_ids=2 *u, top_logprobs=3 *TopLogProbs",
        "InputLogProbs": "token_logprobs=1 *InputTokenLogProb, token_ids=2 *u, top_logprobs=3 *TopLogProbs",
        "InputTokenLogProb": "value=1 ?f",
        "TopLogProbs": "values=1 *f, token_ids=2 *u",
        "EmbedResponse": "embedding=1 *f, prompt_tokens=2 u, embedding_dim=3 u",
        "AbortRequest": "request_ids=1 *s",
        "GetModelInfoResponse": "model_path=1 s, is_generation=2 b, max_context_length=3 u, vocab_size=4 u,"
        " supports_vision=5 b, served_model_name=6 s, tokenizer_path=7 s, model_type=8 s, architectures=9 *s,"
        " eos_token_ids=10 *i, pad=11 i, bos=12 i, max_req_input_len=13 i, default_sampling_params_json=14 s",
        "GetServerInfoResponse": "active_requests=1 u, is_paused=2 b, last_receive_timestamp=3 d,"
        " uptime_seconds=4 d, server_type=5 s, kv_connector=6 s, kv_role=7 s, kv_engine_id=8 s,"
        " data_parallel_size=9 i, shm_namespace_id=10 s",
        "SchedulerLoad": "dp_rank=1 i, num_running_reqs=2 i, num_waiting_reqs=3 i, num_total_reqs=4 i,"
        " num_used_tokens=5 i, max_total_num_tokens=6 i, token_usage=7 d, gen_throughput=8 d, cache_hit_rate=9 d,"
        " utilization=10 d, max_running_requests=11 i",
    },
    "vllm.inference": {
        "GenerateRequest": "request_id=1 s, model=2 s, text=3 (prompt)s, token_ids=4 (prompt)TokenIds,"
        " temperature=5 ?f, sampling=6 RandomSampling, stopping=8 StoppingCriteria, response=9 ResponseOptions,"
        " kv=10 KVCacheParameters, truncate=11 u, priority=12 i",
        "TokenIds": "ids=1 *u",
        "RandomSampling": "num_sequences=1 u, top_k=2 u, top_p=3 f, min_p=4 f, seed=5 ?I",
        "StoppingCriteria": "max_new_tokens=1 u, min_new_tokens=2 u, stop_token_ids=3 *u, stop_strings=4 *s,"
        " include_stop=5 b, ignore_eos=6 b",
        "ResponseOptions": "output_text=4 ?b, output_token_ids=5 b",
        "KVCacheParameters": "bypass_prefix_cache=1 b, cache_salt=2 s, kv_transfer_params=3 Struct,"
        " ec_transfer_params=4 Struct",
        "GenerateResponse": "prompt_info=1 ?PromptInfo, outputs=2 SequenceOutput",
        "PromptInfo": "num_prompt_tokens=1 u",
        "SequenceOutput": "index=1 u, text=2 s, num_tokens=3 u, token_ids=4 *u, logprobs=5 *f,"
        " finish_info=8 ?FinishInfo",
        "FinishInfo": "num_output_tokens=1 u, finish_reason=2 e, stop_token_id=3 (stop_reason)u,"
        " eos_token_id=4 (stop_reason)u, stop_string=5 (stop_reason)s, kv_transfer_params=6 Struct",
    },
    "vllm.control": {
        "ServerInfo": "engine_version=1 s, api_version=2 s, instance_id=3 s, parallelism=4 ParallelismInfo,"
        " max_model_len=5 u, kv_block_size=6 u, total_kv_blocks=7 U, max_running_requests=8 U,"
        " max_batched_tokens=9 U, max_loras=10 u, effective_attention_block_size=14 ?U",
        "ParallelismInfo": "tp=1 u, pp=2 u, dp=3 u, dp_rank=4 u, dcp=5 u, world_size=6 U, dp_local=7 u",
        "AbortRequest": "request_ids=1 *s",
        "GetKvEventSourcesResponse": "sources=1 *KvEventSource",
        "KvEventSource": "transport=1 s, endpoint=2 s, topic=3 s, replay_endpoint=4 s, dp_rank=5 ?u, encoding=6 s,"
        " schema=7 u, buffer_steps=8 u, hwm=9 u, max_queue=10 u",
    },
    "health": {
        "HealthCheckRequest": "service=1 s",
        "HealthCheckResponse": "status=1 e",
    },
}

F = descriptor_pb2.FieldDescriptorProto
SCALARS = {
    "s": F.TYPE_STRING, "y": F.TYPE_BYTES, "b": F.TYPE_BOOL, "i": F.TYPE_INT32, "I": F.TYPE_INT64,
    "u": F.TYPE_UINT32, "U": F.TYPE_UINT64, "f": F.TYPE_FLOAT, "d": F.TYPE_DOUBLE,
    # An enum is an int32 on the wire.
    "e": F.TYPE_INT32,
}  # fmt: skip


class Field:
    """One field of a table."""

    def __init__(self, text):
        declared, self.type = text.split(" ")
        name, number = declared.split("=")
        self.name, self.number = name, int(number)
        self.repeated = self.type.startswith("*")
        self.optional = self.type.startswith("?")
        self.type = self.type.lstrip("*?")
        self.oneof = None
        if self.type.startswith("("):
            self.oneof, self.type = self.type[1:].split(")")
        self.map = self.type[1:-1] if self.type.startswith("<") else None


def fields(table):
    return [Field(text.strip()) for text in table.split(",") if text.strip()]


def set_type(proto, package, kind):
    if kind in SCALARS:
        proto.type = SCALARS[kind]
    else:
        proto.type = F.TYPE_MESSAGE
        proto.type_name = ".google.protobuf.Struct" if kind == "Struct" else f".{package}.{kind}"


def add_map_entry(message, field, package):
    entry = message.nested_type.add(name="".join(p.capitalize() for p in field.name.split("_")) + "Entry")
    entry.options.map_entry = True
    for number, (name, kind) in enumerate(zip(("key", "value"), field.map), start=1):
        entry.field.add(name=name, number=number, label=F.LABEL_OPTIONAL, type=SCALARS[kind])
    return f".{package}.{message.name}.{entry.name}"


def describe(package, messages):
    """The file that these tables amount to."""
    file = descriptor_pb2.FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto3")
    file.dependency.append("google/protobuf/struct.proto")
    for name, table in messages.items():
        message = file.message_type.add(name=name)
        listed = fields(table)
        oneofs = list(dict.fromkeys(f.oneof for f in listed if f.oneof))
        presences = [f.name for f in listed if f.optional and f.type in SCALARS]
        for each in oneofs + ["_" + p for p in presences]:
            message.oneof_decl.add(name=each)
        for field in listed:
            proto = message.field.add(name=field.name, number=field.number)
            proto.label = F.LABEL_REPEATED if field.repeated or field.map else F.LABEL_OPTIONAL
            if field.map:
                proto.type, proto.type_name = F.TYPE_MESSAGE, add_map_entry(message, field, package)
            else:
                set_type(proto, package, field.type)
            if field.oneof:
                proto.oneof_index = oneofs.index(field.oneof)
            elif field.optional and field.type in SCALARS:
                proto.proto3_optional = True
                proto.oneof_index = len(oneofs) + presences.index(field.name)
    return file


def scalar(kind, salt):
    """A value that is like no other near it, and exact in every type."""
    return {
        "s": f"text {salt} \u00fc\u2603", "y": bytes([salt % 256, 0, 255]), "b": True, "i": -salt,
        "I": -(1 << 40) - salt, "u": 3_000_000_000 + salt, "U": (1 << 63) + salt, "f": salt + 0.5,
        "d": salt + 0.25, "e": 1 + salt % 2,
    }[kind]  # fmt: skip


ZEROS = {"s": "", "y": b"", "b": False, "i": 0, "I": 0, "u": 0, "U": 0, "f": 0.0, "d": 0.0, "e": 0}

STRUCT = {"text": "t", "number": 1.5, "yes": True, "nothing": None, "list": [1.0, "two"], "inner": {"a": 2.0}}


class Maker:
    """Fills messages of one package."""

    def __init__(self, package, messages, choice, zero):
        self.package, self.messages, self.choice, self.zero = package, messages, choice, zero
        pool = descriptor_pool.DescriptorPool()
        pool.AddSerializedFile(struct_pb2.DESCRIPTOR.serialized_pb)
        pool.AddSerializedFile(describe(package, messages).SerializeToString())
        self.pool = pool

    def empty(self, name):
        return message_factory.GetMessageClass(self.pool.FindMessageTypeByName(f"{self.package}.{name}"))()

    def fill(self, message, name, salt):
        """Sets every field, one of each oneof, and returns what was set by number."""
        told = {}
        listed = fields(self.messages[name])
        for field in listed:
            members = [f for f in listed if f.oneof and f.oneof == field.oneof]
            if members and members[self.choice % len(members)] is not field:
                continue
            told[str(field.number)] = self.set(message, field, salt * 7 + field.number)
        return told

    def set(self, message, field, salt):
        if field.map:
            key, value = scalar(field.map[0], salt), scalar(field.map[1], salt)
            getattr(message, field.name)[key] = value
            return {"map": [[shown(field.map[0], key), shown(field.map[1], value)]]}
        if field.type == "Struct":
            getattr(message, field.name).update(STRUCT)
            return {"struct": STRUCT}
        if field.type in SCALARS:
            if field.repeated:
                values = [scalar(field.type, salt), scalar(field.type, salt + 1)]
                getattr(message, field.name).extend(values)
                return [shown(field.type, value) for value in values]
            value = ZEROS[field.type] if self.zero and field.optional else scalar(field.type, salt)
            setattr(message, field.name, value)
            return shown(field.type, value)
        if field.repeated:
            return [self.fill(getattr(message, field.name).add(), field.type, salt + i) for i in range(2)]
        inner = getattr(message, field.name)
        inner.SetInParent()
        return self.fill(inner, field.type, salt)


def shown(kind, value):
    """A value as JSON has it: 64 bits as text, bytes as hex."""
    if kind in "IU":
        return str(value)
    return value.hex() if kind == "y" else value


def captures():
    made = []
    for package, messages in TABLES.items():
        for name, table in messages.items():
            listed = fields(table)
            choices = max([1] + [sum(f.oneof == g.oneof for g in listed) for f in listed if f.oneof])
            variants = [(choice, False) for choice in range(choices)]
            if any(f.optional and f.type in SCALARS for f in listed):
                variants.append((0, True))
            for choice, zero in variants:
                maker = Maker(package, messages, choice, zero)
                message = maker.empty(name)
                told = maker.fill(message, name, 1)
                data = message.SerializeToString(deterministic=True)
                read = maker.empty(name)
                read.ParseFromString(data)
                assert read == message, name
                made.append({"service": package, "message": name, "hex": data.hex(), "fields": told})
    return made


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("write", "check"):
        sys.exit(__doc__)
    made = captures()
    if sys.argv[1] == "write":
        with open(sys.argv[2], "w", encoding="utf-8") as file:
            file.write("[\n" + ",\n".join(json.dumps(each) for each in made) + "\n]\n")
        print(f"{len(made)} captures written")
        return
    with open(sys.argv[2], encoding="utf-8") as file:
        kept = json.load(file)
    different = [m["message"] for m, k in zip(made, kept) if json.loads(json.dumps(m)) != k]
    if different or len(made) != len(kept):
        sys.exit(f"the captures are not what the tables give: {different or 'another number of them'}")
    print(f"{len(made)} captures agree")


if __name__ == "__main__":
    main()
