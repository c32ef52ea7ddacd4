/** Types of answers, for TypeScript clients. Types only: importing them runs no code of this package. */
import type { AccessibleRange } from "./accessible-range.ts"
import type { AntiSandboxOutcome } from "./anti-sandbox.ts"
import type { AuditObject } from "./audit.ts"
import type { AutoShutdown } from "./auto-shutdown.ts"
import type { BlueprintCreated, BlueprintDetail, BlueprintListItem } from "./blueprint.ts"
import type { BulkResult, ChangeManyResult, InvitesResult } from "./bulk.ts"
import type { Capabilities } from "./capabilities.ts"
import type { Capacity } from "./capacity.ts"
import type { ConfigIssueObject } from "./config-issue.ts"
import type { DiskUse } from "./disk.ts"
import type { DoctorResult } from "./doctor.ts"
import type { GroupMemberObject, GroupObject, UserMembershipObject } from "./group.ts"
import type { InstallResponse } from "./install.ts"
import type { LiveMachine } from "./live-event.ts"
import type { LogHistoryEntry } from "./log-history.ts"
import type { MachineObject } from "./machine.ts"
import type { MigrationReportObject, MigrationResult, MigrationStatusObject } from "./migration.ts"
import type { NodeObject, NodesObject } from "./nodes.ts"
import type { NoticeObject } from "./notice.ts"
import type { PlanChange, PlanObject, PlanStep } from "./plan.ts"
import type { GroupQuota, QuotaLimits, QuotaStatus, QuotaStatusOfUser } from "./quota.ts"
import type { RangeObject, VMObject } from "./range-object.ts"
import type { RangeRecord } from "./range-record.ts"
import type { RunEventObject } from "./run-event.ts"
import type { RunLogPage } from "./run-log.ts"
import type { RunObject, RunStep, RunSummary, StepFailureObject } from "./run.ts"
import type { ScopedKeyObject } from "./scoped-key.ts"
import type { SnapshotOutcome, SnapshotSet, SnapshotSets } from "./snapshot.ts"
import type { DeleteSourceResponse } from "./source-use.ts"
import type { SourceResponse } from "./source.ts"
import type { SubscriptionRole } from "./subscription-role.ts"
import type { SyncResultResponse } from "./sync-result.ts"
import type { BlockedTraffic, TestingResult } from "./testing.ts"
import type { TopologyMachineObject, TopologyObject } from "./topology.ts"
import type { UserObject, UserRecord } from "./user.ts"
import type { WholeCatalogResponse } from "./whole-catalog.ts"

export type AccessibleRangeAnswer = typeof AccessibleRange.Type
export type AuditEntry = typeof AuditObject.Type
export type AutoShutdownAnswer = typeof AutoShutdown.Type
export type BlockedTrafficAnswer = typeof BlockedTraffic.Type
export type BlueprintAnswer = typeof BlueprintDetail.Type
export type BlueprintMade = typeof BlueprintCreated.Type
export type BlueprintItem = typeof BlueprintListItem.Type
export type BulkAnswer = typeof BulkResult.Type
export type CapabilitiesAnswer = typeof Capabilities.Type
export type CapacityAnswer = typeof Capacity.Type
export type CatalogAnswer = typeof WholeCatalogResponse.Type
export type Change = typeof PlanChange.Type
export type ChangeMany = typeof ChangeManyResult.Type
export type ConfigIssueAnswer = typeof ConfigIssueObject.Type
export type DeletedSource = typeof DeleteSourceResponse.Type
export type DiskUseAnswer = typeof DiskUse.Type
export type DisguiseOutcome = typeof AntiSandboxOutcome.Type
export type DoctorAnswer = typeof DoctorResult.Type
export type Failure = typeof StepFailureObject.Type
export type GroupAnswer = typeof GroupObject.Type
export type GroupLimits = typeof GroupQuota.Type
export type NoticeAnswer = NoticeObject
export type GroupMemberAnswer = typeof GroupMemberObject.Type
export type InstallAnswer = typeof InstallResponse.Type
export type Invites = typeof InvitesResult.Type
export type LogEntry = typeof LogHistoryEntry.Type
export type Machine = typeof VMObject.Type
export type MachineEvent = typeof LiveMachine.Type
export type MachineAnswer = typeof MachineObject.Type
export type MembershipAnswer = typeof UserMembershipObject.Type
export type MigrationAnswer = typeof MigrationResult.Type
export type MigrationReport = typeof MigrationReportObject.Type
export type MigrationState = typeof MigrationStatusObject.Type
export type NodeAnswer = typeof NodeObject.Type
export type NodesAnswer = typeof NodesObject.Type
export type Plan = typeof PlanObject.Type
export type PlannedStep = typeof PlanStep.Type
export type Quota = typeof QuotaStatus.Type
export type QuotaAmounts = typeof QuotaLimits.Type
export type QuotaOfUser = typeof QuotaStatusOfUser.Type
export type Range = typeof RangeObject.Type
export type RangeHead = typeof RangeRecord.Type
export type Run = typeof RunObject.Type
export type RunEvent = typeof RunEventObject.Type
export type RunHead = typeof RunSummary.Type
export type RunLog = typeof RunLogPage.Type
export type ScopedKeyAnswer = typeof ScopedKeyObject.Type
export type Snapshots = typeof SnapshotSets.Type
export type SnapshotGroup = typeof SnapshotSet.Type
export type SnapshotResult = typeof SnapshotOutcome.Type
export type SourceAnswer = typeof SourceResponse.Type
export type Step = typeof RunStep.Type
export type SubscriptionRoleAnswer = typeof SubscriptionRole.Type
export type SyncAnswer = typeof SyncResultResponse.Type
export type TestingAnswer = typeof TestingResult.Type
export type Topology = typeof TopologyObject.Type
export type TopologyMachine = typeof TopologyMachineObject.Type
export type UserItem = typeof UserObject.Type
export type UserAnswer = typeof UserRecord.Type
