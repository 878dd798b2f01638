package statements

import (
	"bytes"
	"fmt"
	"strconv"

	"umpire/pkg/event"
	"umpire/pkg/match"
)

// Arrange picks 52 statements of a pool and puts them into an order in which every four are mixed, as near to half of
// them true as the pool allows. The same pool and the same seed, which may be any text, always give the same order; the
// draws are the rulebook's, with the seed's bytes as their key. The pool is left as it is.
func Arrange(pool []Statement, seed string) ([]Statement, error) {
	if err := arrangeable(pool); err != nil {
		return nil, err
	}
	deck := dealer{match.DrawFrom([]byte(seed))}
	byTruth := map[bool][]Statement{}
	for _, s := range pool {
		byTruth[s.Truth] = append(byTruth[s.Truth], s)
	}
	right, wrong := deck.shuffle("true", byTruth[true]), deck.shuffle("false", byTruth[false])
	// Half, unless there are too few of one side; 13 of each, one a cycle, are left in any case.
	trueOnes := min(max(Count/2, Count-len(wrong)), len(right))
	right, wrong = right[:trueOnes], wrong[:Count-trueOnes]

	rest := deck.shuffle("rest", append(right[Cycles:len(right):len(right)], wrong[Cycles:]...))
	list := make([]Statement, 0, Count)
	for i := range Cycles {
		four := []Statement{right[i], wrong[i], rest[2*i], rest[2*i+1]}
		list = append(list, deck.shuffle("cycle-"+strconv.Itoa(i+1), four)...)
	}
	return list, nil
}

// arrangeable says why a pool can't be arranged.
func arrangeable(pool []Statement) error {
	trueOnes := countTrue(pool)
	switch {
	case len(pool) < Count:
		return fmt.Errorf("a match takes %d statements, and the pool has only %d", Count, len(pool))
	case trueOnes < Cycles:
		return fmt.Errorf("each of the %d cycles needs a true statement, and only %d of the pool are true", Cycles, trueOnes)
	case len(pool)-trueOnes < Cycles:
		return fmt.Errorf("each of the %d cycles needs a false statement, and only %d of the pool are false",
			Cycles, len(pool)-trueOnes)
	}
	return nil
}

type dealer struct{ draw match.Draw }

// shuffle returns a list in a drawn order, each order as likely as any other.
func (d dealer) shuffle(label string, list []Statement) []Statement {
	list = append([]Statement{}, list...)
	for i := len(list) - 1; i > 0; i-- {
		j := d.draw(label+"/"+strconv.Itoa(i), uint64(i+1)) //nolint:gosec // an index is never negative
		list[i], list[j] = list[j], list[i]
	}
	return list
}

// Encode returns statements as JSON, one a line, ready to be pasted as "statements" of a set-up.
func Encode(list []Statement) []byte {
	var b bytes.Buffer
	b.WriteString("[")
	for i, s := range list {
		line, err := event.Canonical(s)
		if err != nil {
			panic(err) // a text and a truth always have a canonical form
		}
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString("\n  ")
		b.Write(line)
	}
	b.WriteString("\n]\n")
	return b.Bytes()
}
