// Package carrier asks one carrier about one parcel, with a timeout and retries.
package carrier

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

const (
	timeout     = 10 * time.Second
	maxAttempts = 3
)

// Pause is the wait before the second attempt; it doubles after that.
var Pause = 500 * time.Millisecond

// NorthpostStatuses and SwiftvanStatuses are the carriers' words for ours.
var (
	NorthpostStatuses = map[string]string{
		"ACCEPTED": "created", "ON_ROUTE": "in_transit", "HELD_AT_DEPOT": "in_transit", "HANDED_OVER": "delivered",
	}
	SwiftvanStatuses = map[string]string{
		"new": "created", "moving": "in_transit", "done": "delivered", "back": "returned",
	}
)

// Scan is what a carrier last saw of a parcel.
type Scan struct {
	Status string    `json:"status"`
	Place  string    `json:"place"`
	At     time.Time `json:"at"`
}

// Client asks one carrier.
type Client struct {
	base     string
	statuses map[string]string
	http     *http.Client
}

// NewClient returns a client for the carrier at base.
func NewClient(base string, statuses map[string]string) *Client {
	return &Client{base: base, statuses: statuses, http: &http.Client{Timeout: timeout}}
}

// Latest returns the newest scan of a parcel, in our words.
func (c *Client) Latest(ctx context.Context, code string) (Scan, error) {
	var last error
	for attempt := 0; attempt < maxAttempts; attempt++ {
		if attempt > 0 {
			time.Sleep(Pause << (attempt - 1))
		}
		scan, err := c.ask(ctx, code)
		if err == nil {
			return scan, nil
		}
		last = err
	}
	return Scan{}, last
}

func (c *Client) ask(ctx context.Context, code string) (Scan, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/parcels/"+code, nil)
	if err != nil {
		return Scan{}, err
	}
	answer, err := c.http.Do(request)
	if err != nil {
		return Scan{}, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return Scan{}, fmt.Errorf("carrier: %s", answer.Status)
	}
	var scan Scan
	if err := json.NewDecoder(answer.Body).Decode(&scan); err != nil {
		return Scan{}, err
	}
	status, known := c.statuses[scan.Status]
	if !known {
		return Scan{}, fmt.Errorf("carrier: unknown status %q", scan.Status)
	}
	scan.Status = status
	return scan, nil
}
