package event

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// AppendStored appends the event as the log keeps it: one JSON object, canonical in its order of names.
func (e *Event) AppendStored(dst []byte) []byte {
	dst = e.appendHead(dst, true)
	dst = append(dst, `,"hash":"`...)
	dst = append(dst, e.Hash...)
	dst = append(dst, '"')
	return e.appendTail(dst)
}

// ComputeHash returns the hash of the event's canonical public part, which includes Prev: hex SHA-256.
func (e *Event) ComputeHash() string {
	sum := sha256.Sum256(e.appendTail(e.appendHead(make([]byte, 0, 512), false)))
	return hex.EncodeToString(sum[:])
}

// appendHead writes the names that sort before "hash"; a face is its commitment unless the boxes are asked for.
func (e *Event) appendHead(dst []byte, boxes bool) []byte {
	dst = append(dst, `{"at":"`...)
	dst = e.At.UTC().AppendFormat(dst, time.RFC3339Nano)
	dst = append(dst, `","by":`...)
	dst = appendString(dst, string(e.By))
	dst = append(dst, `,"faces":[`...)
	for i := range e.Faces {
		if i > 0 {
			dst = append(dst, ',')
		}
		if boxes && e.Faces[i].Box != nil {
			dst = append(dst, `{"box":"`...)
			dst = base64.StdEncoding.AppendEncode(dst, e.Faces[i].Box)
			dst = append(dst, `","commitment":"`...)
			dst = append(dst, e.Faces[i].Commitment...)
			dst = append(dst, `"}`...)
			continue
		}
		dst = append(dst, '"')
		dst = append(dst, e.Faces[i].Commitment...)
		dst = append(dst, '"')
	}
	return append(dst, ']')
}

// appendTail writes the names that sort after "hash".
func (e *Event) appendTail(dst []byte) []byte {
	dst = append(dst, `,"id":"`...)
	dst = append(dst, e.ID.String()...)
	dst = append(dst, `","opens":[`...)
	for i := range e.Opens {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = e.Opens[i].append(dst)
	}
	dst = append(dst, `],"prev":"`...)
	dst = append(dst, e.Prev...)
	dst = append(dst, `","public":`...)
	dst = append(dst, e.Public...)
	dst = append(dst, `,"type":`...)
	dst = appendString(dst, e.Type)
	return append(dst, '}')
}

func (o *Opening) append(dst []byte) []byte {
	dst = append(dst, `{"data":`...)
	dst = append(dst, o.Face.Data...)
	dst = append(dst, `,"face":`...)
	dst = strconv.AppendInt(dst, int64(o.Index), 10)
	dst = append(dst, `,"revision":`...)
	dst = strconv.AppendUint(dst, o.Revision, 10)
	dst = append(dst, `,"salt":"`...)
	dst = hex.AppendEncode(dst, o.Face.Salt)
	dst = append(dst, `","to":`...)
	dst = appendStrings(dst, o.Face.To)
	return append(dst, '}')
}

func appendStrings(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, s)
	}
	return append(dst, ']')
}

// Decode reads an event as AppendStored wrote it.
func Decode(v Value) (Event, error) {
	r := reader{value: v}
	e := Event{
		Type: r.text("type"),
		By:   Role(r.text("by")),
		Prev: r.text("prev"),
		Hash: r.text("hash"),
	}
	var err error
	if e.ID, err = ParseID(r.text("id")); err != nil {
		r.fail(err)
	}
	if e.At, err = time.Parse(time.RFC3339Nano, r.text("at")); err != nil {
		r.fail(err)
	}
	e.Public = json.RawMessage(r.get("public", Object).Raw())
	for _, f := range r.get("faces", Array).Items() {
		e.Faces = append(e.Faces, r.sealed(f))
	}
	for _, o := range r.get("opens", Array).Items() {
		e.Opens = append(e.Opens, r.opening(o))
	}
	if r.err != nil {
		return Event{}, fmt.Errorf("event: a stored event can't be read: %w", r.err)
	}
	return e, nil
}

// reader takes members out of an object and keeps the first error, which never quotes a value.
type reader struct {
	value Value
	err   error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *reader) get(name string, kind Kind) Value {
	v, ok := r.value.Get(name)
	if !ok || v.Kind != kind {
		r.fail(fmt.Errorf("%q is missing or not %s", name, kind))
		return Value{}
	}
	return v
}

func (r *reader) text(name string) string { return r.get(name, String).Text() }

func (r *reader) sealed(v Value) Sealed {
	if v.Kind == String {
		return Sealed{Commitment: v.Text()}
	}
	in := reader{value: v}
	s := Sealed{Commitment: in.text("commitment")}
	box, err := base64.StdEncoding.DecodeString(in.text("box"))
	if err != nil {
		in.fail(err)
	}
	s.Box = box
	if in.err != nil {
		r.fail(in.err)
	}
	return s
}

func (r *reader) opening(v Value) Opening {
	in := reader{value: v}
	revision, index := in.count("revision", maxExact), in.count("face", maxPlace)
	o := Opening{Revision: uint64(revision), Index: int(index), Face: in.face()} //nolint:gosec // never negative
	if in.err != nil {
		r.fail(in.err)
	}
	return o
}

// maxPlace is the last place that a face can have among its event's: see binding.
const maxPlace = 1<<16 - 1

// count reads a whole number from 0 to most.
func (r *reader) count(name string, most int64) int64 {
	n, ok := r.get(name, Number).Int()
	if !ok || n < 0 || n > most {
		r.fail(fmt.Errorf("%q is not a whole number in its range", name))
		return 0
	}
	return n
}

// face reads the members data, salt and to.
func (r *reader) face() Face {
	f := Face{}
	salt, err := hex.DecodeString(r.text("salt"))
	if err != nil {
		r.fail(err)
	}
	f.Salt = salt
	for _, to := range r.get("to", Array).Items() {
		if to.Kind != String {
			r.fail(fmt.Errorf("%q is not a list of strings", "to"))
		}
		f.To = append(f.To, to.Text())
	}
	data, ok := r.value.Get("data")
	if !ok {
		r.fail(fmt.Errorf("%q is missing", "data"))
	}
	f.Data = json.RawMessage(data.Raw())
	return f
}
