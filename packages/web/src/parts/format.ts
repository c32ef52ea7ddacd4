// written by hand: at its first use, Intl loads language data, which takes longer than rendering a page
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
const two = (value: number): string => String(value).padStart(2, "0")
const clock = (at: Date): string => `${two(at.getHours())}:${two(at.getMinutes())}`
const day = (at: Date): string => `${at.getDate()} ${months[at.getMonth()] ?? ""}`

/** In the service's API a date in year 1 means none. */
export const dateOf = (text: string | undefined): Date | undefined => {
  if (text === undefined || text === "" || text.startsWith("0001-")) return undefined
  const at = new Date(text.replace(" ", "T"))
  return Number.isNaN(at.getTime()) ? undefined : at
}

/** When a day such as `2026-01-31` begins here, as the API takes times; any other text stays as it is. */
export const dayBegins = (day: string | undefined): string | undefined => {
  const at = /^\d{4}-\d\d-\d\d$/u.test(day ?? "") ? new Date(`${day}T00:00`) : undefined
  return at === undefined || Number.isNaN(at.getTime()) ? day : at.toISOString()
}

/** The time for today; otherwise with the day, and the year if it is not the current one. */
export const shortTime = (at: Date, now = new Date()): string => {
  if (at.toDateString() === now.toDateString()) return clock(at)
  const year = at.getFullYear() === now.getFullYear() ? "" : ` ${at.getFullYear()}`
  return `${day(at)}${year}, ${clock(at)}`
}

export const longTime = (at: Date): string =>
  `${day(at)} ${at.getFullYear()}, ${clock(at)}:${two(at.getSeconds())} (${at.toISOString().slice(0, 19).replace("T", " ")} UTC)`

export const duration = (seconds: number): string => {
  const whole = Math.max(0, Math.round(seconds))
  if (whole < 60) return `${whole} s`
  const minutes = Math.floor(whole / 60)
  if (minutes < 60) return whole % 60 === 0 || minutes >= 10 ? `${minutes} min` : `${minutes} min ${whole % 60} s`
  const hours = Math.floor(minutes / 60)
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
}

export const secondsBetween = (from: string | undefined, to: string | undefined, now: number): number | undefined => {
  const begun = dateOf(from)
  return begun === undefined ? undefined : ((dateOf(to)?.getTime() ?? now) - begun.getTime()) / 1000
}

/** A whole number with commas as thousands separators. */
export const count = (value: number): string => {
  let text = String(value)
  for (let at = text.length - 3; at > 0; at -= 3) text = `${text.slice(0, at)},${text.slice(at)}`
  return text
}

const [mib, gib] = [1024 ** 2, 1024 ** 3]
/** `1.4 GiB`, `300 MiB`: never rounded down, like the numbers in refusals. */
export const bytes = (value: number): string => {
  const [unit, name] = value >= gib ? [gib, "GiB"] : [mib, "MiB"]
  return `${Math.ceil((value / unit) * 10) / 10} ${name}`
}

/** Invisible characters that could reorder the text or disguise a name are shown as escapes, except line ends. */
export const plain = (text: string): string =>
  text
    .replaceAll("\r\n", "\n")
    .replace(/(?![\n\t])[\p{Cc}\p{Cf}]/gu, (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`)
