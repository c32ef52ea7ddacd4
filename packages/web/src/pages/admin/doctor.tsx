import type { DoctorAnswer } from "@rangewright/application/wire"
import { useSignal } from "@preact/signals"
import { read } from "../../api/client.ts"
import { useRead } from "../../api/resource.ts"
import { Unread } from "../../parts/list.tsx"
import { Outcome, State, Text, Time, type Tone, useDoing, WithWays } from "../../parts/parts.tsx"
import { admin } from "../../texts/admin.ts"
import { AdminHead } from "./admin-head.tsx"

const texts = admin.doctor
type Level = DoctorAnswer["findings"][number]["level"]
const tones: Readonly<Record<Level, Tone>> = { fail: "bad", warn: "warn", ok: "ok" }
const order: readonly Level[] = ["fail", "warn", "ok"]

export const DoctorPage = () => {
  const kept = useRead<DoctorAnswer>("/doctor")
  const newer = useSignal<DoctorAnswer | undefined>(undefined)
  const doing = useDoing()
  const data = newer.value ?? kept.data.value
  const again = async (): Promise<undefined> => {
    newer.value = await read<DoctorAnswer>("/doctor", { refresh: true })
  }
  return (
    <>
      <AdminHead title={texts.title} lead={texts.intro}>
        <button type="button" disabled={doing.busy || data === undefined} onClick={() => void doing.run(again)}>
          {doing.busy ? texts.busy : texts.again}
        </button>
      </AdminHead>
      <Outcome doing={doing} />
      <Unread of={kept} />
      {data === undefined ? null : (
        <>
          <p class="muted">
            {texts.checked} <Time at={data.checkedAt} />
          </p>
          <ul class="plain needs">
            {data.findings
              .toSorted((a, b) => order.indexOf(a.level) - order.indexOf(b.level))
              .map(({ level, what, detail, hint }) => (
                <li key={`${what}: ${detail}`} class={level === "ok" ? "note" : `note ${tones[level]}`}>
                  <State tone={tones[level]}>{texts.levels[level]}</State>{" "}
                  <strong>
                    <Text>{what}</Text>
                  </strong>
                  <span class="sub lines">
                    <Text>{detail}</Text>
                  </span>
                  {hint === undefined ? null : (
                    <span class="sub lines">
                      <WithWays>{hint}</WithWays>
                    </span>
                  )}
                </li>
              ))}
          </ul>
        </>
      )}
    </>
  )
}
