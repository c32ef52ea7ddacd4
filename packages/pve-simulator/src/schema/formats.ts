import { isIP, isIPv4, isIPv6 } from "node:net"
import { parseCalendar } from "../core/calendar.ts"

/** A violated format; the message is the server's own, with its newline. */
export class FormatError extends Error {}

type Checker = (text: string) => void

const no = (message: string): never => {
  throw new FormatError(`${message}\n`)
}

const match =
  (expression: RegExp, message: (text: string) => string): Checker =>
  (text) => {
    if (!expression.test(text)) no(message(text))
  }

const looks =
  (expression: RegExp, what: string): Checker =>
  (text) => {
    if (!expression.test(text)) no(`value does not look like a valid ${what}`)
  }

const label = "(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)"
const dnsName = new RegExp(`^(?:${label}\\.)*${label}$`)

const isCidr = (text: string, version: 4 | 6 | 0): boolean => {
  const parts = /^([^/]+)\/(\d{1,3})$/.exec(text)
  if (parts === null) return false
  const bits = Number(parts[2])
  const four = isIPv4(parts[1]!) && bits >= 8 && bits <= 32
  const six = isIPv6(parts[1]!) && bits >= 8 && bits <= 128
  return version === 4 ? four : version === 6 ? six : four || six
}

const isNetmask = (text: string): boolean => {
  if (!isIPv4(text)) return /^\d{1,2}$/.test(text) && Number(text) >= 8 && Number(text) <= 32
  const bits = text
    .split(".")
    .map((octet) => Number(octet).toString(2).padStart(8, "0"))
    .join("")
  return /^1{8,}0*$/.test(bits)
}

const test =
  (valid: (text: string) => boolean, message: string): Checker =>
  (text) => {
    if (!valid(text)) no(message)
  }

const userid: Checker = (text) => {
  if (text.length < 3) no(`user name '${text}' is too short`)
  if (!/^[^\s:/]+@[A-Za-z][A-Za-z0-9.\-_]+$/.test(text)) no(`value '${text}' does not look like a valid user name`)
  if (text.length > 64) no(`user name '${text}' is too long (${text.length} > 64)`)
}

const storageId: Checker = (text) => {
  if (text.length < 2) no(`storage ID '${text}' cannot be shorter than 2 characters`)
  if (!/^[a-z][a-z0-9\-_.]*[a-z0-9]$/i.test(text)) no(`storage ID '${text}' contains illegal characters`)
}

const volumeId: Checker = (text) => {
  if (!/^[a-z][a-z0-9\-_.]*[a-z0-9]:.+$/is.test(text)) no(`unable to parse volume ID '${text}'`)
}

const poolId: Checker = (text) => {
  if (!/^[A-Za-z0-9.\-_]+(?:\/[A-Za-z0-9.\-_]+){0,2}$/.test(text)) no(`pool name '${text}' contains invalid characters`)
}

/** The privileges of PVE 9, by the section in which a ticket lists them. */
export const privileges: readonly string[] = [
  "Datastore.Allocate Datastore.AllocateSpace Datastore.AllocateTemplate Datastore.Audit Group.Allocate Mapping.Audit",
  "Mapping.Modify Mapping.Use Permissions.Modify Pool.Allocate Pool.Audit Realm.Allocate Realm.AllocateUser SDN.Allocate",
  "SDN.Audit SDN.Use Sys.AccessNetwork Sys.Audit Sys.Console Sys.Incoming Sys.Modify Sys.PowerMgmt Sys.Syslog User.Modify",
  "VM.Allocate VM.Audit VM.Backup VM.Clone VM.Config.CDROM VM.Config.CPU VM.Config.Cloudinit VM.Config.Disk",
  "VM.Config.HWType VM.Config.Memory VM.Config.Network VM.Config.Options VM.Console VM.GuestAgent.Audit",
  "VM.GuestAgent.FileRead VM.GuestAgent.FileSystemMgmt VM.GuestAgent.FileWrite VM.GuestAgent.Unrestricted VM.Migrate",
  "VM.PowerMgmt VM.Replicate VM.Snapshot VM.Snapshot.Rollback",
].flatMap((line) => line.split(" "))

const privilege: Checker = (text) => {
  if (!privileges.includes(text)) no(`invalid privilege '${text}'`)
}

const contentTypes = new Set(["images", "rootdir", "vztmpl", "iso", "backup", "snippets", "none", "import"])
const hotplugFeatures = new Set(["network", "disk", "cpu", "memory", "usb", "cloudinit"])
const bootDisk = /^(?:ide[0-3]|scsi(?:[12]?\d|30)|virtio(?:\d|1[0-5])|sata[0-5])$/

const address: Checker = (text) => {
  if (isIP(text) === 0 && !dnsName.test(text)) no(`value does not look like a valid address: ${text}`)
}

const blockSize: Checker = (text) => {
  const parts = /^([1-9]\d*)([km]?)$/i.exec(text)
  if (text === "") return
  if (parts === null) {
    no(`invalid ZFS blocksize format '${text}'. Use a positive number (no leading zeros) with an optional 'k' or 'm' suffix.`)
    return
  }
  const bytes = Number(parts[1]) * ({ k: 1024, m: 1024 * 1024 }[parts[2]!.toLowerCase()] ?? 1)
  if (bytes < 512 || bytes > 16 * 1024 * 1024 || !Number.isInteger(Math.log2(bytes))) {
    no(`value '${text}' is not a valid ZFS blocksize. Must be a power of 2 between 512B and 16MiB (e.g., 4k, 8k, 16k, 64k, 1m).`)
  }
}

const isIpOrCidr = (text: string): boolean => isIP(text) !== 0 || isCidr(text, 0) || /^[^/]+\/[0-7]$/.test(text)
const aliasName = /^[A-Za-z][A-Za-z0-9\-_]+$/

const firewallAddress: Checker = (text) => {
  for (const part of splitList(text)) {
    const known =
      part.split("-").every((end) => isIpOrCidr(end)) || /^\+?(?:(?:dc|guest|sdn)\/)?[A-Za-z][A-Za-z0-9\-_]+$/.test(part)
    if (!known) no(`invalid address or network '${part}'`)
  }
}

const firewallPorts: Checker = (text) => {
  for (const part of splitList(text)) {
    const numbers = /^(\d+)(?:[:-](\d+))?$/.exec(part)?.slice(1) ?? []
    if (numbers.some((number) => Number(number ?? 0) > 65_535)) no(`invalid port '${part}'`)
    if (numbers.length === 0 && !/^[a-z][a-z0-9-]*$/i.test(part)) no(`invalid port '${part}'`)
  }
}

/** The formats by name; unknown formats accept everything. Names may end in `-list` or `-opt`. */
const checkers: Readonly<Record<string, Checker>> = {
  CIDR: test((text) => isCidr(text, 0), "value does not look like a valid CIDR network"),
  CIDRv4: test((text) => isCidr(text, 4), "value does not look like a valid IPv4 CIDR network"),
  CIDRv6: test((text) => isCidr(text, 6), "value does not look like a valid IPv6 CIDR network"),
  IPorCIDR: test(isIpOrCidr, "value does not look like a valid IP address or CIDR network"),
  IPorCIDRorAlias: test(
    (text) => isIpOrCidr(text) || aliasName.test(text.replace(/^(?:dc|guest)\//, "")),
    "value does not look like a valid IP address, CIDR network or alias",
  ),
  "pve-fw-addr-spec": firewallAddress,
  "pve-fw-dport-spec": firewallPorts,
  "pve-fw-sport-spec": firewallPorts,
  "pve-fw-protocol-spec": match(/^(?:[a-z][a-z0-9-]*|\d{1,3})$/i, (text) => `invalid protocol '${text}'`),
  "pve-calendar-event": (text) => {
    if (parseCalendar(text) === undefined) no(`invalid schedule '${text}'`)
  },
  "pve-sdn-subnet-id": test(
    (text) => isCidr(text, 0) || /^[a-z][a-z0-9]*-[0-9a-f.:]+-\d+$/i.test(text),
    "value does not look like a valid CIDR network",
  ),
  address,
  "dns-name": looks(dnsName, "DNS name"),
  email: looks(/^[\w+\-~]+(?:\.[\w+\-~]+)*@[a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)*$/, "email address"),
  ip: test((text) => isIP(text) !== 0, "value does not look like a valid IP address"),
  ipv4: test(isIPv4, "value does not look like a valid IPv4 address"),
  ipv6: test(isIPv6, "value does not look like a valid IPv6 address"),
  ipv4mask: test(isNetmask, "value does not look like a valid IP netmask"),
  "mac-addr": looks(/^[a-f0-9][02468ace](?::[a-f0-9]{2}){5}$/i, "unicast MAC address"),
  "pve-configid": match(/^[a-z][a-z0-9_-]+$/i, (text) => `invalid configuration ID '${text}'`),
  "pve-cpuset": match(/^(?:\s*\d+(?:-\d+)?(?:\s*,\s*\d+(?:-\d+)?)*\s*)?,*$/, () => "unable to parse cpuset option"),
  "pve-dir-override": match(/^[a-z]+:\/.*$/i, (text) => `invalid override '${text}'`),
  "pve-groupid": match(/^[A-Za-z0-9.\-_]+$/, (text) => `group name '${text}' contains invalid characters`),
  "pve-roleid": match(/^[A-Za-z0-9.\-_]+$/, (text) => `role name '${text}' contains invalid characters`),
  "pve-hotplug-features": (text) => {
    if (text === "0" || text === "1") return
    for (const part of splitList(text)) if (!hotplugFeatures.has(part)) no(`invalid hotplug feature '${part}'`)
  },
  "pve-iface": match(/^[a-zA-Z][a-zA-Z0-9_]{1,20}(?:[:.]\d+)?$/, (text) => `invalid network interface name '${text}'`),
  "pve-bridge-id": match(/^[\w.-]+$/, (text) => `invalid bridge '${text}'`),
  "pve-node": looks(new RegExp(`^${label}$`), "node name"),
  "pve-poolid": poolId,
  "pve-priv": privilege,
  "pve-qm-bootdisk": match(bootDisk, (text) => `invalid boot disk '${text}'`),
  "pve-realm": looks(/^[A-Za-z][A-Za-z0-9.\-_]+$/, "realm"),
  "pve-sdn-bgp-rt": looks(/^\d+:\d+$/, "bgp route-target"),
  "pve-sdn-fabric-id": match(
    /^[a-zA-Z0-9][a-zA-Z0-9-]{0,6}[a-zA-Z0-9]?$/,
    (text) => `Fabric ID '${text}' contains illegal characters`,
  ),
  "pve-startup-order": match(
    /^(?:(?:order=)?\d+|(?:up|down)=\d+)(?:,(?:(?:order=)?\d+|(?:up|down)=\d+))*$/,
    () => "unable to parse startup options",
  ),
  "pve-storage-content": (text) => {
    if (!contentTypes.has(text)) no(`invalid content type '${text}'`)
  },
  "pve-storage-id": storageId,
  "pve-storage-path": looks(/^\/[^\0]*$/, "absolute path"),
  "pve-storage-portal-dns": looks(new RegExp(`^(?:${label}\\.)*${label}(?::\\d+)?$`), "portal address"),
  "pve-storage-server": looks(new RegExp(`^(?:${label}\\.)*${label}$`), "server name or IP address"),
  "pve-storage-vgname": match(/^[a-z0-9][a-z0-9\-_.]*[a-z0-9]$/i, (text) => `lvm name '${text}' contains illegal characters`),
  "pve-storage-zfs-blocksize": blockSize,
  "pve-tag": match(/^[a-z0-9_][a-z0-9_\-+.]*$/i, () => "invalid characters in tag"),
  "pve-task-status-type": match(/^(?:ok|error|warning|unknown)$/i, (text) => `invalid status '${text}'`),
  "pve-tokenid": match(
    /^[^\s:/]+@[A-Za-z][A-Za-z0-9.\-_]+![A-Za-z][A-Za-z0-9.\-_]+$/,
    (text) => `value '${text}' does not look like a valid token ID`,
  ),
  "pve-userid": userid,
  "pve-vlan-id-or-range": (text) => {
    const parts = /^(\d+)(?:-(\d+))?$/.exec(text)
    const from = Number(parts?.[1])
    const to = Number(parts?.[2] ?? parts?.[1])
    if (parts === null || from < 2 || to > 4094 || from > to) no(`invalid VLAN configuration '${text}'`)
  },
  "pve-vmid": looks(/^[1-9]\d{2,8}$/, "VM ID"),
  "pve-volume-id": volumeId,
  "pve-volume-id-or-qm-path": (text) => {
    if (text !== "none" && text !== "cdrom" && !text.startsWith("/")) volumeId(text)
  },
  "pve-volume-id-or-absolute-path": (text) => {
    if (!text.startsWith("/")) volumeId(text)
  },
  "storage-pair": (text) => {
    for (const part of text.split(":")) {
      if (part === "1" && !text.includes(":")) return
      try {
        storageId(part)
      } catch (error) {
        throw new FormatError(`entry '${text}' contains invalid ID - ${(error as Error).message}\n\n`)
      }
    }
  },
  "disk-size": match(/^\d+(?:\.\d+)?[KMGT]?$/, () => "invalid disk size"),
  urlencoded: match(/^(?:[-\w.~]|%[0-9A-Fa-f]{2})*$/, (text) => `invalid urlencoded string: ${text}`),
}

/** Splits a list as the server does: at commas, semicolons and white space, or only at NUL if there is one. */
export const splitList = (text: string): string[] =>
  (text.includes("\0") ? text.split("\0") : text.split(/[,;\s]+/)).filter((part) => part !== "")

/** Throws a `FormatError` unless `text` is a value of the named format. */
export const checkFormat = (name: string, text: string): void => {
  const whole = checkers[name]
  if (whole !== undefined) return whole(text)
  if (name.endsWith("-opt")) {
    if (text !== "") checkers[name.slice(0, -4)]?.(text)
  } else if (name.endsWith("-list")) {
    const each = checkers[name.slice(0, -5)]
    if (each !== undefined) for (const part of splitList(text)) each(part)
  }
}
