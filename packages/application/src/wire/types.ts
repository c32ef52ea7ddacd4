/** What answers look like, for clients written in TypeScript. Types alone: whoever imports them runs nothing of this package. */
import type { AutoShutdown } from "./auto-shutdown.ts"
import type { BlueprintDetail, BlueprintListItem } from "./blueprint.ts"
import type { PlanChange, PlanObject, PlanStep } from "./plan.ts"
import type { QuotaStatus } from "./quota.ts"
import type { RangeObject, VMObject } from "./range-object.ts"
import type { RangeRecord } from "./range-record.ts"
import type { RunEventObject } from "./run-event.ts"
import type { RunLogPage } from "./run-log.ts"
import type { RunObject, RunStep, RunSummary, StepFailureObject } from "./run.ts"
import type { SnapshotOutcome, SnapshotSet, SnapshotSets } from "./snapshot.ts"
import type { SourceResponse } from "./source.ts"
import type { SyncResultResponse } from "./sync-result.ts"
import type { BlockedTraffic, TestingResult } from "./testing.ts"
import type { TopologyMachineObject, TopologyObject } from "./topology.ts"
import type { UserRecord } from "./user.ts"

export type AutoShutdownAnswer = typeof AutoShutdown.Type
export type BlockedTrafficAnswer = typeof BlockedTraffic.Type
export type BlueprintAnswer = typeof BlueprintDetail.Type
export type BlueprintItem = typeof BlueprintListItem.Type
export type Change = typeof PlanChange.Type
export type Failure = typeof StepFailureObject.Type
export type Machine = typeof VMObject.Type
export type Plan = typeof PlanObject.Type
export type PlannedStep = typeof PlanStep.Type
export type Quota = typeof QuotaStatus.Type
export type Range = typeof RangeObject.Type
export type RangeHead = typeof RangeRecord.Type
export type Run = typeof RunObject.Type
export type RunEvent = typeof RunEventObject.Type
export type RunHead = typeof RunSummary.Type
export type RunLog = typeof RunLogPage.Type
export type Snapshots = typeof SnapshotSets.Type
export type SnapshotGroup = typeof SnapshotSet.Type
export type SnapshotResult = typeof SnapshotOutcome.Type
export type SourceAnswer = typeof SourceResponse.Type
export type Step = typeof RunStep.Type
export type SyncAnswer = typeof SyncResultResponse.Type
export type TestingAnswer = typeof TestingResult.Type
export type Topology = typeof TopologyObject.Type
export type TopologyMachine = typeof TopologyMachineObject.Type
export type UserAnswer = typeof UserRecord.Type
