/** What one file may hold; many times what real ranges need. */
export const limits = {
  /** UTF-16 units of text: 1 MiB. */
  length: 1_048_576,
  /** Tokens of the text, blanks and comments included. 250 machines take some 20,000; reading is linear in them. */
  tokens: 32_768,
  depth: 100,
  /** Values once every alias is followed. */
  values: 32_768,
  /** Anchors, aliases, tags and directives together. */
  properties: 1_000,
} as const
