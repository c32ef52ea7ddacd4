import { type DeployEnd, parseNetwork, readDestination } from "@rangewright/domain"
import { Notifications } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { createServer, type RequestListener } from "node:http"
import { type AddressInfo, connect, type Server } from "node:net"
import { SMTPServer } from "smtp-server"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import { notificationsLayer } from "../src/index.ts"
import type { InternetOptions } from "../src/index.ts"
import { type Authority, hasOpenssl, makeAuthority } from "./authority.ts"

const end: DeployEnd = {
  rangeId: "UMA",
  host: "lab1",
  status: "success",
  message: "",
  startedAt: new Date("2026-03-01T10:00:00Z"),
  endedAt: new Date("2026-03-01T10:00:05Z"),
}

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const names: Readonly<Record<string, readonly string[]>> = {
  "hooks.example": ["93.184.215.14"],
  "slack.com": ["93.184.215.15"],
  "inside.example": ["10.0.0.1"],
  "loopback.example": ["127.0.0.1"],
  "hypervisor.example": ["93.184.215.99"],
  "inner-hypervisor.example": ["10.0.0.99"],
}

/** Notifies through the given port of this host, behind which all names stand. `dialled`: what was connected to. */
const notifierAt = (server: Server, more: InternetOptions) => {
  const dialled: string[] = []
  const layer = notificationsLayer({
    never: () => Promise.resolve(["93.184.215.99", "10.0.0.99"]),
    resolve4: (name) => Promise.resolve(names[name] ?? []),
    dial: (address, port) => {
      dialled.push(`${address}:${port}`)
      return Promise.resolve(connect((server.address() as AddressInfo).port, "127.0.0.1"))
    },
    ...more,
  })
  const send = (url: string): Promise<string | undefined> => {
    const destination = readDestination(url)
    if (destination.state === "unusable") throw new Error(destination.because)
    return Effect.runPromise(
      Effect.provide(
        Notifications.use((port) => port.send(destination.notify(end))),
        layer,
      ),
    )
  }
  return { dialled, send }
}

/** A web server, which answers the n-th request (from 1) this way. */
const openWeb = async (answer: (...of: [...Parameters<RequestListener>, number]) => void, more: InternetOptions = {}) => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (text: string) => (body += text))
    request.on("end", () => {
      asked.push(`${request.method} ${request.headers.host}${request.url} ${body}`)
      answer(request, response, asked.length)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  closing.push(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { asked, ...notifierAt(server, more) }
}
const taken: RequestListener = (_, response) => void response.writeHead(204).end()
const networks = (...texts: readonly string[]) => texts.flatMap((text) => parseNetwork(text) ?? [])

describe("a web hook", () => {
  it("is sent the outcome", async () => {
    const { send, asked, dialled } = await openWeb(taken)
    expect(await send("http://hooks.example/deploys?a=1")).toBeUndefined()
    expect(asked).toEqual([expect.stringMatching(/^POST hooks\.example\/deploys\?a=1 \{"host":"lab1","range_id":"UMA",/u)])
    expect(dialled).toEqual(["93.184.215.14:80"])
  })

  it("is sent it again while its server is overloaded", async () => {
    const { send, asked } = await openWeb((_, response, nth) => void response.writeHead(nth === 1 ? 503 : 200).end(), {
      timeoutMillis: 1000,
    })
    expect(await send("http://hooks.example/")).toBeUndefined()
    expect(asked).toHaveLength(2)
  })

  it.each([
    [404, "its server answers with status 404"],
    [302, "its server redirects (status 302); use the final URL"],
  ])("is asked once when its server answers with status %i", async (status, because) => {
    const { send, asked } = await openWeb(
      (_, response) => void response.writeHead(status, { location: "http://10.0.0.1/" }).end(),
    )
    expect(await send("http://hooks.example/")).toBe(because)
    expect(asked).toHaveLength(1)
  })

  it("whose server never answers is given up", async () => {
    const { send, asked } = await openWeb(() => undefined, { timeoutMillis: 50 })
    expect(await send("http://hooks.example/")).toBe("its server did not answer within 0.05 s")
    expect(asked).toHaveLength(3)
  })

  it("whose server closes the connection is given up, and its URL is not repeated", async () => {
    const { send } = await openWeb((request) => void request.socket.destroy(), { timeoutMillis: 500 })
    expect(await send("http://user:SECRET@hooks.example/SECRET?SECRET")).not.toContain("SECRET")
  })
})

describe("what is not connected to", () => {
  it.each([
    ["a private address", "http://inside.example/"],
    ["a private address as a number", "http://167772161/"],
    ["a private address of a chat server", "mattermost://inside.example/token"],
    ["this host", "http://loopback.example:8006/"],
    ["this host by its address", "http://127.0.0.1:8006/"],
    ["this host by its IPv6 address", "http://[::1]:8006/"],
    ["a wrapped address", "http://[::ffff:10.0.0.1]/"],
    ["the hypervisor", "https://hypervisor.example:8006/"],
    ["a name of a local network", "http://localhost/"],
    ["another protocol", "http://hooks.example:25/"],
    ["a private mail server", "smtp://u:p@inside.example/?from=a@x.org&to=b@x.org"],
  ])("%s", async (_, url) => {
    const { send, dialled } = await openWeb(taken)
    expect(await send(url)).toEqual(expect.any(String))
    expect(dialled).toEqual([])
  })

  it("and what the operator can do about it", async () => {
    const { send } = await openWeb(taken)
    expect(await send("http://inside.example/")).toBe(
      "Cannot resolve inside.example: none of its addresses is public. The operator can allow networks for notifications (notification_networks)",
    )
  })

  it("anything without the internet, except the operator's networks", async () => {
    const { send, dialled } = await openWeb(taken, { internet: false, networks: networks("10.0.0.0/8") })
    expect(await send("http://hooks.example/")).toBe("the service may not use the internet (tool_internet)")
    expect(await send("http://inside.example:8065/")).toBeUndefined()
    expect(dialled).toEqual(["10.0.0.1:8065"])
  })

  it("the hypervisor in one of the operator's networks, unless it is named", async () => {
    const { send, dialled } = await openWeb(taken, { networks: networks("10.0.0.0/8") })
    expect(await send("http://inner-hypervisor.example/")).toEqual(expect.any(String))
    expect(dialled).toEqual([])
    const named = await openWeb(taken, { networks: networks("10.0.0.99/32") })
    expect(await named.send("http://inner-hypervisor.example/")).toBeUndefined()
  })
})

describe("services", () => {
  it("that refuse with status 200 are told apart from those that accept", async () => {
    const answers = ['{"ok": true}', '{"ok":false,"error":"channel_not_found"}', "SECRET"]
    const root = hasOpenssl ? makeAuthority() : undefined
    if (root === undefined) return
    const signed = root.sign("slack", ["subjectAltName=DNS:slack.com"])
    root.remove()
    const { createServer: createTls } = await import("node:https")
    let nth = 0
    const server = createTls({ cert: signed.cert, key: signed.key }, (request, response) => {
      request.resume().on("end", () => response.end(answers[nth++]))
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    closing.push(() => new Promise((resolve) => server.close(resolve)))
    const { send } = notifierAt(server, { ca: root.root })
    expect(await send("slack://xoxb:1-2-3@C1")).toBeUndefined()
    expect(await send("slack://xoxb:1-2-3@C1")).toBe("its server refuses it (channel_not_found)")
    expect(await send("slack://xoxb:1-2-3@C1")).toBe("its server refuses it (no reason)")
  })
})

describe.skipIf(!hasOpenssl)("a mail", () => {
  let authority: Authority
  let signed: { readonly cert: string; readonly key: string }
  beforeAll(() => {
    authority = makeAuthority()
    signed = authority.sign("mail", ["subjectAltName=DNS:hooks.example"])
  })
  afterAll(() => authority.remove())

  const openMail = async (
    options: {
      readonly secure?: boolean
      readonly disabledCommands?: string[]
      readonly ca?: string
      readonly timeoutMillis?: number
    } = {},
  ) => {
    const mails: string[] = []
    const logins: string[] = []
    const { ca = authority.root, timeoutMillis = 5000, ...more } = options
    const server = new SMTPServer({
      ...signed,
      ...more,
      onAuth: ({ username = "", password = "" }, _, done) => {
        logins.push(`${username}:${password}`)
        if (password === "right") done(null, { user: username })
        else done(new Error(`wrong ${password}`))
      },
      onData: (stream, session, done) => {
        let text = ""
        stream.setEncoding("utf8").on("data", (part: string) => (text += part))
        stream.on("end", () => {
          mails.push(`${session.envelope.rcptTo.map(({ address }) => address).join()} ${text}`)
          done()
        })
      },
    })
    server.on("error", () => undefined)
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    closing.push(() => new Promise<void>((resolve) => server.close(resolve)))
    return { mails, logins, ...notifierAt(server.server, { ca, timeoutMillis }) }
  }
  const url = (password: string, port = 587) =>
    `smtp://lab:${password}@hooks.example:${port}/?fromAddress=lab@x.org&toAddresses=a@x.org,b@x.org`

  it.each([
    ["STARTTLS", false, 587],
    ["TLS from the start", true, 465],
  ])("is sent over %s with a login", async (_, secure, port) => {
    const { send, mails, dialled } = await openMail({ secure })
    expect(await send(url("right", port))).toBeUndefined()
    expect(dialled).toEqual([`93.184.215.14:${port}`])
    expect(mails).toHaveLength(1)
    expect(mails[0]).toContain("a@x.org,b@x.org ")
    expect(mails[0]).toContain("Subject: Deploy of range UMA succeeded")
    expect(mails[0]).toContain("It took 5 s.")
  })

  it("is not sent when the login is wrong, and the password is not repeated", async () => {
    const { send, mails } = await openMail()
    expect(await send(url("SECRET"))).toBe("its server refuses the login")
    expect(mails).toEqual([])
  })

  it("is not sent without TLS: the login stays unknown", async () => {
    const { send, mails, logins } = await openMail({ disabledCommands: ["STARTTLS"] })
    expect(await send(url("right"))).toBe("its server does not support STARTTLS")
    expect([mails, logins]).toEqual([[], []])
  })

  it("is not sent to a server whose certificate is unknown", async () => {
    const stranger = makeAuthority()
    stranger.remove()
    const { send, logins } = await openMail({ ca: stranger.root, timeoutMillis: 1000 })
    expect(await send(url("right"))).toBe("its server cannot be reached (UNABLE_TO_VERIFY_LEAF_SIGNATURE)")
    expect(logins).toEqual([])
  })
})
