import type { NodesAnswer } from "@rangewright/application/wire"
import { useRead } from "../../api/resource.ts"
import { useRanges } from "../../range/ranges.ts"
import { admin } from "../../texts/admin.ts"
import { AdminHead } from "./admin-head.tsx"
import { Nodes } from "./nodes.tsx"

export const NodesPage = () => {
  const nodes = useRead<NodesAnswer>("/nodes", {}, ({ topic }) => topic === "range" || topic === "machine")
  const ranges = useRanges()
  return (
    <>
      <AdminHead title={admin.tabs.nodes} />
      <Nodes nodes={nodes} ranges={ranges.data.value ?? []} />
    </>
  )
}
