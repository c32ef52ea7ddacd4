import type { UserItem } from "@rangewright/application/wire"
import { useSignal } from "@preact/signals"
import { change } from "../../api/client.ts"
import { useRead } from "../../api/resource.ts"
import { submitted } from "../../parts/form.ts"
import { CardTable, Search, Unread } from "../../parts/list.tsx"
import { Dialog, Empty, Field, FormEnd, State, Text, Time, useDoing } from "../../parts/parts.tsx"
import { Secret } from "../../parts/secret.tsx"
import { linkTo } from "../../links.ts"
import { place } from "../../router.ts"
import { admin } from "../../texts/admin.ts"
import { t } from "../../texts.ts"
import { AdminHead } from "./admin-head.tsx"
import { AddMany } from "./users-many.tsx"

const texts = admin.users

const Add = ({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) => {
  const doing = useDoing()
  const made = useSignal<{ readonly userID: string; readonly apiKey: string } | undefined>(undefined)
  const close = (): void => {
    if (doing.busy) return
    made.value = undefined
    onClose()
  }
  const submit = (event: SubmitEvent): void => {
    const { text, has } = submitted(event)
    const password = text("password")
    void doing.run(async () => {
      made.value = await change(
        "POST",
        "/user",
        {},
        {
          userID: text("userID").trim(),
          name: text("name").trim(),
          email: text("email").trim(),
          isAdmin: has("isAdmin"),
          ...(password === "" ? {} : { password }),
        },
      )
      return undefined
    })
  }
  const key = made.value
  return (
    <Dialog title={texts.add} open={open} stays={doing.busy || key !== undefined} onClose={close}>
      {key === undefined ? (
        <form onSubmit={submit}>
          <Field label={texts.id} hint={texts.idHint}>
            {(ids) => (
              <input
                {...ids}
                name="userID"
                required
                maxLength={20}
                autocomplete="off"
                autocapitalize="characters"
                spellcheck={false}
              />
            )}
          </Field>
          <Field label={texts.name}>{(ids) => <input {...ids} name="name" required maxLength={100} autocomplete="off" />}</Field>
          <Field label={texts.email}>{(ids) => <input {...ids} name="email" type="email" required autocomplete="off" />}</Field>
          <Field label={texts.password} hint={texts.passwordHint}>
            {(ids) => <input {...ids} name="password" type="password" autocomplete="new-password" />}
          </Field>
          <label class="check">
            <input type="checkbox" name="isAdmin" />
            {texts.isAdmin}
          </label>
          <FormEnd doing={doing} action={texts.add} onClose={close} />
        </form>
      ) : (
        <>
          <p>{texts.added(key.userID)}</p>
          <Secret label={texts.key} value={key.apiKey} />
          <div class="actions end">
            <button type="button" class="primary" onClick={close}>
              {t.close}
            </button>
          </div>
        </>
      )}
    </Dialog>
  )
}

export const UsersPage = () => {
  const users = useRead<readonly UserItem[]>("/user/all")
  const dialog = useSignal<"one" | "many" | undefined>(undefined)
  const close = (): void => void (dialog.value = undefined)
  const query = (place.value.query.get("q") ?? "").toLowerCase()
  const data = users.data.value
  const shown = data?.filter(({ userID, name }) => `${userID} ${name}`.toLowerCase().includes(query)) ?? []
  return (
    <>
      <AdminHead title={texts.title}>
        <button type="button" onClick={() => (dialog.value = "many")}>
          {texts.addMany}
        </button>
        <button type="button" class="primary" onClick={() => (dialog.value = "one")}>
          {texts.add}
        </button>
      </AdminHead>
      <div class="filters">
        <Search label={texts.filter} />
        {data === undefined ? null : (
          <span class="muted" role="status">
            {texts.count(shown.length)}
          </span>
        )}
      </div>
      <Unread of={users} />
      {data === undefined ? null : shown.length === 0 ? (
        <Empty title={data.length === 0 ? texts.empty : texts.noMatch} />
      ) : (
        <CardTable columns={Object.values(texts.columns)}>
          {shown.map(({ userID, name, isAdmin, dateLastActive, dateCreated }) => (
            <tr key={userID}>
              <th scope="row">
                <a href={linkTo("admin", "users", userID)}>
                  <Text>{userID}</Text>
                </a>
                <span class="sub">
                  <Text>{name}</Text>
                </span>
              </th>
              <td data-label={texts.columns.rights}>
                {isAdmin ? <State tone="warn">{texts.admin}</State> : <span class="muted">{texts.user}</span>}
              </td>
              <td data-label={texts.columns.active}>
                <Time at={dateLastActive} />
              </td>
              <td data-label={texts.columns.since}>
                <Time at={dateCreated} />
              </td>
            </tr>
          ))}
        </CardTable>
      )}
      <Add open={dialog.value === "one"} onClose={close} />
      <AddMany open={dialog.value === "many"} onClose={close} />
    </>
  )
}
