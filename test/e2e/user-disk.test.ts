import { mkdirSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, expect, test } from "vitest"
import { tarGz } from "../contracts/content/support/archives.ts"
import type { Problem } from "./support/client.ts"
import { removeFolders, temporaryFolder } from "./support/folder.ts"
import { addUser } from "./support/lab.ts"
import { endAll } from "./support/program.ts"
import { type ServiceProcess, startService } from "./support/service.ts"

afterAll(async () => {
  await endAll()
  removeFolders()
})

const upload = async (
  { url }: ServiceProcess,
  key: string,
  method: string,
  path: string,
  part: string,
  form = new FormData(),
) => {
  const archive = tarGz([
    { name: "it/meta/main.yml", content: "galaxy_info: {author: acme, role_name: it}\n" },
    { name: "it/blueprint.yml", content: "id: it\nname: It\nversion: 1.0.0\nconfig: config.yml\n" },
    { name: "it/config.yml", content: "ludus: []\n" },
    { name: "it/ansible/roles/it/meta/main.yml", content: "galaxy_info: {author: acme}\n" },
  ])
  form.set(part, new File([new Uint8Array(archive)], "it.tar.gz"))
  const answer = await fetch(`${url}/api/v2${path}`, { method, headers: { "X-API-KEY": key }, body: form })
  return { status: answer.status, body: (await answer.json()) as Problem }
}

test(
  "a user at the user_disk limit can add nothing until something is removed; other users are not affected",
  { timeout: 300_000 },
  async () => {
    const data = temporaryFolder()
    const environment = { RANGEWRIGHT_USER_DISK: "1" }
    const first = await startService(data, environment)
    const key = await addUser(first.root, "ADA")
    const others = [await addUser(first.root, "BOB"), await addUser(first.root, "BOSS", true)]
    await first.crash()
    // from a version that did not count sizes; the file has no blocks
    const old = join(data, "library/users/ADA/roles/old")
    mkdirSync(join(old, "meta"), { recursive: true })
    writeFileSync(join(old, "meta/main.yml"), "galaxy_info: {author: acme}\n")
    writeFileSync(join(old, "large"), "")
    truncateSync(join(old, "large"), 1024 ** 3)

    const service = await startService(data, environment)
    const source = () => {
      const form = new FormData()
      form.set("type", "upload")
      return form
    }
    const adds = [
      (as: string) => upload(service, as, "PUT", "/ansible/role/fromtar", "file"),
      (as: string) => upload(service, as, "POST", "/sources", "archive", source()),
      (as: string) => upload(service, as, "POST", "/blueprints/import", "archive"),
    ]
    for (const add of adds) {
      const { status, body } = await add(key)
      expect([status, body.error]).toEqual([
        403,
        expect.stringMatching(
          /^Cannot .*: it takes 0\.1 MiB more .* ADA's .* already take 1\.1 GiB of 1 GiB\W+Remove some of them, or ask/u,
        ),
      ])
    }
    const ada = service.as(key)
    const { usedDiskBytes } = await ada.get<{ readonly usedDiskBytes: number }>("/user/quotas")
    expect(usedDiskBytes).toBeGreaterThan(1024 ** 3)
    expect(await service.root.get("/user/quotas/all")).toContainEqual(
      expect.objectContaining({ userID: "ADA", limitDiskBytes: 1024 ** 3, usedDiskBytes }),
    )
    expect(await ada.get("/user/disk")).toEqual({
      limitBytes: 1024 ** 3,
      usedBytes: usedDiskBytes,
      things: [{ kind: "role", name: "old", bytes: usedDiskBytes, shared: false }],
    })
    for (const path of ["/sources", "/blueprints"]) expect(await ada.get(path)).toEqual([])
    for (const other of others) {
      const [role, fetched] = [await adds[0]?.(other), await adds[1]?.(other)]
      expect([role?.status, fetched?.status]).toEqual([201, 200])
    }

    await ada.send("POST", "/ansible/role", { role: "old", action: "remove" })
    const answers = []
    for (const add of adds) answers.push((await add(key)).status)
    expect(answers).toEqual([201, 200, 201])
  },
)
