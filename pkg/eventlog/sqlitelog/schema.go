package sqlitelog

import (
	"fmt"

	"umpire/pkg/eventlog"
)

// applicationID marks a database as a log of ours; it is "umpr".
const applicationID int64 = 0x756d7072

// schemaVersion counts the forms that this database has had.
const schemaVersion int64 = 1

// schema keeps a commit in a row. Both indexes begin with the stream, so that what a match touches lies together.
// The events come last in the row, so that the rest can be read without passing over them.
const schema = `
CREATE TABLE commits (
	position INTEGER PRIMARY KEY, -- in the whole log, from 1, without gaps
	stream   TEXT    NOT NULL,
	revision INTEGER NOT NULL,    -- of the first event
	last     INTEGER NOT NULL,    -- of the last event
	id       BLOB    NOT NULL,    -- of the first event: it names the commit
	events   TEXT    NOT NULL,    -- a JSON list
	UNIQUE (stream, revision),
	UNIQUE (stream, id)
) STRICT;

CREATE VIEW events AS -- for people; a row is an event
SELECT c.position, c.stream, c.revision + e.key AS revision, e.value ->> 'type' AS type, e.value ->> 'at' AS at,
       e.value ->> 'by' AS by, e.value -> 'public' AS public, e.value AS event
FROM commits AS c, json_each(c.events) AS e
ORDER BY c.position, e.key;
`

// adopt makes a new file a log, checks that an old one is, and leaves any other as it was.
func adopt(c *conn, path string) error {
	owner, err := one[int64](c, "PRAGMA application_id")
	if err != nil {
		return fault(path, "opening it", err)
	}
	version, err := one[int64](c, "PRAGMA user_version")
	if err != nil {
		return fault(path, "opening it", err)
	}
	objects, err := one[int64](c, "SELECT count(*) FROM sqlite_schema")
	if err != nil {
		return fault(path, "opening it", err)
	}
	isNew := owner == 0 && version == 0 && objects == 0
	switch {
	case !isNew && owner != applicationID:
		return fmt.Errorf("sqlitelog: %s is the database of another program", path)
	case !isNew && version > schemaVersion:
		return fmt.Errorf("sqlitelog: %s was written by a newer umpire (version %d of the file, this one knows %d)",
			path, version, schemaVersion)
	case !isNew && version < schemaVersion:
		return fmt.Errorf("%w: %s has version %d, which never was", eventlog.ErrCorrupt, path, version)
	}
	mode, err := one[string](c, "PRAGMA journal_mode = WAL")
	if err != nil {
		return fault(path, "opening it", err)
	}
	if mode != "wal" {
		return fmt.Errorf("sqlitelog: the folder of %s can't hold a write-ahead log; is it on a network?", path)
	}
	if isNew {
		return found(c, path)
	}
	return nil
}

// found writes the schema, all or nothing.
func found(c *conn, path string) error {
	err := c.exec(fmt.Sprintf("BEGIN IMMEDIATE; PRAGMA application_id = %d; PRAGMA user_version = %d; %s COMMIT",
		applicationID, schemaVersion, schema))
	if err != nil {
		return fault(path, "making it", err)
	}
	return nil
}
