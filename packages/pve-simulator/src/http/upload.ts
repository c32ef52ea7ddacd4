import { createHash, randomBytes } from "node:crypto"
import { createWriteStream } from "node:fs"
import { rm } from "node:fs/promises"
import type { IncomingMessage } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pipeline } from "node:stream/promises"
import { Busboy } from "@fastify/busboy"
import { readDisc, type Disc } from "../core/disc.ts"
import { PveError } from "../core/errors.ts"

/** A file uploaded as part of a form, with the fields before it. */
export interface Upload {
  readonly fields: Readonly<Record<string, string>>
  readonly filename: string
  readonly size: number
  /** The file's checksum by the algorithm that the form names. */
  readonly checksum: string | undefined
  /** Its content if it is a disc image. */
  readonly disc: Disc | undefined
}

/** Limit of the size: the node's own disk would be full before. */
const maxBytes = 16 * 1024 ** 3

const algorithms = new Set(["md5", "sha1", "sha224", "sha256", "sha384", "sha512"])

const path = /^\/+api2\/(?:json|extjs|htmljs)\/nodes\/[^/]+\/storage\/[^/]+\/upload\/?(?:\?|$)/u

/** Whether a request uploads a file: the only call that accepts multipart forms. */
export const isUpload = (request: IncomingMessage): boolean =>
  request.method === "POST" &&
  path.test(request.url ?? "") &&
  /^multipart\/form-data\s*;/iu.test(request.headers["content-type"] ?? "")

const broken = (text: string): PveError => new PveError(501, text, { body: false })

/** Reads the form. The file is written to disk temporarily and removed; only facts about it are kept. */
export const readUpload = async (request: IncomingMessage): Promise<Upload> => {
  const file = join(tmpdir(), `pveupload-${randomBytes(16).toString("hex")}`)
  const fields: Record<string, string> = Object.create(null)
  const parser = new Busboy({
    headers: { ...request.headers, "content-type": request.headers["content-type"] ?? "" },
    limits: { fields: 16, fieldSize: 4096, files: 1, fileSize: maxBytes, headerPairs: 20 },
  })
  let part: Promise<Omit<Upload, "fields" | "disc">> | undefined
  parser.on("field", (name, value) => void (fields[name] = value))
  parser.on("file", (_, stream, filename) => {
    const algorithm = fields["checksum-algorithm"] ?? ""
    const hash = algorithms.has(algorithm) ? createHash(algorithm) : undefined
    let size = 0
    stream.on("data", (chunk: Buffer) => {
      size += chunk.length
      hash?.update(chunk)
    })
    part = pipeline(stream, createWriteStream(file, { mode: 0o600 })).then(() => {
      if (stream.truncated) throw broken("for data too large")
      return { filename, size, checksum: hash?.digest("hex") }
    })
    // awaited below, after the end of the form
    part.catch(() => {})
  })
  try {
    await pipeline(request, parser)
    if (part === undefined) throw broken("upload failed: the form has no file")
    const known = await part
    return { ...known, fields, disc: await readDisc(file) }
  } finally {
    await rm(file, { force: true })
  }
}
