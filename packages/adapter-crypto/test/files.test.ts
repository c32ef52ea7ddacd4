import { fingerprintOf, loadOrCreateCertificate, loadOrCreateKey, masterKeyFromText } from "@rangewright/adapter-crypto"
import * as Effect from "effect/Effect"
import { X509Certificate } from "node:crypto"
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer, connect } from "node:tls"
import type { AddressInfo } from "node:net"
import { once } from "node:events"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rangewright-crypto-"))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const run = Effect.runPromise
const now = new Date("2026-01-02T03:04:05Z")

describe("the key file", () => {
  it("is made once, for its owner alone, and then reused", async () => {
    const path = join(folder, "key")
    const first = await run(loadOrCreateKey(path))
    expect(first.bytes).toHaveLength(32)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(await run(loadOrCreateKey(path))).toEqual(first)
    expect(readdirSync(folder)).toEqual(["key"])
  })

  it("is the same for two that make it at once", async () => {
    const keys = await Promise.all(Array.from({ length: 8 }, () => run(loadOrCreateKey(join(folder, "key")))))
    expect(new Set(keys.map((key) => Buffer.from(key.bytes).toString("hex"))).size).toBe(1)
  })

  it.each([0o644, 0o640, 0o604])("is refused when others may read it (%o)", async (mode) => {
    const path = join(folder, "key")
    await run(loadOrCreateKey(path))
    chmodSync(path, mode)
    const fault = await run(Effect.flip(loadOrCreateKey(path)))
    expect(fault.message).toContain(`mode is 0${mode.toString(8)}`)
    expect(fault.hint).toContain(`chmod 600 ${path}`)
  })

  it("is refused when it holds no key, and left as it was, without showing its text", async () => {
    const path = join(folder, "key")
    writeFileSync(path, "secret-but-short", { mode: 0o600 })
    const fault = await run(Effect.flip(loadOrCreateKey(path)))
    expect(fault.message).toContain("32 bytes")
    expect(fault.message).not.toContain("secret-but-short")
    expect(readFileSync(path, "utf8")).toBe("secret-but-short")
  })

  it("is refused when it is a link, or its folder is missing", async () => {
    writeFileSync(join(folder, "elsewhere"), "x", { mode: 0o600 })
    symlinkSync(join(folder, "elsewhere"), join(folder, "key"))
    expect((await run(Effect.flip(loadOrCreateKey(join(folder, "key")))))._tag).toBe("KeyUnusable")
    expect((await run(Effect.flip(loadOrCreateKey(join(folder, "none", "key")))))._tag).toBe("KeyUnusable")
  })

  it("may come as base64 or hex text instead", async () => {
    const bytes = Buffer.alloc(32, 7)
    expect((await run(masterKeyFromText(bytes.toString("base64"), "X"))).bytes).toEqual(bytes)
    expect((await run(masterKeyFromText(`${bytes.toString("hex")}\n`, "X"))).bytes).toEqual(bytes)
    expect((await run(Effect.flip(masterKeyFromText("short", "RANGEWRIGHT_KEY")))).message).toContain("RANGEWRIGHT_KEY")
  })
})

describe("the service's own certificate", () => {
  const names = ["lab.example", "localhost", "127.0.0.1", "::1"]

  it("is valid ten years for the names and addresses given, private, and reused", async () => {
    const path = join(folder, "tls.pem")
    const made = await run(loadOrCreateCertificate(path, names, now))
    const x509 = new X509Certificate(made.cert)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(x509.checkHost("lab.example")).toBe("lab.example")
    expect(x509.checkIP("127.0.0.1")).toBe("127.0.0.1")
    expect(x509.checkIP("::1")).toBe("::1")
    expect(x509.checkHost("other.example")).toBeUndefined()
    expect(x509.validToDate.getUTCFullYear()).toBe(2036)
    expect(x509.verify(x509.publicKey)).toBe(true)
    expect(await run(loadOrCreateCertificate(path, ["changed.example"], now))).toEqual(made)
    expect(fingerprintOf(made.cert)).toMatch(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/u)
  })

  it("serves TLS that a client which trusts it accepts", async () => {
    const { cert, key } = await run(loadOrCreateCertificate(join(folder, "tls.pem"), names, new Date()))
    const server = createServer({ cert, key }, (socket) => socket.end("hello")).listen(0, "127.0.0.1")
    await once(server, "listening")
    const client = connect({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", ca: cert })
    const [data] = (await once(client, "data")) as [Buffer]
    expect(String(data)).toBe("hello")
    expect(client.getPeerCertificate().fingerprint256).toBe(fingerprintOf(cert))
    client.destroy()
    server.close()
  })

  it("is refused when it has ended or is not a pair, with the way out", async () => {
    const path = join(folder, "tls.pem")
    await run(loadOrCreateCertificate(path, names, now))
    const ended = await run(Effect.flip(loadOrCreateCertificate(path, names, new Date("2037-01-01T00:00:00Z"))))
    expect(ended.message).toContain("2036")
    expect(ended.hint).toContain("Remove")
    const broken = join(folder, "broken.pem")
    writeFileSync(broken, "-----BEGIN NOTHING-----", { mode: 0o600 })
    expect((await run(Effect.flip(loadOrCreateCertificate(broken, names, now)))).message).toContain("does not contain")
  })
})
