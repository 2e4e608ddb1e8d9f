package lisp

import (
	"context"
	"errors"
	"testing"

	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// turnOwner lets an image start when there is a value in may, which is why it may not, or nil.
type turnOwner struct {
	may   chan error
	ended chan bool // whether the image ran then
	im    *Image
}

func (o *turnOwner) Admit(ctx context.Context) (func(), error) {
	if err := <-o.may; err != nil {
		return nil, err
	}
	return func() { o.ended <- o.im.process() != 0 }, nil
}

func (*turnOwner) BeginJob() (func(), string) { return func() {}, "" }

// An image starts when its owner lets it, once for each start, and tells when its start has
// ended; where it may not start, the error says why.
func TestStartInTurn(t *testing.T) {
	tier.More(t)
	t.Parallel()
	im := testImage(t)
	o := &turnOwner{make(chan error), make(chan bool, 10), im}
	im.Own(o)
	answers := make(chan error, 1)
	evaluate := func() {
		res, err := im.Session("default").Evaluate(t.Context(), Request{Code: "(+ 1 2)", Timeout: callLimit, Debug: 1})
		if err == nil && (res.Failure != nil || res.Values[0].Head != "3") {
			t.Errorf("%+v", res)
		}
		answers <- err
	}
	go evaluate()
	full := errors.New("there is no room")
	o.may <- full
	var start *StartError
	if err := await.From(t, "the refusal", answers); !errors.As(err, &start) || !errors.Is(err, full) {
		t.Errorf("it is refused by %v", err)
	}
	go evaluate()
	o.may <- nil
	if err := await.From(t, "the evaluation", answers); err != nil {
		t.Error(err)
	}
	await.From(t, "the start's end to be told", o.ended)
	evaluate() // in the image that runs
	if err := <-answers; err != nil || len(o.ended) > 0 {
		t.Errorf("another start: %v, %d", err, len(o.ended))
	}
}
