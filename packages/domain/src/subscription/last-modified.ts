const weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
const two = (n: number): string => String(n).padStart(2, "0")

/** A time formatted for lists of roles: `Mon Jan 5 08:00:00 2026 +0100`. `offsetMinutes`, east of UTC, selects the time zone. */
export const renderLastModified = (at: Date, offsetMinutes = 0): string => {
  const there = new Date(at.getTime() + offsetMinutes * 60_000)
  const east = Math.abs(offsetMinutes)
  const time = [there.getUTCHours(), there.getUTCMinutes(), there.getUTCSeconds()].map(two).join(":")
  const offset = `${offsetMinutes < 0 ? "-" : "+"}${two(Math.floor(east / 60))}${two(east % 60)}`
  const day = `${weekdays[there.getUTCDay()] ?? ""} ${months[there.getUTCMonth()] ?? ""} ${there.getUTCDate()}`
  return `${day} ${time} ${there.getUTCFullYear()} ${offset}`
}

/** Seconds since 1970 in UTC, as decimal digits. */
export const renderUnixSeconds = (at: Date): string => String(Math.floor(at.getTime() / 1000))
