// Package statements is about the objective statements that a host prepares for Nothing But the Truth: what a list of
// them must be, reading one from a file with every problem named by its line, and putting a pool into an order that a
// match can be played with.
//
//	file, err := statements.Read(r)         // err: the file could not be read at all
//	file.ForMatch()                         // what is wrong with it as the 52 of a match, in the order given
//	file.ForPool()                          // what is wrong with it as a pool to arrange
//	list, err := statements.Arrange(file.Statements, "any text as seed")
//	statements.Encode(list)                 // JSON, ready to be pasted as "statements" of a set-up
//
// # Files
//
// A file is UTF-8, with or without a byte order mark, its lines ended by LF, CR LF or CR.
//
//   - A table with a header: one statement a row, a column "text" (or "statement") and a column "truth", in any case and
//     order, separated by commas, tabs or semicolons, whichever the header has. Further columns, such as one's sources,
//     are passed over, and so are empty rows. A field may be quoted, as spreadsheets do. The truth is one of true,
//     false, t, f, yes, no, y, n, 1, 0 in any case.
//   - JSON: a list of {"text": "...", "truth": true}, or an object that has such a list as its "statements".
//
// Blanks around a text are cut off. A text is 1 to 500 code points that can be displayed: no control characters, no
// line breaks, nothing that is not assigned; of the invisible ones only the joiners that some scripts need.
//
// # Rulings of our own
//
//   - Two texts are the same where they differ in nothing but case and blanks.
//   - What Read finds well may be stricter than what a set-up takes, never laxer: what ForMatch finds no fault with is
//     accepted when a match is created.
package statements
