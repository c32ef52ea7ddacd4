import type { CatalogAnswer, SyncAnswer } from "@rangewright/application/wire"
import { useSignal } from "@preact/signals"
import { change } from "../../api/client.ts"
import { linkTo } from "../../links.ts"
import { capabilities, me } from "../../me.ts"
import { CardTable } from "../../parts/list.tsx"
import { Confirm, type Doing, State, Text, type Tone, useQuestion } from "../../parts/parts.tsx"
import { content } from "../../texts/content.ts"
import { t } from "../../texts.ts"
import { toldOf } from "./told.ts"

const texts = content.catalog

export type Item = CatalogAnswer["items"][number]
export type Source = CatalogAnswer["sources"][number]

const tones: Readonly<Record<Item["state"], Tone>> = {
  not_installed: "quiet",
  installed: "ok",
  upgrade_available: "warn",
  conflict: "bad",
  invalid: "bad",
}

const selected = {
  blueprint: "blueprints",
  template: "templates",
  local_role: "localRoles",
  local_collection: "localCollections",
}

/** The item's id on the service. */
const idOf = (item: Item): string => (item.kind === "blueprint" ? item.id : item.name)

const needsOf = (item: Item): readonly string[] =>
  item.kind === "blueprint"
    ? [
        ...(item.requiredTemplates ?? []),
        ...(item.requiredLocalRoles ?? []),
        ...(item.requiredRoles ?? []),
        ...(item.requiredCollections ?? []),
      ]
    : []

const Row = ({
  item,
  source,
  doing,
  act,
}: {
  readonly item: Item
  readonly source: Source | undefined
  readonly doing: Doing
  readonly act: (verb: "install" | "upgrade" | "uninstall", item: Item) => void
}) => {
  const { name, version = "", state, installedVersion, description, problem } = item
  const needs = needsOf(item)
  const mayChange = item.kind === "blueprint" || item.kind === "template" || capabilities.value?.rights.installsRoles === true
  const button = (verb: "install" | "upgrade" | "uninstall", text: string) => (
    <button type="button" class="small" disabled={doing.busy} aria-label={texts.of(text, name)} onClick={() => act(verb, item)}>
      {text}
    </button>
  )
  return (
    <tr>
      <th scope="row">
        <Text>{name}</Text> <span class="tag">{texts.kinds[item.kind]}</span>
        {description === undefined ? null : (
          <span class="sub">
            <Text>{description}</Text>
          </span>
        )}
        {needs.length === 0 ? null : (
          <span class="sub">
            <Text>{texts.needs(needs.join(", "))}</Text>
          </span>
        )}
      </th>
      <td data-label={texts.columns.version} class="mono">
        <Text>
          {state === "upgrade_available" && installedVersion !== undefined
            ? texts.versions(installedVersion, version)
            : version || t.none}
        </Text>
      </td>
      <td data-label={texts.columns.state}>
        <State tone={tones[state]}>{texts.states[state]}</State>
        {problem === undefined ? null : (
          <span class="sub bad lines">
            <Text>{problem}</Text>
          </span>
        )}
      </td>
      {source === undefined ? null : (
        <td data-label={texts.columns.source}>
          <a href={linkTo("sources", source.sourceID)}>
            <Text>{source.sourceName === "" ? source.sourceID : source.sourceName}</Text>
          </a>
        </td>
      )}
      <td class="row-actions">
        {mayChange && state === "not_installed" ? button("install", texts.install) : null}
        {mayChange && state === "upgrade_available" ? button("upgrade", texts.upgrade) : null}
        {mayChange && (state === "installed" || state === "upgrade_available") ? button("uninstall", texts.remove) : null}
      </td>
    </tr>
  )
}

/** Items that sources ship, with the possible actions. With sources, each row names its own. */
export const CatalogItems = ({
  items,
  sources,
  doing,
  isGlobal,
}: {
  readonly items: readonly Item[]
  readonly sources?: ReadonlyMap<string, Source>
  readonly doing: Doing
  readonly isGlobal: boolean
}) => {
  const question = useQuestion()
  const send = (verb: string, item: Item): void =>
    void doing.run(async () => {
      const body = { selection: { [selected[item.kind]]: [idOf(item)] }, global: isGlobal }
      return toldOf(await change<SyncAnswer>("POST", `/sources/{sourceID}/${verb}`, { sourceID: item.sourceID }, body))
    })
  const act = (verb: "install" | "upgrade" | "uninstall", item: Item): void => {
    if (verb !== "uninstall") return send(verb, item)
    question.value = {
      title: texts.removeTitle(item.name),
      text: texts.removeText,
      action: texts.remove,
      danger: true,
      act: () => send(verb, item),
    }
  }
  const { name, version, state, source } = texts.columns
  return (
    <>
      <CardTable columns={[name, version, state, ...(sources === undefined ? [] : [source]), t.range.columns.actions]}>
        {items.map((item) => (
          <Row
            key={`${item.sourceID} ${item.kind} ${idOf(item)}`}
            item={item}
            source={sources?.get(item.sourceID)}
            doing={doing}
            act={act}
          />
        ))}
      </CardTable>
      <Confirm question={question.value} onClose={() => (question.value = undefined)} />
    </>
  )
}

/** Whether to install for everybody, which administrators may choose. */
export const useGlobal = () => {
  const isGlobal = useSignal(false)
  const choice =
    me.value?.isAdmin === true ? (
      <label title={texts.globalText}>
        <input
          type="checkbox"
          checked={isGlobal.value}
          onChange={({ currentTarget }) => (isGlobal.value = currentTarget.checked)}
        />{" "}
        {texts.global}
      </label>
    ) : null
  return { isGlobal: isGlobal.value, choice }
}
