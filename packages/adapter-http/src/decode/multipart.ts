import type { StoredFile, UploadedFile } from "@rangewright/application"
import { InvalidInput } from "@rangewright/domain"
import { Busboy, type BusboyInstance } from "@fastify/busboy"
import type { IncomingMessage } from "node:http"
import type { Writable } from "node:stream"
import { finished } from "node:stream/promises"
import { BodyTooLarge } from "../faults.ts"
import type { FileSink } from "./file-sink.ts"
import type { CheckName } from "./names.ts"

/** A form: its text fields, without the empty ones that count as not sent, and its one file; undefined when none was sent. */
export interface Form {
  readonly fields: Readonly<Record<string, string>>
  readonly file: UploadedFile | StoredFile | undefined
}

const fieldBytes = 64 * 1024
const mostFields = 32
/** Room for boundaries, headers and text fields besides the file. */
const overhead = 1024 * 1024

const unreadable = (because: string, hint?: string) =>
  new InvalidInput({ what: `Cannot read the uploaded form: ${because}`, ...(hint === undefined ? {} : { hint }) })

const open = (request: IncomingMessage, maxBytes: number): BusboyInstance => {
  const type = request.headers["content-type"] ?? ""
  if (!/^multipart\/form-data\s*;/iu.test(type)) throw unreadable("its content type is not multipart/form-data")
  if (Number(request.headers["content-length"] ?? 0) > maxBytes + overhead)
    throw new BodyTooLarge({ what: "the uploaded form", limit: maxBytes })
  try {
    return new Busboy({
      headers: { ...request.headers, "content-type": type },
      limits: {
        fieldNameSize: 200,
        fieldSize: fieldBytes,
        fields: mostFields,
        files: 1,
        fileSize: maxBytes,
        parts: mostFields + 1,
        headerPairs: 20,
      },
    })
  } catch {
    throw unreadable("its boundary is missing")
  }
}

/** What a form may contain, and where its file goes. */
export interface FormOptions {
  /** Name of the part with the file. */
  readonly fileField: string
  readonly fieldNames: readonly string[]
  /** Limit of the file. */
  readonly maxBytes: number
  readonly sink: FileSink
  /** Called with the name of each unknown field; throws if that must not be ignored. */
  readonly check?: CheckName | undefined
  /** Fields that count as sent when they are empty. */
  readonly mayBeEmpty?: ReadonlySet<string>
}

/**
 * Reads a form with at most one file part. Names of fields match in any letter case; of a repeated field the first counts; unknown ones are
 * ignored. Accepts at most `maxBytes` of the file, at the pace of the sink, and a few small fields. Rejects with `InvalidInput` for a form
 * that is malformed or truncated, and with `BodyTooLarge`.
 */
export const readMultipart = async (
  request: IncomingMessage,
  { fileField, fieldNames, maxBytes, sink, check, mayBeEmpty }: FormOptions,
): Promise<Form> => {
  const parser = open(request, maxBytes)
  const names = new Map(fieldNames.map((name) => [name.toLowerCase(), name]))
  const fields = Object.create(null) as Record<string, string>
  let file: Promise<UploadedFile | StoredFile> | undefined
  let writing: Writable | undefined
  try {
    await new Promise<void>((resolve, reject) => {
      let total = 0
      request.on("data", (chunk: Buffer) => {
        total += chunk.length
        if (total > maxBytes + overhead) reject(new BodyTooLarge({ what: "the uploaded form", limit: maxBytes }))
      })
      const endedEarly = () => request.complete || reject(unreadable("it ended early"))
      request.once("close", endedEarly)
      // the connection may have closed while waiting for its turn
      if (request.closed) endedEarly()
      parser.on("field", (given, value, nameTruncated, truncated) => {
        if (nameTruncated || truncated) return reject(unreadable(`a field is larger than ${fieldBytes} bytes`))
        const name = names.get(given.toLowerCase())
        if (name === undefined)
          try {
            check?.(given)
          } catch (fault) {
            return reject(fault as Error)
          }
        if (name !== undefined && (value !== "" || mayBeEmpty?.has(name) === true)) fields[name] ??= value
      })
      parser.on("file", (field, stream, filename, _encoding, contentType) => {
        stream.on("error", () => reject(unreadable("it ended early")))
        stream.once("limit", () => reject(new BodyTooLarge({ what: `the file ${fileField}`, limit: maxBytes })))
        if (field.toLowerCase() !== fileField.toLowerCase()) return void stream.resume()
        const { into, taken } = sink(filename, contentType)
        writing = into
        file = finished(into).then(taken)
        // a failing sink ends the form
        file.catch(reject)
        stream.pipe(into)
      })
      for (const limit of ["filesLimit", "fieldsLimit", "partsLimit"] as const)
        parser.once(limit, () => reject(unreadable("it has more parts than the operation accepts")))
      parser.once("error", () => reject(unreadable("it is malformed or ended early")))
      parser.once("finish", () => resolve())
      request.pipe(parser)
    })
  } catch (cause) {
    writing?.destroy()
    throw cause
  } finally {
    request.unpipe(parser)
    request.removeAllListeners("data")
    // the rest of the body is discarded; `listen` cuts the connection of a sender that does not stop
    request.resume()
  }
  if (fieldsHaveNul(fields)) throw unreadable("a field contains a NUL character")
  return { fields, file: await file }
}

/** The file of a form that requires one. */
export const requireFile = ({ file }: Form, fileField: string): UploadedFile | StoredFile => {
  if (file !== undefined) return file
  throw unreadable(`there is no file part named ${fileField}`, `Send the file as the part ${fileField}, with a file name.`)
}

const fieldsHaveNul = (fields: Readonly<Record<string, string>>): boolean =>
  Object.values(fields).some((value) => value.includes("\0"))
