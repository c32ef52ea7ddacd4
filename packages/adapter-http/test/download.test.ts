import { operation } from "@rangewright/application"
import { Conflict, type Fault } from "@rangewright/domain"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { afterEach, describe, expect, it } from "vitest"
import { startService, type Service } from "./support.ts"

let service: Service
afterEach(() => service.stop())

const first = new TextEncoder().encode("first ")
const last = new TextEncoder().encode("last")

/** A file that ends, fails before or after its first part, breaks, is empty, or never ends; and whether its making was stopped. */
const saving = () => {
  const stopped = Deferred.makeUnsafe<void>()
  const over = new Conflict({ what: "Cannot pack it: it is over" })
  const parts: Readonly<Record<string, Stream.Stream<Uint8Array, Fault>>> = {
    ends: Stream.make(first, last),
    empty: Stream.empty,
    refuses: Stream.fail(over),
    fails: Stream.concat(Stream.make(first), Stream.fail(over)),
    breaks: Stream.concat(Stream.make(first), Stream.die(new Error("the secret of the house"))),
    floods: Stream.forever(Stream.make(new Uint8Array(65_536))).pipe(Stream.ensuring(Deferred.succeed(stopped, undefined))),
  }
  const declared = operation({
    id: "saving",
    route: "GET /saving/{how}",
    group: "Range",
    does: "save a sample",
    summary: "sample",
    access: "user",
    target: "none",
    path: { how: Schema.Literals(["ends", "empty", "refuses", "fails", "breaks", "floods"]) },
    output: { type: "download", contentType: "application/gzip" },
    statuses: { 200: "the file", 400: "bad", 401: "nobody", 409: "conflict", 500: "broken" },
    handle: ({ path: { how } }) => Effect.succeed({ name: "../a b", ending: ".tar.gz", bytes: parts[how] ?? Stream.empty }),
  })
  return { operation: declared, stopped: Effect.runPromise(Deferred.await(stopped)) }
}

const open = (how: string, method = "GET", signal?: AbortSignal) =>
  fetch(`${service.url}/api/v2/saving/${how}`, {
    method,
    headers: { "x-api-key": service.keys.member },
    ...(signal === undefined ? {} : { signal }),
  })

describe("a file that is made while it is sent", () => {
  it("arrives whole, to be saved under a harmless name", async () => {
    service = await startService({ operations: [saving().operation] })
    const response = await open("ends")
    expect(response.status).toBe(200)
    expect(response.headers.get("content-type")).toBe("application/gzip")
    expect(response.headers.get("content-disposition")).toBe('attachment; filename="a-b.tar.gz"')
    expect(await response.text()).toBe("first last")
    const empty = await open("empty")
    expect([empty.status, await empty.text()]).toEqual([200, ""])
  })

  it("is not made for a HEAD", async () => {
    service = await startService({ operations: [saving().operation] })
    const head = await open("floods", "HEAD")
    expect([head.status, head.headers.get("content-type"), await head.text()]).toEqual([200, "application/gzip", ""])
  })

  it("is an ordinary problem when it cannot be produced at all", async () => {
    service = await startService({ operations: [saving().operation] })
    const response = await open("refuses")
    expect(response.status).toBe(409)
    expect(await response.json()).toMatchObject({ error: "Cannot pack it: it is over" })
  })

  it("is cut off when it fails midway, so that no client mistakes a part for the whole", async () => {
    service = await startService({ operations: [saving().operation] })
    await expect((await open("fails")).text()).rejects.toThrow()
    expect(service.defects).toEqual([])
    await expect((await open("breaks")).text()).rejects.toThrow()
    await expect.poll(() => service.defects.length).toBe(1)
    expect(service.defects[0]?.cause).toContain("the secret of the house")
  })

  it("is no longer produced when its reader disconnects", async () => {
    const { operation: declared, stopped } = saving()
    service = await startService({ operations: [declared] })
    const leaving = new AbortController()
    expect((await open("floods", "GET", leaving.signal)).status).toBe(200)
    leaving.abort()
    await stopped
    expect(service.defects).toEqual([])
  })
})
