import type { SourceAnswer } from "@rangewright/application/wire"
import { httpsAddress } from "../../links.ts"
import { State, Text, type Tone } from "../../parts/parts.tsx"
import { t } from "../../texts.ts"

const tones: Readonly<Record<string, Tone>> = { ok: "ok", partial: "warn", error: "bad" }

export const Where = ({ source }: { readonly source: SourceAnswer }) => {
  const where = source.url ?? source.path ?? source.type
  const address = httpsAddress(where)
  return address === undefined ? (
    <Text>{where}</Text>
  ) : (
    <a href={address} rel="noopener noreferrer" target="_blank">
      <Text>{where}</Text>
    </a>
  )
}

export const SourceState = ({ source: { lastSyncStatus, lastSyncedAt } }: { readonly source: SourceAnswer }) =>
  lastSyncStatus === undefined ? (
    <State tone="quiet">{lastSyncedAt === undefined ? t.never : t.sources.synced}</State>
  ) : (
    <State tone={tones[lastSyncStatus] ?? "quiet"}>{t.sources.states[lastSyncStatus]}</State>
  )
