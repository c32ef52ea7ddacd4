import type { IncomingMessage } from "node:http"
import { randomBytes } from "node:crypto"

/** An upload as sent to the hypervisor: reframed, so that nothing in the file can be read as another field. */
export interface Upload {
  readonly filename: string
  readonly contentType: string
  readonly size: number
  readonly body: AsyncIterable<Buffer>
}

const maxHead = 16 * 1024
const fileName = /^[a-zA-Z0-9_][\w.+~-]{0,150}\.(?:iso|img)$/iu

/** What precedes the file, in the format of Go's library: the field for the content type, then the file's header. */
const headOf = (boundary: string): RegExp => {
  const line = `--${boundary.replaceAll(/[^\w]/gu, "\\$&")}`
  return new RegExp(
    `^${line}\\r\\ncontent-disposition: form-data; name="content"\\r\\n\\r\\niso\\r\\n` +
      `${line}\\r\\ncontent-disposition: form-data; name="filename"; filename="(?<name>[^"\\r\\n]+)"\\r\\n` +
      `(?:content-type: [^\\r\\n]*\\r\\n)?\\r\\n`,
    "iu",
  )
}

/** Finds where the file of an upload begins. Fails unless it is an upload of one image. */
export const readUpload = async (asked: IncomingMessage, nameOn: (filename: string) => string): Promise<Upload> => {
  const [, quoted, plain] =
    /^multipart\/form-data; boundary=(?:"([\w'()+,./:=?-]+)"|([\w'()+,./:=?-]+))$/iu.exec(asked.headers["content-type"] ?? "") ??
    []
  const boundary = quoted ?? plain
  const whole = Number(asked.headers["content-length"])
  if (boundary === undefined || !Number.isSafeInteger(whole)) throw new Error("an upload is a form with one image of known size")
  const incoming = (asked as AsyncIterable<Buffer>)[Symbol.asyncIterator]()
  let first: Buffer = Buffer.alloc(0)
  let head: RegExpExecArray | null = null
  while (head === null) {
    const next = await incoming.next()
    if (next.done === true || first.length > maxHead)
      throw new Error("an upload has the fields content=iso and filename, in this order")
    first = Buffer.concat([first, next.value])
    head = headOf(boundary).exec(first.subarray(0, maxHead).toString("latin1"))
  }
  const asGiven = Buffer.from(head.groups?.["name"] ?? "", "latin1").toString("utf8")
  if (!fileName.test(asGiven))
    throw new Error(`${asGiven} is not a valid image name: letters, digits and . _ + ~ -, with the ending iso or img`)
  const own = `rangewright${randomBytes(16).toString("hex")}`
  const before = Buffer.from(
    `--${own}\r\nContent-Disposition: form-data; name="content"\r\n\r\niso\r\n` +
      `--${own}\r\nContent-Disposition: form-data; name="filename"; filename="${nameOn(asGiven)}"\r\n` +
      `Content-Type: application/octet-stream\r\n\r\n`,
  )
  const after = Buffer.from(`\r\n--${own}--\r\n`)
  const start = head[0].length
  const size = whole - start - `\r\n--${boundary}--\r\n`.length
  if (size < 0) throw new Error("the upload is shorter than announced")
  const body = async function* (): AsyncGenerator<Buffer> {
    yield before
    let left = size
    for (let chunk: Buffer = first.subarray(start); ;) {
      const part = chunk.subarray(0, left)
      left -= part.length
      if (part.length > 0) yield part
      const next = await incoming.next()
      if (next.done === true) break
      chunk = next.value
    }
    if (left > 0) throw new Error("the upload ended early")
    yield after
  }
  return {
    filename: asGiven,
    contentType: `multipart/form-data; boundary=${own}`,
    size: before.length + size + after.length,
    body: body(),
  }
}
