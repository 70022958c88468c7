package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// What every member asks for; the same as in ../drivers/lines.py.
const (
	sessionTimeout = 2 * time.Second
	heartbeatEvery = 200 * time.Millisecond
)

// groupMember is the client in a group: the group commands of ../drivers/lines.py.
type groupMember struct {
	client *kgo.Client
	owned  []int32
}

func (d *driver) subscribe(c *command) error {
	m := &groupMember{}
	change := func(add bool) func(context.Context, *kgo.Client, map[string][]int32) {
		return func(_ context.Context, _ *kgo.Client, changed map[string][]int32) {
			for _, partition := range changed[c.Topic] {
				m.owned = slices.DeleteFunc(m.owned, func(known int32) bool { return known == partition })
				if add {
					m.owned = append(m.owned, partition)
				}
			}
		}
	}
	options := []kgo.Opt{
		kgo.SeedBrokers(d.bootstrap),
		kgo.ConsumerGroup(c.Group), kgo.ConsumeTopics(c.Topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.DisableAutoCommit(), kgo.BlockRebalanceOnPoll(),
		kgo.FetchMaxWait(100 * time.Millisecond),
		kgo.MetadataMaxAge(time.Second), kgo.MetadataMinAge(100 * time.Millisecond),
		kgo.SessionTimeout(sessionTimeout), kgo.HeartbeatInterval(heartbeatEvery), kgo.RebalanceTimeout(30 * time.Second),
		kgo.OnPartitionsAssigned(change(true)), kgo.OnPartitionsRevoked(change(false)), kgo.OnPartitionsLost(change(false)),
	}
	switch {
	case c.Protocol == "consumer":
		options = append(options, kgo.ServerSideBalancer(), kgo.Balancers(kgo.StickyBalancer()))
	case c.Assignor == "cooperative":
		options = append(options, kgo.Balancers(kgo.CooperativeStickyBalancer()))
	default:
		options = append(options, kgo.Balancers(kgo.RangeBalancer()))
	}
	if c.Instance != "" {
		options = append(options, kgo.InstanceID(c.Instance))
	}
	client, err := kgo.NewClient(options...)
	m.client = client
	d.member = m
	return err
}

func (m *groupMember) poll(ms int) (any, error) {
	records := [][3]any{}
	deadline := time.Now().Add(time.Duration(ms) * time.Millisecond)
	for time.Now().Before(deadline) {
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		fetches := m.client.PollFetches(ctx)
		cancel()
		fetches.EachRecord(func(r *kgo.Record) { records = append(records, [3]any{r.Partition, r.Offset, r.Value}) })
		m.client.AllowRebalance()
		for _, failed := range fetches.Errors() {
			if !errors.Is(failed.Err, context.DeadlineExceeded) {
				var fenced *kgo.ErrGroupSession
				if !errors.As(failed.Err, &fenced) {
					return nil, failed.Err
				}
			}
		}
	}
	owned := slices.Clone(m.owned)
	slices.Sort(owned)
	if owned == nil {
		owned = []int32{}
	}
	return map[string]any{"owned": owned, "records": records}, nil
}
