import { operation } from "../operation/operation.ts"
import { refusePackages } from "../host/node-packages.ts"
import { TextResult } from "../wire/common.ts"

const does = "install the anti-sandbox packages"

export const antiSandboxInstallCustom = operation({
  id: "antiSandboxInstallCustom",
  route: "POST /antisandbox/install-custom",
  group: "AntiSandbox",
  does,
  summary: "Install patched QEMU packages on the nodes; not offered, with the reason",
  access: "admin",
  target: "none",
  output: { type: "json", schema: TextResult },
  statuses: { 200: "custom packages are installed", 404: "this service installs no packages on nodes" },
  handle: () => refusePackages(does),
})
