package dialect_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-hooks/pawl/dialect"
	"github.com/pawl-hooks/pawl/internal/doc"
	"github.com/pawl-hooks/pawl/internal/docissue"
)

func TestIssueJSONHasEveryKeyInOrder(t *testing.T) {
	b, err := json.Marshal(dialect.Issue{
		Severity: dialect.Warning, File: "f", Line: 3, Column: 7, Event: "tool.before", Index: "0.1",
		Message: "m", Hint: "h", Source: "not shown",
	})
	require.NoError(t, err)
	require.Equal(t, `{"severity":"warning","file":"f","line":3,"column":7,"event":"tool.before","index":"0.1","message":"m","hint":"h"}`, string(b))
}

func TestIssueIsShownAtItsPlace(t *testing.T) {
	_, faults := doc.Parse("f.json", []byte("{\"a\": 1,\n \"a\": 2}"), doc.JSON)
	issues := docissue.Errors(faults)
	require.Len(t, issues, 1)
	require.Equal(t, `f.json:2:2: error: duplicate key "a" (the first is at line 1, column 2; keep one)`, issues[0].String())
	require.Equal(t, "f.json:2:2: error: duplicate key \"a\"\n     \"a\": 2}\n     ^\n    hint: the first is at line 1, column 2; keep one\n", issues[0].Caret())

	whole := dialect.Issue{Severity: dialect.Error, File: "f", Message: "is a directory"}
	require.Equal(t, "f: error: is a directory", whole.String())
	require.Equal(t, "f: error: is a directory\n", whole.Caret())
}

func TestIssuesAreSortedByPlaceWithinTheirFile(t *testing.T) {
	issues := []dialect.Issue{{File: "b", Line: 2}, {File: "a", Line: 1}, {File: "b", Line: 1, Column: 9}, {File: "b", Line: 1, Column: 2}}
	dialect.SortIssues(issues)
	require.Equal(t, []dialect.Issue{{File: "b", Line: 1, Column: 2}, {File: "b", Line: 1, Column: 9}, {File: "b", Line: 2}, {File: "a", Line: 1}}, issues)
}

func TestWarningsAreNoErrors(t *testing.T) {
	issues := []dialect.Issue{{Severity: dialect.Warning}, {Severity: dialect.Lost}}
	require.False(t, dialect.HasErrors(issues))
	issues = append(issues, dialect.Issue{Severity: dialect.Error, File: "f", Line: 1, Column: 1, Message: "m"})
	require.True(t, dialect.HasErrors(issues))
	require.Equal(t, "f:1:1: error: m", (&dialect.IssueError{Issues: issues[2:]}).Error())
}
