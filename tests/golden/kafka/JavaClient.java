// Walks through as much of the Java clients as talks to a broker: java -cp 'libs/*' JavaClient.java HOST:PORT
// What fails is shown and passed over; only the bytes on the wire matter.

import java.time.Duration;
import java.util.*;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.*;
import org.apache.kafka.common.acl.*;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.quota.*;
import org.apache.kafka.common.resource.*;
import org.apache.kafka.common.serialization.*;

public class JavaClient {
    static String servers;
    static final String TOPIC = "golden-java";
    static final TopicPartition FIRST = new TopicPartition(TOPIC, 0);

    public static void main(String[] args) throws Exception {
        servers = args[0];
        try (Admin admin = Admin.create(settings(Map.of("client.id", "java-admin")))) {
            topics(admin);
            produce();
            consume("classic", "java-classic");
            consume("consumer", "java-848");
            share(admin);
            configs(admin);
            groups(admin);
            cluster(admin);
            security(admin);
            transactions(admin);
            step("deleteTopics", () -> admin.deleteTopics(List.of("golden-java-2")).all().get(9, TimeUnit.SECONDS));
        }
    }

    static Properties settings(Map<String, Object> more) {
        Properties all = new Properties();
        all.put("bootstrap.servers", servers);
        all.put("default.api.timeout.ms", "8000");
        all.put("request.timeout.ms", "5000");
        all.put("key.serializer", StringSerializer.class.getName());
        all.put("value.serializer", StringSerializer.class.getName());
        all.put("key.deserializer", StringDeserializer.class.getName());
        all.put("value.deserializer", StringDeserializer.class.getName());
        all.putAll(more);
        return all;
    }

    static void step(String name, Callable<?> call) {
        try {
            call.call();
            System.out.println(name + " done");
        } catch (Exception failure) {
            System.out.println(name + ": " + failure);
        }
    }

    static <T> T get(KafkaFuture<T> future) throws Exception {
        return future.get(9, TimeUnit.SECONDS);
    }

    static void topics(Admin admin) {
        step("createTopics", () -> get(admin.createTopics(List.of(
            new NewTopic(TOPIC, 2, (short) 1).configs(Map.of("retention.ms", "60000")),
            new NewTopic("golden-java-2", Map.of(0, List.of(1))))).all()));
        step("validateTopics", () -> get(admin.createTopics(
            List.of(new NewTopic("golden-java-3", Optional.empty(), Optional.empty())),
            new CreateTopicsOptions().validateOnly(true)).all()));
        step("createPartitions", () -> get(admin.createPartitions(Map.of(TOPIC, NewPartitions.increaseTo(3))).all()));
        step("listTopics", () -> get(admin.listTopics().names()));
        step("describeTopics", () -> get(admin.describeTopics(List.of(TOPIC, "golden-java-2")).allTopicNames()));
        step("describeMissing", () -> get(admin.describeTopics(List.of("golden-missing")).allTopicNames()));
        step("describeTopicsById", () -> {
            Uuid id = get(admin.describeTopics(List.of(TOPIC)).allTopicNames()).get(TOPIC).topicId();
            return get(admin.describeTopics(TopicCollection.ofTopicIds(List.of(id))).allTopicIds());
        });
    }

    static void produce() {
        for (String acks : List.of("all", "1")) {
            boolean idempotent = acks.equals("all");
            try (Producer<String, String> producer = new KafkaProducer<>(settings(Map.of(
                "client.id", "java-producer", "acks", acks, "enable.idempotence", idempotent)))) {
                step("produce", () -> producer.send(new ProducerRecord<>(TOPIC, 0, "key", "value " + acks)).get());
                step("produceTo1", () -> producer.send(new ProducerRecord<>(TOPIC, 1, null, "second")).get());
            }
        }
    }

    static void consume(String protocol, String group) {
        Map<String, Object> more = new HashMap<>(Map.of(
            "client.id", "java-consumer", "group.id", group, "group.protocol", protocol, "client.rack", "r1",
            "auto.offset.reset", "earliest", "enable.auto.commit", "false"));
        if (protocol.equals("classic")) {
            more.put("group.instance.id", "static-1");
        }
        try (Consumer<String, String> consumer = new KafkaConsumer<>(settings(more))) {
            consumer.subscribe(List.of(TOPIC));
            long until = System.currentTimeMillis() + 6000;
            int seen = 0;
            while (seen < 4 && System.currentTimeMillis() < until) {
                seen += consumer.poll(Duration.ofMillis(300)).count();
            }
            step("commit", () -> {
                consumer.commitSync(Map.of(FIRST, new OffsetAndMetadata(1, Optional.of(0), "noted")));
                return consumer.committed(Set.of(FIRST));
            });
            step("offsetsForTimes", () -> consumer.offsetsForTimes(Map.of(FIRST, 1L)));
            step("endOffsets", () -> consumer.endOffsets(Set.of(FIRST)));
            consumer.poll(Duration.ofMillis(200));
        }
    }

    static void share(Admin admin) {
        step("shareReset", () -> get(admin.incrementalAlterConfigs(Map.of(
            new ConfigResource(ConfigResource.Type.GROUP, "java-share"),
            List.of(new AlterConfigOp(new ConfigEntry("share.auto.offset.reset", "earliest"),
                AlterConfigOp.OpType.SET)))).all()));
        try (ShareConsumer<String, String> consumer = new KafkaShareConsumer<>(settings(Map.of(
            "client.id", "java-share", "group.id", "java-share", "share.acknowledgement.mode", "explicit")))) {
            consumer.subscribe(List.of(TOPIC));
            long until = System.currentTimeMillis() + 6000;
            int seen = 0;
            while (seen < 4 && System.currentTimeMillis() < until) {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(300))) {
                    consumer.acknowledge(record);
                    seen++;
                }
                consumer.commitSync();
            }
            step("describeShareGroups", () -> get(admin.describeShareGroups(List.of("java-share")).all()));
        }
        step("shareOffsets", () -> get(admin.listShareGroupOffsets(
            Map.of("java-share", new ListShareGroupOffsetsSpec())).all()));
        step("alterShareOffsets", () -> get(admin.alterShareGroupOffsets("java-share", Map.of(FIRST, 0L)).all()));
        step("deleteShareOffsets", () -> get(admin.deleteShareGroupOffsets("java-share", Set.of(TOPIC)).all()));
    }

    static void configs(Admin admin) {
        ConfigResource topic = new ConfigResource(ConfigResource.Type.TOPIC, TOPIC);
        step("alterConfigs", () -> get(admin.incrementalAlterConfigs(Map.of(topic, List.of(
            new AlterConfigOp(new ConfigEntry("retention.ms", "70000"), AlterConfigOp.OpType.SET),
            new AlterConfigOp(new ConfigEntry("segment.ms", null), AlterConfigOp.OpType.DELETE)))).all()));
        step("describeConfigs", () -> get(admin.describeConfigs(List.of(topic),
            new DescribeConfigsOptions().includeSynonyms(true)).all()));
        step("listConfigResources", () -> get(admin.listConfigResources(
            Set.of(ConfigResource.Type.TOPIC, ConfigResource.Type.GROUP), new ListConfigResourcesOptions()).all()));
        step("listClientMetrics", () -> get(admin.listConfigResources(
            Set.of(ConfigResource.Type.CLIENT_METRICS), new ListConfigResourcesOptions()).all()));
        ClientQuotaEntity entity = new ClientQuotaEntity(Map.of("client-id", "c"));
        step("alterQuotas", () -> get(admin.alterClientQuotas(List.of(new ClientQuotaAlteration(entity,
            List.of(new ClientQuotaAlteration.Op("producer_byte_rate", 1024.0))))).all()));
        step("describeQuotas", () -> get(admin.describeClientQuotas(ClientQuotaFilter.all()).entities()));
    }

    static void groups(Admin admin) {
        step("listGroups", () -> get(admin.listGroups().all()));
        step("describeGroups", () -> get(admin.describeConsumerGroups(List.of("java-classic", "java-848")).all()));
        step("describeClassic", () -> get(admin.describeClassicGroups(List.of("java-classic", "gone")).all()));
        step("describeStreams", () -> get(admin.describeStreamsGroups(List.of("java-streams")).all()));
        step("groupOffsets", () -> get(admin.listConsumerGroupOffsets("java-classic").partitionsToOffsetAndMetadata()));
        step("alterOffsets", () -> get(admin.alterConsumerGroupOffsets("java-classic",
            Map.of(FIRST, new OffsetAndMetadata(0))).all()));
        step("deleteOffsets", () -> get(admin.deleteConsumerGroupOffsets("java-classic", Set.of(FIRST)).all()));
        step("removeMembers", () -> get(admin.removeMembersFromConsumerGroup("java-classic",
            new RemoveMembersFromConsumerGroupOptions(List.of(new MemberToRemove("static-1")))).all()));
        step("deleteGroups", () -> get(admin.deleteConsumerGroups(List.of("java-classic")).all()));
        step("listOffsets", () -> get(admin.listOffsets(Map.of(FIRST, OffsetSpec.maxTimestamp())).all()));
        step("deleteRecords", () -> get(admin.deleteRecords(Map.of(FIRST, RecordsToDelete.beforeOffset(1))).all()));
    }

    static void cluster(Admin admin) {
        step("describeCluster", () -> get(admin.describeCluster(
            new DescribeClusterOptions().includeAuthorizedOperations(true)).authorizedOperations()));
        step("describeLogDirs", () -> get(admin.describeLogDirs(List.of(1)).allDescriptions()));
        step("alterLogDirs", () -> get(admin.alterReplicaLogDirs(
            Map.of(new TopicPartitionReplica(TOPIC, 0, 1), "/nowhere")).all()));
        step("electLeaders", () -> get(admin.electLeaders(ElectionType.PREFERRED, Set.of(FIRST)).all()));
        step("reassign", () -> get(admin.alterPartitionReassignments(
            Map.of(FIRST, Optional.of(new NewPartitionReassignment(List.of(1))))).all()));
        step("reassignments", () -> get(admin.listPartitionReassignments().reassignments()));
        step("quorum", () -> get(admin.describeMetadataQuorum().quorumInfo()));
        step("features", () -> get(admin.describeFeatures().featureMetadata()));
        step("updateFeatures", () -> get(admin.updateFeatures(Map.of("share.version",
            new FeatureUpdate((short) 99, FeatureUpdate.UpgradeType.UPGRADE)), new UpdateFeaturesOptions()).all()));
        step("unregister", () -> get(admin.unregisterBroker(77).all()));
        step("addVoter", () -> get(admin.addRaftVoter(9, Uuid.randomUuid(),
            Set.of(new RaftVoterEndpoint("CONTROLLER", "127.0.0.1", 1))).all()));
        step("removeVoter", () -> get(admin.removeRaftVoter(9, Uuid.randomUuid()).all()));
    }

    static void security(Admin admin) {
        AclBinding acl = new AclBinding(new ResourcePattern(ResourceType.TOPIC, TOPIC, PatternType.LITERAL),
            new AccessControlEntry("User:a", "*", AclOperation.READ, AclPermissionType.ALLOW));
        step("createAcls", () -> get(admin.createAcls(List.of(acl)).all()));
        step("describeAcls", () -> get(admin.describeAcls(AclBindingFilter.ANY).values()));
        step("deleteAcls", () -> get(admin.deleteAcls(List.of(acl.toFilter())).all()));
        step("alterScram", () -> get(admin.alterUserScramCredentials(List.of(new UserScramCredentialUpsertion("a",
            new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096), "secret"))).all()));
        step("describeScram", () -> get(admin.describeUserScramCredentials().all()));
        step("deleteScram", () -> get(admin.alterUserScramCredentials(List.of(
            new UserScramCredentialDeletion("a", ScramMechanism.SCRAM_SHA_256))).all()));
        step("createToken", () -> get(admin.createDelegationToken().delegationToken()));
        step("describeToken", () -> get(admin.describeDelegationToken().delegationTokens()));
        step("renewToken", () -> get(admin.renewDelegationToken(new byte[] {1, 2}).expiryTimestamp()));
        step("expireToken", () -> get(admin.expireDelegationToken(new byte[] {1, 2}).expiryTimestamp()));
    }

    static void transactions(Admin admin) {
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(settings(Map.of(
                "client.id", "java-txn", "transactional.id", "java-txn", "transaction.timeout.ms", "30000")))) {
            producer.initTransactions();
            producer.beginTransaction();
            step("produceInTransaction", () -> producer.send(new ProducerRecord<>(TOPIC, 0, "k", "in a transaction")).get());
            step("sendOffsets", () -> {
                producer.sendOffsetsToTransaction(Map.of(FIRST, new OffsetAndMetadata(2)),
                    new ConsumerGroupMetadata("java-txn-group"));
                return null;
            });
            step("describeProducers", () -> get(admin.describeProducers(List.of(FIRST)).all()));
            step("describeTransactions", () -> get(admin.describeTransactions(List.of("java-txn")).all()));
            step("listTransactions", () -> get(admin.listTransactions().all()));
            producer.commitTransaction();
            producer.beginTransaction();
            step("produceAborted", () -> producer.send(new ProducerRecord<>(TOPIC, 0, "k", "aborted")).get());
            producer.abortTransaction();
        } catch (Exception failure) {
            System.out.println("transactions: " + failure);
        }
        Map<String, Object> reader = Map.of("client.id", "java-committed", "isolation.level", "read_committed",
            "auto.offset.reset", "earliest");
        try (Consumer<String, String> consumer = new KafkaConsumer<>(settings(reader))) {
            consumer.assign(List.of(FIRST));
            consumer.poll(Duration.ofMillis(1500));
        }
        step("fenceProducers", () -> get(admin.fenceProducers(List.of("java-txn")).all()));
        step("abortTransaction", () -> get(admin.abortTransaction(
            new AbortTransactionSpec(FIRST, 4711, (short) 0, 0)).all()));
    }
}
