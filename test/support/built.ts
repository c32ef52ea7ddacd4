import { execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"

/** Tests of the service as a process run what `npm start` runs: it is built anew where sources are newer. */
export const setup = (): void => {
  execFileSync("sh", [fileURLToPath(new URL("../../tools/run.sh", import.meta.url)), "build"], { stdio: "inherit" })
}
