// The Go client (franz-go) behind the same JSON lines as the other drivers (see ../drivers/lines.py).
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sort"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	largestRequestBytes = 64 << 20
	metadataAge         = 10 * time.Millisecond // the least that the library allows
)

var callTimeout = 20 * time.Second

type unsupported string

func (u unsupported) Error() string { return string(u) }

// header is [name, value] on the line.
type header struct {
	Name  string
	Value []byte
}

func (h *header) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&h.Name, &h.Value})
}

func (h header) MarshalJSON() ([]byte, error) { return json.Marshal([]any{h.Name, h.Value}) }

type record struct {
	Offset        int64    `json:"offset"`
	Timestamp     *int64   `json:"timestamp"`
	TimestampType int8     `json:"timestamp_type"`
	Key           []byte   `json:"key"`
	Value         []byte   `json:"value"`
	Headers       []header `json:"headers"`
}

type command struct {
	Op          string             `json:"op"`
	Topic       string             `json:"topic"`
	Partition   *int32             `json:"partition"`
	Partitions  int32              `json:"partitions"`
	Records     []record           `json:"records"`
	Compression string             `json:"compression"`
	Acks        string             `json:"acks"`
	Idempotent  bool               `json:"idempotent"`
	Producer    string             `json:"producer"`
	Offset      int64              `json:"offset"`
	Count       int                `json:"count"`
	TimeoutS    *float64           `json:"timeout_s"`
	Committed   *bool              `json:"committed"`
	At          any                `json:"at"`
	Configs     map[string]*string `json:"configs"`
	Set         map[string]string  `json:"set"`
	Delete      []string           `json:"delete"`
	Incremental *bool              `json:"incremental"`
	Total       int                `json:"total"`
	Before      int64              `json:"before"`
	Group       string             `json:"group"`
	Protocol    string             `json:"protocol"`
	Assignor    string             `json:"assignor"`
	Instance    string             `json:"instance"`
	Ms          int                `json:"ms"`
}

type driver struct {
	bootstrap string
	admin     *kadm.Client
	producers map[string]*kgo.Client
	member    *groupMember
}

func (d *driver) producer(c *command) (*kgo.Client, error) {
	byHand := c.Partition != nil
	key := fmt.Sprintf("%s/%s/%t/%s/%t", c.Compression, c.Acks, c.Idempotent, c.Producer, byHand)
	if known := d.producers[key]; known != nil {
		return known, nil
	}
	codecs := map[string]kgo.CompressionCodec{
		"": kgo.NoCompression(), "none": kgo.NoCompression(), "gzip": kgo.GzipCompression(),
		"snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	}
	options := []kgo.Opt{
		kgo.SeedBrokers(d.bootstrap),
		kgo.ProducerBatchCompression(codecs[c.Compression]),
		kgo.ProducerLinger(20 * time.Millisecond),
		kgo.ProducerBatchMaxBytes(largestRequestBytes - 4096),
		kgo.BrokerMaxWriteBytes(largestRequestBytes),
		kgo.MetadataMaxAge(2 * time.Second), kgo.MetadataMinAge(100 * time.Millisecond),
		kgo.AllowAutoTopicCreation(),
		kgo.UnknownTopicRetries(20),
	}
	if !c.Idempotent {
		options = append(options, kgo.DisableIdempotentWrite())
	}
	switch c.Acks {
	case "0":
		options = append(options, kgo.RequiredAcks(kgo.NoAck()))
	case "1":
		options = append(options, kgo.RequiredAcks(kgo.LeaderAck()))
	}
	if byHand {
		options = append(options, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	}
	client, err := kgo.NewClient(options...)
	if err == nil {
		d.producers[key] = client
	}
	return client, err
}

func (d *driver) produce(ctx context.Context, c *command) (any, error) {
	client, err := d.producer(c)
	if err != nil {
		return nil, err
	}
	var records []*kgo.Record
	for _, in := range c.Records {
		out := &kgo.Record{Topic: c.Topic, Key: in.Key, Value: in.Value}
		if c.Partition != nil {
			out.Partition = *c.Partition
		}
		if in.Timestamp != nil {
			out.Timestamp = time.UnixMilli(*in.Timestamp)
		}
		for _, h := range in.Headers {
			out.Headers = append(out.Headers, kgo.RecordHeader{Key: h.Name, Value: h.Value})
		}
		records = append(records, out)
	}
	results := client.ProduceSync(ctx, records...)
	if err := results.FirstErr(); err != nil {
		return nil, err
	}
	if c.Acks == "0" {
		return nil, nil
	}
	places := make([][3]int64, len(records))
	for i, r := range records {
		places[i] = [3]int64{int64(r.Partition), r.Offset, r.Timestamp.UnixMilli()}
	}
	return places, nil
}

func (d *driver) consume(c *command) (any, error) {
	timeout := 15.0
	if c.TimeoutS != nil {
		timeout = *c.TimeoutS
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(timeout*float64(time.Second)))
	defer cancel()
	level := kgo.ReadCommitted()
	if c.Committed != nil && !*c.Committed {
		level = kgo.ReadUncommitted()
	}
	client, err := kgo.NewClient(
		kgo.SeedBrokers(d.bootstrap),
		kgo.FetchIsolationLevel(level),
		kgo.FetchMaxWait(500*time.Millisecond),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{c.Topic: {*c.Partition: kgo.NewOffset().At(c.Offset)}}),
	)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	found := []record{}
	for len(found) < c.Count {
		fetches := client.PollRecords(ctx, c.Count-len(found))
		if ctx.Err() != nil {
			break
		}
		if err := fetches.Err(); err != nil {
			return nil, err
		}
		fetches.EachRecord(func(r *kgo.Record) {
			at := r.Timestamp.UnixMilli()
			out := record{Offset: r.Offset, Timestamp: &at, TimestampType: r.Attrs.TimestampType(), Key: r.Key, Value: r.Value}
			out.Headers = []header{}
			for _, h := range r.Headers {
				out.Headers = append(out.Headers, header{h.Key, h.Value})
			}
			found = append(found, out)
		})
	}
	return found, nil
}

func (d *driver) offsetAt(ctx context.Context, c *command) (any, error) {
	var listed kadm.ListedOffsets
	var err error
	switch at := c.At.(type) {
	case float64:
		listed, err = d.admin.ListOffsetsAfterMilli(ctx, int64(at), c.Topic)
		if err == nil {
			// Where no record is that late, this library puts the end in place of the broker's -1.
			o, _ := listed.Lookup(c.Topic, *c.Partition)
			if o.Err == nil && o.Timestamp == -1 {
				return map[string]int64{"offset": -1, "timestamp": -1}, nil
			}
		}
	case string:
		switch at {
		case "earliest":
			listed, err = d.admin.ListStartOffsets(ctx, c.Topic)
		case "latest":
			listed, err = d.admin.ListEndOffsets(ctx, c.Topic)
		case "max_timestamp":
			listed, err = d.admin.ListMaxTimestampOffsets(ctx, c.Topic)
		}
	}
	if err != nil {
		return nil, err
	}
	o, ok := listed.Lookup(c.Topic, *c.Partition)
	if !ok {
		return nil, errors.New("partition missing in the answer")
	}
	return map[string]int64{"offset": o.Offset, "timestamp": o.Timestamp}, o.Err
}

// listTopics asks the broker: what the library keeps for metadataAge is older than that when we ask.
func (d *driver) listTopics(ctx context.Context, topics ...string) (kadm.TopicDetails, error) {
	time.Sleep(metadataAge + time.Millisecond)
	return d.admin.ListTopics(ctx, topics...)
}

func (d *driver) describeTopic(ctx context.Context, topic string) (kadm.TopicDetail, error) {
	topics, err := d.listTopics(ctx, topic)
	if err != nil {
		return kadm.TopicDetail{}, err
	}
	return topics[topic], topics[topic].Err
}

func (d *driver) alterConfigs(ctx context.Context, c *command) error {
	var changes []kadm.AlterConfig
	for name, value := range c.Set {
		changes = append(changes, kadm.AlterConfig{Op: kadm.SetConfig, Name: name, Value: kadm.StringPtr(value)})
	}
	for _, name := range c.Delete {
		changes = append(changes, kadm.AlterConfig{Op: kadm.DeleteConfig, Name: name})
	}
	alter := d.admin.AlterTopicConfigs
	if c.Incremental != nil && !*c.Incremental {
		alter = d.admin.AlterTopicConfigsState
	}
	answers, err := alter(ctx, changes, c.Topic)
	if err != nil {
		return err
	}
	return answers[0].Err
}

func (d *driver) run(ctx context.Context, c *command) (any, error) {
	switch c.Op {
	case "produce":
		return d.produce(ctx, c)
	case "consume":
		return d.consume(c)
	case "offset_at":
		return d.offsetAt(ctx, c)
	case "subscribe":
		return nil, d.subscribe(c)
	case "poll_group":
		return d.member.poll(c.Ms)
	case "commit_group":
		return nil, d.member.client.CommitUncommittedOffsets(ctx)
	case "leave_group":
		d.member.client.CloseAllowingRebalance()
		return nil, nil
	case "partitions":
		detail, err := d.describeTopic(ctx, c.Topic)
		return len(detail.Partitions), err
	case "topic_id":
		detail, err := d.describeTopic(ctx, c.Topic)
		return detail.ID.String(), err
	case "create_topic":
		_, err := d.admin.CreateTopic(ctx, max(c.Partitions, 1), -1, c.Configs, c.Topic)
		return nil, err
	case "delete_topic":
		_, err := d.admin.DeleteTopic(ctx, c.Topic)
		return nil, err
	case "create_partitions":
		answers, err := d.admin.UpdatePartitions(ctx, c.Total, c.Topic)
		if err == nil {
			err = answers[c.Topic].Err
		}
		return nil, err
	case "describe_configs":
		answers, err := d.admin.DescribeTopicConfigs(ctx, c.Topic)
		if err == nil {
			err = answers[0].Err
		}
		if err != nil {
			return nil, err
		}
		configs := map[string]*string{}
		for _, config := range answers[0].Configs {
			configs[config.Key] = config.Value
		}
		return configs, nil
	case "alter_configs":
		return nil, d.alterConfigs(ctx, c)
	case "delete_records":
		before := kadm.Offsets{}
		before.AddOffset(c.Topic, *c.Partition, c.Before, -1)
		answers, err := d.admin.DeleteRecords(ctx, before)
		if err != nil {
			return nil, err
		}
		deleted, _ := answers.Lookup(c.Topic, *c.Partition)
		return deleted.LowWatermark, deleted.Err
	case "list_topics":
		topics, err := d.listTopics(ctx)
		names := topics.Names()
		sort.Strings(names)
		return names, err
	case "describe_cluster":
		cluster, err := d.admin.BrokerMetadata(ctx)
		return map[string]any{
			"cluster_id": cluster.Cluster, "brokers": len(cluster.Brokers), "controller": cluster.Controller,
		}, err
	}
	return nil, unsupported(c.Op)
}

func (d *driver) answer(line []byte) map[string]any {
	var c command
	if err := json.Unmarshal(line, &c); err != nil {
		return map[string]any{"error": -1000, "message": err.Error()}
	}
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	result, err := d.run(ctx, &c)
	var known *kerr.Error
	var none unsupported
	switch {
	case err == nil:
		return map[string]any{"ok": result}
	case errors.As(err, &none):
		return map[string]any{"unsupported": none.Error()}
	case errors.As(err, &known):
		return map[string]any{"error": known.Code, "message": err.Error()}
	}
	return map[string]any{"error": -1000, "message": err.Error()}
}

func version() string {
	info, _ := debug.ReadBuildInfo()
	for _, dependency := range info.Deps {
		if strings.HasSuffix(dependency.Path, "/franz-go") {
			return dependency.Version
		}
	}
	return "unknown"
}

func main() {
	client, err := kgo.NewClient(kgo.SeedBrokers(os.Args[1]), kgo.MetadataMinAge(metadataAge))
	if err != nil {
		panic(err)
	}
	d := &driver{bootstrap: os.Args[1], admin: kadm.NewClient(client), producers: map[string]*kgo.Client{}}
	out := json.NewEncoder(os.Stdout)
	_ = out.Encode(map[string]any{"ok": "franz-go " + version()})
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 256<<20)
	for in.Scan() {
		_ = out.Encode(d.answer(in.Bytes()))
	}
}
