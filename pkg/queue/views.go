package queue

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// The bucket of views has generations: VIEWS, then VIEWS-2, VIEWS-3 and so on. One is current: the projectors put views
// there, and it republishes them to view.ID. A rebuild fills the next one, which says nothing until it takes over. Which
// is which stands in the pointer, a record that is only ever changed by compare-and-set. A generation's name is used once.

const (
	pointerBucket = "UMPIRE"
	pointerKey    = "views"
)

// Pointer says which generation of the bucket of views is current.
type Pointer struct {
	Current  string `json:"current"`
	Building string `json:"building,omitempty"` // the next generation
	Position uint64 `json:"position,omitempty"` // of the log, up to which the next generation has all views
	// Closing says that the next generation has caught up: whoever sees it may end the switch. From here on, and not
	// before, the current generation may be found sealed.
	Closing bool `json:"closing,omitempty"`

	seq uint64 // in the bucket; 0 for a pointer that was never written
}

// ErrMoved means that another process has changed the pointer.
var ErrMoved = errors.New("queue: another process has changed which views are current")

func pointerConfig() jetstream.StreamConfig {
	return bucketConfig(pointerBucket, "which generation of the views is current", pointerBytes)
}

// ReadPointer returns the pointer; where none was written yet, the first generation is current.
func ReadPointer(ctx context.Context, js jetstream.JetStream) (Pointer, error) {
	first := Pointer{Current: ViewsBucket}
	kv, err := js.KeyValue(ctx, pointerBucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		return first, nil
	}
	var entry jetstream.KeyValueEntry
	if err == nil {
		entry, err = kv.Get(ctx, pointerKey)
	}
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return first, nil
	}
	if err != nil {
		return Pointer{}, fmt.Errorf("reading which views are current: %w", err)
	}
	p := Pointer{seq: entry.Revision()}
	if err := json.Unmarshal(entry.Value(), &p); err != nil || GenerationOf(p.Current) == 0 {
		return Pointer{}, fmt.Errorf("key %s of the bucket %s names no bucket of views", pointerKey, pointerBucket)
	}
	return p, nil
}

// Save writes the pointer over the one that it was read as, and returns it as it then stands. Errors: ErrMoved, also where
// the broker has lost what was read.
func (p Pointer) Save(ctx context.Context, js jetstream.JetStream) (Pointer, error) {
	if p.seq == 0 {
		if err := ensure(ctx, js, pointerConfig()); err != nil {
			return p, err
		}
	}
	kv, err := js.KeyValue(ctx, pointerBucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		return p, ErrMoved
	}
	if err != nil {
		return p, fmt.Errorf("writing which views are current: %w", err)
	}
	data, err := json.Marshal(p)
	if err != nil {
		return p, fmt.Errorf("writing which views are current: %w", err)
	}
	seq, err := kv.Update(ctx, pointerKey, data, p.seq)
	if Outrun(err) {
		return p, ErrMoved
	}
	if err != nil {
		return p, fmt.Errorf("writing which views are current: %w", err)
	}
	p.seq = seq
	return p, nil
}

// GenerationOf returns the number of a generation by its bucket's name, 0 for another bucket's.
func GenerationOf(bucket string) int {
	if bucket == ViewsBucket {
		return 1
	}
	digits, ok := strings.CutPrefix(bucket, ViewsBucket+"-")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 2 || Generation(n) != bucket {
		return 0
	}
	return n
}

// Generation returns the name of a generation's bucket.
func Generation(n int) string {
	if n == 1 {
		return ViewsBucket
	}
	return ViewsBucket + "-" + strconv.Itoa(n)
}

// streamOf is the stream of a bucket, and keyOf the subject of one of its keys, as NATS lays them down.
func streamOf(bucket string) string { return "KV_" + bucket }

func keyOf(bucket, key string) string { return "$KV." + bucket + "." + key }

// viewsConfig is the stream of a generation; one that is being built is silent.
func viewsConfig(bucket string, current bool) jetstream.StreamConfig {
	c := bucketConfig(bucket, "the public view of each match", viewsBytes)
	if current {
		c.RePublish = &jetstream.RePublish{Source: keyOf(bucket, "*"), Destination: "view.{{wildcard(1)}}"}
	}
	return c
}

// Views is a generation of the bucket of views.
type Views struct {
	Name    string
	KV      jetstream.KeyValue
	Sealed  bool
	Created time.Time // tells a bucket from another that was made in its place
	Values  uint64    // how many views it has; never fewer than before, unless some were lost
	Last    uint64    // the sequence of its last put
}

// OpenViews opens a generation. Errors: jetstream.ErrStreamNotFound.
func OpenViews(ctx context.Context, js jetstream.JetStream, bucket string) (*Views, error) {
	stream, err := js.Stream(ctx, streamOf(bucket))
	if err != nil {
		return nil, fmt.Errorf("opening the bucket %s: %w", bucket, err)
	}
	kv, err := js.KeyValue(ctx, bucket)
	if err != nil {
		return nil, fmt.Errorf("opening the bucket %s: %w", bucket, err)
	}
	return viewsOf(bucket, kv, stream.CachedInfo()), nil
}

func viewsOf(bucket string, kv jetstream.KeyValue, info *jetstream.StreamInfo) *Views {
	return &Views{
		Name: bucket, KV: kv, Sealed: info.Config.Sealed, Created: info.Created, Values: info.State.Msgs, Last: info.State.LastSeq,
	}
}

// MakeViews opens a generation and makes it where there is none: one that republishes, or a silent one.
func MakeViews(ctx context.Context, js jetstream.JetStream, bucket string, current bool) (*Views, error) {
	v, err := OpenViews(ctx, js, bucket)
	if !errors.Is(err, jetstream.ErrStreamNotFound) {
		return v, err
	}
	if err := ensure(ctx, js, viewsConfig(bucket, current)); err != nil {
		return nil, err
	}
	return OpenViews(ctx, js, bucket)
}

// Generations lists the generations that there are, whatever state they are in.
func Generations(ctx context.Context, js jetstream.JetStream) (buckets []string, err error) {
	names := js.StreamNames(ctx, jetstream.WithStreamListSubject(keyOf("*", ">")))
	for name := range names.Name() {
		if bucket := strings.TrimPrefix(name, streamOf("")); GenerationOf(bucket) > 0 {
			buckets = append(buckets, bucket)
		}
	}
	if err := names.Err(); err != nil {
		return nil, fmt.Errorf("listing the buckets of views: %w", err)
	}
	return buckets, nil
}

// DropViews deletes a generation.
func DropViews(ctx context.Context, js jetstream.JetStream, bucket string) error {
	if err := js.DeleteStream(ctx, streamOf(bucket)); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return fmt.Errorf("deleting the bucket %s: %w", bucket, err)
	}
	return nil
}

// RevisionOf is a stored view's revision; what can't be read is older than any view.
func RevisionOf(view []byte) int64 {
	head := struct {
		Revision int64 `json:"revision"`
	}{-1}
	if err := json.Unmarshal(view, &head); err != nil {
		return -1
	}
	return head.Revision
}

// Outrun reports whether a put was refused because another came first.
func Outrun(err error) bool {
	return errors.Is(err, jetstream.ErrKeyExists) || errors.Is(err, jetstream.ErrKeyRevisionMismatch)
}

// Sealed reports whether a put was refused because the bucket is sealed: its generation is over.
func Sealed(err error) bool {
	var refused *jetstream.APIError
	return errors.As(err, &refused) && refused.ErrorCode == streamSealed
}

// streamSealed is the server's code for it.
const streamSealed = 10109

// Put is what stands in a bucket after a view was put there.
type Put struct {
	Seq      uint64
	Revision int64
	Did      bool // false: it stood there already, or a newer one
}

// putTries bounds how often another process may come between reading and writing a view before it is put off.
const putTries = 10

// PutView keeps a view in a bucket unless a newer one stands there: another process may be ahead of this one. Where only
// is set, one of the same revision stays too, whatever it shows.
func PutView(ctx context.Context, kv jetstream.KeyValue, match string, revision int64, view []byte, only bool) (Put, error) {
	var err error
	for range putTries {
		var was jetstream.KeyValueEntry
		var seq uint64
		was, err = kv.Get(ctx, match)
		switch {
		case errors.Is(err, jetstream.ErrKeyNotFound):
			seq, err = kv.Create(ctx, match, view)
		case err == nil:
			stands := RevisionOf(was.Value())
			if stands > revision || stands == revision && (only || bytes.Equal(was.Value(), view)) {
				return Put{was.Revision(), stands, false}, nil
			}
			seq, err = kv.Update(ctx, match, view, was.Revision())
		}
		if err == nil {
			return Put{seq, revision, true}, nil
		}
		if !Outrun(err) {
			return Put{}, err
		}
	}
	return Put{}, err
}
