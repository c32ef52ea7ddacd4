import type { GroupAnswer } from "@rangewright/application/wire"
import { useSignal } from "@preact/signals"
import { changeText } from "../../api/client.ts"
import { useRead } from "../../api/resource.ts"
import { submitted } from "../../parts/form.ts"
import { CardTable, Unread } from "../../parts/list.tsx"
import { Confirm, Dialog, Empty, Field, FormEnd, Outcome, Text, useDoing, useQuestion } from "../../parts/parts.tsx"
import { linkTo } from "../../links.ts"
import { admin } from "../../texts/admin.ts"
import { t } from "../../texts.ts"
import { AdminHead } from "./admin-head.tsx"

const texts = admin.groups

export const GroupsPage = () => {
  const groups = useRead<readonly GroupAnswer[]>("/groups")
  const adding = useSignal(false)
  const doing = useDoing()
  const question = useQuestion()
  const add = (event: SubmitEvent): void => {
    const { text } = submitted(event)
    void doing
      .run(() => changeText("POST", "/groups", {}, { name: text("name").trim(), description: text("description").trim() }))
      .then((done) => done && (adding.value = false))
  }
  const remove = (groupName: string): void => {
    question.value = {
      title: texts.removeTitle(groupName),
      text: texts.removeText,
      action: texts.remove,
      danger: true,
      act: () => void doing.run(() => changeText("DELETE", "/groups/{groupName}", { groupName })),
    }
  }
  const data = groups.data.value
  return (
    <>
      <AdminHead title={texts.title} lead={texts.intro}>
        <button type="button" class="primary" onClick={() => (adding.value = true)}>
          {texts.add}
        </button>
      </AdminHead>
      {adding.value ? null : <Outcome doing={doing} />}
      <Unread of={groups} />
      {data === undefined ? null : data.length === 0 ? (
        <Empty title={texts.empty} />
      ) : (
        <CardTable columns={[...Object.values(texts.columns), t.range.columns.actions]}>
          {data.map(({ name, description, numMembers, numManagers, numRanges }) => (
            <tr key={name}>
              <th scope="row">
                <a href={linkTo("classes", name)}>
                  <Text>{name}</Text>
                </a>
                <span class="sub">
                  <Text>{description}</Text>
                </span>
              </th>
              <td data-label={texts.columns.members}>{texts.people(numMembers, numManagers)}</td>
              <td data-label={texts.columns.ranges}>{numRanges}</td>
              <td class="row-actions">
                <button
                  type="button"
                  class="small danger"
                  disabled={doing.busy}
                  aria-label={`${texts.remove}: ${name}`}
                  onClick={() => remove(name)}
                >
                  {texts.remove}
                </button>
              </td>
            </tr>
          ))}
        </CardTable>
      )}
      <Dialog title={texts.add} open={adding.value} onClose={() => (adding.value = false)}>
        <form onSubmit={add}>
          <Field label={texts.name} hint={texts.nameHint}>
            {(ids) => (
              <input
                {...ids}
                name="name"
                required
                maxLength={64}
                pattern="[A-Za-z0-9_\-]+"
                autocomplete="off"
                spellcheck={false}
              />
            )}
          </Field>
          <Field label={texts.description}>
            {(ids) => <input {...ids} name="description" maxLength={500} autocomplete="off" />}
          </Field>
          <FormEnd doing={doing} action={texts.add} onClose={() => (adding.value = false)} />
        </form>
      </Dialog>
      <Confirm question={question.value} onClose={() => (question.value = undefined)} />
    </>
  )
}
