package memlog_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/eventlogtest"
	"umpire/pkg/eventlog/memlog"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestContract(t *testing.T) {
	eventlogtest.Run(t, eventlogtest.Harness{Open: func(t *testing.T) eventlog.Log {
		t.Helper()
		log := memlog.New()
		t.Cleanup(func() { require.NoError(t, log.Close()) })
		return log
	}})
}

func TestNewLogIsEmpty(t *testing.T) {
	head, err := memlog.New().Head(t.Context())
	require.NoError(t, err)
	require.Zero(t, head)
}
