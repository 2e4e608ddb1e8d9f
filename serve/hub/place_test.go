package hub

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// running returns those of the sessions whose images run.
func running(all ...*Session) (names []string) {
	for _, s := range all {
		if s.fake().Runs() {
			names = append(names, s.Name)
		}
	}
	return names
}

// A principal whose jobs have all images gives one up to another one, and is told for whom. With
// one more than the other it keeps what it has.
func TestJobsMakeRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := testHub(t, Options{Limits: Limits{Images: 3}})
		var anna []*Session
		for _, name := range []string{"a", "b", "c"} {
			s := wake(t, h, "anna", name)
			s.fake().busy(true)
			anna = append(anna, s)
			pass(time.Second)
		}
		pass(time.Hour)
		bert := wake(t, h, "bert", "x")
		if got := running(anna...); !slices.Equal(got, []string{"b", "c"}) {
			t.Errorf("anna has %v", got)
		}
		if got := anna[0].fake().evictedFor(); len(got) != 1 || got[0] != "another user of the server, who waited for one while you had 3 of the 3 images that may run" {
			t.Errorf("she is told %q", got)
		}
		bert.fake().busy(true)
		var full *LimitError
		if err := of(t, h, "bert", "y").Wake(t.Context()); !errors.As(err, &full) {
			t.Errorf("bert's second: %v", err)
		}
		if err := anna[0].Wake(t.Context()); !errors.As(err, &full) {
			t.Errorf("anna's third: %v", err)
		}
		if err := of(t, h, "carl", "z").Wake(t.Context()); err != nil { // who has none
			t.Errorf("carl's first: %v", err)
		}
		if c, awake := h.Counts(); awake != 3 || c.Hibernated != 2 || c.Refused != 2 {
			t.Errorf("%+v, %d awake", c, awake)
		}
	})
}

// What is rested goes first, whosoever it is, then what is idle, a job's, and the one whose calls
// end first; the last three of a principal alone that has more than its share.
func TestWhoseImageGoes(t *testing.T) {
	t.Parallel()
	const calls = 3
	for _, c := range []struct {
		name string
		anna []string // her images: rested, idle, job, or calls
		bert []string
		gone string // the first that goes for carl, who has none; "" is that he is refused
		soon time.Duration
	}{
		{name: "rested before all", anna: []string{"calls", "job", "idle"}, bert: []string{"rested"}, gone: "bert0"},
		{name: "rested of who has most", anna: []string{"rested", "rested"}, bert: []string{"rested"}, gone: "anna0"},
		{name: "idle before a job", anna: []string{"calls", "job", "idle"}, bert: []string{"job"}, gone: "anna2"},
		{name: "a job before calls", anna: []string{"calls", "job", "calls"}, bert: []string{"idle"}, gone: "anna1"},
		{name: "of two who have more, the one with most", anna: []string{"job", "job", "job"}, bert: []string{"job", "job"}, gone: "anna0"},
		{name: "no more than a share", anna: []string{"idle"}, bert: []string{"job"}, gone: "", soon: restTime},
		{name: "no more than a share, and nothing that rests", anna: []string{"calls"}, bert: []string{"job"}, gone: "", soon: 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := testHub(t, Options{Limits: Limits{Images: len(c.anna) + len(c.bert)}})
				var all []*Session
				make := func(principal string, kinds []string, want string) {
					for i, kind := range kinds {
						if (kind == "rested") != (want == "rested") {
							continue
						}
						s := wake(t, h, principal, principal+string(rune('0'+i)))
						switch kind {
						case "job":
							s.fake().busy(true)
						case "calls":
							leave, end := s.Enter(), s.fake().call(time.Now().Add(calls*time.Second))
							time.AfterFunc(calls*time.Second, func() { end(); leave() })
						}
						all = append(all, s)
						time.Sleep(time.Millisecond)
					}
				}
				make("anna", c.anna, "rested")
				make("bert", c.bert, "rested")
				pass(restTime)
				make("anna", c.anna, "")
				make("bert", c.bert, "")
				err := of(t, h, "carl", "x").Wake(t.Context())
				var gone string
				for _, s := range all {
					if !s.fake().Runs() {
						gone += s.Name
					}
				}
				var full *LimitError
				if gone != c.gone || (err != nil) != (c.gone == "") || err != nil && (!errors.As(err, &full) || full.After.Round(100*time.Millisecond) != c.soon) {
					t.Errorf("%q goes, want %q: %v", gone, c.gone, err)
				}
			})
		})
	}
}

// Who waits for calls gets the image whose calls end first, when they have ended. Who goes before
// that leaves it to them.
func TestCallsMakeRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := testHub(t, Options{Limits: Limits{Images: 2}})
		late, soon := wake(t, h, "anna", "late"), wake(t, h, "anna", "soon")
		defer late.Enter()()
		defer soon.Enter()()
		late.fake().call(time.Now().Add(time.Hour))
		end := soon.fake().call(time.Now().Add(time.Minute))
		bert := of(t, h, "bert", "x")
		defer bert.Enter()()
		gone, leave := context.WithCancelCause(t.Context())
		woken := make(chan error, 1)
		go func() { woken <- bert.Wake(gone) }()
		pass(time.Second)
		left := errors.New("the client has gone")
		leave(left)
		if err := <-woken; !errors.Is(err, left) {
			t.Errorf("who has gone: %v", err)
		}
		go func() { woken <- bert.Wake(t.Context()) }()
		pass(time.Second)
		if len(woken) > 0 || len(running(late, soon)) != 2 {
			t.Errorf("while the calls run, %v run", running(late, soon))
		}
		end()
		if err := <-woken; err != nil {
			t.Fatal(err)
		}
		if got := running(late, soon); !slices.Equal(got, []string{"late"}) || len(soon.fake().evictedFor()) != 1 {
			t.Errorf("after the first has ended, %v run", got)
		}
		// A call that began before that finds its place taken.
		_, err := owner{soon}.Admit(t.Context())
		var full *LimitError
		if !errors.As(err, &full) {
			t.Errorf("another image starts: %v", err)
		}
		if _, err := (owner{bert}).Admit(t.Context()); err != nil {
			t.Errorf("the image of who has the place: %v", err)
		}
		if c, awake := h.Counts(); awake != 2 || c.Hibernated != 1 {
			t.Errorf("%+v, %d awake", c, awake)
		}
	})
}

// Jobs of a principal may run in half of the images, and all jobs in three quarters; several in
// one image count once.
func TestJobShares(t *testing.T) {
	t.Parallel()
	h := testHub(t, Options{Limits: Limits{Images: 4}})
	begin := func(principal, name string) (end func(), why string) {
		t.Helper()
		return of(t, h, principal, name).fake().owner.BeginJob()
	}
	wants := func(principal, name string) func() {
		t.Helper()
		end, why := begin(principal, name)
		if end == nil {
			t.Fatalf("%s/%s: %s", principal, name, why)
		}
		return end
	}
	refused := func(principal, name, want string) {
		t.Helper()
		if end, why := begin(principal, name); end != nil || !strings.Contains(why, want) || !strings.Contains(why, `without "background"`) {
			t.Errorf("%s/%s: %q", principal, name, why)
		}
	}
	const own, all = "Jobs of yours run in 2 of the 4 Lisp images", "Jobs run in 3 of the 4 Lisp images"
	first, again := wants("anna", "a"), wants("anna", "a")
	wants("anna", "b")
	refused("anna", "c", own)
	wants("bert", "x")
	refused("bert", "y", all)
	wants("anna", "b") // where jobs run, more may
	first()
	first()
	refused("anna", "c", own)
	again()
	wants("bert", "y")
	refused("anna", "c", all)
	if one := testHub(t, Options{Limits: Limits{Images: 1}}); true {
		if end, why := of(t, one, "anna", "a").fake().owner.BeginJob(); end == nil {
			t.Errorf("in the only image: %s", why)
		}
	}
}
