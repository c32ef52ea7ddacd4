/** Our networks carry this word first in their comment or alias. */
export const isOurNetwork = (comment: string | undefined): boolean => /^\s*rangewright\b/iu.test(comment ?? "")
