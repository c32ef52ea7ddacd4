/** What one file may hold; many times what real ranges need. */
export const limits = {
  /** UTF-16 units of text: 512 Ki. */
  length: 524_288,
  /** Tokens of the text, blanks and comments included. A machine takes 75, or 500 with roles, variables and comments; reading takes time in proportion. */
  tokens: 30_000,
  depth: 100,
  /** Values once every alias is followed. */
  values: 32_768,
  /** Anchors, aliases, tags and directives together. */
  properties: 1_000,
} as const
