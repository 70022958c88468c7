import com.rabbitmq.client.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.*;

/** What applications do with the Java client, step by step; says "ok STEP" after each, and fails at the first that does not hold. */
public final class Driver {
    private static final long PATIENCE_S = 60;
    private static Connection connection;

    private static void holds(boolean condition, String what) {
        if (!condition) {
            throw new AssertionError(what);
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(byte[] body) {
        return new String(body, StandardCharsets.UTF_8);
    }

    private static BlockingQueue<String> bodies(Channel channel, String queue) throws Exception {
        BlockingQueue<String> found = new LinkedBlockingQueue<>();
        channel.basicConsume(queue, false, (tag, delivery) -> {
            channel.basicAck(delivery.getEnvelope().getDeliveryTag(), false);
            found.add(text(delivery.getBody()));  // from here on the channel may be closed
        }, tag -> found.add("cancelled"));
        return found;
    }

    private static void confirms() throws Exception {
        Channel channel = connection.createChannel();
        String queue = channel.queueDeclare("java-confirms", true, false, false, null).getQueue();
        ConcurrentSkipListSet<Long> open = new ConcurrentSkipListSet<>();
        channel.confirmSelect();
        channel.addConfirmListener(
            (tag, multiple) -> { if (multiple) open.headSet(tag, true).clear(); else open.remove(tag); },
            (tag, multiple) -> { throw new AssertionError("nack"); });
        for (int number = 0; number < 500; number++) {
            open.add(channel.getNextPublishSeqNo());
            channel.basicPublish("", queue, MessageProperties.PERSISTENT_BASIC, bytes("m" + number));
        }
        channel.waitForConfirmsOrDie(PATIENCE_S * 1000);
        BlockingQueue<String> found = bodies(channel, queue);
        for (int number = 0; number < 500; number++) {
            holds(("m" + number).equals(found.poll(PATIENCE_S, TimeUnit.SECONDS)), "message " + number);
        }
        channel.queueDelete(queue);
        holds("cancelled".equals(found.poll(PATIENCE_S, TimeUnit.SECONDS)), "told of the deletion");
        channel.close();
    }

    private static void returns() throws Exception {
        Channel channel = connection.createChannel();
        BlockingQueue<Return> returned = new LinkedBlockingQueue<>();
        channel.addReturnListener(returned::add);
        channel.confirmSelect();
        channel.basicPublish("amq.direct", "nowhere", true, MessageProperties.BASIC, bytes("back"));
        channel.waitForConfirmsOrDie(PATIENCE_S * 1000);
        holds(returned.poll().getReplyCode() == AMQP.NO_ROUTE, "returned before its confirm");
        channel.close();
    }

    private static void transactions() throws Exception {
        Channel channel = connection.createChannel();
        String queue = channel.queueDeclare().getQueue();
        channel.txSelect();
        channel.basicPublish("", queue, null, bytes("rolled back"));
        channel.txRollback();
        channel.basicPublish("", queue, null, bytes("committed"));
        holds(channel.basicGet(queue, true) == null, "nothing before the commit");
        channel.txCommit();
        holds("committed".equals(text(channel.basicGet(queue, true).getBody())), "the commit");
        channel.close();
    }

    private static void exchanges() throws Exception {
        Channel channel = connection.createChannel();
        Map<String, Object> pattern = new HashMap<>(Map.of("x-match", "all", "colour", "red", "size", 3));
        String[] queues = new String[4];
        String[] kinds = {"direct", "fanout", "topic", "headers"};
        Object[][] bindings = {{"a.b", null}, {"", null}, {"a.#", null}, {"", pattern}};
        channel.exchangeDeclare("java-all", "fanout", false, true, null);
        for (int at = 0; at < kinds.length; at++) {
            queues[at] = channel.queueDeclare().getQueue();
            channel.exchangeDeclare("java-" + kinds[at], kinds[at], false, true, null);
            channel.exchangeBind("java-" + kinds[at], "java-all", "");
            @SuppressWarnings("unchecked")
            Map<String, Object> arguments = (Map<String, Object>) bindings[at][1];
            channel.queueBind(queues[at], "java-" + kinds[at], (String) bindings[at][0], arguments);
        }
        AMQP.BasicProperties red = new AMQP.BasicProperties.Builder().headers(Map.of("colour", "red", "size", 3L)).build();
        channel.basicPublish("java-all", "a.b", red, bytes("to all"));
        for (int at = 0; at < kinds.length; at++) {
            holds(channel.basicGet(queues[at], true) != null, kinds[at]);
        }
        channel.close();
    }

    private static void headers() throws Exception {
        Channel channel = connection.createChannel();
        String queue = channel.queueDeclare().getQueue();
        Map<String, Object> headers = new TreeMap<>();
        headers.put("array", List.of(1, "two", List.of(true)));
        headers.put("big", Long.MIN_VALUE);
        headers.put("bytes", new byte[] {0, 1});
        headers.put("decimal", new java.math.BigDecimal("3.14"));
        headers.put("double", 2.5);
        headers.put("nothing", null);
        headers.put("short", (short) -7);
        headers.put("table", Map.of("inner", new Date(1_000_000_000_000L)));
        channel.basicPublish("", queue, new AMQP.BasicProperties.Builder().headers(headers).build(), new byte[0]);
        Map<String, Object> found = channel.basicGet(queue, true).getProps().getHeaders();
        holds(Arrays.equals((byte[]) found.remove("bytes"), (byte[]) headers.remove("bytes")), "bytes");
        holds(found.get("array").toString().equals("[1, two, [true]]"), "array " + found.get("array"));
        found.remove("array");
        headers.remove("array");
        headers.replaceAll((name, value) -> value);
        holds(new TreeMap<>(found).toString().equals(headers.toString()), found + " instead of " + headers);
        channel.close();
    }

    private static void refusals() throws Exception {
        Channel channel = connection.createChannel();
        try {
            channel.queueDeclarePassive("java-missing");
            throw new AssertionError("it is not there");
        } catch (java.io.IOException refused) {
            AMQP.Channel.Close why = (AMQP.Channel.Close) ((ShutdownSignalException) refused.getCause()).getReason();
            holds(why.getReplyCode() == AMQP.NOT_FOUND, "404");
        }
        holds(!channel.isOpen() && connection.isOpen(), "the channel alone is closed");
    }

    private static void requests() throws Exception {
        Channel server = connection.createChannel();
        String queue = server.queueDeclare().getQueue();
        server.basicConsume(queue, true, (tag, asked) -> server.basicPublish(
            "", asked.getProperties().getReplyTo(), null, bytes(text(asked.getBody()) + "!")), tag -> { });
        Channel client = connection.createChannel();
        BlockingQueue<String> answers = new LinkedBlockingQueue<>();
        client.basicConsume("amq.rabbitmq.reply-to", true, (tag, answer) -> answers.add(text(answer.getBody())), tag -> { });
        AMQP.BasicProperties asking = new AMQP.BasicProperties.Builder().replyTo("amq.rabbitmq.reply-to").build();
        client.basicPublish("", queue, asking, bytes("hello"));
        holds("hello!".equals(answers.poll(PATIENCE_S, TimeUnit.SECONDS)), "the answer");
        server.close();
        client.close();
    }

    private static void recovery() throws Exception {
        Channel channel = connection.createChannel();
        channel.exchangeDeclare("java-recovery", "topic", false, true, null);
        String queue = channel.queueDeclare("", false, true, true, null).getQueue();
        channel.queueBind(queue, "java-recovery", "#");
        channel.basicQos(10);
        CountDownLatch recovered = new CountDownLatch(1);
        ((Recoverable) connection).addRecoveryListener(new RecoveryListener() {
            @Override public void handleRecovery(Recoverable what) { recovered.countDown(); }
            @Override public void handleRecoveryStarted(Recoverable what) { }
        });
        BlockingQueue<String> found = bodies(channel, queue);
        System.out.println("restart the broker");
        System.out.flush();
        holds(recovered.await(PATIENCE_S, TimeUnit.SECONDS), "recovered");
        channel.basicPublish("java-recovery", "any.key", null, bytes("again"));
        holds("again".equals(found.poll(PATIENCE_S, TimeUnit.SECONDS)), "exchange, queue, binding and consumer are back");
        channel.close();
    }

    private interface Step {
        void run() throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        ConnectionFactory factory = new ConnectionFactory();
        factory.setUri("amqp://guest:guest@" + arguments[0]);
        factory.setNetworkRecoveryInterval(200);
        connection = factory.newConnection("the driver");
        Map<String, Step> steps = new LinkedHashMap<>();
        steps.put("confirms", Driver::confirms);
        steps.put("returns", Driver::returns);
        steps.put("transactions", Driver::transactions);
        steps.put("exchanges", Driver::exchanges);
        steps.put("headers", Driver::headers);
        steps.put("refusals", Driver::refusals);
        steps.put("requests", Driver::requests);
        steps.put("recovery", Driver::recovery);
        for (Map.Entry<String, Step> step : steps.entrySet()) {
            try {
                step.getValue().run();
            } catch (Throwable failure) {
                failure.printStackTrace();
                System.exit(1);  // the connection's threads would keep us here
            }
            System.out.println("ok " + step.getKey());
            System.out.flush();
        }
        connection.close();
    }
}
