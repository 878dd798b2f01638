package services_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/queue"
)

// broker is a server started with deploy/nats/nats.conf and passwords that the runbook's commands made.
type broker struct {
	server *server.Server
	dir    string // of the passwords
}

func startBroker(t *testing.T) *broker {
	t.Helper()
	b := &broker{dir: passwords(t)}
	folder := t.TempDir()
	for file, text := range map[string]string{
		"nats.conf":      read(t, "deploy/nats/nats.conf"),
		"passwords.conf": b.password(t, "nats-passwords.conf"),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600))
	}
	options, err := server.ProcessConfigFile(filepath.Join(folder, "nats.conf"))
	require.NoError(t, err)
	assert.Equal(t, "/data", options.StoreDir, "where the volume is mounted")
	assert.Equal(t, 4222, options.Port)
	assert.Equal(t, "127.0.0.1", options.HTTPHost, "what tells of all connections is for the container alone")
	options.Host, options.Port, options.HTTPPort = "127.0.0.1", server.RANDOM_PORT, 0
	options.StoreDir, options.NoSigs, options.NoLog = t.TempDir(), true, true
	b.server, err = server.NewServer(options)
	require.NoError(t, err)
	b.server.Start()
	t.Cleanup(func() { b.server.Shutdown(); b.server.WaitForShutdown() })
	require.True(t, b.server.ReadyForConnections(10*time.Second))
	return b
}

func (b *broker) password(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(b.dir, file))
	require.NoError(t, err)
	return strings.TrimSpace(string(text))
}

// client is a connection, and what the server forbade it.
type client struct {
	*nats.Conn
	forbidden chan string
}

func (b *broker) connect(t *testing.T, user string) *client {
	t.Helper()
	c := &client{forbidden: make(chan string, 16)}
	var err error
	c.Conn, err = nats.Connect(b.server.ClientURL(), nats.UserInfo(user, b.password(t, "nats-"+user)),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { c.forbidden <- err.Error() }))
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// refused wants the server to forbid what act does.
func (c *client) refused(t *testing.T, what string, act func() error) {
	t.Helper()
	err := act()
	if err == nil {
		err = c.Flush()
	}
	require.NoError(t, err)
	select {
	case told := <-c.forbidden:
		assert.Contains(t, strings.ToLower(told), "permissions violation", what)
	case <-time.After(10 * time.Second):
		assert.Fail(t, "the server does not forbid "+what)
	}
}

func next(t *testing.T, sub *nats.Subscription) *nats.Msg {
	t.Helper()
	msg, err := sub.NextMsg(10 * time.Second)
	require.NoError(t, err, sub.Subject)
	return msg
}

// TestServicesMayDoTheirWork: they connect as a container does, and make what they need.
func TestServicesMayDoTheirWork(t *testing.T) {
	b := startBroker(t)
	nc, err := queue.Dial(queue.Outside{
		URL: b.server.ClientURL(), User: "services", PasswordFile: filepath.Join(b.dir, "nats-services"),
	}, "test")
	require.NoError(t, err, "which also refuses a max_payload that is too small")
	defer nc.Close()
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	require.NoError(t, queue.Prepare(ctx, js), "streams and buckets fit into the account's limits")
	_, err = queue.MakeViews(ctx, js, queue.Generation(2), false)
	require.NoError(t, err, "and so do the views that a rebuild makes")
	_, err = js.Publish(ctx, queue.FeedSubject("match-abc"), make([]byte, 1<<20), jetstream.WithExpectLastSequence(0))
	require.NoError(t, err, "the largest commit goes through")
	_, err = nats.Connect(b.server.ClientURL())
	require.ErrorIs(t, err, nats.ErrAuthorization, "nobody without a password")
}

// TestDashboardsSeeWhatIsPublic: feeds, views as they are put, and a view when asked for, across accounts.
func TestDashboardsSeeWhatIsPublic(t *testing.T) {
	b := startBroker(t)
	services, dashboard := b.connect(t, "services"), b.connect(t, "dashboard")
	js, err := jetstream.New(services.Conn)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	require.NoError(t, queue.Prepare(ctx, js))
	stop, err := queue.Serve(ctx, services.Conn, "projector", "shows", queue.Reply{Status: 503}, queue.Endpoint{
		Subject: queue.View, Handle: func(_ context.Context, h nats.Header, _ []byte) queue.Reply {
			return queue.Reply{Status: 404, Body: []byte(h.Get(queue.HeaderMatch))}
		},
	})
	require.NoError(t, err)
	defer func() { assert.NoError(t, stop()) }()

	views, err := dashboard.SubscribeSync("view.*")
	require.NoError(t, err)
	public, err := dashboard.SubscribeSync("public.*")
	require.NoError(t, err)
	require.NoError(t, dashboard.Flush())
	bucket, err := js.KeyValue(ctx, queue.ViewsBucket)
	require.NoError(t, err)
	_, err = bucket.Put(ctx, "abc", []byte("a view"))
	require.NoError(t, err)
	require.NoError(t, services.Publish(queue.PublicSubject("abc"), []byte("an event")))
	assert.Equal(t, "a view", string(next(t, views).Data))
	assert.Equal(t, queue.PublicSubject("abc"), next(t, public).Subject)

	reply, err := queue.Request(ctx, dashboard.Conn, queue.View, nats.Header{queue.HeaderMatch: {"abc"}}, nil)
	require.NoError(t, err)
	assert.Equal(t, queue.Reply{Status: 404, Body: []byte("abc")}, reply, "headers go both ways")
	assert.Empty(t, dashboard.forbidden)
}

// TestDashboardsSeeNothingElse: no other subject, no JetStream, no inbox of another account.
func TestDashboardsSeeNothingElse(t *testing.T) {
	b := startBroker(t)
	services, dashboard := b.connect(t, "services"), b.connect(t, "dashboard")
	for _, subject := range []string{">", "feed.>", "feed.match.abc", "tick.*", "umpire.>", "umpire.dead.resolver", "$KV.VIEWS.>", "$SYS.>", "*.*"} {
		dashboard.refused(t, "to read "+subject, func() error {
			_, err := dashboard.SubscribeSync(subject)
			return err
		})
	}
	for _, subject := range []string{
		"feed.match.abc", "view.abc", "public.abc", queue.Submit, queue.Control, queue.Events, queue.Matches, "$KV.VIEWS.abc",
		"$JS.API.INFO", "$JS.API.STREAM.NAMES", "$JS.API.STREAM.CREATE.X", "$JS.API.STREAM.INFO.KV_VIEWS",
		"$JS.API.DIRECT.GET.KV_VIEWS.$KV.VIEWS.abc", "$JS.API.CONSUMER.CREATE.FEED", "$SYS.REQ.SERVER.PING",
	} {
		dashboard.refused(t, "to publish to "+subject, func() error { return dashboard.Publish(subject, nil) })
	}
	inbox, err := dashboard.SubscribeSync("_INBOX.>")
	require.NoError(t, err, "its own replies come there")
	public, err := dashboard.SubscribeSync("public.*")
	require.NoError(t, err)
	require.NoError(t, dashboard.Flush())
	require.NoError(t, services.Publish("_INBOX.of.services", []byte("a private view")))
	require.NoError(t, services.Publish("public.abc", []byte("what comes after it")))
	next(t, public)
	count, _, err := inbox.Pending()
	require.NoError(t, err)
	assert.Zero(t, count, "replies to services stay in their account")
}

// TestTheMonitorOnlyLooks: it may ask how the server is, and neither stop it nor read what it carries.
func TestTheMonitorOnlyLooks(t *testing.T) {
	b := startBroker(t)
	monitor := b.connect(t, "monitor")
	for _, subject := range []string{"$SYS.REQ.SERVER.PING", "$SYS.REQ.SERVER.PING.JSZ", "$SYS.REQ.SERVER." + b.server.ID() + ".HEALTHZ"} {
		reply, err := monitor.Request(subject, nil, 10*time.Second)
		require.NoError(t, err, subject)
		assert.Contains(t, string(reply.Data), `"server"`)
	}
	for _, verb := range []string{"RELOAD", "KICK", "LDM", "PROFILEZ"} {
		monitor.refused(t, verb, func() error { return monitor.Publish("$SYS.REQ.SERVER."+b.server.ID()+"."+verb, nil) })
	}
	monitor.refused(t, "to read all", func() error {
		_, err := monitor.SubscribeSync(">")
		return err
	})
}
