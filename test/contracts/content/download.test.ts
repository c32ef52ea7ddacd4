import { loadOrCreateCertificate } from "@rangewright/adapter-crypto"
import * as Effect from "effect/Effect"
import type { ServerResponse } from "node:http"
import { readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { tarGz, zip } from "./support/archives.ts"
import { gitHttp } from "./support/git-http.ts"
import { gitWorld } from "./support/world.ts"

type Answers = Readonly<Record<string, (response: ServerResponse) => void>>

const sends = (bytes: Uint8Array) => (response: ServerResponse) => void response.end(bytes)
const redirects =
  (to: string, status = 302) =>
  (response: ServerResponse) =>
    void response.writeHead(status, { location: to }).end()

/** A server with these answers by path, and a world that may contact it. */
const serving = async (answers: Answers, options: Parameters<typeof gitWorld>[0] = {}) => {
  const world = gitWorld(options)
  const server = await gitHttp(world.served, (request, response) => {
    const answer = answers[new URL(request.url ?? "/", "http://server").pathname]
    if (answer === undefined) response.writeHead(404).end()
    else answer(response)
    return true
  })
  onTestFinished(server.close)
  const urlOf = (path: string) => `http://127.0.0.1:${server.port}${path}`
  return { world, server, urlOf }
}

const role = tarGz([
  { name: "web-1.0/tasks/main.yml", content: "[]\n" },
  { name: "web-1.0/run", content: "x", mode: 0o755 },
])

describe("an archive by its URL", () => {
  test("becomes the files in it, in each format, without the wrapping folder if requested", async () => {
    const { world, urlOf } = await serving({ "/web.tar.gz": sends(role), "/web.zip": sends(zip({ "a/b": { content: "1" } })) })
    const paths = async (url: string, unwrap?: { readonly keep: readonly string[] }) =>
      (await world.fetch({ type: "download", url, ...(unwrap === undefined ? {} : { unwrap }) })).files.map(({ path }) => path)
    expect(await paths(urlOf("/web.tar.gz"))).toEqual(["web-1.0/run", "web-1.0/tasks/main.yml"])
    expect(await paths(`${urlOf("/web.tar.gz")}?token=x#part`, { keep: [] })).toEqual(["run", "tasks/main.yml"])
    expect(await paths(urlOf("/web.zip"))).toEqual(["a/b"])
    world.expectClean()
  })

  test("is the same snapshot as the uploaded archive", async () => {
    const { world, urlOf } = await serving({ "/a.tar.gz": sends(role), "/b.tar.gz": sends(role) })
    const [one, other] = [urlOf("/a.tar.gz"), urlOf("/b.tar.gz")]
    expect((await world.fetch({ type: "download", url: one })).id).toBe((await world.fetch({ type: "download", url: other })).id)
  })

  test("is followed through redirects up to their limit", async () => {
    const { world, urlOf } = await serving({
      "/web.tar.gz": redirects("/moved/by/name?signature=1", 301),
      "/moved/by/name": sends(role),
      "/circle.tar.gz": redirects("/circle.tar.gz"),
      "/file.tar.gz": redirects("file:///etc/passwd"),
      "/inside.tar.gz": redirects("http://169.254.169.254/latest/meta-data"),
      "/nowhere.tar.gz": redirects("http://[::bad"),
    })
    expect((await world.fetch({ type: "download", url: urlOf("/web.tar.gz") })).files).toHaveLength(2)
    const ruleOf = async (path: string) => (await world.fault({ type: "download", url: urlOf(path) })).facts.rule
    expect(await ruleOf("/circle.tar.gz")).toBe("redirect")
    expect(await ruleOf("/file.tar.gz")).toBe("scheme")
    expect(await ruleOf("/inside.tar.gz")).toBe("address")
    expect(await ruleOf("/nowhere.tar.gz")).toBe("redirect")
    world.expectClean()
  })

  test("over https is only followed to https, and only to hosts that their certificates name", async () => {
    const world = gitWorld({ schemes: ["https", "http"] })
    const names = ["files.example.invalid"]
    const certificate = await Effect.runPromise(loadOrCreateCertificate(join(world.root, "tls.json"), names, new Date()))
    const caFile = join(world.root, "ca.pem")
    writeFileSync(caFile, certificate.cert)
    const server = await gitHttp(
      world.served,
      (request, response) => {
        if (request.url === "/web.tar.gz") response.end(role)
        else response.writeHead(302, { location: "http://127.0.0.1/web.tar.gz" }).end()
        return true
      },
      certificate,
    )
    onTestFinished(server.close)
    const lookup = async () => ["127.0.0.1"]
    const url = (path: string, host = "files.example.invalid") => `https://${host}:${server.port}${path}`
    const fetched = await world.fetch({ type: "download", url: url("/web.tar.gz") }, { caFile, lookup })
    expect(fetched.files).toHaveLength(2)
    const down = await world.fault({ type: "download", url: url("/down.tar.gz") }, { caFile, lookup })
    expect(down.facts.rule).toBe("redirect")
    for (const [host, more] of [
      ["files.example.invalid", {}],
      ["other.example.invalid", { caFile }],
    ] as const) {
      const fault = await world.fault({ type: "download", url: url("/web.tar.gz", host) }, { lookup, ...more })
      expect(fault.facts.reason).toBe("unreachable")
    }
  })

  test("is not requested from addresses that are not public, whatever their name", async () => {
    const { world, server, urlOf } = await serving({ "/web.tar.gz": sends(role) }, { networks: [] })
    for (const url of [urlOf("/web.tar.gz"), `http://files.example:${server.port}/web.tar.gz`]) {
      const fault = await world.fault({ type: "download", url }, { lookup: async () => ["93.184.216.34", "127.0.0.1"] })
      expect(fault.facts).toMatchObject({ reason: "refused", rule: "address" })
    }
    expect(server.requests).toEqual([])
  })

  test("is requested from the checked address, not from what the name resolves to later", async () => {
    const { world, server } = await serving({ "/web.tar.gz": sends(role) })
    const url = `http://files.invalid:${server.port}/web.tar.gz`
    expect((await world.fetch({ type: "download", url }, { lookup: async () => ["127.0.0.1"] })).files).toHaveLength(2)
  })

  test.each([
    ["ftp://git.example/x.tar.gz", "url-transport"],
    ["ssh://git.example/x.tar.gz", "scheme"],
    ["file:///etc/x.tar.gz", "scheme"],
    ["git@git.example:x.tar.gz", "scheme"],
    ["https://me:s3cret@git.example/x.tar.gz", "url-credentials"],
    ["https://git.example/-x\n.tar.gz", "url-form"],
    ["https://git.example/x.tar.gz?a=ü", "url-form"],
    ["--output=x", "url-option"],
  ])("%s is refused", async (url, rule) => {
    const world = gitWorld()
    const fault = await world.fault({ type: "download", url })
    expect(fault.facts).toMatchObject({ reason: "refused", rule })
    expect(fault.message).not.toContain("s3cret")
  })

  test.each([
    [404, "not-found"],
    [403, "unauthenticated"],
    [500, "unreachable"],
    [206, "unreachable"],
  ])("an answer of %i is a fault", async (status, reason) => {
    const { world, urlOf } = await serving({ "/x.tar.gz": (response) => void response.writeHead(status).end("x") })
    expect((await world.fault({ type: "download", url: urlOf("/x.tar.gz") })).facts.reason).toBe(reason)
  })

  test("that is truncated, too large, no archive or of an unknown format leaves nothing behind", async () => {
    const { world, urlOf } = await serving(
      {
        "/cut.tar.gz": (response) => {
          response.writeHead(200, { "content-length": String(role.length) })
          response.write(role.subarray(0, 20), () => response.destroy())
        },
        "/large.tar.gz": (response) => void response.end(Buffer.alloc(100_000)),
        "/none.tar.gz": sends(Buffer.from("hello")),
        "/none": sends(role),
      },
      { transferBytes: 50_000 },
    )
    const reasonOf = async (path: string) => (await world.fault({ type: "download", url: urlOf(path) })).facts.reason
    expect(await reasonOf("/cut.tar.gz")).toBe("unreachable")
    expect(await reasonOf("/large.tar.gz")).toBe("too-large")
    expect(await reasonOf("/none.tar.gz")).toBe("broken")
    expect(await reasonOf("/none")).toBe("refused")
    world.expectClean()
    expect(readdirSync(join(world.folder, "snapshots"))).toEqual([])
  })

  test("that never ends is abandoned at the deadline", async () => {
    const { world, urlOf } = await serving({ "/slow.tar.gz": (response) => void response.write("x") }, { timeoutSeconds: 1 })
    expect((await world.fault({ type: "download", url: urlOf("/slow.tar.gz") })).facts.reason).toBe("timeout")
    world.expectClean()
  })
})
