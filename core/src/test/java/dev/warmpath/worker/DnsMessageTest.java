package dev.warmpath.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.HexFormat;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class DnsMessageTest {
  /** The query for A records of example.com, id 0x1234, byte by byte from RFC 1035 section 4. */
  private static final String QUERY =
      "1234"
          + "0100"
          + "0001"
          + "0000"
          + "0000"
          + "0000"
          + "07"
          + "6578616d706c65"
          + "03"
          + "636f6d"
          + "00"
          + "0001"
          + "0001";

  private static byte[] hex(String text) {
    return HexFormat.of().parseHex(text.replace(" ", ""));
  }

  private static String response(String flags, int answers, String... records) {
    return "1234"
        + flags
        + "0001"
        + "%04x".formatted(answers)
        + "0000"
        + "0000"
        + QUERY.substring(24)
        + String.join("", records);
  }

  @Test
  void aQueryIsAsTheRfcWritesIt() throws IOException {
    assertThat(DnsMessage.query(0x1234, "example.com", DnsMessage.TYPE_A)).isEqualTo(hex(QUERY));
    assertThat(DnsMessage.query(0x1234, "example.com.", DnsMessage.TYPE_A)).isEqualTo(hex(QUERY));
    assertThat(DnsMessage.query(0x1234, "example.com", DnsMessage.TYPE_AAAA))
        .isEqualTo(hex(QUERY.substring(0, QUERY.length() - 8) + "001c0001"));
  }

  @Test
  void whatIsNoNameIsNotAsked() {
    for (String host : new String[] {"", "a..b", ".", "x".repeat(64), "abc.".repeat(64)}) {
      assertThatThrownBy(() -> DnsMessage.query(1, host, DnsMessage.TYPE_A))
          .isInstanceOf(IOException.class);
    }
  }

  @Test
  void addressesAndTheShortestTimeToLive() throws IOException {
    byte[] message =
        hex(
            response(
                "8180",
                4,
                // example.com CNAME w.example.com, TTL 20
                "c00c 0005 0001 00000014 0004 0177c00c",
                // w.example.com A 10.0.0.1, TTL 60; A 10.0.0.2, TTL 30; a TXT record
                "c029 0001 0001 0000003c 0004 0a000001",
                "c029 0001 0001 0000001e 0004 0a000002",
                "c029 0010 0001 00000001 0002 0161"));
    assertThat(DnsMessage.answers(hex(QUERY), message)).isTrue();
    DnsMessage.Answer answer = DnsMessage.parse(message, DnsMessage.TYPE_A);
    assertThat(answer.addresses())
        .extracting(address -> address.getHostAddress())
        .containsExactly("10.0.0.1", "10.0.0.2");
    assertThat(answer.ttlSeconds()).isEqualTo(20);
    assertThat(answer.truncated()).isFalse();
  }

  @Test
  void ipv6Addresses() throws IOException {
    byte[] message =
        hex(response("8180", 1, "c00c 001c 0001 0000003c 0010 20010db8000000000000000000000001"));
    DnsMessage.Answer answer = DnsMessage.parse(message, DnsMessage.TYPE_AAAA);
    assertThat(answer.addresses()).hasSize(1);
    assertThat(answer.addresses().get(0).getAddress()).hasSize(16);
  }

  @Test
  void aTimeToLiveWithItsTopBitSetIsZero() throws IOException {
    byte[] message = hex(response("8180", 1, "c00c 0001 0001 80000001 0004 0a000001"));
    assertThat(DnsMessage.parse(message, DnsMessage.TYPE_A).ttlSeconds()).isZero();
  }

  @Test
  void noSuchNameAndNoSuchRecordAreEmptyAnswers() throws IOException {
    for (String flags : new String[] {"8183", "8180"}) {
      DnsMessage.Answer answer = DnsMessage.parse(hex(response(flags, 0)), DnsMessage.TYPE_A);
      assertThat(answer.addresses()).isEmpty();
      assertThat(answer.truncated()).isFalse();
    }
  }

  @Test
  void truncationIsSeen() throws IOException {
    assertThat(DnsMessage.parse(hex(response("8380", 0)), DnsMessage.TYPE_A).truncated()).isTrue();
  }

  @Test
  void aServerThatFailsIsNoAnswer() {
    for (String flags : new String[] {"8182", "8185", "8181"}) {
      assertThatThrownBy(() -> DnsMessage.parse(hex(response(flags, 0)), DnsMessage.TYPE_A))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("code");
    }
  }

  @Test
  void messagesThatMakeNoSenseAreRefused() {
    for (String message :
        new String[] {
          QUERY,
          "1234",
          response("8180", 1),
          response("8180", 1, "c00c 0001 0001 0000003c 0004 0a00"),
          response("8180", 1, "c00c 0001 0001 0000003c 0003 0a0000"),
          response("8180", 1, "80ff 0001 0001 0000003c 0004 0a000001"),
        }) {
      assertThatThrownBy(() -> DnsMessage.parse(hex(message), DnsMessage.TYPE_A))
          .isInstanceOf(IOException.class);
    }
  }

  @Test
  void answersToOtherQuestionsAreNot() {
    byte[] query = hex(QUERY);
    byte[] good = hex(response("8180", 0));
    assertThat(DnsMessage.answers(query, good)).isTrue();
    assertThat(DnsMessage.answers(query, query)).as("a query").isFalse();
    assertThat(DnsMessage.answers(query, new byte[5])).as("a stump").isFalse();
    byte[] otherId = good.clone();
    otherId[1]++;
    assertThat(DnsMessage.answers(query, otherId)).as("another id").isFalse();
    byte[] otherName = good.clone();
    otherName[14]++;
    assertThat(DnsMessage.answers(query, otherName)).as("another name").isFalse();
    byte[] otherType = good.clone();
    otherType[query.length - 3]++;
    assertThat(DnsMessage.answers(query, otherType)).as("another type").isFalse();
    byte[] otherCase = good.clone();
    otherCase[13] = 'E';
    assertThat(DnsMessage.answers(query, otherCase)).as("another case").isTrue();
  }

  @Property(tries = 2_000)
  void noiseIsRefusedOrReadButNeverMore(@ForAll Random random) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(hex(response("8180", random.nextInt(4))));
    byte[] noise = new byte[random.nextInt(64)];
    random.nextBytes(noise);
    out.writeBytes(noise);
    byte[] message = out.toByteArray();
    message[random.nextInt(message.length)] = (byte) random.nextInt();
    try {
      DnsMessage.Answer answer = DnsMessage.parse(message, DnsMessage.TYPE_A);
      assertThat(answer.addresses()).hasSizeLessThan(6);
    } catch (IOException refused) {
      assertThat(refused).hasMessageMatching(".+");
    }
  }
}
