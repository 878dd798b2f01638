package timer

import "time"

// deadline is a match's next one.
type deadline struct {
	match    string
	at       time.Time
	revision int64 // of the match when it was noted
	index    int   // in the heap
}

// deadlines is a heap, the earliest first.
type deadlines []*deadline

func (d deadlines) Len() int           { return len(d) }
func (d deadlines) Less(i, j int) bool { return d[i].at.Before(d[j].at) }
func (d deadlines) Swap(i, j int) {
	d[i], d[j] = d[j], d[i]
	d[i].index, d[j].index = i, j
}

// Push implements heap.Interface.
func (d *deadlines) Push(x any) {
	one := x.(*deadline)
	one.index = len(*d)
	*d = append(*d, one)
}

// Pop implements heap.Interface.
func (d *deadlines) Pop() any {
	last := len(*d) - 1
	one := (*d)[last]
	(*d)[last] = nil
	*d = (*d)[:last]
	return one
}
