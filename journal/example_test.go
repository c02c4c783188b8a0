package journal_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pawl-hooks/pawl"
	"github.com/pawl-hooks/pawl/journal"
)

func ExampleOpen() {
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "pawl.log")

	log, err := journal.Open(path, journal.Options{Sync: journal.SyncGroup})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"format", "tests-pass"} {
		run := &pawl.Run{Name: name, Trigger: pawl.ToolAfter, Tool: "Write", Outcome: pawl.Ran}
		if err := log.Append(context.Background(), run); err != nil {
			fmt.Println(err)
		}
	}
	head, _ := log.Head() // kept elsewhere, it shows a tail that was cut off
	_ = log.Close()

	_ = journal.Show(os.Stdout, journal.ReadFile(path))
	verify(path, head)

	data, _ := os.ReadFile(path)
	_ = os.WriteFile(path, bytes.Replace(data, []byte("format"), []byte("former"), 1), 0o600)
	verify(path, head)
	// Output:
	// hook format on tool.after Write: ran
	// hook tests-pass on tool.after Write: ran
	// 2 lines, 0 faults
	// 2 lines, 1 faults
	// line 1: edited: its hash is not that of its bytes
}

func verify(path string, head journal.Head) {
	report, err := journal.Verify(path, journal.Against{Heads: []string{head.Hash}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Lines, "lines,", len(report.Faults), "faults")
	for _, f := range report.Faults {
		fmt.Printf("line %d: %s: %s\n", f.Line, f.Kind, f.Text)
	}
}
