import { readdirSync, renameSync } from "node:fs"
import { join } from "node:path"
import { afterAll, expect, test } from "vitest"
import { gitHttp } from "../contracts/content/support/git-http.ts"
import { testRepository } from "../contracts/content/support/repository.ts"
import type { ApiClient } from "./support/client.ts"
import { eventually } from "./support/eventually.ts"
import { removeFolders, temporaryFolder } from "./support/folder.ts"
import { addUser } from "./support/lab.ts"
import { endAll } from "./support/program.ts"
import { startService } from "./support/service.ts"

afterAll(async () => {
  await endAll()
  removeFolders()
})

interface SourceLine {
  readonly sourceID: string
  readonly snapshot?: string
}
interface RunLine {
  readonly kind: string
  readonly status: string
}

const runs = (client: ApiClient): Promise<readonly RunLine[]> => client.get("/runs")

test.concurrent(
  "an interrupted registration is completed, or leaves nothing behind, and shows its token to nobody",
  { timeout: 300_000 },
  async () => {
    const served = temporaryFolder()
    for (const name of ["stays", "goes"]) testRepository(served, name, { "ansible/roles/hello/tasks/main.yml": "[]\n" })
    // the server accepts requests and answers none until the service has been killed
    let answers = false
    const server = await gitHttp(served, () => !answers)
    try {
      const data = temporaryFolder()
      const environment = { RANGEWRIGHT_SOURCE_SCHEMES: "http", RANGEWRIGHT_SOURCE_NETWORKS: "127.0.0.0/8" }
      let service = await startService(data, environment)
      const key = await addUser(service.root, "ADA")
      const ada = service.as(key)
      const cutOff = ["stays", "goes"].map((id) =>
        ada
          .ask("POST", "/sources", { type: "git", url: `http://127.0.0.1:${server.port}/${id}.git`, id, token: "t0p-secret" })
          .catch(() => undefined),
      )
      await eventually(
        "both fetches at the server",
        async () => new Set(server.requests.map(({ line }) => line.slice(0, line.indexOf(".git")))).size,
        (asked) => asked === 2,
      )
      await service.crash()
      await Promise.all(cutOff)
      renameSync(join(served, "goes.git"), join(served, "moved.git"))
      answers = true

      service = await startService(data, environment)
      const again = service.as(key)
      const ended = await eventually(
        "the end of both registrations",
        () => runs(again),
        (found) => found.every(({ status }) => status !== "running") && found,
      )
      expect(ended.map(({ kind, status }) => `${kind} ${status}`).sort()).toEqual([
        "source-fetch failure",
        "source-fetch success",
      ])
      const sources = await again.get<readonly SourceLine[]>("/sources")
      expect(sources).toMatchObject([{ sourceID: "stays", snapshot: expect.any(String) }])
      expect(readdirSync(join(data, "content", "snapshots"))).toEqual([sources[0]?.snapshot])
      expect(readdirSync(join(data, "content", "scratch"))).toEqual([])
      // its name is free again
      renameSync(join(served, "moved.git"), join(served, "goes.git"))
      const url = `http://127.0.0.1:${server.port}/goes.git`
      expect((await again.ask("POST", "/sources", { type: "git", url, id: "goes" })).status).toBe(200)
      expect(service.program.stderr()).not.toMatch(/"level":(?:50|60)|t0p-secret/u)
    } finally {
      await server.close()
    }
  },
)
