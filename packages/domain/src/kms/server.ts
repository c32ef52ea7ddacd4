import { isRangeId, type RangeId } from "../access/ids.ts"

/** The machine that the service sets up as a KMS host. Identified by name, because VMIDs are reused. */
export interface KmsServer {
  readonly range: RangeId
  /** Its full name as shown in the range. */
  readonly machine: string
}

const machineName = /^[A-Za-z0-9][A-Za-z0-9.-]{0,62}$/u

/** Parses `RANGE/machine`. The ID of a range may contain a slash, a machine's name may not. */
export const readKmsServer = (text: string): { readonly value: KmsServer } | { readonly problem: string } => {
  const slash = text.lastIndexOf("/")
  const [range, machine] = [text.slice(0, Math.max(slash, 0)), text.slice(slash + 1)]
  return isRangeId(range) && machineName.test(machine)
    ? { value: { range, machine } }
    : { problem: "must be the ID of a range and the full name of a machine in it, such as ADMIN/ADMIN-kms" }
}
