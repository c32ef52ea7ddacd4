import type { MigrationAnswer, MigrationReport, MigrationState } from "@rangewright/application/wire"
import { useSignal } from "@preact/signals"
import { change } from "../../api/client.ts"
import { useRead } from "../../api/resource.ts"
import { CardTable, Unread } from "../../parts/list.tsx"
import { Confirm, Outcome, State, Text, type Tone, useDoing, useQuestion } from "../../parts/parts.tsx"
import { linkTo } from "../../links.ts"
import { admin } from "../../texts/admin.ts"
import { AdminHead } from "./admin-head.tsx"

const texts = admin.migration

type Nic = MigrationReport["machines"][number]["nics"][number]
const tones: Readonly<Record<Nic["state"], Tone>> = {
  moved: "ok",
  "moved-and-changed": "warn",
  "on-bridge": "quiet",
  elsewhere: "warn",
  gone: "bad",
}

/** Old and current networks of every machine's cards. */
const Report = ({ machines }: { readonly machines: MigrationReport["machines"] }) => (
  <section aria-labelledby="report">
    <h2 id="report">{texts.report}</h2>
    <CardTable columns={Object.values(texts.columns)}>
      {machines.flatMap(({ proxmoxID, name, rangeID, nics }) =>
        nics.map(({ nic, before, now, state }) => (
          <tr key={`${proxmoxID} ${nic}`}>
            <th scope="row">
              {rangeID === undefined ? (
                <Text>{name}</Text>
              ) : (
                <a href={linkTo("ranges", rangeID)}>
                  <Text>{name}</Text>
                </a>
              )}
              <span class="sub mono">{proxmoxID}</span>
            </th>
            <td data-label={texts.columns.nic} class="mono">
              <Text>{nic}</Text>
            </td>
            <td data-label={texts.columns.before} class="mono">
              <Text>{before}</Text>
            </td>
            <td data-label={texts.columns.now} class="mono">
              <Text>{now ?? ""}</Text>
            </td>
            <td data-label={texts.columns.state}>
              <State tone={tones[state]}>{texts.states[state]}</State>
            </td>
          </tr>
        )),
      )}
    </CardTable>
  </section>
)

/** Migration from bridges to SDN, and back. */
export const MigrationPage = () => {
  const status = useRead<MigrationState>("/migrate/sdn/status")
  const report = useRead<MigrationReport>("/migrate/sdn/report")
  const doing = useDoing()
  const question = useQuestion()
  const createZone = useSignal(false)
  const preview = useSignal<string | undefined>(undefined)
  const data = status.data.value
  const machines = report.data.value?.machines ?? []
  const zone = () => (createZone.value ? { createZone: true } : {})
  const ask = (direction: keyof typeof texts.directions, isRehearsal: boolean): void =>
    void doing.run(async () => {
      const dryRun = isRehearsal ? { dryRun: true } : {}
      const { result } = await (direction === "forth"
        ? change<MigrationAnswer>("POST", "/migrate/sdn", { ...zone(), ...dryRun })
        : change<MigrationAnswer>("POST", "/migrate/sdn/rollback", dryRun))
      preview.value = isRehearsal ? result : undefined
      return isRehearsal ? undefined : result
    })
  const confirm = (direction: keyof typeof texts.directions): void => {
    const { title, text, action } = texts.directions[direction]
    question.value = { title, text, action, danger: true, act: () => ask(direction, false) }
  }
  return (
    <>
      <AdminHead title={texts.title} lead={texts.intro} />
      <Outcome doing={doing} />
      <Unread of={status} />
      {data === undefined ? null : (
        <>
          <p>
            <State tone={data.needs_migration ? "warn" : "ok"}>{data.needs_migration ? texts.needed : texts.notNeeded}</State>{" "}
            <Text>{data.message}</Text>
          </p>
          {data.requires_manual_zone ? (
            <p>
              <label>
                <input
                  type="checkbox"
                  checked={createZone.value}
                  onChange={({ currentTarget }) => (createZone.value = currentTarget.checked)}
                />{" "}
                {texts.createZone(data.current_sdn_zone)}
              </label>
            </p>
          ) : null}
          <div class="actions">
            <button type="button" disabled={doing.busy} onClick={() => ask("forth", true)}>
              {texts.directions.forth.preview}
            </button>
            {data.needs_migration ? (
              <button type="button" class="primary" disabled={doing.busy} onClick={() => confirm("forth")}>
                {texts.directions.forth.action}…
              </button>
            ) : null}
            {report.data.value?.recorded === true ? (
              <>
                <button type="button" disabled={doing.busy} onClick={() => ask("back", true)}>
                  {texts.directions.back.preview}
                </button>
                <button type="button" class="danger" disabled={doing.busy} onClick={() => confirm("back")}>
                  {texts.directions.back.action}…
                </button>
              </>
            ) : null}
          </div>
        </>
      )}
      {preview.value === undefined ? null : (
        <pre tabIndex={0} role="region" aria-label={texts.preview}>
          {preview.value}
        </pre>
      )}
      {report.refusal.value === undefined ? null : <Unread of={report} />}
      {machines.length === 0 ? null : <Report machines={machines} />}
      <Confirm question={question.value} onClose={() => (question.value = undefined)} />
    </>
  )
}
