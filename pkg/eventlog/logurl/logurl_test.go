package logurl

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/memlog"
	"umpire/pkg/eventlog/sqlitelog"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]URL{
		"sqlite:umpire.db":                  {Kind: SQLite, File: "umpire.db"},
		"sqlite:/var/lib/umpire/umpire.db":  {Kind: SQLite, File: "/var/lib/umpire/umpire.db"},
		`sqlite:C:\umpire\umpire.db`:        {Kind: SQLite, File: `C:\umpire\umpire.db`},
		"sqlite:team@2:a.db":                {Kind: SQLite, File: "team@2:a.db"},
		"memory:":                           {Kind: Memory},
		"esdb://localhost:2113?tls=false":   {Kind: EventStoreDB},
		"esdb://u:p@a:2113,b:2113,c:2113":   {Kind: EventStoreDB},
		"esdb+discover://u:p@nodes.example": {Kind: EventStoreDB},
	} {
		t.Run(text, func(t *testing.T) {
			u, err := Parse(text)
			require.NoError(t, err)
			assert.Equal(t, text, u.text)
			u.text = ""
			assert.Equal(t, want, u)
		})
	}
	for _, text := range []string{
		"", ":", "sqlite", "sqlite:", "memory", "memory:x", "memory://", "umpire.db", "/var/lib/umpire.db", "SQLITE:x", " sqlite:x",
		"esdb", "esdb:", "esdb:localhost:2113", "esdb://", "esdb+discover://", "esdb+discovery://host", "postgres://host/db", "nats://host",
	} {
		t.Run("not "+text, func(t *testing.T) {
			_, err := Parse(text)
			require.ErrorIs(t, err, ErrURL)
			assert.Contains(t, err.Error(), "sqlite:FILE")
			assert.Contains(t, err.Error(), "esdb://")
			assert.Contains(t, err.Error(), fmt.Sprintf("%q", text))
			_, err = Open(t.Context(), text)
			assert.ErrorIs(t, err, ErrURL)
		})
	}
}

func TestRedact(t *testing.T) {
	for text, want := range map[string]string{
		"sqlite:team@2.db":                    "sqlite:team@2.db",
		"memory:":                             "memory:",
		"esdb://host:2113?tls=false":          "esdb://host:2113?tls=false",
		"esdb://admin:secret@host:2113":       "esdb://***@host:2113",
		"esdb+discover://admin:secret@a,b":    "esdb+discover://***@a,b",
		"esdb://admin:se/cr?e#t@host":         "esdb://***@host",
		"esdb://admin:secret@x@host?a=b":      "esdb://***@host?a=b",
		"esdb://token@host":                   "esdb://***@host",
		"esdb:admin:secret@host":              "***@host",
		"admin:secret@host:2113":              "***@host:2113",
		"sqlite://admin:secret@host/umpire":   "sqlite://***@host/umpire",
		"postgres://admin:secret@host/umpire": "postgres://***@host/umpire",
	} {
		assert.Equal(t, want, Redact(text))
	}
	u, err := Parse("esdb://admin:secret@host:2113")
	require.NoError(t, err)
	assert.Equal(t, "esdb://***@host:2113", u.String())
	assert.Equal(t, "esdb://***@host:2113", fmt.Sprint(u))
	_, err = Parse("esdb:admin:secret@host")
	require.ErrorIs(t, err, ErrURL)
	assert.NotContains(t, err.Error(), "secret")
}

func TestOpen(t *testing.T) {
	log, err := Open(t.Context(), "memory:")
	require.NoError(t, err)
	assert.IsType(t, &memlog.Log{}, log)
	require.NoError(t, log.Close())

	file := filepath.Join(t.TempDir(), "umpire.db")
	log, err = Open(t.Context(), "sqlite:"+file)
	require.NoError(t, err)
	assert.IsType(t, &sqlitelog.Log{}, log)
	again, err := Open(t.Context(), "sqlite:"+file)
	require.Error(t, err)
	require.NotErrorIs(t, err, ErrURL, "the name is well; the file is in use")
	assert.Nil(t, again)
	require.NoError(t, log.Close())

	_, err = URL{}.Open(t.Context())
	require.ErrorIs(t, err, ErrURL)
}

// opener stands in for EventStoreDB's until the test ends.
func opener(t *testing.T, open func(url string) (eventlog.Log, error)) {
	t.Helper()
	before := openEventStoreDB
	openEventStoreDB = func(_ context.Context, url string) (eventlog.Log, error) { return open(url) }
	t.Cleanup(func() { openEventStoreDB = before })
}

func TestEventStoreDBGetsTheURLWhole(t *testing.T) {
	const text = "esdb+discover://admin:s%40cret@host:2113?tls=false"
	given := ""
	opener(t, func(url string) (eventlog.Log, error) { given = url; return memlog.New(), nil })
	log, err := Open(t.Context(), text)
	require.NoError(t, err)
	require.NoError(t, log.Close())
	assert.Equal(t, text, given)
}

// TestErrorsTellNoPassword: whoever made an error may have quoted the URL, whole or in parts.
func TestErrorsTellNoPassword(t *testing.T) {
	for name, says := range map[string]string{
		"the URL":           `parse "esdb://admin:s%40cret@host:2113": no such host`,
		"its authority":     `dial admin:s%40cret@host:2113: refused`,
		"resolved":          `user admin:s@cret is not known`,
		"the password":      `wrong password "s%40cret"`,
		"resolved password": `wrong password "s@cret"`,
	} {
		t.Run(name, func(t *testing.T) {
			opener(t, func(string) (eventlog.Log, error) { return nil, fmt.Errorf("%w: %s", eventlog.ErrUnavailable, says) })
			log, err := Open(t.Context(), "esdb://admin:s%40cret@host:2113")
			require.ErrorIs(t, err, eventlog.ErrUnavailable)
			assert.Nil(t, log)
			assert.NotContains(t, strings.ToLower(err.Error()), "cret")
			assert.Contains(t, err.Error(), hidden)
		})
	}
	plain := errors.New("no such host")
	opener(t, func(string) (eventlog.Log, error) { return nil, plain })
	for _, text := range []string{"esdb://host", "esdb://@host", "esdb://admin@host", "esdb://admin:@host", "esdb://a:p%zz@host"} {
		_, err := Open(t.Context(), text)
		assert.Equal(t, plain, err)
	}
}
