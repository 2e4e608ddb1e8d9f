package mcpbridge

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// kind is the JSON type of a parameter.
type kind string

const (
	kindText    kind = "string"
	kindNumber  kind = "number"
	kindInteger kind = "integer"
	kindFlag    kind = "boolean"
)

// param is one parameter of a tool.
type param struct {
	name     string
	kind     kind
	doc      string
	required bool
	hidden   bool                // accepted, not advertised
	def      any                 // default, shown in the schema: string, float64 or nil
	enum     []string            // the valid strings
	fold     func(string) string // makes a string one of enum that means it
	min, max float64             // bounds of a number
	above    bool                // the number must be more than min
	aliases  []alias             // accepted, never advertised
}

// alias is another name of a parameter. An argument given by it is multiplied
// by scale, if that is not zero.
type alias struct {
	name  string
	scale float64
}

func (a alias) factor() float64 {
	if a.scale == 0 {
		return 1
	}
	return a.scale
}

func (p *param) bounds() string {
	if p.above {
		return fmt.Sprintf("more than %s and at most %s", plainNumber(p.min), plainNumber(p.max))
	}
	return fmt.Sprintf("from %s to %s", plainNumber(p.min), plainNumber(p.max))
}

// schema is the JSON schema of the parameters, in their order. It is written
// here, not inferred: no unions, nothing that a strict client refuses.
func schema(params []param) json.RawMessage {
	var props, required []string
	for _, p := range params {
		if p.hidden {
			continue
		}
		fields := []string{`"type":` + strconv.Quote(string(p.kind)), `"description":` + quote(p.doc)}
		if p.kind == kindNumber || p.kind == kindInteger {
			// Not exclusiveMinimum: some hosts refuse schemas that have it.
			fields = append(fields, `"minimum":`+plainNumber(p.min), `"maximum":`+plainNumber(p.max))
		}
		if len(p.enum) > 0 {
			fields = append(fields, `"enum":`+quote(p.enum))
		}
		if p.def != nil {
			fields = append(fields, `"default":`+quote(p.def))
		}
		props = append(props, quote(p.name)+":{"+strings.Join(fields, ",")+"}")
		if p.required {
			required = append(required, p.name)
		}
	}
	s := `{"type":"object","properties":{` + strings.Join(props, ",") + `}`
	if len(required) > 0 {
		s += `,"required":` + quote(required)
	}
	return json.RawMessage(s + `,"additionalProperties":false}`)
}
