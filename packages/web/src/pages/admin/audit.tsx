import type { AuditEntry } from "@rangewright/application/wire"
import { usePart } from "../../api/resource.ts"
import { submitted } from "../../parts/form.ts"
import { dayBegins } from "../../parts/format.ts"
import { CardTable, Parts, Unread } from "../../parts/list.tsx"
import { Empty, Field, State, Text, Time } from "../../parts/parts.tsx"
import { linkTo } from "../../links.ts"
import { place, setQuery } from "../../router.ts"
import { admin } from "../../texts/admin.ts"
import { AdminHead } from "./admin-head.tsx"

const texts = admin.audit
const filters = ["user", "operation", "range", "since"] as const

const Outcome = ({ outcome }: { readonly outcome: string }) =>
  outcome === "ok" ? (
    <State tone="ok">{texts.ok}</State>
  ) : outcome === "begun" ? (
    <State tone="busy">{texts.begun}</State>
  ) : (
    <State tone="bad">
      <Text>{outcome}</Text>
    </State>
  )

const Row = ({
  entry: { at, callerID, actingAs, operation, rangeID, detail, outcome, remote },
}: {
  readonly entry: AuditEntry
}) => (
  <tr>
    <td data-label={texts.columns.at} class="tight">
      <Time at={at} />
    </td>
    <td data-label={texts.columns.who}>
      <Text>{callerID ?? texts.nobody}</Text>
      <span class="sub">
        {actingAs === undefined || actingAs === callerID ? null : <Text>{`${texts.actingAs(actingAs)} `}</Text>}
        <Text>{texts.from(remote)}</Text>
      </span>
    </td>
    <th scope="row">
      <span class="mono">
        <Text>{operation}</Text>
      </span>
      <span class="sub">
        <Text>{detail}</Text>
      </span>
    </th>
    <td data-label={texts.columns.of}>
      {rangeID === undefined ? null : (
        <a href={linkTo("ranges", rangeID)}>
          <Text>{rangeID}</Text>
        </a>
      )}
    </td>
    <td data-label={texts.columns.outcome}>
      <Outcome outcome={outcome} />
    </td>
  </tr>
)

export const AuditPage = () => {
  const { query } = place.value
  const asked = Object.fromEntries(filters.flatMap((name) => (query.get(name) ? [[name, query.get(name) ?? ""]] : [])))
  const since = dayBegins(asked["since"])
  const entries = usePart<AuditEntry>("/audit", { ...asked, since, before: query.get("cursor") ?? undefined })
  const data = entries.data.value
  const submit = (event: SubmitEvent): void => {
    const { text } = submitted(event)
    setQuery({ ...Object.fromEntries(filters.map((name) => [name, text(name).trim()])), cursor: undefined })
  }
  return (
    <>
      <AdminHead title={texts.title} lead={texts.intro} />
      <form class="inline narrow" onSubmit={submit} key={JSON.stringify(asked)}>
        {filters.map((name) => (
          <Field key={name} label={texts[name]}>
            {(ids) => {
              const input = { ...ids, name, defaultValue: query.get(name) ?? "", autocomplete: "off", spellcheck: false } as const
              return name === "since" ? <input {...input} type="date" /> : <input {...input} type="text" autocapitalize="none" />
            }}
          </Field>
        ))}
        <button type="submit">{texts.apply}</button>
        {Object.keys(asked).length === 0 ? null : (
          <button
            type="button"
            onClick={() => setQuery({ ...Object.fromEntries(filters.map((name) => [name, undefined])), cursor: undefined })}
          >
            {texts.clear}
          </button>
        )}
      </form>
      <Unread of={entries} />
      {data === undefined ? null : data.items.length === 0 ? (
        <Empty title={texts.empty} />
      ) : (
        <CardTable columns={Object.values(texts.columns)}>
          {data.items.map((entry) => (
            <Row key={entry.id} entry={entry} />
          ))}
        </CardTable>
      )}
      <Parts next={data?.next} by="before" />
    </>
  )
}
