const time = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" })
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" })
const full = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" })
const number = new Intl.NumberFormat("en-GB")

/** Clients of the service's API know a date that means none. */
export const dateOf = (text: string | undefined): Date | undefined => {
  if (text === undefined || text === "" || text.startsWith("0001-")) return undefined
  const at = new Date(text.replace(" ", "T"))
  return Number.isNaN(at.getTime()) ? undefined : at
}

/** The hour of today, or the day too. */
export const shortTime = (at: Date, now = new Date()): string =>
  at.toDateString() === now.toDateString() ? time.format(at) : day.format(at)

export const longTime = (at: Date): string => `${full.format(at)} (${at.toISOString().slice(0, 19).replace("T", " ")} UTC)`

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

export const count = (value: number): string => number.format(value)

/** What could turn the text around it, or pretend to be another name, is shown as its number. */
export const plain = (text: string): string =>
  text.replace(/(?![\n\t])[\p{Cc}\p{Cf}]/gu, (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`)
