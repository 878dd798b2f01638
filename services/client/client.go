// Package client calls umpire's HTTP API as any program would. Errors that the server answers with are *problem.Problem.
package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"

	"umpire/services/problem"
	"umpire/services/projector"
	"umpire/services/submission"
)

// Client talks to one umpire as one bearer.
type Client struct {
	Base  string // "http://127.0.0.1:8080"
	Token string // "" is the public
	HTTP  *http.Client
}

// As returns the same client with another token.
func (c *Client) As(token string) *Client {
	other := *c
	other.Token = token
	return &other
}

// Create makes a match of a set-up.
func (c *Client) Create(ctx context.Context, setup any) (*submission.Created, error) {
	return call[submission.Created](ctx, c, http.MethodPost, "/v1/matches", nil, setup)
}

// Claim exchanges a claim for its seat's token.
func (c *Client) Claim(ctx context.Context, claim string) (*submission.Seated, error) {
	return call[submission.Seated](ctx, c, http.MethodPost, "/v1/claims", nil, map[string]string{"claim": claim})
}

// Submit submits to a phase, 0 for whichever is open. The key makes trying again harmless; "" for none.
func (c *Client) Submit(ctx context.Context, match string, phase int, key string, move any) (*submission.Receipt, error) {
	body := map[string]any{"submission": move}
	if phase > 0 {
		body["phase"] = phase
	}
	header := http.Header{}
	if key != "" {
		header.Set("Idempotency-Key", key)
	}
	return call[submission.Receipt](ctx, c, http.MethodPost, "/v1/matches/"+match+"/submissions", header, body)
}

// Control pauses, resumes, extends, voids or reissues; what else the action needs stands in the body.
func (c *Client) Control(ctx context.Context, match, action string, body map[string]any) (*submission.Controlled, error) {
	return call[submission.Controlled](ctx, c, http.MethodPost, "/v1/matches/"+match+"/"+action, nil, body)
}

// View returns a match's view as JSON; query is such as "?revision=3" or "".
func (c *Client) View(ctx context.Context, match, query string) (json.RawMessage, error) {
	v, err := call[json.RawMessage](ctx, c, http.MethodGet, "/v1/matches/"+match+query, nil, nil)
	if err != nil {
		return nil, err
	}
	return *v, nil
}

// List returns a page of the list of matches; query is such as "?status=running" or "".
func (c *Client) List(ctx context.Context, query string) (*projector.List, error) {
	return call[projector.List](ctx, c, http.MethodGet, "/v1/matches"+query, nil, nil)
}

// Events yields a match's feed, line by line; query is such as "?after=3&follow=true" or "".
func (c *Client) Events(ctx context.Context, match, query string) iter.Seq2[json.RawMessage, error] {
	return c.lines(ctx, "/v1/matches/"+match+"/events"+query, nil, func(line []byte) (json.RawMessage, bool) {
		return line, len(line) > 0
	})
}

// Stream yields a match's views as they change, until the context ends or the server ends the stream.
func (c *Client) Stream(ctx context.Context, match string) iter.Seq2[json.RawMessage, error] {
	return c.lines(ctx, "/v1/matches/"+match+"/stream", nil, func(line []byte) (json.RawMessage, bool) {
		return bytes.CutPrefix(line, []byte("data: "))
	})
}

// maxLine bounds a line of a stream in bytes.
const maxLine = 4 << 20

func (c *Client) lines(
	ctx context.Context, path string, header http.Header, pick func([]byte) (json.RawMessage, bool),
) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		resp, err := c.do(ctx, http.MethodGet, path, header, nil)
		if err != nil {
			yield(nil, err)
			return
		}
		defer resp.Body.Close()
		scanner := bufio.NewScanner(resp.Body)
		scanner.Buffer(nil, maxLine)
		for scanner.Scan() {
			if data, ok := pick(scanner.Bytes()); ok && !yield(bytes.Clone(data), nil) {
				return
			}
		}
		if err := scanner.Err(); err != nil {
			yield(nil, fmt.Errorf("the stream broke: %w", err))
		}
	}
}

// do sends a request; an answer that is a problem is an error.
func (c *Client) do(ctx context.Context, method, path string, header http.Header, body any) (*http.Response, error) {
	var reader io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("the body of %s: %w", path, err)
		}
		reader = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.Base, "/")+path, reader)
	if err != nil {
		return nil, fmt.Errorf("asking %s: %w", c.Base, err)
	}
	for name, values := range header {
		req.Header[name] = values
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	resp, err := c.http().Do(req)
	if err != nil {
		return nil, fmt.Errorf("umpire can't be reached: %w", err)
	}
	if resp.StatusCode >= http.StatusBadRequest {
		defer resp.Body.Close()
		data, err := io.ReadAll(io.LimitReader(resp.Body, maxLine))
		if err != nil {
			return nil, fmt.Errorf("an error of umpire's can't be read: %w", err)
		}
		return nil, problem.Read(resp.StatusCode, data)
	}
	return resp, nil
}

func (c *Client) http() *http.Client {
	if c.HTTP == nil {
		return http.DefaultClient
	}
	return c.HTTP
}

// call sends a request and reads its answer.
func call[T any](ctx context.Context, c *Client, method, path string, header http.Header, body any) (*T, error) {
	resp, err := c.do(ctx, method, path, header, body)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	out := new(T)
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return nil, fmt.Errorf("an answer of umpire's can't be read: %w", err)
	}
	return out, nil
}
