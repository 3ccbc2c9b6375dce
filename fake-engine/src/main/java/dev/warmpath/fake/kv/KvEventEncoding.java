package dev.warmpath.fake.kv;

/** How events are laid out in msgpack; a batch is an array in either. */
public enum KvEventEncoding {
  /** Arrays of values by position, with a tag in front: SGLang to 0.5.19, vLLM to 0.23, ATOM. */
  ARRAYS,
  /** Maps of values by name: SGLang from 0.5.20, vLLM from 0.24, and Dynamo's mocker. */
  MAPS
}
