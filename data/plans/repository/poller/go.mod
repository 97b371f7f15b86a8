module example.com/waybill/poller

go 1.22
