import type { BuildAccount } from "@rangewright/ports"
import { randomBytes } from "node:crypto"
import { createReadStream } from "node:fs"
import type { Agent } from "node:http"
import { Readable } from "node:stream"
import { setTimeout as after } from "node:timers/promises"
import { type CallBody, isRow, openAccountCalls } from "./account-calls.ts"

/** An image as the storage shows it. */
export interface StoredImage {
  readonly volume: string
  readonly bytes: number
  /** Modification time of the file, in seconds since 1970, as reported by the node. */
  readonly changedAt: number | undefined
}

/** An image on this host. */
export interface NewImage {
  readonly sha256: string
  readonly file: string
  readonly bytes: number
}

const prefix = "rw-iso-"
const pollMillis = 500

/** Images are named by their content. */
export const imageName = (sha256: string): string => `${prefix}${sha256}.iso`

export interface ImageStorageOptions {
  readonly node: string
  readonly storage: string
  /** Time limit for an answer of the hypervisor. */
  readonly answerMillis?: number
  /** Time limit for a task that stores an image. */
  readonly taskMillis?: number
}

/** The service's own images on one storage, accessed with the account of a build. */
export const openImageStorage = (
  hypervisor: { readonly url: string; readonly agent: Agent },
  account: Pick<BuildAccount, "tokenId" | "tokenSecret">,
  { node, storage, answerMillis = 60_000, taskMillis = 3_600_000 }: ImageStorageOptions,
) => {
  const call = openAccountCalls(hypervisor, account)
  const ask = (method: string, path: string, signal: AbortSignal, body?: CallBody): Promise<unknown> =>
    call(method, `/nodes/${encodeURIComponent(node)}${path}`, signal, body)

  /** A question, which the hypervisor answers at once or not at all. */
  const askSoon = (path: string, signal: AbortSignal): Promise<unknown> => {
    const late = AbortSignal.timeout(answerMillis)
    return ask("GET", path, AbortSignal.any([signal, late])).catch((error: unknown) => {
      throw late.aborted && !signal.aborted
        ? new Error(`the hypervisor did not answer within ${Math.ceil(answerMillis / 1000)} s`)
        : error
    })
  }

  /** Waits for a task; fails when the task fails. */
  const untilDone = async (task: unknown, signal: AbortSignal): Promise<void> => {
    if (typeof task !== "string" || !task.startsWith("UPID:")) throw new Error("the hypervisor did not return a task")
    // nobody can abort this wait, so a hypervisor that falls silent, or a task without an end, ends it
    const end = performance.now() + taskMillis
    while (performance.now() < end) {
      const status = await askSoon(`/tasks/${encodeURIComponent(task)}/status`, signal)
      if (isRow(status) && status["status"] === "stopped") {
        if (status["exitstatus"] === "OK") return
        throw new Error(`the hypervisor did not accept it: ${String(status["exitstatus"]).slice(0, 300)}`)
      }
      await after(pollMillis, undefined, { signal })
    }
    throw new Error(`the node did not store it within ${Math.ceil(taskMillis / 60_000)} minutes (task ${task.slice(0, 100)})`)
  }

  const content = `/storage/${encodeURIComponent(storage)}/content`
  const volumeOf = (sha256: string): string => `${storage}:iso/${imageName(sha256)}`

  return {
    volumeOf,
    /** All of the service's own images there. */
    list: async (signal: AbortSignal): Promise<readonly StoredImage[]> => {
      const rows = await askSoon(`${content}?content=iso`, signal)
      return (Array.isArray(rows) ? rows : []).filter(isRow).flatMap((row) => {
        const { volid, size, ctime } = row
        if (typeof volid !== "string" || !volid.startsWith(`${storage}:iso/${prefix}`)) return []
        return [{ volume: volid, bytes: Number(size), changedAt: typeof ctime === "number" ? ctime : undefined }]
      })
    },
    untilDone,
    /**
     * Uploads an image, and returns the task that stores it. The hypervisor verifies the checksum, so an interrupted upload leaves nothing.
     */
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
