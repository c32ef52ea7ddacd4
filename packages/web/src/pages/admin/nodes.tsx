import type { BlueprintItem, CapacityAnswer, NodeAnswer, NodesAnswer, Range } from "@rangewright/application/wire"
import { useSignal } from "@preact/signals"
import { type Resource, useRead } from "../../api/resource.ts"
import { CardTable, Unread } from "../../parts/list.tsx"
import { Empty, State, Text } from "../../parts/parts.tsx"
import { admin } from "../../texts/admin.ts"

const texts = admin.nodes

const Row = ({ node }: { readonly node: NodeAnswer }) => {
  const { name, online, cpus, cpuLoad, memoryMiB, memoryUsedMiB, promised, freeMemoryMiB, storages } = node
  return (
    <tr>
      <th scope="row">
        <Text>{name}</Text>
        <State tone={online ? "ok" : "bad"}>{online ? texts.online : texts.offline}</State>
      </th>
      <td data-label={texts.columns.memory}>
        {texts.memory(memoryUsedMiB, memoryMiB)}
        <span class={freeMemoryMiB < 0 ? "sub bad" : "sub"}>{texts.promised(promised.memoryMiB)}</span>
      </td>
      <td data-label={texts.columns.cpus}>
        {texts.cpus(cpuLoad, cpus)}
        <span class="sub">{texts.promisedCpus(promised.cpus)}</span>
      </td>
      <td data-label={texts.columns.machines}>{texts.machines(promised.machinesOn, promised.machines)}</td>
      <td data-label={texts.columns.storage}>
        {storages.map((storage) => (
          <span key={storage.name} class="sub">
            <Text>{texts.storage(storage)}</Text>
          </span>
        ))}
      </td>
    </tr>
  )
}

/** How many more ranges of a blueprint, or copies of a range, the nodes have room for. */
const Fits = ({ ranges }: { readonly ranges: readonly Range[] }) => {
  const blueprints = useRead<readonly BlueprintItem[]>("/blueprints")
  const chosen = useSignal("")
  const [name = "", id = ""] = chosen.value.split(/:(.*)/u)
  const capacity = useRead<CapacityAnswer>(id === "" ? undefined : "/capacity", { [name]: id })
  const { fits, limitedBy } = capacity.data.value ?? {}
  return (
    <p class="filters">
      <label>
        {texts.fit}{" "}
        <select value={chosen.value} onChange={({ currentTarget }) => (chosen.value = currentTarget.value)}>
          <option value="">{texts.choose}</option>
          {(blueprints.data.value ?? []).map(({ blueprintID }) => (
            <option key={blueprintID} value={`blueprintID:${blueprintID}`}>
              {texts.blueprint(blueprintID)}
            </option>
          ))}
          {ranges.map(({ rangeID }) => (
            <option key={rangeID} value={`rangeID:${rangeID}`}>
              {texts.range(rangeID)}
            </option>
          ))}
        </select>
      </label>
      <span role="status">
        {id === "" ? null : capacity.refusal.value !== undefined ? (
          <Text>{capacity.refusal.value.message}</Text>
        ) : fits === undefined || limitedBy === undefined ? null : (
          texts.fits(fits, limitedBy)
        )}
      </span>
    </p>
  )
}

export const Nodes = ({ nodes, ranges }: { readonly nodes: Resource<NodesAnswer>; readonly ranges: readonly Range[] }) => {
  const data = nodes.data.value?.nodes
  return (
    <section aria-labelledby="nodes">
      <h2 id="nodes">{texts.title}</h2>
      <Unread of={nodes} />
      {data === undefined ? null : data.length === 0 ? (
        <Empty title={texts.empty} />
      ) : (
        <>
          <CardTable columns={Object.values(texts.columns)}>
            {data.map((node) => (
              <Row key={node.name} node={node} />
            ))}
          </CardTable>
          <Fits ranges={ranges} />
        </>
      )}
    </section>
  )
}
