import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { readDisc } from "../src/core/disc.ts"
import { createSimulator, type HttpListener, type Simulator } from "../src/index.ts"

const run = promisify(execFile)

let sim: Simulator
let http: HttpListener
let folder: string
beforeEach(async () => {
  sim = createSimulator({ speed: 2000, nodes: 2 })
  http = await sim.listen()
  folder = mkdtempSync(join(tmpdir(), "uploads-"))
})
afterEach(async () => {
  await sim.close()
  rmSync(folder, { recursive: true })
})

const api = () => `${http.url}/api2/json`

const curl = async (...args: readonly string[]) => {
  const { stdout } = await run("curl", [
    "-sk",
    "-w",
    "\n%{http_code}",
    "-H",
    `Authorization: PVEAPIToken=${sim.rootToken}`,
    ...args,
  ])
  const cut = stdout.lastIndexOf("\n")
  const body = stdout.slice(0, cut)
  return {
    status: Number(stdout.slice(cut + 1)),
    body: (body.startsWith("{") ? JSON.parse(body) : {}) as { data?: unknown; message?: string; errors?: unknown },
  }
}

const file = (name: string, text = "an image"): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")

const upload = (path: string, fields: readonly string[] = ["content=iso"], storage = "local") =>
  curl(...fields.flatMap((field) => ["-F", field]), "-F", `filename=@${path}`, `${api()}/nodes/pve1/storage/${storage}/upload`)

const ended = async (upid: unknown): Promise<string> => {
  for (;;) {
    const { body } = await curl(`${api()}/nodes/pve1/tasks/${encodeURIComponent(String(upid))}/status`)
    const task = body.data as { status: string; exitstatus?: string }
    if (task.status === "stopped") return task.exitstatus ?? ""
  }
}

const images = async () =>
  ((await curl(`${api()}/nodes/pve1/storage/local/content?content=iso`)).body.data as { volid: string; size: number }[]).map(
    ({ volid, size }) => ({ volid, size }),
  )

test("an image is uploaded under its name, and its checksum verified", async () => {
  const fields = ["content=iso", "checksum-algorithm=sha256", `checksum=${sha256("an image").toUpperCase()}`]
  const { status, body } = await upload(file("deb ian.iso"), fields)
  expect(status).toBe(200)
  expect(body.data).toMatch(/^UPID:pve1:.*:imgcopy::root@pam!simulator:$/u)
  expect(await ended(body.data)).toBe("OK")
  expect(await images()).toEqual([{ volid: "local:iso/deb_ian.iso", size: 8 }])
  // the same name again is the new file
  expect(await ended((await upload(file("deb ian.iso", "longer image"))).body.data)).toBe("OK")
  expect(await images()).toEqual([{ volid: "local:iso/deb_ian.iso", size: 12 }])
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith("pveupload-"))).toEqual([])
})

test("a file that is not what was announced is not kept", async () => {
  const wrong = await upload(file("a.iso"), ["content=iso", "checksum-algorithm=md5", "checksum=00"])
  expect(await ended(wrong.body.data)).toMatch(/^checksum mismatch: got '[0-9a-f]{32}' != expect '00'$/u)
  expect((await upload(file("a.txt"))).body.errors).toEqual({ filename: "wrong file extension" })
  expect((await upload(file("a.iso"), ["content=backup"])).status).toBe(400)
  expect((await upload(file("a.iso"), ["content=iso"], "vmstore")).body.message).toBe("can't upload to storage type 'rbd'\n")
  expect(await images()).toEqual([])
})

test("only users who may put images on a storage can upload there, and no other call accepts a form", async () => {
  const { body } = await curl("-d", "userid=ann@pve", `${api()}/access/users`)
  expect(body.data).toBeNull()
  const made = await curl("-X", "POST", "-d", "privsep=0", `${api()}/access/users/ann@pve/token/tok`)
  expect(made.status, made.body.message).toBe(200)
  const { value } = made.body.data as { value: string }
  const asAnn = ["-H", `Authorization: PVEAPIToken=ann@pve!tok=${value}`]
  const { stdout } = await run("curl", [
    "-sk",
    ...asAnn,
    "-F",
    "content=iso",
    "-F",
    `filename=@${file("a.iso")}`,
    `${api()}/nodes/pve1/storage/local/upload`,
  ])
  expect((JSON.parse(stdout) as { message: string }).message).toBe(
    "Permission check failed (/storage/local, Datastore.AllocateTemplate)\n",
  )
  expect((await curl("-F", "a=b", `${api()}/access/users`)).status).toBe(506)
  expect(await images()).toEqual([])
})

const hasXorriso = existsSync("/usr/bin/xorriso")
describe.skipIf(!hasXorriso)(`discs${hasXorriso ? "" : " (skipped: xorriso is not installed)"}`, () => {
  test.each([["-joliet"], ["-rock"]])("the files of an image's root folder are known (%s)", async (form) => {
    const files = join(folder, "files")
    await run("mkdir", [files])
    writeFileSync(join(files, "Autounattend.xml"), "<unattend/>")
    writeFileSync(join(files, "user-data"), "#cloud-config\n")
    const iso = join(folder, "answers.iso")
    await run("xorriso", ["-as", "genisoimage", form, "-volid", "answers", "-o", iso, files])
    const disc = await readDisc(iso)
    expect(disc?.label).toBe("answers")
    expect(Object.values(disc?.files ?? {}).toSorted()).toEqual(["#cloud-config\n", "<unattend/>"])
    if (form === "-joliet") expect(Object.keys(disc?.files ?? {}).toSorted()).toEqual(["Autounattend.xml", "user-data"])
    expect(await readDisc(join(files, "user-data"))).toBeUndefined()
  })
})
