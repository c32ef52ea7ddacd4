export { clientKeyFor } from "./client-keys.ts"
export { type KmsHost, kmsPort, readKmsHost } from "./host.ts"
export { productKeyForm, productKeyIn } from "./product-key.ts"
export { type KmsServer, readKmsServer } from "./server.ts"
export {
  type Activation,
  activationError,
  activationIn,
  activationProblem,
  activationText,
  kmsServerProblem,
  readWindowsReport,
  type WindowsReport,
} from "./windows-report.ts"
