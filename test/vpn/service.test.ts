import { existsSync, rmSync, writeFileSync } from "node:fs"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { removeFolders, temporaryFolder } from "../e2e/support/folder.ts"
import { addUser } from "../e2e/support/lab.ts"
import { endAll } from "../e2e/support/program.ts"
import { launch, startService, type ServiceProcess } from "../e2e/support/service.ts"
import { obstacle, openVpnLab, skipNote, type VpnLab } from "./support/lab.ts"

const patience = 180_000
const soon = { timeout: 30_000, interval: 100 }

interface Status {
  readonly inLine: boolean
  readonly revocations: readonly string[]
  readonly grants: readonly string[]
  readonly trouble?: string
}

describe.skipIf(obstacle !== undefined)(`a service and its VPN's server over SSH${skipNote}`, { timeout: patience }, () => {
  let lab: VpnLab
  let ssh: Awaited<ReturnType<VpnLab["openSsh"]>>
  let service: ServiceProcess
  let environment: Readonly<Record<string, string>>
  let stopFlow: Awaited<ReturnType<VpnLab["flow"]>>
  let adasKey = ""
  const data = temporaryFolder()
  const ada = () => service.as(adasKey)

  const status = () => ada().get<Status>("/vpn")
  const inLine = () => vi.waitFor(async () => expect(await status()).toMatchObject({ inLine: true }), soon)
  const fileOf = async (user: string): Promise<string> =>
    (await ada().get<{ readonly result: { readonly wireGuardConfig: string } }>(`/user/wireguard?userID=${user}`)).result
      .wireGuardConfig
  const addressOf = async (user: string): Promise<string> => /Address = (\S+)\/32/u.exec(await fileOf(user))?.[1] ?? ""
  const listed = (): string => lab.onServer("nft", "list", "ruleset") + lab.onServer("wg", "show", lab.interface, "allowed-ips")

  beforeAll(async () => {
    lab = await openVpnLab([1, 2, 3])
    ssh = await lab.openSsh()
    environment = {
      RANGEWRIGHT_WIREGUARD_ENDPOINT: "203.0.113.1",
      RANGEWRIGHT_WIREGUARD_PUBLIC_KEY: lab.publicKey,
      RANGEWRIGHT_WIREGUARD_SERVER: "ssh",
      RANGEWRIGHT_WIREGUARD_INTERFACE: lab.interface,
      RANGEWRIGHT_WIREGUARD_SSH_HOST: ssh.host,
      RANGEWRIGHT_WIREGUARD_SSH_KEY_FILE: ssh.keyFile,
      RANGEWRIGHT_WIREGUARD_SSH_FINGERPRINT: ssh.fingerprint,
    }
    service = await startService(data, environment)
    adasKey = await addUser(service.root, "ADA", true)
    await addUser(ada(), "BOB")
    await inLine()
    await lab.addClient("a", await fileOf("ADA"))
    await lab.addClient("b", await fileOf("BOB"))
    stopFlow = await lab.flow("a", lab.machine(1), { interval: 0.01 })
  }, patience)
  afterAll(async () => {
    await endAll()
    lab?.close()
    removeFolders()
  }, patience)

  it("lets users into their own ranges", async () => {
    expect([lab.arrives("a", lab.machine(1)), lab.arrives("b", lab.machine(2))]).toEqual([true, true])
    expect([lab.reaches("a", lab.machine(2)), lab.reaches("b", lab.machine(1))]).toEqual([false, false])
    const doctor = launch(data, environment, ["doctor"])
    await doctor.ended
    expect(doctor.stdout()).toContain(`ok    vpn: ${lab.interface} is up and has routes to the ranges`)
  })

  it("completes after a crash what was stored and had not reached the server", async () => {
    const bob = await addressOf("BOB")
    writeFileSync(ssh.hold, "")
    await ada().send("DELETE", "/user/BOB")
    await addUser(ada(), "CAT")
    const cat = await addressOf("CAT")
    await vi.waitFor(() => expect(existsSync(ssh.held)).toBe(true), soon)
    await service.crash()
    expect([listed().includes(bob), listed().includes(cat)]).toEqual([true, false])
    rmSync(ssh.hold)
    service = await startService(data, environment)
    await inLine()
    expect([listed().includes(`${bob}/32`), listed().includes(`${bob} . `), listed().includes(`${cat}/32`)]).toEqual([
      false,
      false,
      true,
    ])
    expect(lab.reaches("b", "198.51.100.1")).toBe(false)
  })

  it("issues files and answers while the server is unreachable, shows what is pending, and completes it later", async () => {
    ssh.end()
    const cat = await addressOf("CAT")
    await ada().send("DELETE", "/user/CAT")
    await addUser(ada(), "DAN")
    const dan = await addressOf("DAN")
    await vi.waitFor(async () => {
      const { inLine: isInLine, revocations, grants, trouble = "" } = await status()
      expect([isInLine, trouble]).toEqual([false, expect.stringContaining("Cannot check the VPN's server")])
      expect(revocations.join()).toContain(cat)
      expect(grants.join()).toContain(dan)
    }, soon)
    expect(listed()).toContain(`${cat}/32`)
    await ssh.begin()
    await inLine()
    expect([listed().includes(`${cat}/32`), listed().includes(`${dan}/32`)]).toEqual([false, true])
  })

  it("loses no packets of a user who kept access all the time", async () => {
    const { sent, got } = await stopFlow()
    // the restarted service loaded all rules anew, which can lose packets at that moment
    expect([sent >= 1000, sent - got <= 1]).toEqual([true, true])
  })
})
