import { linkTo } from "../links.ts"
import { memo } from "../parts/memo.ts"
import { Text } from "../parts/parts.tsx"
import { type Selection, Tick } from "../parts/selection.tsx"
import { bulk } from "../texts/bulk.ts"

interface Properties {
  readonly rangeID: string
  readonly name: string
  /** Absent when ranges cannot be selected here. */
  readonly selection?: Selection | undefined
}

/** The first cell of a range's row: its ID, linked to its page, and its name. */
export const RangeName = memo(({ rangeID, name, selection }: Properties) => (
  <th scope="row">
    {selection === undefined ? null : <Tick selection={selection} keys={[rangeID]} label={bulk.select(rangeID)} />}
    <a href={linkTo("ranges", rangeID)}>
      <Text>{rangeID}</Text>
    </a>
    <span class="sub">
      <Text>{name}</Text>
    </span>
  </th>
))
