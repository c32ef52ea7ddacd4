import { isDisc, isDisk, ownDisks, volumeOf } from "../core/guest-config.ts"
import type { Guest, GuestOs } from "../core/state.ts"
import { systemOnDisc } from "../core/template-names.ts"
import { findVolume } from "../core/volumes.ts"
import type { World } from "../core/world.ts"
import { backedGuest } from "./addresses.ts"
import { type Answers, answersUrl, readAnswers, readUnattended } from "./answers.ts"
import { startsBoot, typed } from "./keys.ts"
import { fetchText } from "./fetch-text.ts"

/** Disc images in the drives of a guest. */
const discs = (world: World, guest: Guest) =>
  Object.entries(guest.config)
    .filter(([key, value]) => isDisk(key) && isDisc(String(value)))
    .flatMap(([, value]) => {
      const volume = findVolume(world, guest.node, volumeOf(String(value)))
      return volume === undefined ? [] : [volume]
    })

const systemWith = (os: Pick<GuestOs, "family" | "prettyName" | "id" | "version">, guest: Guest, answers: Answers): GuestOs => ({
  ...os,
  hostname: answers.hostname ?? String(guest.config["name"] ?? "localhost"),
  users: answers.accounts.map(({ name }) => name),
  accounts: answers.accounts,
  agent: answers.agent,
  sessions: [],
  addresses: {},
  stages: {},
  roles: [],
  applied: {},
  files: {},
})

/**
 * Starts the installer on a disc, if a guest has one and a disk to install to. If another disc has the answers, it begins at once;
 * otherwise it waits until their URL is typed.
 */
export const beginInstaller = (world: World, guest: Guest, installed: () => void): void => {
  const found = discs(world, guest)
  if (found.length === 0 || ownDisks(guest.config).length === 0) return
  guest.boot = { kind: "installer", typed: "" }
  const unattended = found
    .flatMap(({ disc }) => Object.entries(disc?.files ?? {}))
    .find(([name]) => /^autounattend\.xml$/iu.test(name))
  if (unattended === undefined) return
  const answers = readUnattended(unattended[1])
  install(world, guest, systemWith(systemOnDisc(guestWords(guest, found), "windows"), guest, answers), installed)
}

/** The names that tell the system on a disc: the disc's, then the guest's. */
const guestWords = (guest: Guest, found: readonly { readonly volid: string }[]): readonly string[] => [
  ...found.map(({ volid }) => volid.slice(volid.indexOf("/") + 1)),
  String(guest.config["name"] ?? ""),
]

/** Handles a key typed into an installer. When a line with the URL of the answers is entered, it fetches them. */
export const typeKey = (world: World, guest: Guest, keys: string, installed: () => void): void => {
  const { boot } = guest
  if (boot.kind !== "installer") return
  const text = typed(boot.typed, keys).slice(-16_384)
  const now = { kind: "installer", typed: text } as const
  guest.boot = now
  if (!startsBoot(keys)) return
  const url = answersUrl(text)
  if (url === undefined) return
  // further keys reach the running installer, which asks no questions
  const fetching = { kind: "installer", typed: "" } as const
  guest.boot = fetching
  const isThere = (): boolean => world.state.guests.get(guest.vmid) === guest && guest.boot === fetching
  world.trace.add(world.clock.now(), `fetch ${guest.vmid} ${url}`)
  const fetched = world.backing?.fetch === undefined ? fetchText(url) : world.backing.fetch(backedGuest(guest), url)
  void fetched.then(
    (file) => {
      const answers = readAnswers(file)
      // without a user in the answers, the installer asks for one and waits forever
      if (!isThere() || answers === undefined || answers.accounts.length === 0) return
      const os = systemOnDisc(guestWords(guest, discs(world, guest)), "debian")
      install(world, guest, systemWith(os, guest, answers), installed)
    },
    () => undefined,
  )
}

const install = (world: World, guest: Guest, os: GuestOs, installed: () => void): void => {
  const needed = os.family === "windows" ? world.timing.installWindows : world.timing.installLinux
  guest.boot = { kind: "installing", until: world.clock.now() + needed, os }
  resumeInstaller(world, guest, installed)
}

/** Waits for the rest of an installation; then the system is on the disk and `installed` boots it. */
export const resumeInstaller = (world: World, guest: Guest, installed: () => void): void => {
  const { boot } = guest
  if (boot.kind !== "installing") return
  const cancel = world.clock.schedule(Math.max(0, boot.until - world.clock.now()), () => {
    world.boots.delete(guest.vmid)
    world.trace.add(world.clock.now(), `installed ${guest.vmid}`)
    guest.os = boot.os
    guest.boot = { kind: "off" }
    installed()
  })
  world.boots.set(guest.vmid, cancel)
}
