package dev.warmpath;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaType;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.NullMarked;

/**
 * The rules of {@link ArchitectureTest}, for any base package: the test applies them to the library
 * and to small fixtures that break them.
 */
final class ArchitectureRules {
  private final String base;
  private final List<String> floors;

  /**
   * @param base package that all others stand in, and itself the top floor
   * @param floors packages below {@code base}, ground floor first
   */
  ArchitectureRules(String base, List<String> floors) {
    this.base = base;
    this.floors = floors;
  }

  /** A package uses its own floor and those below, and stands on a floor that is known. */
  ArchRule floorsLookDown() {
    return classes()
        .that(standInBase())
        .should(
            new ArchCondition<>("use only their own floor and those below it") {
              @Override
              public void check(JavaClass origin, ConditionEvents events) {
                int floor = floorOf(origin.getPackageName());
                if (floor < 0) {
                  String unknown = origin.getName() + " stands on no floor: " + floors;
                  events.add(SimpleConditionEvent.violated(origin, unknown));
                  return;
                }
                for (Dependency use : origin.getDirectDependenciesFromSelf()) {
                  String target = use.getTargetClass().getBaseComponentType().getPackageName();
                  if (isInBase(target) && floorOf(target) > floor) {
                    events.add(SimpleConditionEvent.violated(use, use.getDescription()));
                  }
                }
              }
            })
        .allowEmptyShould(true);
  }

  /** What lies in {@code a.b.internal} is for {@code a.b} and the packages below it. */
  ArchRule internalStaysAtHome() {
    return classes()
        .that(standInBase())
        .should(
            new ArchCondition<>("leave the internal packages of others alone") {
              @Override
              public void check(JavaClass origin, ConditionEvents events) {
                for (Dependency use : origin.getDirectDependenciesFromSelf()) {
                  String target = use.getTargetClass().getBaseComponentType().getPackageName();
                  if (isInBase(target)
                      && isInternal(target)
                      && !isWithin(origin.getPackageName(), homeOf(target))) {
                    events.add(SimpleConditionEvent.violated(use, use.getDescription()));
                  }
                }
              }
            })
        .allowEmptyShould(true);
  }

  /** Nothing uses a type of these packages or of any below them. */
  ArchRule nobodyUses(String... packages) {
    return noClasses()
        .that(standInBase())
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(withSubpackages(packages))
        .allowEmptyShould(true);
  }

  /** What an application can name and call mentions no type of these packages. */
  ArchRule publicApiHides(String... packages) {
    return classes()
        .that(standInBase())
        .and(arePublicApi())
        .should(
            new ArchCondition<>("not mention " + List.of(packages)) {
              @Override
              public void check(JavaClass api, ConditionEvents events) {
                api.getSuperclass().ifPresent(type -> report(api, type, events));
                api.getInterfaces().forEach(type -> report(api, type, events));
                api.getTypeParameters().forEach(type -> report(api, type, events));
                for (JavaMember member : api.getMembers()) {
                  if (isReachable(member)) {
                    mentionedBy(member).forEach(type -> report(member, type, events));
                  }
                }
              }

              private void report(Object where, JavaType mentioned, ConditionEvents events) {
                for (JavaClass raw : mentioned.getAllInvolvedRawTypes()) {
                  String name = raw.getBaseComponentType().getPackageName();
                  for (String hidden : packages) {
                    if (isWithin(name, hidden)) {
                      String message = where + " mentions " + raw.getName();
                      events.add(SimpleConditionEvent.violated(where, message));
                    }
                  }
                }
              }
            })
        .allowEmptyShould(true);
  }

  /** Every package says what it is for and is null-marked. */
  ArchRule packagesAreNullMarked() {
    return classes()
        .that(standInBase())
        .should(
            new ArchCondition<>("stand in a package whose package-info is @NullMarked") {
              @Override
              public void check(JavaClass type, ConditionEvents events) {
                boolean marked =
                    type.getPackage()
                        .tryGetPackageInfo()
                        .map(info -> info.isAnnotatedWith(NullMarked.class))
                        .orElse(false);
                if (!marked) {
                  String message = type.getName() + " stands in a package that is not null-marked";
                  events.add(SimpleConditionEvent.violated(type, message));
                }
              }
            })
        .allowEmptyShould(true);
  }

  private static List<JavaType> mentionedBy(JavaMember member) {
    List<JavaType> types = new ArrayList<>();
    if (member instanceof JavaField field) {
      types.add(field.getType());
    } else if (member instanceof JavaCodeUnit code) {
      types.add(code.getReturnType());
      types.addAll(code.getParameterTypes());
      types.addAll(code.getExceptionTypes());
      types.addAll(code.getTypeParameters());
    }
    return types;
  }

  private static boolean isReachable(JavaMember member) {
    Set<JavaModifier> modifiers = member.getModifiers();
    boolean named =
        modifiers.contains(JavaModifier.PUBLIC) || modifiers.contains(JavaModifier.PROTECTED);
    return named && !modifiers.contains(JavaModifier.SYNTHETIC);
  }

  private DescribedPredicate<JavaClass> standInBase() {
    return DescribedPredicate.describe("stand in " + base, type -> isInBase(type.getPackageName()));
  }

  private static DescribedPredicate<JavaClass> arePublicApi() {
    return DescribedPredicate.describe(
        "are public API",
        type -> {
          for (JavaClass c = type; c != null; c = c.getEnclosingClass().orElse(null)) {
            if (!c.getModifiers().contains(JavaModifier.PUBLIC)) {
              return false;
            }
          }
          return !isInternal(type.getPackageName());
        });
  }

  private int floorOf(String packageName) {
    if (packageName.equals(base) || isWithin(packageName, base + ".internal")) {
      return floors.size();
    }
    String below = packageName.substring(base.length() + 1);
    int end = below.indexOf('.');
    return floors.indexOf(end < 0 ? below : below.substring(0, end));
  }

  private boolean isInBase(String packageName) {
    return isWithin(packageName, base);
  }

  private static boolean isInternal(String packageName) {
    return (packageName + ".").contains(".internal.");
  }

  private static String homeOf(String internalPackage) {
    return internalPackage.substring(0, (internalPackage + ".").indexOf(".internal."));
  }

  private static boolean isWithin(String packageName, String root) {
    return packageName.equals(root) || packageName.startsWith(root + ".");
  }

  private static String[] withSubpackages(String... packages) {
    String[] patterns = new String[packages.length];
    for (int i = 0; i < packages.length; i++) {
      patterns[i] = packages[i] + "..";
    }
    return patterns;
  }
}
