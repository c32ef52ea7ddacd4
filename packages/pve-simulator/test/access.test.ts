import { expect, test } from "vitest"
import { createLab, type As, type Lab } from "./support/client.ts"

const newUser = async (lab: Lab, name: string): Promise<void> => {
  await lab.ok("POST", "/access/users", { userid: `${name}@pve`, password: "correct horse" })
}

const newToken = async (lab: Lab, name: string, options: Record<string, unknown> = {}): Promise<As> => {
  const made = (await lab.ok("POST", `/access/users/${name}@pve/token/tok`, options)) as { value: string }
  return { token: `${name}@pve!tok=${made.value}` }
}

const grant = async (lab: Lab, path: string, roles: string, to: Record<string, unknown>): Promise<void> => {
  await lab.ok("PUT", "/access/acl", { path, roles, ...to })
}

const logIn = async (lab: Lab, username: string, password = "correct horse") => {
  const data = (await lab.ok("POST", "/access/ticket", { username, password }, "nobody")) as {
    ticket: string
    CSRFPreventionToken: string
  }
  return { ticket: data.ticket, csrf: data.CSRFPreventionToken }
}

const readConfig = async (lab: Lab, as: As, vmid = 100): Promise<number> =>
  (await lab.call("GET", `/nodes/pve/qemu/${vmid}/config`, undefined, as)).status

test("a ticket allows reads, changes need its CSRF token too, and it expires after two hours", async () => {
  const lab = createLab()
  await newUser(lab, "ann")
  await grant(lab, "/", "PVEAdmin", { users: "ann@pve" })
  const { ticket, csrf } = await logIn(lab, "ann@pve")
  expect(await readConfig(lab, { ticket })).toBe(200)
  const put = async (as: As) => await lab.call("PUT", "/nodes/pve/qemu/100/config", { description: "x" }, as)
  expect(await put({ ticket })).toMatchObject({ status: 401, reason: "Permission denied - invalid csrf token" })
  expect(await put({ ticket, csrf: "0:nonsense" })).toMatchObject({ status: 401 })
  expect((await put({ ticket, csrf })).status).toBe(200)
  lab.clock.advance(7100 * 1000)
  const renewed = await logIn(lab, "ann@pve", ticket)
  lab.clock.advance(600 * 1000)
  expect(await readConfig(lab, { ticket })).toBe(401)
  expect(await readConfig(lab, renewed)).toBe(200)
})

test("wrong password, user and realm get the same answer", async () => {
  const lab = createLab()
  await newUser(lab, "ann")
  for (const [username, password] of [
    ["ann@pve", "wrong"],
    ["bob@pve", "correct horse"],
    ["ann@nowhere", "correct horse"],
    ["ann", "correct horse"],
  ]) {
    const answer = await lab.call("POST", "/access/ticket", { username, password }, "nobody")
    expect(answer).toMatchObject({ status: 401, message: "authentication failure\n", data: null })
  }
})

test("a token has its own rights within those of its user, unless its privileges are not separated", async () => {
  const lab = createLab()
  await newUser(lab, "ann")
  await newUser(lab, "bob")
  await grant(lab, "/vms", "PVEVMAdmin", { users: "ann@pve,bob@pve" })
  const separated = await newToken(lab, "ann")
  const shared = await newToken(lab, "bob", { privsep: 0 })
  expect(await readConfig(lab, separated)).toBe(403)
  expect(await readConfig(lab, shared)).toBe(200)
  await grant(lab, "/vms/100", "PVEVMUser", { tokens: "ann@pve!tok" })
  expect(await readConfig(lab, separated)).toBe(200)
  expect((await lab.call("PUT", "/nodes/pve/qemu/100/config", { memory: "1024" }, separated)).status).toBe(403)
  await lab.ok("PUT", "/access/acl", { path: "/vms", roles: "PVEVMAdmin", users: "ann@pve", delete: 1 })
  expect(await readConfig(lab, separated)).toBe(403)
})

test("root's token is not root: options for root alone stay refused, and calls that refuse tokens do", async () => {
  const lab = createLab()
  expect(await lab.call("PUT", "/nodes/pve/qemu/100/config", { args: "-foo" })).toMatchObject({
    status: 500,
    message: "only root can set 'args' config\n",
  })
  const { ticket, csrf } = await logIn(lab, "root@pam", lab.sim.rootPassword)
  expect((await lab.call("PUT", "/nodes/pve/qemu/100/config", { args: "-foo" }, { ticket, csrf })).status).toBe(200)
  expect((await lab.call("PUT", "/access/password", { userid: "root@pam", password: "something else" })).message).toContain(
    "not available with API token",
  )
})

test("expired and disabled users and tokens are refused", async () => {
  const lab = createLab()
  await newUser(lab, "ann")
  await grant(lab, "/", "Administrator", { users: "ann@pve" })
  const token = await newToken(lab, "ann", { privsep: 0, expire: Math.floor(lab.clock.now() / 1000) + 60 })
  expect(await readConfig(lab, token)).toBe(200)
  await lab.ok("PUT", "/access/users/ann@pve", { enable: 0 })
  expect(await readConfig(lab, token)).toBe(401)
  await lab.ok("PUT", "/access/users/ann@pve", { enable: 1 })
  lab.clock.advance(61_000)
  expect(await readConfig(lab, token)).toBe(401)
})

test("deeper entries beat shallower ones, own ones beat those of groups, NoAccess clears, and some do not propagate", async () => {
  const lab = createLab()
  await newUser(lab, "ann")
  await lab.ok("POST", "/access/groups", { groupid: "crew" })
  await lab.ok("PUT", "/access/users/ann@pve", { groups: "crew" })
  const ann = await newToken(lab, "ann", { privsep: 0 })
  await grant(lab, "/vms", "PVEVMUser", { groups: "crew" })
  expect(await readConfig(lab, ann)).toBe(200)
  await grant(lab, "/vms", "NoAccess", { users: "ann@pve" })
  expect(await readConfig(lab, ann)).toBe(403)
  await grant(lab, "/vms/100", "PVEVMUser", { groups: "crew" })
  expect(await readConfig(lab, ann)).toBe(200)
  expect(await readConfig(lab, ann, 101)).toBe(403)
  await lab.ok("PUT", "/access/acl", { path: "/vms", roles: "NoAccess", users: "ann@pve", delete: 1 })
  await lab.ok("PUT", "/access/acl", { path: "/vms", roles: "PVEVMUser", groups: "crew", delete: 1 })
  await grant(lab, "/vms", "PVEVMUser", { users: "ann@pve", propagate: 0 })
  expect(await readConfig(lab, ann, 101)).toBe(403)
})

test("a pool gives its rights on its machines, and a nested pool takes its parent's", async () => {
  const lab = createLab()
  await newUser(lab, "ann")
  const ann = await newToken(lab, "ann", { privsep: 0 })
  await lab.ok("POST", "/pools", { poolid: "team" })
  await lab.ok("POST", "/pools", { poolid: "team/inner" })
  await grant(lab, "/pool/team", "PVEVMUser", { users: "ann@pve" })
  expect(await readConfig(lab, ann)).toBe(403)
  await lab.ok("PUT", "/pools", { poolid: "team/inner", vms: "100", "allow-move": 1 })
  expect(await readConfig(lab, ann)).toBe(200)
})

test("NoAccess on a machine beats its pool, NoAccess on a pool beats a role on the machine", async () => {
  const lab = createLab()
  await newUser(lab, "ann")
  const ann = await newToken(lab, "ann", { privsep: 0 })
  await grant(lab, "/pool/SHARED", "PVEVMUser", { users: "ann@pve" })
  expect(await readConfig(lab, ann)).toBe(200)
  await grant(lab, "/vms/100", "NoAccess", { users: "ann@pve" })
  expect(await readConfig(lab, ann)).toBe(403)
  expect(await readConfig(lab, ann, 101)).toBe(200)
  await grant(lab, "/vms/101", "PVEVMAdmin", { users: "ann@pve" })
  await lab.ok("PUT", "/access/acl", { path: "/pool/SHARED", roles: "PVEVMUser", users: "ann@pve", delete: 1 })
  await grant(lab, "/pool/SHARED", "NoAccess", { users: "ann@pve" })
  expect(await readConfig(lab, ann, 101)).toBe(403)
  await newUser(lab, "bob")
  const bob = await newToken(lab, "bob", { privsep: 0 })
  await grant(lab, "/pool/SHARED", "NoAccess", { users: "bob@pve", propagate: 0 })
  await grant(lab, "/vms", "PVEVMUser", { users: "bob@pve" })
  expect(await readConfig(lab, bob, 101)).toBe(403)
})

test("a storage in two pools has the rights of both, and they do not hold below", async () => {
  const lab = createLab()
  await newUser(lab, "ann")
  const ann = await newToken(lab, "ann", { privsep: 0 })
  for (const [poolid, role] of [
    ["one", "PVEDatastoreUser"],
    ["two", "PVEDatastoreAdmin"],
  ] as const) {
    await lab.ok("POST", "/pools", { poolid })
    await lab.ok("PUT", "/pools", { poolid, storage: "local" })
    await grant(lab, `/pool/${poolid}`, role, { users: "ann@pve" })
  }
  expect(await lab.ok("GET", "/access/permissions?path=/storage/local", undefined, ann)).toEqual({
    "/storage/local": {
      "Datastore.Allocate": 0,
      "Datastore.AllocateSpace": 0,
      "Datastore.AllocateTemplate": 0,
      "Datastore.Audit": 0,
    },
  })
})

test("the built-in roles are those of version 9", async () => {
  const lab = createLab()
  const roles = (await lab.ok("GET", "/access/roles")) as { roleid: string; privs: string }[]
  const privileges = (id: string) => roles.find(({ roleid }) => roleid === id)?.privs.split(",")
  expect(roles.map(({ roleid }) => roleid).toSorted()).toEqual([
    ..."Administrator NoAccess PVEAdmin PVEAuditor PVEDatastoreAdmin PVEDatastoreUser PVEMappingAdmin PVEMappingUser".split(" "),
    ..."PVEPoolAdmin PVEPoolUser PVESDNAdmin PVESDNUser PVESysAdmin PVETemplateUser PVEUserAdmin PVEVMAdmin PVEVMUser".split(" "),
  ])
  expect(privileges("PVEAuditor")).toEqual(
    "Datastore.Audit Mapping.Audit Pool.Audit SDN.Audit Sys.Audit VM.Audit VM.GuestAgent.Audit".split(" "),
  )
  expect(privileges("PVEVMUser")).toEqual([
    ..."VM.Audit VM.Backup VM.Config.CDROM VM.Config.Cloudinit VM.Console VM.GuestAgent.Audit".split(" "),
    ..."VM.GuestAgent.FileRead VM.GuestAgent.FileSystemMgmt VM.GuestAgent.FileWrite VM.PowerMgmt".split(" "),
  ])
  const only = (privileges("Administrator") ?? []).filter((each) => privileges("PVEAdmin")?.includes(each) !== true)
  expect(only).toEqual(
    "Mapping.Modify Permissions.Modify Realm.Allocate Sys.AccessNetwork Sys.Incoming Sys.Modify Sys.PowerMgmt".split(" "),
  )
})

test("a token with separated privileges and no rights of its own sees nothing, even if its user is the administrator", async () => {
  const lab = createLab()
  await newUser(lab, "ann")
  await grant(lab, "/", "Administrator", { users: "ann@pve" })
  const made = (await lab.ok("POST", "/access/users/root@pam/token/bare")) as { value: string }
  for (const bare of [await newToken(lab, "ann"), { token: `root@pam!bare=${made.value}` }]) {
    for (const path of [
      "/nodes/pve/qemu",
      "/nodes/pve/storage",
      "/nodes/pve/network",
      "/nodes/pve/tasks",
      "/storage",
      "/pools",
      "/cluster/resources?type=vm",
      "/cluster/resources?type=storage",
      "/cluster/tasks",
      "/cluster/ha/resources",
      "/cluster/sdn/zones",
      "/cluster/sdn/vnets",
      "/access/users",
      "/access/groups",
      "/access/acl",
      "/access/permissions",
    ]) {
      const answer = await lab.call("GET", path, undefined, bare)
      if (answer.status === 200) expect(Object.keys(answer.data as object), path).toEqual([])
      else expect(answer.status, path).toBe(403)
    }
    expect((await lab.call("GET", "/access/users/ann@pve", undefined, bare)).status).toBe(403)
  }
})

test("a ticket lists what its user may do on any path, by section", async () => {
  const lab = createLab()
  await newUser(lab, "ann")
  await grant(lab, "/pool/SHARED", "PVEVMUser", { users: "ann@pve" })
  await grant(lab, "/storage/local", "PVEDatastoreUser", { users: "ann@pve" })
  const { cap } = (await lab.ok("POST", "/access/ticket", { username: "ann@pve", password: "correct horse" }, "nobody")) as {
    cap: Record<string, Record<string, number>>
  }
  expect(cap).toMatchObject({ dc: {}, nodes: {}, storage: { "Datastore.AllocateSpace": 1, "Datastore.Audit": 1 } })
  expect(cap["vms"]).toHaveProperty("VM.PowerMgmt", 1)
})

test("lists leave out what the caller may not see", async () => {
  const lab = createLab()
  await newUser(lab, "ann")
  const ann = await newToken(lab, "ann", { privsep: 0 })
  expect(await lab.ok("GET", "/nodes/pve/qemu", undefined, ann)).toEqual([])
  expect(await lab.ok("GET", "/cluster/resources?type=vm", undefined, ann)).toEqual([])
  expect(await lab.ok("GET", "/pools", undefined, ann)).toEqual([])
  expect(await lab.ok("GET", "/cluster/tasks", undefined, ann)).toEqual([])
  await grant(lab, "/vms/101", "PVEVMUser", { users: "ann@pve" })
  expect(await lab.ok("GET", "/nodes/pve/qemu", undefined, ann)).toMatchObject([{ vmid: 101 }])
})

test("a clone needs rights on the source, on the new id or the pool, on the storage and on the bridges", async () => {
  const lab = createLab()
  await newUser(lab, "ann")
  const ann = await newToken(lab, "ann", { privsep: 0 })
  await lab.ok("POST", "/pools", { poolid: "ann" })
  const clone = async () => await lab.call("POST", "/nodes/pve/qemu/101/clone", { newid: 300, pool: "ann" }, ann)
  const steps: readonly [string, string, string][] = [
    ["/pool/SHARED", "PVETemplateUser", "/vms/101, VM.Clone"],
    ["/pool/ann", "PVEVMAdmin", "/pool/ann, VM.Allocate"],
    ["/storage/local-lvm", "PVEDatastoreUser", "/storage/local-lvm, Datastore.AllocateSpace"],
    ["/sdn/zones/localnetwork", "PVESDNUser", "/sdn/zones/localnetwork/vmbr1000, SDN.Use"],
  ]
  for (const [path, role, missing] of steps) {
    expect((await clone()).message).toBe(`Permission check failed (${missing})\n`)
    await grant(lab, path, role, { users: "ann@pve" })
  }
  expect((await clone()).status).toBe(200)
})

test("users, groups, roles and access entries are refused in the server's words", async () => {
  const lab = createLab()
  await newUser(lab, "ann")
  const refused: readonly [string, string, Record<string, unknown>, number, string][] = [
    ["POST", "/access/users", { userid: "ann@pve" }, 500, "create user failed: user 'ann@pve' already exists"],
    ["POST", "/access/users", { userid: "ann@nowhere" }, 500, "create user failed: auth domain 'nowhere' does not exist"],
    ["POST", "/access/users", { userid: "bob@pve", groups: "none" }, 500, "create user failed: no such group 'none'"],
    [
      "POST",
      "/access/users",
      { userid: "bob@pam", password: "long enough" },
      500,
      "create user failed: change password failed: user 'bob' does not exist",
    ],
    ["GET", "/access/users/bob@pve", {}, 500, "no such user ('bob@pve')"],
    ["PUT", "/access/users/bob@pve", { expire: "x" }, 500, "no such user ('bob@pve')"],
    ["DELETE", "/access/users/bob@pve", {}, 500, "no such user ('bob@pve')"],
    ["PUT", "/access/groups/none", {}, 500, "update group failed: group 'none' does not exist"],
    ["GET", "/access/roles/Mine", {}, 500, "role 'Mine' does not exist"],
    ["PUT", "/access/roles/Mine", {}, 500, "update role failed: role 'Mine' does not exist"],
    ["DELETE", "/access/roles/Mine", {}, 500, "delete role failed: role 'Mine' does not exist"],
    ["PUT", "/pools", { poolid: "none" }, 500, "update pools failed: pool 'none' does not exist"],
    ["DELETE", "/pools", { poolid: "none" }, 500, "delete pool failed: pool 'none' does not exist"],
    ["GET", "/nodes/pve/storage/none/content", {}, 500, "storage 'none' does not exist"],
    ["GET", "/access/groups/none", {}, 500, "group 'none' does not exist"],
    ["POST", "/access/roles", { roleid: "PVEMine" }, 400, "Parameter verification failed."],
    ["POST", "/access/roles", { roleid: "Mine", privs: "VM.Monitor" }, 400, "Parameter verification failed."],
    ["PUT", "/access/acl", { path: "/nonsense/x", roles: "PVEAdmin", users: "ann@pve" }, 400, "Parameter verification failed."],
  ]
  for (const [method, path, parameters, status, message] of refused) {
    expect(await lab.call(method, path, parameters), `${method} ${path}`).toMatchObject({ status, message: `${message}\n` })
  }
  // the rights of others are looked up first, and with them the user
  const root = await logIn(lab, "root@pam", lab.sim.rootPassword)
  expect((await lab.call("PUT", "/access/users/bob@pve", { comment: "x" }, root)).message).toBe(
    "update user failed: no such user ('bob@pve')\n",
  )
  for (const storage of ["none", "vmstore"])
    expect(await lab.call("GET", `/nodes/pve/storage/${storage}/status`)).toMatchObject({
      status: 400,
      errors: { storage: "No such storage." },
    })
})

test("a realm is read as it was set, but for its password", async () => {
  const lab = createLab()
  const realm = { type: "ldap", base_dn: "dc=lab", user_attr: "uid", server1: "10.0.0.5", comment: "x" }
  await lab.ok("POST", "/access/domains", { realm: "corp", ...realm, password: "secret" })
  expect(await lab.ok("GET", "/access/domains/corp")).toEqual({ ...realm, default: false })
})

test("a caller who may change the users of a group can change its members, but add nobody to other groups", async () => {
  const lab = createLab()
  for (const name of ["boss", "ann", "bob"]) await newUser(lab, name)
  for (const groupid of ["crew", "rest"]) await lab.ok("POST", "/access/groups", { groupid })
  await lab.ok("PUT", "/access/users/ann@pve", { groups: "crew,rest" })
  await grant(lab, "/access/groups/crew", "PVEUserAdmin", { users: "boss@pve" })
  const boss = await logIn(lab, "boss@pve")
  const put = async (user: string, parameters: Record<string, unknown>) =>
    (await lab.call("PUT", `/access/users/${user}@pve`, parameters, boss)).status
  expect(await put("ann", { comment: "x" })).toBe(200)
  expect(await put("ann", { groups: "rest" })).toBe(403)
  expect(await put("bob", { groups: "crew" })).toBe(403)
  expect(await put("ann", { groups: "crew" })).toBe(200)
})

test("users and permissions are read as they were set", async () => {
  const lab = createLab()
  await newUser(lab, "ann")
  const ann = await newToken(lab, "ann", { privsep: 0 })
  await grant(lab, "/vms/100", "PVETemplateUser", { users: "ann@pve", propagate: 0 })
  expect(await lab.ok("GET", "/access/permissions?path=/vms/100", undefined, ann)).toEqual({
    "/vms/100": { "VM.Audit": 0, "VM.Clone": 0 },
  })
  expect((await lab.call("GET", "/access/permissions?userid=root@pam", undefined, ann)).status).toBe(403)
  expect(await lab.ok("GET", "/access/users/root@pam")).toMatchObject({
    enable: 1,
    groups: [],
    tokens: { simulator: { privsep: 0 } },
  })
  expect(JSON.stringify(lab.sim.state)).not.toContain("correct horse")
})

test("a user without rights cannot change anything by calls whose permissions the handler checks", async () => {
  const lab = createLab()
  await newUser(lab, "ann")
  const ann = await newToken(lab, "ann", { privsep: 0 })
  await lab.ok("POST", "/cluster/sdn/zones", { type: "simple", zone: "one" })
  await lab.ok("POST", "/cluster/sdn/vnets", { vnet: "vn1", zone: "one" })
  await lab.ok("POST", "/cluster/sdn/vnets/vn1/subnets", { subnet: "10.9.0.0/24", type: "subnet" })
  await lab.task("POST", "/nodes/pve/qemu/101/clone", { newid: 200 })
  await lab.task("POST", "/nodes/pve/qemu/200/status/start")
  const before = lab.sim.state.sdn.config
  const attempts: readonly [string, string, Record<string, unknown>][] = [
    ["POST", "/nodes/pve/qemu", { vmid: 300 }],
    ["POST", "/nodes/pve/qemu", { vmid: 300, pool: "SHARED", memory: "512" }],
    ["PUT", "/cluster/sdn/vnets/vn1", { alias: "x" }],
    ["DELETE", "/cluster/sdn/vnets/vn1", {}],
    ["POST", "/cluster/sdn/vnets/vn1/subnets", { subnet: "10.8.0.0/24", type: "subnet" }],
    ["PUT", "/cluster/sdn/vnets/vn1/subnets/one-10.9.0.0-24", { gateway: "10.9.0.1" }],
    ["DELETE", "/cluster/sdn/vnets/vn1/subnets/one-10.9.0.0-24", {}],
    ["DELETE", "/nodes/pve/storage/local-lvm/content/vm-200-disk-0", {}],
  ]
  for (const [method, path, parameters] of attempts) {
    expect((await lab.call(method, path, parameters, ann)).status, `${method} ${path}`).toBe(403)
  }
  const stopall = await lab.ok("POST", "/nodes/pve/stopall", {}, ann)
  expect(await lab.settle(String(stopall))).toBe("OK")
  expect(lab.sim.guest(200)?.status).toBe("running")
  expect(lab.sim.state.sdn.config).toEqual(before)
})

test("a caller who may allocate in a pool can create machines in it", async () => {
  const lab = createLab()
  await newUser(lab, "ann")
  const ann = await newToken(lab, "ann", { privsep: 0 })
  await lab.ok("POST", "/pools", { poolid: "ann" })
  await grant(lab, "/pool/ann", "PVEVMAdmin", { users: "ann@pve" })
  expect((await lab.call("POST", "/nodes/pve/qemu", { vmid: 300, pool: "none" }, ann)).message).toBe(
    "Permission check failed (pool 'none' does not exist)\n",
  )
  const upid = await lab.ok("POST", "/nodes/pve/qemu", { vmid: 300, pool: "ann", memory: "1024" }, ann)
  expect(await lab.settle(String(upid))).toBe("OK")
  expect(await readConfig(lab, ann, 300)).toBe(200)
})

test("a caller with rights on a pool can grant them on its machines, and nowhere else", async () => {
  const lab = createLab()
  for (const name of ["ann", "bob"]) await newUser(lab, name)
  const ann = await newToken(lab, "ann", { privsep: 0 })
  await lab.ok("POST", "/pools", { poolid: "ann", comment: "" })
  await lab.ok("PUT", "/pools", { poolid: "ann", vms: "100", "allow-move": 1 })
  await grant(lab, "/pool/ann", "PVEVMAdmin", { users: "ann@pve" })
  const give = async (path: string, roles: string, more: Record<string, unknown> = {}) =>
    (await lab.call("PUT", "/access/acl", { path, roles, users: "bob@pve", propagate: 0, ...more }, ann)).status
  expect(await give("/vms/100", "PVEVMUser")).toBe(200)
  expect(await give("/vms/100", "PVEVMUser", { delete: 1 })).toBe(200)
  // what a pool gives does not hold below its machines
  expect(await give("/vms/100", "PVEVMUser", { propagate: 1 })).toBe(500)
  for (const role of ["PVEAuditor", "Administrator", "NoAccess"]) expect(await give("/vms/100", role), role).toBe(500)
  for (const path of ["/vms/101", "/vms", "/pool/ann", "/"]) expect(await give(path, "PVEVMUser"), path).toBe(403)
})
