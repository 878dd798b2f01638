package queue_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/queue"
)

// streamOf is a stream's configuration as Prepare made it.
func streamOf(t *testing.T, js jetstream.JetStream, name string) jetstream.StreamConfig {
	t.Helper()
	stream, err := js.Stream(t.Context(), name)
	require.NoError(t, err)
	return stream.CachedInfo().Config
}

// TestPrepareTakesNothingThatWouldBreakIt: what is there already is reported, setting by setting, and left as it is.
func TestPrepareTakesNothingThatWouldBreakIt(t *testing.T) {
	t.Parallel()
	js := jets(t, embedded(t))
	require.NoError(t, queue.Prepare(t.Context(), js))
	for _, c := range []struct {
		setting string
		streams []string
		change  func(*jetstream.StreamConfig)
	}{
		{"subjects", []string{"FEED", "KV_VIEWS", "KV_UMPIRE"}, func(c *jetstream.StreamConfig) { c.Subjects = append(c.Subjects, "other."+c.Name) }},
		{"storage", []string{"FEED", "KV_VIEWS", "KV_UMPIRE"}, func(c *jetstream.StreamConfig) { c.Storage = jetstream.MemoryStorage }},
		{"retention", []string{"FEED", "KV_VIEWS"}, func(c *jetstream.StreamConfig) { c.Retention = jetstream.WorkQueuePolicy }},
		{"retention", []string{"FEED", "KV_VIEWS"}, func(c *jetstream.StreamConfig) { c.Retention = jetstream.InterestPolicy }},
		{"discard", []string{"FEED"}, func(c *jetstream.StreamConfig) { c.Discard = jetstream.DiscardNew }},
		{"discard", []string{"KV_VIEWS"}, func(c *jetstream.StreamConfig) { c.Discard = jetstream.DiscardOld }},
		{"max age", []string{"FEED", "KV_VIEWS", "KV_UMPIRE"}, func(c *jetstream.StreamConfig) { c.MaxAge = time.Hour }},
		{"max messages", []string{"FEED", "KV_VIEWS"}, func(c *jetstream.StreamConfig) { c.MaxMsgs = 1000 }},
		{"history", []string{"FEED"}, func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = 1 }},
		{"history", []string{"KV_VIEWS"}, func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = 5 }},
		{"max message size", []string{"FEED", "KV_VIEWS"}, func(c *jetstream.StreamConfig) { c.MaxMsgSize = 1000 }},
		{"max bytes", []string{"FEED"}, func(c *jetstream.StreamConfig) { c.MaxBytes = 1 << 20 }},
		{"republish", []string{"KV_VIEWS"}, func(c *jetstream.StreamConfig) { c.RePublish = nil }},
		{"republish", []string{"KV_VIEWS"}, func(c *jetstream.StreamConfig) { c.RePublish.Destination = "other.{{wildcard(1)}}" }},
		{"republish", []string{"KV_VIEWS"}, func(c *jetstream.StreamConfig) { c.RePublish.HeadersOnly = true }},
		{"republish", []string{"FEED"}, func(c *jetstream.StreamConfig) {
			c.RePublish = &jetstream.RePublish{Source: "feed.>", Destination: "copy.>"}
		}},
		{"acknowledgements", []string{"FEED"}, func(c *jetstream.StreamConfig) { c.NoAck = true }},
		{"seal", []string{"FEED", "KV_VIEWS"}, func(c *jetstream.StreamConfig) { c.Sealed = true }},
		{"mirror", []string{"FEED"}, func(c *jetstream.StreamConfig) { c.Sources = []*jetstream.StreamSource{{Name: "OTHER"}} }},
		{"subject transform", []string{"FEED"}, func(c *jetstream.StreamConfig) {
			c.SubjectTransform = &jetstream.SubjectTransformConfig{Source: "feed.>", Destination: "feed.other.>"}
		}},
	} {
		for _, name := range c.streams {
			t.Run(c.setting+" of "+name, func(t *testing.T) {
				want := streamOf(t, js, name)
				require.NoError(t, js.DeleteStream(t.Context(), name))
				changed := want
				if want.RePublish != nil {
					republish := *want.RePublish
					changed.RePublish = &republish
				}
				c.change(&changed)
				sealed := changed.Sealed
				changed.Sealed = false // none can be made so
				_, err := js.CreateStream(t.Context(), changed)
				require.NoError(t, err)
				if changed.Sealed = sealed; sealed {
					_, err = js.UpdateStream(t.Context(), changed)
					require.NoError(t, err)
				}
				has := streamOf(t, js, name)

				err = queue.Prepare(t.Context(), js)
				var mismatches []*queue.Mismatch
				for _, err := range err.(interface{ Unwrap() []error }).Unwrap() {
					var m *queue.Mismatch
					require.ErrorAs(t, err, &m)
					mismatches = append(mismatches, m)
					assert.Equal(t, name, m.Stream)
					assert.NotEqual(t, m.Has, m.Wants)
					for _, part := range []string{name, m.Setting, m.Has, m.Wants} {
						assert.Contains(t, m.Error(), part)
					}
				}
				assert.Condition(t, func() bool {
					for _, m := range mismatches {
						if m.Setting == c.setting {
							return true
						}
					}
					return false
				}, "%v", err)
				assert.Equal(t, has, streamOf(t, js, name), "it is left as it is")

				require.NoError(t, js.DeleteStream(t.Context(), name))
				require.NoError(t, queue.Prepare(t.Context(), js))
			})
		}
	}
}

// TestPrepareLeavesTheOperatorHisChoices where they do no harm.
func TestPrepareLeavesTheOperatorHisChoices(t *testing.T) {
	t.Parallel()
	js := jets(t, embedded(t))
	require.NoError(t, queue.Prepare(t.Context(), js))
	for _, change := range []func(c *jetstream.StreamConfig){
		func(c *jetstream.StreamConfig) { c.MaxBytes = 2 << 30 },
		func(c *jetstream.StreamConfig) { c.MaxBytes = -1 },
		func(c *jetstream.StreamConfig) { c.Duplicates = 2 * time.Minute },
		func(c *jetstream.StreamConfig) { c.Description = "ours" },
		func(c *jetstream.StreamConfig) { c.MaxMsgSize = 4 << 20 },
		func(c *jetstream.StreamConfig) { c.Compression = jetstream.S2Compression },
	} {
		for _, name := range []string{"FEED", "KV_VIEWS"} {
			config := streamOf(t, js, name)
			change(&config)
			_, err := js.UpdateStream(t.Context(), config)
			require.NoError(t, err)
			config = streamOf(t, js, name)
			require.NoError(t, queue.Prepare(t.Context(), js))
			assert.Equal(t, config, streamOf(t, js, name))
		}
	}
}

// TestPrepareFindsTheCurrentGeneration and does not make the first one again.
func TestPrepareFindsTheCurrentGeneration(t *testing.T) {
	t.Parallel()
	js := jets(t, embedded(t))
	_, err := queue.Pointer{Current: "VIEWS-3", Building: "VIEWS-4"}.Save(t.Context(), js)
	require.NoError(t, err)
	require.NoError(t, queue.Prepare(t.Context(), js))
	buckets, err := queue.Generations(t.Context(), js)
	require.NoError(t, err)
	assert.Equal(t, []string{"VIEWS-3"}, buckets)

	p, err := queue.ReadPointer(t.Context(), js)
	require.NoError(t, err)
	p.Closing = true
	_, err = p.Save(t.Context(), js)
	require.NoError(t, err)
	config := streamOf(t, js, "KV_VIEWS-3")
	config.Sealed = true
	_, err = js.UpdateStream(t.Context(), config)
	require.NoError(t, err)
	require.NoError(t, queue.Prepare(t.Context(), js), "a switch is under way, and whoever puts a view ends it")
}
