package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"umpire/pkg/games/nothingbutthetruth/statements"
)

// statementsCmd is `umpire statements`.
type statementsCmd struct {
	Check statementsCheckCmd `cmd:"" help:"Check a host's statements for Nothing But the Truth, line by line."`
}

// statementsCheckCmd is `umpire statements check`.
type statementsCheckCmd struct {
	File    string `arg:"" help:"CSV with a header, TSV or JSON; - is standard input."`
	Arrange string `help:"Order a pool of 52 or more so that every four is mixed, and print it as JSON for a set-up; the same seed gives the same order." placeholder:"SEED"`
}

// Help shows what a file looks like.
func (statementsCheckCmd) Help() string {
	return `A match needs 52 statements, taken four by four in the order given; each four must hold a true and a false one.

  text,truth
  "Water boils at 100 degrees Celsius at sea level",true
  "The Earth has two moons",false

Examples:
  umpire statements check trivia.csv
  umpire statements check pool.csv --arrange "season 3" > statements.json

Exit status 3: something is to be mended.`
}

// errStatements says that a file's problems have been told.
var errStatements = errors.New("the statements are not ready for a match")

// Run checks the file.
func (c statementsCheckCmd) Run(io stdio) error {
	file, err := c.read(io.in)
	if err != nil {
		return err
	}
	told, problems := io.out, file.ForMatch()
	if c.Arrange != "" {
		told, problems = io.err, file.ForPool()
	}
	for _, p := range problems {
		fmt.Fprintln(told, p)
	}
	if !statements.Passes(problems) {
		return errStatements
	}
	if c.Arrange == "" {
		fmt.Fprintf(told, "%d statements, ready for a match\n", len(file.Statements))
		return nil
	}
	list, err := statements.Arrange(file.Statements, c.Arrange)
	if err != nil {
		return err
	}
	_, err = io.out.Write(statements.Encode(list))
	return err
}

func (c statementsCheckCmd) read(in io.Reader) (*statements.File, error) {
	if c.File != "-" {
		file, err := os.Open(c.File)
		if err != nil {
			return nil, usageError{fmt.Errorf("the statements can't be read: %w", err)}
		}
		defer file.Close()
		in = file
	}
	return statements.Read(in)
}
