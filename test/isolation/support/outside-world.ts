import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { run } from "../../e2e/support/real-lab.ts"
import { command, type Program } from "../../e2e/support/program.ts"

/** The folder with the programs of these tests. */
export const programs = fileURLToPath(new URL("../programs/", import.meta.url))

/** A public address of the world, in IPv4 and IPv6, from which files can be downloaded. */
export const [publicAddress, publicIPv6] = ["203.0.114.10", "2600:5::5"]

/** Addresses that the service's host can reach and at which something answers; none of them is public. */
export const privateAddresses = {
  "an address for metadata of clouds": "169.254.169.254",
  "a private network of class A": "10.200.1.1",
  "a private network of class B": "172.16.5.5",
  "a private network of class C": "192.168.5.5",
  "an address of a carrier's NAT": "100.64.0.10",
  "an address for benchmarks": "198.18.0.5",
  "an address that is reserved": "240.0.0.5",
} as const
export const privateIPv6Addresses = {
  "a unique local address": "fd00:5::5",
  "a site-local address": "fec0::5",
  "an address behind NAT64": "64:ff9b::c0a8:505",
  "an address of 6to4": "2002:c0a8:505::5",
} as const

/** Names that the name servers of the service's host resolve to these addresses. */
export type Names = Readonly<Record<string, readonly string[]>>

const must = async (...words: readonly string[]): Promise<string> => {
  const [program = "", ...args] = words
  const { code, output, errors } = await run(program, ...args)
  if (code !== 0) throw new Error(`${words.join(" ")}: ${errors}`)
  return output
}

/** The world beyond the service's host. */
export interface OutsideWorld {
  /** Files at the public address, over HTTP and HTTPS. */
  readonly files: string
  /** The certificate authority of that server, as PEM. */
  readonly certificate: string
  readonly name: (names: Names) => Promise<void>
  readonly close: () => Promise<void>
}

/** Makes a world behind the namespace `<id>-outside`, with a name service for the processes there. */
export const openOutsideWorld = async (id: string, folder: string): Promise<OutsideWorld> => {
  const [outside, world] = [`${id}-outside`, `${id}-world`]
  const started: Program[] = []
  const files = join(folder, "files")
  const settings = join("/etc/netns", outside)
  mkdirSync(files, { recursive: true })
  mkdirSync(settings, { recursive: true })
  writeFileSync(join(settings, "resolv.conf"), "nameserver 127.0.0.53\n")

  await must("ip", "netns", "add", world)
  await must("ip", "link", "add", "world0", "netns", outside, "type", "veth", "peer", "name", "world0", "netns", world)
  const inside = (name: string, ...lines: readonly string[]) =>
    Promise.all(lines.map((line) => must("ip", "-n", name, ...line.split(" "))))
  for (const [name, v4, v6] of [
    [outside, "203.0.114.1/24", "2600:5::1/64"],
    [world, `${publicAddress}/24`, `${publicIPv6}/64`],
  ] as const) {
    await inside(name, "link set lo up", `address add ${v4} dev world0`, `address add ${v6} dev world0 nodad`)
    await inside(name, "link set world0 up")
  }
  await inside(outside, `route add default via ${publicAddress}`, `route add default via ${publicIPv6}`)
  await inside(world, "address add fe80::5/64 dev world0 nodad")
  for (const address of Object.values({ ...privateAddresses, ...privateIPv6Addresses }))
    await inside(world, `route add local ${address} dev lo`)

  const [key, certificate] = [join(folder, "world.key"), join(folder, "world.pem")]
  const selfSigned = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=public.example"
  const name = ["-addext", "subjectAltName=DNS:public.example"]
  await must("openssl", ...selfSigned.split(" "), ...name, "-keyout", key, "-out", certificate)
  const inNamespace = (name: string, ...words: readonly string[]): Program => {
    // ends with its parent, since it reads its input
    const program = command("ip", ["netns", "exec", name, "setpriv", "--pdeathsig", "KILL", ...words])
    started.push(program)
    return program
  }
  await inNamespace(world, "python3", join(programs, "world.py"), files, certificate, key).says(/ready/u)

  return {
    files,
    certificate: readFileSync(certificate, "utf8"),
    name: async (names) => {
      const records = Object.entries(names).flatMap(([name, addresses]) => addresses.map((at) => `--host-record=${name},${at}`))
      const fixed = ["--keep-in-foreground", "--conf-file=/dev/null", "--pid-file=", "--user=root", "--no-hosts", "--no-resolv"]
      const place = ["--listen-address=127.0.0.53", "--bind-interfaces", "--log-facility=-"]
      await inNamespace(outside, "dnsmasq", ...fixed, ...place, ...records).says(/started/u)
    },
    close: async () => {
      for (const program of started) program.signal("SIGKILL")
      await Promise.all(started.map(({ ended }) => ended))
      await run("ip", "netns", "del", world)
      rmSync(settings, { recursive: true, force: true })
    },
  }
}
