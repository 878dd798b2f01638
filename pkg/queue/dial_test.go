package queue_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/eventlog"
	"umpire/pkg/queue"
)

// secret is a password that no error may tell.
const secret = "tell-nobody-this"

// outside starts a server that listens, and returns its host and port.
func outside(t *testing.T, change func(*server.Options)) string {
	t.Helper()
	o := &server.Options{
		ServerName: "outside", NoSigs: true, NoLog: true, Host: "127.0.0.1", Port: server.RANDOM_PORT, MaxPayload: 8 << 20,
	}
	if change != nil {
		change(o)
	}
	s, err := server.NewServer(o)
	require.NoError(t, err)
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	require.True(t, s.ReadyForConnections(patience))
	return s.Addr().String()
}

// file writes a file and returns its path.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// works demands that a connection can be used, and closes it.
func works(t *testing.T, o queue.Outside) {
	t.Helper()
	nc, err := queue.Dial(o, "umpire-test")
	require.NoError(t, err)
	defer nc.Close()
	require.NoError(t, nc.FlushTimeout(patience))
}

// fails demands an error, which holds no password.
func fails(t *testing.T, o queue.Outside) error {
	t.Helper()
	nc, err := queue.Dial(o, "umpire-test")
	if err == nil {
		nc.Close()
	}
	require.Error(t, err)
	assert.NotContains(t, err.Error(), secret)
	return err
}

func withPassword(o *server.Options) { o.Username, o.Password = "umpire", secret }

func TestDial(t *testing.T) {
	open, closed := outside(t, nil), outside(t, withPassword)
	password := file(t, "password", secret+"\n")
	works(t, queue.Outside{URL: "nats://" + open})
	works(t, queue.Outside{URL: "nats://127.0.0.1:1,nats://" + open})
	works(t, queue.Outside{URL: "nats://" + closed, User: "umpire", PasswordFile: password})
	works(t, queue.Outside{URL: "nats://umpire:" + secret + "@" + closed})
}

// TestDialKeepsOn: a connection comes back by itself, and has a name to be found by.
func TestDialKeepsOn(t *testing.T) {
	nc, err := queue.Dial(queue.Outside{URL: "nats://" + outside(t, nil)}, "umpire-timer")
	require.NoError(t, err)
	defer nc.Close()
	assert.Equal(t, "umpire-timer", nc.Opts.Name)
	assert.Negative(t, nc.Opts.MaxReconnect)
	assert.True(t, nc.Opts.IgnoreAuthErrorAbort, "an operator may change a password while umpire runs")
	assert.Less(t, nc.Opts.PingInterval, time.Minute)
	require.NoError(t, nc.ForceReconnect())
	require.Eventually(t, func() bool { return nc.Stats().Reconnects == 1 && nc.IsConnected() }, patience, tick)
}

func TestAServerThatTakesTooLittle(t *testing.T) {
	const needed = eventlog.MaxBytes + 64<<10
	small := outside(t, func(o *server.Options) { o.MaxPayload = 1 << 20 })
	err := fails(t, queue.Outside{URL: "nats://" + small})
	require.EqualError(t, err, fmt.Sprintf(
		"the NATS server takes messages of 1048576 bytes at most; set its max_payload to %d or more", needed))
	require.NotErrorIs(t, err, queue.ErrOutside, "its operator may mend it")
	works(t, queue.Outside{URL: "nats://" + outside(t, func(o *server.Options) { o.MaxPayload = needed })})
}

// TestWhomTheServerRefuses, and whom nobody answers: another try may succeed.
func TestWhomTheServerRefuses(t *testing.T) {
	closed := outside(t, withPassword)
	wrong := file(t, "password", secret+"-or-not")
	for name, c := range map[string]struct {
		o    queue.Outside
		says string
	}{
		"a wrong password":            {queue.Outside{URL: "nats://" + closed, User: "umpire", PasswordFile: wrong}, "Authorization"},
		"a wrong password in the URL": {queue.Outside{URL: "nats://umpire:" + secret + "x@" + closed}, "Authorization"},
		"no password":                 {queue.Outside{URL: "nats://" + closed}, "Authorization"},
		"nobody listens":              {queue.Outside{URL: "nats://umpire:" + secret + "@127.0.0.1:1"}, "no servers available"},
		"no such host":                {queue.Outside{URL: "nats://umpire:" + secret + "@nowhere.invalid:4222"}, "NATS"},
		"no such port":                {queue.Outside{URL: "nats://umpire:" + secret + "@127.0.0.1:99999"}, "NATS"},
		"no such file": {
			queue.Outside{URL: "nats://" + closed, User: "umpire", PasswordFile: "/nowhere/password"}, "password can't be read",
		},
		"no such credentials": {queue.Outside{URL: "nats://" + closed, Creds: "/nowhere/creds"}, "/nowhere/creds"},
		"credentials that are none": {
			queue.Outside{URL: "nats://" + closed, Creds: file(t, "creds", secret)}, "NATS",
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := fails(t, c.o)
			require.NotErrorIs(t, err, queue.ErrOutside)
			assert.Contains(t, err.Error(), c.says)
		})
	}
}

// TestServersThatAreNotNamedRightly are told of at once: no later try would mend it.
func TestServersThatAreNotNamedRightly(t *testing.T) {
	for name, url := range map[string]string{
		"empty":                     "",
		"embedded":                  "embedded",
		"a host alone":              "umpire:" + secret + "@127.0.0.1",
		"a host and a port":         "127.0.0.1:4222",
		"another scheme":            "http://umpire:" + secret + "@127.0.0.1:4222",
		"no host":                   "nats://umpire:" + secret + "@",
		"a port that is none":       "nats://umpire:" + secret + "@127.0.0.1:port",
		"a broken escape":           "nats://umpire:%" + secret + "@127.0.0.1:4222",
		"a control character":       "nats://umpire:" + secret + "\x7f@127.0.0.1:4222",
		"a bracket that stays open": "nats://umpire:" + secret + "@[::1",
		"a good one and a bad one":  "nats://127.0.0.1:4222,umpire:" + secret + "@127.0.0.1",
		"a comma too many":          "nats://127.0.0.1:4222,",
		"blanks between":            "nats://umpire:" + secret + "@127.0.0.1:4222, nats://127.0.0.1:4223",
		"schemes that do not mix":   "nats://umpire:" + secret + "@127.0.0.1:4222,ws://127.0.0.1:4223",
	} {
		t.Run(name, func(t *testing.T) {
			err := fails(t, queue.Outside{URL: url})
			require.ErrorIs(t, err, queue.ErrOutside)
			assert.Contains(t, err.Error(), "nats://HOST:PORT")
		})
	}
	for name, o := range map[string]queue.Outside{
		"a user without a password":   {User: "umpire"},
		"a password without a user":   {PasswordFile: file(t, "password", secret)},
		"a certificate without a key": {Cert: "/nowhere/cert"},
		"a key without a certificate": {Key: "/nowhere/key"},
		"an authority that is none":   {CA: file(t, "ca", secret)},
	} {
		t.Run(name, func(t *testing.T) {
			o.URL = "nats://127.0.0.1:1"
			require.ErrorIs(t, fails(t, o), queue.ErrOutside)
		})
	}
}

// authority signs certificates.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	path string // of its certificate
	n    int64
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t}
	template := &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, key := a.make(template)
	a.path = file(t, "ca.pem", encode("CERTIFICATE", der))
	return a.with(der, key)
}

func (a *authority) with(der []byte, key *ecdsa.PrivateKey) *authority {
	a.t.Helper()
	var err error
	a.cert, err = x509.ParseCertificate(der)
	require.NoError(a.t, err)
	a.key = key
	return a
}

// make makes a certificate, which signs itself where there is no authority yet.
func (a *authority) make(template *x509.Certificate) ([]byte, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	a.n++
	template.SerialNumber, template.Subject = big.NewInt(a.n), pkix.Name{CommonName: fmt.Sprint("test ", a.n)}
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	require.NoError(a.t, err)
	return der, key
}

// leaf makes a certificate for either end of a connection, and returns the files of it and of its key.
func (a *authority) leaf() (cert, key string) {
	a.t.Helper()
	der, private := a.make(&x509.Certificate{
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	})
	pkcs, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(a.t, err)
	return file(a.t, "cert.pem", encode("CERTIFICATE", der)), file(a.t, "key.pem", encode("PRIVATE KEY", pkcs))
}

func encode(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// secured starts a server that shows a certificate of the authority's, and may ask for one.
func (a *authority) secured(asks bool) string {
	a.t.Helper()
	cert, key := a.leaf()
	pair, err := tls.LoadX509KeyPair(cert, key)
	require.NoError(a.t, err)
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	config := &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: pool, MinVersion: tls.VersionTLS12}
	if asks {
		config.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return outside(a.t, func(o *server.Options) { o.TLS, o.TLSConfig, o.TLSVerify, o.TLSTimeout = true, config, asks, 10 })
}

// TestDialSecured: the server is known by its authority, and the client by its own certificate where it is asked for.
func TestDialSecured(t *testing.T) {
	ours, theirs := newAuthority(t), newAuthority(t)
	server, strict := ours.secured(false), ours.secured(true)
	cert, key := ours.leaf()
	otherCert, otherKey := theirs.leaf()
	for _, scheme := range []string{"nats://", "tls://"} {
		works(t, queue.Outside{URL: scheme + server, CA: ours.path})
		works(t, queue.Outside{URL: scheme + strict, CA: ours.path, Cert: cert, Key: key})
	}
	for name, o := range map[string]queue.Outside{
		"an authority that nobody knows": {URL: "tls://" + server},
		"another's authority":            {URL: "tls://" + server, CA: theirs.path},
		"no certificate":                 {URL: "tls://" + strict, CA: ours.path},
		"another's certificate":          {URL: "tls://" + strict, CA: ours.path, Cert: otherCert, Key: otherKey},
		"a key of another certificate":   {URL: "tls://" + strict, CA: ours.path, Cert: cert, Key: otherKey},
		"no such authority":              {URL: "tls://" + server, CA: "/nowhere/ca"},
	} {
		t.Run(name, func(t *testing.T) {
			err := fails(t, o)
			require.NotErrorIs(t, err, queue.ErrOutside)
			assert.NotContains(t, err.Error(), "PRIVATE KEY")
		})
	}
	err := fails(t, queue.Outside{URL: "nats://" + outside(t, nil), CA: ours.path})
	require.ErrorIs(t, err, nats.ErrSecureConnWanted, "nothing is told to a server that has no TLS")
}
