package gateway

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"

	"github.com/labstack/echo/v4"
	"github.com/nats-io/nats.go"

	"umpire/pkg/queue"
	"umpire/services/projector"
)

//go:embed pages.html
var pagesSource string

// pages are the plain pages, which need no script.
var pages = template.Must(template.New("pages").Parse(pagesSource))

// shownMatches is how many matches the front page lists.
const shownMatches = 30

// home says what runs and where to look.
func (g *Gateway) home(c echo.Context) error {
	q, err := json.Marshal(projector.ListQuestion{Limit: shownMatches})
	if err != nil {
		return err
	}
	reply, err := g.ask(c.Request().Context(), queue.Matches, nats.Header{}, q)
	if err != nil {
		return err
	}
	if reply.Status != http.StatusOK {
		g.write(c, reply)
		return nil
	}
	var list projector.List
	if err := json.Unmarshal(reply.Body, &list); err != nil {
		return fmt.Errorf("the list of matches can't be read: %w", err)
	}
	return g.page(c, "home", map[string]any{"Matches": list.Matches, "Base": g.address(c)})
}

// seat tells who follows a seat's link what it is, and how to use it: the claim stands behind the #, which browsers don't
// send.
func (g *Gateway) seat(c echo.Context) error {
	return g.page(c, "seat", map[string]any{"Match": c.Param("match"), "Base": g.address(c)})
}

func (g *Gateway) page(c echo.Context, name string, data any) error {
	var out bytes.Buffer
	if err := pages.ExecuteTemplate(&out, name, data); err != nil {
		return fmt.Errorf("the page %s: %w", name, err)
	}
	c.Response().Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	return c.HTMLBlob(http.StatusOK, out.Bytes())
}
