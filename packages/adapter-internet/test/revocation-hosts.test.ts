import { NameLookup } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { type AddressInfo, connect, createServer as createPlainServer, type Server, type Socket } from "node:net"
import { createServer } from "node:tls"
import { afterAll, afterEach, beforeAll, expect, test as anyTest } from "vitest"
import { type InternetOptions, nameLookupLayer } from "../src/index.ts"
import { type Authority, hasOpenssl, makeAuthority, type Signed } from "./authority.ts"

const test = anyTest.skipIf(!hasOpenssl)
let authority: Authority
beforeAll(() => {
  if (hasOpenssl) authority = makeAuthority()
})
afterAll(() => authority?.remove())
const servers: Server[] = []
const sockets = new Set<Socket>()
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))))
})

const name = "site.example"
const address = "93.184.215.14"
const forName = `subjectAltName=DNS:${name}`
const caOf = ["basicConstraints=critical,CA:true"]

const listening = async (server: Server): Promise<number> => {
  servers.push(server)
  server.on("connection", (socket: Socket) => void sockets.add(socket.on("error", () => undefined)))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return (server.address() as AddressInfo).port
}
const serving = ({ key, cert }: Signed, others: readonly Signed[] = []): Promise<number> =>
  listening(
    createServer({ key, cert: [cert, ...others.map((other) => other.cert)].join("") }).on("tlsClientError", () => undefined),
  )

/** Asks for the certificates of a public address, behind which a server of this host stands. `dialled`: what was connected to. */
const ask = async (port: number, more: InternetOptions = {}, [asked, at]: readonly [string, string] = [name, address]) => {
  const dialled: string[] = []
  const options: InternetOptions = {
    ca: authority.root,
    dial: (to, toPort) => {
      dialled.push(`${to}:${toPort}`)
      return Promise.resolve(connect(port, "127.0.0.1"))
    },
    resolve4: () => Promise.reject(new Error("the name was resolved again")),
    ...more,
  }
  const hosts = await Effect.runPromise(
    NameLookup.pipe(
      Effect.flatMap((lookup) => lookup.revocationHosts(asked, at)),
      Effect.provide(nameLookupLayer(options)),
    ),
  )
  return { hosts, dialled }
}

test("names the hosts of CRLs and OCSP responders of the whole chain, and connects to the given address alone", async () => {
  const first = authority.sign("first", [...caOf, "crlDistributionPoints=URI:http://crl.root.example/root.crl"])
  const second = authority.sign("second", [...caOf, "authorityInfoAccess=OCSP;URI:http://ocsp.first.example"], "first")
  const crls =
    "crlDistributionPoints=URI:http://CRL.second.example:8080/a,URI:https://crl.second.example/b,URI:http://crl.root.example"
  const info = "authorityInfoAccess=OCSP;URI:http://ocsp.second.example/x,caIssuers;URI:http://issuer.second.example"
  const port = await serving(authority.sign("leaf", [forName, crls, info], "second"), [second, first])
  const { hosts, dialled } = await ask(port)
  expect(hosts.toSorted()).toEqual(["crl.root.example", "crl.second.example", "ocsp.first.example", "ocsp.second.example"])
  expect(dialled).toEqual([`${address}:443`])
})

test("leaves out whatever is no host in DNS", async () => {
  const urls = [
    "ldap://ldap.example/cn",
    "file:///etc/passwd",
    "http://127.0.0.1/a",
    "http://[::1]/a",
    "http://0x7f000001/a",
    "http://2130706433/a",
    "http://localhost/a",
    "http://user@/a",
    "http://a..example/a",
    "http://-a.example/a",
    "http://a.example./a",
    "http://*.example/a",
    "http://%0a.example/a",
    "javascript:alert(1)",
    "crl.example",
    "",
    "http://user:secret@ok.example/a",
  ]
  const port = await serving(
    authority.sign("hostile", [
      forName,
      "crlDistributionPoints=@points",
      "[points]",
      ...urls.map((url, n) => `URI.${n}=${url.replaceAll("$", "")}`),
    ]),
  )
  expect((await ask(port)).hosts).toEqual(["ok.example"])
})

test("names twenty hosts at most", async () => {
  const points = Array.from({ length: 500 }, (_, n) => `URI.${n}=http://crl${n}.example/`)
  const port = await serving(authority.sign("many", [forName, "crlDistributionPoints=@points", "[points]", ...points]))
  expect((await ask(port)).hosts).toHaveLength(20)
})

test("believes no certificate that another server's authority did not sign", async () => {
  const signer = authority.sign("signer", caOf)
  const leaf = authority.sign("honest", [forName], "signer")
  // same name, same key identifier, but nobody's: the handshake goes by the authority that is known
  const other = makeAuthority()
  const forged = other.sign("signer", [...caOf, "crlDistributionPoints=URI:http://exfiltrate.example/"])
  other.remove()
  const port = await serving(leaf, [forged, signer])
  expect((await ask(port, { ca: authority.root + signer.cert })).hosts).toEqual([])
})

test.each([
  [
    "is of another name",
    () => authority.sign("other", ["subjectAltName=DNS:other.example", "authorityInfoAccess=OCSP;URI:http://a.example"]),
  ],
  ["holds lists that are no ASN.1", () => authority.sign("broken", [forName, "crlDistributionPoints=DER:30:84:ff:ff:ff:ff:00"])],
  [
    "holds lists nested a thousand deep",
    () => authority.sign("deep", [forName, `crlDistributionPoints=DER:${"30:80:".repeat(1000)}${"00:00:".repeat(1000)}00`]),
  ],
])("a certificate that %s: none", async (_, signed) => {
  expect((await ask(await serving(signed()))).hosts).toEqual([])
})

test("an authority that nobody knows: none", async () => {
  const stranger = makeAuthority()
  const port = await serving(stranger.sign("leaf", [forName, "authorityInfoAccess=OCSP;URI:http://a.example"]))
  stranger.remove()
  expect((await ask(port)).hosts).toEqual([])
})

test("a chain of more than 64 KiB: none", async () => {
  const filler = `1.2.3.4=DER:04:82:75:30:${"00:".repeat(29_999)}00`
  const between = authority.sign("between", [...caOf, "authorityInfoAccess=OCSP;URI:http://a.example", filler])
  const fat = authority.sign("fat", [forName, "authorityInfoAccess=OCSP;URI:http://b.example"], "between")
  expect((await ask(await serving(fat, [between]))).hosts).toEqual(["b.example", "a.example"])
  const others = [1, 2, 3].map((n) => authority.sign(`other${n}`, [filler]))
  expect((await ask(await serving(fat, [between, ...others.slice(0, 2)]))).hosts).toEqual([])
  expect((await ask(await serving(fat, [between, ...others]))).hosts).toEqual([])
})

test.each([
  ["says nothing", (socket: Socket) => void socket.resume()],
  ["closes", (socket: Socket) => void socket.end()],
  ["resets", (socket: Socket) => void socket.resetAndDestroy()],
  ["speaks plain HTTP", (socket: Socket) => void socket.end("HTTP/1.1 302 Found\r\nLocation: https://127.0.0.1/\r\n\r\n")],
  [
    "sends without end",
    (socket: Socket) => {
      const more = (): void => void (socket.destroyed || socket.write(Buffer.alloc(65_536, 22), more))
      more()
    },
  ],
])("a server that %s: none", async (_, behave) => {
  const { hosts, dialled } = await ask(await listening(createPlainServer(behave)), { timeoutMillis: 100 })
  expect(hosts).toEqual([])
  expect(dialled).toHaveLength(1)
})

test("closes the connection of a server that takes too long", async () => {
  let closed: Promise<unknown> | undefined
  const port = await listening(
    createPlainServer((socket) => void (closed = new Promise((resolve) => socket.resume().once("close", resolve)))),
  )
  await ask(port, { timeoutMillis: 100 })
  await closed
})

test("a server that cannot be reached: none", async () => {
  expect((await ask(0, { dial: () => Promise.reject(new Error("connection refused")) })).hosts).toEqual([])
})

test("does not wait for a connection that is never made", async () => {
  expect((await ask(0, { dial: () => new Promise(() => undefined), timeoutMillis: 20 })).hosts).toEqual([])
})

test.each([
  ["a private address", {}, [name, "10.2.10.11"]],
  ["this host", {}, [name, "127.0.0.1"]],
  ["an IPv6 address", {}, [name, "2606:4700::1111"]],
  ["no address", {}, [name, "www.example.org"]],
  ["an address that the operator keeps", { never: () => Promise.resolve([address]) }, [name, address]],
  ["what is no name", {}, ["localhost", address]],
  ["anything where the internet is not used", { internet: false }, [name, address]],
] as const)("never connects to %s", async (_, more, asked) => {
  const port = await serving(authority.sign("quiet", [forName, "authorityInfoAccess=OCSP;URI:http://a.example"]))
  expect(await ask(port, more, asked)).toEqual({ hosts: [], dialled: [] })
})
