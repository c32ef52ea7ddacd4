import type { Range } from "@rangewright/application/wire"
import { type Resource, useRead } from "../api/resource.ts"
import { patchRanges } from "./patch.ts"

/** All ranges that the user can see, kept up to date. */
export const useRanges = (): Resource<readonly Range[]> =>
  useRead<readonly Range[]>("/range/all", {}, ({ topic }) => topic === "range" || topic === "machine", patchRanges)
