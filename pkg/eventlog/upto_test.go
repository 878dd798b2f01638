package eventlog_test

import (
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/eventlog"
)

// history is a Follow that yields commits at the positions and then ends, with the error where there is one.
func history(err error, positions ...uint64) func(context.Context, uint64) iter.Seq2[eventlog.Commit, error] {
	return func(_ context.Context, after uint64) iter.Seq2[eventlog.Commit, error] {
		return func(yield func(eventlog.Commit, error) bool) {
			for _, p := range positions {
				if p > after && !yield(eventlog.Commit{Position: p}, nil) {
					return
				}
			}
			if err != nil {
				yield(eventlog.Commit{}, err)
			}
		}
	}
}

func positionsOf(commits iter.Seq2[eventlog.Commit, error]) (positions []uint64, err error) {
	for c, e := range commits {
		if e != nil {
			err = e
			continue
		}
		positions = append(positions, c.Position)
	}
	return positions, err
}

func TestUpto(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx          context.Context //nolint:containedctx // it is what is tried
		after, until uint64
		fails        error
		positions    []uint64
		err          error
	}{
		"all":                         {t.Context(), 0, 9, nil, []uint64{2, 5, 9}, nil},
		"not what came since":         {t.Context(), 0, 5, nil, []uint64{2, 5}, nil},
		"from the middle":             {t.Context(), 2, 9, nil, []uint64{5, 9}, nil},
		"nothing, of an empty log":    {t.Context(), 0, 0, nil, nil, nil},
		"nothing, where all is known": {t.Context(), 9, 9, nil, nil, nil},
		"a history too short":         {t.Context(), 0, 12, nil, []uint64{2, 5, 9}, eventlog.ErrUnavailable},
		"a history that breaks":       {t.Context(), 0, 12, broken, []uint64{2, 5, 9}, broken},
		"a context that has ended":    {ended, 0, 12, nil, []uint64{2, 5, 9}, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			positions, err := positionsOf(eventlog.Upto(c.ctx, history(c.fails, 2, 5, 9), c.after, c.until))
			require.ErrorIs(t, err, c.err)
			assert.Equal(t, c.positions, positions)
		})
	}
	for _, err := range eventlog.Upto(t.Context(), history(nil, 2, 5, 9), 0, 9) {
		require.NoError(t, err)
		break // and nothing is yielded after that, which would panic
	}
}
