import { Refusal } from "../api/client.ts"

/** Throws if any item was refused, with the reasons and the result for the others. */
export const requireAll = (
  errors: readonly { readonly item: string; readonly reason: string }[] | undefined,
  others?: string,
): void => {
  if (errors === undefined || errors.length === 0) return
  const reasons = errors.map(({ item, reason }) => `${item}: ${reason}`)
  throw new Refusal(0, [...reasons, ...(others === undefined ? [] : [others])].join("\n"))
}
