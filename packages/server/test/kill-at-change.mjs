// Loaded into a command before its own code: counts the calls that may change files, and kills the process right after call number KILL_AFTER.
import fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { DatabaseSync, StatementSync } from "node:sqlite"

const { CHANGES_FILE: file, KILL_AFTER: last } = process.env
const changes = []
let inside = false

const noted = (name) => {
  changes.push(name)
  if (changes.length === Number(last)) process.kill(process.pid, "SIGKILL")
}

/** Notes a call when it has returned, but not those that it makes itself. */
const watchSync = (owner, name) => {
  const original = owner[name]
  owner[name] = function (...args) {
    if (inside) return original.apply(this, args)
    inside = true
    try {
      return original.apply(this, args)
    } finally {
      inside = false
      noted(name)
    }
  }
}

const watchAsync = (owner, name) => {
  const original = owner[name]
  owner[name] = async function (...args) {
    const result = await original.apply(this, args)
    noted(name)
    return result
  }
}

const names = ["copyFile", "link", "mkdir", "rename", "rm", "symlink", "unlink", "writeFile"]
for (const name of [...names, "write", "fchmod"]) watchSync(fs, `${name}Sync`)
for (const name of names) watchAsync(fs.promises, name)
watchSync(DatabaseSync.prototype, "exec")
watchSync(StatementSync.prototype, "run")
syncBuiltinESMExports()
if (file !== undefined) process.on("exit", () => fs.writeFileSync(file, changes.join("\n")))
