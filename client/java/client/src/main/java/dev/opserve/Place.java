package dev.opserve;

/** Where a program is, outside of this package: what an error of a session's command names. */
final class Place {
  private static final StackWalker WALKER = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);
  private static final String PACKAGE = Place.class.getPackageName();

  private Place() {}

  /** {@code Train.java:12}. */
  static String ofCaller() {
    return WALKER.walk(frames -> frames
        .filter(frame -> !frame.getDeclaringClass().getPackageName().equals(PACKAGE)).findFirst()
        .map(frame -> frame.getFileName() + ":" + frame.getLineNumber()).orElse("an unknown place"));
  }
}
