package archfixture.nowhere;

/** Stands on no floor, in a package that is not null-marked. */
public interface Homeless {}
