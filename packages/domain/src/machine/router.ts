import type { RangeId } from "../access/ids.ts"
import { routerDefaults } from "../range/config/defaults.ts"
import { renderName } from "../range/config/variables.ts"

/** The tag of a range's router on the hypervisor, whatever its name is. */
export const routerTag = "router"

/** Whether a VM of a range is its router: by its tag, or by the default router name. */
export const isRouter = (
  machine: { readonly name: string | undefined; readonly tags: readonly string[] },
  rangeId: RangeId,
): boolean => machine.tags.includes(routerTag) || machine.name === renderName(routerDefaults.name, { rangeId })
