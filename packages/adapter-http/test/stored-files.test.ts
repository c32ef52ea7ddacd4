import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { access, mkdtemp, readdir, rm } from "node:fs/promises"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { samples } from "./sample-operations.ts"
import { startService, type Service } from "./support.ts"

let service: Service
let uploads: string
beforeAll(async () => {
  uploads = await mkdtemp(join(tmpdir(), "rangewright-uploads-"))
  service = await startService({ operations: samples, http: { uploads } })
})
afterAll(async () => {
  expect(service.defects).toEqual([])
  await service.stop()
  await rm(uploads, { recursive: true })
})

const upload = async (file: Blob | undefined, filename = "a.tar.gz", how?: string) => {
  const form = new FormData()
  if (how !== undefined) form.append("how", how)
  if (file !== undefined) form.append("file", file, filename)
  const response = await fetch(`${service.url}/api/v2/keeps`, {
    method: "PUT",
    headers: { "x-api-key": service.keys.member },
    body: form,
  })
  return { status: response.status, json: (await response.json()) as Record<string, unknown> }
}

/** The rest of it never comes. */
const halfAnUpload = (key: string): string => {
  const head = `PUT /api/v2/keeps HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${key}\r\nContent-Length: 9999`
  const part = 'Content-Disposition: form-data; name="file"; filename="a"'
  return `${head}\r\nContent-Type: multipart/form-data; boundary=abc\r\n\r\n--abc\r\n${part}\r\n\r\nhalf`
}

describe("uploads that are kept in a file", () => {
  it("are there byte for byte during the request, readable by nobody else, and removed with it", async () => {
    const bytes = randomBytes(300_000)
    const { status, json } = await upload(new Blob([bytes]), "../../etc/passwd")
    expect(status).toBe(200)
    expect(json).toMatchObject({ size: bytes.length, mode: 0o600, text: bytes.toString("latin1") })
    expect(String(json["path"]).startsWith(`${uploads}/`)).toBe(true)
    await expect(access(String(json["path"]))).rejects.toThrow("ENOENT")
    expect(await readdir(uploads)).toEqual([])
  })

  it("may be empty", async () => {
    expect(await upload(new Blob([]))).toMatchObject({ status: 200, json: { size: 0, text: "" } })
  })

  it("are removed when the operation fails, when they are too large, and when none arrives", async () => {
    expect((await upload(new Blob(["x"]), "a.zip", "fault")).status).toBe(409)
    expect((await upload(new Blob([new Uint8Array(1_000_001)]))).status).toBe(413)
    expect((await upload(undefined)).status).toBe(400)
    expect(await readdir(uploads)).toEqual([])
  })

  it("are removed when their sender disconnects midway", async () => {
    const entries = service.store.audit.length
    const socket = connect(service.port, "127.0.0.1")
    socket.write(halfAnUpload(service.keys.member))
    await expect.poll(() => readdir(uploads)).toHaveLength(1)
    socket.destroy()
    await once(socket, "close")
    await expect.poll(() => service.store.audit.slice(entries)).toMatchObject([{ operation: "keeps", outcome: "InvalidInput" }])
    await expect.poll(() => readdir(uploads)).toEqual([])
  })

  it("wait for those of the same user when many are coming in, and for nobody else's", async () => {
    const own = await mkdtemp(join(uploads, "few-"))
    const few = await startService({ operations: samples, http: { uploads: own, uploadsOfUser: 2 } })
    const standing = () => {
      const socket = connect(few.port, "127.0.0.1")
      socket.write(halfAnUpload(few.keys.member))
      return socket
    }
    const sent = async (key: string) => {
      const form = new FormData()
      form.append("file", new Blob(["x"]), "a")
      return (await fetch(`${few.url}/api/v2/keeps`, { method: "PUT", headers: { "x-api-key": key }, body: form })).status
    }
    const [first, second] = [standing(), standing()]
    await expect.poll(() => readdir(own)).toHaveLength(2)
    let answered = false
    const third = sent(few.keys.member).finally(() => (answered = true))
    const gone = standing()
    expect(await sent(few.keys.admin)).toBe(200)
    expect([answered, (await readdir(own)).length]).toEqual([false, 2])
    gone.destroy()
    first.destroy()
    expect(await third).toBe(200)
    second.destroy()
    await expect.poll(() => readdir(own)).toEqual([])
    expect(await Promise.all([sent(few.keys.member), sent(few.keys.member), sent(few.keys.member)])).toEqual([200, 200, 200])
    expect(few.defects).toEqual([])
    await few.stop()
    await rm(own, { recursive: true })
  })

  it("report clearly when there is no space for them", async () => {
    const lost = await startService({ operations: samples, http: { uploads: join(uploads, "missing", "below") } })
    const form = new FormData()
    form.append("file", new Blob(["x"]), "a")
    const response = await fetch(`${lost.url}/api/v2/keeps`, {
      method: "PUT",
      headers: { "x-api-key": lost.keys.member },
      body: form,
    })
    expect(response.status).toBe(500)
    expect(((await response.json()) as { error: string }).error).toContain("it cannot be written")
    expect(lost.defects).toEqual([])
    await lost.stop()
  })
})
