/** Template variables in configurations. */

const rangeIdExpression = /\{\{\s*range_id\s*\}\}/giu
const expression = /\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}/gu
const leftover = /\{\{|\{%|\{#/u

/** A name with the range's ID filled in; nothing else is evaluated in names. */
export const renderName = (text: string, range: { readonly rangeId: string }): string =>
  text.replaceAll(rangeIdExpression, () => range.rangeId)

export interface TemplateVariables {
  readonly rangeId: string
  readonly rangeNumber: number
}
export interface Rendered {
  readonly text: string
  /** False: the text still contains expressions that only Ansible can evaluate. */
  readonly complete: boolean
}

/** Fills in `range_id` and `range_second_octet`; every other expression stays as it is. */
export const renderString = (text: string, { rangeId, rangeNumber }: TemplateVariables): Rendered => {
  let complete = true
  const rest = text.replaceAll(expression, (whole, name: string) => {
    if (name.toLowerCase() === "range_id") return rangeId
    if (name === "range_second_octet") return String(rangeNumber)
    complete = false
    return whole
  })
  return { text: rest, complete: complete && !leftover.test(rest) }
}
