import { afterEach, describe, expect, it, vi } from "vitest";

import { ApiError, listParcels, trackParcel } from "./client";

function answerWith(status: number, body: unknown) {
  const fake = vi.fn(async (_path: string, _init: RequestInit) => new Response(JSON.stringify(body), { status }));
  vi.stubGlobal("fetch", fake);
  return fake;
}

afterEach(() => vi.unstubAllGlobals());

describe("client", () => {
  it("escapes the code", async () => {
    const fake = answerWith(200, { code: "A/1", status: "created", scans: [] });
    await trackParcel("A/1");
    expect(fake.mock.calls[0]?.[0]).toBe("/api/v1/track/A%2F1");
  });

  it("raises on a bad answer", async () => {
    answerWith(404, {});
    await expect(trackParcel("X")).rejects.toBeInstanceOf(ApiError);
  });

  it("sends the token", async () => {
    const fake = answerWith(200, []);
    await listParcels("t");
    expect(fake.mock.calls[0]?.[1]).toMatchObject({ headers: { Authorization: "Bearer t" } });
  });
});
