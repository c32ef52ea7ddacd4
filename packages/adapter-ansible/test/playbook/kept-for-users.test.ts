import { execFileSync } from "node:child_process"
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import type { RecordId } from "@rangewright/domain"
import { forgetRange, forgetUser, openFolders, ownFolder, ownWorkspace, workspacesOfUser } from "../../src/playbook/scratch.ts"

const [lab, other] = [{ recordId: "lab000000000000" as RecordId }, { recordId: "other0000000000" as RecordId }]

test("files of roles and facts about machines are removed with their user, and nobody else's are", async () => {
  const root = mkdtempSync(join(tmpdir(), "kept-"))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const folders = await openFolders(root)
  const kept = async (user: string) => {
    const own = [
      await ownFolder(folders.workspaces, user),
      await ownWorkspace(folders, lab, user),
      await ownFolder(folders.facts, "LAB", user),
    ]
    for (const folder of own) writeFileSync(join(folder, "kept"), "x")
    return own
  }
  const [gone, others] = [await kept("TMP"), [...(await kept("TMP2")), ...(await kept("nobody"))]]
  await kept("..")
  for (const user of ["TMP", "TMP", ".."]) await forgetUser(folders, user)
  expect(gone.filter((folder) => existsSync(folder))).toEqual([])
  expect(others.filter((folder) => existsSync(folder))).toHaveLength(6)
  expect(existsSync(folders.facts)).toBe(true)
})

test("each user has a workspace of their own in each range, which goes with the range", async () => {
  const root = mkdtempSync(join(tmpdir(), "kept-"))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const folders = await openFolders(root)
  const users = ["TMP", "nobody", undefined]
  const inLab = await Promise.all(users.map((user) => ownWorkspace(folders, lab, user)))
  const inOther = await Promise.all(users.map((user) => ownWorkspace(folders, other, user)))
  expect(new Set([...inLab, ...inOther]).size).toBe(6)
  expect((await workspacesOfUser(folders, "TMP")).toSorted()).toEqual([inLab[0], inOther[0]])
  await forgetRange(folders, "LAB")
  expect(inLab.filter((folder) => existsSync(folder))).toHaveLength(3)
  await forgetRange(folders, "LAB", lab.recordId)
  expect(inLab.filter((folder) => existsSync(folder))).toEqual([])
  expect(inOther.filter((folder) => existsSync(folder))).toHaveLength(3)
})

test("a role that leaves files too deep for a path blocks neither the removal of its user nor the next start", async () => {
  const root = mkdtempSync(join(tmpdir(), "kept-"))
  onTestFinished(() => void execFileSync("rm", ["-rf", root]))
  const folders = await openFolders(root)
  const makeDeep = "import os, sys\nos.chdir(sys.argv[1])\nfor _ in range(200):\n  os.mkdir('d' * 50)\n  os.chdir('d' * 50)"
  const [own, facts, scratch] = [
    await ownWorkspace(folders, lab, "TMP"),
    await ownFolder(folders.facts, "LAB", "TMP"),
    await ownFolder(folders.runs, "killed"),
  ]
  for (const folder of [own, facts, scratch]) execFileSync("python3", ["-c", makeDeep, folder])
  await forgetUser(folders, "TMP")
  await openFolders(root)
  expect([own, facts, scratch].filter((folder) => existsSync(folder))).toEqual([])
})
