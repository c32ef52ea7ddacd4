import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/** Replaces a folder again and again as the library does, until it is killed: the copy in place goes, another one comes, each one whole. */
const [root = "", files = "0"] = process.argv.slice(2)
for (let version = 0; ; version++) {
  const work = join(root, "library/.staging", `work-${version}`)
  mkdirSync(join(work, "tree"), { recursive: true })
  for (let n = 0; n < Number(files); n++) writeFileSync(join(work, "tree", `f${n}`), String(version))
  writeFileSync(join(work, "intent.json"), "{}")
  renameSync(join(root, "library/roles/web"), join(work, "old"))
  renameSync(join(work, "tree"), join(root, "library/roles/web"))
  rmSync(work, { recursive: true })
}
