/**
 * The text without these characters at its end. A regular expression such as `x+$` would retry at every character of a run: quadratic time,
 * minutes on hostile input.
 */
export const withoutTrailing = (text: string, characters: string): string => {
  let end = text.length
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

/** The text on one line: each line break, with the whitespace around it, becomes a space. */
export const onOneLine = (text: string): string => text.replace(/\s+/gu, (blanks) => (blanks.includes("\n") ? " " : blanks))

/** The first items, and the number of the others: `a, b and 3 more`. */
export const listed = (all: readonly string[], most = 10, separator = ", "): string =>
  all.length > most ? `${all.slice(0, most).join(separator)} and ${all.length - most} more` : all.join(separator)
