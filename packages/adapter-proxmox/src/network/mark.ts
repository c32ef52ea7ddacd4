/** The comment or alias of our networks starts with this word. */
export const isOurNetwork = (comment: string | undefined): boolean => /^\s*rangewright\b/iu.test(comment ?? "")
