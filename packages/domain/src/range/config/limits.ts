/** The most that one file may contain; many times what real ranges need. */
export const limits = {
  /** UTF-16 units of text: 512 Ki. */
  length: 524_288,
  lines: 20_000,
  /** Tokens of the text, comments included: reading takes time in proportion. A plain machine has 75, an elaborate one 500. */
  tokens: 30_000,
  depth: 100,
  /** Of all machines together, with aliases expanded: each is a step of a deploy. */
  roles: 2_000,
  /** Values, with aliases expanded. */
  values: 32_768,
  /** Anchors, aliases, tags and directives together. */
  properties: 1_000,
} as const
