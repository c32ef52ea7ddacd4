import { defineFault } from "../fault/fault.ts"
import { missingHint, missingText, type UnbuiltTemplates } from "../template/missing.ts"

/** Why no plan can be made. Every issue of a request is listed, not only the first. */
export interface PlanIssue {
  readonly code:
    | "template-missing"
    | "template-out-of-reach"
    | "not-ours"
    | "node-missing"
    | "node-offline"
    | "no-node"
    | "zone-unusable"
    | "network-not-ours"
    | "networks-not-moved"
    | "no-vmid"
    | "bad-limit"
    | "name-taken"
    | "name-of-another-range"
    | "unknown-machine"
    | "machine-off"
    | "address-taken"
    | "nothing-runs-inside"
    | "unsure"
    | "no-snapshot"
  /** What stands in the way, with the names of the objects concerned. */
  readonly message: string
  /** The way out. */
  readonly hint?: string | undefined
  /** The templates that are missing. */
  readonly templates?: readonly string[]
}

/** The same issues, with what is known about missing templates: which can be built by the caller, and which cannot. */
export const withTemplatesKnown = (issues: readonly PlanIssue[], known: UnbuiltTemplates): readonly PlanIssue[] =>
  issues.map((issue) => {
    const { templates } = issue
    if (templates === undefined) return issue
    const message = templates.map((name) => missingText(name, known)).join(", ")
    return { ...issue, message, hint: `${capital(missingHint(templates, known))}.` }
  })

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Whether doubt about the hypervisor is the only obstacle: the same request may succeed later, with nothing changed. */
export const isOnlyDoubt = (fault: { readonly _tag: string }): boolean =>
  fault instanceof CannotPlan && fault.facts.issues.every(({ code }) => code === "unsure")

/** A request that cannot be planned; nothing was changed. Its message lists every issue. */
export class CannotPlan extends defineFault(
  "CannotPlan",
  "precondition",
  (f: { readonly doing: string; readonly issues: readonly PlanIssue[] }) => {
    const hints = [...new Set(f.issues.flatMap((i) => (i.hint === undefined ? [] : [i.hint])))]
    return {
      message: `Cannot ${f.doing}: ${f.issues.map((i) => i.message).join("; ")}`,
      ...(hints.length === 0 ? {} : { hint: hints.join(" ") }),
    }
  },
) {}
