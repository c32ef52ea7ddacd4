/** A parsed schedule: all values of each field. Times are in UTC. */
export interface Calendar {
  readonly weekdays: ReadonlySet<number>
  readonly years: ReadonlySet<number> | undefined
  readonly months: ReadonlySet<number>
  readonly days: ReadonlySet<number>
  readonly hours: readonly number[]
  readonly minutes: readonly number[]
}

const words: Readonly<Record<string, string>> = {
  minutely: "*:*",
  hourly: "*:00",
  daily: "00:00",
  weekly: "mon 00:00",
  monthly: "*-*-01 00:00",
  quarterly: "*-01,04,07,10-01 00:00",
  "semi-annually": "*-01,07-01 00:00",
  semiannually: "*-01,07-01 00:00",
  yearly: "*-01-01 00:00",
  annually: "*-01-01 00:00",
}

const weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]

const span = (from: number, to: number, step = 1): number[] => {
  const out: number[] = []
  for (let n = from; n <= to; n += step) out.push(n)
  return out
}

/** Parses values such as `1,5..9,0/15`, sorted; undefined if a part is invalid or out of range. */
const values = (text: string, lowest: number, highest: number): number[] | undefined => {
  const out = new Set<number>()
  for (const part of text.split(",")) {
    const found = /^(\*|\d{1,4})(?:\.\.(\d{1,4}))?(?:\/(\d{1,4}))?$/u.exec(part)
    if (found === null) return undefined
    const from = found[1] === "*" ? lowest : Number(found[1])
    const step = found[3] === undefined ? 1 : Number(found[3])
    const isOpen = found[1] === "*" || found[3] !== undefined
    const to = found[2] === undefined ? (isOpen ? highest : from) : Number(found[2])
    if (from < lowest || to > highest || from > to || step < 1) return undefined
    for (const n of span(from, to, step)) out.add(n)
  }
  return [...out].toSorted((a, b) => a - b)
}

/** Parses days such as `mon..fri,sun`. */
const daysOfWeek = (text: string): Set<number> | undefined => {
  const out = new Set<number>()
  for (const part of text.toLowerCase().split(",")) {
    const [from, to] = part.split("..").map((name) => weekdays.findIndex((day) => name === day || name.startsWith(`${day}`)))
    if (from === undefined || from < 0 || to === -1) return undefined
    for (let day = from; ; day = (day + 1) % 7) {
      out.add(day)
      if (day === (to ?? from)) break
    }
  }
  return out
}

const timesOf = (text: string): Pick<Calendar, "hours" | "minutes"> | undefined => {
  const parts = text.replace(/:0?0$/u, (end) => (text.split(":").length === 3 ? "" : end)).split(":")
  const [hour, minute] = parts.length === 1 ? ["*", parts[0]!] : [parts[0]!, parts[1]!]
  const hours = values(hour, 0, 23)
  const minutes = values(minute, 0, 59)
  return parts.length > 2 || hours === undefined || minutes === undefined ? undefined : { hours, minutes }
}

const datesOf = (text: string): Pick<Calendar, "years" | "months" | "days"> | undefined => {
  const parts = text.split("-")
  const [year, month, day] = parts.length === 2 ? ["*", ...parts] : parts
  const years = year === "*" ? undefined : values(year ?? "", 1970, 2200)
  const months = values(month ?? "", 1, 12)
  const days = values(day ?? "", 1, 31)
  if ((year !== "*" && years === undefined) || months === undefined || days === undefined) return undefined
  return { years: years === undefined ? undefined : new Set(years), months: new Set(months), days: new Set(days) }
}

/** Parses a schedule such as `mon..fri 02:30`, `*-*-01 04:00` or `hourly`; undefined if it is invalid. */
export const parseCalendar = (text: string): Calendar | undefined => {
  const parts = (words[text.trim()] ?? text.trim()).split(/\s+/u)
  const week = /^[a-z]/iu.test(parts[0]!) ? daysOfWeek(parts.shift()!) : new Set(span(0, 6))
  const dates =
    parts[0]?.includes("-") === true ? datesOf(parts.shift()!) : { years: undefined, months: allMonths, days: allDays }
  const times = parts.length === 0 ? { hours: [0], minutes: [0] } : timesOf(parts.shift()!)
  if (week === undefined || dates === undefined || times === undefined || parts.length > 0) return undefined
  return { weekdays: week, ...dates, ...times }
}

const allMonths: ReadonlySet<number> = new Set(span(1, 12))
const allDays: ReadonlySet<number> = new Set(span(1, 31))
const dayMs = 86_400_000

/** The first due time after `now` (in milliseconds); undefined if there is none within eight years. */
export const nextTime = (calendar: Calendar, now: number): number | undefined => {
  const today = Math.floor(now / dayMs) * dayMs
  for (let day = today; day < today + 8 * 366 * dayMs; day += dayMs) {
    const date = new Date(day)
    const isDay =
      calendar.weekdays.has(date.getUTCDay()) &&
      calendar.days.has(date.getUTCDate()) &&
      calendar.months.has(date.getUTCMonth() + 1) &&
      (calendar.years?.has(date.getUTCFullYear()) ?? true)
    if (!isDay) continue
    for (const hour of calendar.hours)
      for (const minute of calendar.minutes) {
        const time = day + (hour * 60 + minute) * 60_000
        if (time > now) return time
      }
  }
  return undefined
}
