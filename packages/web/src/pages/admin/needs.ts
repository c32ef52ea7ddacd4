import type { DoctorAnswer, NodeAnswer, QuotaOfUser, Range, RunHead, SourceAnswer } from "@rangewright/application/wire"
import { dateOf, shortTime } from "../../parts/format.ts"
import { kindOf, shortName } from "../../range/sentence.ts"
import { linkTo } from "../../links.ts"
import { sourceName, subjectName } from "../../run/subject.ts"
import { admin } from "../../texts/admin.ts"

const texts = admin.overview

/** Pending changes of access on the hypervisor and the routers. */
export interface PendingAccess {
  readonly inLine: boolean
  readonly revocations: readonly string[]
  readonly grants: readonly string[]
  readonly routers: readonly string[]
  readonly notes: readonly string[]
}

/** A problem that does not resolve itself, and the page to fix it. */
export interface Need {
  readonly tone: "bad" | "warn"
  readonly title: string
  readonly text?: string
  readonly href: string
}

interface Facts {
  readonly ranges: readonly Range[]
  readonly runs: readonly RunHead[]
  readonly sources: readonly SourceAnswer[]
  readonly access: PendingAccess | undefined
  readonly quotas: readonly QuotaOfUser[]
  readonly nodes: readonly NodeAnswer[]
  readonly findings: DoctorAnswer["findings"]
}

const ofRange = ({ rangeID, rangeState, VMs }: Range, runs: readonly RunHead[]): readonly Need[] => {
  const ends = rangeState === "ABORTED" ? ["aborted"] : ["failure", "partial"]
  const last = runs.find((run) => run.rangeID === rangeID && ends.includes(run.status))
  const href = last === undefined ? linkTo("ranges", rangeID) : linkTo("runs", last.id)
  const missing = VMs.filter(({ missingSince }) => missingSince !== undefined).map(({ name }) => shortName(rangeID, name))
  return [
    ...(rangeState === "ERROR" ? [{ tone: "bad" as const, title: texts.failed(rangeID), href }] : []),
    ...(rangeState === "ABORTED" ? [{ tone: "warn" as const, title: texts.aborted(rangeID), href }] : []),
    ...(missing.length === 0
      ? []
      : [
          {
            tone: "warn" as const,
            title: texts.missing(rangeID, missing.join(", ")),
            text: texts.missingText,
            href: linkTo("ranges", rangeID, "plan"),
          },
        ]),
  ]
}

/** The last runs of subjects other than ranges, if they failed. A failed fetch shows at its source. */
const ofOthers = (runs: readonly RunHead[], sources: readonly SourceAnswer[]): readonly Need[] => {
  const last = new Map<string, RunHead>()
  for (const run of runs) {
    const key = `${run.subject.type} ${run.subject.id}`
    if (run.rangeID === undefined && !last.has(key)) last.set(key, run)
  }
  return [...last.values()]
    .filter(({ status, kind }) => status === "failure" && kind !== "source-fetch")
    .map((run) => ({
      tone: "bad",
      title: texts.failedRun(kindOf(run.kind), subjectName(run.subject, sources)),
      href: linkTo("runs", run.id),
    }))
}

const ofAccess = (access: PendingAccess | undefined): readonly Need[] => {
  if (access === undefined || access.inLine) return []
  const { revocations, grants, routers, notes } = access
  const parts = [
    ...(revocations.length > 0 ? [texts.revocations(revocations.length)] : []),
    ...(grants.length > 0 ? [texts.grants(grants.length)] : []),
    ...(routers.length > 0 ? [texts.routers(routers.length)] : []),
  ]
  const text = [texts.accessText(parts.join(", ")), ...notes].join("\n")
  return [{ tone: "warn", title: texts.access, text, href: linkTo("admin", "audit") }]
}

/** Storages, and users' disk space on the host, that are this full may fill up before anybody checks again. */
const fullFrom = 0.85

const ofDisk = ({ userID, usedDiskBytes = 0, limitDiskBytes }: QuotaOfUser): readonly Need[] =>
  limitDiskBytes > 0 && usedDiskBytes >= fullFrom * limitDiskBytes
    ? [{ tone: "warn", title: texts.userDisk(userID, usedDiskBytes / limitDiskBytes), href: linkTo("admin", "quotas") }]
    : []

const ofQuota = ({ userID, ...quota }: QuotaOfUser): readonly Need[] => {
  const full = (["Ranges", "VMs", "CPU", "RAM"] as const).filter(
    (name) => quota[`limit${name}`] > 0 && quota[`used${name}`] >= quota[`limit${name}`],
  )
  const names = full.map((name) => admin.quotas.units[({ Ranges: "ranges", VMs: "vms", CPU: "cpus", RAM: "ram" } as const)[name]])
  return full.length === 0
    ? []
    : [{ tone: "warn", title: texts.quota(userID, names.join(", ").toLowerCase()), href: linkTo("admin", "quotas") }]
}

const ofNode = ({ name, online, freeMemoryMiB, storages }: NodeAnswer): readonly Need[] => [
  ...(online
    ? []
    : [{ tone: "bad" as const, title: texts.nodeDown(name), text: texts.nodeDownText, href: "/ui/admin/overview" }]),
  ...(freeMemoryMiB < 0
    ? [{ tone: "warn" as const, title: texts.overbooked(name), text: texts.overbookedText, href: "/ui/ranges" }]
    : []),
  ...storages
    .filter(({ totalBytes, usedBytes }) => totalBytes > 0 && usedBytes / totalBytes >= fullFrom)
    .map((storage) => ({
      tone: "warn" as const,
      title: texts.storage(storage.name, name, storage.usedBytes / storage.totalBytes),
      href: "/ui/admin/overview",
    })),
]

const ofChecks = (findings: Facts["findings"]): readonly Need[] => {
  const failed = findings.filter(({ level }) => level === "fail")
  const text = failed.map(({ what, detail }) => `${what}: ${detail}`).join("\n")
  return failed.length === 0 ? [] : [{ tone: "bad", title: texts.checks(failed.length), text, href: linkTo("admin", "doctor") }]
}

/** Problems that need an administrator, the worst first. */
export const needsOf = ({ ranges, runs, sources, access, quotas, nodes, findings }: Facts): readonly Need[] => {
  const away = ranges.find(({ awaySince }) => awaySince !== undefined)?.awaySince
  const since = dateOf(away)
  const needs: readonly Need[] = [
    ...(since === undefined
      ? []
      : [{ tone: "bad" as const, title: texts.away, text: texts.awayText(shortTime(since)), href: "/ui/ranges" }]),
    ...ofChecks(findings),
    ...nodes.flatMap(ofNode),
    ...ranges.flatMap((range) => ofRange(range, runs)),
    ...ofOthers(runs, sources),
    ...sources
      .filter(({ lastSyncStatus }) => lastSyncStatus === "error" || lastSyncStatus === "partial")
      .map((source) => ({
        tone: source.lastSyncStatus === "error" ? ("bad" as const) : ("warn" as const),
        title: (source.lastSyncStatus === "error" ? texts.source : texts.partial)(sourceName(source)),
        ...(source.lastSyncError === undefined ? {} : { text: source.lastSyncError }),
        href: "/ui/sources",
      })),
    ...ofAccess(access),
    ...quotas.flatMap(ofQuota),
    ...quotas.flatMap(ofDisk),
  ]
  return needs.toSorted((a, b) => Number(b.tone === "bad") - Number(a.tone === "bad"))
}
