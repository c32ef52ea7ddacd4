import type { GuestOs, MachineDetail } from "@rangewright/domain"

/** Values from the hypervisor are put into a command, so only valid hardware addresses are used. */
const hardwareAddress = /^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$/u

const isOneOf: Readonly<Record<GuestOs, (macs: readonly string[]) => string>> = {
  // other systems list their cards elsewhere, and have no stages
  linux: (macs) => `[ ! -d /sys/class/net ] || grep -qixF ${options(macs)} /sys/class/net/*/address`,
  macos: (macs) => `ifconfig | grep -qiF ${options(macs)}`,
  windows: (macs) =>
    `(Get-CimInstance Win32_NetworkAdapter).MACAddress | Where-Object { @(${macs.map((mac) => `'${mac}'`).join(",")}) -contains $_ }`,
}

const options = (macs: readonly string[]): string => (macs.length === 0 ? "-e none" : macs.map((mac) => `-e ${mac}`).join(" "))

/**
 * A shell command for the operating system that fails on a machine without any of the VM's network cards: another machine answers at its
 * address. A hostile machine may pretend, but gains nothing that it would not get anyway; it cannot make a neighbour pretend.
 */
export const sameMachineCommand = (os: GuestOs, { nics }: Pick<MachineDetail, "nics">, address: string): string => {
  const macs = nics.map(({ mac }) => mac.toLowerCase()).filter((mac) => hardwareAddress.test(mac))
  const told = `another machine answers at its address ${address}: it has none of the network cards ${macs.join(", ") || "(none is known)"}`
  return os === "windows"
    ? `if (-not (${isOneOf.windows(macs)})) { '${told}'; exit 1 }`
    : `${isOneOf[os](macs)} || { echo '${told}'; exit 1; }`
}
