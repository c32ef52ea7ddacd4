import type { RangeId } from "../access/ids.ts"
import { routerDefaults } from "../range/config/defaults.ts"
import { renderName } from "../range/config/variables.ts"

/** Tag that a range's router carries at the hypervisor, whatever its name is. */
export const routerTag = "router"

/** Whether a VM of a range is its router: by its tag, or by the name that routers have when the configuration says nothing. */
export const isRouter = (
  machine: { readonly name: string | undefined; readonly tags: readonly string[] },
  rangeId: RangeId,
): boolean => machine.tags.includes(routerTag) || machine.name === renderName(routerDefaults.name, { rangeId })
