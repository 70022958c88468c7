import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** The Java consumer as a member of a group: the group commands of lines.py. */
class Member {
    static final ObjectMapper JSON = new ObjectMapper();
    final KafkaConsumer<byte[], byte[]> consumer;

    Member(String bootstrap, JsonNode c, int sessionMs, int heartbeatMs) {
        Properties p = new Properties();
        p.put("bootstrap.servers", bootstrap);
        p.put("group.id", c.get("group").asText());
        p.put("group.protocol", c.path("protocol").asText("classic"));
        p.put("enable.auto.commit", "false");
        p.put("auto.offset.reset", "earliest");
        p.put("fetch.max.wait.ms", "100");
        p.put("metadata.max.age.ms", "1000");
        p.put("reconnect.backoff.max.ms", "500");
        if (c.path("protocol").asText("classic").equals("classic")) {
            boolean cooperative = c.path("assignor").asText("range").equals("cooperative");
            p.put("partition.assignment.strategy", (cooperative ? CooperativeStickyAssignor.class : RangeAssignor.class).getName());
            p.put("session.timeout.ms", "" + sessionMs);
            p.put("heartbeat.interval.ms", "" + heartbeatMs);
        }
        if (c.hasNonNull("instance")) p.put("group.instance.id", c.get("instance").asText());
        consumer = new KafkaConsumer<>(p, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        consumer.subscribe(List.of(c.get("topic").asText()));
    }

    JsonNode poll(long ms) {
        ObjectNode answer = JSON.createObjectNode();
        ArrayNode records = JSON.createArrayNode();
        long deadline = System.nanoTime() + ms * 1_000_000;
        while (System.nanoTime() < deadline) {
            for (ConsumerRecord<byte[], byte[]> r : consumer.poll(Duration.ofMillis(50))) {
                records.addArray().add(r.partition()).add(r.offset()).add(r.value());
            }
        }
        ArrayNode owned = answer.putArray("owned");
        consumer.assignment().stream().map(place -> place.partition()).sorted().forEach(owned::add);
        answer.set("records", records);
        return answer;
    }

    void close() {
        consumer.close(CloseOptions.timeout(Duration.ofSeconds(10)));
    }
}
