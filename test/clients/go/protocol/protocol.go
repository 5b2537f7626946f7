// Package protocol connects a session to the test that runs it: it prints a line `ok <step>` for each step that
// succeeded, and a line `restart` to have the server restarted, which is confirmed by a line on standard input. A failed
// step ends the program.
package protocol

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"time"
)

var answers = bufio.NewReader(os.Stdin)

// Step runs one step.
func Step(name string, run func() error) {
	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
	fmt.Println("ok", name)
}

// Restart has the server stopped and started again; returns when it is ready.
func Restart() error {
	fmt.Println("restart")
	_, err := answers.ReadString('\n')
	return err
}

// Until waits for a condition for at most a minute.
func Until(what string, holds func() bool) error {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if holds() {
			return nil
		}
	}
	return fmt.Errorf("waited in vain: %s", what)
}

// Want returns an error with this message unless the condition holds.
func Want(holds bool, format string, values ...any) error {
	if holds {
		return nil
	}
	return fmt.Errorf(format, values...)
}

// Deadline limits the time of a whole session.
func Deadline() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), 3*time.Minute)
}
