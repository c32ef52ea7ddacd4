import { utf8Length } from "../content/utf8.ts"

/** Maximum size of a comment in iptables, in bytes without the final NUL. */
const longestComment = 255

/** Converts text to a firewall rule's comment: one line, no control characters, truncated between characters. */
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

/** The comment of the packet rules generated from a configuration's rule. */
export const ruleComment = (name: string): string => comment(`User Rule: ${name}`)
