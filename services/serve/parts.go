package serve

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"umpire/pkg/eventlog/logurl"
	"umpire/pkg/journal"
	"umpire/pkg/queue"
	"umpire/pkg/token"
	"umpire/services/admin"
)

// checkTime bounds how long a check of readiness may take.
const checkTime = 2 * time.Second

func (p *Program) listenAdmin(ctx context.Context) error {
	if p.options.Admin == "" {
		return nil
	}
	url, stop, err := admin.Listen(ctx, p.options.Admin, p.board, p.options.Log)
	if err != nil {
		return err
	}
	p.adminURL = url
	p.later(stop)
	return nil
}

func (p *Program) openLog(ctx context.Context) error {
	if p.options.LogURL == "" {
		if err := os.MkdirAll(p.options.Data, 0o700); err != nil {
			return fmt.Errorf("the data folder can't be made: %w", err)
		}
	}
	log, err := logurl.Open(ctx, LogURL(p.options.Data, p.options.LogURL))
	if err != nil {
		return err
	}
	asked, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	if _, err := log.Head(asked); err != nil {
		return errors.Join(err, log.Close())
	}
	p.log = log
	p.later(log.Close)
	p.board.Set("log", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, checkTime)
		defer cancel()
		_, err := log.Head(ctx)
		return err
	})
	return nil
}

// makeKeys reads the keys, or makes them on the first start.
func (p *Program) makeKeys(ctx context.Context) (err error) {
	if p.vault, err = makeVault(ctx, p.MasterKeyPath(), p.log); err != nil {
		return err
	}
	p.authority = token.NewAuthority(p.vault)
	if p.operatorPath, err = operatorToken(p.options.Data, p.authority, p.options.Clock()); err != nil {
		return err
	}
	p.journal = journal.New(p.log, p.options.Games, p.vault, rand.Reader)
	return nil
}

// readKeys reads the key that all services share: one by itself never makes one, which would be another than theirs.
func (p *Program) readKeys(ctx context.Context) (err error) {
	if p.vault, err = OpenVault(ctx, p.MasterKeyPath(), p.log); err != nil {
		return err
	}
	p.authority = token.NewAuthority(p.vault)
	p.journal = journal.New(p.log, p.options.Games, p.vault, rand.Reader)
	return nil
}

func (p *Program) openQueue(context.Context) (err error) {
	name := "umpire"
	if p.service != "" {
		name += "-" + p.service
	}
	if p.options.NATS.URL != "" {
		p.conn, err = queue.Dial(p.options.NATS, name)
	} else {
		if p.embedded, err = queue.StartEmbedded(filepath.Join(p.options.Data, "nats")); err != nil {
			return err
		}
		p.later(func() error { p.embedded.Stop(); return nil })
		p.conn, err = p.embedded.Connect(name)
	}
	if err != nil {
		return err
	}
	p.later(func() error { p.conn.Close(); return nil })
	queue.LogErrors(p.conn, p.options.Log)
	p.board.Set("queue", func(context.Context) error {
		if !p.conn.IsConnected() {
			return errors.New("not connected to NATS")
		}
		return nil
	})
	if p.js, err = jetstream.New(p.conn); err != nil {
		return fmt.Errorf("connecting to JetStream: %w", err)
	}
	return nil
}

// prepareTime bounds how long preparing JetStream may take.
const prepareTime = 10 * time.Second

// prepare creates what the services use in JetStream, or checks what is there.
func (p *Program) prepare(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, prepareTime)
	defer cancel()
	return queue.Prepare(ctx, p.js)
}
