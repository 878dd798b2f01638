package match

import (
	"math"
	"slices"

	"umpire/pkg/event"
)

// Form reads a submission's fields strictly: names exact, none missing, none unknown. It keeps the first error, a
// Malformed refusal that never quotes what was sent.
type Form struct {
	value event.Value
	err   error
}

// OpenForm begins to read a submission.
func OpenForm(v event.Value) *Form { return &Form{value: v} }

// Err returns the first error.
func (f *Form) Err() error { return f.err }

// Fail records an error unless there is one already.
func (f *Form) Fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

// Type returns the submission's type.
func (f *Form) Type() string { return f.Text("type") }

// Fields demands that the submission has, besides its type, exactly the fields named; optional ones may be absent.
func (f *Form) Fields(required []string, optional ...string) {
	for _, m := range f.value.Members() {
		if m.Name != "type" && !slices.Contains(required, m.Name) && !slices.Contains(optional, m.Name) {
			f.Fail(Malformed("a submission of this type has no such field as one of yours"))
		}
	}
	for _, name := range required {
		if _, ok := f.value.Get(name); !ok {
			f.Fail(Malformed("the field %q is missing", name))
		}
	}
}

// Exactly is Fields for an object that has no type.
func (f *Form) Exactly(required []string, optional ...string) {
	if f.value.Kind != event.Object {
		f.Fail(Malformed("the body must be a JSON object"))
	}
	if _, ok := f.value.Get("type"); ok {
		f.Fail(Malformed("the body has no field \"type\""))
	}
	f.Fields(required, optional...)
}

// Text returns a string field.
func (f *Form) Text(name string) string {
	v, _ := f.value.Get(name)
	if v.Kind != event.String {
		f.Fail(Malformed("the field %q must be a string", name))
	}
	return v.Text()
}

// Choice returns a string field that is one of the values.
func (f *Form) Choice(name string, values ...string) string {
	s := f.Text(name)
	if !slices.Contains(values, s) {
		f.Fail(Malformed("the field %q must be one of %q", name, values))
	}
	return s
}

// Whole returns a whole number from least to most, judged by its value however large it is written.
func (f *Form) Whole(name string, least, most int64) int64 {
	v, _ := f.value.Get(name)
	n, ok := v.Int()
	if !ok || n < least || n > most {
		f.Fail(Malformed("the field %q must be a whole number in its range", name))
		return least
	}
	return n
}

// Strings returns a field that is a list of strings, never nil without an error.
func (f *Form) Strings(name string) []string {
	v, _ := f.value.Get(name)
	if v.Kind != event.Array {
		f.Fail(Malformed("the field %q must be a list", name))
		return nil
	}
	list := make([]string, 0, len(v.Items()))
	for _, item := range v.Items() {
		if item.Kind != event.String {
			f.Fail(Malformed("the field %q must be a list of strings", name))
		}
		list = append(list, item.Text())
	}
	return list
}

// Null reports whether a field is absent or null, where the rulebook lets null stand for an absent one.
func (f *Form) Null(name string) bool {
	v, ok := f.value.Get(name)
	return !ok || v.Kind == event.Null
}

// Object opens a field that is an object.
func (f *Form) Object(name string) *Form {
	v, _ := f.value.Get(name)
	if v.Kind != event.Object {
		f.Fail(Malformed("the field %q must be an object", name))
	}
	return &Form{value: v, err: f.err}
}

// Player returns the seat of a field that is the id of a player of the match.
func (f *Form) Player(name string, seats Seats) int {
	seat, ok := seats.Find(f.Text(name))
	if !ok {
		f.Fail(Malformed("the field %q must be the id of a player of this match", name))
	}
	return seat
}

// Given reports whether a field is there.
func (f *Form) Given(name string) bool {
	_, ok := f.value.Get(name)
	return ok
}

// Value returns a field as it was written; its own faults are for the reader of that value.
func (f *Form) Value(name string) event.Value {
	v, _ := f.value.Get(name)
	return v
}

// WholeNumber returns a field that is any whole number.
func (f *Form) WholeNumber(name string) int64 { return f.Whole(name, math.MinInt64, math.MaxInt64) }
