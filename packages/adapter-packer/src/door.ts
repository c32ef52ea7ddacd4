import type { BuildAccount } from "@rangewright/ports"
import type { Dial } from "@rangewright/host-tools"
import * as Redacted from "effect/Redacted"
import { type Agent, createServer, type IncomingMessage, request as httpRequest, type ServerResponse } from "node:http"
import { request as httpsRequest } from "node:https"
import { duplexPair, Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { knownCall } from "./calls.ts"
import { type BuildCaps, grownBy, type Kept, openCaps, sizeIn, Uncounted, type Wanted, wantedBy, wantedLike } from "./caps.ts"
import type { NextNumbers } from "./next-numbers.ts"
import { readUpload } from "./upload.ts"

/** The name under which Packer reaches the hypervisor. It means nothing elsewhere, and Packer never gets the credentials. */
export const doorName = "hypervisor"

/** A call from Packer and its result. */
export interface ApiCall {
  readonly method: string
  /** Without `/api2/json`. */
  readonly path: string
  readonly status: number
  readonly body: string
}

export interface DoorOptions {
  readonly hypervisor: { readonly url: string; readonly agent: Agent }
  readonly account: Pick<BuildAccount, "tokenId" | "tokenSecret" | "username" | "pool">
  /** What the build may create on the hypervisor. */
  readonly caps: BuildCaps
  /** VM numbers reserved by concurrent builds. */
  readonly numbers: NextNumbers
  /** Whether the node may download images for builds. */
  readonly nodeDownloads: boolean
  /** Why the node may not download from a URL; undefined when it may. */
  readonly refuses: (url: string) => Promise<string | undefined>
  readonly onCall: (call: ApiCall) => void
  /** Called once for each kind of call that is not passed on. */
  readonly onRefused: (because: string) => void
}

const prefix = "/api2/json"
const maxForm = 64 * 1024
/** Answers up to this size are inspected; larger ones are only passed on. */
const maxSeen = 64 * 1024
/** Largest list of VMs that is read. */
const maxList = 8 * 1024 * 1024
const maxTold = 50

const hopByHop = new Set(["connection", "keep-alive", "te", "trailer", "upgrade", "proxy-connection", "transfer-encoding"])
const formType = "application/x-www-form-urlencoded"

/** A call that is not passed on, with the status to answer. */
class Refusal extends Error {
  readonly status: number
  constructor(status: number, because: string) {
    super(because)
    this.status = status
  }
}

const disc = ",media=cdrom"

/** A drive's text with the kind of a disc drive at its end. */
const kindLast = (drive: string): string => (drive.includes(`${disc},`) ? `${drive.replace(disc, "")}${disc}` : drive)

const answer = (response: ServerResponse, status: number, message: string, data: unknown = null): void => {
  const body = JSON.stringify(status === 200 ? { data } : { data: null, message })
  response.writeHead(status, message.replaceAll(/[^\x20-\x7e]/gu, "?").slice(0, 300), {
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    ...(status === 200 ? {} : { connection: "close" }),
  })
  response.end(body)
}

type Row = Readonly<Record<string, unknown>>
const isRow = (value: unknown): value is Row => typeof value === "object" && value !== null

/** The objects in a list from the hypervisor; undefined when it is not such a list. */
const rowsIn = (text: string): readonly Row[] | undefined => {
  try {
    const { data } = JSON.parse(text) as { readonly data?: unknown }
    return Array.isArray(data) && data.every(isRow) ? data : undefined
  } catch {
    return undefined
  }
}

/** Fields by name. Duplicates are refused: the hypervisor might interpret them differently. */
const fieldsOf = (pairs: Iterable<readonly [string, string]>): Map<string, string> => {
  const fields = new Map<string, string>()
  for (const [name, value] of pairs) {
    if (!/^[\w-]+$/u.test(name)) throw new Refusal(400, `${JSON.stringify(name)} is not a valid field name`)
    if (fields.has(name)) throw new Refusal(400, `the field ${name} comes twice`)
    fields.set(name, value)
  }
  return fields
}

const inJson = (text: string): Iterable<readonly [string, string]> => {
  const value: unknown = JSON.parse(text)
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Refusal(400, "the body is not an object")
  return Object.entries(value).map(([name, one]: [string, unknown]) => {
    if (typeof one === "boolean") return [name, one ? "1" : "0"]
    if (typeof one !== "string" && typeof one !== "number") throw new Refusal(400, `the field ${name} is not a string`)
    return [name, String(one)]
  })
}

const readForm = async (asked: IncomingMessage): Promise<Map<string, string>> => {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of asked as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxForm) throw new Refusal(413, `a form has at most ${maxForm} bytes`)
    chunks.push(chunk)
  }
  if (size === 0) return new Map()
  const text = Buffer.concat(chunks).toString("utf8")
  const type = asked.headers["content-type"]
  if (type === formType) return fieldsOf(new URLSearchParams(text))
  if (type === "application/json") return fieldsOf(inJson(text))
  throw new Refusal(415, `the body is not ${formType}`)
}

interface Target {
  readonly segments: readonly string[]
  readonly query: ReadonlyMap<string, string>
}

/** Parses a request's target strictly, so that it cannot be interpreted in two ways. */
const targetOf = (url: string): Target => {
  if (!/^\/[\x21\x22\x24-\x7e]*$/u.test(url)) throw new Refusal(400, "the path is not a path of the API")
  const cut = url.includes("?") ? url.indexOf("?") : url.length
  const path = url
    .slice(0, cut)
    .split("/")
    .filter((segment) => segment !== "")
    .map((segment) => decodeURIComponent(segment))
  return { segments: path, query: fieldsOf(new URLSearchParams(url.slice(cut + 1))) }
}

const encoded = (fields: ReadonlyMap<string, string>): string => new URLSearchParams([...fields]).toString()

/** The name of an image, from its volume id. */
const nameIn = (volume: string): string => volume.slice(volume.indexOf("/") + 1)

/** What is sent to the hypervisor: nothing else of Packer's request is passed on. */
interface Outgoing {
  readonly method: string
  readonly segments: readonly string[]
  readonly query: ReadonlyMap<string, string>
  readonly body?: { readonly type: string; readonly size: number; readonly content: Readable } | undefined
  /** Called once the hypervisor has answered. */
  readonly answered?: ((done: boolean) => void) | undefined
}

/**
 * Passes on to the hypervisor the calls that Packer is known to make, and no others, with the build's own account: any login or token that
 * Packer sends is ignored. Each call is rebuilt from its parsed parts, on a connection of its own. The hypervisor enforces the account's
 * rights; the checks here are those that its rights cannot express.
 */
export const openDoor = ({ hypervisor, account, caps, numbers, nodeDownloads, refuses, onCall, onRefused }: DoorOptions) => {
  const base = new URL(hypervisor.url)
  const token = `PVEAPIToken=${account.tokenId}=${Redacted.value(account.tokenSecret)}`
  /** The images that this build uploaded: stored names by the names that Packer knows. */
  const images = new Map<string, string>()
  const told = new Set<string>()

  const refuse = (response: ServerResponse, status: number, because: string): void => {
    if (!told.has(because) && told.size < maxTold) onRefused(because)
    told.add(because)
    answer(response, status, because)
  }

  const send = (method: string, path: string, headers: Readonly<Record<string, string>> = {}) => {
    const outgoing = (base.protocol === "https:" ? httpsRequest : httpRequest)(base, {
      agent: hypervisor.agent,
      method,
      path: `${prefix}/${path}`,
      headers: { host: base.host, authorization: token, accept: "application/json", ...headers },
    })
    // no other call may use its connection, whatever the hypervisor answers and the agent keeps
    outgoing.shouldKeepAlive = false
    return outgoing
  }

  /** Queries the hypervisor for the service itself. The answer's text is undefined when it is longer than `most`. */
  const askFor = (path: string, most = maxSeen): Promise<{ readonly status: number; readonly text: string | undefined }> =>
    new Promise((resolve, reject) => {
      const outgoing = send("GET", path)
      outgoing
        .once("response", (given) => {
          const chunks: Buffer[] = []
          let length = 0
          given.on("data", (chunk: Buffer) => (length += chunk.length) <= most && chunks.push(chunk))
          given.on("error", reject)
          given.once("end", () => {
            const text = length <= most ? Buffer.concat(chunks).toString("utf8") : undefined
            resolve({ status: given.statusCode ?? 0, text })
          })
        })
        .on("error", reject)
        .once("close", () => reject(new Error("the hypervisor closed without an answer")))
        .end()
    })

  /** A machine's configuration in which the texts of disc drives end with their kind; undefined if it cannot be read. */
  const configWithDiscs = async (segments: readonly string[]): Promise<{ readonly config: unknown } | undefined> => {
    const { status, text } = await askFor(segments.map(encodeURIComponent).join("/"))
    if (status !== 200 || text === undefined) return undefined
    const config = (JSON.parse(text) as { readonly data?: unknown }).data ?? null
    if (typeof config !== "object" || config === null) return { config }
    const texts = Object.entries(config).map(([key, value]) => [key, typeof value === "string" ? kindLast(value) : value])
    return { config: Object.fromEntries(texts) }
  }

  const isFree = async (vmid: string): Promise<boolean> => (await askFor(`cluster/nextid?vmid=${vmid}`)).status === 200

  /** The first free number that no other build is about to use. */
  const nextNumber = (): Promise<number | undefined> =>
    numbers.take(account.pool, {
      least: async () => {
        const { status, text = "" } = await askFor("cluster/nextid")
        const vmid = status === 200 ? /^\{"data":"?(\d{3,9})"?/u.exec(text)?.[1] : undefined
        return vmid === undefined ? undefined : Number(vmid)
      },
      isFree: (vmid) => isFree(String(vmid)),
    })

  /**
   * The list of VMs, with an additional one if the number after the highest visible one is not free: the build sees neither other builds'
   * VMs nor those of ranges. Undefined to pass on the hypervisor's own list.
   */
  const machinesBelowNext = async (query: ReadonlyMap<string, string>): Promise<readonly unknown[] | undefined> => {
    const { status, text } = await askFor(`cluster/resources?${encoded(query)}`, maxList)
    const rows = status === 200 && text !== undefined ? rowsIn(text) : undefined
    if (rows === undefined) return undefined
    const highest = Math.max(99, ...rows.flatMap(({ vmid }) => (typeof vmid === "number" ? [vmid] : [])))
    const isFreeNumber = (vmid: number) => isFree(String(vmid))
    const next = await numbers.take(account.pool, { least: () => Promise.resolve(highest + 1), isFree: isFreeNumber })
    if (next === undefined || next === highest + 1) return undefined
    const vmid = next - 1
    return [...rows, { ...rows[0], id: `qemu/${vmid}`, type: "qemu", vmid, name: "of-others", template: 0, status: "unknown" }]
  }

  const counted = openCaps(caps, isFree)
  const granted = (kept: Kept | string): Kept["answered"] => {
    if (typeof kept === "string") throw new Refusal(403, `the build asks for ${kept}`)
    return kept.answered
  }
  const keep = async (vmid: string, wanted: Wanted, makes = false) => granted(await counted.keep(vmid, wanted, makes))
  const vmidIn = (fields: ReadonlyMap<string, string>, name: string): string => {
    const vmid = fields.get(name) ?? ""
    if (!/^[1-9]\d{2,8}$/u.test(vmid)) throw new Refusal(400, `${name} is not a VMID`)
    return vmid
  }

  /** The resources of a VM's clone, if the build's account can see the VM. */
  const likeVm = async (node: string, vmid: string): Promise<Wanted> => {
    const { status, text } = await askFor(`nodes/${node}/qemu/${vmid}/config`)
    if (status !== 200 || text === undefined) throw new Refusal(403, `the build cannot see VM ${vmid}, so it may not clone it`)
    const { data } = JSON.parse(text) as { readonly data?: unknown }
    return wantedLike(typeof data === "object" && data !== null ? (data as Readonly<Record<string, unknown>>) : {})
  }

  const passOn = async (response: ServerResponse, { method, segments, query, body, answered }: Outgoing): Promise<void> => {
    const path = `/${segments.join("/")}`
    const written = segments.map((segment) => encodeURIComponent(segment)).join("/")
    const size = body === undefined && (method === "POST" || method === "PUT") ? { "content-length": "0" } : {}
    const outgoing = send(
      method,
      `${written}${query.size === 0 ? "" : `?${encoded(query)}`}`,
      body === undefined ? size : { "content-type": body.type, "content-length": String(body.size) },
    )
    outgoing.on("response", (given) => {
      answered?.((given.statusCode ?? 0) >= 200 && (given.statusCode ?? 0) < 300)
      const seen: Buffer[] = []
      let length = 0
      given.on("data", (chunk: Buffer) => (length += chunk.length) <= maxSeen && seen.push(chunk))
      given.once("end", () =>
        onCall({
          method,
          path,
          status: given.statusCode ?? 0,
          body: length <= maxSeen ? Buffer.concat(seen).toString("utf8") : "",
        }),
      )
      given.on("error", () => response.destroy())
      const kept = Object.fromEntries(Object.entries(given.headers).filter(([name]) => !hopByHop.has(name)))
      try {
        response.writeHead(given.statusCode ?? 502, given.statusMessage ?? "", kept)
      } catch {
        return void outgoing.destroy(new Error("its answer is not HTTP"))
      }
      given.pipe(response)
    })
    const failed = ({ message }: Error) =>
      response.headersSent ? response.destroy() : answer(response, 595, `the hypervisor cannot be reached: ${message}`)
    outgoing.on("error", failed)
    // an upgrade that nobody asked for ends without an error event
    outgoing.once("close", () => (response.headersSent ? undefined : failed(new Error("it closed without an answer"))))
    response.once("close", () => outgoing.destroy())
    if (body === undefined) outgoing.end()
    else
      await pipeline(body.content, outgoing).catch((error: unknown) => {
        outgoing.destroy()
        throw error
      })
  }

  const formBody = (fields: ReadonlyMap<string, string>): Outgoing["body"] => {
    const bytes = Buffer.from(encoded(fields))
    return bytes.length === 0 ? undefined : { type: formType, size: bytes.length, content: Readable.from([bytes]) }
  }

  /** A device's value with the image's stored name in place of the one that Packer knows. */
  const withOwnImages = (value: string): string =>
    value
      .split(",")
      .map((part) => {
        const [, key = "", volume = ""] = /^((?:file|volume)=)?(.*)$/su.exec(part) ?? []
        return `${key}${images.get(volume) ?? volume}`
      })
      .join(",")

  const upload = async (asked: IncomingMessage, response: ServerResponse, segments: readonly string[]): Promise<void> => {
    // images of different builds never share a name, and a leftover one shows which build it belonged to
    const nameOn = (name: string): string => `${account.pool}-${name}`
    const { filename, contentType, size, body } = await readUpload(asked, nameOn).catch((error: unknown) => {
      throw new Refusal(400, error instanceof Error ? error.message : String(error))
    })
    const storage = segments[3] ?? ""
    images.set(`${storage}:iso/${filename}`, `${storage}:iso/${nameOn(filename)}`)
    const answered = granted(counted.keepImage(filename, size))
    const content = Readable.from(body, { objectMode: false })
    await passOn(response, { method: "POST", segments, query: new Map(), body: { type: contentType, size, content }, answered })
  }

  const serve = async (asked: IncomingMessage, response: ServerResponse): Promise<void> => {
    const method = asked.method ?? "GET"
    const { segments, query } = targetOf(asked.url ?? "")
    if (asked.headers["transfer-encoding"] !== undefined) throw new Refusal(411, "a call must state its length")
    const writes = method === "POST" || method === "PUT"
    if (!writes && Number(asked.headers["content-length"] ?? 0) !== 0) throw new Refusal(400, `${method} has no body`)
    if (writes && query.size > 0) throw new Refusal(400, `the fields of ${method} must be in its body`)
    const path = `/${segments.slice(2).join("/")}`
    const call = segments[0] === "api2" && segments[1] === "json" ? knownCall(method, segments.slice(2)) : undefined
    if (call === undefined) throw new Refusal(403, `builds may not call ${method} ${path.slice(0, 200)}`)
    switch (call.kind) {
      case "login": {
        asked.resume()
        const { username } = account
        return answer(response, 200, "OK", { username, ticket: "PVE:build", CSRFPreventionToken: "build" })
      }
      case "leave-pool":
        asked.resume()
        return answer(response, 200, "OK")
      case "machines": {
        const rows = counted.hasMachine() ? undefined : await machinesBelowNext(query)
        if (rows === undefined) return passOn(response, { method, segments: call.segments, query })
        return answer(response, 200, "OK", rows)
      }
      case "read-config": {
        const read = query.size === 0 ? await configWithDiscs(call.segments) : undefined
        if (read === undefined) return passOn(response, { method, segments: call.segments, query })
        return answer(response, 200, "OK", read.config)
      }
      case "next-number": {
        const vmid = query.size === 0 ? await nextNumber() : undefined
        if (vmid === undefined) return passOn(response, { method, segments: call.segments, query })
        return answer(response, 200, "OK", String(vmid))
      }
      case "upload":
        return upload(asked, response, call.segments)
      case "remove-image": {
        const image = images.get(call.segments[5] ?? "")
        if (image === undefined) throw new Refusal(403, `the build did not upload ${call.segments[5]}, so it may not remove it`)
        const answered = (done: boolean) => void (done && counted.withoutImage(nameIn(call.segments[5] ?? "")))
        return passOn(response, { method, segments: [...call.segments.slice(0, 5), image], query, answered })
      }
      case "download": {
        if (!nodeDownloads)
          throw new Refusal(
            403,
            "nodes may not download images for builds: remove iso_download_pve from the template, or ask an administrator to set template_node_downloads",
          )
        const fields = await readForm(asked)
        const url = fields.get("url") ?? ""
        const because = await refuses(url)
        if (because !== undefined) throw new Refusal(403, `the node may not fetch ${url}: ${because}`)
        return passOn(response, { method, segments: call.segments, query, body: formBody(fields) })
      }
      case "new-disk": {
        const fields = await readForm(asked)
        const vmid = fields.get("vmid") ?? ""
        const named = /^(?:(\d+)\/)?vm-(\d+)-disk-\d+(?:\.\w+)?$/u.exec(fields.get("filename") ?? "")
        const isItsOwn = /^\d{3,9}$/u.test(vmid) && named?.[2] === vmid && (named[1] ?? vmid) === vmid
        if (!isItsOwn || !(await isFree(vmid)))
          throw new Refusal(
            403,
            `builds may not create the disk ${fields.get("filename") ?? ""} for VM ${vmid}: they may create disks only for VMs that do not exist yet`,
          )
        const answered = await keep(vmid, { loose: sizeIn(fields.get("size") ?? "", 1024) })
        return passOn(response, { method, segments: call.segments, query, body: formBody(fields), answered })
      }
      case "make":
      case "configure": {
        const fields = await readForm(asked)
        const makes = call.kind === "make"
        const vmid = makes ? vmidIn(fields, "vmid") : (call.segments[3] ?? "")
        const sent = new Map([...fields].map(([name, value]) => [name, withOwnImages(value)] as const))
        const answered = await keep(vmid, wantedBy(sent), makes)
        return passOn(response, { method, segments: call.segments, query, body: formBody(sent), answered })
      }
      case "clone": {
        const fields = await readForm(asked)
        if (fields.has("snapname")) throw new Refusal(403, "builds may clone a template, but not a snapshot of it")
        const like = await likeVm(call.segments[1] ?? "", call.segments[3] ?? "")
        const answered = await keep(vmidIn(fields, "newid"), like, true)
        return passOn(response, { method, segments: call.segments, query, body: formBody(fields), answered })
      }
      case "grow": {
        const fields = await readForm(asked)
        const answered = await keep(call.segments[3] ?? "", grownBy(fields))
        return passOn(response, { method, segments: call.segments, query, body: formBody(fields), answered })
      }
      case "remove": {
        const answered = (done: boolean) => void (done && counted.leaves(call.segments[3] ?? ""))
        return passOn(response, { method, segments: call.segments, query, answered })
      }
      case "plain": {
        const fields = writes ? await readForm(asked) : new Map<string, string>()
        return passOn(response, { method, segments: call.segments, query, body: formBody(fields) })
      }
    }
  }

  const server = createServer((asked, response) => {
    serve(asked, response).catch((error: unknown) => {
      if (response.headersSent || response.destroyed) response.destroy()
      else
        refuse(
          response,
          error instanceof Refusal ? error.status : error instanceof Uncounted ? 403 : 400,
          error instanceof Error ? error.message : String(error),
        )
    })
  })
  server.on("clientError", (_, socket) => socket.destroy())
  const dial: Dial = () => {
    const [outer, inner] = duplexPair()
    server.emit("connection", inner)
    return Promise.resolve(outer)
  }
  const close = (): void => {
    numbers.release(account.pool)
    server.closeAllConnections()
  }
  return { dial, close }
}
