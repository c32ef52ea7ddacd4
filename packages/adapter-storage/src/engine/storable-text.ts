/**
 * Any text can be stored. Databases have no place for a NUL (PostgreSQL) or for half a surrogate pair (both), so such a text is kept
 * as its JSON form behind a marker, and so is a text that begins with the marker. All other texts are kept as they are.
 */
const marker = "\u0001"

const needsEscape = (text: string): boolean => text.startsWith(marker) || text.includes("\0") || !text.isWellFormed()

export const toStorable = (text: string): string => (needsEscape(text) ? marker + JSON.stringify(text) : text)

export const fromStorable = (text: string): string => {
  if (!text.startsWith(marker)) return text
  const value: unknown = JSON.parse(text.slice(marker.length))
  return typeof value === "string" ? value : text
}

/** Every text of a row as it was given. Changes the row: it is the database driver's, made for us alone. */
export const restoreRow = (row: Record<string, unknown>): Record<string, unknown> => {
  for (const key in row) {
    const value = row[key]
    if (typeof value === "string" && value.startsWith(marker)) row[key] = fromStorable(value)
  }
  return row
}
