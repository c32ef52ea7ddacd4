import { spawnSync } from "node:child_process"
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { beforeEach, describe, expect, test } from "vitest"
import { beginBuilding, decideForBuilt, makeAside } from "../src/backup/put-in-place.ts"
import { makeFolder } from "./support.ts"

const account = 12_345
let folder: ReturnType<typeof makeFolder>
beforeEach(() => void (folder = makeFolder()))

/** Ends what a restore left, as the service's account: loaded by root, for whom the account's folders are no place to look for programs. */
const putInPlaceAs = (uid: number) => {
  const program = `const { putInPlace } = await import(${JSON.stringify(new URL("../src/backup/put-in-place.ts", import.meta.url))})
    process.setgid(${uid}); process.setuid(${uid}); putInPlace(${JSON.stringify(folder.data)})`
  const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" })
  return { status, stderr }
}

// only root gives folders away
describe.runIf(process.getuid?.() === 0)("a restore by root in the folder of the service's account", () => {
  beforeEach(() => chownSync(folder.data, account, account))
  const ownersOf = (names: readonly string[]): readonly number[] => names.map((name) => statSync(folder.path(name)).uid)

  test("interrupted at any point, it leaves only folders owned by that account", () => {
    beginBuilding(folder.data)
    expect(ownersOf(["restore.building", "restore.building/fresh"])).toEqual([account, account])
    decideForBuilt(folder.data)
    expect(ownersOf(["restore.committed", "restore.committed/former"])).toEqual([account, account])
    expect(putInPlaceAs(account)).toMatchObject({ status: 0 })
    expect(readdirSync(folder.data)).toEqual([])
    expect(statSync(makeAside(folder.data)).uid).toBe(account)
  })

  test("lets the service start even if the account cannot remove an uncommitted restore, and says what to do", () => {
    mkdirSync(folder.path("restore.building/fresh"), { recursive: true, mode: 0o700 })
    writeFileSync(folder.path("restore.building/fresh/x"), "")
    chmodSync(folder.data, 0o700)
    const { status, stderr } = putInPlaceAs(account)
    expect([status, stderr]).toEqual([0, expect.stringMatching(/Cannot remove .*restore\.building.*Remove it as root/u)])
    expect(existsSync(folder.path("restore.building/fresh/x"))).toBe(true)
  })
})
