import { fileURLToPath } from "node:url"

/** The folder of the templates that are shipped, laid out as a source. */
export const shippedTemplates = fileURLToPath(new URL("../templates", import.meta.url))
