import { loadUi } from "@rangewright/adapter-http"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { get } from "node:http"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { brotliCompressSync, brotliDecompressSync, gunzipSync } from "node:zlib"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { samples } from "./sample-operations.ts"
import { startService, type Service } from "./support.ts"

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

const index = `<!doctype html><title>page</title>${"x".repeat(2000)}`
const script = `export const x = 1\n${"// text\n".repeat(500)}`
const readyStyle = `a { color: red }\n${"/* text */\n".repeat(100)}`

let folder: string
let service: Service
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "rangewright-ui-"))
  mkdirSync(join(folder, "assets"))
  mkdirSync(join(folder, ".git"))
  writeFileSync(join(folder, "index.html"), index)
  writeFileSync(join(folder, "assets/main-abc123.js"), script)
  writeFileSync(join(folder, "assets/main-abc123.css"), readyStyle)
  writeFileSync(join(folder, "assets/main-abc123.css.br"), brotliCompressSync(readyStyle))
  writeFileSync(join(folder, "assets/small.js"), "1")
  writeFileSync(join(folder, "icon.svg"), "<svg xmlns='http://www.w3.org/2000/svg'/>")
  writeFileSync(join(folder, ".env"), "SECRET=1")
  writeFileSync(join(folder, ".git/config"), "secret")
  symlinkSync("/etc/passwd", join(folder, "passwd"))
  service = await startService({ operations: samples, http: { ui: await loadUi(folder, { strictTransport: false }) } })
})
afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true })
})

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
}

/** As it is written: `fetch` would resolve dots, and decode what is compressed. */
const ask = (path: string, headers: Record<string, string> = {}, method = "GET", at = service): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const sent = get({ host: "127.0.0.1", port: at.port, path, headers, method }, (response) => {
      const parts: Buffer[] = []
      response.on("data", (part: Buffer) => parts.push(part))
      response.on("error", reject)
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts) }),
      )
    })
    sent.on("error", reject)
  })

describe("the page", () => {
  it("is where the root redirects, with its exact policy and for no other origin", async () => {
    const root = await ask("/")
    expect([root.status, root.headers["location"]]).toEqual([307, "/ui/"])
    for (const path of ["/ui", "/ui/", "/ui/index.html", "/ui/ranges/UMA", "/ui/runs/kx?view=log", "/ui/ranges/lab%2Fweb"]) {
      const { status, headers, body } = await ask(path)
      expect([path, status, body.toString()]).toEqual([path, 200, index])
      expect(headers).toMatchObject({
        "content-security-policy": policy,
        "content-type": "text/html; charset=utf-8",
        "cache-control": "no-cache",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "x-xss-protection": "0",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": expect.stringContaining("camera=()") as string,
        vary: "Accept-Encoding",
      })
      expect(headers).not.toHaveProperty("access-control-allow-origin")
      expect(headers).not.toHaveProperty("strict-transport-security")
    }
  })

  it("has immutable assets, and a document that is revalidated", async () => {
    const asset = await ask("/ui/assets/main-abc123.js")
    expect(asset.headers).toMatchObject({
      "cache-control": "public, max-age=31536000, immutable",
      "content-type": "text/javascript; charset=utf-8",
    })
    expect(asset.headers).not.toHaveProperty("content-security-policy")
    const { headers } = await ask("/ui/")
    const etag = String(headers["etag"])
    for (const sent of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const again = await ask("/ui/", { "if-none-match": sent })
      expect([again.status, again.body.length, again.headers["etag"]]).toEqual([304, 0, etag])
    }
    expect((await ask("/ui/", { "if-none-match": '"other"' })).status).toBe(200)
  })

  it("is compressed for clients that accept it, whether precompressed files exist or not", async () => {
    const br = await ask("/ui/assets/main-abc123.css", { "accept-encoding": "gzip, deflate, br" })
    expect([br.headers["content-encoding"], brotliDecompressSync(br.body).toString()]).toEqual(["br", readyStyle])
    const gz = await ask("/ui/assets/main-abc123.js", { "accept-encoding": "gzip, br;q=0" })
    expect([gz.headers["content-encoding"], gunzipSync(gz.body).toString()]).toEqual(["gzip", script])
    expect(gz.headers["content-length"]).toBe(String(gz.body.length))
    for (const headers of [{}, { "accept-encoding": "identity" }, { "accept-encoding": "deflate" }] as Record<string, string>[])
      expect((await ask("/ui/assets/main-abc123.js", headers)).body.toString()).toBe(script)
    expect((await ask("/ui/assets/small.js", { "accept-encoding": "br" })).headers).not.toHaveProperty("content-encoding")
  })

  it("is answered to a HEAD without its body", async () => {
    const { status, headers, body } = await ask("/ui/", {}, "HEAD")
    expect([status, headers["content-length"], body.length]).toEqual([200, String(index.length), 0])
  })

  it.each([
    "/ui/../../etc/passwd",
    "/ui/%2e%2e/%2e%2e/etc/passwd",
    "/ui/..%2f..%2fetc%2fpasswd",
    "/ui/%2e%2e",
    "/ui/..\\..\\etc\\passwd",
    "/ui/%5c..%5c",
    "/ui/.env",
    "/ui/%2eenv",
    "/ui/.git/config",
    "/ui/passwd.txt",
    "/ui/assets/gone.js",
    "/ui/assets/main-abc123.css.br",
    "/ui/assets/main-abc123.js.map",
    "/ui/__proto__.js",
  ])("has nothing at %s", async (path) => {
    const { status, headers, body } = await ask(path)
    expect([status, headers["content-type"]]).toEqual([404, "application/json"])
    expect(body.toString()).not.toMatch(/root:|SECRET|secret/u)
    expect(headers).not.toHaveProperty("access-control-allow-origin")
  })

  it("follows no link out of its folder", async () => {
    // what is no name of a file is an address of the page's own
    expect((await ask("/ui/passwd")).body.toString()).toBe(index)
  })

  it.each(["/ui/templates/ubuntu-22.04-x64-server-template", "/ui/ranges/UMA/machines/1.5", "/ui/runs/a%2eb"])(
    "answers %s with the page: names may contain dots",
    async (path) => {
      expect((await ask(path)).body.toString()).toBe(index)
    },
  )

  it("refuses what is malformed, and changes nothing", async () => {
    expect((await ask("/ui/%ff")).status).toBe(400)
    expect((await ask("/ui/%00")).status).toBe(400)
    for (const method of ["POST", "PUT", "DELETE"]) expect((await ask("/ui/", {}, method)).status).toBe(404)
    expect((await ask("/uix")).status).toBe(404)
    const preflight = await ask("/ui/session", { origin: "https://evil.example" }, "OPTIONS")
    expect(preflight.headers).not.toHaveProperty("access-control-allow-origin")
  })

  it("survives readers that leave at once", async () => {
    for (let n = 0; n < 50; n++) {
      const socket = connect(service.port, "127.0.0.1")
      socket.on("error", () => undefined)
      await new Promise<void>((resolve) =>
        socket.write("GET /ui/assets/main-abc123.js HTTP/1.1\r\nHost: x\r\n\r\n", () => resolve()),
      )
      socket.destroy()
    }
    expect((await ask("/ui/")).status).toBe(200)
    expect(service.defects).toEqual([])
  })
})

describe("a page that cannot be read", () => {
  it("is reported with its folder and the setting", async () => {
    const tooLong = join(folder, "x".repeat(300))
    await expect(loadUi(tooLong, { strictTransport: false })).rejects.toThrow(
      `Cannot serve the web page in ${tooLong}: ENAMETOOLONG: name too long, scandir '${tooLong}'. Set web_folder to the folder of the built page itself.`,
    )
  })
})

describe("a service without a built page", () => {
  it("says how to build it, and keeps browsers on TLS only where it was told", async () => {
    const ui = await loadUi(join(folder, "nowhere"), { strictTransport: true })
    const other = await startService({ operations: samples, http: { ui } })
    const { status, headers, body } = await ask("/ui/", {}, "GET", other)
    expect([status, body.toString()]).toEqual([200, expect.stringContaining("not built")])
    const scripts = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")).scripts as object
    expect(Object.keys(scripts)).toContain(/<code>npm run ([^<]*)<\/code>/u.exec(body.toString())?.[1])
    expect(headers["content-security-policy"]).toBe(policy)
    expect(headers["strict-transport-security"]).toMatch(/^max-age=\d+$/u)
    await other.stop()
  })
})
