import { spawn } from "node:child_process"
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { beforeEach, expect, onTestFinished, test } from "vitest"
import { mirrorOf } from "../src/backup/mirror.ts"
import { isLeftOut, keptFolders, staysInCopy } from "../src/backup/parts.ts"

const rules = { isLeftOut, stays: staysInCopy }
const snapshot = "a".repeat(40)

let root: string
let [source, target]: string[] = []
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "rangewright-mirror-"))
  ;[source, target] = ["source", "target"].map((name) => join(root, name))
  for (const name of [source, target]) mkdirSync(name ?? "")
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
})
const at = (path: string) => join(source ?? "", path)
const seen = (path: string) => join(target ?? "", path)
const write = (path: string, text: string): void => {
  mkdirSync(join(at(path), ".."), { recursive: true })
  writeFileSync(at(path), text)
}
const mirror = () => mirrorOf(source ?? "", target ?? "", keptFolders, rules)

test("a mirror holds a tree's state, follows its changes, and takes no space", () => {
  write("library/roles/web/main.yml", "one")
  write(`content/snapshots/${snapshot}/tree/a`, "kept")
  symlinkSync("main.yml", at("library/roles/web/other.yml"))
  const view = mirror()
  expect([view.refresh() > 0, view.refresh()]).toEqual([true, 0])
  expect(statSync(seen("library/roles/web/main.yml")).ino).toBe(statSync(at("library/roles/web/main.yml")).ino)
  // a file that is replaced, one that goes, one that comes, and a link that becomes a folder
  write("library/new", "two")
  renameSync(at("library/new"), at("library/roles/web/main.yml"))
  rmSync(at("library/roles/web/other.yml"))
  expect(readFileSync(seen("library/roles/web/main.yml"), "utf8")).toBe("one")
  write("library/roles/web/other.yml/x", "three")
  expect([view.refresh() > 0, view.refresh()]).toEqual([true, 0])
  expect(readFileSync(seen("library/roles/web/main.yml"), "utf8")).toBe("two")
  expect(readFileSync(seen("library/roles/web/other.yml/x"), "utf8")).toBe("three")
  // only snapshots stay that are gone
  rmSync(at("library/roles/web"), { recursive: true })
  rmSync(at(`content/snapshots/${snapshot}`), { recursive: true })
  expect([view.refresh() > 0, view.refresh()]).toEqual([true, 0])
  expect([existsSync(seen("library/roles/web")), existsSync(seen(`content/snapshots/${snapshot}/tree/a`))]).toEqual([false, true])
})

test("the sizes of this host's folders are left out", () => {
  write("library/users/ADA/sizes.json", "{}")
  write("library/users/ADA/roles/web/sizes.json", "{}")
  mirror().refresh()
  expect(existsSync(seen("library/users/ADA/sizes.json"))).toBe(false)
  expect(existsSync(seen("library/users/ADA/roles/web/sizes.json"))).toBe(true)
})

test("files being written are left out, but not a copy that is about to be put in place", () => {
  write("library/.staging/work-1/tree/half", "")
  write("library/.staging/work-2/tree/whole", "")
  write("library/.staging/work-2/intent.json", "{}")
  write("playbook-runs/role-facts/LAB/x.new", "")
  write("subscription/index.json.0123456789ab", "")
  mirror().refresh()
  expect(readdirSync(seen("library/.staging"))).toEqual(["work-2"])
  expect(existsSync(seen("playbook-runs/role-facts/LAB/x.new"))).toBe(false)
  expect(readdirSync(seen("subscription"))).toEqual([])
})

test("a folder that is constantly replaced is mirrored as one of its versions", async () => {
  const files = 40
  write("library/roles/web/f0", "-1")
  const program = fileURLToPath(new URL("programs/swap-copies.ts", import.meta.url))
  const swapping = spawn(process.execPath, [program, source ?? "", String(files)], { stdio: "ignore" })
  onTestFinished(() => void swapping.kill("SIGKILL"))
  const versions = new Set<string>()
  const view = mirror()
  for (let looks = 0; versions.size < 15 && looks < 20_000; looks++) {
    view.refresh()
    if (!existsSync(seen("library/roles/web"))) continue
    const texts = readdirSync(seen("library/roles/web")).map((name) => readFileSync(seen(`library/roles/web/${name}`), "utf8"))
    expect(new Set(texts).size).toBe(1)
    if (texts[0] !== "-1") expect(texts).toHaveLength(files)
    versions.add(texts[0] ?? "")
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(versions.size).toBeGreaterThanOrEqual(15)
})
