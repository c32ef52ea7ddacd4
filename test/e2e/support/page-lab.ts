import { expect } from "vitest"
import { type SharedBrowser, shareBrowser } from "./browser.ts"
import type { ApiClient } from "./client.ts"
import { removeFolders, temporaryFolder } from "./folder.ts"
import { addLab, addUser, deploy, expectSuccess, runEnd, smallLab } from "./lab.ts"
import { endAll } from "./program.ts"
import { onSimulator, type ServiceProcess, startService } from "./service.ts"
import { type SimulatorProcess, startSimulator } from "./simulator.ts"
import { sourceRepository } from "./source-repository.ts"
import { password } from "./web-page.ts"

/** The reason why BO's deploy failed. */
export const cause = "no memory is left on the node"
export const hostileText = `"><img src=x onerror=alert(1)><script>alert(2)</script>`
export const hostileName = hostileText.replace("<script>", "\u202e<script>")

/** A service with the web page, and a browser: UMA's range is deployed, BO's deploy failed, and hostile names are everywhere. */
export interface PageLab {
  readonly service: ServiceProcess
  readonly simulator: SimulatorProcess
  /** ADA, an administrator. */
  readonly ada: ApiClient
  /** UMA, who has three machines, and a range EVIL. */
  readonly user: ApiClient
  /** BO, whose deploy failed. */
  readonly bo: ApiClient
  /** The run of UMA's deploy. */
  readonly runId: string
  readonly failedRunId: string
  /** The folder of a repository that ships a blueprint and a role. */
  readonly sources: string
  /** Closed with the lab. */
  readonly closes: (() => Promise<void>)[]
  readonly browser: SharedBrowser["open"]
  /** Replaces a service that has ended by one on the same port with the same data. */
  readonly startAgain: () => Promise<void>
  readonly close: () => Promise<void>
}

/** Leaves nothing behind if it fails. */
export const openPageLab = async (): Promise<PageLab> => {
  try {
    return await open()
  } catch (error) {
    await end()
    throw error
  }
}

const end = async (): Promise<void> => {
  await endAll()
  removeFolders()
}

const open = async (): Promise<PageLab> => {
  const simulator = await startSimulator(["--speed", "60"])
  const sources = sourceRepository(hostileText)
  const data = temporaryFolder()
  const environment = onSimulator(simulator, {
    RANGEWRIGHT_SOURCE_SCHEMES: "file",
    RANGEWRIGHT_SOURCE_FOLDERS: sources,
  })
  const service = await startService(data, environment)
  const ada = service.as(await addUser(service.root, "ADA", true))
  const user = await addLab(service, "UMA", smallLab(3), ada)
  const bo = await addLab(service, "BO", smallLab(1), ada)
  for (const one of [ada, user, bo]) await one.send("POST", "/user/credentials", { proxmoxPassword: password })
  const runId = await deploy(user, "UMA")
  await expectSuccess(user, runId)
  const repair = await simulator.fault({ kind: "fail-task", type: "qmstart", text: cause, when: "before", times: "always" })
  const failedRunId = await deploy(bo, "BO")
  expect((await runEnd(bo, failedRunId)).status).toBe("failure")
  await repair()
  await user.send("POST", "/ranges/create", { rangeID: "EVIL", name: hostileName, description: "[x](javascript:alert(3))" })
  await ada.send("POST", "/sources", { type: "git", url: `file://${sources}`, id: "lessons" })
  await ada.send("POST", "/blueprints/from-range", { blueprintID: "shown", name: hostileText, rangeID: "UMA" })
  await ada.send("POST", "/groups", { name: "course", description: hostileName })
  await ada.send("POST", "/groups/course/ranges", { rangeIDs: ["UMA", "EVIL"] })
  const shared = await shareBrowser()
  const closes = [shared.close]
  return {
    service,
    simulator,
    ada,
    user,
    bo,
    runId,
    failedRunId,
    sources,
    closes,
    browser: shared.open,
    startAgain: async () => void (await startService(data, { ...environment, RANGEWRIGHT_PORT: String(service.port) })),
    close: async () => {
      for (const close of closes) await close()
      await end()
    },
  }
}
