import { HypervisorFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { has } from "../access/faults.ts"
import { writeRight } from "../access/rights.ts"
import type { PveClient } from "../client/client.ts"
import { recordOf, rows, text } from "../wire/read.ts"
import { poolOf, sharedPool } from "./names.ts"
import type { RunId } from "@rangewright/domain"

/** What builds use besides their own pool. */
export interface BuildPlaces {
  /** Storage for disks. */
  readonly diskStorage: string
  /** Storage for disc images. */
  readonly isoStorage: string
  /** Whether nodes may download images for builds. */
  readonly nodeDownloads: boolean
  /** The NAT network: its bridge, or its VNet with its SDN zone. Granting rights on one that does not exist is harmless. */
  readonly networks: readonly { readonly bridge: string; readonly zone?: string }[]
}

/** Defaults of the Proxmox installer. */
export const ordinaryPlaces: BuildPlaces = {
  diskStorage: "local-lvm",
  isoStorage: "local",
  nodeDownloads: false,
  networks: [{ bridge: "vmbr1000" }],
}

/** Roles of the service's own; the hypervisor's built-in ones grant builds too much or too little. */
export const buildRoles = {
  RangewrightBuild: [
    "VM.Allocate",
    "VM.Audit",
    "VM.Clone",
    "VM.Config.CDROM",
    "VM.Config.CPU",
    "VM.Config.Cloudinit",
    "VM.Config.Disk",
    "VM.Config.HWType",
    "VM.Config.Memory",
    "VM.Config.Network",
    "VM.Config.Options",
    "VM.Console",
    "VM.GuestAgent.Audit",
    "VM.PowerMgmt",
    "Pool.Audit",
  ],
  RangewrightBuildDisks: ["Datastore.AllocateSpace", "Datastore.Audit"],
  RangewrightBuildImages: ["Datastore.AllocateTemplate", "Datastore.Audit"],
  RangewrightBuildDownload: ["Sys.AccessNetwork"],
} as const
/** Needed only where nodes may download for builds. */
export const downloadRole = "RangewrightBuildDownload"
type RoleName = keyof typeof buildRoles

/** Before PVE 9 a single privilege covered everything of the guest agent. */
const privilegesOf = (role: RoleName, version: string): readonly string[] =>
  buildRoles[role].map((name) => (Number.parseInt(version, 10) >= 9 ? name : name.replace(/^VM\.GuestAgent\..*$/u, "VM.Monitor")))

const ensureRole = Effect.fnUntraced(function* (
  client: PveClient,
  role: RoleName,
  there: ReadonlySet<string>,
  version: string,
  doing: string,
): Effect.fn.Return<void, HypervisorFault> {
  if (there.has(role)) return
  const privs = privilegesOf(role, version).join(",")
  yield* client.post("/access/roles", { roleid: role, privs }, { doing }).pipe(
    Effect.catchIf(has("taken"), () => Effect.void),
    Effect.catchIf(has("forbidden"), ({ facts }) =>
      Effect.fail(
        new HypervisorFault({
          ...facts,
          detail: `there is no role ${role}, and the service may not create it (${facts.detail})`,
          hint: `Create it on a node, as root: pveum role add ${role} --privs "${privs.replaceAll(",", " ")}"`,
        }),
      ),
    ),
  )
})

/** The node's version may lack the privilege, or the service may not grant it there: then only builds that let the node download fail. */
const isMissable = ({ facts }: HypervisorFault): boolean => facts.reason === "forbidden" || facts.reason === "invalid"

/** Gives a build's account the rights that builders need: everything in its own pool, little elsewhere. */
export const grantBuild = Effect.fnUntraced(function* (
  client: PveClient,
  { diskStorage, isoStorage, nodeDownloads, networks }: BuildPlaces,
  build: { readonly id: RunId; readonly account: string; readonly node: string },
  doing: string,
): Effect.fn.Return<void, HypervisorFault> {
  const version = text(recordOf((yield* client.get("/version", {}, { doing })).data), "version") ?? "9"
  const known = new Set(
    rows((yield* client.get("/access/roles", {}, { doing })).data).flatMap((row) => text(row, "roleid") ?? []),
  )
  const grant = (path: string, role: string) =>
    writeRight(client, { path, role, type: "user", subject: build.account, propagate: true }, doing)
  yield* ensureRole(client, "RangewrightBuild", known, version, doing)
  yield* ensureRole(client, "RangewrightBuildDisks", known, version, doing)
  yield* ensureRole(client, "RangewrightBuildImages", known, version, doing)
  yield* grant(`/pool/${poolOf(build.id)}`, "RangewrightBuild")
  yield* grant(`/storage/${diskStorage}`, "RangewrightBuildDisks")
  yield* grant(`/storage/${isoStorage}`, "RangewrightBuildImages")
  for (const { bridge, zone = "localnetwork" } of networks) yield* grant(`/sdn/zones/${zone}/${bridge}`, "PVESDNUser")
  yield* grant(`/pool/${sharedPool}`, "PVETemplateUser")
  if (!nodeDownloads) return
  yield* Effect.andThen(
    ensureRole(client, downloadRole, known, version, doing),
    grant(`/nodes/${build.node}`, downloadRole),
  ).pipe(Effect.catchIf(isMissable, () => Effect.void))
})
