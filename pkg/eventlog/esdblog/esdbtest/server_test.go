package esdbtest

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func client(t *testing.T, s *Server) *esdb.Client {
	t.Helper()
	config, err := esdb.ParseConnectionString(s.URL())
	require.NoError(t, err)
	config.Logger = esdb.NoopLogging()
	c, err := esdb.NewClient(config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

func started(t *testing.T, o ...Option) *Server {
	t.Helper()
	s, err := Start("127.0.0.1:0", o...)
	require.NoError(t, err)
	t.Cleanup(s.Stop)
	return s
}

func events(n int) []esdb.EventData {
	list := make([]esdb.EventData, n)
	for i := range list {
		list[i] = esdb.EventData{EventID: uuid.New(), EventType: "x", ContentType: esdb.ContentTypeJson, Data: []byte(`{}`)}
	}
	return list
}

func read(t *testing.T, c *esdb.Client, stream string) []*esdb.RecordedEvent {
	t.Helper()
	r, err := c.ReadStream(t.Context(), stream, esdb.ReadStreamOptions{}, 1000)
	require.NoError(t, err)
	defer r.Close()
	var list []*esdb.RecordedEvent
	for {
		e, err := r.Recv()
		var missing *esdb.Error
		if errors.Is(err, io.EOF) || errors.As(err, &missing) && missing.Code() == esdb.ErrorCodeResourceNotFound {
			return list
		}
		require.NoError(t, err)
		list = append(list, e.Event)
	}
}

// TestExpectations holds the double to what is known of the server: where it writes, where it refuses, and where it
// takes a write for the repeat of one.
func TestExpectations(t *testing.T) {
	c := client(t, started(t))
	all := events(4)
	write := func(want esdb.ErrorCode, expected esdb.ExpectedRevision, list ...esdb.EventData) *esdb.WriteResult {
		t.Helper()
		r, err := c.AppendToStream(t.Context(), "a-1", esdb.AppendToStreamOptions{ExpectedRevision: expected}, list...)
		if want == 0 {
			require.NoError(t, err)
			return r
		}
		var failed *esdb.Error
		require.ErrorAs(t, err, &failed)
		require.Equal(t, want, failed.Code())
		return nil
	}
	write(esdb.ErrorCodeWrongExpectedVersion, esdb.StreamExists{}, all[0])
	write(esdb.ErrorCodeWrongExpectedVersion, esdb.Revision(0), all[0])
	require.Empty(t, read(t, c, "a-1"))
	first := write(0, esdb.NoStream{}, all[:2]...)
	require.Equal(t, first, write(0, esdb.NoStream{}, all[:2]...), "the same again is answered alike, and written once")
	require.Len(t, read(t, c, "a-1"), 2)
	write(esdb.ErrorCodeWrongExpectedVersion, esdb.NoStream{}, all[1])
	write(esdb.ErrorCodeWrongExpectedVersion, esdb.Revision(0), all[2])
	second := write(0, esdb.Revision(1), all[2])
	require.Greater(t, second.CommitPosition, first.CommitPosition)
	write(0, esdb.Revision(2), all[0]) // where the expectation is right, ids are not looked at
	write(0, esdb.Any{}, all[3])
	require.Len(t, read(t, c, "a-1"), 5)
}

// TestDurable reads back what a server has kept, and what one has kept that was killed while it wrote.
func TestDurable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "esdb")
	s := started(t, Durable(path))
	_, err := client(t, s).AppendToStream(t.Context(), "a-1", esdb.AppendToStreamOptions{}, events(3)...)
	require.NoError(t, err)
	want := read(t, client(t, s), "a-1")
	s.Stop()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = file.WriteString(`[{"stream":"a-1","revis`)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	for range 2 {
		s = started(t, Durable(path))
		require.Equal(t, want, read(t, client(t, s), "a-1"))
		s.Stop()
	}
	_, err = started(t, Durable(path)).store.file.Stat()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte("not a log\n"), 0o600))
	_, err = Start("127.0.0.1:0", Durable(path))
	require.Error(t, err)
}
