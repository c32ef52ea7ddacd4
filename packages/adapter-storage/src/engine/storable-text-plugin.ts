import {
  type KyselyPlugin,
  OperationNodeTransformer,
  type PrimitiveValueListNode,
  type RootOperationNode,
  type ValueNode,
} from "kysely"
import { restoreRow, toStorable } from "./storable-text.ts"

const storable = (value: unknown): unknown => (typeof value === "string" ? toStorable(value) : value)

class StorableValues extends OperationNodeTransformer {
  protected override transformValue(node: ValueNode): ValueNode {
    return { ...node, value: storable(node.value) }
  }
  protected override transformPrimitiveValueList(node: PrimitiveValueListNode): PrimitiveValueListNode {
    return { ...node, values: node.values.map(storable) }
  }
}

/** Makes every text of every query storable, and restores texts in results, so that no query can forget to. */
export const storableTextPlugin = (): KyselyPlugin => {
  const values = new StorableValues()
  return {
    transformQuery: ({ node }): RootOperationNode => values.transformNode(node),
    transformResult: async ({ result }) => ({ ...result, rows: result.rows.map(restoreRow) }),
  }
}
