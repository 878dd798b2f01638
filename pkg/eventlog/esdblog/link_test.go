package esdblog

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/esdblog/esdbtest"
	"umpire/pkg/eventlog/eventlogtest"
)

func TestConnectionStrings(t *testing.T) {
	for url, want := range map[string]string{
		"esdb://localhost:2113?tls=false":                         "",
		"esdb://name:word@localhost:2113":                         "",
		"esdb://a:1,b:2,c:3?tls=false":                            "",
		"esdb+discover://cluster.example:2113":                    "",
		"esdb://name:word@localhost:2113?tls=false":               "never sent in clear",
		"esdb://localhost?tls=false&userCertFile=a&userKeyFile=b": "never sent in clear",
		"esdb://localhost:2113?nodePreference=follower":           "goes to the leader",
		"esdb://localhost:2113?userCertFile=/a":                   "both userCertFile and userKeyFile",
		"http://localhost:2113":                                   "invalid scheme",
		"esdb://name:secret/word@localhost:2113":                  "must be escaped",
		"esdb://name:secret word@localhost:2113":                  "must be escaped",
		"":                                                        "invalid scheme",
	} {
		_, err := configure(url)
		if want == "" {
			require.NoError(t, err, url)
			continue
		}
		require.ErrorContains(t, err, want, url)
		require.NotContains(t, err.Error(), "secret")
	}
}

func TestOpenTellsWhyItCannot(t *testing.T) {
	s := double(t)
	s.Stop()
	_, err := Open(t.Context(), s.URL())
	require.ErrorIs(t, err, eventlog.ErrUnavailable)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Open(ctx, s.URL())
	require.ErrorIs(t, err, context.Canceled)
	_, err = Open(t.Context(), "esdb://")
	require.Error(t, err)
}

// certificate makes one for 127.0.0.1, signed by itself, and returns it with the files that hold it and its key.
func certificate(t *testing.T) (pair tls.Certificate, certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "double"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	private, err := x509.MarshalECPrivateKey(key)
	require.NoError(t, err)
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private})
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	require.NoError(t, os.WriteFile(certFile, certPEM, 0o600))
	require.NoError(t, os.WriteFile(keyFile, keyPEM, 0o600))
	pair, err = tls.X509KeyPair(certPEM, keyPEM)
	require.NoError(t, err)
	return pair, certFile, keyFile
}

func TestCredentials(t *testing.T) {
	pair, certFile, keyFile := certificate(t)
	pool := x509.NewCertPool()
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	require.NoError(t, err)
	pool.AddCert(leaf)
	secure := &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.VerifyClientCertIfGiven}
	s := double(t, esdbtest.Secure(secure), esdbtest.Password("admin", "change it"))
	with := func(user string) string { return strings.Replace(s.URL(), "esdb://", "esdb://"+user, 1) }

	log := opened(t, with("admin:change%20it@")+"?tlsCaFile="+certFile, brisk)
	must(t, log, "match-1", eventlog.NoStream, eventlogtest.NewChain("match-1", "own").Next(1)...)
	opened(t, with("admin:change%20it@")+"?tlsVerifyCert=false", brisk)

	for url, want := range map[string]string{
		with("admin:wrong@") + "?tlsCaFile=" + certFile: "Unauthenticated",
		with("") + "?tlsCaFile=" + certFile:             "Unauthenticated",
		with("admin:change%20it@"):                      "certificate",
	} {
		_, err := open(t.Context(), url, brisk)
		require.ErrorIs(t, err, eventlog.ErrUnavailable)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "change")
	}

	secure.ClientAuth = tls.RequireAndVerifyClientCert
	strict := double(t, esdbtest.Secure(secure.Clone()))
	opened(t, strict.URL()+"?tlsCaFile="+certFile+"&userCertFile="+certFile+"&userKeyFile="+keyFile, brisk)
	_, err = open(t.Context(), strict.URL()+"?tlsCaFile="+certFile, brisk)
	require.ErrorIs(t, err, eventlog.ErrUnavailable)
	_, err = open(t.Context(), strict.URL()+"?userCertFile="+certFile+"&userKeyFile="+certFile, brisk)
	require.ErrorContains(t, err, "the user certificate")
}

// TestCluster goes to the leader wherever it begins, and finds the new one when it is another.
func TestCluster(t *testing.T) {
	file := filepath.Join(t.TempDir(), "esdb") // stands for what the members replicate
	one, two := double(t, esdbtest.Durable(file)), double(t)
	two.Follows(one)
	urls := []string{
		"esdb://" + two.Address() + "," + one.Address() + "?tls=false",
		"esdb+discover://" + two.Address() + "?tls=false",
		two.URL(), // a single server, that has become a follower
	}
	logs := make([]*Log, len(urls))
	chain, expected := eventlogtest.NewChain("match-1", "own"), eventlog.NoStream
	for i, url := range urls {
		logs[i] = opened(t, url, brisk)
		must(t, logs[i], "match-1", expected, chain.Next(1)...)
		expected++
	}
	require.Len(t, everything(t, opened(t, one.URL(), brisk), "match-1"), 3)
	ctx, cancel := context.WithCancel(t.Context())
	commits, ended := following(ctx, logs[0], 0)
	for range 3 {
		next(t, commits)
	}
	one.Stop()
	three := double(t, esdbtest.Durable(file)) // has all that was acknowledged, and leads from now on
	two.Follows(three)
	for _, log := range logs {
		want := chain.Next(1)
		require.Eventually(t, func() bool {
			_, err := log.Append(t.Context(), "match-1", expected, want...)
			return err == nil
		}, 20*time.Second, time.Millisecond)
		require.Equal(t, want[0].Hash, next(t, commits).Events[0].Hash)
		expected++
	}
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
}
