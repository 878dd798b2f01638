package main

import (
	"context"
	"fmt"
	"os"

	"github.com/nats-io/nats.go"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/logurl"
	"umpire/pkg/queue"
	"umpire/services/serve"
)

// outsideFlags name a NATS server that somebody else runs.
type outsideFlags struct {
	NATS             string `help:"The NATS server: nats://HOST:PORT, several with commas between." placeholder:"URL" name:"nats" env:"UMPIRE_NATS"`
	NATSCreds        string `help:"File of the NATS user's credentials." placeholder:"FILE" name:"nats-creds" env:"UMPIRE_NATS_CREDS"`
	NATSUser         string `help:"The NATS user, with --nats-password-file." placeholder:"NAME" name:"nats-user" env:"UMPIRE_NATS_USER"`
	NATSPasswordFile string `help:"File of the NATS user's password." placeholder:"FILE" name:"nats-password-file" env:"UMPIRE_NATS_PASSWORD_FILE"`
	NATSCA           string `help:"File of the authority that signed the NATS server's certificate." placeholder:"FILE" name:"nats-ca" env:"UMPIRE_NATS_CA"`
	NATSCert         string `help:"File of a client certificate for NATS." placeholder:"FILE" name:"nats-cert" env:"UMPIRE_NATS_CERT"`
	NATSKey          string `help:"File of that certificate's key." placeholder:"FILE" name:"nats-key" env:"UMPIRE_NATS_KEY"`
}

// outside returns the server named; "embedded" and "" name none.
func (f *outsideFlags) outside() queue.Outside {
	if f.NATS == "" || f.NATS == "embedded" {
		return queue.Outside{}
	}
	return queue.Outside{
		URL: f.NATS, Creds: f.NATSCreds, User: f.NATSUser, PasswordFile: f.NATSPasswordFile,
		CA: f.NATSCA, Cert: f.NATSCert, Key: f.NATSKey,
	}
}

// dataFlags name a log and the key that it is read with.
type dataFlags struct {
	Data      string `help:"Folder of the log, the keys and the queue's files." default:"umpire-data" type:"path"`
	Log       string `help:"The log: sqlite:FILE, esdb://HOST:PORT or memory:; sqlite in the data folder unless told." placeholder:"URL"`
	MasterKey string `help:"File of the master key; in the data folder unless told." placeholder:"FILE"`
}

// remote is what the tools that look into a running installation are told.
type remote struct {
	dataFlags
	outsideFlags
}

func (r *remote) openLog(ctx context.Context) (eventlog.Log, error) {
	url := serve.LogURL(r.Data, r.Log)
	if named, err := logurl.Parse(url); err == nil && named.Kind == logurl.SQLite {
		if _, err := os.Stat(named.File); err != nil { // opening it would make one
			return nil, fmt.Errorf("there is no log to look into: %w", err)
		}
	}
	return logurl.Open(ctx, url)
}

func (r *remote) connect(context.Context) (*nats.Conn, error) {
	o := r.outside()
	if o.URL == "" {
		return nil, usageError{fmt.Errorf("--nats must name the NATS server that the services share; " +
			"that of `umpire serve` without --nats is inside its process and can't be reached")}
	}
	return queue.Dial(o, "umpire-tool")
}

func (r *remote) vault(ctx context.Context, log eventlog.Log) (*event.Vault, error) {
	return serve.OpenVault(ctx, serve.MasterKeyPath(r.Data, r.MasterKey), log)
}
