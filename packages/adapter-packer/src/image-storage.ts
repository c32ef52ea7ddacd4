import type { BuildAccount } from "@rangewright/ports"
import * as Redacted from "effect/Redacted"
import { randomBytes } from "node:crypto"
import { createReadStream } from "node:fs"
import { type Agent, type IncomingMessage, request as httpRequest } from "node:http"
import { request as httpsRequest } from "node:https"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { setTimeout as after } from "node:timers/promises"

/** An image as the storage shows it. */
export interface StoredImage {
  readonly volume: string
  readonly bytes: number
  /** When the file was last changed: seconds since 1970, as the node tells. */
  readonly changedAt: number | undefined
}

/** An image that is on this host. */
export interface NewImage {
  readonly sha256: string
  readonly file: string
  readonly bytes: number
}

const prefix = "rw-iso-"
const pollMillis = 500
const mostAnswer = 16 * 1024 * 1024

/** Images are called by what is in them. */
export const imageName = (sha256: string): string => `${prefix}${sha256}.iso`

type Row = Readonly<Record<string, unknown>>
const isRow = (value: unknown): value is Row => typeof value === "object" && value !== null && !Array.isArray(value)

const readAnswer = async (answer: IncomingMessage): Promise<unknown> => {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > mostAnswer) throw new Error("the hypervisor's answer is too long")
    chunks.push(chunk)
  }
  const text = Buffer.concat(chunks).toString("utf8")
  const status = answer.statusCode ?? 0
  if (status < 200 || status >= 300) {
    const words = /"message"\s*:\s*"([^"]*?)(?:\\n)?"/u.exec(text)?.[1] ?? answer.statusMessage ?? ""
    throw new Error(`the hypervisor answers ${status}: ${words.slice(0, 300)}`)
  }
  const body: unknown = JSON.parse(text)
  return isRow(body) ? body["data"] : undefined
}

interface Body {
  readonly type: string
  readonly size: number
  readonly content: Readable
}

/** The images of the service's own on one storage, seen and put there with the account of a build. */
export const openImageStorage = (
  { url, agent }: { readonly url: string; readonly agent: Agent },
  { tokenId, tokenSecret }: Pick<BuildAccount, "tokenId" | "tokenSecret">,
  { node, storage }: { readonly node: string; readonly storage: string },
) => {
  const base = new URL(url)
  const at = `/api2/json/nodes/${encodeURIComponent(node)}`

  const ask = async (method: string, path: string, signal: AbortSignal, body?: Body): Promise<unknown> => {
    const asked = (base.protocol === "https:" ? httpsRequest : httpRequest)(base, {
      agent,
      method,
      path: at + path,
      signal,
      headers: {
        host: base.host,
        authorization: `PVEAPIToken=${tokenId}=${Redacted.value(tokenSecret)}`,
        accept: "application/json",
        ...(body === undefined ? {} : { "content-type": body.type, "content-length": String(body.size) }),
      },
    })
    asked.shouldKeepAlive = false
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      asked.once("response", resolve)
      asked.once("error", reject)
    })
    // an answer that comes before the end of what is sent is a refusal
    const sent = body === undefined ? void asked.end() : pipeline(body.content, asked)
    const answer = await Promise.race([answered, Promise.resolve(sent).then(() => answered)])
    return readAnswer(answer)
  }

  /** Waits for a task; fails as it fails. */
  const untilDone = async (task: unknown, signal: AbortSignal): Promise<void> => {
    if (typeof task !== "string" || !task.startsWith("UPID:")) throw new Error("the hypervisor did not say what it does")
    for (;;) {
      const status = await ask("GET", `/tasks/${encodeURIComponent(task)}/status`, signal)
      if (isRow(status) && status["status"] === "stopped") {
        if (status["exitstatus"] === "OK") return
        throw new Error(`the hypervisor did not take it: ${String(status["exitstatus"]).slice(0, 300)}`)
      }
      await after(pollMillis, undefined, { signal })
    }
  }

  const content = `/storage/${encodeURIComponent(storage)}/content`
  const volumeOf = (sha256: string): string => `${storage}:iso/${imageName(sha256)}`

  return {
    volumeOf,
    /** All images of the service's own that are there. */
    list: async (signal: AbortSignal): Promise<readonly StoredImage[]> => {
      const rows = await ask("GET", `${content}?content=iso`, signal)
      return (Array.isArray(rows) ? rows : []).filter(isRow).flatMap((row) => {
        const { volid, size, ctime } = row
        if (typeof volid !== "string" || !volid.startsWith(`${storage}:iso/${prefix}`)) return []
        return [{ volume: volid, bytes: Number(size), changedAt: typeof ctime === "number" ? ctime : undefined }]
      })
    },
    untilDone,
    /** Sends an image, and gives the task that takes it: only if it has the sum that it is called by, so that what breaks off leaves nothing. */
    send: ({ sha256, file, bytes }: NewImage, signal: AbortSignal): Promise<unknown> => {
      const boundary = `rangewright${randomBytes(16).toString("hex")}`
      const field = (name: string, value: string) =>
        `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
      const before = Buffer.from(
        `${field("content", "iso")}${field("checksum-algorithm", "sha256")}${field("checksum", sha256)}` +
          `--${boundary}\r\nContent-Disposition: form-data; name="filename"; filename="${imageName(sha256)}"\r\n` +
          `Content-Type: application/octet-stream\r\n\r\n`,
      )
      const last = Buffer.from(`\r\n--${boundary}--\r\n`)
      const parts = async function* (): AsyncGenerator<Buffer> {
        yield before
        yield* createReadStream(file) as AsyncIterable<Buffer>
        yield last
      }
      return ask("POST", `/storage/${encodeURIComponent(storage)}/upload`, signal, {
        type: `multipart/form-data; boundary=${boundary}`,
        size: before.length + bytes + last.length,
        content: Readable.from(parts(), { objectMode: false }),
      })
    },
  }
}

export type ImageStorage = ReturnType<typeof openImageStorage>
