package dev.warmpath.pd;

/**
 * The names of one attempt, new for each.
 *
 * @param rid the id both engines know it by; of fixed width, so that none is a prefix of another
 * @param room where concurrent legs meet, or 0 where the protocol has no rooms
 * @param transferId names the transfer where the protocol wants that
 * @param requestId the {@code X-Request-Id} of both legs
 */
record AttemptIds(String rid, long room, String transferId, String requestId) {}
