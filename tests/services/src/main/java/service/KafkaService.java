package service;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetResetStrategy;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

/**
 * A consumer of Kafka that has no broker: its records are made here. It goes through them in the
 * ways that consumers have; the argument says how often.
 */
public class KafkaService {
    private static final List<TopicPartition> PARTITIONS = List.of(
            new TopicPartition("orders", 0),
            new TopicPartition("orders", 1),
            new TopicPartition("payments", 0));

    private static void process(ConsumerRecord<String, String> record) {
        if (record.topic().equals("orders")) {
            processOrder();
        } else {
            processPayment();
        }
    }

    private static void processOrder() {
        Work.spin(500_000);
    }

    private static void processPayment() {
        Work.spin(500_000);
    }

    private static void workAfterAll() {
        Work.spin(500_000);
    }

    private static void workAfterEarlyEnd() {
        Work.spin(500_000);
    }

    /** The records of a poll: one of each partition. */
    private static ConsumerRecords<String, String> poll(
            MockConsumer<String, String> consumer, long offset) {
        for (TopicPartition partition : PARTITIONS) {
            consumer.addRecord(new ConsumerRecord<>(
                    partition.topic(), partition.partition(), offset, "key", "value"));
        }
        return consumer.poll(Duration.ZERO);
    }

    public static void main(String[] args) {
        MockConsumer<String, String> consumer = new MockConsumer<>(OffsetResetStrategy.EARLIEST);
        consumer.assign(PARTITIONS);
        for (TopicPartition partition : PARTITIONS) {
            consumer.updateBeginningOffsets(Map.of(partition, 0L));
        }
        // Its polls find no broker, and so nothing.
        Map<String, Object> settings = Map.of("bootstrap.servers", "127.0.0.1:1");
        StringDeserializer text = new StringDeserializer();
        try (KafkaConsumer<String, String> idle = new KafkaConsumer<>(settings, text, text)) {
            idle.assign(PARTITIONS);
            long offset = 0;
            for (int i = 0; i < Integer.parseInt(args[0]); i++) {
                for (ConsumerRecord<String, String> record : poll(consumer, offset++)) {
                    process(record);
                }
                workAfterAll();
                ConsumerRecords<String, String> records = poll(consumer, offset++);
                for (TopicPartition partition : records.partitions()) {
                    records.records(partition).forEach(KafkaService::process);
                }
                records.records("payments").forEach(KafkaService::process);
                workAfterAll();
                for (ConsumerRecord<String, String> record : poll(consumer, offset++)) {
                    process(record);
                    break;
                }
                idle.poll(Duration.ZERO);
                workAfterEarlyEnd();
            }
        }
    }
}
