import { handlerTransport } from "@rangewright/adapter-proxmox"
import { isRunId, type RunId } from "@rangewright/domain"
import { type BuildAccount, HypervisorTemplates } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { asRoot, makeRig, type Rig } from "./support/rig.ts"
import { reasonOf, vmidOf } from "./support/under-test.ts"

const id = "run000000000001" as RunId
const other = "run000000000002" as RunId
const name = "fresh-template"
const template = { vmid: vmidOf(500), name }

const templates = <A, E>(use: (port: typeof HypervisorTemplates.Service) => Effect.Effect<A, E>) => HypervisorTemplates.use(use)

let rig: Rig
beforeEach(() => {
  rig = makeRig()
})
afterEach(() => rig.close())

const root = (method: string, path: string, form = ""): Promise<string> =>
  rig.run(Effect.promise(() => asRoot(rig.sim, method, path, form)))
const dataOf = async (path: string): Promise<unknown> => (JSON.parse(await root("GET", path)) as { readonly data: unknown }).data

/** The answers that the account of a build gets. */
const as =
  (account: BuildAccount) =>
  async (method: string, path: string, form = "") => {
    const answer = await rig.run(
      Effect.promise(() =>
        rig.sim.handle({
          method,
          path: `/api2/json${path}`,
          headers: {
            authorization: `PVEAPIToken=${account.tokenId}=${Redacted.value(account.tokenSecret)}`,
            "content-type": "application/x-www-form-urlencoded",
          },
          ...(form === "" ? {} : { body: form }),
        }),
      ),
    )
    return {
      status: answer.status,
      data: answer.status === 200 ? (JSON.parse(answer.body) as { readonly data: unknown }).data : undefined,
    }
  }

const passed = async (isSo: () => boolean): Promise<void> => {
  for (let seconds = 0; !isSo(); seconds += 1) {
    if (seconds > 600) throw new Error("it does not come to that")
    await rig.run(Effect.sleep(1000))
  }
}
const unlocked = (vmid: number) =>
  passed(() => rig.sim.guest(vmid) !== undefined && rig.sim.guest(vmid)?.config["lock"] === undefined)

const open = (of = id) => rig.run(templates((port) => port.open(of, "pve")))

/** What a builder leaves: a VM in its pool, and at the end a template. */
const makeVm = async (account: BuildAccount, vmid = 500, vmName = name): Promise<void> => {
  const config = { vmid: String(vmid), name: vmName, pool: account.pool, scsi0: "local-lvm:4", net0: "virtio,bridge=vmbr1000" }
  const form = new URLSearchParams({ ...config, agent: "1" }).toString()
  expect((await as(account)("POST", "/nodes/pve/qemu", form)).status).toBe(200)
  await unlocked(vmid)
}
const makeTemplate = async (account: BuildAccount, vmid = 500, vmName = name): Promise<void> => {
  await makeVm(account, vmid, vmName)
  expect((await as(account)("POST", `/nodes/pve/qemu/${vmid}/template`)).status).toBe(200)
  await passed(() => rig.sim.guest(vmid)?.config["template"] === 1)
}

const traces = async (): Promise<string> =>
  JSON.stringify([await dataOf("/pools"), await dataOf("/access/users"), await dataOf("/access/acl")])

describe("the account of a build", () => {
  it("may do in its pool what builders do, and nothing outside of it", async () => {
    const account = await open()
    const build = as(account)
    await makeVm(account)
    await rig.stranger(600)
    expect((await build("GET", "/nodes/pve/qemu/500/config")).status).toBe(200)
    expect((await build("PUT", "/nodes/pve/qemu/500/config", "memory=512")).status).toBe(200)
    expect((await build("POST", "/nodes/pve/qemu/500/status/start")).status).toBe(200)
    await passed(() => rig.sim.guest(500)?.status === "running")
    expect((await build("PUT", "/nodes/pve/qemu/500/sendkey", "key=ret")).status).toBe(200)
    const seen = (await build("GET", "/cluster/resources?type=vm")).data as readonly {
      readonly vmid: number
      readonly pool?: string
    }[]
    expect(seen.filter(({ pool }) => pool !== "SHARED").map(({ vmid }) => vmid)).toEqual([500])
    const refused: readonly (readonly [string, string, string?])[] = [
      ["GET", "/nodes/pve/qemu/600/config"],
      ["PUT", "/nodes/pve/qemu/600/config", "memory=512"],
      ["DELETE", "/nodes/pve/qemu/600"],
      ["DELETE", `/nodes/pve/qemu/${rig.template.vmid}`],
      ["PUT", `/nodes/pve/qemu/${rig.template.vmid}/config`, "memory=512"],
      ["POST", "/nodes/pve/qemu", "vmid=501"],
      ["POST", "/nodes/pve/qemu", "vmid=501&pool=SHARED"],
      ["POST", "/pools", "poolid=mine"],
      ["PUT", "/access/acl", "path=/&roles=Administrator&users=build-run000000000001@pve"],
      ["PUT", "/nodes/pve/qemu/500/config", "scsi1=local-lvm:vm-600-disk-0"],
      ["PUT", "/nodes/pve/qemu/500/config", `scsi1=local-lvm:base-${rig.template.vmid}-disk-0`],
      ["PUT", "/nodes/pve/qemu/500/config", "net1=virtio%2Cbridge%3Dvmbr0"],
    ]
    for (const [method, path, form = ""] of refused)
      expect([method, path, form, (await build(method, path, form)).status]).toEqual([method, path, form, 403])
  })

  it("clones templates that everybody may clone", async () => {
    const account = await open()
    const answer = await as(account)(
      "POST",
      `/nodes/pve/qemu/${rig.template.vmid}/clone`,
      `newid=500&name=x&pool=${account.pool}`,
    )
    expect(answer.status).toBe(200)
  })

  it("has new secrets each time, and the earlier ones become invalid", async () => {
    const first = await open()
    const second = await open()
    expect((await as(first)("GET", "/version")).status).toBe(401)
    expect((await as(second)("GET", "/version")).status).toBe(200)
    expect(Redacted.value(first.password)).not.toBe(Redacted.value(second.password))
  })

  it("is not made if the service may not create its role; the fault says what to do", async () => {
    await root("POST", "/access/users", "userid=poor@pve&password=long-enough")
    await root(
      "POST",
      "/access/roles",
      "roleid=Poor&privs=Pool.Allocate,Pool.Audit,User.Modify,Realm.AllocateUser,Permissions.Modify,Sys.Audit",
    )
    await root("PUT", "/access/acl", "path=/&roles=Poor&users=poor@pve")
    const poor = rig.as({ auth: { type: "password", username: "poor@pve", password: Redacted.make("long-enough") } })
    const fault = await poor.run(Effect.flip(templates((port) => port.open(id, "pve"))))
    expect(fault.message).toContain("there is no role RangewrightBuild, and the service may not create it")
    expect(fault.hint).toContain('pveum role add RangewrightBuild --privs "VM.Allocate')
  })
})

describe("the result of a build", () => {
  it("is reported by VMID and name, and exactly that is made available to everybody on request", async () => {
    const account = await open()
    await makeTemplate(account)
    expect(await rig.run(templates((port) => port.made(id)))).toEqual([{ ...template, node: "pve", template: true }])
    expect(await rig.run(templates((port) => port.made(other)))).toEqual([])
    const adopt = (wanted: typeof template, of = id) => rig.run(reasonOf(templates((port) => port.adopt(of, wanted))))
    expect(await adopt({ ...template, name: "another" })).toBe("not-ours")
    expect(await adopt({ ...template, vmid: vmidOf(501) })).toBe("not-ours")
    expect(await adopt(template, other)).toBe("not-ours")
    expect(await adopt(template)).toBe("no failure")
    expect(await adopt(template)).toBe("no failure")
    expect(await dataOf("/pools/SHARED")).toMatchObject({
      members: expect.arrayContaining([expect.objectContaining({ vmid: 500 })]),
    })
    await rig.run(templates((port) => port.close(id)))
    expect(rig.exists(500)).toBe(true)
    expect(await traces()).not.toContain(id)
  })

  it("does not take the place of a template of its name", async () => {
    await makeTemplate(await open())
    await rig.run(templates((port) => port.adopt(id, template)))
    await makeTemplate(await open(other), 501)
    const second = { vmid: vmidOf(501), name }
    expect(await rig.run(reasonOf(templates((port) => port.adopt(other, second))))).toBe("taken")
  })

  it("is removed with the build: VMs that run, are off or are templates, account, pool, rights", async () => {
    const before = await traces()
    const account = await open()
    await makeTemplate(account)
    await makeVm(account, 501, "running")
    await as(account)("POST", "/nodes/pve/qemu/501/status/start")
    await passed(() => rig.sim.guest(501)?.status === "running")
    await rig.stranger(600)
    await rig.restarted().run(templates((port) => port.close(id)))
    expect([500, 501, 600].map(rig.exists)).toEqual([false, false, true])
    expect(await traces()).toBe(before)
    await rig.run(templates((port) => port.close(id)))
  })

  it("is removed with the build: containers, which it could not have created", async () => {
    await open()
    let container: "running" | "stopped" | "gone" = "running"
    const inner = handlerTransport(rig.sim.handle)
    const answerOf = (data: unknown, status = 200) => ({
      status,
      statusText: status === 200 ? "OK" : "Configuration file 'nodes/pve/lxc/950.conf' does not exist",
      body: new TextEncoder().encode(JSON.stringify({ data })),
    })
    const upid = "UPID:pve:00000001:00000001:00000001:vzdestroy:950:root@pam:"
    const withContainer = rig.as({
      transport: {
        send: async (request, signal) => {
          const { method, path } = request
          if (path.startsWith(`/api2/json/nodes/pve/tasks/${encodeURIComponent(upid)}/status`))
            return answerOf({ status: "stopped", exitstatus: "OK", upid, node: "pve" })
          if (path.startsWith("/api2/json/nodes/pve/lxc/950")) {
            if (container === "gone") return answerOf(null, 500)
            if (method === "GET") return answerOf({ status: container })
            container = method === "DELETE" ? "gone" : "stopped"
            return answerOf(upid)
          }
          const answer = await inner.send(request, signal)
          if (method !== "GET" || !path.startsWith("/api2/json/pools?poolid=rw-build") || container === "gone") return answer
          const member = { id: "lxc/950", type: "lxc", vmid: 950, node: "pve", name: "c", status: container }
          const { data } = JSON.parse(new TextDecoder().decode(answer.body)) as {
            readonly data: readonly Record<string, unknown>[]
          }
          return answerOf(data.map((pool) => ({ ...pool, members: [member] })))
        },
      },
    })
    await withContainer.run(templates((port) => port.close(id)))
    expect(container).toBe("gone")
    expect(await traces()).not.toContain(id)
  })

  it("is removed with the build: images that it uploaded, except those in a template's drive and those of others", async () => {
    const account = await open()
    await makeTemplate(account)
    const names = [`rw-build-${id}-answers.iso`, `rw-build-${id}-kept.iso`, `rw-build-${other}-answers.iso`, "debian.iso"]
    for (const filename of names)
      await root(
        "POST",
        "/nodes/pve/storage/local/download-url",
        new URLSearchParams({ content: "iso", filename, url: `https://images.example/${filename}` }).toString(),
      )
    const images = async () =>
      ((await dataOf("/nodes/pve/storage/local/content?content=iso")) as readonly { readonly volid: string }[]).map(({ volid }) =>
        volid.replace(/^.*\//u, ""),
      )
    let there = await images()
    for (let seconds = 0; !names.every((name) => there.includes(name)) && seconds < 600; seconds += 1) {
      await rig.run(Effect.sleep(1000))
      there = await images()
    }
    await root("PUT", "/nodes/pve/qemu/500/config", `ide2=${encodeURIComponent(`local:iso/${names[1]},media=cdrom`)}`)
    await rig.run(templates((port) => port.adopt(id, template)))
    await rig.run(templates((port) => port.close(id)))
    expect(await images()).toEqual(there.filter((name) => name !== names[0]))
    expect(there).toEqual(expect.arrayContaining(names))
  })

  it("is removed although the builder's last call is still in progress", async () => {
    const account = await open()
    const clone = await as(account)(
      "POST",
      `/nodes/pve/qemu/${rig.template.vmid}/clone`,
      `newid=500&full=1&storage=local-lvm&pool=${account.pool}`,
    )
    expect(clone.status).toBe(200)
    await rig.run(templates((port) => port.close(id)))
    await rig.run(Effect.sleep(300_000))
    expect(rig.exists(500)).toBe(false)
    expect(await traces()).not.toContain(id)
  })

  it("is recognized after a restart, even half made; pools and accounts of others are never touched", async () => {
    await open()
    await root("POST", "/pools", `poolid=rw-build-${other}`)
    await root("POST", "/access/users", `userid=build-${other}@pve`)
    expect(await rig.restarted().run(templates((port) => port.opened))).toEqual([id])
    expect(await rig.run(reasonOf(templates((port) => port.close(other))))).toBe("not-ours")
    expect(await rig.run(reasonOf(templates((port) => port.open(other, "pve"))))).toBe("not-ours")
    await root("DELETE", `/pools?poolid=rw-build-${id}`)
    expect(await rig.run(templates((port) => port.opened))).toEqual([id])
    await rig.run(templates((port) => port.close(id)))
    expect(await rig.run(templates((port) => port.opened))).toEqual([])
    expect(isRunId(id)).toBe(true)
  })
})

describe("a template for everybody", () => {
  it("is removed unless clones need its disks, and no other VM is", async () => {
    const account = await open()
    await makeTemplate(account)
    await rig.run(templates((port) => port.adopt(id, template)))
    const remove = (wanted: typeof template) => rig.run(reasonOf(templates((port) => port.remove(wanted))))
    await root("POST", "/nodes/pve/qemu/500/clone", "newid=700&name=user")
    await unlocked(700)
    // lists lag behind
    await rig.run(Effect.sleep(15_000))
    expect(await rig.run(templates((port) => port.clones(template)))).toEqual([{ vmid: 700, name: "user" }])
    expect(await remove(template)).toBe("locked")
    expect(await remove({ ...template, name: "another" })).toBe("not-ours")
    await root("DELETE", "/nodes/pve/qemu/700")
    await passed(() => rig.sim.guest(700) === undefined)
    expect(await rig.run(templates((port) => port.clones(template)))).toEqual([])
    expect(await remove(template)).toBe("no failure")
    expect(rig.exists(500)).toBe(false)
    expect(await remove(template)).toBe("no failure")
  })
})
