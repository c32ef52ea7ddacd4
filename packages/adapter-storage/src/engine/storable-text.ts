/**
 * Makes any text storable. Databases cannot hold a NUL (PostgreSQL) or an unpaired surrogate (both), so such a text is stored as JSON
 * behind a marker, and so is a text that starts with the marker. All other texts are stored unchanged.
 */
const marker = "\u0001"

const needsEscape = (text: string): boolean => text.startsWith(marker) || text.includes("\0") || !text.isWellFormed()

export const toStorable = (text: string): string => (needsEscape(text) ? marker + JSON.stringify(text) : text)

export const fromStorable = (text: string): string => {
  if (!text.startsWith(marker)) return text
  const value: unknown = JSON.parse(text.slice(marker.length))
  return typeof value === "string" ? value : text
}

/** Restores every text of a row. Mutates the row, which the database driver created for us alone. */
export const restoreRow = (row: Record<string, unknown>): Record<string, unknown> => {
  for (const key in row) {
    const value = row[key]
    if (typeof value === "string" && value.startsWith(marker)) row[key] = fromStorable(value)
  }
  return row
}
