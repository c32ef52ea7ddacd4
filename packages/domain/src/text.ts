/**
 * The text without these characters at its end. A pattern for it, such as `x+$`, tries every character of a run as a beginning: a text of
 * somebody who means harm then takes minutes.
 */
export const withoutTrailing = (text: string, characters: string): string => {
  let end = text.length
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

/** The text on one line: each line break, with the blanks around it, is a space. */
export const onOneLine = (text: string): string => text.replace(/\s+/gu, (blanks) => (blanks.includes("\n") ? " " : blanks))

/** The first of these, and how many more there are: `a, b and 3 more`. */
export const listed = (all: readonly string[], most = 10, separator = ", "): string =>
  all.length > most ? `${all.slice(0, most).join(separator)} and ${all.length - most} more` : all.join(separator)
