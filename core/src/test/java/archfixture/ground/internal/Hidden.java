package archfixture.ground.internal;

/** For {@code archfixture.ground} alone. */
public interface Hidden {}
