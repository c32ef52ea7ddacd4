/**
 * How long roles take on many machines at once, with the real tool on real hosts: each machine has three roles, one after another, that
 * sleep 2 s. Goal: at most 1.3 times the longest chain run alone, or the CPU seconds divided by the cores if that is larger. The time of a
 * strictly serial order is printed too. Then: the cost of a network of its own, left only through a relay, for one run; at most 50 ms.
 * Run it on an otherwise idle machine. It needs what the tests on real hosts need.
 */
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { type Lab, openLab } from "../packages/adapter-ansible/test/playbook/support/lab.ts"
import { obstacle, sandboxObstacle } from "../packages/adapter-ansible/test/playbook/support/obstacle.ts"
import { slots } from "../packages/domain/src/index.ts"
import { measureConfinement } from "./confinement.ts"

const quick = process.argv.includes("--quick")
const size = { machines: quick ? 3 : 20, roles: 3, sleepSeconds: 2 } as const
const goal = 1.3
const ticksPerSecond = 100

const names = Array.from({ length: size.machines }, (_, at) => `LAB-m${at + 1}`)
const roles = Array.from({ length: size.roles }, (_, at) => `sleeper${at + 1}`)

const config = `ludus:\n${names
  .map(
    (name, at) =>
      `  - {vm_name: "${name}", hostname: "${name}", template: debian-12-x64-server-template, vlan: 10, ip_last_octet: ${at + 1}, ram_gb: 1, cpus: 1, linux: true}\n`,
  )
  .join("")}`

/** CPU seconds of the whole machine: those of tools and hosts cannot be separated from others, so nothing else should run. */
const spentCpu = (): number => {
  const [, user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = readFileSync("/proc/stat", "utf8")
    .split(/\s+/u, 9)
    .map(Number)
  return (user + nice + system + irq + softirq) / ticksPerSecond
}

/** The roles of one machine, one after the other. */
const chain = async (lab: Lab, name: string): Promise<void> => {
  for (const role of roles) {
    const { ok, fault } = await lab.perform(lab.task(name, "role", { role, vars: {} }))
    if (!ok) throw new Error(fault)
  }
}

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const begun = performance.now()
  await work()
  return (performance.now() - begun) / 1000
}

const measure = async (lab: Lab): Promise<void> => {
  await lab.setConfig(config)
  for (const role of roles)
    await lab.addRole(role, { "tasks/main.yml": `- name: Sleep\n  ansible.builtin.command: sleep ${size.sleepSeconds}\n` })
  for (const [at, name] of names.entries()) await lab.addMachine({ name, vlan: 1, octet: at, first: `192.0.2.${110 + at}/24` })

  const [first = ""] = names
  const alone = await timed(() => chain(lab, first))
  const before = spentCpu()
  const wall = await timed(() =>
    Effect.runPromise(
      Effect.forEach(names, (name) => Effect.promise(() => chain(lab, name)), { concurrency: slots.automation, discard: true }),
    ),
  )
  const cpu = spentCpu() - before
  const bound = Math.max(alone, cpu / availableParallelism())
  const seconds = (value: number) => `${value.toFixed(1)} s`
  console.log(`${size.machines} machines, ${size.roles} roles each, ${slots.automation} runs of the tool at once`)
  console.log(`  whole                     ${seconds(wall)}`)
  console.log(`  longest chain, alone      ${seconds(alone)}`)
  console.log(
    `  CPU                       ${seconds(cpu)}, over ${availableParallelism()} cores ${seconds(cpu / availableParallelism())}`,
  )
  console.log(`  strictly serial           ${seconds(alone * size.machines)} (the chain alone, so many times)`)
  console.log(
    `  whole over lower bound    ${(wall / bound).toFixed(2)}  goal ${goal}  ${wall / bound <= goal ? "met" : "MISSED"}`,
  )
}

if (obstacle !== undefined) console.log(`left out: ${obstacle}`)
else {
  const lab = await openLab()
  try {
    await measure(lab)
  } finally {
    await lab.close()
  }
}

if (sandboxObstacle !== undefined) console.log(`left out: ${sandboxObstacle}`)
else await measureConfinement(quick ? 3 : 21)
