/**
 * Splits a command line into words at blanks, with quotes and backslashes. Undefined for an open quote, and for anything else that a shell
 * would interpret (pipes, redirections, substitutions, several commands).
 */
export const splitWords = (line: string): string[] | undefined => {
  const words: string[] = []
  let word: string | undefined
  for (let i = 0; i < line.length; i += 1) {
    const char = line[i]!
    if (char === "'") {
      const end = line.indexOf("'", i + 1)
      if (end < 0) return undefined
      word = (word ?? "") + line.slice(i + 1, end)
      i = end
    } else if (char === '"') {
      let text = ""
      for (i += 1; line[i] !== '"'; i += 1) {
        if (i >= line.length || line[i] === "$" || line[i] === "`") return undefined
        if (line[i] === "\\" && /["\\$`]/.test(line[i + 1] ?? "")) i += 1
        text += line[i]
      }
      word = (word ?? "") + text
    } else if (char === "\\") {
      i += 1
      if (i >= line.length) return undefined
      word = (word ?? "") + line[i]!
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else if (/[|&;<>()$`]/.test(char)) return undefined
    else word = (word ?? "") + char
  }
  if (word !== undefined) words.push(word)
  return words
}
