import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { keepFile } from "../replace-file.ts"

/** How far the stored mark may lag behind: not every query is worth a write. */
const writeEveryMs = 10 * 60 * 1000

/**
 * The latest time seen with one licence, including by earlier processes. Each licence has its own mark: after a clock was set far ahead by
 * mistake, issuing the licence again fixes it.
 */
export interface ClockMark {
  /** The latest time seen before; undefined on the first call. Never goes back. */
  readonly see: (licenseText: string, now: Date) => Effect.Effect<Date | undefined>
}

const readMark = async (file: string): Promise<number | undefined> => {
  try {
    const { seenUntil } = JSON.parse(await readFile(file, "utf8")) as { readonly seenUntil?: unknown }
    return typeof seenUntil === "number" && Number.isFinite(seenUntil) ? seenUntil : undefined
  } catch {
    return undefined
  }
}

export const clockMark = (folder: string): ClockMark => {
  const marks = new Map<string, { seen: number | undefined; written: number }>()
  const load = (file: string) =>
    Effect.gen(function* () {
      const known = marks.get(file)
      if (known !== undefined) return known
      const seen = yield* Effect.promise(() => readMark(file))
      const mark = marks.get(file) ?? { seen, written: seen ?? 0 }
      marks.set(file, mark)
      return mark
    })
  return {
    see: (licenseText, now) =>
      Effect.gen(function* () {
        const digest = createHash("sha256").update(licenseText).digest("hex").slice(0, 16)
        const file = join(folder, `license-clock-${digest}.json`)
        const mark = yield* load(file)
        const before = mark.seen
        mark.seen = Math.max(before ?? 0, now.getTime())
        if (mark.seen >= mark.written + writeEveryMs) {
          mark.written = mark.seen
          yield* keepFile("the latest time seen", file, JSON.stringify({ seenUntil: mark.seen }))
        }
        return before === undefined ? undefined : new Date(before)
      }),
  }
}
