import { X509Certificate } from "node:crypto"
import { readFileSync, statSync } from "node:fs"
import { request as plainRequest } from "node:http"
import { request as tlsRequest } from "node:https"
import type { IncomingMessage } from "node:http"
import { createServer } from "node:net"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import type { TLSSocket } from "node:tls"
import { afterEach, expect, test } from "vitest"
import { removeFolders, temporaryFolder } from "./support/folder.ts"
import { endAll } from "./support/program.ts"
import { startService } from "./support/service.ts"

afterEach(async () => {
  await endAll()
  removeFolders()
})

interface Seen {
  readonly status: number | undefined
  readonly body: string
  /** SHA-256 of the certificate; undefined for plain HTTP. */
  readonly fingerprint: string | undefined
}

/** GET with ROOT's key, over TLS that trusts only this certificate, or plain. */
const get = (url: string, key: string, ca: string): Promise<Seen> =>
  new Promise((resolve, reject) => {
    const secure = url.startsWith("https:")
    const options = { agent: false, headers: { "X-API-KEY": key, Connection: "close" } }
    const answered = (response: IncomingMessage) => {
      const fingerprint = secure ? (response.socket as TLSSocket).getPeerCertificate().fingerprint256 : undefined
      let body = ""
      response.setEncoding("utf8").on("data", (chunk: string) => (body += chunk))
      response.on("end", () => resolve({ status: response.statusCode, body, fingerprint }))
    }
    const sent = secure ? tlsRequest(url, { ...options, ca }, answered) : plainRequest(url, options, answered)
    sent.on("error", reject).end()
  })

const freePort = async (): Promise<number> => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

test(
  "one port speaks TLS and, to the local host, plain HTTP; the administrators' port serves the same",
  { timeout: 300_000 },
  async () => {
    const data = temporaryFolder()
    const adminPort = await freePort()
    const service = await startService(data, { RANGEWRIGHT_ADMIN_PORT: String(adminPort) })
    const certificate = readFileSync(join(data, "certificate.pem"), "utf8")
    const ca = /-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----/u.exec(certificate)?.[0] ?? ""
    expect(new X509Certificate(ca).fingerprint256).toBe(service.certificate)
    const key = readFileSync(join(data, "root-api-key"), "utf8").trim()
    const seen = await Promise.all(
      [service.port, adminPort].flatMap((port) =>
        ["https", "http"].map((scheme) => get(`${scheme}://127.0.0.1:${port}/api/v2/user/all`, key, ca)),
      ),
    )
    expect(seen.map(({ status, body }) => ({ status, body }))).toEqual(Array(4).fill({ status: 200, body: "[]\n" }))
    expect(seen.map(({ fingerprint }) => fingerprint)).toEqual([service.certificate, undefined, service.certificate, undefined])
    for (const file of ["root-api-key", "secret-key", "certificate.pem", "rangewright.db"])
      expect(statSync(join(data, file)).mode & 0o077, file).toBe(0)
  },
)
