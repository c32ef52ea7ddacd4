import type { Range } from "@rangewright/application/wire"
import { type Resource, useRead } from "../api/resource.ts"
import { patchRanges } from "./patch.ts"

/** All ranges that the user can see, kept up to date. What needs them only at times asks for none in between. */
export const useRanges = (isNeeded = true): Resource<readonly Range[]> =>
  useRead<readonly Range[]>(
    isNeeded ? "/range/all" : undefined,
    {},
    ({ topic }) => topic === "range" || topic === "machine",
    patchRanges,
  )
