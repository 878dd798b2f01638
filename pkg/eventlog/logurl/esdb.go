package logurl

import (
	"context"

	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/esdblog"
)

// openEventStoreDB is a variable so that tests need no server.
var openEventStoreDB = func(ctx context.Context, url string) (eventlog.Log, error) { return esdblog.Open(ctx, url) }
