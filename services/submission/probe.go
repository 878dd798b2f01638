package submission

import "context"

// Probed is the answer to a probe: the log could be asked.
type Probed struct {
	OK bool `json:"ok"`
}

// Probe goes the way of a submission as far as the log, and writes nothing: it tells whether players can reach umpire.
func (s *Service) Probe(ctx context.Context) (*Probed, error) {
	if err := s.Journal.Reach(ctx); err != nil {
		return nil, err
	}
	return &Probed{OK: true}, nil
}
