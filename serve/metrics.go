package serve

import (
	"net/http"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"swank-mcp/serve/hub"
	"swank-mcp/serve/pool"
	"swank-mcp/swank/lisp"
)

// metrics are what Prometheus reads: sums over all sessions. No name of a principal or of a
// session is in them, and no code.
type metrics struct {
	registry    *prometheus.Registry
	evaluations *prometheus.CounterVec
	seconds     prometheus.Histogram
	waiting     prometheus.Gauge
	images      *prometheus.CounterVec
	refused     *prometheus.CounterVec
	followers   sync.WaitGroup
}

func newMetrics() *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		evaluations: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "swank_mcp_evaluations_total",
			Help: "Jobs that have ended, by how: ok, error, timeout, cancelled, stopped, image-died, or unanswered."}, []string{"outcome"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "swank_mcp_evaluation_seconds",
			Help: "How long jobs took that have ended.", Buckets: prometheus.ExponentialBuckets(0.001, 4, 10)}),
		waiting: prometheus.NewGauge(prometheus.GaugeOpts{Name: "swank_mcp_jobs_waiting", Help: "Jobs that wait for their turn."}),
		images: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "swank_mcp_image_changes_total",
			Help: "Images that have started, taken the place of another one, or ended."}, []string{"change"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "swank_mcp_refused_requests_total",
			Help: "Requests that were not let in, by why: host, origin, token, rate."}, []string{"why"}),
	}
	m.registry.MustRegister(m.evaluations, m.seconds, m.waiting, m.images, m.refused,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// of adds what the hub counts.
func (m *metrics) of(h *hub.Hub) {
	gauge := func(name, help string, value func() float64) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
	}
	counter := func(name, help string, value func(hub.Counts) int) {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 {
			c, _ := h.Counts()
			return float64(value(c))
		}))
	}
	ahead := func(name, help string, value func(pool.Counts) int) {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 {
			return float64(value(h.Ahead()))
		}))
	}
	gauge("swank_mcp_sessions", "Sessions that there are, with and without an image.", func() float64 { return float64(len(h.List())) })
	gauge("swank_mcp_images", "Sessions that have, or may have, an image.", func() float64 { _, awake := h.Counts(); return float64(awake) })
	gauge("swank_mcp_images_ahead", "Images that were started ahead and that no session has yet.", func() float64 { return float64(h.Ahead().Waiting) })
	gauge("swank_mcp_requests", "Requests that are being answered.", func() (n float64) {
		for _, s := range h.List() {
			n += float64(s.Users)
		}
		return n
	})
	counter("swank_mcp_sessions_made_total", "Sessions that have begun.", func(c hub.Counts) int { return c.Made })
	counter("swank_mcp_sessions_ended_total", "Sessions that have ended.", func(c hub.Counts) int { return c.Ended })
	counter("swank_mcp_hibernated_total", "Images that were put away.", func(c hub.Counts) int { return c.Hibernated })
	counter("swank_mcp_woken_total", "Sessions that were given a place for an image.", func(c hub.Counts) int { return c.Woken })
	ahead("swank_mcp_ahead_taken_total", "Images started ahead that a session has taken.", func(c pool.Counts) int { return c.Taken })
	ahead("swank_mcp_ahead_missed_total", "Sessions that could have taken one, and there was none.", func(c pool.Counts) int { return c.Missed })
	ahead("swank_mcp_ahead_failed_total", "Images that could not be started ahead, or have ended before anybody wanted them.", func(c pool.Counts) int { return c.Failed })
	counter("swank_mcp_limited_total", "Requests for which there was no room.", func(c hub.Counts) int { return c.Refused })
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// followSize is how many events an image may be ahead of its follower.
const followSize = 64

// follow counts what happens in the image until it is closed.
func (m *metrics) follow(im hub.Image) {
	events := im.Subscribe(followSize, false)
	m.followers.Go(func() {
		waiting, lost := map[int64]bool{}, int64(0)
		for e := range events.C {
			before := len(waiting)
			if n := events.Lost(); n != lost { // some of those that wait may have gone on
				lost = n
				clear(waiting)
			}
			switch e.Kind {
			case lisp.EventQueued:
				waiting[e.Job] = true
			case lisp.EventBegun:
				delete(waiting, e.Job)
			case lisp.EventEnded:
				delete(waiting, e.Job)
				m.evaluations.WithLabelValues(outcome(e)).Inc()
				m.seconds.Observe(e.Elapsed.Seconds())
			case lisp.EventImageStarted, lisp.EventImageReplaced, lisp.EventImageEnded:
				m.images.WithLabelValues(strings.TrimPrefix(string(e.Kind), "image ")).Inc()
			}
			m.waiting.Add(float64(len(waiting) - before))
		}
		m.waiting.Sub(float64(len(waiting)))
	})
}

// outcome is how a job has ended, in a word.
func outcome(e lisp.Event) string {
	switch {
	case e.Err != nil:
		return "unanswered"
	case e.Outcome == nil || e.Outcome.Failure == "":
		return "ok"
	}
	return strings.ToLower(e.Outcome.Failure)
}
