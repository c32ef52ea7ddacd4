import { afterEach, beforeEach, describe, expect, it } from "vitest"
import type { Who } from "../../packages/adapter-http/test/support.ts"
import { config, startWholeService, type WholeService } from "./service.ts"

let service: WholeService
beforeEach(async () => {
  service = await startWholeService()
})
afterEach(async () => {
  expect(service.defects).toEqual([])
  await service.stop()
})

/** Each configuration that is written as a whole: how it is read and written. */
const documents = {
  "a range": {
    path: "/api/v2/range/config?rangeID=R1",
    body: (text: string) => {
      const form = new FormData()
      form.append("file", new Blob([text]), "config.yml")
      return { body: form }
    },
  },
  "a blueprint": {
    path: "/api/v2/blueprints/web%2Fbasic/config",
    body: (text: string) => ({ body: JSON.stringify({ config: text }), headers: { "content-type": "application/json" } }),
  },
}

describe.each(Object.entries(documents))("the configuration of %s", (_name, { path, body }) => {
  const read = async (who: Who = "member") => {
    const response = await fetch(service.url + path, { headers: { "x-api-key": service.keys[who] } })
    return { tag: response.headers.get("etag"), text: ((await response.json()) as { result: string }).result }
  }
  const write = async (text: string, ifMatch?: string, who: Who = "member") => {
    const { headers, ...init } = { headers: {}, ...body(text) }
    const response = await fetch(service.url + path, {
      ...init,
      method: "PUT",
      headers: { ...headers, "x-api-key": service.keys[who], ...(ifMatch === undefined ? {} : { "if-match": ifMatch }) },
    })
    const { error = "" } = (await response.json()) as { readonly error?: string }
    return { status: response.status, tag: response.headers.get("etag"), error }
  }
  const other = `${config}# other\n`

  it("has a strong ETag that stays until it changes, and each change returns the next one", async () => {
    const { tag, text } = await read()
    expect([tag, text]).toEqual([expect.stringMatching(/^"[0-9a-f]{32}"$/u), config])
    expect((await read("admin")).tag).toBe(tag)
    const changed = await write(other)
    expect(changed).toMatchObject({ status: 200, tag: (await read()).tag })
    expect(changed.tag).not.toBe(tag)
    expect((await write(config)).tag).toBe(tag)
  })

  it("can be changed with If-Match of the current version and not of an older one; the refusal says who changed it and when", async () => {
    const { tag } = await read()
    expect((await write(other, tag!, "admin")).status).toBe(200)
    const refused = await write(`${config}# mine\n`, tag!)
    expect(refused).toMatchObject({ status: 409, error: expect.stringMatching(/AD changed it at \d{4}-\d\d-\d\dT/u) })
    expect((await read()).text).toBe(other)
    expect((await write(`${config}# mine\n`, (await read()).tag!)).status).toBe(200)
  })

  it("accepts one of two concurrent writes", async () => {
    const { tag } = await read()
    const both = await Promise.all([write(`${config}# a\n`, tag!), write(`${config}# b\n`, tag!)])
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
  })

  it("accepts If-Match with a star or a list that has the current version, and refuses weak and malformed versions", async () => {
    const { tag } = await read()
    for (const condition of [`W/${tag}`, '"x"', "nonsense", tag!.replaceAll('"', ""), `"${"a".repeat(4000)}"`])
      expect((await write(other, condition)).status).toBe(409)
    expect((await write(other, "*")).status).toBe(200)
    expect((await write(config, `"x", ${(await read()).tag}`)).status).toBe(200)
    expect((await write(other)).status).toBe(200)
  })

  it("shows its version only to users who may read it", async () => {
    const response = await fetch(service.url + path, { headers: { "x-api-key": service.keys.stranger } })
    expect([response.status, response.headers.get("etag")]).toEqual([403, null])
    expect((await write(other, (await read()).tag!, "stranger")).status).toBe(403)
  })
})
