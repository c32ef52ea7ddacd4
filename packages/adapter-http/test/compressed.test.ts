import { operation } from "@rangewright/application"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { request } from "node:http"
import { gunzipSync } from "node:zlib"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { startService, type Service } from "./support.ts"

const long = { result: "abc ".repeat(5000) }
const sample = {
  group: "Range",
  does: "try a sample",
  summary: "sample",
  access: "user",
  target: "none",
  output: { type: "json", schema: Schema.Struct({ result: Schema.String }) },
  statuses: { 200: "done" },
} as const
const operations = [
  operation({ ...sample, id: "readLong", route: "GET /long", handle: () => Effect.succeed(long) }),
  operation({ ...sample, id: "readShort", route: "GET /short", handle: () => Effect.succeed({ result: "abc" }) }),
  operation({ ...sample, id: "readSecret", route: "GET /secret", wholeKeyOnly: true, handle: () => Effect.succeed(long) }),
  operation({ ...sample, id: "changeLong", route: "POST /long", handle: () => Effect.succeed(long) }),
]

interface Answer {
  readonly encoding: string | undefined
  readonly vary: string | undefined
  readonly length: number
  readonly bytes: Buffer
}

describe("a compressed answer", () => {
  let service: Service
  beforeAll(async () => {
    service = await startService({ operations })
  })
  afterAll(() => service.stop())

  /** Nothing on this way undoes a compression. */
  const ask = (path: string, accepts?: string, method = "GET"): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const headers = { "x-api-key": service.keys.member, ...(accepts === undefined ? {} : { "accept-encoding": accepts }) }
      const sent = request(`${service.url}/api/v2${path}`, { method, headers }, (response) => {
        const parts: Buffer[] = []
        response.on("data", (part: Buffer) => parts.push(part))
        response.on("end", () =>
          resolve({
            encoding: response.headers["content-encoding"],
            vary: response.headers.vary,
            length: Number(response.headers["content-length"]),
            bytes: Buffer.concat(parts),
          }),
        )
      })
      sent.on("error", reject)
      sent.end()
    })
  const plain = Buffer.from(`${JSON.stringify(long)}\n`)

  it.each(["gzip", "br;q=1, GZIP;q=0.2", "gzip, deflate, br"])("is for clients that take it: %s", async (accepts) => {
    const { encoding, vary, length, bytes } = await ask("/long", accepts)
    expect([encoding, vary?.includes("Accept-Encoding"), length]).toEqual(["gzip", true, bytes.length])
    expect(bytes.length).toBeLessThan(plain.length / 10)
    expect(gunzipSync(bytes).equals(plain)).toBe(true)
  })

  it.each([undefined, "", "gzip;q=0", "gzip;q=0.0, br", "identity", "x-gzip, gz\u00edp"])(
    "is for no others: %s",
    async (accepts) => {
      const { encoding, bytes } = await ask("/long", accepts)
      expect([encoding, bytes.equals(plain)]).toEqual([undefined, true])
    },
  )

  it.each([
    ["/short", "GET"],
    ["/secret", "GET"],
    ["/long", "POST"],
  ])("is none that is short, holds secrets or tells of a change: %s, %s", async (path, method) => {
    expect((await ask(path, "gzip", method)).encoding).toBeUndefined()
  })

  it("reports its length when it is not compressed", async () => {
    const [whole, head] = [await ask("/long", "gzip"), await ask("/long", "gzip", "HEAD")]
    expect([head.length, head.bytes.length]).toEqual([whole.length, 0])
  })
})
