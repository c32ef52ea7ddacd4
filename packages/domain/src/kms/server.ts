import { isRangeId, type RangeId } from "../access/ids.ts"

/** The machine that the service makes a KMS host. Numbers of VMs are given again, so it has none here. */
export interface KmsServer {
  readonly range: RangeId
  /** Its full name, as the range shows it. */
  readonly machine: string
}

const machineName = /^[A-Za-z0-9][A-Za-z0-9.-]{0,62}$/u

/** Reads `RANGE/machine`. The ID of a range may hold a slash, the name of a machine may not. */
export const readKmsServer = (text: string): { readonly value: KmsServer } | { readonly problem: string } => {
  const slash = text.lastIndexOf("/")
  const [range, machine] = [text.slice(0, Math.max(slash, 0)), text.slice(slash + 1)]
  return isRangeId(range) && machineName.test(machine)
    ? { value: { range, machine } }
    : { problem: "must be the ID of a range and the full name of a machine in it, such as ADMIN/ADMIN-kms" }
}
