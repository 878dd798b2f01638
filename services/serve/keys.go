package serve

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/logurl"
	"umpire/pkg/journal"
	"umpire/pkg/token"
)

// The files of a data folder; the secret ones have mode 0600.
const (
	logFile       = "umpire.db"
	masterKeyFile = "master.key"
	operatorFile  = "operator.token"
)

// LogURL is where the log is: in the data folder unless told.
func LogURL(data, told string) string {
	if told != "" {
		return told
	}
	return logurl.SQLite + ":" + filepath.Join(data, logFile)
}

// MasterKeyPath is where the master key is: in the data folder unless told.
func MasterKeyPath(data, told string) string {
	if told != "" {
		return told
	}
	return filepath.Join(data, masterKeyFile)
}

// errWrongKey means that the master key is there and is not the log's: no waiting mends that.
var errWrongKey = errors.New("is not the key that this log was written with")

// makeVault reads the master key, or makes one where the log is still empty: without its key a log can't be read.
func makeVault(ctx context.Context, path string, log eventlog.Log) (*event.Vault, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		head, err := log.Head(ctx)
		if err != nil {
			return nil, err
		}
		if head > 0 {
			return nil, fmt.Errorf("the log has matches, but its master key %s is missing; put it back from your backup", path)
		}
		if err := writeMasterKey(path); err != nil {
			return nil, err
		}
	}
	return OpenVault(ctx, path, log)
}

func writeMasterKey(path string) error {
	key := make([]byte, event.MasterKeySize)
	if _, err := rand.Read(key); err != nil {
		return fmt.Errorf("no entropy for a master key: %w", err)
	}
	return writeSecret(path, hex.EncodeToString(key))
}

// OpenVault reads the master key of a log.
func OpenVault(ctx context.Context, path string, log eventlog.Log) (*event.Vault, error) {
	vault, err := readVault(path)
	if err != nil {
		return nil, err
	}
	return vault, fits(ctx, vault, path, log)
}

func readVault(path string) (*event.Vault, error) {
	text, err := os.ReadFile(path) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, fmt.Errorf("the master key can't be read: %w", err)
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != event.MasterKeySize {
		return nil, fmt.Errorf("%s is no master key: it must hold %d hex digits", path, 2*event.MasterKeySize)
	}
	return event.NewVault(key)
}

// Init writes a master key and an operator's token into a folder, where they are missing, for services that run by
// themselves. It returns the paths of both.
func Init(dir string, now time.Time) (masterKey, operator string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", "", fmt.Errorf("the data folder can't be made: %w", err)
	}
	masterKey = filepath.Join(dir, masterKeyFile)
	if _, err := os.Stat(masterKey); errors.Is(err, fs.ErrNotExist) {
		if err := writeMasterKey(masterKey); err != nil {
			return "", "", err
		}
	}
	vault, err := readVault(masterKey)
	if err != nil {
		return "", "", err
	}
	operator, err = operatorToken(dir, token.NewAuthority(vault), now)
	return masterKey, operator, err
}

// fits tries the key on the first sealed face of the log.
func fits(ctx context.Context, vault *event.Vault, path string, log eventlog.Log) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	head, err := log.Head(ctx)
	if err != nil {
		return err
	}
	for commit, err := range eventlog.Upto(ctx, log.Follow, 0, head) {
		if err != nil {
			return err
		}
		if _, ok := journal.MatchOf(commit.Stream); ok {
			if _, err := vault.Keys(commit.Stream).Reveal(commit.First, &commit.Events[0]); err != nil {
				return fmt.Errorf("%s %w", path, errWrongKey)
			}
			return nil
		}
	}
	return nil
}

// operatorToken writes an operator's token on the first start and returns the path to it.
func operatorToken(dir string, authority *token.Authority, now time.Time) (path string, err error) {
	path = filepath.Join(dir, operatorFile)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	signed, err := authority.Sign(token.Token{Role: token.Operator}, now)
	if err != nil {
		return "", err
	}
	return path, writeSecret(path, signed)
}

// writeSecret writes a file that only its owner may read: whole and on disk, or not at all.
func writeSecret(path, content string) (err error) {
	temp := path + ".new"
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s can't be written: %w", path, err)
		}
	}()
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) //nolint:gosec // the operator names the folder
	if err != nil {
		return err
	}
	_, err = f.WriteString(content + "\n")
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(temp, path)
}
