import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { tar, tarGz, zip } from "../contracts/content/support/archives.ts"
import { hostileTars } from "../contracts/content/support/hostile-tar.ts"
import { hostileZips } from "../contracts/content/support/hostile-zip.ts"
import type { Problem } from "./support/client.ts"
import { eventually } from "./support/eventually.ts"
import { removeFolders, temporaryFolder } from "./support/folder.ts"
import { addUser } from "./support/lab.ts"
import { endAll } from "./support/program.ts"
import { type ServiceProcess, startService } from "./support/service.ts"

let data: string
let outside: string
let service: ServiceProcess
let key: string
beforeAll(async () => {
  data = temporaryFolder()
  outside = temporaryFolder()
  service = await startService(data)
  key = await addUser(service.root, "ADA")
}, 120_000)
afterAll(async () => {
  await endAll()
  removeFolders()
})

/** The operations that accept archives. */
interface Door {
  readonly route: string
  readonly part: string
  readonly fields?: Readonly<Record<string, string>>
}
const roles: Door = { route: "PUT /ansible/role/fromtar", part: "file" }
const doors: readonly Door[] = [
  roles,
  { route: "POST /sources", part: "archive", fields: { type: "upload" } },
  { route: "POST /blueprints/import", part: "archive" },
  { route: "PUT /templates", part: "file", fields: { force: "true" } },
]

const upload = ({ route, part, fields = {} }: Door, filename: string, bytes: Uint8Array, signal?: AbortSignal) => {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  form.set(part, new File([new Uint8Array(bytes)], filename))
  const [method = "", path] = route.split(" ")
  return fetch(`${service.url}/api/v2${path}`, { method, headers: { "X-API-KEY": key }, body: form, signal: signal ?? null })
}

const below = (folder: string): readonly string[] => {
  const path = join(data, folder)
  return existsSync(path) ? readdirSync(path) : []
}
/** What archives turn into, temporarily and in the end, on disk and for their owner. */
const kept = async () => ({
  folders: ["uploads", "content/scratch", "content/snapshots", "library/users/ADA/roles", "library/users/ADA/templates"].map(
    below,
  ),
  lists: await Promise.all(["/sources", "/blueprints", "/ansible", "/templates"].map((path) => service.as(key).get(path))),
})

/** One of each of these families, which every operation refuses. */
const chosen = () => {
  const all = [...hostileTars(outside), ...hostileZips(outside)]
  return ["zeros", "after the end", "gzip members", "kinds", "twins", "zip: names differ", "zip: overlaps", "zip: bombs"].map(
    (family) => {
      const found = all.find((archive) => archive.family === family && archive.refused === true)
      if (found === undefined) throw new Error(`there is no hostile archive of ${family}`)
      return found
    },
  )
}

describe("uploaded archives", { timeout: 300_000 }, () => {
  test.each(doors)("hostile ones are refused by $route with the reason, leave nothing behind and delay nobody", async (door) => {
    const before = await kept()
    const answers = chosen().map(async ({ family, filename, bytes }, n) => {
      const response = await upload(door, `acme.n${n}${filename.slice(filename.indexOf("."))}`, bytes())
      return { family, status: response.status, body: (await response.json()) as Problem }
    })
    await eventually(
      "an archive that is being read",
      async () => below("content/scratch"),
      (found) => found.length > 0,
    )
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200)
    for (const { family, status, body } of await Promise.all(answers)) {
      expect([400, 413], `${family}: ${body.error}`).toContain(status)
      expect(body.error, family).toMatch(/^Cannot .+: .+/su)
    }
    expect(await kept()).toEqual(before)
    expect(below("")).not.toContain("outside")
    expect(readdirSync(outside)).toEqual([])
  })

  test("the format of a template's archive is read from its content, whatever its sender calls it", async () => {
    const builder = { name: "v1/a.pkr.hcl", content: 'variable "vm_name" { default = "called" }\n' }
    const [plain, packed] = [tar([builder]), tarGz([builder])]
    const names = ["v1", "v1.zip", "v1.TAR.GZ", "v1.tgz", "../../v1.tar.gz", "$(id)", "-rf", "v".repeat(300)]
    for (const name of names)
      for (const bytes of name.toLowerCase().endsWith("gz") || name === "v1" ? [plain, packed] : [plain]) {
        const response = await upload(doors[3] ?? roles, name, bytes)
        expect([name, response.status, await response.text()]).toEqual([name, 200, expect.stringContaining("template called")])
      }
    expect((await service.as(key).ask("DELETE", "/template/called")).status).toBe(200)
  })

  test("so is that of a role's archive, whose name only says what the role is called", async () => {
    const role = { name: "tasks/main.yml", content: "[]\n" }
    const archives = [tar([role]), tarGz([role]), zip({ [role.name]: { content: role.content } })]
    for (const name of ["acme.called", "acme.called.tar", "acme.called.tar.gz", "acme.called.TGZ", "acme.called.zip"])
      for (const bytes of archives) {
        const response = await upload(roles, name, bytes)
        expect([name, response.status, await response.text()]).toEqual([name, 201, expect.stringContaining("installed")])
      }
    const removal = { role: "acme.called", action: "remove" }
    expect((await service.as(key).ask("POST", "/ansible/role", removal)).status).toBe(201)
  })

  test("one whose sender disconnects is not unpacked to its end, and leaves nothing behind", async () => {
    const before = await kept()
    const count = 20_000
    const bytes = tar(Array.from({ length: count }, (_, n) => ({ name: `tasks/${n}.yml`, content: "[]\n" })))
    const leave = new AbortController()
    const answer = upload(roles, "acme.long", bytes, leave.signal).then(
      ({ status }) => status,
      () => "left",
    )
    const unpacked = () =>
      below("content/scratch").flatMap((name) => below(join("content/scratch", name, "staged/tree/tasks"))).length
    await eventually(
      "the first of its files",
      async () => unpacked(),
      (files) => files > 0,
    )
    // unpacking is paused, so that the disconnect comes before its end however slow this test is
    service.program.signal("SIGSTOP")
    expect(unpacked()).toBeLessThan(count)
    leave.abort()
    expect(await answer).toBe("left")
    service.program.signal("SIGCONT")
    await eventually(
      "that nothing of it is left",
      kept,
      ({ folders }) => JSON.stringify(folders) === JSON.stringify(before.folders),
    )
    expect(await kept()).toEqual(before)
  })
})
