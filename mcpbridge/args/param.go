package args

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"swank-mcp/mcpbridge/rawtext"
)

// Kind is the JSON type of a parameter.
type Kind string

// The kinds there are. Numbers and flags are also taken as strings.
const (
	Text    Kind = "string"
	Number  Kind = "number"
	Integer Kind = "integer"
	Flag    Kind = "boolean"
)

// Param is one parameter of a tool.
type Param struct {
	Name     string
	Kind     Kind
	Doc      string
	Required bool
	Hidden   bool                // accepted, not advertised
	OrNumber bool                // a string that may also be written as a number
	Def      any                 // default, shown in the schema: string, float64, bool or nil
	Enum     []string            // the valid strings
	Fold     func(string) string // makes a string the one of Enum that it means
	Min, Max float64             // bounds of a number
	Above    bool                // the number must be more than min
	Prefix   string              // that may stand before a number in a string, such as job-
	Aliases  []Alias             // accepted, never advertised
}

// Alias is another name of a parameter. An argument given by it is multiplied
// by Scale, if that is not zero.
type Alias struct {
	Name  string
	Scale float64
}

func (a Alias) factor() float64 {
	if a.Scale == 0 {
		return 1
	}
	return a.Scale
}

// Bounds says between what a number must be, as in "from 0 to 3".
func (p *Param) Bounds() string {
	if p.Above {
		return fmt.Sprintf("more than %s and at most %s", plainNumber(p.Min), plainNumber(p.Max))
	}
	return fmt.Sprintf("from %s to %s", plainNumber(p.Min), plainNumber(p.Max))
}

// beyondReach is the bound from which on a schema does not name it: nobody comes near it,
// and each conversation pays for the words.
const beyondReach = 1_000_000

// Schema is the JSON schema of the parameters, in their order. It is written
// here, not inferred: no unions, nothing that a strict client refuses.
func Schema(params []Param) json.RawMessage {
	var props, required []string
	for _, p := range params {
		if p.Hidden {
			continue
		}
		fields := []string{`"type":` + strconv.Quote(string(p.Kind)), `"description":` + rawtext.Quote(p.Doc)}
		if p.Kind == Number || p.Kind == Integer {
			// Not exclusiveMinimum: some hosts refuse schemas that have it.
			fields = append(fields, `"minimum":`+plainNumber(p.Min))
			if p.Max < beyondReach {
				fields = append(fields, `"maximum":`+plainNumber(p.Max))
			}
		}
		if len(p.Enum) > 0 {
			fields = append(fields, `"enum":`+rawtext.Quote(p.Enum))
		}
		if p.Def != nil {
			fields = append(fields, `"default":`+rawtext.Quote(p.Def))
		}
		props = append(props, rawtext.Quote(p.Name)+":{"+strings.Join(fields, ",")+"}")
		if p.Required {
			required = append(required, p.Name)
		}
	}
	s := `{"type":"object","properties":{` + strings.Join(props, ",") + `}`
	if len(required) > 0 {
		s += `,"required":` + rawtext.Quote(required)
	}
	return json.RawMessage(s + `,"additionalProperties":false}`)
}
