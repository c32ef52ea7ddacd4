import { ContentFetcher } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { execFileSync } from "node:child_process"
import { existsSync, readdirSync } from "node:fs"
import { type FileHandle, open } from "node:fs/promises"
import { join } from "node:path"
import { expect, test } from "vitest"
import { eventually } from "../../e2e/support/eventually.ts"
import { tar } from "./support/archives.ts"
import { gitWorld } from "./support/world.ts"

/** Writes the rest in small pieces; returns `whole`, or the code of the failure. */
const writeFrom = async (writer: FileHandle, bytes: Uint8Array, start: number): Promise<unknown> => {
  try {
    for (let at = start; at < bytes.length;) at += (await writer.write(bytes, at, Math.min(4096, bytes.length - at))).bytesWritten
    return "whole"
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code
  }
}

const windows = process.platform === "win32"

test.skipIf(windows)("an interrupted archive is not read any further, and leaves nothing behind", async () => {
  const world = gitWorld()
  // a pipe: the archive is incomplete until more is written
  const file = join(world.root, "pipe")
  execFileSync("sh", ["-c", 'mkfifo "$1"', "sh", file])
  const bytes = tar([{ name: "a" }, { name: "b", content: Buffer.alloc(16 * 1024 * 1024) }])
  const scratch = join(world.folder, "scratch")
  const unpacked = () =>
    readdirSync(scratch).flatMap((name) => {
      const tree = join(scratch, name, "staged", "tree")
      return existsSync(tree) ? readdirSync(tree) : []
    })
  const location = { type: "archive", file, name: "x.tar" } as const
  await world.run(
    Effect.gen(function* () {
      const reading = yield* Effect.forkChild(ContentFetcher.use((fetcher) => fetcher.fetch({ location, holder: "test" })))
      yield* Effect.promise(async () => {
        const writer = await open(file, "w")
        await writer.write(bytes.subarray(0, 100 * 1024))
        await eventually(
          "its files",
          async () => unpacked(),
          (files) => files.length === 2,
        )
        const interrupted = Effect.runPromise(Fiber.interrupt(reading))
        // a read that waits for the pipe ends with the next data; then nobody reads it any more
        expect(await writeFrom(writer, bytes, 100 * 1024)).toBe("EPIPE")
        await interrupted
        await writer.close()
      })
    }),
  )
  world.expectClean()
  expect(readdirSync(join(world.folder, "snapshots"))).toEqual([])
})
