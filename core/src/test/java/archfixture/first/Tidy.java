package archfixture.first;

/** Breaks no rule. */
public interface Tidy {}
