package projector

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"

	"umpire/pkg/view"
)

// page bounds one answer to a question for a feed, in bytes of its events; the next question goes on behind it.
const page = 256 << 10

// Events returns a page of a match's feed, as newline-delimited JSON, for the audience that the token allows: the events
// behind the revision q.After, none when there are no more.
func (s *Service) Events(ctx context.Context, bearer, id string, q *Question) (any, error) {
	m, audience, err := s.admit(ctx, bearer, id, q)
	if err != nil {
		return nil, err
	}
	from := uint64(0)
	if q.After != nil {
		if *q.After == math.MaxUint64 {
			return []byte{}, nil
		}
		from = *q.After + 1
	}
	var out bytes.Buffer
	lines := json.NewEncoder(&out)
	lines.SetEscapeHTML(false)
	keys := s.Journal.Keys(id)
	for r, err := range s.Journal.Events(ctx, id, from) {
		if err != nil {
			return nil, err
		}
		shown, err := view.EventFor(keys, &r, view.Of(m, audience))
		if err != nil {
			return nil, fmt.Errorf("the feed of match %s: %w", id, err)
		}
		before := out.Len()
		if err := lines.Encode(shown); err != nil {
			return nil, fmt.Errorf("the feed of match %s: %w", id, err)
		}
		if out.Len() > page && before > 0 {
			out.Truncate(before)
			break
		}
	}
	return out.Bytes(), nil
}
