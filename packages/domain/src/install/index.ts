export {
  type DryRunItem,
  dryRunOf,
  type DryRunPlan,
  type InstallItemKind,
  installItemKinds,
  shippedItemKinds,
} from "./dry-run.ts"
export { entriesBelow } from "./entries-below.ts"
export { type InstallFailure, sayFailures } from "./install-failures.ts"
export {
  type InstallPlan,
  isNothingToDo,
  type ItemChange,
  type PlannedArtifact,
  type PlannedBlueprint,
  type PlannedRequirement,
  type Present,
  type PresentBlueprint,
  type PresentCopy,
  type VendoredRole,
} from "./install-plan.ts"
export { type InstallSource, type InstallChoice, planInstall } from "./plan-install.ts"
export { unmetDeclarations } from "./requirements-left.ts"
export { stillShipped } from "./still-shipped.ts"
export { type BlueprintNeeds, type InstalledItem, planUninstall, type PlannedRemoval } from "./plan-uninstall.ts"
