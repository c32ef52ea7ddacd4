/** Kinds of Packer's calls, as far as they need more than being passed on. */
export type CallKind =
  | "plain"
  | "make"
  | "clone"
  | "configure"
  | "read-config"
  | "grow"
  | "remove"
  | "upload"
  | "download"
  | "new-disk"
  | "machines"
  | "next-number"
  | "remove-image"
  | "login"
  | "leave-pool"

/** A path of the API without `/api2/json`, decoded, with the objects it names. */
export interface KnownCall {
  readonly kind: CallKind
  readonly segments: readonly string[]
}

/** Valid forms of a path segment: nothing that a server could interpret differently. */
const shapes: Readonly<Record<string, RegExp>> = {
  NODE: /^[a-zA-Z0-9-]+$/u,
  VMID: /^\d{1,9}$/u,
  STORAGE: /^[a-zA-Z][\w.-]*$/u,
  POOL: /^[\w-][\w.-]*$/u,
  UPID: /^UPID(?::[\w.@!-]*)+$/u,
  HA: /^(?:vm:)?\d+$/u,
  IMAGE: /^[a-zA-Z][\w.-]*:iso\/[\w.+~-]+$/u,
}

const machine = "/nodes/NODE/qemu/VMID"
const storage = "/nodes/NODE/storage/STORAGE"

/** All calls made by Packer's own builders (1.6.6) and its plugin proxmox (1.2.4), and no others. */
const known: readonly (readonly [method: string, path: string, kind?: CallKind])[] = [
  // versions without token support log in
  ["POST", "/access/ticket", "login"],
  // the oldest versions remove clones from their pool again
  ["PUT", "/pools/POOL", "leave-pool"],
  ["PUT", "/pools", "leave-pool"],
  ["GET", "/version"],
  ["GET", "/access/permissions"],
  // the oldest versions use the number after the highest one that they see
  ["GET", "/cluster/resources", "machines"],
  ["GET", "/cluster/nextid", "next-number"],
  ["GET", "/cluster/ha/resources/HA"],
  ["GET", "/nodes"],
  ["GET", "/nodes/NODE/tasks/UPID/status"],
  ["GET", "/nodes/NODE/tasks/UPID/log"],
  ["POST", "/nodes/NODE/qemu", "make"],
  ["DELETE", machine, "remove"],
  ["POST", `${machine}/clone`, "clone"],
  ["POST", `${machine}/template`],
  // the oldest versions take a drive for a disc drive only if its text ends so
  ["GET", `${machine}/config`, "read-config"],
  ["GET", `${machine}/pending`],
  ["POST", `${machine}/config`, "configure"],
  ["PUT", `${machine}/config`, "configure"],
  ["PUT", `${machine}/resize`, "grow"],
  ["PUT", `${machine}/unlink`],
  ["PUT", `${machine}/sendkey`],
  ["GET", `${machine}/agent/network-get-interfaces`],
  ["GET", `${machine}/status/current`],
  ["POST", `${machine}/status/start`],
  ["POST", `${machine}/status/stop`],
  ["POST", `${machine}/status/shutdown`],
  // the oldest versions create a VM's disks before the VM
  ["POST", `${storage}/content`, "new-disk"],
  ["POST", `${storage}/upload`, "upload"],
  ["POST", `${storage}/download-url`, "download"],
  ["DELETE", `${storage}/content/IMAGE`, "remove-image"],
]

const matches = (pattern: readonly string[], segments: readonly string[]): boolean =>
  pattern.length === segments.length &&
  pattern.every((part, at) => shapes[part]?.test(segments[at] ?? "") ?? part === segments[at])

/** The known call for a method and path segments; undefined when Packer makes no such call. */
export const knownCall = (method: string, segments: readonly string[]): KnownCall | undefined => {
  // an image's name contains a slash itself
  const whole =
    segments[4] === "content" && segments.length > 5 ? [...segments.slice(0, 5), segments.slice(5).join("/")] : segments
  const found = known.find(([of, path]) => of === method && matches(path.split("/").slice(1), whole))
  return found === undefined ? undefined : { kind: found[2] ?? "plain", segments: whole }
}
