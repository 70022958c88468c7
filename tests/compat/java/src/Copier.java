import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** The Java client as a copier: reads, writes and commits what it read as one step (the copy command of lines.py). */
class Copier {
    static int copy(String bootstrap, JsonNode c) {
        Properties p = new Properties();
        p.put("bootstrap.servers", bootstrap);
        p.put("transactional.id", c.get("transactional_id").asText());
        p.put("linger.ms", "1");
        Properties g = new Properties();
        g.put("bootstrap.servers", bootstrap);
        g.put("group.id", c.get("group").asText());
        g.put("auto.offset.reset", "earliest");
        g.put("enable.auto.commit", "false");
        g.put("isolation.level", "read_committed");
        g.put("max.poll.records", c.get("batch").asText());
        int count = c.get("count").asInt(), abortEvery = c.get("abort_every").asInt(), copied = 0, attempts = 0;
        long deadline = System.nanoTime() + 40_000_000_000L; // as in lines.py
        try (var producer = new KafkaProducer<>(p, new ByteArraySerializer(), new ByteArraySerializer());
             var consumer = new KafkaConsumer<>(g, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            producer.initTransactions();
            consumer.subscribe(List.of(c.get("source").asText()));
            while (copied < count && System.nanoTime() < deadline) {
                ConsumerRecords<byte[], byte[]> found = consumer.poll(Duration.ofMillis(200));
                if (found.isEmpty()) continue;
                attempts++;
                producer.beginTransaction();
                Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
                Map<TopicPartition, Long> first = new HashMap<>();
                for (ConsumerRecord<byte[], byte[]> r : found) {
                    producer.send(new ProducerRecord<>(c.get("target").asText(), r.key(), r.value()));
                    var place = new TopicPartition(r.topic(), r.partition());
                    offsets.put(place, new OffsetAndMetadata(r.offset() + 1));
                    first.putIfAbsent(place, r.offset());
                }
                producer.sendOffsetsToTransaction(offsets, consumer.groupMetadata());
                if (abortEvery > 0 && attempts % abortEvery == 0) {
                    producer.flush();
                    producer.abortTransaction();
                    first.forEach(consumer::seek);
                } else {
                    producer.commitTransaction();
                    copied += found.count();
                }
            }
        }
        return copied;
    }
}
