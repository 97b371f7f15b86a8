// Command poller asks the carriers about every parcel in transit and hands new scans to the API.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"example.com/waybill/poller/carrier"
)

const interval = 15 * time.Minute

type parcel struct {
	Code    string `json:"code"`
	Carrier string `json:"carrier"`
}

var api = &http.Client{Timeout: 10 * time.Second}

func dueParcels(ctx context.Context, base, token string, page int) ([]parcel, error) {
	url := fmt.Sprintf("%s/api/v1/parcels?status=in_transit&page=%d", base, page)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	answer, err := api.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("parcels: %s", answer.Status)
	}
	var found []parcel
	err = json.NewDecoder(answer.Body).Decode(&found)
	return found, err
}

func postScan(ctx context.Context, base, token, code string, scan carrier.Scan) error {
	body, err := json.Marshal(scan)
	if err != nil {
		return err
	}
	url := fmt.Sprintf("%s/api/v1/parcels/%s/scans", base, code)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	answer, err := api.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusCreated {
		return fmt.Errorf("scans: %s", answer.Status)
	}
	return nil
}

func pollOnce(ctx context.Context, base, token string, clients map[string]*carrier.Client) error {
	for page := 1; ; page++ {
		parcels, err := dueParcels(ctx, base, token, page)
		if err != nil || len(parcels) == 0 {
			return err
		}
		for _, one := range parcels {
			client, known := clients[one.Carrier]
			if !known {
				continue
			}
			scan, err := client.Latest(ctx, one.Code)
			if err != nil {
				log.Printf("%s: %v", one.Code, err)
				continue
			}
			if err := postScan(ctx, base, token, one.Code, scan); err != nil {
				return err
			}
		}
	}
}

func main() {
	base, token := os.Getenv("WAYBILL_API_URL"), os.Getenv("WAYBILL_API_TOKEN")
	clients := map[string]*carrier.Client{
		"northpost": carrier.NewClient(os.Getenv("NORTHPOST_URL"), carrier.NorthpostStatuses),
		"swiftvan":  carrier.NewClient(os.Getenv("SWIFTVAN_URL"), carrier.SwiftvanStatuses),
	}
	for {
		if err := pollOnce(context.Background(), base, token, clients); err != nil {
			log.Printf("poll: %v", err)
		}
		time.Sleep(interval)
	}
}
