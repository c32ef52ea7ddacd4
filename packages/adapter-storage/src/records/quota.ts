import type { Amounts } from "@rangewright/domain"
import { key, reference, whole } from "../schema/column.ts"
import { groupName, userId } from "../schema/ids.ts"
import { table } from "../schema/table.ts"
import { groups } from "./group.ts"
import { users } from "./user.ts"

/** Memory in GiB; 0 means no limit. */
const amounts = { ram: whole, cpus: whole, vms: whole, ranges: whole }

export const userQuotas = table("user_quotas", { userId: key(reference(() => users.entity, userId)), ...amounts })
export const groupQuotas = table("group_quotas", { groupName: key(reference(() => groups.entity, groupName)), ...amounts })

export const toUserQuota = userQuotas.reader()
export const toGroupQuota = groupQuotas.reader()

export const amountsOf = ({ ram, cpus, vms, ranges }: Amounts): Amounts => ({ ram, cpus, vms, ranges })
