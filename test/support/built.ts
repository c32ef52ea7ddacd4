import { execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"

/** Tests that run the service as a process use what `npm start` runs: it is rebuilt when sources are newer. */
export const setup = (): void => {
  execFileSync("sh", [fileURLToPath(new URL("../../tools/run.sh", import.meta.url)), "build"], { stdio: "inherit" })
}
