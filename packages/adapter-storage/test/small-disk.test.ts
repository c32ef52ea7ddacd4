import { execFileSync } from "node:child_process"
import { rmSync } from "node:fs"
import { join } from "node:path"
import type { RangeId, RunId, UserId } from "@rangewright/domain"
import { Ranges, RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { expect, it, onTestFinished } from "vitest"
import { checkBackup, storageHealth } from "../src/index.ts"
import { fillDisk } from "./fill-disk.ts"
import { aliceWithLab, onFile, temporaryFolder } from "./support.ts"

const mount = (folder: string): boolean => {
  try {
    execFileSync("/bin/mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", folder], { stdio: "ignore" })
    onTestFinished(() => void execFileSync("/bin/umount", ["--lazy", folder]))
    return true
  } catch {
    return false
  }
}

const head = {
  id: "small0000000000" as RunId,
  kind: "deploy",
  subject: { type: "range", id: "LAB" as RangeId },
  by: "alice" as UserId,
  options: null,
  startedAt: new Date(0),
} as const

it("survives a disk that fills up under a running deploy, and resumes automatically when there is space again", async ({
  skip,
}) => {
  const folder = await temporaryFolder()
  if (!mount(folder)) skip("only root can mount a small file system")
  const file = join(folder, "data.db")
  const ballast = join(folder, "ballast")
  await onFile(
    file,
    Effect.gen(function* () {
      yield* aliceWithLab
      const journal = yield* RunJournal
      yield* journal.open(head, "DEPLOYING")
      const append = journal.append(head.id, 0, [{ type: "Output", key: "k", text: "x".repeat(20_000) }], new Date(0))
      yield* append
      fillDisk(ballast)
      let acknowledged = 1
      const fault = yield* Effect.flip(Effect.forever(Effect.tap(append, () => Effect.sync(() => acknowledged++))))
      expect(fault.message).toContain("the disk is full")
      expect(yield* Effect.flip(append)).toEqual(fault)
      expect(yield* journal.read(head.id, 0)).toHaveLength(acknowledged)
      expect(yield* (yield* Ranges).find(head.subject.id)).toMatchObject({ state: "DEPLOYING" })
      rmSync(ballast)
      yield* storageHealth
      expect((yield* append)[0]?.seq).toBe(acknowledged + 1)
    }),
  )
  await Effect.runPromise(checkBackup(file))
})
