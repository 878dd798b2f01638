package eventlog

import (
	"context"
	"fmt"
	"iter"
)

// Upto yields the commits behind the position after, up to the one at the position until, which must stand in the log:
// the log as it stood when until was its head. follow is a log's Follow, or what follows one. A history that ends before
// that is an error.
func Upto(
	ctx context.Context, follow func(ctx context.Context, after uint64) iter.Seq2[Commit, error], after, until uint64,
) iter.Seq2[Commit, error] {
	return func(yield func(Commit, error) bool) {
		if after >= until {
			return
		}
		for commit, err := range follow(ctx, after) {
			if !yield(commit, err) || err != nil || commit.Position >= until {
				return
			}
		}
		err := ctx.Err()
		if err == nil {
			err = fmt.Errorf("%w: it ended before its position %d", ErrUnavailable, until)
		}
		yield(Commit{}, err)
	}
}
