package dev.warmpath.dispatch;

/**
 * How learning from answers fares, where it is done apart from the threads that read them.
 *
 * @param waiting answers that were read and are not learned yet
 * @param bytes heap they may keep, by estimate
 * @param budgetBytes what those that wait may keep at most
 * @param dropped answers that were not learned: for want of room or threads, or because they could
 *     not be tokenized
 */
public record AnswerStats(int waiting, long bytes, long budgetBytes, long dropped) {}
