import type { UnbuiltTemplates } from "../../template/missing.ts"
import type { OtherRange } from "../naming.ts"
import type { NameTemplate, RangeConfig } from "./model.ts"
import type { Node, Path } from "./node.ts"

/** What is known about the range and the server; absent facts are not checked. */
export interface RangeFacts {
  readonly rangeId: string
  readonly rangeNumber: number
  /** Names of the templates that are built and visible to the caller. */
  readonly templates?: ReadonlySet<string> | undefined
  /** What is known to the caller about templates that are not built. Absent: nothing is known. */
  readonly unbuilt?: UnbuiltTemplates | undefined
  readonly roles?: InstalledRoles | undefined
  readonly nodes?: ReadonlyArray<NodeFacts> | undefined
  readonly otherRanges?: ReadonlyArray<Pick<OtherRange, "id">> | undefined
  /** Names that the range uses already, in its configuration or on the hypervisor: it keeps them. */
  readonly keptNames?: ReadonlySet<string> | undefined
}
export interface InstalledRoles {
  readonly names: ReadonlySet<string>
  /** Such as `microsoft.ad`: all roles of an installed collection count as installed. */
  readonly collections: ReadonlySet<string>
}
export interface NodeFacts {
  readonly name: string
  readonly cpus?: number | undefined
  readonly ramGb?: number | undefined
}

export type Look = (path: Path, code: string, message: string, allowed?: string) => void

/** Passed to every check, which reports what it finds through `error` and `warning`. */
export interface CheckContext {
  readonly config: RangeConfig
  readonly facts: RangeFacts
  readonly root: Node
  readonly render: (name: NameTemplate) => string
  readonly error: Look
  readonly warning: Look
}
