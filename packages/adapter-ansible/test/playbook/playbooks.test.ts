import { guestStages } from "@rangewright/domain"
import { execFile, execFileSync } from "node:child_process"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { collections, found, patience, skipNote } from "./support/obstacle.ts"

const folder = join(import.meta.dirname, "../../playbooks")
const files = (below: string): readonly string[] =>
  readdirSync(join(folder, below))
    .filter((name) => name.endsWith(".yml"))
    .map((name) => join(below, name))

const env = { ...process.env, ANSIBLE_COLLECTIONS_PATH: [...collections, ...found.collectionFolders].join(":"), NO_COLOR: "1" }

const run = (program: string, args: readonly string[]): Promise<{ readonly ok: boolean; readonly said: string }> =>
  new Promise((resolve) => {
    execFile(program, args, { cwd: folder, env }, (error, stdout, stderr) =>
      resolve({ ok: error === null, said: stdout + stderr }),
    )
  })

const lintObstacle = (): string | undefined => {
  try {
    execFileSync("ansible-lint", ["--version"], { stdio: "ignore" })
    return found.missing.length === 0 ? undefined : `missing collections: ${found.missing.join(", ")}`
  } catch {
    return "ansible-lint is not installed"
  }
}
const noLint = lintObstacle()
const noSyntax = found.because ?? (found.missing.length === 0 ? undefined : `missing collections: ${found.missing.join(", ")}`)

describe("the built-in playbooks", () => {
  it("there is one for each stage but roles, which bring their own", () => {
    expect(
      files("")
        .map((name) => name.replace(".yml", ""))
        .toSorted(),
    ).toEqual(guestStages.filter((stage) => stage !== "role").toSorted())
  })

  it.skipIf(noSyntax !== undefined)(`each is understood by Ansible${skipNote(noSyntax)}`, { timeout: patience }, async () => {
    const variables = JSON.stringify({
      rangewright: { host: "machine", os: "linux", input: { fqdn: "corp.example", address: "10.7.10.11/24" } },
    })
    const options = ["--syntax-check", "--inventory", "machine,", "--extra-vars", variables]
    const { ok, said } = await run("ansible-playbook", [...options, ...files("")])
    expect(ok, said).toBe(true)
    for (const file of files("")) expect(said).toContain(`playbook: ${file}`)
  })

  it.skipIf(noLint !== undefined)(
    `all keep ansible-lint's rules for production${skipNote(noLint)}`,
    { timeout: patience },
    async () => {
      const { ok, said } = await run("ansible-lint", ["--nocolor", "-p", "-c", ".ansible-lint", ...files(""), ...files("tasks")])
      expect(ok, said).toBe(true)
    },
  )
})
