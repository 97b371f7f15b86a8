// Every call to our API: one base path, one timeout, one error.

export type Status = "created" | "in_transit" | "delivered" | "returned";

export interface Scan {
  status: Status;
  at: string;
  place?: string;
}

export interface Parcel {
  code: string;
  carrier: string;
  status: Status;
  created_at: string;
  delivered_at: string | null;
}

export interface Tracking {
  code: string;
  status: Status;
  scans: Scan[];
}

const BASE = "/api/v1";
const TIMEOUT_MS = 8000;

export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

async function request<T>(path: string, token?: string): Promise<T> {
  const headers: Record<string, string> = token ? { Authorization: `Bearer ${token}` } : {};
  const answer = await fetch(`${BASE}${path}`, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!answer.ok) {
    throw new ApiError(answer.status, `${path} answered ${answer.status}`);
  }
  return (await answer.json()) as T;
}

export function trackParcel(code: string): Promise<Tracking> {
  return request<Tracking>(`/track/${encodeURIComponent(code)}`);
}

export function listParcels(token: string, page = 1): Promise<Parcel[]> {
  return request<Parcel[]>(`/parcels?page=${page}`, token);
}
