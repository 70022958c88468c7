import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.AppInfoParser;

/** The Java client behind the same JSON lines as the other drivers (see ../../drivers/lines.py). */
public class Driver {
    static final int LARGEST_REQUEST_BYTES = 64 * 1024 * 1024;
    static final long CALL_TIMEOUT_S = 20;
    static final int SESSION_MS = 2000; // as in lines.py
    static final int HEARTBEAT_MS = 200;
    static final ObjectMapper JSON = new ObjectMapper();

    final String bootstrap;
    final Admin admin;
    final Map<String, KafkaProducer<byte[], byte[]>> producers = new HashMap<>();
    Member member;

    static class Unsupported extends Exception {
        Unsupported(String reason) { super(reason); }
    }

    Driver(String bootstrap) {
        this.bootstrap = bootstrap;
        this.admin = Admin.create(Map.of("bootstrap.servers", bootstrap, "request.timeout.ms", "10000", "default.api.timeout.ms", "20000"));
    }

    static <T> T await(Future<T> future) throws Exception {
        return future.get(CALL_TIMEOUT_S, TimeUnit.SECONDS);
    }

    static byte[] bytes(JsonNode node) throws Exception {
        return node == null || node.isNull() ? null : node.binaryValue();
    }

    KafkaProducer<byte[], byte[]> producer(JsonNode command) {
        String compression = command.path("compression").asText("none");
        String acks = command.path("acks").asText("all");
        boolean idempotent = command.path("idempotent").asBoolean(false);
        String key = String.join("/", compression, acks, "" + idempotent, command.path("producer").asText(""));
        return producers.computeIfAbsent(key, ignored -> {
            Properties p = new Properties();
            p.put("bootstrap.servers", bootstrap);
            p.put("compression.type", compression);
            p.put("acks", acks);
            p.put("enable.idempotence", "" + idempotent);
            p.put("linger.ms", "20");
            p.put("max.request.size", "" + LARGEST_REQUEST_BYTES);
            p.put("buffer.memory", "" + 2 * LARGEST_REQUEST_BYTES);
            p.put("delivery.timeout.ms", "15000");
            p.put("request.timeout.ms", "10000");
            p.put("max.block.ms", "15000");
            p.put("metadata.max.age.ms", "2000");
            return new KafkaProducer<>(p, new ByteArraySerializer(), new ByteArraySerializer());
        });
    }

    JsonNode produce(JsonNode c) throws Exception {
        var client = producer(c);
        Integer partition = c.hasNonNull("partition") ? c.get("partition").asInt() : null;
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        for (JsonNode r : c.get("records")) {
            List<Header> headers = new ArrayList<>();
            for (JsonNode h : r.path("headers")) headers.add(new RecordHeader(h.get(0).asText(), bytes(h.get(1))));
            Long timestamp = r.hasNonNull("timestamp") ? r.get("timestamp").asLong() : null;
            sent.add(client.send(new ProducerRecord<>(c.get("topic").asText(), partition, timestamp,
                bytes(r.get("key")), bytes(r.get("value")), headers)));
        }
        client.flush();
        ArrayNode answer = JSON.createArrayNode();
        for (Future<RecordMetadata> future : sent) {
            RecordMetadata done = await(future);
            answer.addArray().add(done.partition()).add(done.offset()).add(done.timestamp());
        }
        return c.path("acks").asText("all").equals("0") ? null : answer;
    }

    JsonNode consume(JsonNode c) throws Exception {
        Properties p = new Properties();
        p.put("bootstrap.servers", bootstrap);
        p.put("auto.offset.reset", "none");
        p.put("enable.auto.commit", "false");
        p.put("isolation.level", c.path("committed").asBoolean(true) ? "read_committed" : "read_uncommitted");
        int count = c.get("count").asInt();
        p.put("max.poll.records", "" + Math.max(1, count));
        ArrayNode found = JSON.createArrayNode();
        try (var consumer = new KafkaConsumer<>(p, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            var place = new TopicPartition(c.get("topic").asText(), c.get("partition").asInt());
            consumer.assign(List.of(place));
            consumer.seek(place, c.get("offset").asLong());
            long deadline = System.nanoTime() + (long) (c.path("timeout_s").asDouble(15) * 1e9);
            while (found.size() < count && System.nanoTime() < deadline) {
                for (ConsumerRecord<byte[], byte[]> r : consumer.poll(Duration.ofMillis(100))) {
                    if (found.size() == count) break;
                    ObjectNode out = found.addObject();
                    out.put("offset", r.offset()).put("timestamp", r.timestamp());
                    out.put("timestamp_type", r.timestampType() == TimestampType.LOG_APPEND_TIME ? 1 : 0);
                    out.put("key", r.key()).put("value", r.value());
                    ArrayNode headers = out.putArray("headers");
                    for (Header h : r.headers()) headers.addArray().add(h.key()).add(h.value());
                }
            }
        }
        return found;
    }

    JsonNode offsetAt(JsonNode c) throws Exception {
        var place = new TopicPartition(c.get("topic").asText(), c.get("partition").asInt());
        JsonNode at = c.get("at");
        OffsetSpec spec = at.isNumber() ? OffsetSpec.forTimestamp(at.asLong())
            : switch (at.asText()) {
                case "earliest" -> OffsetSpec.earliest();
                case "latest" -> OffsetSpec.latest();
                case "max_timestamp" -> OffsetSpec.maxTimestamp();
                default -> throw new IllegalArgumentException(at.asText());
            };
        var found = await(admin.listOffsets(Map.of(place, spec)).partitionResult(place));
        return JSON.createObjectNode().put("offset", found.offset()).put("timestamp", found.timestamp());
    }

    JsonNode describeConfigs(String topic) throws Exception {
        var resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        ObjectNode answer = JSON.createObjectNode();
        for (ConfigEntry e : await(admin.describeConfigs(List.of(resource)).values().get(resource)).entries()) {
            answer.put(e.name(), e.value());
        }
        return answer;
    }

    void alterConfigs(JsonNode c) throws Exception {
        if (!c.path("incremental").asBoolean(true)) throw new Unsupported("the call that replaces all is gone since 4.0");
        var resource = new ConfigResource(ConfigResource.Type.TOPIC, c.get("topic").asText());
        Collection<AlterConfigOp> changes = new ArrayList<>();
        c.get("set").properties().forEach(e -> changes.add(new AlterConfigOp(
            new ConfigEntry(e.getKey(), e.getValue().asText()), AlterConfigOp.OpType.SET)));
        c.get("delete").forEach(n -> changes.add(new AlterConfigOp(
            new ConfigEntry(n.asText(), null), AlterConfigOp.OpType.DELETE)));
        await(admin.incrementalAlterConfigs(Map.of(resource, changes)).all());
    }

    JsonNode run(JsonNode c) throws Exception {
        String topic = c.path("topic").asText(null);
        switch (c.get("op").asText()) {
            case "produce": return produce(c);
            case "consume": return consume(c);
            case "offset_at": return offsetAt(c);
            case "subscribe": member = new Member(bootstrap, c, SESSION_MS, HEARTBEAT_MS); return null;
            case "poll_group": return member.poll(c.get("ms").asLong());
            case "commit_group": member.consumer.commitSync(); return null;
            case "copy": return JSON.valueToTree(Copier.copy(bootstrap, c));
            case "leave_group": member.close(); return null;
            case "partitions":
                return JSON.valueToTree(await(admin.describeTopics(List.of(topic)).topicNameValues().get(topic)).partitions().size());
            case "create_topic":
                Map<String, String> configs = new HashMap<>();
                c.path("configs").properties().forEach(e -> configs.put(e.getKey(), e.getValue().asText()));
                await(admin.createTopics(List.of(new NewTopic(topic, c.path("partitions").asInt(1), (short) -1).configs(configs))).all());
                return null;
            case "delete_topic": await(admin.deleteTopics(List.of(topic)).all()); return null;
            case "create_partitions":
                await(admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(c.get("total").asInt()))).all());
                return null;
            case "describe_configs": return describeConfigs(topic);
            case "alter_configs": alterConfigs(c); return null;
            case "delete_records":
                var place = new TopicPartition(topic, c.get("partition").asInt());
                var deleted = admin.deleteRecords(Map.of(place, RecordsToDelete.beforeOffset(c.get("before").asLong())));
                return JSON.valueToTree(await(deleted.lowWatermarks().get(place)).lowWatermark());
            case "list_topics": return JSON.valueToTree(new TreeSet<>(await(admin.listTopics().names())));
            case "topic_id":
                return JSON.valueToTree(await(admin.describeTopics(List.of(topic)).topicNameValues().get(topic)).topicId().toString());
            case "describe_cluster":
                var cluster = admin.describeCluster();
                return JSON.createObjectNode().put("cluster_id", await(cluster.clusterId()))
                    .put("brokers", await(cluster.nodes()).size()).put("controller", await(cluster.controller()).id());
            default: throw new Unsupported(c.get("op").asText());
        }
    }

    ObjectNode answer(String line) throws Exception {
        ObjectNode out = JSON.createObjectNode();
        try {
            return out.set("ok", run(JSON.readTree(line)));
        } catch (Unsupported e) {
            return out.put("unsupported", e.getMessage());
        } catch (OffsetOutOfRangeException e) {
            return out.put("error", 1).put("message", e.toString());
        } catch (Exception e) {
            Throwable cause = e instanceof ExecutionException ? e.getCause() : e;
            Errors known = Errors.forException(cause);
            return out.put("error", known == Errors.UNKNOWN_SERVER_ERROR ? -1000 : known.code()).put("message", cause.toString());
        }
    }

    public static void main(String[] args) throws Exception {
        PrintStream out = System.out;
        System.setOut(System.err);
        Driver driver = new Driver(args[0]);
        out.println(JSON.createObjectNode().put("ok", "Java kafka-clients " + AppInfoParser.getVersion()));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            out.println(JSON.writeValueAsString(driver.answer(line)));
            out.flush();
        }
        Runtime.getRuntime().halt(0);
    }
}
