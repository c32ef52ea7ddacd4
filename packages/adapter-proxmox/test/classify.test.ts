import { describe, expect, it } from "vitest"
import { classifyAnswer, classifyTask, type Patience, type Verdict } from "../src/client/classify.ts"

interface Row {
  readonly status: number
  readonly call: string
  readonly text: string
  readonly verdict: Verdict
  /** When it differs for a call that changes nothing. */
  readonly reading?: Verdict
  /** How often a change is sent again (not at all). */
  readonly again?: Patience
}

const vm = "/nodes/pve/qemu/100"

const rows: readonly Row[] = [
  { status: 401, call: `GET ${vm}/config`, text: "", verdict: "unauthenticated" },
  { status: 403, call: `POST ${vm}/clone`, text: "Permission check failed (/vms/100, VM.Clone)", verdict: "forbidden" },
  { status: 400, call: `PUT ${vm}/config`, text: "Parameter verification failed. memory: type check failed", verdict: "invalid" },
  {
    status: 400,
    call: "POST /nodes/pve/network",
    text: "Parameter verification failed. iface: interface already exists",
    verdict: "taken",
  },
  {
    status: 400,
    call: "DELETE /nodes/pve/network/vmbr9",
    text: "Parameter verification failed. iface: interface does not exist",
    verdict: "not-found",
  },
  {
    status: 400,
    call: "GET /nodes/pve/tasks/x/status",
    text: "Parameter verification failed. upid: no such task",
    verdict: "not-found",
  },
  { status: 500, call: `POST ${vm}/status/start`, text: "bridge 'r1' does not exist", verdict: "failed" },
  { status: 501, call: "GET /nope", text: "Method 'GET /nope' not implemented", verdict: "invalid" },
  { status: 506, call: `POST ${vm}/clone`, text: "", verdict: "invalid" },
  { status: 595, call: `POST ${vm}/clone`, text: "Connection refused", verdict: "away", again: "short" },
  { status: 596, call: `POST ${vm}/clone`, text: "Connection timed out", verdict: "unknown-effect", reading: "away" },
  { status: 502, call: `POST ${vm}/clone`, text: "Bad Gateway", verdict: "unknown-effect", reading: "away" },
  { status: 503, call: `POST ${vm}/clone`, text: "", verdict: "unknown-effect", reading: "away" },
  { status: 504, call: `POST ${vm}/clone`, text: "", verdict: "unknown-effect", reading: "away" },
  {
    status: 500,
    call: `POST ${vm}/clone`,
    text: "got no worker upid - start worker failed",
    verdict: "away",
    again: "long",
  },
  {
    status: 500,
    call: "GET /cluster/tasks",
    text: "ipcc_send_rec[1] failed: Connection refused",
    verdict: "away",
    again: "long",
  },
  {
    status: 500,
    call: "PUT /access/acl",
    text: "unable to load access control list: Connection refused",
    verdict: "away",
    again: "long",
  },
  { status: 500, call: "GET /cluster/tasks", text: "anything nobody has seen before", verdict: "away", again: "long" },
  {
    status: 500,
    call: "POST /pools",
    text: "cfs-lock 'file-user_cfg' error: got lock request timeout",
    verdict: "locked",
    again: "short",
  },
  {
    status: 500,
    call: "POST /pools",
    text: "cfs-lock 'file-user_cfg' error: pve cluster filesystem not online.",
    verdict: "away",
    again: "long",
  },
  {
    status: 500,
    call: "POST /pools",
    text: "error during cfs-locked 'file-user_cfg' operation: 'file-user_cfg'-locked command timed out - aborting",
    verdict: "unknown-effect",
    reading: "away",
  },
  {
    status: 500,
    call: `GET ${vm}/config`,
    text: "hostname lookup 'x' failed - failed to get address info",
    verdict: "away",
    again: "short",
  },
  {
    status: 500,
    call: `PUT ${vm}/config`,
    text: "can't lock file '/var/lock/qemu-server/lock-100.conf' - got timeout",
    verdict: "locked",
    again: "short",
  },
  { status: 500, call: `PUT ${vm}/config`, text: "VM is locked (clone)", verdict: "locked" },
  { status: 500, call: `PUT ${vm}/config`, text: "checksum mismatch (file change by other user?)", verdict: "locked" },
  { status: 500, call: "PUT /cluster/sdn", text: "invalid lock token provided! at /x line 291.", verdict: "locked" },
  {
    status: 500,
    call: "PUT /access/acl",
    text: "detected modified configuration - file changed by other user? Try again.",
    verdict: "locked",
  },
  { status: 500, call: "POST /pools", text: "cluster not ready - no quorum?", verdict: "no-quorum", again: "long" },
  { status: 500, call: `POST ${vm}/clone`, text: "unable to create VM 101: config file already exists", verdict: "taken" },
  {
    status: 500,
    call: "POST /nodes/pve/qemu",
    text: "unable to create VM 100 - VM 100 already exists on node 'pve'",
    verdict: "taken",
  },
  { status: 500, call: "POST /pools", text: "create pool failed: pool 'x' already exists", verdict: "taken" },
  { status: 500, call: "POST /access/users", text: "create user failed: user 'x@pve' already exists", verdict: "taken" },
  {
    status: 500,
    call: "POST /cluster/sdn/vnets",
    text: "create sdn vnet object failed: sdn vnet object ID 'r1' already defined",
    verdict: "taken",
  },
  { status: 500, call: "POST /cluster/sdn/vnets", text: "tag: vxlan tag 5 already exist in vnet a in zone z", verdict: "taken" },
  {
    status: 500,
    call: `GET ${vm}/config`,
    text: "Configuration file 'nodes/pve/qemu-server/100.conf' does not exist",
    verdict: "not-found",
  },
  {
    status: 500,
    call: `POST ${vm}/clone`,
    text: "unable to find configuration file for VM 100 on node 'pve'",
    verdict: "not-found",
  },
  { status: 500, call: "GET /pools", text: "pool 'x' does not exist", verdict: "not-found" },
  { status: 500, call: "DELETE /access/users/x@pve", text: "delete user failed: no such user ('x@pve')", verdict: "not-found" },
  { status: 500, call: "GET /cluster/sdn/zones/z", text: "sdn 'z' does not exist", verdict: "not-found" },
  { status: 500, call: "DELETE /cluster/sdn/vnets/r1", text: "sdn vnet 'r1' does not exist", verdict: "not-found" },
  { status: 500, call: `POST ${vm}/clone`, text: "storage 'fast' does not exist", verdict: "invalid" },
  { status: 500, call: `POST ${vm}/clone`, text: "no such cluster node 'x'", verdict: "invalid" },
  { status: 500, call: `POST ${vm}/clone`, text: "can't clone VM to node 'x' (VM uses local storage)", verdict: "invalid" },
  {
    status: 500,
    call: `POST ${vm}/clone`,
    text: "Linked clone feature is not supported for 'local:100/x' (scsi0)",
    verdict: "invalid",
  },
  {
    status: 500,
    call: "POST /cluster/sdn/vnets",
    text: "create sdn vnet object failed: cannot lookup undefined type!",
    verdict: "invalid",
  },
  { status: 500, call: "DELETE /pools", text: "delete pool failed: pool 'x' is not empty (contains VM 100)", verdict: "failed" },
  { status: 500, call: `DELETE ${vm}`, text: "VM 100 is running - destroy failed", verdict: "failed" },
  { status: 500, call: `DELETE ${vm}`, text: "can't remove VM 100 - protection mode enabled", verdict: "failed" },
  { status: 500, call: "PUT /nodes/pve/network", text: "you need ifupdown2 to reload network configuration", verdict: "failed" },
  { status: 500, call: `POST ${vm}/agent/ping`, text: "QEMU guest agent is not running", verdict: "silent-guest" },
  { status: 500, call: `POST ${vm}/agent/exec`, text: "VM 100 is not running", verdict: "guest-off" },
  {
    status: 500,
    call: `POST ${vm}/agent/exec`,
    text: "VM 100 qmp command 'guest-exec' failed - got timeout",
    verdict: "silent-guest",
  },
  {
    status: 500,
    call: `POST ${vm}/agent/ping`,
    text: "VM 100 qga command 'guest-ping' failed - got timeout",
    verdict: "silent-guest",
  },
  { status: 500, call: `POST ${vm}/agent/ping`, text: "No QEMU guest agent configured", verdict: "invalid" },
  { status: 500, call: `POST ${vm}/clone`, text: "anything nobody has seen before", verdict: "failed" },
  { status: 597, call: `POST ${vm}/clone`, text: "", verdict: "unknown-effect", reading: "away" },
  { status: 599, call: `POST ${vm}/clone`, text: "", verdict: "unknown-effect", reading: "away" },
]

describe("an answer", () => {
  for (const { status, call, text, verdict, reading, again = "none" } of rows)
    it(`${status} to ${call} with "${text}" means ${verdict}`, () => {
      expect(classifyAnswer({ status, text, call, mutating: true })).toMatchObject({ verdict, again })
      expect(classifyAnswer({ status, text, call, mutating: false }).verdict).toBe(reading ?? verdict)
    })
})

describe("the end of a task", () => {
  const ends: readonly (readonly [string, Verdict])[] = [
    ["clone failed: can't lock file '/var/lock/pve-manager/pve-storage-local' - got timeout", "locked"],
    ["cfs-lock 'storage-vmstore' error: got lock request timeout", "locked"],
    // 60 s of work under the cluster's lock were not enough: a part of it may be done
    ["clone failed: 'storage-nfs'-locked command timed out - aborting", "unknown-effect"],
    ["cfs-lock 'storage-nfs' error: 'storage-nfs'-locked command timed out - aborting", "unknown-effect"],
    ["cfs-lock 'storage-nfs' error: pve cluster filesystem not online.", "unknown-effect"],
    ["VM is locked (backup)", "locked"],
    ["unable to create VM 101: config file already exists", "taken"],
    ["Configuration file 'nodes/pve/qemu-server/999.conf' does not exist", "not-found"],
    ["clone failed: no space left on device", "exhausted"],
    ["start failed: not enough memory", "exhausted"],
    ["VM quit/powerdown failed - got timeout", "failed"],
    ["service 'vm:101' in error state, must be disabled and fixed first", "failed"],
    ["received interrupt", "unknown-effect"],
    ["unexpected status", "unknown-effect"],
    ["command 'ifreload -a' failed: exit code 1", "failed"],
    // a task that has ended is not waited for again
    ["clone failed: cluster not ready - no quorum?", "unknown-effect"],
    ["hostname lookup 'x' failed - failed to get address info", "unknown-effect"],
  ]
  for (const [text, verdict] of ends)
    it(`"${text}" means ${verdict}`, () => {
      expect(classifyTask(text).verdict).toBe(verdict)
    })
})

describe("a hint", () => {
  const hintOf = (text: string) => classifyTask(text).hint

  it("for a lock of the storage or of a file does not send anybody to unlock a VM, which would not help", () => {
    for (const text of [
      "clone failed: can't lock file '/var/lock/pve-manager/pve-storage-local' - got timeout",
      "cfs-lock 'storage-vmstore' error: got lock request timeout",
      "can't lock file '/var/lock/qemu-server/lock-100.conf' - got timeout",
    ]) {
      expect(hintOf(text)).toContain("retried")
      expect(hintOf(text)).not.toContain("qm unlock")
    }
    expect(hintOf("VM is locked (clone)")).toContain("qm unlock")
  })

  it("for a start on a bridge that knows no VLANs says how to make it know them", () => {
    expect(classifyTask("no physical interface on bridge 'vmbr1000'").verdict).toBe("failed")
    expect(hintOf("no physical interface on bridge 'vmbr1000'")).toContain("VLAN-aware")
    const script = "VM 7 qmp command 'netdev_add' failed - network script /usr/libexec/qemu-server/pve-bridge-hotplug"
    expect(hintOf(`${script} failed with status 65280`)).toContain("VLAN-aware")
    expect(hintOf(`${script} failed with status 512`)).toContain("lacks the network")
  })
})

describe("a name that somebody chose", () => {
  const of = (text: string, call = `POST ${vm}/snapshot`) => classifyAnswer({ status: 500, text, call, mutating: true })

  it.each(["ipcc_send_rec", "pve-storage-x", "insufficient", "x-locked"])("such as %s is not what an answer says", (name) => {
    expect(of(`snapshot name '${name}' already used`)).toMatchObject({ verdict: "failed", again: "none" })
    expect(classifyTask(`snapshot '${name}' does not exist`).verdict).toBe("invalid")
    expect(classifyTask(`zfs error: cannot open 'rpool/vm-100-state-${name}': unknown`).verdict).toBe("failed")
    expect(of(`pool '${name}' does not exist`, "GET /pools").verdict).toBe("not-found")
  })

  it.each([
    "cluster not ready - no quorum?",
    "ipcc_send_rec[1] failed: Connection refused",
    "got no worker upid",
    "VM is locked",
  ])("is what a guest's agent says, such as %s", (said) => {
    const exec = `POST ${vm}/agent/exec`
    expect(of(`VM 100 qga command 'guest-exec' failed - ${said}`, exec)).toMatchObject({ verdict: "silent-guest", again: "none" })
    expect(of(`Agent error: ${said}`, exec)).toMatchObject({ verdict: "failed", again: "none" })
  })
})

describe("a read that fails for a reason that nobody knows", () => {
  const again = (call: string, text: string) => classifyAnswer({ status: 500, text, call, mutating: false }).again

  it("is tried again, but not when the answer says what is not there or is wrong", () => {
    expect(again(`GET ${vm}/config`, "something broke")).toBe("long")
    expect(again(`GET ${vm}/config`, "Configuration file 'nodes/pve/qemu-server/100.conf' does not exist")).toBe("none")
    expect(again(`GET ${vm}/config`, "storage 'fast' does not exist")).toBe("none")
    expect(again(`GET ${vm}/agent/get-users`, "QEMU guest agent is not running")).toBe("none")
  })
})
