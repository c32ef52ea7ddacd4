import type { BlueprintItem, BulkAnswer, GroupAnswer } from "@rangewright/application/wire"
import { change, Refusal } from "../../api/client.ts"
import { useRead } from "../../api/resource.ts"
import { managed, me } from "../../me.ts"
import { submitted } from "../../parts/form.ts"
import { Field, Outcome, Text, useDoing } from "../../parts/parts.tsx"
import { content } from "../../texts/content.ts"

const texts = content.blueprint

/** With whom it is shared, and for managers of groups a way to change that. */
export const Shared = ({ item }: { readonly item: BlueprintItem }) => {
  const { blueprintID, sharedUsers = [], sharedGroups = [] } = item
  const isAdmin = me.value?.isAdmin === true
  const all = useRead<readonly GroupAnswer[]>(isAdmin ? "/groups" : undefined)
  const groups = isAdmin ? (all.data.value ?? []).map(({ name }) => name) : managed.value
  const doing = useDoing()
  const send = (method: "POST" | "DELETE", kind: "groups" | "users", name: string, done: (name: string) => string) =>
    doing.run(async () => {
      const body = kind === "groups" ? { groupNames: [name] } : { userIDs: [name] }
      const path = `/blueprints/{blueprintID}/share/${kind}`
      const { errors = [] } = await change<BulkAnswer>(method, path, { blueprintID }, body)
      const [refused] = errors
      if (refused !== undefined) throw new Refusal(200, refused.reason)
      return done(name)
    })
  const stop = (kind: "groups" | "users", name: string) => (
    <button
      type="button"
      class="small"
      disabled={doing.busy}
      aria-label={content.catalog.of(texts.unshare, name)}
      onClick={() => void send("DELETE", kind, name, texts.noLongerShared)}
    >
      {texts.unshare}
    </button>
  )
  /** A manager of a group may share with its users; the service checks that. */
  const mayShare = isAdmin || managed.value.length > 0
  const shareWithUser = async (event: SubmitEvent): Promise<void> => {
    const { form, text } = submitted(event)
    if (await send("POST", "users", text("user").trim(), texts.sharedWith)) form.reset()
  }
  const others = groups.filter((name) => !sharedGroups.includes(name))
  return (
    <section class="card" aria-labelledby="shared">
      <h2 id="shared">{texts.shared}</h2>
      <p class="muted">{texts.sharedText}</p>
      {sharedUsers.length + sharedGroups.length === 0 ? <p>{texts.notShared}</p> : null}
      <ul class="plain lines">
        {sharedGroups.map((name) => (
          <li key={`group ${name}`}>
            <Text>{name}</Text>
            {groups.includes(name) ? stop("groups", name) : null}
          </li>
        ))}
        {sharedUsers.map((name) => (
          <li key={`user ${name}`}>
            <Text>{name}</Text>
            {mayShare ? stop("users", name) : null}
          </li>
        ))}
      </ul>
      {others.length === 0 ? null : (
        <form onSubmit={(event) => void send("POST", "groups", submitted(event).text("group"), texts.sharedWith)}>
          <Field label={texts.group}>
            {(ids) => (
              <select {...ids} name="group" required>
                {others.map((name) => (
                  <option key={name} value={name}>
                    {name}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <button type="submit" disabled={doing.busy}>
            {texts.share}
          </button>
        </form>
      )}
      {mayShare ? (
        <form onSubmit={(event) => void shareWithUser(event)}>
          <Field label={texts.user}>
            {(ids) => <input {...ids} name="user" required autocapitalize="none" autocomplete="off" spellcheck={false} />}
          </Field>
          <button type="submit" disabled={doing.busy}>
            {texts.share}
          </button>
        </form>
      ) : null}
      <Outcome doing={doing} />
    </section>
  )
}
