package dev.opserve;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** docs/java.md says what happens: its blocks of Java are one program, which prints its blocks of text. */
class GuideTest {
  private static final Path PAGE = Path.of("../../../docs/java.md");
  private static final Pattern BLOCK = Pattern.compile("^```(java|text)\n(.*?)^```$", Pattern.MULTILINE | Pattern.DOTALL);

  @TempDir Path folder;

  @Test
  void theGuide() throws Exception {
    try (TestServer server = new TestServer()) {
      StringBuilder imports = new StringBuilder();
      StringBuilder program = new StringBuilder();
      StringBuilder printed = new StringBuilder();
      for (Matcher block = BLOCK.matcher(Files.readString(PAGE)); block.find(); ) {
        String text = block.group(2);
        (block.group(1).equals("text") ? printed : text.startsWith("import") ? imports : program).append(text);
      }
      assertTrue(printed.length() > 100, "the page prints something");
      Path source = folder.resolve("Guide.java");
      Files.writeString(source, imports + "public class Guide {\n  public static void main(String[] a) throws Exception {\n"
          + program.toString().replace("localhost:8500", server.address()) + "  }\n}\n");
      compile(source);
      assertEquals(printed.toString(), run());
    }
  }

  private void compile(Path source) {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    ByteArrayOutputStream told = new ByteArrayOutputStream();
    int status = compiler.run(null, told, told, "-cp", System.getProperty("java.class.path"), "-d", folder.toString(), source.toString());
    assertEquals(0, status, told.toString(StandardCharsets.UTF_8));
  }

  private String run() throws Exception {
    ByteArrayOutputStream told = new ByteArrayOutputStream();
    PrintStream out = System.out;
    System.setOut(new PrintStream(told, true, StandardCharsets.UTF_8));
    try (URLClassLoader loader = new URLClassLoader(new URL[] {folder.toUri().toURL()}, getClass().getClassLoader())) {
      loader.loadClass("Guide").getMethod("main", String[].class).invoke(null, (Object) new String[0]);
    } finally {
      System.setOut(out);
    }
    return told.toString(StandardCharsets.UTF_8);
  }
}
