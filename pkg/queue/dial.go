package queue

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// Outside says how to reach a NATS server that somebody else runs.
type Outside struct {
	URL          string // "nats://HOST:PORT", "tls://..."; several with commas between
	Creds        string // file of a user's credentials, JWT and seed; empty: none
	User         string // with PasswordFile
	PasswordFile string
	CA           string // file of the authority that signed the server's certificate; empty: the system's
	Cert, Key    string // files of the client's own certificate; empty: none
}

const (
	reconnectWait = 250 * time.Millisecond
	// pingEvery times maxPings is how long a connection may be dead without anybody noticing.
	pingEvery = 5 * time.Second
	maxPings  = 2
)

// ErrOutside means that a NATS server was not named in a way that can be tried.
var ErrOutside = errors.New("the NATS server is not named rightly")

// Dial connects to an outside server as name, and comes back by itself for as long as it takes. Errors: ErrOutside for
// what no later try mends; else nobody answers, or not to us, and Dial may be tried again.
func Dial(o Outside, name string) (*nats.Conn, error) {
	options := []nats.Option{
		nats.Name(name), nats.MaxReconnects(-1), nats.ReconnectWait(reconnectWait),
		nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(maxPings), nats.IgnoreAuthErrorAbort(),
	}
	more, err := o.identity()
	if err != nil {
		return nil, err
	}
	nc, err := nats.Connect(o.URL, append(options, more...)...)
	if err != nil {
		return nil, fmt.Errorf("connecting to NATS: %w", err) // nats.go tells no address, which may hold a password
	}
	if room := nc.MaxPayload(); room < maxPayload {
		nc.Close()
		return nil, fmt.Errorf("the NATS server takes messages of %d bytes at most; set its max_payload to %d or more", room, maxPayload)
	}
	return nc, nil
}

// identity is how the client shows who it is and knows the server.
func (o Outside) identity() ([]nats.Option, error) {
	web := strings.HasPrefix(o.URL, "ws") // nats.go takes servers of that kind alone, or none
	for server := range strings.SplitSeq(o.URL, ",") {
		address, err := url.Parse(server) // whose error would tell a password that stands in the address
		if err != nil || address.Host == "" || !slices.Contains([]string{"nats", "tls", "ws", "wss"}, address.Scheme) ||
			web != strings.HasPrefix(address.Scheme, "ws") {
			return nil, fmt.Errorf("%w: it must be embedded, nats://HOST:PORT or tls://HOST:PORT, several with commas between", ErrOutside)
		}
	}
	var options []nats.Option
	if o.Creds != "" {
		options = append(options, nats.UserCredentials(o.Creds))
	}
	if (o.User == "") != (o.PasswordFile == "") {
		return nil, fmt.Errorf("%w: a user and a file with his password go together", ErrOutside)
	}
	if o.User != "" {
		password, err := os.ReadFile(o.PasswordFile)
		if err != nil {
			return nil, fmt.Errorf("the NATS user's password can't be read: %w", err)
		}
		options = append(options, nats.UserInfo(o.User, strings.TrimSpace(string(password))))
	}
	tlsConfig, err := o.tls()
	if err != nil {
		return nil, err
	}
	if tlsConfig != nil {
		options = append(options, nats.Secure(tlsConfig))
	}
	return options, nil
}

// tls is nil where nothing asks for it but the URL, whose scheme nats.go follows by itself.
func (o Outside) tls() (*tls.Config, error) {
	if o.CA == "" && o.Cert == "" && o.Key == "" {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.CA != "" {
		pem, err := os.ReadFile(o.CA)
		if err != nil {
			return nil, fmt.Errorf("the NATS server's authority can't be read: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%w: %s holds no certificate", ErrOutside, o.CA)
		}
	}
	if (o.Cert == "") != (o.Key == "") {
		return nil, fmt.Errorf("%w: a client's certificate and its key go together", ErrOutside)
	}
	if o.Cert != "" {
		pair, err := tls.LoadX509KeyPair(o.Cert, o.Key)
		if err != nil {
			return nil, fmt.Errorf("the client's certificate for NATS can't be used: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}
