package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Deleting is how long a stream must have been gone before it is made again. While the server deletes one it says already
// that there is none, and a new one of the same name would lose its files to that deletion.
const Deleting = 250 * time.Millisecond

const (
	feedBytes  = 1 << 30 // the feed is a window; who is behind it reads the log
	viewsBytes = 4 << 30
	// pointerBytes is ample for one small record.
	pointerBytes = 1 << 20
)

// feedConfig is the stream FEED.
func feedConfig() jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: FeedStream, Subjects: []string{feedSubjects}, Description: "the log's commits, in order and without gaps",
		MaxBytes: feedBytes, Discard: jetstream.DiscardOld, Storage: jetstream.FileStorage,
		Duplicates: time.Second, AllowDirect: true,
	}
}

// bucketConfig is the stream of a bucket with one value for a key, made by ourselves and not by nats.go's KeyValue
// manager, for that takes what it finds as it is.
func bucketConfig(bucket, description string, most int64) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: streamOf(bucket), Subjects: []string{keyOf(bucket, ">")}, Description: description,
		MaxMsgsPerSubject: 1, MaxBytes: most, Discard: jetstream.DiscardNew, Storage: jetstream.FileStorage,
		AllowRollup: true, DenyDelete: true, AllowDirect: true,
	}
}

// Prepare creates what the services use in JetStream, or finds it there: FEED, the pointer, and the current generation of
// the bucket of views. What is there with settings that would break umpire is neither changed nor used: a *Mismatch.
func Prepare(ctx context.Context, js jetstream.JetStream) error {
	if err := ensure(ctx, js, feedConfig()); err != nil {
		return err
	}
	if err := ensure(ctx, js, pointerConfig()); err != nil {
		return err
	}
	p, err := ReadPointer(ctx, js)
	if err != nil {
		return err
	}
	if p.Closing { // it is sealed, or will be; whoever puts a view there ends the switch
		return nil
	}
	return ensure(ctx, js, viewsConfig(p.Current, true))
}

// ensure sees to it that a stream is as it should be, and makes it where there is none.
func ensure(ctx context.Context, js jetstream.JetStream, want jetstream.StreamConfig) error {
	stream, err := js.Stream(ctx, want.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		stream, err = js.CreateStream(ctx, want)
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another process was quicker, of another version
			stream, err = js.Stream(ctx, want.Name)
		}
	}
	if err != nil {
		return fmt.Errorf("preparing %s: %w", want.Name, err)
	}
	return compare(stream.CachedInfo().Config, want)
}

// Mismatch says that a stream or bucket is there with a setting that umpire can't work with.
type Mismatch struct {
	Stream  string // a bucket's is KV_ and its name
	Setting string
	Has     string
	Wants   string
}

// Error implements error.
func (m *Mismatch) Error() string {
	return fmt.Sprintf("the stream %s has %s %s, and umpire needs %s", m.Stream, m.Setting, m.Has, m.Wants)
}

// compare reports every setting that would break umpire, as *Mismatch errors. Others may be as the operator likes them:
// replicas, placement, compression, the window for duplicates, and more room than ours. Less room in FEED is reported,
// since each service would go back to the log again and again.
func compare(has, want jetstream.StreamConfig) error {
	var found []error
	check := func(setting string, well bool, has, wants any) {
		if !well {
			found = append(found, &Mismatch{want.Name, setting, fmt.Sprint(has), fmt.Sprint(wants)})
		}
	}
	check("subjects", slices.Equal(has.Subjects, want.Subjects), has.Subjects, want.Subjects)
	check("storage", has.Storage == want.Storage, has.Storage, want.Storage)
	check("retention", has.Retention == want.Retention, has.Retention, want.Retention)
	check("discard", has.Discard == want.Discard, has.Discard, want.Discard)
	check("max age", has.MaxAge == 0, has.MaxAge, "none")
	check("max messages", has.MaxMsgs <= 0, has.MaxMsgs, "no limit")
	check("history", max(has.MaxMsgsPerSubject, 0) == want.MaxMsgsPerSubject, has.MaxMsgsPerSubject, noLimit(want.MaxMsgsPerSubject))
	check("max message size", has.MaxMsgSize <= 0 || has.MaxMsgSize >= maxPayload, has.MaxMsgSize, fmt.Sprintf("%d or more", maxPayload))
	if want.Name == FeedStream {
		check("max bytes", has.MaxBytes <= 0 || has.MaxBytes >= want.MaxBytes, has.MaxBytes, fmt.Sprintf("%d or more", want.MaxBytes))
	}
	check("republish", republish(has) == republish(want), republish(has), republish(want))
	check("acknowledgements", !has.NoAck, "off", "on")
	check("seal", !has.Sealed, "on", "off")
	check("mirror", has.Mirror == nil && len(has.Sources) == 0, "another stream's messages", "its own alone")
	check("subject transform", has.SubjectTransform == nil, "set", "none")
	return errors.Join(found...)
}

func noLimit(n int64) any {
	if n == 0 {
		return "no limit"
	}
	return n
}

func republish(c jetstream.StreamConfig) string {
	if c.RePublish == nil {
		return "none"
	}
	if c.RePublish.HeadersOnly {
		return fmt.Sprintf("%s to %s, headers only", c.RePublish.Source, c.RePublish.Destination)
	}
	return fmt.Sprintf("%s to %s", c.RePublish.Source, c.RePublish.Destination)
}
