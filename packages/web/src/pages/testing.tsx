import type { BlockedTrafficAnswer, Range, TestingAnswer } from "@rangewright/application/wire"
import { change } from "../api/client.ts"
import { useRead } from "../api/resource.ts"
import { count } from "../parts/format.ts"
import { CardTable } from "../parts/list.tsx"
import { ConfirmButton, type Doing, Field, Loading, Note, Outcome, Refused, Text, Time, useDoing } from "../parts/parts.tsx"
import { isAddress, nameOf } from "../range/allowed-entry.ts"
import { mayBeChanging, RangeHead, useRange } from "../range/range-head.tsx"
import { shortName, testingText } from "../range/sentence.ts"
import { submitted } from "../parts/form.ts"
import { requireAll } from "../parts/refused-items.ts"
import { t } from "../texts.ts"

interface Changed {
  readonly allowed?: readonly string[]
  readonly denied?: readonly string[]
  readonly errors?: readonly { readonly item: string; readonly reason: string }[]
}

const Allowed = ({ id, range, doing }: { readonly id: string; readonly range: Range; readonly doing: Doing }) => {
  const entries = [...range.allowedDomains, ...range.allowedIPs]
  const act = (verb: "allow" | "deny", entry: string): Promise<boolean> =>
    doing.run(async () => {
      const name = nameOf(entry)
      const { errors } = await change<Changed>(
        "POST",
        `/testing/${verb}`,
        { rangeID: id },
        isAddress(name) ? { ips: [name] } : { domains: [name] },
      )
      requireAll(errors)
      return name
    })
  const submit = (event: SubmitEvent): void => {
    const { form, text } = submitted(event)
    void act("allow", text("entry").trim()).then((done) => done && form.reset())
  }
  return (
    <section aria-labelledby="allowed">
      <h2 id="allowed">{t.testing.allowed}</h2>
      {entries.length === 0 ? <p class="muted">{t.testing.nothingAllowed}</p> : null}
      <ul class="plain lines">
        {entries.map((entry) => (
          <li key={entry}>
            <span class="mono">
              <Text>{entry}</Text>
            </span>
            <button
              type="button"
              class="small"
              disabled={doing.busy || range.testingState !== "on"}
              aria-label={`${t.testing.deny}: ${nameOf(entry)}`}
              onClick={() => void act("deny", entry)}
            >
              {t.testing.deny}
            </button>
          </li>
        ))}
      </ul>
      {range.testingState === "on" ? (
        <form class="inline" onSubmit={submit}>
          <Field label={t.testing.allowLabel}>
            {(ids) => <input {...ids} name="entry" required autocomplete="off" autocapitalize="none" spellcheck={false} />}
          </Field>
          <button type="submit" disabled={doing.busy}>
            {t.testing.allow}
          </button>
        </form>
      ) : null}
    </section>
  )
}

const fromText = (id: string, { source, machine }: { readonly source: string; readonly machine?: string }): string =>
  machine === undefined ? source : shortName(id, machine)

const Blocked = ({ id }: { readonly id: string }) => {
  const { data, refusal } = useRead<BlockedTrafficAnswer>("/testing/blocked", { rangeID: id }, ({ rangeID }) => rangeID === id)
  const traffic = data.value
  return (
    <section aria-labelledby="blocked">
      <h2 id="blocked">{t.testing.blocked}</h2>
      {refusal.value === undefined ? null : <Refused refusal={refusal.value} />}
      {traffic === undefined ? null : (
        <>
          {traffic.rules === "changed" ? <Note tone="warn">{t.testing.changedRules}</Note> : null}
          <p class="muted">
            {traffic.inspectedAt === undefined ? (
              t.testing.notAsked
            ) : (
              <>
                {traffic.blocked.length + traffic.names.length === 0 ? t.testing.nothingBlocked : null}{" "}
                <Time at={traffic.inspectedAt} />
              </>
            )}
          </p>
          {traffic.blocked.length === 0 ? null : (
            <CardTable columns={Object.values(t.testing.columns)}>
              {traffic.blocked.map((one) => (
                <tr key={`${one.source} ${one.destination} ${one.protocol} ${one.port}`}>
                  <th scope="row">
                    <Text>{fromText(id, one)}</Text>
                  </th>
                  <td class="mono" data-label={t.testing.columns.to}>
                    <Text>{one.destination}</Text>
                  </td>
                  <td data-label={t.testing.columns.port}>
                    <Text>{`${one.protocol}${one.port === undefined ? "" : ` ${one.port}`}`}</Text>
                  </td>
                  <td data-label={t.testing.columns.packets}>{count(one.packets)}</td>
                </tr>
              ))}
            </CardTable>
          )}
          {traffic.names.length === 0 ? null : (
            <CardTable columns={Object.values(t.testing.nameColumns)}>
              {traffic.names.map((one) => (
                <tr key={`${one.source} ${one.name}`}>
                  <th scope="row">
                    <Text>{fromText(id, one)}</Text>
                  </th>
                  <td class="mono" data-label={t.testing.nameColumns.name}>
                    <Text>{one.name}</Text>
                  </td>
                  <td data-label={t.testing.nameColumns.queries}>{count(one.queries)}</td>
                </tr>
              ))}
            </CardTable>
          )}
        </>
      )}
    </section>
  )
}

export const TestingPage = ({ values }: { readonly values: Readonly<Record<string, string>> }) => {
  const id = values["id"] ?? ""
  const view = useRange(id)
  const doing = useDoing()
  const range = view.range.data.value
  const isBusy = doing.busy || view.run.data.value?.status === "running"
  const act = (verb: "start" | "stop", body?: { readonly force: true }) => () =>
    void doing.run(async () => {
      const { result, warnings = [] } = await change<TestingAnswer>("PUT", `/testing/${verb}`, { rangeID: id }, body)
      return [result, ...warnings].join("\n")
    })
  return (
    <>
      <RangeHead id={id} view={view} />
      {view.range.refusal.value === undefined ? null : <Refused refusal={view.range.refusal.value} />}
      {range === undefined ? (
        view.range.refusal.value === undefined ? (
          <Loading />
        ) : null
      ) : (
        <>
          <div class="summary">
            <p class="lead">{testingText(range, mayBeChanging(view))}</p>
            <div class="actions">
              {range.testingState === "on" || range.testingState === "leaving" ? null : (
                <ConfirmButton
                  class="primary"
                  disabled={isBusy || range.VMs.length === 0}
                  question={{
                    title: t.testing.startTitle,
                    text: t.testing.startText,
                    action: t.testing.start,
                    act: act("start"),
                  }}
                >
                  {t.testing.start}
                </ConfirmButton>
              )}
              {range.testingState === "off" ? null : (
                <ConfirmButton
                  class="danger"
                  disabled={isBusy}
                  question={{
                    title: t.testing.stopTitle,
                    text: t.testing.stopText,
                    action: t.testing.stop,
                    danger: true,
                    act: act("stop"),
                  }}
                >
                  {t.testing.stop}
                </ConfirmButton>
              )}
              {range.testingState !== "off" && !isBusy && (doing.refusal?.status === 409 || range.testingState === "leaving") ? (
                <ConfirmButton
                  class="danger"
                  question={{
                    title: t.testing.forceTitle,
                    text: t.testing.forceText,
                    action: t.testing.force,
                    danger: true,
                    act: act("stop", { force: true }),
                  }}
                >
                  {t.testing.force}
                </ConfirmButton>
              ) : null}
            </div>
          </div>
          <Outcome doing={doing} />
          {range.testingState === "off" ? null : (
            <>
              <Allowed id={id} range={range} doing={doing} />
              <Blocked id={id} />
            </>
          )}
        </>
      )}
    </>
  )
}
