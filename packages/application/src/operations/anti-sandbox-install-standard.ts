import { operation } from "../operation/operation.ts"
import { refusePackages } from "../host/node-packages.ts"
import { TextResult } from "../wire/common.ts"

const does = "install the standard virtualization packages"

export const antiSandboxInstallStandard = operation({
  id: "antiSandboxInstallStandard",
  route: "POST /antisandbox/install-standard",
  group: "AntiSandbox",
  does,
  summary: "Install Proxmox's own QEMU packages on the nodes again; not offered, with the reason",
  access: "admin",
  target: "none",
  output: { type: "json", schema: TextResult },
  statuses: { 200: "standard packages are installed", 404: "this service installs no packages on nodes" },
  handle: () => refusePackages(does),
})
