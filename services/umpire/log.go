package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/logcopy"
	"umpire/pkg/eventlog/logurl"
	"umpire/services/progress"
)

// logCmd is `umpire log`.
type logCmd struct {
	Copy logCopyCmd `cmd:"" help:"Copy a log into another of whatever kind, and compare the two."`
}

// logCopyCmd is `umpire log copy`.
type logCopyCmd struct {
	From       string `help:"The log to copy: sqlite:FILE or esdb://HOST:PORT." required:"" placeholder:"URL"`
	To         string `help:"The log to copy into: empty, or where an earlier copy of the same log stopped." required:"" placeholder:"URL"`
	VerifyOnly bool   `help:"Copy nothing, only compare."`
	JSON       bool   `help:"Print the outcome as JSON." name:"json"`
}

// Help shows examples.
func (logCopyCmd) Help() string {
	return `Every commit is copied as it is, in the order of the log; only positions are the new log's own. No key is needed, for
nothing is decrypted. At the end both logs are read whole and compared, and every hash is checked.

A copy that was interrupted goes on where it stopped when the same command is run again. What is added to the source
while it is copied is not copied: stop umpire, or run the command again after it was stopped. A log in SQLite is in use
by one process at a time, so umpire must be stopped before such a log is copied.

Examples:
  umpire log copy --from sqlite:umpire-data/umpire.db --to 'esdb://localhost:2113?tls=false'
  umpire log copy --from esdb+discover://nodes.example --to sqlite:backup.db --json
  umpire log copy --from sqlite:umpire-data/umpire.db --to sqlite:backup.db --verify-only

A URL that holds a password is better given as UMPIRE_FROM or UMPIRE_TO, for others on the machine can read a command.

Exit status 3: the logs differ or a hash is wrong, and what stands where is told.`
}

// errLogs says that a comparison of logs found something wrong.
var errLogs = errors.New("the verification failed")

// Run copies.
func (c logCopyCmd) Run(ctx context.Context, io stdio) (err error) {
	from, to, err := c.parse()
	if err != nil {
		return err
	}
	source, err := from.Open(ctx)
	if err != nil {
		return fmt.Errorf("the source %s can't be opened: %w", from, err)
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	target, err := to.Open(ctx)
	if err != nil {
		return fmt.Errorf("the target %s can't be opened: %w", to, err)
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	report, err := c.work(ctx, source, target, io.err)
	if c.JSON {
		err = errors.Join(c.explain(ctx, report, err), json.NewEncoder(io.out).Encode(report))
		return err
	}
	if err != nil {
		return c.explain(ctx, report, err)
	}
	return c.tell(io.out, report)
}

// parse reads both URLs and sees to it that what is to be read is there: opening a log in SQLite would make it.
func (c logCopyCmd) parse() (from, to logurl.URL, err error) {
	if from, err = logurl.Parse(c.From); err != nil {
		return from, to, fmt.Errorf("--from: %w", err)
	}
	if to, err = logurl.Parse(c.To); err != nil {
		return from, to, fmt.Errorf("--to: %w", err)
	}
	if from == to || from.Kind == logurl.SQLite && to.Kind == logurl.SQLite && sameFile(from.File, to.File) {
		return from, to, usageError{errors.New("--from and --to are the same log; name another one to copy into")}
	}
	read := []logurl.URL{from}
	if c.VerifyOnly {
		read = append(read, to)
	}
	for _, u := range read {
		if u.Kind != logurl.SQLite {
			continue
		}
		if _, err := os.Stat(u.File); err != nil { //nolint:gosec // the operator names the file
			return from, to, usageError{fmt.Errorf("there is no log to read: %w", err)}
		}
	}
	return from, to, nil
}

func sameFile(a, b string) bool {
	if one, err := filepath.Abs(a); err == nil {
		if other, err := filepath.Abs(b); err == nil && one == other {
			return true
		}
	}
	one, err := os.Stat(a) //nolint:gosec // the operator names the file
	if err != nil {
		return false
	}
	other, err := os.Stat(b) //nolint:gosec // as above
	return err == nil && os.SameFile(one, other)
}

// work copies or compares, and shows on out how far it is.
func (c logCopyCmd) work(ctx context.Context, source, target eventlog.Log, out io.Writer) (logcopy.Report, error) {
	var bar *progress.Bar
	var shown logcopy.Phase
	end := func() {
		if bar != nil {
			bar.End()
		}
	}
	defer func() { end() }()
	do := logcopy.Copy
	if c.VerifyOnly {
		do = logcopy.Verify
	}
	return do(ctx, source, target, logcopy.Options{Progress: func(phase logcopy.Phase, done, total uint64) {
		if phase != shown {
			end()
			bar, shown = progress.New(out, string(phase)), phase
			bar.Set(0, total)
		}
		bar.Set(done, total)
	}})
}

// explain says what may be done about an error. One of an interrupted command only tells of the interruption.
func (c logCopyCmd) explain(ctx context.Context, report logcopy.Report, err error) error {
	var difference *logcopy.Difference
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && c.VerifyOnly:
		return fmt.Errorf("interrupted after %d commits, which were the same", report.Commits)
	case ctx.Err() != nil:
		return fmt.Errorf("interrupted; %d commits stand in the target, and the same command goes on from there", report.Commits)
	case errors.Is(err, logcopy.ErrTarget):
		return fmt.Errorf("%w; copy into an empty log, or into one that a copy of this source began (%w)", err, errLogs)
	case errors.As(err, &difference):
		return fmt.Errorf("%w: %w", errLogs, err)
	case c.VerifyOnly:
		return err
	default:
		return fmt.Errorf("%w; once that is mended, the same command goes on from there", err)
	}
}

// tell says in words what was done.
func (c logCopyCmd) tell(out io.Writer, r logcopy.Report) error {
	text := fmt.Sprintf("%d commits (%d events in %d streams) stand in both logs alike, and every hash is right", r.Commits, r.Events, r.Streams)
	if !c.VerifyOnly {
		text += fmt.Sprintf("; %d were copied, %d stood there before", r.Commits-r.Skipped, r.Skipped)
	}
	if r.Added > 0 {
		text += fmt.Sprintf(".\n%d commits were added to the source meanwhile: run the command again to copy them", r.Added)
	}
	_, err := fmt.Fprintln(out, text+".")
	return err
}
