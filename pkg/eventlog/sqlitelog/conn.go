package sqlitelog

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"umpire/pkg/eventlog"
)

// conn is one connection, used by one goroutine at a time. It goes to the driver directly: database/sql would add its
// own pool, locks and retries to each of the writer's statements.
type conn struct {
	raw   driver.Conn
	stmts []*stmt
}

// stmt is a prepared statement.
type stmt struct {
	raw  driver.Stmt
	args []driver.NamedValue
	row  []driver.Value
}

// connect opens the file in a mode of SQLite's: rwc makes it where there is none, rw and ro don't.
func connect(path, mode string, pragmas ...string) (_ *conn, err error) {
	name := url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(path), "/")} // C:/ is /C:/ in a URL
	name.RawQuery = url.Values{"mode": {mode}, "_error_rc": {"1"}, "_dqs": {"0"}, "_defensive": {"1"}}.Encode()
	connector, err := sqlite.NewConnector(name.String())
	if err != nil {
		return nil, err
	}
	raw, err := connector.Connect(context.Background())
	if err != nil {
		return nil, err
	}
	c := &conn{raw: raw}
	for _, p := range pragmas {
		if err := c.exec("PRAGMA " + p); err != nil {
			return nil, errors.Join(err, c.close())
		}
	}
	return c, nil
}

func (c *conn) close() error {
	var errs []error
	for _, s := range c.stmts {
		errs = append(errs, s.raw.Close())
	}
	return errors.Join(append(errs, c.raw.Close())...)
}

// exec runs SQL that is not kept, of one statement or several.
func (c *conn) exec(sql string) error {
	_, err := c.raw.(driver.ExecerContext).ExecContext(context.Background(), sql, nil)
	return err
}

// prepare keeps a statement for as long as the connection lives.
func (c *conn) prepare(sql string) (*stmt, error) {
	raw, err := c.raw.(driver.ConnPrepareContext).PrepareContext(context.Background(), sql)
	if err != nil {
		return nil, err
	}
	s := &stmt{raw: raw}
	c.stmts = append(c.stmts, s)
	return s, nil
}

// one runs SQL that gives one row of one value and is not kept.
func one[T any](c *conn, sql string) (value T, err error) {
	s, err := c.prepare(sql)
	if err != nil {
		return value, err
	}
	found := false
	err = s.query(func(row []driver.Value) bool {
		value, found = row[0].(T)
		return false
	})
	if err == nil && !found {
		err = fmt.Errorf("%q gave no %T", sql, value)
	}
	return value, err
}

func (s *stmt) bind(args []any) []driver.NamedValue {
	s.args = s.args[:0]
	for i, a := range args {
		s.args = append(s.args, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	return s.args
}

// exec runs the statement and returns how many rows it changed. Arguments are int64, string or []byte.
func (s *stmt) exec(args ...any) (int64, error) {
	result, err := s.raw.(driver.StmtExecContext).ExecContext(context.Background(), s.bind(args))
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// query hands each row to take until that returns false. The row's slice is used again for the next.
func (s *stmt) query(take func(row []driver.Value) bool, args ...any) (err error) {
	rows, err := s.raw.(driver.StmtQueryContext).QueryContext(context.Background(), s.bind(args))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	if s.row == nil {
		s.row = make([]driver.Value, len(rows.Columns()))
	}
	for {
		err := rows.Next(s.row)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if !take(s.row) {
			return nil
		}
	}
}

// code returns SQLite's primary result code, 0 where the error is none of SQLite's.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// fault tells what kind of error of the port an error of SQLite's is.
func fault(path, doing string, err error) error {
	kind := eventlog.ErrUnavailable
	switch code(err) {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR: // our SQL is right, so the schema is wrong
		kind = eventlog.ErrCorrupt
	}
	if errors.Is(err, eventlog.ErrCorrupt) {
		return fmt.Errorf("sqlitelog: %s, %s: %w", path, doing, err)
	}
	return fmt.Errorf("%w: %s, %s: %w", kind, path, doing, err)
}
