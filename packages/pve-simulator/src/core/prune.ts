/** Whether a backup may be removed or has to be kept. */
export interface Kept {
  readonly ctime: number
  readonly protected?: boolean
}

export type Mark = "keep" | "remove" | "protected"

const day = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 10)

/** The ISO week of a date: that of its week's Thursday. */
const week = (seconds: number): string => {
  const date = new Date(seconds * 1000)
  const thursday = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate() + 4 - (date.getUTCDay() || 7)))
  const number = Math.ceil(((thursday.getTime() - Date.UTC(thursday.getUTCFullYear(), 0, 1)) / 86_400_000 + 1) / 7)
  return `${thursday.getUTCFullYear()}/${number}`
}

/** Keeps the newest backup of each period, for this many periods; periods in which an earlier rule keeps one do not count. */
const periods: readonly (readonly [string, (seconds: number, index: number) => string])[] = [
  ["keep-last", (_, index) => String(index)],
  ["keep-hourly", (seconds) => new Date(seconds * 1000).toISOString().slice(0, 13)],
  ["keep-daily", day],
  ["keep-weekly", week],
  ["keep-monthly", (seconds) => day(seconds).slice(0, 7)],
  ["keep-yearly", (seconds) => day(seconds).slice(0, 4)],
]

/** Marks the backups of one guest by rules such as `keep-last`; without any rule all are kept. */
export const markBackups = <A extends Kept>(backups: readonly A[], rules: Readonly<Record<string, string>>): Map<A, Mark> => {
  const newestFirst = backups.toSorted((a, b) => b.ctime - a.ctime)
  const marks = new Map<A, Mark>(newestFirst.filter((each) => each.protected === true).map((each) => [each, "protected"]))
  const loose = newestFirst.filter((each) => each.protected !== true)
  const isRuled = periods.some(([name]) => Number(rules[name] ?? 0) > 0)
  if (!isRuled || rules["keep-all"] === "1") return new Map([...marks, ...loose.map((each) => [each, "keep"] as const)])
  for (const [name, periodOf] of periods) {
    const idOf = (each: A) => periodOf(each.ctime, loose.indexOf(each))
    const covered = new Set(loose.filter((each) => marks.get(each) === "keep").map(idOf))
    const added = new Set<string>()
    for (const each of loose) {
      if (marks.has(each) || covered.has(idOf(each))) continue
      if (added.has(idOf(each))) marks.set(each, "remove")
      else if (added.size >= Number(rules[name] ?? 0)) break
      else {
        added.add(idOf(each))
        marks.set(each, "keep")
      }
    }
  }
  return new Map(newestFirst.map((each) => [each, marks.get(each) ?? "remove"]))
}
