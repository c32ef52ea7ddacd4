import { utf8Length } from "../content/utf8.ts"

/** What iptables keeps of a comment, without its final NUL. */
const longestComment = 255

/** Text as a comment of a firewall rule: one line, no control characters, cut between characters to what fits. */
export const comment = (text: string): string => {
  // oxlint-disable-next-line no-control-regex
  const line = text.toWellFormed().replaceAll(/[\u0000-\u001F\u007F-\u009F\u2028\u2029]/gu, " ")
  let bytes = 0
  let kept = ""
  for (const character of line) {
    bytes += utf8Length(character)
    if (bytes > longestComment) break
    kept += character
  }
  return kept
}

/** The comment at the rules that a configuration's rule becomes. */
export const ruleComment = (name: string): string => comment(`User Rule: ${name}`)
