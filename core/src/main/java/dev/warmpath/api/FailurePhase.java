package dev.warmpath.api;

/** How far an attempt had come when it failed. */
public enum FailurePhase {
  /** No connection to the worker came about. */
  CONNECT,
  /** The request was being sent, or had been; nothing of a response had arrived. */
  AWAIT_HEADERS,
  /** The worker answered with an error status. */
  STATUS,
  /** Headers had arrived, no byte of the body yet. */
  AWAIT_FIRST_BYTE,
  /** Part of the response had arrived. */
  BODY
}
