package carrier

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
)

func serve(t *testing.T, statuses ...int) *Client {
	t.Helper()
	Pause = 0
	calls := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(statuses[calls])
		calls++
		_, _ = w.Write([]byte(`{"status": "done", "place": "Ghent", "at": "2025-03-02T10:00:00Z"}`))
	}))
	t.Cleanup(server.Close)
	return NewClient(server.URL, SwiftvanStatuses)
}

func TestLatestAsksAgain(t *testing.T) {
	scan, err := serve(t, 503, 200).Latest(context.Background(), "WB-7")
	if err != nil || scan.Status != "delivered" {
		t.Fatalf("got %v, %v", scan, err)
	}
}

func TestLatestGivesUp(t *testing.T) {
	if _, err := serve(t, 503, 503, 503).Latest(context.Background(), "WB-7"); err == nil {
		t.Fatal("three failures must be an error")
	}
}
