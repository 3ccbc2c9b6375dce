package archfixture.ground;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;

/** Shows Jackson's types to an application in three places, and keeps them to itself in two. */
public abstract class Leaks {
  public abstract JsonNode byReturn();

  public abstract List<? extends JsonNode[]> byTypeArgument();

  abstract JsonNode packagePrivate();

  /** A nested type is as public as those around it. */
  public interface Nested {
    void byParameter(JsonNode node);
  }

  interface Unseen {
    JsonNode inPackagePrivateType();
  }
}
