import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { afterEach, describe, expect, test } from "vitest"
import { answersUrl, readAnswers, readUnattended } from "../src/guest/answers.ts"
import { typed } from "../src/guest/keys.ts"
import { createLab, type Lab } from "./support/client.ts"

const preseed = `d-i netcfg/get_hostname string fresh
d-i passwd/root-login boolean false
d-i passwd/username string ada
d-i passwd/user-password password lovelace
d-i pkgsel/include string openssh-server qemu-guest-agent
`

let server: Server | undefined
afterEach(() => void server?.close())

/** Serves one file, and tells who asked for what. */
const serve = async (text: string) => {
  const asked: string[] = []
  server = createServer((request, response) => {
    asked.push(request.url ?? "")
    response.statusCode = request.url === "/preseed.cfg" ? 200 : 404
    response.end(text)
  }).listen(0, "127.0.0.1")
  await new Promise((resolve) => server!.once("listening", resolve))
  return { asked, base: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const names: Readonly<Record<string, string>> = {
  " ": "spc",
  "/": "slash",
  ":": "shift-semicolon",
  ".": "dot",
  "-": "minus",
  "=": "equal",
  _: "shift-minus",
}

const type = async (lab: Lab, text: string): Promise<void> => {
  for (const char of text) {
    const key = names[char] ?? (/[A-Z]/u.test(char) ? `shift-${char.toLowerCase()}` : char)
    await lab.ok("PUT", "/nodes/pve/qemu/300/sendkey", { key })
  }
  await lab.ok("PUT", "/nodes/pve/qemu/300/sendkey", { key: "ret" })
}

const image = async (lab: Lab, filename: string): Promise<void> => {
  const at = "/nodes/pve/storage/local/download-url"
  expect(await lab.task("POST", at, { content: "iso", filename, url: `https://images.example/${filename}` })).toBe("OK")
}

const machine = async (lab: Lab, more: Readonly<Record<string, unknown>> = {}): Promise<void> => {
  await image(lab, "debian-12.11.0-amd64-netinst.iso")
  const config = { vmid: 300, name: "new", agent: "1", scsi0: "local-lvm:8", net0: "virtio,bridge=vmbr1000" }
  const ide2 = "local:iso/debian-12.11.0-amd64-netinst.iso,media=cdrom"
  expect(await lab.task("POST", "/nodes/pve/qemu", { ...config, ide2, ...more })).toBe("OK")
  expect(await lab.task("POST", "/nodes/pve/qemu/300/status/start")).toBe("OK")
}

const until = async (look: () => boolean): Promise<void> => {
  while (!look()) await new Promise((resolve) => setImmediate(resolve))
}

const agent = async (lab: Lab, what: string) => await lab.call("GET", `/nodes/pve/qemu/300/agent/${what}`)

test("an installer with the URL of its answers fetches them, and becomes that system after a while", async () => {
  const lab = createLab()
  const { asked, base } = await serve(preseed)
  await machine(lab)
  await type(lab, `/install.amd/vmlinuz auto=true preseed/url=${base}/preseed.cfg --- quiet`)
  await until(() => lab.sim.guest(300)?.boot.kind === "installing")
  expect(asked).toEqual(["/preseed.cfg"])
  lab.clock.advance(200_000)
  expect((await agent(lab, "get-host-name")).message).toBe("QEMU guest agent is not running\n")
  lab.clock.advance(200_000)
  expect(await agent(lab, "get-host-name")).toMatchObject({ data: { result: { "host-name": "fresh" } } })
  expect(await agent(lab, "get-osinfo")).toMatchObject({ data: { result: { id: "debian", "version-id": "12.11.0" } } })
  // the system is on the disk: it boots again, without the disc and with it
  await lab.task("POST", "/nodes/pve/qemu/300/status/stop")
  await lab.task("POST", "/nodes/pve/qemu/300/template")
  await lab.task("POST", "/nodes/pve/qemu/300/clone", { newid: 301 })
  await lab.task("POST", "/nodes/pve/qemu/301/status/start")
  lab.clock.advance(40_000)
  expect((await lab.call("GET", "/nodes/pve/qemu/301/agent/get-host-name")).status).toBe(200)
})

test("an installer without answers waits for ever", async () => {
  const lab = createLab()
  const { asked, base } = await serve(preseed)
  await machine(lab)
  await type(lab, "/install.amd/vmlinuz quiet")
  lab.clock.advance(86_400_000)
  expect(lab.sim.guest(300)?.boot.kind).toBe("installer")
  await type(lab, `/install.amd/vmlinuz url=${base}/other.cfg`)
  await until(() => asked.length > 0)
  lab.clock.advance(86_400_000)
  expect(lab.sim.guest(300)?.boot.kind).toBe("installer")
  expect((await agent(lab, "get-osinfo")).status).toBe(500)
})

test("a system without an agent among its packages has none that answers", async () => {
  const lab = createLab()
  const { base } = await serve(preseed.replace("qemu-guest-agent", ""))
  await machine(lab)
  await type(lab, `linux auto url=${base}/preseed.cfg`)
  await until(() => lab.sim.guest(300)?.boot.kind === "installing")
  lab.clock.advance(1_000_000)
  expect(lab.sim.guest(300)?.boot.kind).toBe("up")
  expect((await agent(lab, "get-osinfo")).message).toBe("QEMU guest agent is not running\n")
})

test("a power cut ends an installation: the disk holds nothing that boots", async () => {
  const lab = createLab()
  const { base } = await serve(preseed)
  await machine(lab)
  await type(lab, `linux auto url=${base}/preseed.cfg`)
  await until(() => lab.sim.guest(300)?.boot.kind === "installing")
  await lab.task("POST", "/nodes/pve/qemu/300/status/stop")
  lab.clock.advance(1_000_000)
  await lab.task("POST", "/nodes/pve/qemu/300/status/start")
  expect(lab.sim.guest(300)?.boot).toEqual({ kind: "installer", typed: "" })
})

test("without a disc nothing boots, and a removed disc is an error at the start", async () => {
  const lab = createLab()
  await machine(lab, { ide2: "none,media=cdrom" })
  expect(lab.sim.guest(300)?.boot.kind).toBe("off")
  await lab.task("POST", "/nodes/pve/qemu/300/status/stop")
  await image(lab, "gone.iso")
  await lab.ok("PUT", "/nodes/pve/qemu/300/config", { ide2: "local:iso/gone.iso,media=cdrom" })
  await lab.task("DELETE", `/nodes/pve/storage/local/content/${encodeURIComponent("local:iso/gone.iso")}`)
  expect(await lab.task("POST", "/nodes/pve/qemu/300/status/start")).toBe("volume 'local:iso/gone.iso' does not exist")
})

test("Windows takes its answers from a second disc", async () => {
  const lab = createLab()
  const answers = `<unattend><LocalAccount wcm:action="add"><Password><Value>password</Value></Password><Name>localuser</Name></LocalAccount></unattend>`
  lab.sim.state.storages.get("local")!.volumes.set("pve/local:iso/answers.iso", {
    volid: "local:iso/answers.iso",
    node: "pve",
    vmid: undefined,
    sizeBytes: 1,
    usedBytes: 1,
    format: "iso",
    content: "iso",
    ctime: 0,
    parent: undefined,
    disc: { label: "answers", files: { "autounattend.xml": answers } },
  })
  await image(lab, "windows-server-2022.iso")
  await machine(lab, { ide2: "local:iso/windows-server-2022.iso,media=cdrom", ide3: "local:iso/answers.iso,media=cdrom" })
  lab.clock.advance(2_000_000)
  expect(await agent(lab, "get-osinfo")).toMatchObject({
    data: { result: { id: "mswindows", version: "Windows Server 2022 Standard Evaluation" } },
  })
  expect(lab.sim.guest(300)?.os?.users).toEqual(["localuser"])
})

test("a VM can use discs on storages that its creator sees, but no disk of another user's VM", async () => {
  const lab = createLab()
  await image(lab, "debian.iso")
  await lab.ok("POST", "/access/users", { userid: "ann@pve" })
  const { value } = (await lab.ok("POST", "/access/users/ann@pve/token/tok", { privsep: 0 })) as { value: string }
  const ann = { token: `ann@pve!tok=${value}` }
  await lab.task("POST", "/nodes/pve/qemu", { vmid: 300, scsi0: "local-lvm:1" })
  await lab.task("POST", "/nodes/pve/qemu", { vmid: 301 })
  await lab.ok("PUT", "/access/acl", { path: "/vms/301", roles: "PVEVMAdmin", users: "ann@pve" })
  const change = async (config: Record<string, unknown>) =>
    (await lab.call("PUT", "/nodes/pve/qemu/301/config", config, ann)).message
  expect(await change({ ide2: "local:iso/debian.iso,media=cdrom" })).toContain(
    "(/storage/local, Datastore.AllocateSpace|Datastore.Audit)",
  )
  const foreign = { scsi1: "local-lvm:vm-300-disk-0" }
  expect(await change(foreign)).toContain("(/storage/local-lvm, Datastore.Audit)")
  await lab.ok("PUT", "/access/acl", { path: "/storage/local-lvm", roles: "PVEDatastoreUser", users: "ann@pve" })
  expect(await change(foreign)).toContain("(/vms/300, VM.Config.Disk)")
  await lab.ok("PUT", "/access/acl", { path: "/storage/local", roles: "PVEDatastoreUser", users: "ann@pve" })
  expect(await change({ ide2: "local:iso/debian.iso,media=cdrom" })).toBeUndefined()
})

test("a key that no keyboard has is refused", async () => {
  const lab = createLab()
  await machine(lab)
  expect((await lab.call("PUT", "/nodes/pve/qemu/300/sendkey", { key: "shift-anykey" })).message).toBe(
    "invalid parameter: shift-anykey\n",
  )
})

describe("what is typed", () => {
  test("has letters, shifted ones and corrections; other keys write nothing", () => {
    const keys = "h shift-i x backspace shift-1 left esc ctrl-c spc shift-minus kp_enter".split(" ")
    expect(keys.reduce(typed, "")).toBe("hI! _\n")
  })

  test.each([
    ["linux auto preseed/url=http://10.0.0.1:8000/a.cfg quiet", "http://10.0.0.1:8000/a.cfg"],
    ["vmlinuz inst.ks=http://10.0.0.1:8000/ks.cfg", "http://10.0.0.1:8000/ks.cfg"],
    [String.raw`autoinstall ds=nocloud-net\;s=http://10.0.0.1:8000/ ---`, "http://10.0.0.1:8000/user-data"],
    [`autoinstall "ds=nocloud;s=http://10.0.0.1:8000/x/"`, "http://10.0.0.1:8000/x/user-data"],
    ["linux inst.repo=http://mirror.example/ quiet", undefined],
    ["linux preseed/url=https://10.0.0.1/a", undefined],
  ])("%s", (line, url) => expect(answersUrl(line)).toBe(url))
})

describe("answers", () => {
  test.each([
    ["preseed", preseed, [{ name: "ada", password: "lovelace" }], "fresh", true],
    [
      "kickstart",
      "rootpw --iscrypted $6$a$b\nuser --name=ada --password=lovelace --plaintext\n%packages\n@core\n%end\n",
      [
        { name: "root", password: "$6$a$b" },
        { name: "ada", password: "lovelace" },
      ],
      undefined,
      false,
    ],
    [
      "cloud-config",
      '#cloud-config\nautoinstall:\n  identity:\n    hostname: fresh\n    username: ada\n    password: "$6$a$b"\n  packages: [qemu-guest-agent]\n',
      [{ name: "ada", password: "$6$a$b" }],
      "fresh",
      true,
    ],
  ])("of %s", (_, text, accounts, hostname, hasAgent) => {
    expect(readAnswers(text)).toEqual({ accounts, hostname, agent: hasAgent })
  })

  test("with invalid account names create no accounts", () => {
    expect(readAnswers("d-i passwd/username string ../../etc\nd-i passwd/user-password password x\n")?.accounts).toEqual([])
    expect(readAnswers("hello")).toBeUndefined()
    expect(readUnattended("").accounts).toEqual([])
  })
})
