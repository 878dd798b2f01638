package esdbtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// record is an event as the server keeps it.
type record struct {
	Stream   string            `json:"stream"`
	Revision uint64            `json:"revision"`
	Position uint64            `json:"position"`
	ID       [16]byte          `json:"id"`
	Metadata map[string]string `json:"metadata"`
	Custom   []byte            `json:"custom"`
	Data     []byte            `json:"data"`
}

func (r *record) size() int { return len(r.Data) + len(r.Custom) + 2*len(r.Metadata["type"]) }

// store is the log of the server. all is only ever appended to.
type store struct {
	mu      sync.Mutex
	all     []record
	streams map[string][]int // where a stream's events stand in all
	next    uint64           // the position of the next event
	appends int
	more    chan struct{} // closed and replaced with every append
	file    *os.File
}

func openStore(path string) (*store, error) {
	s := &store{streams: map[string][]int{}, more: make(chan struct{})}
	if path != "" {
		if err := s.load(path); err != nil {
			return nil, fmt.Errorf("esdbtest: %s: %w", path, err)
		}
	}
	if len(s.all) == 0 {
		if err := s.write([]record{system(0)}); err != nil {
			return nil, fmt.Errorf("esdbtest: %s: %w", path, err)
		}
	}
	return s, nil
}

// system makes one of the events that the server writes for itself.
func system(n int) record {
	return record{
		Stream: "$stats-127.0.0.1:2113", ID: [16]byte{1, byte(n)},
		Metadata: map[string]string{"type": "$statsCollected", "content-type": "application/json", "created": "0"}, Data: []byte(`{}`),
	}
}

// load reads what stands in the file, and cuts off what a write that was broken off has left.
func (s *store) load(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	whole, lines := int64(0), bufio.NewReader(file)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		var records []record
		if err == nil {
			err = json.Unmarshal(line, &records)
		}
		if err != nil {
			return errors.Join(err, file.Close())
		}
		s.place(records)
		whole += int64(len(line))
	}
	if err := file.Truncate(whole); err != nil {
		return errors.Join(err, file.Close())
	}
	if _, err := file.Seek(whole, io.SeekStart); err != nil {
		return errors.Join(err, file.Close())
	}
	s.file = file
	return nil
}

// write gives records their places and keeps them. s.mu is held, or the store nobody else's yet.
func (s *store) write(records []record) error {
	next := s.next
	for i := range records {
		r := &records[i]
		r.Revision = uint64(len(s.streams[r.Stream]) + i)
		r.Position = next
		next += uint64(r.size() + 71)
	}
	if s.file != nil {
		var line bytes.Buffer
		if err := json.NewEncoder(&line).Encode(records); err != nil {
			return err
		}
		if _, err := s.file.Write(line.Bytes()); err != nil {
			return err
		}
		if err := s.file.Sync(); err != nil {
			return err
		}
	}
	s.place(records)
	close(s.more)
	s.more = make(chan struct{})
	return nil
}

func (s *store) place(records []record) {
	for _, r := range records {
		s.streams[r.Stream] = append(s.streams[r.Stream], len(s.all))
		s.all = append(s.all, r)
		s.next = r.Position + uint64(r.size()+71)
	}
}

// snapshot returns all events, and what is closed when there are more.
func (s *store) snapshot() ([]record, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all, s.more
}

// stream returns the events of one stream.
func (s *store) stream(name string) []record {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]record, 0, len(s.streams[name]))
	for _, i := range s.streams[name] {
		out = append(out, s.all[i])
	}
	return out
}

func (s *store) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file != nil {
		_ = s.file.Close() // all in it is synced
		s.file = nil
	}
}
